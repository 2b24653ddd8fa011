"""One chunk of runs: roll the rocks, then reduce their arcs to what the results need.

Arcs are not stored, for a rock that rolls has thousands of them. From them come, exactly, the cells
passed and the lines crossed, and the points of the trajectory at the output step.
"""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from drystone.errors import SimulationError
from drystone.rockfall.engine.records import ARC, CROSSING, FAILED, IMPACT, Trajectory
from drystone.rockfall.results.cells import CellTable, CellWalker
from drystone.rockfall.results.check_lines import LineFinder
from drystone.rockfall.run.plan import Plan, find_function
from drystone.rockfall.run.shared_context import dump_shared, load_shared
from drystone.rockfall.run.trajectory_points import require_few_points, sample_points
from drystone.rockfall.terrain.ground_surface import height_at

RUN = np.dtype(
    [
        ("run", "i8"),
        ("start", "f8", 3),  # centre of mass [m], local
        ("end", "f8", 3),
        ("t", "f8"),  # duration [s]
        ("q", "f8", 4),  # orientation at the end
        ("reason", "i8"),  # index into REASONS
        ("mass", "f8"),  # [kg]
        ("length", "f8"),  # of the path in plan [m]
        ("speed", "f8"),  # largest [m/s]
        ("energy", "f8"),  # largest kinetic [J]
        ("height", "f8"),  # largest above the ground [m]
        ("impacts", "i8"),
        ("translation", "f8"),  # largest kinetic energy of translation [J]
        ("rotation", "f8"),  # and of rotation
        ("rest", "f8"),  # height of the end above the ground [m]; NaN: no ground there
        ("volume", "f8"),  # [m³]
        ("source", "i8"),  # number of the source; -1: unknown
        ("rock", "i8"),  # number of the rock group
    ]
)

# Arrays of a part, in the order in which its file has them.
TABLES = ("runs", "points", "impacts", "crossings", "lines")

# Fields that parts of the first layout have not (plan.py).
LATER = {"runs": ("translation", "rotation", "rest", "volume", "source", "rock"), "points": ("q",)}

# What a study has made of its file that workers do not need.
UNSHARED = ("surface", "barriers", "forest", "walls", "_walls", "_crossing", "trees")

# Columns of the cells in a part. Rasters are single precision: more would be stored for nothing.
CELL_COLUMNS = {"cell": np.int32, "speed": np.float32, "energy": np.float32, "height": np.float32}


def _with_run(dtype: np.dtype) -> np.dtype:
    return np.dtype([("run", "i8"), *dtype.descr])


RUN_IMPACT, RUN_CROSSING = _with_run(IMPACT), _with_run(CROSSING)


class Context(NamedTuple):
    """What a worker makes once and uses for all its chunks."""

    study: object
    plan: Plan
    scene: object
    roll: object
    walker: CellWalker
    finder: LineFinder


def make_context(study, plan: Plan) -> Context:
    walker = CellWalker(plan.raster, plan.ground)
    finder = LineFinder(plan.lines, plan.ground)
    return Context(study, plan, study.scene(), find_function(plan.roll), walker, finder)


def dump_context(context: Context, folder: Path) -> None:
    """Write what workers need into `folder`, for load_context()."""
    study = context.study
    made = {key: value for key, value in vars(study).items() if key not in UNSHARED}
    dump_shared(folder, (study, made, context.plan, context.scene))


def load_context(folder: Path) -> Context:
    """The context that was dumped there: the terrain and all large tables are mapped."""
    study, made, plan, scene = load_shared(folder)
    vars(study).update(made)
    walker = CellWalker(plan.raster, plan.ground)
    finder = LineFinder(plan.lines, plan.ground)
    return Context(study, plan, scene, find_function(plan.roll), walker, finder)


def compute_chunk(context: Context, chunk: int) -> dict[str, np.ndarray]:
    """All arrays of one chunk; they depend on the study, the plan and `chunk` alone."""
    runs = context.plan.runs(chunk)
    samples = [context.study.sample(run) for run in runs]
    trajectories = _roll(context, samples)
    usable = [
        usable_part(run, sample[1], trajectory)
        for run, sample, trajectory in zip(runs, samples, trajectories, strict=True)
    ]
    tables, cells = {"points": [_points(context, runs, samples, usable)]}, []
    for run, sample, trajectory in zip(runs, samples, usable, strict=True):
        kept, passed = reduce_run(context, run, trajectory, sample)
        cells.append(passed)
        for name, rows in kept.items():
            tables.setdefault(name, []).append(rows)
    arrays = {name: np.concatenate(tables[name]) for name in TABLES}
    x, y, z = arrays["runs"]["end"].T
    arrays["runs"]["rest"] = z - height_at(context.plan.ground, x, y)
    if context.plan.layout == 1:
        return _first_layout(arrays) | join_cells(cells)
    drawn = np.array([np.concatenate(sample[2] or ((),)) for sample in samples])
    sources = arrays["runs"]["source"]
    return arrays | {"drawn": drawn} | join_cells(cells, sources)


