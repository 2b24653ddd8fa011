"""Nonsmooth Gauss-Seidel [Jourdan1998], island by island, until each has converged.

Visit the contacts one by one and give each the impulse that obeys Coulomb's law on the true
friction cone while all others stay as they are. We never form the Delassus matrix W: the twists
carry what all impulses have done to the bodies so far, so a visit costs the same however many
contacts there are. The order is that of constraints/islands.py, slab by slab; in small islands,
which are mostly stacks, alternately forward and backward. Large ones are those of
parallel_sweep.py.
"""

import numpy as np
from numba import prange

from drystone.constraints.coulomb import push_rows
from drystone.jit import inner_kernel, kernel, parallel_kernel
from drystone.jit.clock import ticks
from drystone.jit.stage import stage
from drystone.solvers.gauss_seidel.parallel_sweep import OPEN, WINDOW, solve_large
from drystone.solvers.gauss_seidel.sweep import (
    bounded_limit,
    is_bounded,
    slab_error,
    sweep_slab,
    sweeps_ahead,
)

# Islands that one core solves alone go on below the tolerance, or the error that is left keeps a
# stack rocking, which takes more sweeps in the end: to DEEPEST of it while the work is less than
# QUICK (250 sweeps of a stack of ten boxes that is alone in the world: it comes to rest to the last
# bit), to DEEPER while it is less than ten times that. The work counts sweeps times contacts
# of the island times contacts of the world, up to MANY_ROWS: what an island costs in a large world
# should not depend on how many others there are.
DEEPEST, DEEPER = 1e-4, 1e-2
QUICK = 400_000
MANY_ROWS = 4000

# Sweeps over a small island that Newton's method could take over end when their last WINDOW makes
# it seem that so many more are needed.
AHEAD = 100.0
# Above so many contacts the accelerated sweeps of large islands are tried before Newton, whose cost
# grows with the cube.
ACCELERATED = 100


@kernel
def _goal(tolerance, work):
    """The correction at which a small island may stop after so much work [m/s]."""
    if work < QUICK:
        return DEEPEST * tolerance
    return DEEPER * tolerance if work < 10 * QUICK else tolerance


@kernel
def _push_slab(i, rows, mass, twist):
    push_rows(
        rows.slab_first[i], rows.slab_first[i + 1],
        rows.body, rows.frame, rows.arm, mass, rows.impulse, twist,
    )  # fmt: skip


@parallel_kernel
def _push_colour(colour, slabs, rows, mass, twist):
    for k in prange((slabs - colour + 1) // 2):
        _push_slab(2 * k + colour, rows, mass, twist)


@stage
def push_all(rows, slabs, mass, twist):
    """Add to the twists what all impulses do."""
    if slabs < 4:
        for i in range(slabs):
            _push_slab(i, rows, mass, twist)
    else:
        _push_colour(0, slabs, rows, mass, twist)
        _push_colour(1, slabs, rows, mass, twist)


@inner_kernel
def solve_group(g, backward, rows, all_rows, mass, tolerance, bounds, quick, twist):
    """Sweep the slabs of group `g`, by this thread alone, until its residual is small enough.

    bounds   of the work, see sweep.py
    quick    whether to give up where another method would be quicker: see AHEAD
    """
    first, last = rows.group_first[g], rows.group_first[g + 1]
    row_count = rows.slab_first[last] - rows.slab_first[first]
    limit = bounded_limit(bounds, row_count)
    sweeps = 0
    residual = 0.0
    before = np.inf
    while True:
        change = 0.0
        for i in range(last - first):
            slab = last - 1 - i if backward else first + i
            change = max(change, sweep_slab(slab, backward, rows, mass, twist))
        backward = not backward
        sweeps += 1
        if bounds[2] != 0 and ticks() >= bounds[2]:
            limit = sweeps
        goal = _goal(tolerance, sweeps * row_count * min(all_rows, MANY_ROWS))
        lost = False
        if quick and sweeps % WINDOW == 0:
            lost = change > goal and sweeps_ahead(change, before, goal, WINDOW) > AHEAD
            before = change
        if change <= goal or sweeps >= limit or lost:
            residual = 0.0
            for i in range(first, last):
                error = slab_error(i, rows, mass, twist)
                if not error <= residual:
                    residual = error
            if residual <= tolerance or sweeps >= limit or lost or residual != residual:
                break
    rows.group_sweeps[g] = sweeps
    rows.group_residual[g] = residual


@parallel_kernel
def _solve_small(count, backward, rows, all_rows, mass, tolerance, bounds, quick, twist):
    for k in prange(count):
        g = rows.group_list[k]
        solve_group(g, backward, rows, all_rows, mass, tolerance, bounds, quick, twist)


@kernel
def _reopen(small, rows, tolerance):
    """Open those of the small groups again for which accelerated sweeps are cheaper than Newton.

    Returns how many.
    """
    count = 0
    for k in range(small):
        g = rows.group_list[k]
        first, last = rows.group_first[g], rows.group_first[g + 1]
        rows_of_group = rows.slab_first[last] - rows.slab_first[first]
        if rows_of_group > ACCELERATED and rows.group_residual[g] > tolerance:
            rows.group_sweeps[g] = OPEN
            count += 1
    return count


@stage
def solve_rows(rows, groups, row_count, backward, mass, tolerance, relative, bounds, quick, twist):
    """Improve rows.impulse, and the twists with it, until every group has converged.

    relative share of their motion that large groups may be off besides `tolerance`, see
             motion_tolerance.py
    bounds   of the work, see sweep.py
    quick    whether sweeps of small groups end where another method would be quicker, and those
             of large ones are accelerated

    Returns the number of sweeps of the hardest group and the largest residual [m/s].
    """
    small, linked = 0, 0
    hurried = quick and not is_bounded(bounds)
    for g in range(groups):
        slabs = rows.group_first[g + 1] - rows.group_first[g]
        rows.group_sweeps[g], rows.group_tolerance[g] = OPEN, tolerance
        if rows.group_linked[g] > 0:  # see solvers/articulated/, solvers/reduced/
            rows.group_sweeps[g], rows.group_residual[g] = 0, 0.0
            linked += 1
        elif slabs == 1 or row_count < 400:
            rows.group_sweeps[g] = 0
            rows.group_list[small] = g
            small += 1
    if small > 1 and row_count >= 400:
        _solve_small(small, backward, rows, row_count, mass, tolerance, bounds, hurried, twist)
    else:
        for k in range(small):
            g = rows.group_list[k]
            solve_group(g, backward, rows, row_count, mass, tolerance, bounds, hurried, twist)
    if hurried:
        small -= _reopen(small, rows, tolerance)
    if small + linked < groups:
        solve_large(backward, rows, groups, row_count, mass, bounds, quick, relative, twist)
    return worst_group(rows, groups)


@inner_kernel
def worst_group(rows, groups):
    """The most sweeps, and the largest residual [m/s]."""
    sweeps, residual = 0, 0.0
    for g in range(groups):
        sweeps = max(sweeps, rows.group_sweeps[g])
        if not rows.group_residual[g] <= residual:
            residual = rows.group_residual[g]
    return sweeps, residual


@inner_kernel
def worst_share(rows, groups):
    """The largest residual of a group, as a share of its tolerance, and the largest of these."""
    share, tolerance = 0.0, 0.0
    for g in range(groups):
        tolerance = max(tolerance, rows.group_tolerance[g])
        own = rows.group_residual[g] / rows.group_tolerance[g]
        if not own <= share:  # also takes a NaN
            share = own
    return share, tolerance
