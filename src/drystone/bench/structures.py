"""Large structures at rest: do all steps converge, do they stay where they are, do they sleep?

Each is built twice: kept awake for the whole time, for the drift and the cost of a step, and once
more to see when it falls asleep. Steps of the first 0.1 s, in which the warm start is found, do not
count. Other engines get the same bodies, a friction of 0.5 and steps of 1/200 s.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

import numpy as np

from drystone.bench.peer_overlap import installed_peers, run_peer
from drystone.bench.standard_scenes import StandardScene
from drystone.errors import InputError
from drystone.model.checks import did_you_mean
from drystone.scenes import SCENES
from drystone.world.io.text_table import text_table

GRACE = 0.1  # [s]
LONGEST_SLEEP = 3.0  # [s] until everything has to be asleep
FALLEN = 0.05  # [m]

# name: (scene, its options)
STRUCTURES: dict[str, tuple[str, dict]] = {
    "jenga": ("jenga", {}),
    "stack": ("box-stack", {"count": 200}),
    "pyramid": ("pyramid", {"rows": 40}),
    "masonry": ("masonry", {}),
    "dominoes": ("dominoes", {"count": 1000, "lean_deg": 0.0}),
    "arch": ("arch", {"stones": 101}),
    "dry-stone": ("wall", {"length": 26.0, "courses": 16, "seed": 2, "ball": False}),
    "card-house": ("card-house", {"levels": 5}),
}

COLUMNS = (
    ("structure", "structure", "{}"),
    ("engine", "engine", "{}"),
    ("bodies", "bodies", "{}"),
    ("contacts", "contacts", "{:.0f}"),
    ("not converged", "missed", "{}"),
    ("worst m/s", "residual", "{:.1e}"),
    ("drift mm", "drift_mm", "{:.3g}"),
    ("in s", "seconds", "{:g}"),
    ("stands", "stands", "{}"),
    ("asleep after s", "asleep", "{}"),
    ("ms/step", "ms_mean", "{:.3g}"),
    ("median", "ms_median", "{:.3g}"),
    ("largest", "ms_largest", "{:.3g}"),
)


def structure_rows(names=None, seconds: float = 10.0) -> Iterator[dict]:
    """A row for each structure. seconds: how long it is kept awake."""
    for name in names or STRUCTURES:
        if name not in STRUCTURES:
            raise InputError(f"--scenes {name!r}: {did_you_mean(name, STRUCTURES)}")
        scene, options = STRUCTURES[name]
        row = awake(SCENES[scene].build(sleeping=False, **options), seconds)
        asleep = time_to_sleep(SCENES[scene].build(**options))
        yield {"structure": name, "engine": "drystone", "asleep": asleep, **row}


def awake(world, seconds: float) -> dict:
    """Keep `world` awake for so long: convergence, drift and CPU time of its steps."""
    start = world.positions.copy()
    world.copy().step()  # builds the arrays, and compiles what this world needs
    ms, missed, residual = [], 0, 0.0
    for step in range(round(seconds / world.dt)):
        before = process_time()
        world.step()
        ms.append(1e3 * (process_time() - before))
        if step * world.dt >= GRACE:
            missed += not world.info.converged
            residual = max(residual, world.info.residual)
    return {
        "bodies": len(world.bodies),
        "contacts": world.info.contacts,
        "missed": missed,
        "residual": residual,
        "seconds": seconds,
        **_moved(start, world.positions),
        **_times(ms),
    }


def _moved(start, position) -> dict:
    moved = np.linalg.norm(position - start, axis=1).max()
    return {"drift_mm": 1e3 * float(moved), "stands": bool(moved < FALLEN)}


def _times(ms) -> dict:
    return {"ms_mean": np.mean(ms), "ms_median": np.median(ms), "ms_largest": np.max(ms)}


def time_to_sleep(world) -> float | None:
    """When all bodies are asleep [s]; None if not within LONGEST_SLEEP."""
    while world.time < LONGEST_SLEEP:
        world.step()
        if all(body.asleep for body in world.bodies):
            return round(world.time, 3)
    return None


def as_arrays(name: str, seconds: float) -> StandardScene | None:
    """The structure as other engines get it; None if its bodies are no boxes."""
    import drystone as ds

    scene, options = STRUCTURES[name]
    world = SCENES[scene].build(**options)
    bodies = world.bodies
    if not all(isinstance(body.shape, ds.Box) for body in bodies):
        return None
    size = np.array([(b.shape.x, b.shape.y, b.shape.z) for b in bodies]) / 2
    mass = np.array([body.mass for body in bodies])
    square = (2 * size) ** 2
    inertia = mass[:, None] / 12 * (square.sum(axis=1, keepdims=True) - square)
    none = np.zeros(len(bodies) + 1, np.int32)
    return StandardScene(
        name, "box", size, mass, inertia, world.positions.copy(), world.orientations.copy(),
        np.empty((0, 2, 3)), np.empty((0, 3)), none, np.empty((0, 3), np.int32), none,
        max(10, round(200 * seconds)), 0,
    )  # fmt: skip


def peer_rows(name: str, seconds: float, python: Path) -> Iterator[dict]:
    """Rows of the other engines that are installed."""
    scene = as_arrays(name, seconds)
    if scene is None:
        return
    with TemporaryDirectory() as folder:
        scene_file, pose_file = Path(folder) / "scene.npz", Path(folder) / "poses.npz"
        scene.save(scene_file)
        for engine in installed_peers(python):
            variant = "cg" if engine == "mujoco" else "default"
            for row in run_peer(engine, variant, scene_file, pose_file, python):
                if "error" in row:
                    continue
                poses = np.load(pose_file)
                yield {
                    "structure": name, "engine": engine, "bodies": row["bodies"],
                    "contacts": row["contacts"] or 0, "seconds": row["steps"] * scene.dt,
                    **_moved(scene.position, poses["pos"]), "ms_mean": row["ms_mean"],
                    "ms_median": row["ms_median"],
                }  # fmt: skip


def run_structures(names, scale, python, json_file, screen, results) -> int:
    """Print the table; how many structures do not converge, drift by 0.1 mm or do not sleep."""
    rows, seconds = [], 10.0 * scale
    for name in names or STRUCTURES:
        with screen.status(f"Structures: {name} ..."):
            rows.extend(structure_rows([name], seconds))
            if python is not None:
                rows.extend(peer_rows(name, seconds, python))
    if json_file is not None:
        json_file.parent.mkdir(parents=True, exist_ok=True)
        json_file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    results.print(text_table(rows, COLUMNS), markup=False, soft_wrap=True)
    return sum(not _holds(row) for row in rows if row["engine"] == "drystone")


def _holds(row) -> bool:
    return row["missed"] == 0 and row["drift_mm"] < 0.1 and row["asleep"] is not None
