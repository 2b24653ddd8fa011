"""What `drystone run` does: build the scene, run it under a progress bar, sum up."""

import json
from contextlib import ExitStack, nullcontext
from pathlib import Path

from rich.table import Table

from drystone.cli.console import compiling
from drystone.errors import InputError
from drystone.jit.threads import use_threads
from drystone.model.checks import not_negative
from drystone.model.files import make_folder, write_text
from drystone.scenes import find_scene
from drystone.world.run import RunStatistics, progress_bar


def run_scene(
    name, seconds, options, threads, record, every, picture, json_file, screen, results
) -> bool:
    """Run scene `name`; returns False if Ctrl-C ended it early."""
    scene = find_scene(name)
    options = {k: scene.read_option(k, v) if isinstance(v, str) else v for k, v in options.items()}
    if "seed" in options and "seed" not in scene.options:
        raise InputError(f"{name} draws no random numbers, so it takes no seed.")
    seconds = scene.seconds if seconds is None else not_negative("--seconds", seconds)
    if picture is not None:
        from drystone.world.io import render

        render.pyvista()  # better to miss it now than after the run
    with use_threads(threads) if threads else nullcontext():
        world = scene.build(**options)
        steps = round(seconds / world.dt)
        screen.print(
            f"{name}: {len(world)} bodies, {steps} steps of {1e3 * world.dt:.3g} ms", markup=False
        )
        start = world.energy()
        statistics, states = RunStatistics(world), []
        with ExitStack() as stack:
            if record is not None:
                make_folder(record.parent, "the folder cannot be made")
                from drystone.world.io.recorder import record as record_world  # HDF5

                stack.enter_context(record_world(world, record, every=every))
            finished = _run(statistics, steps, scene, states, screen)
    numbers = summary(statistics, start, finished)
    if json_file is None or str(json_file) != "-":
        results.print(summary_table(name, numbers))
    write_json(json_file, {"scene": name, "options": options} | numbers)
    if picture is not None:
        make_folder(picture.parent, "the folder cannot be made")
        states.append((world.time, world.positions, world.orientations))
        _draw(world, states, picture, scene, screen)
    if record is not None:
        screen.print(f"Recording: {record}", markup=False)
    screen.print(_next_line(name, record), markup=False, soft_wrap=True)
    return finished


def _run(statistics, steps, scene, states, screen) -> bool:
    world = statistics.world
    try:
        if steps:
            with compiling(screen):
                states.append((world.time, world.positions, world.orientations))
                statistics.advance(1, timed=False)
        with progress_bar(screen, steps) as update:

            def show(statistics):
                update(
                    completed=statistics.steps, time=world.time, contacts=statistics.contacts[-1],
                    pace=statistics.block_ms[-1],
                )  # fmt: skip

            pause = round(scene.picture_time / world.dt)
            if statistics.steps < pause < steps:
                statistics.run(pause - statistics.steps, show)
                states[:] = [(world.time, world.positions, world.orientations)]
            statistics.run(steps - statistics.steps, show)
        return True
    except KeyboardInterrupt:
        screen.print(f"Stopped at t = {world.time:.3f} s; the world is intact.", markup=False)
        return False


def summary(statistics, start, finished) -> dict:
    """Statistics of a run, by name; units in the names."""
    world, end = statistics.world, statistics.world.energy()
    return {
        "finished": finished,
        "simulated_s": world.time,
        "steps": statistics.steps,
        "wall_s": statistics.seconds,
        "ms_per_step": statistics.ms_per_step,
        "bodies": len(world),
        "sleeping": sum(body.asleep for body in world.bodies),
        "contacts": statistics.contacts[-1] if statistics.contacts else 0,
        "kinetic_start_J": start.kinetic,
        "kinetic_end_J": end.kinetic,
        "potential_start_J": start.potential,
        "potential_end_J": end.potential,
        "worst_penetration_mm": 1e3 * statistics.worst_penetration,
        "worst_joint_error_mm": 1e3 * statistics.worst_joint_error,
        "worst_energy_made_J": statistics.worst_energy_made,
        "energy_lost_J": statistics.energy_lost,
        "worst_residual_m_s": statistics.worst_residual,
        "tolerance_m_s": world.settings.tolerance,
        "steps_not_converged": statistics.nonconverged,
        "pairs_unresolved": statistics.unresolved,
        "pairs_given_up": statistics.given_up,
        "sweeps_per_step": statistics.sweeps / max(statistics.steps, 1),
        "stages_ms": statistics.stages_ms,
        "hash": world.hash(),
        "characters": [
            character.summary() | {"name": character.figure.name, "events": character.events()}
            for character in world.characters
        ],
    }


