"""Newton where sweeps leave an error: on the bodies of the contacts that are wrong, by turns with
sweeps.

In a large island that is struck, or that slides and topples, a few dozen sweeps with momentum bring
most contacts within the tolerance and leave some tens that hang together in small clusters: in a
wall of 200 stones 13 of 1887 contacts after 100 sweeps, 7 after 400. Their bodies, with all
contacts that these have, are a problem of their own as long as the impulses of the others stay as
they are. It is small enough for Newton's method (by_bodies.py). What it changes at the rim sweeps
carry on. That is block Gauss-Seidel, with large blocks where the error is.
"""

import numpy as np
from numba import int64

from drystone.constraints.coulomb import push
from drystone.jit import kernel
from drystone.jit.stage import stage
from drystone.model.arrays import INFO_NEWTON_ISLANDS, INFO_NEWTON_STEPS
from drystone.solvers.gauss_seidel.parallel_sweep import OPEN, solve_large
from drystone.solvers.gauss_seidel.sweep import MANY_VISITS
from drystone.solvers.newton.by_bodies import solve_worst

LEAST_LOCAL = 256  # contacts: smaller islands are solved as a whole
# Rounds at most, and how many in a row may not bring the error below that share of what it was.
ROUNDS, IDLE_ROUNDS, GAINED = 24, 8, 0.9
ROUND_SWEEPS = 16  # with momentum
# Bodies take part that have a contact with so much of the tolerance, and are solved to that much.
LEVEL, AIM = 0.5, 0.2
# Where these are too many, or Newton does not get there, only those that are wrong by RAISED times
# as much, and so on, up to the share HIGHEST of the largest error. Where it does, and the error
# hangs, what is left of it is spread out, and those take part that are wrong by less, to LOWEST.
RAISED, HIGHEST, LOWEST = 3.0, 0.5, 0.05
# Of a factorisation: clusters of up to 150 bodies. With ten times as much, spheres that come to
# rest (S4) cost 7.9 ms a step in place of 2.8, and no more of the steps converge.
LOCAL_OPERATIONS = 5e5


@kernel
def _copy_impulses(lo, n, impulse, best):
    for r in range(n):
        for k in range(3):
            best[r, k] = impulse[lo + r, k]


@kernel
def _go_back(lo, n, rows, best, mass, twist):
    """The impulses in `best`, and the velocities with them."""
    impulse = rows.impulse
    for r in range(lo, lo + n):
        d0, d1 = best[r - lo, 0] - impulse[r, 0], best[r - lo, 1] - impulse[r, 1]
        d2 = best[r - lo, 2] - impulse[r, 2]
        push(r, d0, d1, d2, rows.body, rows.frame, rows.arm, mass, twist)
        for k in range(3):
            impulse[r, k] = best[r - lo, k]


@stage(result=int64, _nrt=True)
def finish_locally(
    g, lo, n, backward, rows, groups, row_count, mass, twist, info,
):  # fmt: skip
    """Newton and sweeps by turns on group `g`, the contacts lo .. lo + n, which sweeps gave up.

    The best impulses remain; their error is in rows.group_residual. Returns how many rounds.
    """
    goal, sweeps = rows.group_tolerance[g], rows.group_sweeps[g]
    least, idle, rounds = rows.group_residual[g], 0, 0
    best = np.empty((n, 3))
    _copy_impulses(lo, n, rows.impulse, best)
    aims = (AIM * goal, AIM * goal, LOCAL_OPERATIONS)
    bounds = (np.int64(ROUND_SWEEPS), np.int64(0), np.uint64(0))
    level = LEVEL * goal
    while rounds < ROUNDS and idle < IDLE_ROUNDS and not least <= goal:
        if sweeps * n > 2 * MANY_VISITS:  # a step has to end
            break
        highest = HIGHEST * rows.group_residual[g]
        error, islands, steps = solve_worst(lo, n, level, rows, mass, aims, twist)
        while steps == 0 and level < highest:  # too many
            level = min(RAISED * level, highest)
            error, islands, steps = solve_worst(lo, n, level, rows, mass, aims, twist)
        rounds += 1
        solved = error <= goal
        info[INFO_NEWTON_ISLANDS] += islands
        info[INFO_NEWTON_STEPS] += steps
        rows.group_sweeps[g] = OPEN
        solve_large(backward, rows, groups, row_count, mass, bounds, True, 0.0, twist)
        sweeps += rows.group_sweeps[g]
        residual = rows.group_residual[g]
        idle = 0 if residual < GAINED * least else idle + 1
        if not solved:
            level = min(RAISED * level, highest)
        elif idle > 0:
            level = max(level / RAISED, LOWEST * goal)
        if residual < least:
            least = residual
            _copy_impulses(lo, n, rows.impulse, best)
    if rows.group_residual[g] > least:
        _go_back(lo, n, rows, best, mass, twist)
    rows.group_sweeps[g], rows.group_residual[g] = sweeps, least
    return rounds
