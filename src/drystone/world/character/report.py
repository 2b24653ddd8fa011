"""What a run of a character leaves: tables (CSV, Parquet), plots, and a strip of pictures."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import numpy as np

from drystone.errors import DrystoneError
from drystone.model.files import as_path, make_folder, write_file, write_text
from drystone.world.character.run import CharacterRun

SHOWN = 6  # joints of a plot: those that work hardest
ASIDE = 1.3  # between the clip and the figure in a picture [m]
CLOSE = 1.7  # from where it is looked at, in reaches of what there is


def write_report(run: CharacterRun, folder) -> list[Path]:
    """See CharacterRun.write()."""
    folder = as_path(folder, "out")
    make_folder(folder, "the folder cannot be made")
    files = []
    for name, columns in (("clip", run.of_clip.columns()), ("run", run_columns(run))):
        files += [
            write_csv(columns, folder / f"{name}.csv"),
            write_parquet(columns, folder / f"{name}.parquet"),
        ]
    run.of_clip.save(folder / "torques.h5")
    text = json.dumps(run.summary() | {"events": events(run)}, indent=1)
    write_text(folder / "summary.json", text + "\n")
    files += [folder / "torques.h5", folder / "summary.json"]
    files += [plot_ground(run, folder / "ground.png"), plot_joints(run, folder / "joints.png")]
    if run.of_clip.stances():
        files.append(plot_stances(run, folder / "stances.png"))
    files.append(plot_error(run, folder / "error.png"))
    files.append(draw_strip(run, folder / "strip.png"))
    return files


def events(run: CharacterRun) -> list[str]:
    """One sentence for each thing that happened."""
    found = []
    for d in run.disturbances:
        worst, back = run.recovered(d)
        end = (
            "not back within 1 degree in this run"
            if back is None
            else f"back within 1 degree {back:.3f} s after the blow"
        )
        found.append(f"{d}; joints were off by up to {worst:.1f} degrees, {end}.")
    return found + run.character.events()


def run_columns(run: CharacterRun) -> dict[str, np.ndarray]:
    """One row a step: errors, torques and powers of the joints, root."""
    c = run.character
    error, torque, power = np.degrees(c.error), c.torque, c.power
    found: dict[str, np.ndarray] = {"time_s": c.times}
    for j, name in enumerate(c.figure.joints):
        found[f"{name}_error_deg"] = error[:, j]
        for k, axis in enumerate("xyz"):
            found[f"{name}_torque_{axis}_Nm"] = torque[:, j, k]
        found[f"{name}_power_W"] = power[:, j]
    for f, k in enumerate(c.figure.feet):
        for axis, column in zip("xyz", c.ground_force[:, f].T, strict=True):
            found[f"{c.figure.names[k]}_ground_force_{axis}_N"] = column
    found["root_error_m"] = c.root_error[:, 0]
    found["root_error_deg"] = np.degrees(c.root_error[:, 1])
    for k, axis in enumerate("xyz"):
        found[f"root_force_{axis}_N"] = c.root_force[:, k]
    return found


def write_csv(columns: dict[str, np.ndarray], path: Path) -> Path:
    """With a heading line; numbers in full precision."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*(column.tolist() for column in columns.values()), strict=True))
    return write_file(path, text.getvalue().encode(), "the table cannot be written there")