def summary_table(name, f) -> Table:
    title = f"{name} after {f['simulated_s']:.3f} s"
    table = Table(title=title, show_header=False, title_style="bold")
    pace = f["simulated_s"] / f["wall_s"] if f["wall_s"] else 0.0
    rows = {
        "steps": f"{f['steps']}, {f['ms_per_step']:.3f} ms each, {pace:.1f} times real time",
        "bodies": f"{f['bodies']}, of which {f['sleeping']} asleep; {f['contacts']} contacts",
        "kinetic energy": f"{f['kinetic_start_J']:.4g} -> {f['kinetic_end_J']:.4g} J",
        "potential energy": f"{f['potential_start_J']:.6g} -> {f['potential_end_J']:.6g} J",
        "worst penetration": f"{f['worst_penetration_mm']:.4f} mm",
        "worst joint error": f"{f['worst_joint_error_mm']:.4f} mm; energy made by a step: "
        f"{f['worst_energy_made_J']:.3g} J; lost in joints: {f['energy_lost_J']:.3g} J",
        "worst residual": f"{f['worst_residual_m_s']:.2e} m/s, tolerance {f['tolerance_m_s']:.0e}",
        "not converged": f"{f['steps_not_converged']} of {f['steps']} steps, "
        f"{f['sweeps_per_step']:.1f} sweeps per step",
    }
    if f["pairs_unresolved"] or f["pairs_given_up"]:
        rows["pairs given up"] = (
            f"{f['pairs_unresolved']} overlaps without a contact, "
            f"{f['pairs_given_up']} times of impact not found"
        )
    for actor in f["characters"]:
        rows[f"character {actor['name']}"] = "\n".join(
            (
                f"joints off its clip by {actor['mean_joint_error_deg']:.2f} degrees in the mean, "
                f"{actor['worst_joint_error_deg']:.1f} at most",
                f"muscles gave {actor['muscles_gave_J']:.1f} J, "
                f"took {-actor['muscles_took_J']:.1f} J",
                *actor["events"],
            )
        )
    for label, value in rows.items():
        table.add_row(label, value)
    total = sum(f["stages_ms"].values()) or 1.0
    stages = [f"{k} {1e3 * v:.2f} µs ({100 * v / total:.0f} %)" for k, v in f["stages_ms"].items()]
    table.add_row("time per stage", "\n".join(stages))
    return table


def write_json(path, statistics) -> None:
    if path is None:
        return
    text = json.dumps(statistics, indent=1, default=str)
    if str(path) == "-":
        print(text)
    else:
        write_text(path, text + "\n")


def _draw(world, states, picture, scene, screen):
    from drystone.world.io.render import draw_states

    titles = [f"t = {time:.2f} s" for time, _, _ in states]
    poses = [(positions, orientations) for _, positions, orientations in states]
    with screen.status("Drawing ..."):
        draw_states(world, poses, picture, titles, camera=scene.view)
    screen.print(f"Picture: {picture}", markup=False)


def _next_line(name, record) -> str:
    if record is not None:
        return f"Next: drystone view {record}, or: drystone replay {record} --verify"
    return f"Next: drystone run {name} --record {name}.h5, or another of: drystone scenes"


def describe_file(path: Path) -> str:
    """One paragraph about a recording."""
    from drystone.world.io.recording import Recording

    with Recording(path) as recording:
        world = recording.start()
        frames, every = len(recording), recording.every
        return (
            f"{path}: recording of {len(world)} bodies, {frames} frames {every} steps apart, "
            f"dt = {world.dt:g} s, about {(frames - 1) * every * world.dt:.3f} s in all."
        )
