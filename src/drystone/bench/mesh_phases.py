"""Piles of meshes, phase by phase, as FFD Fig. 8 and 9 show them: time, contacts, memory.

A step is divided as there: collision detection, contact resolution, and the half steps before and
after (forces, displacements, poses, sleep). Statistics are per block of steps. Resolution time
against the number of contacts gets a straight line and its R²; FFD section 9 has O(n + m), with n
the bodies that touch and m the contacts, so there is also the R² of both. In FFD every body is
processed once in a step, so `ffd` here does all its passes in every step; `auto` stops when it has
converged, and its time is no line. The line of `ffd` is that of the last solve of every block, done
again after the run on one core, several times, of which the quickest counts: else it shows what
others did on the machine. Every run has a process of its own, so that the peak of its memory is its
own.
"""

import json
import resource
import sys
from concurrent.futures import ProcessPoolExecutor, wait
from multiprocessing import get_context
from time import perf_counter

import numpy as np

from drystone.model.files import write_text
from drystone.world.io.text_table import text_table

SCENES = ("chess-drop", "helmets")
METHODS = ("ffd", "auto")
BLOCK = 10  # steps
ALL_PASSES = 1e-9  # [m/s] tolerance that ten passes do not reach
# Solves are done again in so many rounds at least and at most, and until so many in a row have
# shortened them all together by less than this share. On a busy machine twenty left R² at 0.96.
ROUNDS, MOST_ROUNDS, IDLE_ROUNDS, SHORTENED = 20, 100, 10, 2e-3
SHOWN_EVERY = 1.0  # [s] how far a run is
# Stages; the rest is resolution.
DETECTION, OTHER = ("broadphase", "narrowphase", "ccd"), ("forces", "displace", "finalize")

# heading, key, format
COLUMNS = (
    ("method", "method", "{}"),
    ("steps", "steps", "{}"),
    ("contacts, most", "contacts", "{:.0f}"),
    ("ms/step", "ms_mean", "{:.1f}"),
    ("most", "ms_peak", "{:.1f}"),
    ("detection", "detection_ms", "{:.1f}"),
    ("resolution", "resolution_ms", "{:.1f}"),
    ("other", "other_ms", "{:.2f}"),
    ("us/contact", "us_per_contact", "{:.2f}"),
    ("R²", "r_squared", "{:.4f}"),
    ("with bodies", "r_squared_both", "{:.4f}"),
    ("overlap mm", "penetration_mm", "{:.2f}"),
    ("energy J", "kinetic_energy", "{:.2g}"),
    ("lost", "lost", "{}"),
    ("GiB", "peak_gib", "{:.2f}"),
)


def run_phases(names, scale, threads, sleeping, json_file, plot, screen, results) -> None:
    """What `drystone bench --mesh` does: run, print a table for each scene, write and draw."""
    from drystone.bench.solver_plots import check_plots
    from drystone.scenes import find_scene

    scenes = [find_scene(name) for name in names or SCENES]
    if plot is not None:
        check_plots()
    all_rows = []
    for scene in scenes:
        rows = []
        for method in METHODS:
            seconds = scale * scene.seconds
            rows.append(_run_shown(scene.name, method, seconds, threads, sleeping, screen))
            all_rows.append(rows[-1])
            if json_file is not None:  # at once: the next run may take an hour, or be stopped
                write_text(json_file, "".join(json.dumps(row) + "\n" for row in all_rows))
        how = f"sleeping {'on' if sleeping else 'off'}"
        results.print(f"{scene.name}: {scene.summary}, {how}", style="bold", soft_wrap=True)
        results.print(text_table(rows, COLUMNS) + "\n", markup=False, soft_wrap=True)
    if plot is not None:
        draw_phases(all_rows, plot)


def _run_shown(name, method, seconds, threads, sleeping, screen) -> dict:
    with screen.status(f"{name} with {method} ...") as status:

        def show(at, end):
            status.update(f"{name} with {method}: step {at} of {end} ...")

        return run_apart(name, method, seconds, threads, show, sleeping=sleeping)


def run_apart(name, method, seconds=None, threads=None, show=None, **options) -> dict:
    """`measure_phases` in a process of its own; show(step, steps) while it runs."""
    context = get_context("spawn")
    at = context.Array("q", 2)
    with ProcessPoolExecutor(1, context, _share, (at,)) as pool:
        run = pool.submit(_measure_shared, name, method, seconds, threads, **options)
        while not wait([run], SHOWN_EVERY).done:
            if show is not None and at[1] > 0:
                show(*at)
        return run.result()


