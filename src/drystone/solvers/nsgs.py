"""Nonsmooth Gauss-Seidel (NSGS) with an exact step for each contact on the true friction cone.

The block Gauss-Seidel method of [Jourdan1998]; solvers/gauss_seidel/solve_islands.py has its
kernels, which are those of the step, and solvers/gauss_seidel/block_sweep.py its textbook form for
problems that are given by their matrix, or have joints.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any, ClassVar

import numpy as np

from drystone.constraints.matrix_problem import MatrixProblem
from drystone.constraints.problem import (
    ContactProblem,
    History,
    SolveInfo,
    invert_blocks,
    solve_info,
)
from drystone.constraints.residual import measure, residual
from drystone.model.arrays import MOVING
from drystone.model.capacity import new_contact_rows
from drystone.solvers.convergence import ConvergenceMonitor
from drystone.solvers.gauss_seidel.block_sweep import solve_matrix
from drystone.solvers.gauss_seidel.solve_islands import push_all, solve_rows
from drystone.solvers.gauss_seidel.sweep import sweep_limit, sweeps_alone
from drystone.solvers.options import check_options, refuse_elliptic

# With the relative measure the error is evaluated after every two sweeps; beyond 40 sweeps, after
# every 1/20 of them.
CHECK_SHARE = 40
# A history must not change the solve, whose groups each stop by themselves. So its entries are
# the same solve, cut short: after 1, 2, ... sweeps, then every HISTORY_GROWTH times as many, which
# takes seven times as long as the solve alone.
HISTORY_GROWTH = 1.2


@dataclass(frozen=True)
class Nsgs:
    """The robust first choice: quick to a few digits, slow to many, hard to break."""

    law: ClassVar[str] = "coulomb"
    supports: ClassVar[frozenset[str]] = frozenset(
        {"joints", "limits", "restitution", "rolling", "surfaces", "2d", "matrix"}
    )
    compiled: ClassVar[bool] = True  # timestep.advance() runs it without returning to Python
    newton: ClassVar[int] = 0

    tolerance: float = 1e-5  # on residual() [m/s]; 1/4000 of what gravity adds in a step at 240 Hz
    max_sweeps: int = 0  # of a step; 0: 200, and for islands of few contacts more (sweep_limit)
    measure: str = "velocity"
    history: bool = False

    def __post_init__(self) -> None:
        check_options(self, "nsgs")

    def solve(self, problem: ContactProblem | MatrixProblem, impulse: np.ndarray) -> SolveInfo:
        """Improve `impulse` in place; see problem.ContactSolver."""
        refuse_elliptic(problem, "nsgs")
        if not hasattr(problem, "body") or problem.joints is not None:
            return solve_matrix(self, problem, impulse)
        if self.measure == "relative":
            return self._solve_monitored(problem, impulse)
        start = impulse.copy()
        info = self._solve_at_once(problem, impulse)
        if not self.history:
            return info
        shorter = (replace(self, history=False, max_sweeps=k) for k in cuts(info.iterations))
        return with_history(problem, start, shorter, impulse, info)

    def _solve_at_once(self, p, impulse):
        """As in a step: every group stops by itself."""
        start, nc = perf_counter(), p.contact_count
        rows, groups, twist = rows_of(p, impulse)
        sweeps, _ = solve_rows(
            rows, groups, nc, False, p.mass, self.tolerance, 0.0, sweeps_alone(self.max_sweeps),
            False, twist,
        )  # fmt: skip
        impulse[:] = rows.impulse
        seconds = perf_counter() - start
        error = residual(p, impulse)
        gap = p.gap.min() if nc else 0.0
        islands = p.islands().max() + 1 if nc else 0
        return solve_info(
            error <= self.tolerance, sweeps, error, nc, gap, measure(p, impulse), islands, "nsgs"
        )._replace(work=float(sweeps), seconds=seconds)

    def _solve_monitored(self, p, impulse):
        """All groups alike; the measures are evaluated in between."""
        rows, groups, twist = rows_of(p, impulse)
        sizes = np.diff(p.slab_first[p.group_first])
        limit = sweep_limit(self.max_sweeps, sizes.max(initial=0))
        monitor = ConvergenceMonitor(self, p, impulse, limit, "nsgs")
        over = monitor.converged
        while not over:
            # An even number, so that small islands go on alternately forward and backward.
            wanted = min(2 * (1 + monitor.iterations // CHECK_SHARE), limit - monitor.iterations)
            bounds = sweeps_alone(wanted)
            solve_rows(rows, groups, p.contact_count, False, p.mass, 0.0, 0.0, bounds, False, twist)
            over = monitor.done(rows.impulse, work=wanted, count=wanted)
        return monitor.report(impulse)


def rows_of(p, impulse):
    """The rows of a problem as solve_rows() takes them, how many groups, and the twists."""
    block = p.blocks()
    inverse = np.zeros_like(block)
    invert_blocks(block, inverse)
    rows = new_contact_rows(p.contact_count, len(p.mass) - 1)._replace(
        body=p.body, frame=p.frame, arm=p.arm, delassus=block, inverse=inverse, bias=p.bias,
        friction=p.friction, gap=p.gap, impulse=np.array(impulse, dtype=np.float64),
    )  # fmt: skip
    if p.surface is not None:
        rows.special[MOVING] = 1
        rows.surface[:] = np.einsum("ck,ckx->cx", p.surface, p.frame[:, 3:].reshape(-1, 2, 3))
    slabs, groups = len(p.slab_first) - 1, len(p.group_first) - 1
    rows.slab_first[: slabs + 1] = p.slab_first
    rows.group_first[: groups + 1] = p.group_first
    twist = np.zeros((len(p.free), 8))  # as arrays.Motion has them
    twist[:, :6] = p.free
    push_all(rows, slabs, p.mass, twist)
    return rows, groups, twist


def cuts(sweeps: int) -> Iterator[int]:
    """After how many sweeps a solve of `sweeps` is looked at on its way."""
    k = 1
    while k < sweeps:
        yield k
        k = max(k + 1, int(k * HISTORY_GROWTH))


def with_history(
    problem: ContactProblem | MatrixProblem,
    start: np.ndarray,
    shorter: Iterable[Any],
    impulse: np.ndarray,
    info: SolveInfo,
) -> SolveInfo:
    """`info` of the solve that led from `start` to `impulse`, with its history.

    shorter   solvers that stop earlier on the same way
    """
    rows = [(0, 0.0, 0.0, residual(problem, start), *measure(problem, start))]
    for solver in shorter:
        p = start.copy()
        part = solver.solve(problem, p)
        rows.append(_entry(problem, p, part))
    rows.append(_entry(problem, impulse, info))
    columns = np.array(rows).T
    columns[1] = np.maximum.accumulate(columns[1])  # each was timed by itself
    return info._replace(history=History(*columns))


def _entry(problem, impulse, info) -> tuple:
    return (info.iterations, info.seconds, info.work, info.residual, *measure(problem, impulse))