def _first_layout(arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The same as the first version wrote it, for runs that it began."""
    for table, later in LATER.items():
        kind = [field for field in arrays[table].dtype.descr if field[0] not in later]
        old = np.zeros(len(arrays[table]), np.dtype(kind))
        for name in old.dtype.names:
            old[name] = arrays[table][name]
        arrays[table] = old
    return arrays


def join_cells(tables: list[CellTable], sources=None) -> dict[str, np.ndarray]:
    """Columns of all runs, sorted by cell, so that merging can take all chunks cell by cell.

    sources   (runs,) number of the source of each, kept beside the cells
    """
    columns = [np.concatenate(parts) for parts in zip(*(t[:4] for t in tables), strict=True)]
    order = np.argsort(columns[0], kind="stable")
    named = zip(CELL_COLUMNS.items(), columns, strict=True)
    cells = {f"cells.{name}": column[order].astype(kind) for (name, kind), column in named}
    if sources is not None:
        owner = np.repeat(sources, [len(table.cell) for table in tables])
        cells["cells.source"] = owner[order].astype(np.int16)
    return cells


def split_cells(part: dict[str, np.ndarray]) -> CellTable:
    """The cells in a part."""
    columns = [part[f"cells.{name}"] for name in CELL_COLUMNS]
    source = part.get("cells.source")
    return CellTable(*columns, np.full(len(columns[0]), -1, np.int16) if source is None else source)


def _roll(context: Context, samples) -> list[Trajectory]:
    """Trajectories of the rocks of a chunk, on one thread: chunks are what is done in parallel."""
    rocks, starts, values = map(list, zip(*samples, strict=True))
    materials = None
    if values[0] is not None:  # restitution and friction of every material, drawn for each rock
        materials = tuple(np.array(column) for column in zip(*values, strict=True))
    return context.roll(
        rocks, starts, context.scene, context.study.options, materials=materials, threads=1
    )


def _points(context: Context, runs, samples, trajectories) -> np.ndarray:
    """Points of those runs of which the plan keeps them."""
    plan, kept = context.plan, [k for k, run in enumerate(runs) if context.plan.keeps(run)]
    chosen = [trajectories[k] for k in kept]
    require_few_points([runs[k] for k in kept], chosen, plan.step)
    inertia = np.array([samples[k][0].inertia for k in kept]).reshape(-1, 3)
    drag = getattr(context.study.options, "angular_drag", 0.0)
    return sample_points([runs[k] for k in kept], chosen, plan.step, plan.ground, inertia, drag)


def reduce_run(
    context: Context, run: int, trajectory: Trajectory, sample
) -> tuple[dict[str, np.ndarray], CellTable]:
    """What is kept of one run beside its points: rows of tables, and the cells that it passed."""
    arcs, mass, plan = trajectory.arcs, float(trajectory.end["mass"]), context.plan
    table = context.walker.walk(arcs, mass)
    impacts = trajectory.impacts if plan.keeps(run) else trajectory.impacts[:0]
    kept = {
        "runs": _run_record(run, trajectory, table, sample),
        "impacts": _tagged(run, impacts, RUN_IMPACT),
        "crossings": _tagged(run, trajectory.crossings, RUN_CROSSING),
        "lines": context.finder.find(run, arcs, mass),
    }
    return kept, table


def _run_record(run, trajectory, table, sample) -> np.ndarray:
    arcs, end = trajectory.arcs, trajectory.end
    record = np.zeros(1, RUN)
    record["run"], record["start"], record["end"] = run, arcs["x"][0], end["x"]
    for name in ("t", "q", "reason", "mass", "impacts"):
        record[name] = end[name]
    places = np.vstack([arcs["x"][:, :2], end["x"][None, :2]])
    record["length"] = np.linalg.norm(np.diff(places, axis=0), axis=1).sum()
    for name in ("speed", "energy", "height"):
        values = getattr(table, name)
        known = values[np.isfinite(values)]
        record[name] = known.max() if len(known) else np.nan
    length = (arcs["t1"] - arcs["t0"])[:, None]
    ends = np.concatenate([arcs["v"], arcs["v"] + length * arcs["a"]])
    record["translation"] = 0.5 * end["mass"] * (ends**2).sum(axis=1).max()
    record["rotation"] = arcs["e_spin"].max()
    record["volume"] = getattr(sample[0], "volume", np.nan)
    record["source"], record["rock"] = getattr(sample, "source", -1), getattr(sample, "group", -1)
    return record


def _tagged(run, rows, dtype) -> np.ndarray:
    tagged = np.zeros(len(rows), dtype)
    tagged["run"] = run
    for name in dtype.names[1:]:
        tagged[name] = rows[name]
    return tagged


def usable_part(run: int, start, trajectory: Trajectory) -> Trajectory:
    """The trajectory up to where its numbers end, if it failed; at least its start.

    A run that failed still counts, as failed: leaving it out would make the others look surer.
    """
    arcs, end = trajectory.arcs, trajectory.end.copy()
    numbers = arcs.view(np.float64) if arcs.flags.c_contiguous else np.full(1, np.nan)
    ended = np.isfinite(end["x"]).all() and np.isfinite(end["t"])
    if len(arcs) and ended and np.isfinite(numbers).all():
        impacts = trajectory.impacts[trajectory.impacts["t"] <= end["t"]]
        return Trajectory(arcs, impacts, trajectory.crossings, end)
    finite = np.ones(len(arcs), bool)
    for name in ("t0", "t1", "x", "v", "a", "w", "w_end", "e_spin"):
        known = np.isfinite(arcs[name])
        finite &= known if known.ndim == 1 else known.all(axis=1)
    if not (finite.all() and ended) and end["reason"] != FAILED:
        raise SimulationError(f"run {run} did not fail, but has a number that is not finite.")
    arcs = arcs[: len(arcs) if finite.all() else int(np.argmin(finite))]
    if len(arcs) == 0:
        arcs = np.zeros(1, ARC)
        arcs["x"] = start.position
    if not ended:
        s = arcs["t1"][-1] - arcs["t0"][-1]
        end["t"] = arcs["t1"][-1]
        end["x"] = arcs["x"][-1] + s * (arcs["v"][-1] + 0.5 * s * arcs["a"][-1])
    impacts = trajectory.impacts[trajectory.impacts["t"] <= end["t"]]
    return Trajectory(arcs, impacts, trajectory.crossings, end)
