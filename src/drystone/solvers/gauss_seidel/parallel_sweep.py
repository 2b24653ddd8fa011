"""Nonsmooth Gauss-Seidel in large islands: parallel, on an active set, with momentum.

A large island is cut into parts that share no body, with a slab between each two: first the parts,
each by one core, then the slabs between (a colouring of the contact graph with two colours), so
that the answer is the same for any number of cores. All sweeps of a step run in the same direction
(alternating directions took two to three times as many on piles), and those of the next step in
the other (else what is left of the error always points to one side).
"""

from math import sqrt

import numpy as np
from numba import prange

from drystone.constraints.coulomb import push, solve_contact_to, surface_slip, velocity_at
from drystone.constraints.lane_batches import (
    BETWEEN,
    PART,
    first_batch,
    forget_batches,
    mark_run,
    pack_batches,
    unpack_batches,
)
from drystone.jit import inner_kernel, kernel, parallel_kernel
from drystone.jit.clock import ticks
from drystone.model.arrays import MOVING, ROLLING
from drystone.solvers.gauss_seidel.lane_sweep import (
    LOOSE,
    extrapolate,
    measure_batches,
    sweep_batches,
)
from drystone.solvers.gauss_seidel.motion_tolerance import allowed_by_motion
from drystone.solvers.gauss_seidel.rolling import rolling_error
from drystone.solvers.gauss_seidel.sweep import (
    MANY_VISITS,
    bounded_limit,
    row_error,
    sweep_slab,
)

# Slabs of a large island for which it has two parts; with fewer, its parts would be too short for
# what it costs to start a parallel loop.
PAIR_SLABS = 5

# Plain sweeps over a large island gain quickly at first, then hang on a few loose chains of bodies:
# 200 leave the same residual as 40. Sweeps end when the last WINDOW sweeps together have not
# brought the correction below this share of what it was; the step then says that it did not
# converge.
WINDOW = 16
STALLED = 0.9
# Sweeps with momentum gain by fits and starts: the largest correction rises and falls, and where
# few contacts are wrong it is theirs alone. So all corrections together, root of the sum of their
# squares, must fall below that share, over a longer window. Then Newton on the contacts that are
# wrong takes over (newton/local_rounds.py). With a share of 0.6 S5r comes to rest later, after 900
# steps in place of 720, and fewer of its steps converge.
LONG_WINDOW = 32

# Momentum may also gain so much that sweeps diverge: on a pyramid of 820 boxes velocities were off
# by 0.005 m/s after 16 sweeps and by 16 m/s after 64. Where the corrections of all contacts are
# GROWN times the least of earlier looks, CHECK sweeps apart, momentum starts anew and becomes less.
CHECK, GROWN, LESS_MOMENTUM = 8, 2.0, 0.8

# Active set. In a large island only some bodies are still being corrected after a few sweeps.
# Contacts between bodies whose velocity no visit has changed by more than this share of the
# tolerance since the sweep before are skipped. When the corrections have become small enough, the
# error of all contacts is measured, and if it is not, the bodies of those that are wrong by more
# than that share become active again.
INACTIVE = 0.1
LIGHT = 0.1  # share of the contacts below which one core visits them as quickly as two
# Where there are more contacts than this, some are always far from done. With six times that share
# the cost of a body stays that in a smaller pile: 10,000 spheres at rest are left with 1.1e-4 m/s
# instead of 7e-5, in two thirds of the time.
HUGE, INACTIVE_HUGE = 10_000, 0.6
MANY_TWISTS = 5000  # for one core to extrapolate
LAST_ACTIVE = 6  # column of the twists: the last sweep in which the body was active

# Momentum of sweeps over a large island that go on for longer, if something quicker than plain
# sweeps is asked for: the next sweep starts from g + beta (g - g'), where the last two ended at g
# and g'. beta = k / (k + MOMENTUM_DELAY) grows with the sweeps k since the last restart, to
# MOST_MOMENTUM [Nesterov1983]; where a sweep goes back on the way from g' to g, it starts again
# from zero [ODonoghue2015]. In one step of a crash of 1000 cubes (S5r, 5471 contacts) velocities
# are off by 0.16, 0.10 and 0.035 m/s after 16, 32 and 64 sweeps, without momentum by 0.22, 0.18 and
# 0.15, with Anderson acceleration of depth one by 0.20, 0.16 and 0.12; beta up to 1 leaves larger
# residuals, overrelaxed sweeps with momentum diverge. On 16 problems caught in the fall of S4 and
# S5r the error falls to a tenth of its start within 76, 67, 69 sweeps with 0.9, 0.85, 0.8 at most.
# It makes all bodies active: it is worth it where the share SPREAD of the contacts is still visited
# anyway.
ACCELERATION_START = 2
SPREAD = 0.1
MOST_MOMENTUM, MOMENTUM_DELAY = 0.85, 3.0