def _share(at) -> None:
    global _at
    _at = at


def _measure_shared(*run, **options) -> dict:
    """`measure_phases`; the process that waits for it sees how far it is."""

    def show(*at):
        _at[:] = at

    return measure_phases(*run, show=show, **options)


def measure_phases(name, method, seconds=None, threads=None, show=None, **options) -> dict:
    """Run scene `name` with solver `method`; statistics of the run, and of its blocks as lists.

    seconds  of simulated time, the scene's own if not given
    show     called with the step reached and how many there are, after every block
    options  of the scene and of its world; nothing sleeps unless they say so
    """
    from drystone.bench.drystone_driver import compile_engine
    from drystone.jit.threads import use_threads
    from drystone.scenes import find_scene

    scene = find_scene(name)
    if threads is not None:
        with use_threads(threads):
            return measure_phases(name, method, seconds, show=show, **options)
    compile_engine()
    solver = _solver(method)
    _load(solver)
    world = scene.build(solver=solver, **({"sleeping": False} | options))
    steps = max(BLOCK, round((seconds or scene.seconds) / world.dt))
    walls = _walls(world)
    if method == "ffd":
        world._solver = _KeepsSolve(solver)
    world.run(world.dt)  # makes the arrays, and compiles what only meshes need
    blocks, depth, solves = _run_blocks(world, steps, show)
    if solves:
        blocks["solving"] = _solve_again(solves, solver)
    return {
        "scene": name,
        "method": method,
        "bodies": len(world),
        "steps": steps,
        **_summary(blocks),
        "penetration_mm": 1e3 * depth,
        "kinetic_energy": world.energy().kinetic,
        "lost": count_lost(world, walls),
        "peak_gib": peak_gib(),
        "blocks": {key: values.tolist() for key, values in blocks.items()},
    }


def _solver(method):
    """`ffd` with the same number of passes in every step, others by their names."""
    from drystone.solvers import Ffd

    return Ffd(tolerance=ALL_PASSES) if method == "ffd" else method


class _KeepsSolve:
    """A solver that stores what its last solve started from."""

    def __init__(self, solver):
        self.solver, self.last = solver, None

    def __getattr__(self, name):
        return getattr(self.solver, name)

    def solve_bodies(self, problem, impulse, bounce=None):
        self.last = problem, impulse.copy(), bounce
        return self.solver.solve_bodies(problem, impulse, bounce)


def _load(solver) -> None:
    """Compile or load what the first contact needs."""
    from drystone import Box, Plane, World

    world = World(solver=solver)
    world.add_fixed(Plane())
    world.add_body(Box(1, 1, 1), position=(0, 0, 0.5))
    world.run(2 * world.dt)


def _run_blocks(world, steps, show) -> tuple[dict, float, list]:
    """Columns of statistics, one value for each block of steps [ms per step], and the worst depth.

    Also the last solve of every block, by a solver that stores it.
    """
    from drystone.world.run import RunStatistics, stage_seconds

    statistics, rows, solves = RunStatistics(world), [], []
    while statistics.steps < steps:
        before, start, first = stage_seconds(world), perf_counter(), statistics.steps
        end = min(first + BLOCK, steps)
        while statistics.steps < end:  # solvers in Python come back after every step
            statistics.advance(end - statistics.steps)
        wall, count = perf_counter() - start, statistics.steps - first
        spent = {key: value - before[key] for key, value in stage_seconds(world).items()}
        detection = sum(spent[key] for key in DETECTION)
        other = sum(spent[key] for key in OTHER)
        times = detection, wall - detection - other, other, wall
        rows.append((statistics.steps, statistics.contacts[-1], _touching(world), *times, count))
        if isinstance(world._solver, _KeepsSolve):
            solves.append(world._solver.last)
        if show is not None:
            show(statistics.steps, steps)
    table = np.array(rows, float)
    table[:, 3:7] *= 1e3 / table[:, 7:]
    names = ("step", "contacts", "touching", "detection", "resolution", "other", "all")
    return dict(zip(names, table.T, strict=False)), statistics.worst_penetration, solves


def _solve_again(solves, solver) -> np.ndarray:
    """Least time that each of the solves takes on one core [ms].

    All of them in turn, many times: what slows a machine down for a while does not count.
    """
    from drystone.jit.threads import use_threads

    least, totals = np.full(len(solves), np.inf), []
    with use_threads(1):
        while len(totals) < MOST_ROUNDS:
            for k, (problem, impulse, bounce) in enumerate(solves):
                start, begin = impulse.copy(), perf_counter()
                solver.solve_bodies(problem, start, bounce)
                least[k] = min(least[k], perf_counter() - begin)
            totals.append(least.sum())
            if len(totals) >= ROUNDS and totals[-1] > (1 - SHORTENED) * totals[-1 - IDLE_ROUNDS]:
                break
    return 1e3 * least


