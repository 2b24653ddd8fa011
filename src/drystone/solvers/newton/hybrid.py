"""Hybrid of accelerated block Gauss-Seidel and semismooth Newton on W, island by island; compiled.

Each island is swept by block Gauss-Seidel (solvers/gauss_seidel/block_matrix.py) with Anderson
acceleration (solvers/gauss_seidel/anderson.py). How fast its error falls tells how long that would
take to the goal. If Newton's method (semismooth.py) is quicker by our estimate, it takes over from
where the sweeps stand. If it fails, the sweeps go on, and Newton starts once more from a better
point. What remains is the best iterate. Islands with joints go to Newton at once: along chains
a sweep carries an impulse on by one joint.
"""

from typing import NamedTuple

import numpy as np

from drystone.jit import kernel
from drystone.jit.table import table
from drystone.model.capacity import new_island, newton_work
from drystone.model.island_arrays import Island, NewtonWork
from drystone.solvers.gauss_seidel.anderson import (
    AndersonWork,
    accelerate,
    anderson_work,
    restart,
    store_start,
)
from drystone.solvers.gauss_seidel.block_matrix import island_error, sweep_blocks
from drystone.solvers.gauss_seidel.sweep import sweeps_ahead
from drystone.solvers.newton.ordering import band_numbers, gather_island, order_island
from drystone.solvers.newton.semismooth import prox_newton

BATCH = 10  # sweeps between two evaluations of the error, which costs as much as a sweep
AVERAGED = 3  # evaluations over which its fall is averaged: accelerated sweeps are bumpy
NEWTON_STEPS = 200  # at a time; islands that converge at all took 1 to 60
NEWTON_VISITS = 1e8  # of blocks, or their worth, at a time: half a second; but 30 steps in any case
LATE_SWEEPS = 1000  # between the first and the second try of Newton

# What a Newton step costs, apart from its factors, in sweeps; what an operation of the factors
# costs, in visits of a block (7 ns); and how many steps an island takes.
STEP_SWEEPS = 4.0
OPERATION = 0.01
USUAL_STEPS = 8.0
# Sweeps get this share of what Newton would cost before they are given up: many stall for a while
# until it is settled which contacts stick and which slide, and then run.
INVEST = 0.2

CAPACITY = 8_000_000  # numbers that Newton may store for its factors: 64 MB

SWEEPS, NEWTON, LARGE, FAILED = 0, 1, 2, 3  # what solved an island


@table
class Report(NamedTuple):
    """Statistics of every island."""

    method: np.ndarray  # (islands,) int32; LARGE: its factors would not fit, nothing solved it yet
    sweeps: np.ndarray  # (islands,) int32
    steps: np.ndarray  # (islands,) int32: of Newton
    work: np.ndarray  # (islands,) in visits of a block

    def describe(self) -> str:
        """Such as: sweeps 36 islands, newton 3 islands (12 steps)."""
        parts = []
        for name, method in (("sweeps", SWEEPS), ("newton", NEWTON), ("sparse newton", LARGE)):
            mine = self.method == method
            if mine.any():
                tail = f" ({self.steps[mine].max()} steps)" if method != SWEEPS else ""
                parts.append(f"{name} {_islands(mine)}{tail}")
        if (self.method == FAILED).any():
            parts.append(f"not converged {_islands(self.method == FAILED)}")
        return ", ".join(parts)


def describe_islands(islands: int, newton: int, steps: int) -> str:
    """The same of islands of which Newton solved some, as a step does."""
    swept = [f"sweeps {_count(islands - newton)}"] if islands > newton or not islands else []
    return ", ".join(swept + ([f"newton {_count(newton)} ({steps} steps)"] if newton else []))


def _islands(mine) -> str:
    return _count(int(mine.sum()))


def _count(islands: int) -> str:
    return f"{islands} island{'' if islands == 1 else 's'}"


def empty_report(islands: int) -> Report:
    numbers = [np.zeros(islands, dtype=np.int32) for _ in range(3)]
    return Report(*numbers, np.zeros(islands))


