"""Solvers side by side on the same problems, all started from zero and compared by one measure.

A solver gets as many iterations as fit into the time limit: its bound on them grows until the
error is small enough, stops falling, or the time is used up. Not to converge is a result. The
performance profile is that of [Dolan2002]: the share of the problems that a solver has solved
within a factor of the best solver's time on each.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

import numpy as np
from numba.core import event

from drystone.constraints.error_measures import (
    MEASURE_ENERGY,
    MEASURE_FISCHER,
    MEASURE_GAP,
    MEASURE_MINMAP,
    MEASURE_NATURAL,
)
from drystone.constraints.matrix_problem import MatrixProblem
from drystone.constraints.problem import ContactProblem, History, SolveInfo
from drystone.constraints.residual import measure, residual
from drystone.errors import InputError, UnsupportedFeature
from drystone.solvers import SOLVERS
from drystone.solvers.dispatch import make_solver
from drystone.solvers.supported_features import require

SUFFIXES = (".h5", ".hdf5", ".dat")  # of the files in a folder that are taken for problems

# Fields of solvers that bound their work; the first that a solver has, as another may bound a part.
LIMITS = ("max_iterations", "max_sweeps", "max_pivots")
FIRST_BOUND, GROWTH, LAST_BOUND = 10, 8, 100_000_000

# If GROWTH times as many iterations leave that share of the error, more are of no use: the solver
# stops by itself, or, after many, it solves another law than the measure asks for. Few prove
# nothing, since a pivoting method has no answer at all before its last pivot.
STALLED, MANY = 0.99, 5000

# Solves shorter than this share of the time limit are repeated, and the least time counts: what
# disturbs a clock only ever adds.
SHORT, REPEATS = 0.1, 3

# The solver and we sum up the same velocities in another order; much less than it could matter.
ROUNDING = 1e-6

COURSE_POINTS = 400  # points of a history: as many as a plot can show

FACTORS = (1.0, 1.5, 2.0, 5.0, 10.0, 100.0)  # of the best time, in the table of the profile

CONVERGED, NOT_CONVERGED, NOT_SUPPORTED, FAILED = "yes", "no", "not supported", "failed"


@dataclass(frozen=True)
class Outcome:
    """What one solver made of one problem. All errors are measured here, not by the solver."""

    problem: str
    contacts: int
    solver: str
    law: str
    converged: str  # CONVERGED, NOT_CONVERGED, NOT_SUPPORTED or FAILED
    natural_map: float | None = None  # relative natural-map error of the exact Coulomb problem
    residual: float | None = None  # of the solver's own law [m/s]
    iterations: int | None = None
    seconds: float | None = None  # by the solver's clock, which leaves out measuring, if it has one
    work: float | None = None  # in units of one Gauss-Seidel sweep
    energy_change: float | None = None  # of the kinetic energy, by the impulses [J]
    wall_seconds: float | None = None  # of the full solve, measuring included
    fischer: float | None = None
    minmap: float | None = None
    complementarity: float | None = None  # [J]
    method: str = ""  # which method solved what, if the solver chooses
    message: str = ""  # why there is no result
    course: History | None = None  # thinned out, if it was asked for


class _Attempt(NamedTuple):
    info: SolveInfo
    error: float  # by the measure that counts
    residual: float
    measures: np.ndarray
    wall: float  # [s], without compiling
    compiled: bool
    finite: bool


def find_solvers(names: Iterable[str] | None, tolerance: float, measure: str) -> dict:
    """{name: solver} of those `names`, all if None, set to stop at `tolerance` on `measure`."""
    names = list(SOLVERS) if names is None else list(names)
    return {name: replace(make_solver(name, tolerance), measure=measure) for name in names}


def natural_measure(problems: Iterable) -> str:
    """The usual measure for `problems`: "relative" if of all of them only the matrix is known."""
    return "relative" if all(isinstance(p, MatrixProblem) for p in problems) else "velocity"


def problem_files(folder: Path) -> list[Path]:
    """Files of `folder` that by their names hold problems."""
    found = sorted(p for p in folder.iterdir() if p.suffix in SUFFIXES and p.is_file())
    if not found:
        raise InputError(f"{folder}: no problem files in it ({', '.join(SUFFIXES)}).")
    return found


def load_problems(paths: Iterable[Path]) -> tuple[dict, dict[str, str]]:
    """Problems by file name, and for each file that cannot be read the reason."""
    problems, skipped = {}, {}
    for path in paths:
        try:
            problems[path.name] = ContactProblem.load(path)
        except InputError as error:
            skipped[path.name] = str(error)
    return problems, skipped


def try_solver(
    problem_name: str, problem, name: str, solver, seconds_limit: float, history: bool = False
) -> Outcome:
    """Solve `problem` by `solver`, called `name`; whatever goes wrong is part of the outcome."""
    outcome = Outcome(problem_name, problem.contact_count, name, solver.law, FAILED)
    try:
        require(problem, solver)
        best, bound = _solve_within(problem, solver, seconds_limit)
        if best.compiled or best.wall < SHORT * seconds_limit:
            again = [_attempt(problem, _bounded(solver, bound)) for _ in range(REPEATS - 1)]
            # The solver's own clock does not know of compiling.
            best = min(again if best.compiled else [best, *again], key=_seconds)
        course = None
        if history:
            observed, _ = _solve_within(problem, replace(solver, history=True), seconds_limit)
            course = thinned(observed.info.history)
    except UnsupportedFeature as error:
        return replace(outcome, converged=NOT_SUPPORTED, message=str(error))
    except Exception as error:  # a broken solver must not cost the results of the others
        return replace(outcome, message=f"{type(error).__name__}: {error}")
    if not best.finite:
        return replace(outcome, message="its impulses are not finite numbers")
    return replace(outcome, **_figures(best, solver.tolerance), course=course)


def _figures(best: _Attempt, tolerance: float) -> dict:
    m, info = best.measures, best.info
    done = best.error <= tolerance * (1.0 + ROUNDING)
    return dict(
        converged=CONVERGED if done else NOT_CONVERGED,
        natural_map=float(m[MEASURE_NATURAL]),
        residual=best.residual,
        iterations=info.iterations,
        seconds=_seconds(best),
        work=info.work or None,
        energy_change=float(m[MEASURE_ENERGY]),
        wall_seconds=best.wall,
        fischer=float(m[MEASURE_FISCHER]),
        minmap=float(m[MEASURE_MINMAP]),
        complementarity=float(m[MEASURE_GAP]),
        method=info.method,
    )


def _seconds(attempt: _Attempt) -> float:
    return attempt.info.seconds or attempt.wall


def _solve_within(problem, solver, seconds: float) -> tuple[_Attempt, int]:
    """The last of several attempts with a growing bound on the iterations, and that bound."""
    bound, error, iterations = FIRST_BOUND, np.inf, -1
    while True:
        attempt = _attempt(problem, _bounded(solver, bound))
        if bound == FIRST_BOUND and attempt.wall > seconds / 2:
            # Perhaps it was not the solver that took so long, but loading its compiled code.
            attempt = _attempt(problem, _bounded(solver, bound))
        done = attempt.error <= solver.tolerance * (1.0 + ROUNDING)
        stalled = not attempt.error <= STALLED * error  # a NaN is not going to improve either
        stopped = attempt.info.iterations == iterations or bound > MANY
        late = attempt.wall > seconds / 2 or bound >= LAST_BOUND
        if done or (stalled and stopped) or late or not attempt.finite:
            return attempt, bound
        error, iterations = attempt.error, attempt.info.iterations
        bound = int(bound * min(GROWTH, seconds / attempt.wall))


def _bounded(solver, bound: int):
    """`solver` with at most `bound` iterations; itself if it has no such option."""
    options = {field.name for field in fields(solver)}
    for name in LIMITS:
        if name in options:
            return replace(solver, **{name: bound})
    return solver


def _attempt(problem, solver) -> _Attempt:
    impulse = np.zeros((problem.block_count, 3))
    with event.install_listener("numba:compile", event.TimingListener()) as compiling:
        start = perf_counter()
        info = solver.solve(problem, impulse)
        wall = perf_counter() - start
    wall -= compiling.duration if compiling.done else 0.0
    finite = bool(np.isfinite(impulse).all())
    measures = measure(problem, impulse)
    facets = getattr(solver, "facets", 0)
    own = residual(problem, impulse, solver.law, facets) if finite else np.inf
    error = measures[MEASURE_NATURAL] if solver.measure == "relative" else own
    return _Attempt(info, float(error), own, measures, wall, compiling.done, finite)


def thinned(history: History | None) -> History | None:
    """At most about COURSE_POINTS entries of `history`: the first ones, then ever fewer."""
    if history is None or len(history.iteration) <= COURSE_POINTS:
        return history
    last = len(history.iteration) - 1
    shown = np.unique(np.geomspace(1, last + 1, COURSE_POINTS).round().astype(int)) - 1
    return History(*(np.asarray(column)[shown] for column in history))


@dataclass(frozen=True)
class Profile:
    """Time of every solver on every problem, as a factor of the best; infinite if not solved."""

    problems: tuple[str, ...]
    ratio: dict[str, np.ndarray]  # (problems,) by solver

    def share(self, solver: str, factor: float) -> float:
        """Share of all problems that `solver` solved within `factor` of the best time."""
        return float((self.ratio[solver] <= factor).mean())

    def rows(self) -> list[dict]:
        """A row for each solver: the shares at FACTORS, and of what it solved at all."""
        rows = []
        for solver, ratio in self.ratio.items():
            row = {"solver": solver} | {f"{f:g}": self.share(solver, f) for f in FACTORS}
            rows.append(row | {"solved": int(np.isfinite(ratio).sum())})
        return rows


def performance_profile(outcomes: Iterable[Outcome]) -> Profile:
    """The ratios of [Dolan2002]; a problem that nobody solved counts as unsolved by all.

    One that not all solvers have been tried on, as after Ctrl-C, does not count.
    """
    outcomes = list(outcomes)
    tried = Counter(o.problem for o in outcomes)
    most = max(tried.values(), default=0)
    problems = tuple(problem for problem, count in tried.items() if count == most)
    time = {o.solver: np.full(len(problems), np.inf) for o in outcomes}
    for o in outcomes:
        if o.converged == CONVERGED and o.problem in problems:
            time[o.solver][problems.index(o.problem)] = o.seconds
    best = np.min(list(time.values()), axis=0)
    solved = np.isfinite(best)
    ratio = {solver: np.full(len(problems), np.inf) for solver in time}
    for solver, seconds in time.items():
        ratio[solver][solved] = seconds[solved] / best[solved]
    return Profile(problems, ratio)