OPEN, _STALLED = -1, -2  # in place of the sweeps of a group that is not done


@inner_kernel
def sweep_active(lo, hi, backward, window, accelerated, rows, sums, mass, twist):
    """As sweep_rows(), but only rows with an active body, whose velocity a visit in sweep `since`
    or later changed by more than `least` [m/s].

    window        since, now: the number of this sweep; least; beta: the momentum
    accelerated   whether impulses are extrapolated first
    sums          (3,) (g - x).(g - g') [J], what the sweep changed along the way; visits; squares
                  of the corrections [m²/s²]
    """
    since, now, least, beta = window
    body, frame, arm, block, impulse = rows.body, rows.frame, rows.arm, rows.delassus, rows.impulse
    inverse, bias, friction, previous = rows.inverse, rows.bias, rows.friction, rows.previous
    worst, along, squares, visits = 0.0, 0.0, 0.0, 0
    moving = rows.special[MOVING] == 1
    for i in range(hi - lo):
        r = hi - 1 - i if backward else lo + i
        a, b = body[r, 0], body[r, 1]
        if twist[a, LAST_ACTIVE] < since and twist[b, LAST_ACTIVE] < since:
            continue
        visits += 1
        un, u1, u2 = velocity_at(r, body, frame, arm, twist)
        un += bias[r]
        if moving:
            s1, s2 = surface_slip(r, rows)
            u1, u2 = u1 + s1, u2 + s2
        if accelerated:
            for k in range(3):
                g = impulse[r, k]
                impulse[r, k] = g + beta * (g - previous[r, k])
                previous[r, k] = g
        mu = friction[r]
        pn, p1, p2 = solve_contact_to(LOOSE, r, un, u1, u2, block, inverse, mu, impulse)
        dn, d1, d2 = pn - impulse[r, 0], p1 - impulse[r, 1], p2 - impulse[r, 2]
        if accelerated:
            en, e1, e2 = pn - previous[r, 0], p1 - previous[r, 1], p2 - previous[r, 2]
            along += block[r, 0] * (en * dn + e1 * d1 + e2 * d2)
        if dn != 0.0 or d1 != 0.0 or d2 != 0.0:
            change = (abs(dn) + abs(d1) + abs(d2)) * block[r, 0]
            worst = max(worst, change)
            squares += change * change
            push(r, dn, d1, d2, body, frame, arm, mass, twist)
            impulse[r, 0], impulse[r, 1], impulse[r, 2] = pn, p1, p2
            if change > least:
                if mass[a, 0] != 0.0:
                    twist[a, LAST_ACTIVE] = now
                if mass[b, 0] != 0.0:
                    twist[b, LAST_ACTIVE] = now
    sums[0], sums[1], sums[2] = along, visits, squares
    return worst


@kernel
def _sweep_run(k, backward, window, accelerated, rows, mass, twist):
    first, last = rows.run_first[k], rows.run_last[k]
    if rows.lane_end[first] > 0:
        rows.slab_change[first] = sweep_batches(
            first_batch(first, rows), rows.lane_end[first], backward, window, accelerated, rows,
            rows.slab_sums[first], mass, twist,
        )  # fmt: skip
        for i in range(first + 1, last):
            rows.slab_change[i], rows.slab_sums[i, 0] = 0.0, 0.0
            rows.slab_sums[i, 1], rows.slab_sums[i, 2] = 0.0, 0.0
        return
    for j in range(last - first):
        i = last - 1 - j if backward else first + j
        lo, hi = rows.slab_first[i], rows.slab_first[i + 1]
        if rows.flat[0] == 1 or rows.special[ROLLING] == 1:
            rows.slab_change[i] = sweep_slab(i, backward, rows, mass, twist)
            rows.slab_sums[i, 1] = hi - lo
            continue
        rows.slab_change[i] = sweep_active(
            lo, hi, backward, window, accelerated, rows, rows.slab_sums[i], mass, twist
        )