@table
class HybridWork(NamedTuple):
    """Scratch for all islands, one after the other."""

    best: np.ndarray  # (n, 3) impulses, in the order of the island
    past: np.ndarray  # (AVERAGED,) errors
    anderson: AndersonWork
    order: np.ndarray  # (nc,) int32: contacts of the island, as Newton takes them
    place: np.ndarray  # (nc,) int32: their places in that order; -1 elsewhere
    impulse: np.ndarray  # (n, 3) in that order
    island: Island
    newton: NewtonWork


def hybrid_work(matrix, member, start) -> HybridWork:
    """Scratch for the largest island of a BlockMatrix."""
    nc, n = len(member), int(np.diff(start).max())
    count = np.diff(matrix.first)[member]
    most = int(np.add.reduceat(count, start[:-1]).max())
    return HybridWork(
        np.empty((n, 3)), np.zeros(AVERAGED), anderson_work(n), np.zeros(nc, dtype=np.int32),
        np.full(nc, -1, dtype=np.int32), np.empty((n, 3)), new_island(n, most),
        newton_work(n, min(CAPACITY, 9 * n * (n + 1))),
    )  # fmt: skip


@kernel
def solve_each_island(
    member, start, problem, relative, goals, max_sweeps, work, impulse, report
):  # fmt: skip
    """Solve the islands of a BlockProblem one by one, each to its goal."""
    for i in range(goals.shape[0]):
        lo, hi = start[i], start[i + 1]
        # Blocks of joints come last, and members are in their order.
        if problem.joint[member[hi - 1]]:
            _solve_joined(i, member, lo, hi, problem, relative, goals[i], work, impulse, report)
        else:
            _solve_island(
                i, member, lo, hi, problem, relative, goals[i], max_sweeps, work, impulse, report
            )


@kernel
def _sweep_visits(lo, hi, member, matrix):
    """Visits of blocks in one sweep over member[lo:hi]."""
    visits = 0.0
    for k in range(lo, hi):
        visits += matrix.first[member[k] + 1] - matrix.first[member[k]]
    return visits


@kernel
def _solve_joined(i, member, lo, hi, problem, relative, goal, work, impulse, report):
    """An island with joints, by Newton alone; LARGE if that cannot do it."""
    visits = _sweep_visits(lo, hi, member, problem.matrix)
    step_work = _take_out(member[lo], visits, problem, work)
    report.method[i] = LARGE
    if step_work == np.inf:
        return
    _take_bounds(hi - lo, work.order, problem, work.island)
    error, steps = _try_newton(hi - lo, relative, goal, NEWTON_STEPS, work, impulse)
    report.steps[i] += steps
    report.work[i] += steps * step_work
    if error <= goal:
        report.method[i] = NEWTON
    for k in range(hi - lo):
        work.island.joint[k] = False  # the next island may have none
    work.island.bounded[0] = False


@kernel
def _take_bounds(n, order, problem, island):
    """What gather_island() leaves out: which blocks are joints, and their bounds."""
    island.bounded[0] = False
    for i in range(n):
        c = order[i]
        island.joint[i] = problem.joint[c]
        if not problem.joint[c]:
            continue
        island.flat[i] = False
        for k in range(3):
            island.own[i, k] = problem.matrix.own[c, 0 if k == 0 else 2 * k + 1]
            island.lower[i, k], island.upper[i, k] = problem.lower[c, k], problem.upper[c, k]
            for bound in (problem.lower[c, k], problem.upper[c, k]):
                if bound != 0.0 and abs(bound) < np.inf:
                    island.bounded[0] = True


