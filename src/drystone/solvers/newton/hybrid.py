"""Island by island: accelerated sweeps as long as they pay, then Newton; compiled.

Each island is swept by block Gauss-Seidel (solvers/gauss_seidel/block_matrix.py) with Anderson
acceleration (solvers/gauss_seidel/anderson.py). How fast its error falls tells how long that would
take to the goal. If Newton's method (semismooth.py) is quicker by our estimate, it takes over from
where the sweeps stand. If it fails, the sweeps go on, and Newton starts once more from a better
point. What remains is the best iterate. Islands with joints go to Newton at once: along chains
sweeps carry news by one joint each.
"""

from typing import NamedTuple

import numpy as np

from drystone.jit import kernel
from drystone.jit.table import table
from drystone.model.arrays import Island, NewtonWork
from drystone.model.capacity import new_island, newton_work
from drystone.solvers.gauss_seidel.anderson import (
    AndersonRoom,
    anderson_room,
    keep_start,
    mix,
    restart,
)
from drystone.solvers.gauss_seidel.block_matrix import island_error, sweep_blocks
from drystone.solvers.newton.ordering import band_numbers, gather_island, order_island
from drystone.solvers.newton.semismooth import prox_newton

BATCH = 10  # sweeps between two looks at the error, which costs as much as a sweep
LOOKS = 3  # over which the fall of the error is averaged: accelerated sweeps are bumpy
NEWTON_STEPS = 200  # at a time; islands that converge at all took 1 to 60
NEWTON_VISITS = 1e8  # of blocks, or their worth, at a time: half a second; but 30 steps in any case
LATE_SWEEPS = 1000  # between the first and the second try of Newton

# What a Newton step costs, apart from its factors, in sweeps; what an operation of the factors
# costs, in visits of a block (7 ns); and how many steps an island takes.
STEP_SWEEPS = 4.0
OPERATION = 0.01
USUAL_STEPS = 8.0
# Sweeps get this share of what Newton would cost before they are given up: many stall for a while
# until it is settled who sticks and who slides, and then run.
INVEST = 0.2

CAPACITY = 8_000_000  # numbers that Newton may store for its factors: 64 MB

SWEEPS, NEWTON, LARGE, FAILED = 0, 1, 2, 3  # what solved an island


@table
class Bounds(NamedTuple):
    """Which blocks are rows of joints, and the bounds of their impulses."""

    joint: np.ndarray  # (nb,) bool
    lower: np.ndarray  # (nb, 3)
    upper: np.ndarray  # (nb, 3)


def bounds_of(problem) -> Bounds:
    nb, nc = problem.block_count, problem.contact_count
    lower, upper = np.zeros((nb, 3)), np.zeros((nb, 3))
    if problem.joints is not None:
        lower[nc:], upper[nc:] = problem.joints.lower, problem.joints.upper
    return Bounds(np.arange(nb) >= nc, lower, upper)


@table
class Report(NamedTuple):
    """What became of every island."""

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


def _islands(mine) -> str:
    count = int(mine.sum())
    return f"{count} island{'s' if count > 1 else ''}"


def report_room(islands: int) -> Report:
    numbers = [np.zeros(islands, dtype=np.int32) for _ in range(3)]
    return Report(*numbers, np.zeros(islands))


@table
class Room(NamedTuple):
    """Scratch for all islands, one after the other."""

    best: np.ndarray  # (n, 3) impulses, in the order of the island
    past: np.ndarray  # (LOOKS,) errors
    anderson: AndersonRoom
    order: np.ndarray  # (nc,) int32: contacts of the island, as Newton takes them
    place: np.ndarray  # (nc,) int32: their places in that order; -1 elsewhere
    impulse: np.ndarray  # (n, 3) in that order
    island: Island
    newton: NewtonWork


def room_for(blocks, member, start) -> Room:
    """Room for the largest island."""
    nc, n = len(member), int(np.diff(start).max())
    count = np.diff(blocks.first)[member]
    most = int(np.add.reduceat(count, start[:-1]).max())
    return Room(
        np.empty((n, 3)), np.zeros(LOOKS), anderson_room(n), np.zeros(nc, dtype=np.int32),
        np.full(nc, -1, dtype=np.int32), np.empty((n, 3)), new_island(n, most),
        newton_work(n, min(CAPACITY, 9 * n * (n + 1))),
    )  # fmt: skip


@kernel
def solve_islands(
    member, start, blocks, q, friction, bounds, relative, goals, max_sweeps, room, impulse, report
):
    """Solve the islands one by one, each to its goal."""
    for i in range(goals.shape[0]):
        lo, hi = start[i], start[i + 1]
        # Blocks of joints come last, and members are in their order.
        if bounds.joint[member[hi - 1]]:
            _solve_joined(
                i, member, lo, hi, blocks, q, friction, bounds, relative, goals[i], room, impulse,
                report,
            )  # fmt: skip
        else:
            _solve_island(
                i, member, lo, hi, blocks, q, friction, relative, goals[i], max_sweeps, room,
                impulse, report,
            )  # fmt: skip


@kernel
def _solve_joined(
    i, member, lo, hi, blocks, q, friction, bounds, relative, goal, room, impulse, report
):
    """An island with joints, by Newton alone; LARGE if that cannot do it."""
    visits = 0.0
    for k in range(lo, hi):
        visits += blocks.first[member[k] + 1] - blocks.first[member[k]]
    work = _take_out(member[lo], visits, blocks, q, friction, room)
    report.method[i] = LARGE
    if work == np.inf:
        return
    _take_bounds(hi - lo, room.order, bounds, blocks, room.island)
    error, steps = _try_newton(hi - lo, relative, goal, NEWTON_STEPS, room, impulse)
    report.steps[i] += steps
    report.work[i] += steps * work
    if error <= goal:
        report.method[i] = NEWTON
    for k in range(hi - lo):
        room.island.joint[k] = False  # the next island may have none
    room.island.bounded[0] = False


