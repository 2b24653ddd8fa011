"""The default: every island gets the method that brings it to the tolerance soonest.

A problem of bodies is solved as a step of a world solves it (timestep.solve), by the same kernels:
Gauss-Seidel sweeps without a matrix, and Newton for the islands where they stall. What that leaves
unconverged goes on to the hybrid of newton/hybrid.py, which sweeps on W itself, with Anderson
acceleration, and has room for larger islands; beyond that to prox-newton, which has sparse factors.
So do problems that are given as a matrix, have joints (which have no sweeps), or are to be solved
to a relative error: `info.method` then begins with "hybrid".
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from time import perf_counter
from typing import ClassVar

import numpy as np

from drystone.constraints.error_measures import MEASURE_NATURAL, MEASURES
from drystone.constraints.laws import law_errors
from drystone.constraints.matrix_problem import MatrixProblem
from drystone.constraints.problem import ContactProblem, SolveInfo, solve_info
from drystone.constraints.residual import measure, measures_of, residual
from drystone.model.capacity import island_work
from drystone.solvers.gauss_seidel.block_matrix import block_problem, islands_of
from drystone.solvers.gauss_seidel.solve_islands import DEEPER, solve_rows
from drystone.solvers.gauss_seidel.sweep import sweeps_alone
from drystone.solvers.newton.by_bodies import LARGE_GOAL, solve_by_bodies
from drystone.solvers.newton.hybrid import (
    FAILED,
    LARGE,
    describe_islands,
    empty_report,
    hybrid_work,
    solve_each_island,
)
from drystone.solvers.newton.island_delassus import solve_by_newton
from drystone.solvers.nsgs import rows_of, with_history
from drystone.solvers.options import check_options, refuse_elliptic
from drystone.solvers.stages.least_norm import share_evenly

MANY_SWEEPS = 10_000  # of an island that Newton does not solve
LARGE_STEPS = 150  # of prox-newton on one island; what converges at all took 40 to 100
ISLAND_OPERATIONS = 3e8  # of a factorisation with the velocities of bodies: heaps of 1500 cubes


@dataclass(frozen=True)
class Auto:
    """Solves every island to the tolerance and picks the method itself."""

    law: ClassVar[str] = "coulomb"
    supports: ClassVar[frozenset] = frozenset(
        {"joints", "limits", "restitution", "rolling", "surfaces", "2d", "matrix"}
    )
    compiled: ClassVar[bool] = True  # timestep.advance() runs it without returning to Python
    newton: ClassVar[int] = 1

    tolerance: float = 1e-5  # on residual() [m/s], or relative; as nsgs has it
    max_sweeps: int = 0  # of an island before Newton; 0: MANY_SWEEPS, in a step those of nsgs
    measure: str = "velocity"
    history: bool = False

    def __post_init__(self) -> None:
        check_options(self, "auto")

    def solve(self, problem: ContactProblem | MatrixProblem, impulse: np.ndarray) -> SolveInfo:
        """Improve `impulse` in place; see problem.ContactSolver."""
        refuse_elliptic(problem, "auto")
        if problem.block_count == 0:
            return solve_info(True, 0, 0.0, 0, 0.0, np.zeros(MEASURES), 0, "auto")
        start = impulse.copy()
        info = self._solve(problem, impulse)
        if not self.history:
            return info
        return with_history(problem, start, self._shorter(problem, start), impulse, info)

    def _solve(self, problem: ContactProblem | MatrixProblem, impulse: np.ndarray) -> SolveInfo:
        info = None
        if isinstance(problem, ContactProblem) and self._as_in_a_step(problem):
            info = self._solve_rows(problem, impulse)
            if info.converged:
                return info
        since, q = perf_counter(), problem.q()
        report, work = self._solve_hybrid(problem, q, impulse)
        seconds, iterations = perf_counter() - since, int((report.sweeps + report.steps).max())
        if info is not None:  # what the kernels of the step took before
            work, seconds = work + info.work, seconds + info.seconds
            iterations += info.iterations
        figures = self._figures(problem, q, impulse)
        return solve_info(
            self._error(figures) <= self.tolerance, iterations, figures[0], problem.contact_count,
            problem.gap.min(initial=0.0), figures[1:], len(report.method), "auto",
            f"hybrid: {report.describe()}",
        )._replace(work=work, seconds=seconds)  # fmt: skip

    def _as_in_a_step(self, problem: ContactProblem) -> bool:
        return problem.joints is None and self.measure == "velocity"

    def _shorter(self, problem, start) -> Iterator["Auto"]:
        """The same solve to larger tolerances, a digit each, as entries of a history."""
        if not self.tolerance > 0.0:
            return
        first = self._error(self._figures(problem, problem.q(), start))
        digits = np.log10(max(first, self.tolerance) / self.tolerance)
        for k in range(int(np.ceil(digits)) - 1, 0, -1):
            yield replace(self, history=False, tolerance=self.tolerance * 10.0**k)

    def _solve_rows(self, p: ContactProblem, impulse: np.ndarray) -> SolveInfo:
        """By the kernels of the step; an island that takes Newton is one of `newton`."""
        start, nc, tolerance = perf_counter(), p.contact_count, self.tolerance
        sweeps = newton = steps = 0
        if not residual(p, impulse) <= tolerance:
            rows, groups, twist = rows_of(p, impulse)
            sweeps, _ = solve_rows(
                rows, groups, nc, False, p.mass, tolerance, 0.0, sweeps_alone(self.max_sweeps),
                True, twist,
            )  # fmt: skip
            work, free = island_work(len(p.mass) - 1), np.zeros_like(twist)
            free[:, :6] = p.free
            for g in np.flatnonzero(rows.group_residual[:groups] > tolerance):
                lo, hi = rows.slab_first[rows.group_first[g : g + 2]].astype(np.int64)
                error, islands, taken = solve_by_newton(
                    lo, hi - lo, 0, 0, rows, None, p.mass, free, DEEPER * tolerance, work, twist
                )
                newton, steps = newton + islands, steps + taken
                if error <= tolerance:
                    continue
                aims = LARGE_GOAL * tolerance, tolerance, ISLAND_OPERATIONS
                _, islands, taken = solve_by_bodies(lo, hi - lo, rows, p.mass, free, aims, twist)
                newton, steps = newton + islands, steps + taken
            share_evenly(rows, groups, p.mass, twist, tolerance, np.zeros(42))
            impulse[:] = rows.impulse
        error, islands = residual(p, impulse), int(p.islands().max(initial=-1)) + 1
        return solve_info(
            error <= tolerance, sweeps + steps, error, nc, p.gap.min(initial=0.0),
            measure(p, impulse), islands, "auto", describe_islands(islands, newton, steps),
        )._replace(work=float(sweeps + steps), seconds=perf_counter() - start)  # fmt: skip

    def _error(self, figures) -> float:
        return figures[0] if self.measure == "velocity" else figures[1 + MEASURE_NATURAL]

    def _solve_hybrid(self, problem, q, impulse):
        """Improve `impulse`; what became of the islands, and the work in sweeps over all."""
        blocks = block_problem(problem)
        member, start = islands_of(blocks.matrix)
        goals = self._goals(q, np.diff(start))
        report = empty_report(len(goals))
        solve_each_island(
            member, start, blocks, self.measure == "relative", goals,
            self.max_sweeps or MANY_SWEEPS, hybrid_work(blocks.matrix, member, start), impulse,
            report,
        )  # fmt: skip
        for i in np.flatnonzero(report.method == LARGE):
            self._solve_large(
                problem, q, member[start[i] : start[i + 1]], goals[i], i, report, impulse
            )
        return report, report.work.sum() / len(blocks.matrix.column)

    def _goals(self, q, count) -> np.ndarray:
        """The error that each island may have (islands,), from the number of its contacts."""
        if self.measure == "velocity":
            return np.full(len(count), self.tolerance)
        # The squares of the islands add up to that of the whole.
        return self.tolerance * np.linalg.norm(q) * np.sqrt(count / count.sum())

    def _solve_large(self, problem, q, member, goal, i, report, impulse) -> None:
        """An island whose factors would not fit: those of SuperLU are sparse."""
        from drystone.solvers.prox_newton import ProxNewton  # SuperLU takes a while to load

        rows = (3 * member[:, None] + np.arange(3)).ravel()
        matrix = problem.W()[rows][:, rows]
        if problem.joints is None:
            part = MatrixProblem(matrix, q[member], problem.friction[member])
        else:
            part = problem.part(member)
        tolerance = goal if self.measure == "velocity" else goal / np.linalg.norm(q[member])
        guess = impulse[member]
        solver = ProxNewton(tolerance, LARGE_STEPS, self.measure)
        info = solver.solve(part, guess)
        impulse[member] = guess
        report.steps[i] += info.iterations
        report.work[i] += info.work * matrix.nnz / 9
        if not info.converged:
            report.method[i] = FAILED

    def _figures(self, problem, q, impulse) -> tuple:
        """residual() and the measures of constraints/error_measures.py."""
        velocity = q + problem.apply_W(impulse)
        errors = law_errors(problem, impulse, velocity)
        return float(errors.max()), *measures_of(problem, impulse, q, velocity)
