"""What `drystone bench` does: run, compare, and print times with the accuracy beside them."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import numpy as np

from drystone.bench import drystone_driver, peer_overlap, scaling
from drystone.bench.chain import chain_statistics
from drystone.bench.peers import CHAIN_PEERS, PEERS
from drystone.bench.standard_scenes import SUMMARIES, standard_scene
from drystone.cli.console import compiling
from drystone.errors import InputError
from drystone.model.checks import did_you_mean
from drystone.world.io.text_table import text_table

ONCE = 20.0  # [s] An engine that takes longer for a scene is run once, whatever `repeat` says.

# heading, key, format
COLUMNS = (
    ("engine", "label", "{}"),
    ("phase", "phase", "{}"),
    ("ms/step", "ms_mean", "{:.4g}"),
    ("median", "ms_median", "{:.4g}"),
    ("p95", "ms_p95", "{:.4g}"),
    ("contacts", "contacts", "{:.0f}"),
    ("overlap mm", "pair_max_mm", "{:.3g}"),
    ("p95 mm", "pair_p95_mm", "{:.3g}"),
    ("in walls mm", "fixed_max_mm", "{:.3g}"),
    ("own depth mm", "penetration_mm", "{:.3g}"),
    ("residual m/s", "residual_worst", "{:.1e}"),
    ("converged", "converged", "{:.1%}"),
    ("sweeps", "sweeps", "{:.1f}"),
    ("energy J", "kinetic_energy", "{:.2g}"),
    ("drift mm", "drift_mm", "{:.3g}"),
    ("sinks mm", "sink_mm", "{:.3g}"),
    ("stands", "stands", "{}"),
    ("joint gap mm", "joint_gap_mm", "{:.1e}"),
    ("energy drift", "energy_drift", "{:+.1e}"),
)
# One line an engine: fall and settled side by side.
WHOLE_COLUMNS = (
    ("engine", "label", "{}"),
    ("fall ms", "fall_ms", "{:.4g}"),
    ("settled ms", "settled_ms", "{:.4g}"),
    ("whole s", "whole_s", "{:.4g}"),
    ("depth in fall mm", "fall_depth", "{:.3g}"),
    ("settled mm", "settled_depth", "{:.3g}"),
    ("in tolerance", "converged", "{:.1%}"),
    ("worst residual m/s", "residual", "{:.1e}"),
    ("energy left J", "energy", "{:.2g}"),
)
CORE_COLUMNS = (
    ("bodies", "kind", "{}"),
    ("number", "bodies", "{}"),
    ("threads", "threads", "{}"),
    ("contacts", "contacts", "{}"),
    ("ms/step", "ms_per_step", "{:.3f}"),
    ("us per body", "us_per_body", "{:.3f}"),
    ("speed-up", "speed_up", "{:.2f}"),
    ("same bits", "same_bits", "{}"),
    ("kB per body", "kilobytes_per_body", "{:.1f}"),
)
SCALING_COLUMNS = (
    ("bodies", "kind", "{}"),
    ("number", "bodies", "{}"),
    ("contacts per body", "contacts_per_body", "{:.2f}"),
    ("sweeps", "sweeps", "{:.1f}"),
    ("residual m/s", "residual", "{:.1e}"),
    ("converged", "converged", "{:.1%}"),
    ("ms/step", "ms_per_step", "{:.3f}"),
    ("us per body", "us_per_body", "{:.3f}"),
)


def run_bench(
    names, with_peers, python, repeat, scale, with_scaling, sleeping, json_file, pose_folder,
    screen, results, solver="auto",
):  # fmt: skip
    """Run the scenes `names` (all if None), print a table for each, write every row as JSON."""
    _start(json_file)
    for name in names or ():
        if name not in SUMMARIES:
            raise InputError(f"--scenes {name!r}: no such scene. {did_you_mean(name, SUMMARIES)}")
    found = peer_overlap.installed_peers(python) if with_peers else []
    if with_peers:
        missing = [peer for peer in PEERS if peer not in found]
        if missing:
            screen.print(f"Not installed: {', '.join(missing)}; pip install 'drystone[bench]'",
                         markup=False)  # fmt: skip
    with compiling(screen):
        drystone_driver.compile_engine(joints="S9" in (names or SUMMARIES), solver=solver)
    if with_scaling:
        _run_scaling(scale, json_file, screen, results)
        if names is None:
            return
    with TemporaryDirectory() as folder:
        pose_folder = Path(pose_folder or folder)
        pose_folder.mkdir(parents=True, exist_ok=True)
        for name in names or SUMMARIES:
            scene = standard_scene(name, scale)
            ours = dict(sleeping=sleeping, solver=solver)
            rows = _run_scene(scene, found, python, ours, repeat, pose_folder, Path(folder), screen)
            _write(json_file, rows)
            _label(rows)
            title = f"{name}: {SUMMARIES[name]}, sleeping {'on' if sleeping else 'off'}"
            results.print(title, style="bold", soft_wrap=True)
            results.print(text_table(rows, COLUMNS), markup=False, soft_wrap=True)
            if scene.split:
                whole = list(whole_rows(rows))
                results.print(text_table(whole, WHOLE_COLUMNS), markup=False, soft_wrap=True)
            results.print(_stages(rows) + "\n", markup=False, soft_wrap=True)


def whole_rows(rows: list[dict]):
    """One row an engine, of its rows of the phases: both beside each other, and the whole scene."""
    for label in dict.fromkeys(row["label"] for row in rows):
        phases = {row["phase"]: row for row in rows if row["label"] == label}
        fall, settled = phases.get("fall"), phases.get("settled")
        if fall is None or settled is None:
            continue
        both, steps = (fall, settled), fall["steps"] + settled["steps"]
        row = {
            "label": label,
            "fall_ms": fall["ms_mean"],
            "settled_ms": settled["ms_mean"],
            "whole_s": 1e-3 * sum(p["ms_mean"] * p["steps"] for p in both),
            "fall_depth": fall["penetration_mm"],
            "settled_depth": settled["penetration_mm"],
            "energy": settled["kinetic_energy"],
        }
        if "converged" in fall:
            row["converged"] = sum(p["converged"] * p["steps"] for p in both) / steps
            row["residual"] = max(p["residual_worst"] for p in both)
        yield row


def print_cores(threads, scale, json_file, screen, results) -> None:
    """The table of falling piles on several numbers of threads."""
    from drystone.bench.core_scaling import core_rows

    _start(json_file)
    with compiling(screen):
        drystone_driver.compile_engine()
    rows = []
    with screen.status("Falling piles ..."):
        for row in core_rows(threads, scale):
            _write(json_file, [row])
            rows.append(row)
    results.print("Piles in their fall, a process for each number of threads", style="bold")
    results.print(text_table(rows, CORE_COLUMNS), markup=False, soft_wrap=True)


def print_orderings(json_file, screen, results) -> None:
    """The table of the orderings of pgs, beside that of their paper."""
    from drystone.bench.orderings import COLUMNS, ordering_rows

    _start(json_file)
    with compiling(screen):
        drystone_driver.compile_engine()
    with screen.status("Orderings of pgs ..."):
        rows = list(ordering_rows())
    _write(json_file, rows)
    results.print(text_table(rows, COLUMNS), markup=False, soft_wrap=True)


MOTION_COLUMNS = (
    ("what", "what", "{}"),
    ("figure", "figure", "{:.2g}"),
    ("bound", "bound", "{:g}"),
    ("version 0.1", "before", "{}"),
    ("holds", "holds", "{}"),
)


def print_motion(json_file, screen, results) -> int:
    """The table of figures of motion; how many do not keep their bounds."""
    from drystone.bench.motion.figures import FIGURES, motion_rows

    _start(json_file)
    rows = []
    with screen.status("Motion ...") as status:
        for row in motion_rows():
            rows.append(row)
            _write(json_file, [row])
            status.update(f"Motion: {len(rows)} of {len(FIGURES)} figures")
    results.print(text_table(rows, MOTION_COLUMNS), markup=False, soft_wrap=True)
    return sum(not row["holds"] for row in rows)


def _start(json_file) -> None:
    if json_file is not None:
        json_file.parent.mkdir(parents=True, exist_ok=True)
        json_file.write_text("")


def _run_scene(scene, found, python, ours, repeat, pose_folder, folder, screen) -> list[dict]:
    """Rows of all engines, the best of `repeat` rounds for each.

    The engines take turns, so that a minute in which the machine is slow hurts all alike.
    """
    scene_file = folder / f"{scene.name}.npz"
    scene.save(scene_file, parts=bool(found))
    engines = [("drystone", "default")]
    for engine in found:
        engines += [(engine, variant) for variant in _variants(engine, scene)]
    best, slow = {}, set()
    for k in range(repeat):
        for engine, variant in engines:
            if (engine, variant) in slow:
                continue
            pose_file = pose_folder / f"{engine}-{variant}-{scene.name}.npz"
            start = perf_counter()
            with screen.status(f"{scene.name}, round {k + 1}: {engine} {variant} ..."):
                if engine == "drystone":
                    rows, poses = drystone_driver.drive(scene, **ours)
                    np.savez(pose_file, **poses)
                else:
                    rows = peer_overlap.run_peer(engine, variant, scene_file, pose_file, python)
            if perf_counter() - start > ONCE:
                slow.add((engine, variant))
            _keep_best(best, rows)
    for engine, variant in engines:
        pose_file = pose_folder / f"{engine}-{variant}-{scene.name}.npz"
        own = [row for key, row in best.items() if key[:2] == (engine, variant)]
        _add_pose_statistics(own, scene, scene_file, pose_file, python, screen)
    return list(best.values())


def _variants(engine, scene) -> tuple[str, ...]:
    """How `engine` is run on `scene`; not at all if it does not build chains."""
    if scene.chain:
        return CHAIN_PEERS.get(engine, ())
    _, on_piles, elsewhere = PEERS[engine]
    return on_piles if scene.split else elsewhere


def _keep_best(best: dict, rows: list[dict]) -> None:
    for row in rows:
        key = row["engine"], row["variant"], row["phase"]
        old = best.get(key)
        if old is None or row.get("ms_mean", np.inf) < old.get("ms_mean", np.inf):
            best[key] = row


def _add_pose_statistics(rows, scene, scene_file, pose_file, python, screen) -> None:
    """Add what the final poses say to the row of the last phase that ended."""
    done = [row for row in rows if "error" not in row]
    if not done:
        return
    poses = np.load(pose_file)
    statistics = chain_statistics(scene, poses)
    if not scene.chain:
        with screen.status(f"{scene.name}: measuring overlap ..."):
            statistics = peer_overlap.overlap(scene, scene_file, pose_file, python)
        if not statistics:
            screen.print(f"{scene.name}: overlap not measured, which needs coal", markup=False)
    for row in done:
        if row["phase"] != "fall":
            row.update(statistics | drystone_driver.standing(scene, poses))


def _run_scaling(scale, json_file, screen, results) -> None:
    rows = []
    with screen.status("Piles of growing size ..."):
        for row in scaling.scaling_rows(scale=scale):
            _write(json_file, [row])
            rows.append(row)
    results.print("Cost of a step in settled piles of equal height", style="bold")
    results.print(text_table(rows, SCALING_COLUMNS), markup=False, soft_wrap=True)


def _label(rows) -> None:
    for row in rows:
        same = row["variant"] == "default"
        row["label"] = row["engine"] if same else f"{row['engine']} {row['variant']}"


def _stages(rows) -> str:
    """Where our own time goes, phase by phase, and what failed elsewhere."""
    lines = []
    for row in rows:
        if row.get("stages_ms"):
            parts = ", ".join(f"{k} {v:.4g}" for k, v in row["stages_ms"].items())
            lines.append(f"  {row['phase']}: ms per stage: {parts}")
        if "error" in row or "truncated" in row:
            lines.append(f"  {row['label']}: {row.get('error') or 'cut short ' + row['truncated']}")
    return "\n".join(lines)


def _write(path, rows) -> None:
    if path is not None:
        with path.open("a") as file:
            for row in rows:
                file.write(json.dumps(row) + "\n")
