"""Nonsmooth Gauss-Seidel [Jourdan1998]: one sweep over a range of contacts, and its limits.

A visit gives a contact the impulse that obeys Coulomb's law while all others stay as they are; a
sweep visits every contact once. W is never formed: the twists carry what all impulses have done to
the bodies so far.
"""

from math import sqrt

import numpy as np

from drystone.constraints.coulomb import (
    contact_error,
    push,
    slip_at,
    solve_contact,
    surface_slip,
    velocity_at,
)
from drystone.jit import inner_kernel, kernel
from drystone.model.arrays import MOVING, ROLLING
from drystone.solvers.gauss_seidel.rolling import roll_rows, rolling_error
from drystone.solvers.gauss_seidel.sweep_2d import sweep_rows_2d

# The solver stops on the tolerance. Where that is out of reach these bound the cost of a step: any
# island may have so many sweeps, and a small one so many visits of a contact (some 10 ms of work),
# enough for two boxes of mass ratio 1000.
MANY_SWEEPS = 200
MANY_VISITS = 400_000


@kernel
def sweep_limit(max_sweeps, row_count):
    """How many sweeps an island of `row_count` contacts may have, if `max_sweeps` is 0."""
    if max_sweeps > 0:
        return max_sweeps
    return max(MANY_SWEEPS, MANY_VISITS // max(row_count, 1))


@kernel
def bounded_limit(bounds, row_count):
    """How many sweeps such an island may have in a world that may bound them.

    bounds   max_sweeps of the solver; sweeps that the world allows, 0: any number; the tick of
             jit/clock.py at which sweeps end (np.uint64), 0: none
    """
    limit = sweep_limit(bounds[0], row_count)
    return min(limit, bounds[1]) if bounds[1] > 0 else limit


@inner_kernel
def is_bounded(bounds):
    """Whether a world allows only so much work: then nothing goes on where sweeps have ended."""
    return bounds[1] > 0 or bounds[2] != 0


def sweeps_alone(max_sweeps):
    """Bounds for a solve that no world bounds."""
    return max_sweeps, 0, np.uint64(0)


@kernel
def sweeps_ahead(error, past, goal, sweeps):
    """Sweeps until the error has fallen to `goal`, if it goes on as in the last `sweeps`.

    past    the error before those; infinite if it is not known, and then the answer is none
    """
    if not error < past:
        return np.inf
    return sweeps * np.log(goal / error) / np.log(error / past) if past < np.inf else 0.0


@inner_kernel
def sweep_rows(lo, hi, backward, rows, mass, twist):
    """Visit rows lo..hi once; returns the largest velocity that a visit had to correct [m/s]."""
    body, frame, arm, block, impulse = rows.body, rows.frame, rows.arm, rows.delassus, rows.impulse
    inverse, bias, friction = rows.inverse, rows.bias, rows.friction
    worst, moving = 0.0, rows.special[MOVING] == 1
    for i in range(hi - lo):
        r = hi - 1 - i if backward else lo + i
        un, u1, u2 = velocity_at(r, body, frame, arm, twist)
        un += bias[r]
        if moving:
            s1, s2 = surface_slip(r, rows)
            u1, u2 = u1 + s1, u2 + s2
        pn, p1, p2 = solve_contact(r, un, u1, u2, block, inverse, friction[r], impulse)
        dn, d1, d2 = pn - impulse[r, 0], p1 - impulse[r, 1], p2 - impulse[r, 2]
        if dn != 0.0 or d1 != 0.0 or d2 != 0.0:
            change = (abs(dn) + abs(d1) + abs(d2)) * block[r, 0]
            worst = max(worst, change)
            push(r, dn, d1, d2, body, frame, arm, mass, twist)
            impulse[r, 0], impulse[r, 1], impulse[r, 2] = pn, p1, p2
    return worst


@inner_kernel
def row_error(r, rows, twist):
    """contact_error() of row `r` [m/s]."""
    block, impulse = rows.delassus, rows.impulse
    un, u1, u2 = slip_at(r, rows, twist)
    rho = 3.0 / (block[r, 0] + block[r, 3] + block[r, 5])
    un += rows.bias[r]
    return contact_error(
        impulse[r, 0], impulse[r, 1], impulse[r, 2], un, u1, u2, rows.friction[r], rho
    )


@inner_kernel
def worst_error(lo, hi, rows, twist):
    """Largest contact_error() of rows lo..hi [m/s]."""
    worst = 0.0
    for r in range(lo, hi):
        error = row_error(r, rows, twist)
        if not error <= worst:  # also takes a NaN
            worst = error
    return worst


@inner_kernel
def closing_speed(lo, hi, rows):
    """Root mean square of the speeds at which the rows lo .. hi close as the step begins [m/s].

    What stands still has none, and no more has what slides, or moves along as a whole.
    """
    total = 0.0
    for r in range(lo, hi):
        closing = max(0.0, -(rows.approach[r] + rows.bias[r]))
        total += closing * closing
    return sqrt(total / max(hi - lo, 1))


@inner_kernel
def sweep_slab(i, backward, rows, mass, twist):
    """sweep_rows() for the rows of slab `i` (constraints/islands.py)."""
    lo, hi = rows.slab_first[i], rows.slab_first[i + 1]
    if rows.flat[0] == 1:
        change = sweep_rows_2d(lo, hi, backward, rows, mass, twist)
    else:
        change = sweep_rows(lo, hi, backward, rows, mass, twist)
    if rows.special[ROLLING] == 1:
        change = max(change, roll_rows(lo, hi, rows, mass, twist))
    return change


@inner_kernel
def slab_error(i, rows, mass, twist):
    """worst_error() for the rows of slab `i`, rolling and spinning friction included."""
    lo, hi = rows.slab_first[i], rows.slab_first[i + 1]
    worst = worst_error(lo, hi, rows, twist)
    if rows.special[ROLLING] == 1:
        worst = max(worst, rolling_error(lo, hi, rows, mass, twist))
    return worst