@kernel
def _solve_island(
    i, member, lo, hi, problem, relative, goal, max_sweeps, work, impulse, report
):  # fmt: skip
    """An island of contacts alone, by accelerated sweeps and Newton."""
    visits = _sweep_visits(lo, hi, member, problem.matrix)
    error = best = island_error(lo, hi, member, problem, impulse, relative)
    _store_best(lo, hi, member, impulse, work)
    step_work, next_try, tries, evaluations = -1.0, 0, 0, 0
    batch = min(BATCH, 2 * (hi - lo))  # a lone contact is solved by its first visit
    restart(work.anderson)
    while not error <= goal and report.sweeps[i] < max_sweeps:
        work.past[evaluations % AVERAGED] = error
        evaluations += 1
        _sweep_batch(batch, lo, hi, member, problem, work, impulse)
        error = island_error(lo, hi, member, problem, impulse, relative)
        report.sweeps[i] += batch
        report.work[i] += (batch + 1) * visits
        if error < best:
            best = error
            _store_best(lo, hi, member, impulse, work)
        if error <= goal or tries == 2 or report.sweeps[i] < next_try:
            continue
        seen = min(evaluations, AVERAGED)
        past = work.past[(evaluations - seen) % AVERAGED]
        ahead = sweeps_ahead(error, past, goal, seen * batch)
        if ahead < USUAL_STEPS * STEP_SWEEPS and tries == 0:
            continue
        if step_work < 0.0:
            step_work = _take_out(member[lo], visits, problem, work)
        if step_work == np.inf:
            if report.sweeps[i] >= LATE_SWEEPS and ahead > LATE_SWEEPS:
                report.method[i] = LARGE
                break
        elif _newton_pays(ahead * visits, report.sweeps[i] * visits, step_work) or tries > 0:
            most = max(30, min(NEWTON_STEPS, int(NEWTON_VISITS / step_work)))
            error, steps = _try_newton(hi - lo, relative, goal, most, work, impulse)
            report.steps[i] += steps
            report.work[i] += steps * step_work
            next_try, tries, evaluations = report.sweeps[i] + LATE_SWEEPS, tries + 1, 0
            restart(work.anderson)
    if best < error:
        _use_best(lo, hi, member, impulse, work)
        error = best
    if not error <= goal and report.method[i] != LARGE:
        report.method[i] = FAILED
    elif error <= goal:
        report.method[i] = NEWTON if report.steps[i] > 0 else SWEEPS


@kernel
def _sweep_batch(batch, lo, hi, member, problem, work, impulse):
    """Accelerated sweeps; the last one is plain, so that it leaves what it found."""
    for k in range(batch):
        if k > 0 or work.anderson.count[0] > 0:
            scale, friction = problem.matrix.scale, problem.friction
            accelerate(lo, hi, member, scale, friction, work.anderson, impulse)
        store_start(lo, hi, member, impulse, work.anderson)
        sweep_blocks(lo, hi, member, problem, impulse)


@kernel
def _store_best(lo, hi, member, impulse, work):
    for i in range(lo, hi):
        for k in range(3):
            work.best[i - lo, k] = impulse[member[i], k]


@kernel
def _use_best(lo, hi, member, impulse, work):
    for i in range(lo, hi):
        for k in range(3):
            impulse[member[i], k] = work.best[i - lo, k]


@kernel
def _newton_pays(ahead, done, step_work):
    """Whether sweeps still take longer than Newton would, and have had their chance."""
    return ahead > USUAL_STEPS * step_work and done >= INVEST * USUAL_STEPS * step_work


@kernel
def _take_out(start, visits, problem, work):
    """Gather the island of contact `start`; returns the work of a Newton step, or infinity."""
    m = problem.matrix
    n = order_island(start, m.first, m.column, work.place, work.order)
    gather_island(n, work.order, work.place, m, problem.q, problem.friction, work.island)
    stored, operations = band_numbers(n, work.island, work.newton.low, work.newton.high)
    if stored > work.newton.matrix.shape[0]:
        return np.inf
    return STEP_SWEEPS * visits + OPERATION * operations


@kernel
def _try_newton(n, relative, goal, most, work, impulse):
    """Newton on the island that was taken out; returns the error and the steps."""
    own = work.impulse
    for k in range(n):
        c = work.order[k]
        own[k, 0], own[k, 1], own[k, 2] = impulse[c, 0], impulse[c, 1], impulse[c, 2]
    error, steps = prox_newton(n, work.island, relative, goal, most, work.newton, own)
    for k in range(n):
        c = work.order[k]
        impulse[c, 0], impulse[c, 1], impulse[c, 2] = own[k, 0], own[k, 1], own[k, 2]
    return error, steps