@parallel_kernel
def _sweep_parallel(lo, hi, backward, window, accelerated, rows, mass, twist):
    for k in prange(hi - lo):
        _sweep_run(lo + k, backward, window, accelerated, rows, mass, twist)


@kernel
def _sweep_runs(lo, hi, light, backward, window, accelerated, rows, mass, twist):
    """Sweep the runs lo .. hi, which share no body; if `light`, without a parallel loop."""
    if light or hi - lo == 1:
        for k in range(lo, hi):
            _sweep_run(k, backward, window, accelerated, rows, mass, twist)
    elif hi > lo:
        _sweep_parallel(lo, hi, backward, window, accelerated, rows, mass, twist)


@kernel
def _split_group(g, parts, between, rows):
    """Append the runs of group `g`: parts of as many rows each at the front of the list, the slabs
    between them at its back. Returns how many of both there are now."""
    first, last, slab_first = rows.group_first[g], rows.group_first[g + 1], rows.slab_first
    count = max(2, 2 * ((last - first) // PAIR_SLABS)) if last - first > 2 else 1
    lo, end, start = slab_first[first], rows.run_first.shape[0] - 1, first
    total = slab_first[last] - lo
    for j in range(1, count):
        i = start + 1
        while i < last - 2 and slab_first[i + 1] - lo <= total * j // count:
            i += 1
        if i > last - 2:
            break
        rows.run_first[parts], rows.run_last[parts] = start, i
        rows.run_first[end - between], rows.run_last[end - between] = i, i + 1
        parts, between, start = parts + 1, between + 1, i + 1
    rows.run_first[parts], rows.run_last[parts] = start, last
    return parts + 1, between


@kernel
def _activate_wrong(i, now, least, rows, mass, twist):
    """Make the bodies active of those rows of slab `i` whose error is above `least` [m/s].

    Bodies may be written by several threads at once, but all write the same.
    """
    worst = 0.0
    for r in range(rows.slab_first[i], rows.slab_first[i + 1]):
        error = row_error(r, rows, twist)
        if not error <= worst:  # also takes a NaN
            worst = error
        if error > least:
            for k in range(2):
                b = rows.body[r, k]
                if mass[b, 0] != 0.0:
                    twist[b, LAST_ACTIVE] = now
    if rows.special[ROLLING] == 1:
        lo, hi = rows.slab_first[i], rows.slab_first[i + 1]
        worst = max(worst, rolling_error(lo, hi, rows, mass, twist))
    rows.slab_change[i] = worst


@kernel
def _measure_run(k, now, least, rows, mass, twist):
    """_activate_wrong() for the slabs of run `k`."""
    first, last = rows.run_first[k], rows.run_last[k]
    for i in range(first, last):
        rows.slab_change[i], rows.slab_sums[i, 2] = 0.0, 0.0
        if rows.lane_end[first] == 0:
            _activate_wrong(i, now, least, rows, mass, twist)
    if rows.lane_end[first] > 0:
        rows.slab_change[first] = measure_batches(
            first_batch(first, rows), rows.lane_end[first], now, least, rows,
            rows.slab_sums[first], mass, twist,
        )  # fmt: skip


@kernel
def _run_number(k, parts, between, rows):
    """Where run `k` of all stands in the list: parts at its front, slabs between at its back."""
    return k if k < parts else rows.run_first.shape[0] - between + k - parts


@parallel_kernel
def _measure_runs(parts, between, now, least, rows, mass, twist):
    for k in prange(parts + between):
        run = _run_number(np.int64(k), parts, between, rows)
        _measure_run(run, now, least, rows, mass, twist)


@kernel
def _pack_run(k, kind, rows, mass):
    """Copy the contacts of run `k` into batches."""
    first, last = rows.run_first[k], rows.run_last[k]
    moving = rows.special[MOVING] == 1
    lo, hi, start = rows.slab_first[first], rows.slab_first[last], first_batch(first, rows)
    end = pack_batches(lo, hi, start, moving, rows, mass)
    rows.lane_end[first] = end if end > start else 0
    mark_run(first, last, kind, rows)


@parallel_kernel
def _pack_parallel(lo, hi, kind, rows, mass):
    for k in prange(hi - lo):
        _pack_run(lo + k, kind, rows, mass)


@kernel
def _pack_runs(parts, between, rows, mass):
    """All runs in batches. Runs that are packed at once share no body, which is marked there."""
    end = rows.run_first.shape[0]
    _pack_parallel(0, parts, PART, rows, mass)
    _pack_parallel(end - between, end, BETWEEN, rows, mass)


@parallel_kernel
def _unpack_slabs(slabs, rows):
    for i in prange(slabs):
        if rows.lane_end[i] > 0:
            unpack_batches(first_batch(i, rows), rows.lane_end[i], rows)


@kernel
def _allow_motion(groups, relative, rows, twist):
    """Add to the tolerances of the open groups what their motion allows."""
    for g in range(groups):
        if rows.group_sweeps[g] == OPEN:
            rows.group_tolerance[g] += relative * allowed_by_motion(g, rows, twist)


@kernel
def _visited(count, rows):
    """Share of the rows in the listed slabs that the last sweep visited."""
    visits, all_rows = 0.0, 0
    for k in range(count):
        i = rows.slab_list[k]
        visits += rows.slab_sums[i, 1]
        all_rows += rows.slab_first[i + 1] - rows.slab_first[i]
    return visits / max(all_rows, 1)


@parallel_kernel
def _extrapolate_parallel(beta, twist, previous):
    count, parts = twist.shape[0], 16
    for k in prange(parts):
        extrapolate(count * k // parts, count * (k + 1) // parts, beta, twist, previous)


@kernel
def _accelerate(count, run, most, rows, twist):
    """Velocities from which the next sweep over the listed slabs starts.

    run      accelerated sweeps since the last restart; negative: this one was the first
    most     momentum at most
    Returns beta, by which that sweep extrapolates the impulses as it comes to them, and the run.
    """
    along = 0.0
    for k in range(count):
        along += rows.slab_sums[rows.slab_list[k], 0]
    run = 0.0 if run < 0.0 or not along >= 0.0 else run + 1.0
    beta = min(most, run / (run + MOMENTUM_DELAY))
    if twist.shape[0] < MANY_TWISTS:
        extrapolate(0, twist.shape[0], beta, twist, rows.previous_twist)
    else:
        _extrapolate_parallel(beta, twist, rows.previous_twist)
    return beta, run


@kernel
def _list_open(groups, rows):
    """Parts, slabs between them, and the list of all slabs, of those groups that are not done."""
    parts, between, total = 0, 0, 0
    for g in range(groups):
        if rows.group_sweeps[g] >= 0:
            continue
        parts, between = _split_group(g, parts, between, rows)
        for i in range(rows.group_first[g], rows.group_first[g + 1]):
            rows.slab_list[total] = i
            total += 1
    return parts, between, total


@kernel
def _largest(g, rows):
    """Largest change, or error, of the slabs of group `g` [m/s]; also takes a NaN."""
    worst = 0.0
    for i in range(rows.group_first[g], rows.group_first[g + 1]):
        if not rows.slab_change[i] <= worst:
            worst = rows.slab_change[i]
    return worst


@kernel
def _corrections(g, rows):
    """Root of the sum of squares of the corrections in the slabs of group `g` [m/s]."""
    total = 0.0
    for i in range(rows.group_first[g], rows.group_first[g + 1]):
        total += rows.slab_sums[i, 2]
    return sqrt(total)


@kernel
def _all_corrections(count, rows):
    """Root of the sum of squares of the corrections in the listed slabs [m/s]."""
    total = 0.0
    for k in range(count):
        total += rows.slab_sums[rows.slab_list[k], 2]
    return sqrt(total)


@kernel
def _row_count(g, rows):
    first, last = rows.group_first[g], rows.group_first[g + 1]
    return rows.slab_first[last] - rows.slab_first[first]


@kernel
def _one_ends(groups, sweeps, window_ends, accelerated, rows):
    """Is a group ready to be measured, or, if `window_ends`, has one not gained in the window?

    sweeps   so many visited all contacts; a group that has had MANY_VISITS ends. 0: no limit
    """
    ends = False
    for g in range(groups):
        if rows.group_sweeps[g] == OPEN:
            change = _largest(g, rows)
            if not change > rows.group_tolerance[g]:
                ends = True
            elif sweeps * _row_count(g, rows) > MANY_VISITS:
                rows.group_sweeps[g] = _STALLED
                ends = True
            elif window_ends:
                size = _corrections(g, rows) if accelerated else change
                if size > STALLED * rows.group_residual[g]:
                    rows.group_sweeps[g] = _STALLED
                    ends = True
                rows.group_residual[g] = size
    return ends


@kernel
def _forget_windows(groups, rows):
    """What plain sweeps corrected is no measure of those with momentum."""
    for g in range(groups):
        if rows.group_sweeps[g] == OPEN:
            rows.group_residual[g] = np.inf


@kernel
def _close(groups, sweeps, limit, rows):
    """Write down what is left in the groups that have converged, or may not go on."""
    for g in range(groups):
        if rows.group_sweeps[g] < 0:
            residual = _largest(g, rows)
            done = not residual > rows.group_tolerance[g]
            if done or rows.group_sweeps[g] == _STALLED or sweeps >= limit:
                rows.group_sweeps[g] = sweeps
                rows.group_residual[g] = residual


@inner_kernel
def solve_large(backward, rows, groups, row_count, mass, bounds, quick, relative, twist):
    """Sweep all groups of many slabs together, each until it has converged.

    bounds   of the work, see sweep.py
    quick    whether sweeps are accelerated
    relative share of their motion by which groups may be off, see motion_tolerance.py
    """
    limit, end_of_time = bounded_limit(bounds, MANY_VISITS), bounds[2]
    end, huge = rows.run_first.shape[0], row_count > HUGE
    solid = rows.flat[0] == 0 and rows.special[ROLLING] == 0
    may_accelerate, least, slabs = quick and solid, np.inf, rows.group_first[groups]
    for b in range(twist.shape[0]):
        twist[b, LAST_ACTIVE] = 0.0
    forget_batches(slabs, rows)
    parts, between, total = _list_open(groups, rows)
    if solid:
        _pack_runs(parts, between, rows, mass)
    if relative > 0.0:
        _measure_runs(parts, between, 0.0, np.inf, rows, mass, twist)
        _allow_motion(groups, relative, rows, twist)
    for g in range(groups):
        if rows.group_sweeps[g] == OPEN:
            rows.group_residual[g] = np.inf  # the correction at the end of the last window
            least = min(least, rows.group_tolerance[g])
    least *= INACTIVE_HUGE if huge else INACTIVE
    sweeps, accelerated, since, share = 0, False, 0.0, 1.0  # at first all are active
    most, smallest = MOST_MOMENTUM, np.inf
    while total > 0:
        beta, run, ends = 0.0, -1.0, False
        while not ends:
            sweeps += 1
            window = (since, float(sweeps), least, beta)
            for phase in range(2):
                first, last = (0, parts) if (phase == 1) == backward else (end - between, end)
                light = share < LIGHT and not accelerated
                _sweep_runs(first, last, light, backward, window, accelerated, rows, mass, twist)
            share = _visited(total, rows)
            if end_of_time != 0 and ticks() >= end_of_time:
                limit = sweeps
            window_ends = sweeps % (LONG_WINDOW if accelerated else WINDOW) == 0
            window_ends = window_ends and bounds[0] == 0
            full = sweeps if accelerated and bounds[0] == 0 else 0  # momentum visits all contacts
            ends = _one_ends(groups, full, window_ends, accelerated, rows) or sweeps >= limit
            if accelerated and not ends:
                if sweeps % CHECK == 0:
                    size = _all_corrections(total, rows)
                    smallest = min(smallest, size)
                    if size > GROWN * smallest:
                        most, run, smallest = LESS_MOMENTUM * most, -1.0, np.inf
                beta, run = _accelerate(total, run, most, rows, twist)
            if not accelerated and may_accelerate and sweeps >= ACCELERATION_START:
                accelerated = share > SPREAD
                if accelerated:
                    _forget_windows(groups, rows)
            since = 0.0 if accelerated else float(sweeps)
        _measure_runs(parts, between, float(sweeps), least, rows, mass, twist)
        _close(groups, sweeps, limit, rows)
        parts, between, total = _list_open(groups, rows)
    if solid:
        _unpack_slabs(slabs, rows)