@kernel
def _take_bounds(n, order, bounds, blocks, island):
    """What gather_island() leaves out: which blocks are joints, and their bounds."""
    island.bounded[0] = False
    for i in range(n):
        c = order[i]
        island.joint[i] = bounds.joint[c]
        if not bounds.joint[c]:
            continue
        island.flat[i] = False
        for k in range(3):
            island.own[i, k] = blocks.own[c, 0 if k == 0 else 2 * k + 1]
            island.lower[i, k], island.upper[i, k] = bounds.lower[c, k], bounds.upper[c, k]
            for bound in (bounds.lower[c, k], bounds.upper[c, k]):
                if bound != 0.0 and abs(bound) < np.inf:
                    island.bounded[0] = True


@kernel
def _solve_island(
    i, member, lo, hi, blocks, q, friction, relative, goal, max_sweeps, room, impulse, report
):
    visits = 0.0  # of blocks, in one sweep
    for k in range(lo, hi):
        visits += blocks.first[member[k] + 1] - blocks.first[member[k]]
    error = best = island_error(lo, hi, member, blocks, q, friction, impulse, relative)
    _keep_best(lo, hi, member, impulse, room)
    newton_work, next_try, tries, looks = -1.0, 0, 0, 0
    batch = min(BATCH, 2 * (hi - lo))  # a lone contact is solved by its first visit
    restart(room.anderson)
    while not error <= goal and report.sweeps[i] < max_sweeps:
        room.past[looks % LOOKS] = error
        looks += 1
        _sweep_batch(batch, lo, hi, member, blocks, q, friction, room, impulse)
        error = island_error(lo, hi, member, blocks, q, friction, impulse, relative)
        report.sweeps[i] += batch
        report.work[i] += (batch + 1) * visits
        if error < best:
            best = error
            _keep_best(lo, hi, member, impulse, room)
        if error <= goal or tries == 2 or report.sweeps[i] < next_try:
            continue
        seen = min(looks, LOOKS)
        ahead = sweeps_ahead(error, room.past[(looks - seen) % LOOKS], goal, seen * batch)
        if ahead < USUAL_STEPS * STEP_SWEEPS and tries == 0:
            continue
        if newton_work < 0.0:
            newton_work = _take_out(member[lo], visits, blocks, q, friction, room)
        if newton_work == np.inf:
            if report.sweeps[i] >= LATE_SWEEPS and ahead > LATE_SWEEPS:
                report.method[i] = LARGE
                break
        elif _newton_pays(ahead * visits, report.sweeps[i] * visits, newton_work) or tries > 0:
            most = max(30, min(NEWTON_STEPS, int(NEWTON_VISITS / newton_work)))
            error, steps = _try_newton(hi - lo, relative, goal, most, room, impulse)
            report.steps[i] += steps
            report.work[i] += steps * newton_work
            next_try, tries, looks = report.sweeps[i] + LATE_SWEEPS, tries + 1, 0
            restart(room.anderson)
    if best < error:
        _use_best(lo, hi, member, impulse, room)
        error = best
    if not error <= goal and report.method[i] != LARGE:
        report.method[i] = FAILED
    elif error <= goal:
        report.method[i] = NEWTON if report.steps[i] > 0 else SWEEPS


@kernel
def _sweep_batch(batch, lo, hi, member, blocks, q, friction, room, impulse):
    """Accelerated sweeps; the last one is plain, so that it leaves what it found."""
    for k in range(batch):
        if k > 0 or room.anderson.count[0] > 0:
            mix(lo, hi, member, blocks.scale, friction, room.anderson, impulse)
        keep_start(lo, hi, member, impulse, room.anderson)
        sweep_blocks(lo, hi, member, blocks, q, friction, impulse)


@kernel
def _keep_best(lo, hi, member, impulse, room):
    for i in range(lo, hi):
        for k in range(3):
            room.best[i - lo, k] = impulse[member[i], k]


@kernel
def _use_best(lo, hi, member, impulse, room):
    for i in range(lo, hi):
        for k in range(3):
            impulse[member[i], k] = room.best[i - lo, k]


@kernel
def sweeps_ahead(error, past, goal, sweeps):
    """Sweeps until the error has fallen to `goal`, if it goes on as in the last `sweeps`."""
    if not error < past:
        return np.inf
    return sweeps * np.log(goal / error) / np.log(error / past)


@kernel
def _newton_pays(ahead, done, newton_work):
    """Whether sweeps still take longer than Newton would, and have had their chance."""
    return ahead > USUAL_STEPS * newton_work and done >= INVEST * USUAL_STEPS * newton_work


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
def _try_newton(n, relative, goal, most, room, impulse):
    """Newton on the island that was taken out; returns the error and the steps."""
    own = room.impulse
    for k in range(n):
        c = room.order[k]
        own[k, 0], own[k, 1], own[k, 2] = impulse[c, 0], impulse[c, 1], impulse[c, 2]
    error, steps = prox_newton(n, room.island, relative, goal, most, room.newton, own)
    for k in range(n):
        c = room.order[k]
        impulse[c, 0], impulse[c, 1], impulse[c, 2] = own[k, 0], own[k, 1], own[k, 2]
    return error, steps