def write_parquet(columns: dict[str, np.ndarray], path: Path) -> Path:
    """Through pyarrow (the `export` extra)."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise DrystoneError(
            "Parquet files need pyarrow. Install it with: pip install 'drystone[export]'"
        ) from None
    content = io.BytesIO()
    parquet.write_table(
        pyarrow.table({n: column.tolist() for n, column in columns.items()}), content
    )
    return write_file(path, content.getvalue(), "the table cannot be written there")


# Plots


def _figure(rows: int) -> tuple[Any, Any]:
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure as Page
    except ImportError:
        raise DrystoneError(
            "plots need matplotlib. Install it with: pip install 'drystone[plot]'"
        ) from None
    page = Page(figsize=(9.0, 1.0 + 2.8 * rows), layout="constrained")
    FigureCanvasAgg(page)
    return page, page.subplots(rows, 1, sharex=True, squeeze=False)[:, 0]


def _write(page, path: Path) -> Path:
    content = io.BytesIO()
    page.savefig(content, format="png", dpi=110)
    return write_file(path, content.getvalue(), "the plot cannot be written there")


def plot_ground(run: CharacterRun, path: Path) -> Path:
    """Vertical force of the ground on each foot in the clip, and the residual force of the root."""
    t = run.of_clip
    page, (up, left) = _figure(2)
    for f, name in enumerate(t.feet):
        up.plot(t.times, t.ground_force[:, f, 2], label=name)
    if t.feet:
        up.plot(t.times, t.ground_force[..., 2].sum(axis=1), "k:", label="both")
    own = run.character.ground_force[..., 2].sum(axis=1)
    if own.any():
        up.plot(run.character.times, own, "0.5", lw=0.7, label="both, in the run")
    up.axhline(t.weight, color="0.6", lw=0.8, label="weight")
    up.set_ylabel("vertical force of the ground [N]")
    left.plot(t.times, np.linalg.norm(t.root_force[:, :3], axis=1), label="force [N]")
    left.plot(t.times, np.linalg.norm(t.root_force[:, 3:], axis=1), label="torque [N m]")
    left.set_ylabel("residual of the root")
    left.set_xlabel("time [s]")
    for axes in (up, left):
        axes.legend(fontsize=8)
    return _write(page, path)


def plot_stances(run: CharacterRun, path: Path) -> Path:
    """Vertical force over each stance of the clip, in body weights, and the mean of each foot."""
    page, (axes,) = _figure(1)
    stances = run.of_clip.stances()
    for k, foot in enumerate(run.of_clip.feet):
        own = [s for s in stances if s.foot == foot]
        for s in own:
            axes.plot(np.linspace(0, 100, len(s.curve)), s.curve, f"C{k}", lw=0.6)
        if own:
            mean = np.mean([s.curve for s in own], axis=0)
            humps = ", ".join(str(len(s.humps)) for s in own)
            label = f"{foot}: mean of {len(own)}, humps {humps}"
            axes.plot(np.linspace(0, 100, len(mean)), mean, f"C{k}", lw=2.0, label=label)
    axes.axhline(1.0, color="0.6", lw=0.8)
    axes.set_xlabel("share of the stance [%]")
    axes.set_ylabel("vertical force / weight")
    axes.legend(fontsize=8)
    return _write(page, path)


def plot_joints(run: CharacterRun, path: Path) -> Path:
    """Torques and powers of the joints that work hardest, in the run and (dashed) in its clip."""
    c, t = run.character, run.of_clip
    own = np.linalg.norm(c.torque, axis=-1)
    clip = np.linalg.norm(t.torque, axis=-1)
    page, (top, low) = _figure(2)
    for j in np.argsort(-np.abs(c.power).max(axis=0, initial=0.0))[:SHOWN]:
        (line,) = top.plot(c.times, own[:, j], label=c.figure.joints[j])
        top.plot(t.times, clip[:, j], "--", lw=0.8, color=line.get_color())
        low.plot(c.times, c.power[:, j], color=line.get_color())
    top.set_ylabel("torque [N m]; dashed: of the clip on the ground")
    low.set_ylabel("power [W]")
    low.set_xlabel("time [s]")
    top.legend(fontsize=8)
    return _write(page, path)


def plot_error(run: CharacterRun, path: Path) -> Path:
    """Error to the clip over time."""
    c = run.character
    error = np.degrees(c.error)
    page, (axes,) = _figure(1)
    if error.size:
        axes.plot(c.times, error.max(axis=1), label="worst joint")
        axes.plot(c.times, error.mean(axis=1), label="mean of the joints")
    for d in run.disturbances:
        axes.axvline(d.time, color="0.6", lw=0.8)
        axes.annotate(
            f"{d.kind} {d.bone}",
            (d.time, 1.0),
            xycoords=("data", "axes fraction"),
            fontsize=7,
            va="top",
        )
    axes.set_ylabel("angle to the clip [degrees]")
    axes.set_xlabel("time [s]")
    axes.legend(fontsize=8)
    return _write(page, path)


def draw_strip(run: CharacterRun, path: Path) -> Path:
    """The run at a few times with the clip beside it, as CLINE's figures 5.2 and 5.3 have it."""
    from drystone.shapes import Plane
    from drystone.world.io.render import draw_states
    from drystone.world.world import World

    c, figure = run.character, run.character.figure
    stage = World(sleeping=False)
    stage.add_fixed(Plane(), position=(0, 0, figure.ground))
    for bone in figure.bones:
        stage.add_body(bone.shape, mass=bone.mass, name=f"clip/{bone.name}")
    others = [b for b in run.world.bodies if b.name in run.moments[-1][1] and b.name != "floor"]
    for body in others:
        stage.add_body(body.shape, mass=body.mass)
    aside = _aside(run)
    states, titles = [], []
    for time, poses in run.moments:
        sample = c.motion.at(time)
        at = [p + aside for p in sample.position[0]]
        turned = list(sample.rotation[0])
        for body in others:
            # What is thrown later waits below the floor.
            place = poses.get(body.name, (np.array((0.0, 0.0, figure.ground - 30.0)), (1, 0, 0, 0)))
            at.append(np.asarray(place[0]))
            turned.append(np.asarray(place[1]))
        states.append((np.array(at), np.array(turned)))
        titles.append(f"{time:.2f} s")
    return draw_states(stage, states, path, titles, camera=_camera(run, aside), size=(460, 560))


def _aside(run: CharacterRun) -> np.ndarray:
    """Where the clip stands beside the figure: across its way."""
    motion = run.character.motion
    start, end = motion.at((0.0, motion.duration)).centre[:, 0]
    way = (end - start) * (1.0, 1.0, 0.0)
    if np.linalg.norm(way) < 0.3:
        return np.array((0.0, ASIDE, 0.0))
    way /= np.linalg.norm(way)
    return ASIDE * np.array((-way[1], way[0], 0.0))


def _camera(run: CharacterRun, aside: np.ndarray):
    """From ahead of the middle of both, over the times of the pictures."""
    times = [time for time, _ in run.moments]
    centre = run.character.motion.at(times).centre
    middle = 0.5 * (centre.min(axis=(0, 1)) + centre.max(axis=(0, 1))) + 0.5 * aside
    reach = float(np.ptp(centre, axis=(0, 1)).max()) + ASIDE
    ahead = np.cross(aside / np.linalg.norm(aside), (0.0, 0.0, 1.0))
    return middle + (ahead + (0.0, 0.0, 0.35)) * CLOSE * reach, middle