def _touching(world) -> int:
    """How many bodies touch anything."""
    found = world.contacts()
    sides = np.concatenate([found.body_a, found.body_b])
    return len(np.unique(sides[sides >= 0]))


def _summary(blocks) -> dict:
    slope, base, r_squared = fit_line(blocks["contacts"], _resolving(blocks))
    both = fit_both(blocks["contacts"], blocks["touching"], _resolving(blocks))
    return {
        "contacts": blocks["contacts"].max(),
        "ms_mean": blocks["all"].mean(),
        "ms_peak": blocks["all"].max(),
        "detection_ms": blocks["detection"].mean(),
        "resolution_ms": blocks["resolution"].mean(),
        "other_ms": blocks["other"].mean(),
        "us_per_contact": 1e3 * slope,
        "base_ms": base,
        "r_squared": r_squared,
        "r_squared_both": both,
    }


def _resolving(blocks):
    """Times through which the line goes."""
    return blocks.get("solving", blocks["resolution"])


def fit_line(x, y) -> tuple[float, float, float]:
    """Slope and height at 0 of the straight line of least squares, and its R²."""
    x, y = np.asarray(x, float), np.asarray(y, float)
    spread = ((y - y.mean()) ** 2).sum()
    if len(x) < 3 or np.ptp(x) == 0.0 or spread == 0.0:
        return 0.0, float(y.mean()), float("nan")
    slope, base = np.polyfit(x, y, 1)
    left = ((y - slope * x - base) ** 2).sum()
    return float(slope), float(base), float(1.0 - left / spread)


def fit_both(contacts, bodies, y) -> float:
    """R² of least squares with contacts and bodies: y = a contacts + b bodies + c."""
    table, y = np.column_stack([contacts, bodies, np.ones(len(y))]), np.asarray(y, float)
    spread = ((y - y.mean()) ** 2).sum()
    if spread == 0.0:
        return float("nan")
    left = ((y - table @ np.linalg.lstsq(table, y)[0]) ** 2).sum()
    return float(1.0 - left / spread)


def _walls(world) -> float:
    """Half the width of the box that the fixed boxes of `world` make, infinite without [m]."""
    from drystone.shapes import Box

    inner = np.inf
    for body in world.fixed:
        if isinstance(body.shape, Box):
            at, half = np.abs(body.position), np.array([body.shape.x, body.shape.y]) / 2
            inner = min(inner, max(at[0] - half[0], at[1] - half[1]))
    return inner


def count_lost(world, inner) -> int:
    """Bodies whose centre is outside the walls or below the ground."""
    centre = np.array([body.centre for body in world.bodies])
    return int(((np.abs(centre[:, :2]) > inner).any(axis=1) | (centre[:, 2] < 0.0)).sum())


def peak_gib() -> float:
    """Most memory that this process ever held."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**30


def draw_phases(rows, path) -> None:
    """Time and contacts step by step above, resolution against contacts below."""
    from matplotlib.figure import Figure

    from drystone.bench.solver_plots import write_figure

    figure = Figure((6 * len(rows), 8), layout="constrained")
    axes = figure.subplots(2, len(rows), squeeze=False)
    for (above, below), row in zip(axes.T, rows, strict=True):
        blocks = {key: np.array(values) for key, values in row["blocks"].items()}
        for key in ("detection", "resolution", "other"):
            above.plot(blocks["step"], blocks[key], label=key)
        above.set(title=f"{row['scene']}, {row['method']}", xlabel="step", ylabel="ms per step")
        above.legend(loc="upper left")
        beside = above.twinx()
        beside.plot(blocks["step"], blocks["contacts"], "k:", label="contacts")
        beside.plot(blocks["step"], blocks["touching"], "k--", label="bodies that touch")
        beside.set_ylabel("number")
        beside.legend(loc="lower right")
        below.plot(blocks["contacts"], _resolving(blocks), ".", markersize=4)
        ends = np.array([0.0, blocks["contacts"].max()])
        below.plot(ends, row["base_ms"] + 1e-3 * row["us_per_contact"] * ends)
        title = f"{row['us_per_contact']:.2f} us per contact, R² = {row['r_squared']:.4f}"
        below.set(title=title, xlabel="contacts", ylabel="resolution, ms per step")
    write_figure(figure, path)
