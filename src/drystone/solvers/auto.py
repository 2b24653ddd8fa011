"""The default: cheap sweeps where they do, Newton where they stall, island by island.

Each island is swept by block Gauss-Seidel [Jourdan1998]. From how fast its error falls we know
how long that would take to the tolerance. If Newton's method (newton.py) is quicker by our
estimate, it takes over from where the sweeps stand; if it fails, the sweeps go on, and Newton
starts once more from a better point. Islands whose matrix is too large for the compiled Newton go to
prox-newton, which has sparse factors. What remains is the best iterate of every island.
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from drystone.blocks import block_matrix, island_error, islands_of, sweep_blocks
from drystone.gather import band_numbers, gather_island, island_room, order_island
from drystone.jit import kernel
from drystone.judge import Judge
from drystone.matrix_problem import MatrixProblem
from drystone.newton import Island, NewtonRoom, newton_room, prox_newton
from drystone.solvers.checks import refuse_elliptic
from drystone.solvers.prox_newton import ProxNewton

BATCH = 10  # sweeps between two looks at the error, which costs as much as a sweep
NEWTON_STEPS = 200  # at a time; islands that converge at all took 1 to 60
MANY_SWEEPS = 10_000  # of an island that Newton does not solve
LATE_SWEEPS = 2000  # between the first and the second try of Newton

# What a Newton step costs, apart from its factors, in sweeps; what an operation of the factors
# costs, in visits of a block (6 ns); and how many steps an island takes.
STEP_SWEEPS = 8.0
OPERATION = 1.0 / 60.0
USUAL_STEPS = 8.0

CAPACITY = 8_000_000  # numbers that the compiled Newton may store for its factors: 64 MB

SWEEPS, NEWTON, LARGE, FAILED = 0, 1, 2, 3  # what solved an island


class Report(NamedTuple):
    """What became of every island."""

    method: np.ndarray  # (islands,) int32
    sweeps: np.ndarray  # (islands,) int32
    steps: np.ndarray  # (islands,) int32: of Newton
    work: np.ndarray  # (islands,) in visits of a block

    def describe(self) -> str:
        """Such as: sweeps 36 islands, newton 3 islands (12 steps)."""
        parts = []
        for name, method in (("sweeps", SWEEPS), ("newton", NEWTON), ("sparse newton", LARGE)):
            count = int((self.method == method).sum())
            if count:
                steps = int(self.steps[self.method == method].max())
                tail = f" ({steps} steps)" if method != SWEEPS else ""
                parts.append(f"{name} {count} island{'s' if count > 1 else ''}{tail}")
        failed = int((self.method == FAILED).sum())
        if failed:
            parts.append(f"not converged {failed} island{'s' if failed > 1 else ''}")
        return ", ".join(parts)


class Room(NamedTuple):
    """Scratch for all islands, one after the other."""

    order: np.ndarray  # (nc,) int32: contacts of the island
    place: np.ndarray  # (nc,) int32: their places in that order
    impulse: np.ndarray  # (n, 3) in that order
    island: Island
    newton: NewtonRoom


@dataclass(frozen=True)
class Auto:
    """Solves every island to the tolerance and picks the method itself."""

    law: ClassVar[str] = "coulomb"
    supports: ClassVar[frozenset] = frozenset({"restitution", "2d", "matrix"})
    compiled: ClassVar[bool] = True  # within a step by nsgs.py and island_matrix.py
    newton: ClassVar[int] = 1

    tolerance: float = 1e-5  # on residual() [m/s], or relative; as nsgs has it
    max_sweeps: int = 0  # of an island before Newton; 0: MANY_SWEEPS, in a step those of nsgs
    measure: str = "velocity"
    history: bool = False

    def solve(self, problem, impulse):
        """Improve `impulse` in place; see problem.ContactSolver."""
        refuse_elliptic(problem, "auto")
        judge = Judge(self, problem, impulse, 3, "auto")
        if judge.converged:
            return judge.report(impulse, "nothing to do")
        blocks = block_matrix(problem.W())
        member, start = islands_of(blocks)
        q, goals = problem.q(), self._goals(problem, start)
        report = _report(len(goals))
        room = _room(blocks, member, start)
        solve_islands(
            member, start, blocks, q, problem.friction, self.measure == "relative", goals,
            self.max_sweeps or MANY_SWEEPS, room, impulse, report,
        )  # fmt: skip
        judge.done(impulse, report.work.sum() / len(blocks.column))
        for i in np.flatnonzero(report.method == LARGE):
            self._solve_large(problem, member[start[i] : start[i + 1]], goals[i], i, report, impulse)
            judge.done(impulse, report.work[i] / len(blocks.column))
        info = judge.report(impulse, report.describe())
        return info._replace(iterations=int((report.sweeps + report.steps).max(initial=0)))

    def _goals(self, problem, start) -> np.ndarray:
        """The error that each island may have (islands,)."""
        count = np.diff(start)
        if self.measure == "velocity":
            return np.full(len(count), self.tolerance)
        # The squares of the islands add up to that of the whole.
        return self.tolerance * np.linalg.norm(problem.q()) * np.sqrt(count / count.sum())

    def _solve_large(self, problem, member, goal, i, report, impulse) -> None:
        """An island whose factors would not fit: those of SuperLU are sparse."""
        rows = (3 * member[:, None] + np.arange(3)).ravel()
        q = problem.q()[member]
        part = MatrixProblem(problem.W()[rows][:, rows], q, problem.friction[member])
        tolerance = goal if self.measure == "velocity" else goal / np.linalg.norm(q)
        guess = impulse[member]
        info = ProxNewton(tolerance=tolerance, measure=self.measure).solve(part, guess)
        impulse[member] = guess
        report.steps[i] = info.iterations
        report.work[i] = info.work * part.matrix.nnz / 9
        if not info.converged:
            report.method[i] = FAILED


def _report(islands: int) -> Report:
    numbers = [np.zeros(islands, dtype=np.int32) for _ in range(3)]
    return Report(*numbers, np.zeros(islands))


def _room(blocks, member, start) -> Room:
    """Room for the largest island."""
    nc, n = len(member), int(np.diff(start).max())
    count = np.diff(blocks.first)[member]
    most = int(np.add.reduceat(count, start[:-1]).max())
    return Room(
        np.zeros(nc, dtype=np.int32), np.full(nc, -1, dtype=np.int32), np.zeros((n, 3)),
        island_room(n, most), newton_room(n, min(CAPACITY, 9 * n * (n + 1))),
    )  # fmt: skip


@kernel
def solve_islands(
    member, start, blocks, q, friction, relative, goals, max_sweeps, room, impulse, report
):
    """Solve the islands one by one, each to its goal; see Auto."""
    for i in range(goals.shape[0]):
        _solve_island(
            i, member, start, blocks, q, friction, relative, goals[i], max_sweeps, room, impulse,
            report,
        )  # fmt: skip


@kernel
def _solve_island(
    i, member, start, blocks, q, friction, relative, goal, max_sweeps, room, impulse, report
):
    lo, hi = start[i], start[i + 1]
    visits = 0.0  # of blocks, in one sweep
    for k in range(lo, hi):
        visits += blocks.first[member[k] + 1] - blocks.first[member[k]]
    error = island_error(lo, hi, member, blocks, q, friction, impulse, relative)
    newton_work, next_try, tries = -1.0, 0, 0
    batch = min(BATCH, 2 * (hi - lo))  # a lone contact is solved by its first visit
    while not error <= goal and report.sweeps[i] < max_sweeps:
        last = error
        for _ in range(batch):
            sweep_blocks(lo, hi, member, blocks, q, friction, impulse)
        error = island_error(lo, hi, member, blocks, q, friction, impulse, relative)
        report.sweeps[i] += batch
        report.work[i] += (batch + 1) * visits
        if error <= goal or tries == 2 or report.sweeps[i] < next_try:
            continue
        ahead = sweeps_ahead(error, last, goal, batch)
        if ahead < USUAL_STEPS * STEP_SWEEPS and tries == 0:
            continue
        if newton_work < 0.0:
            newton_work = _take_out(member[lo], visits, blocks, q, friction, room)
        if newton_work == np.inf:
            if ahead > LATE_SWEEPS:
                report.method[i] = LARGE
                return
        elif ahead * visits > USUAL_STEPS * newton_work or tries > 0:
            error, steps = _try_newton(hi - lo, relative, goal, room, impulse)
            report.steps[i] += steps
            report.work[i] += steps * newton_work
            next_try, tries = report.sweeps[i] + LATE_SWEEPS, tries + 1
    if not error <= goal:
        report.method[i] = FAILED
    elif report.steps[i] > 0:
        report.method[i] = NEWTON


@kernel
def sweeps_ahead(error, last, goal, batch):
    """Sweeps until the error has fallen to `goal`, if it goes on as in the last batch."""
    if not error < last:
        return np.inf
    return batch * np.log(goal / error) / np.log(error / last)


@kernel
def _take_out(start, visits, blocks, q, friction, room):
    """Gather the island of contact `start`; returns the work of a Newton step, or infinity."""
    n = order_island(start, blocks.first, blocks.column, room.place, room.order)
    gather_island(n, room.order, room.place, blocks, q, friction, room.island)
    stored, operations = band_numbers(n, room.island, room.newton.low, room.newton.high)
    if stored > room.newton.matrix.shape[0]:
        return np.inf
    return STEP_SWEEPS * visits + OPERATION * operations


@kernel
def _try_newton(n, relative, goal, room, impulse):
    """Newton on the island that was taken out; returns the error and the steps."""
    own = room.impulse
    for k in range(n):
        c = room.order[k]
        own[k, 0], own[k, 1], own[k, 2] = impulse[c, 0], impulse[c, 1], impulse[c, 2]
    error, steps = prox_newton(n, room.island, relative, goal, NEWTON_STEPS, room.newton, own)
    for k in range(n):
        c = room.order[k]
        impulse[c, 0], impulse[c, 1], impulse[c, 2] = own[k, 0], own[k, 1], own[k, 2]
    return error, steps
