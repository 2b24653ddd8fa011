"""Stage 5: sweeps over the contacts, each visited by an exact step on the true friction cone.

The nonsmooth Gauss-Seidel method of [Jourdan1998]: visit the contacts one by one and give each
the impulse that obeys Coulomb's law while all others stay as they are. We never form W: the
twists carry what all impulses have done to the bodies so far, so a visit costs the same however
many contacts there are. The order is that of islands.py, slab by slab. Large islands are cut into
parts that share no body, with a slab between each two: first the parts, each by one core, then
the slabs between, so that the answer is the same for any number of cores. There all sweeps of a
step run in the same direction (forth and back in turns took two to three times as many on piles),
and those of the next step the other way (else what is left of the error always points to one
side). In small ones, which are mostly stacks, forth and back in turns is better.
"""

import numpy as np
from numba import prange

from drystone.apart import stage
from drystone.coulomb import contact_error, push, solve_contact, velocity_at
from drystone.flat_rows import sweep_flat_rows
from drystone.jit import inner_kernel, kernel, parallel_kernel

# The solver stops on the tolerance. Where that is out of reach these bound the cost of a step: any
# island may have so many sweeps, and a small one so many visits of a contact (some 10 ms of work),
# enough for two boxes of mass ratio 1000.
MANY_SWEEPS = 200
MANY_VISITS = 400_000

# Slabs of a large island for which it has two parts; with fewer, its parts would be too short for
# what it costs to start a parallel loop.
PAIR_SLABS = 12

# Sweeps over a large island gain quickly at first, then hang on a few loose chains of bodies: 200
# sweeps leave the same residual as 40. They end when the last WINDOW sweeps together have not
# brought the correction below this share of what it was; the step then says that it did not
# converge.
WINDOW = 16
STALLED = 0.9

# In a large island only some bodies are still being corrected after a few sweeps. Contacts between
# bodies whose velocity no visit has changed by more than this share of the tolerance since the
# sweep before are passed over; the residual that ends the sweeps is that of all contacts.
LAZY = 0.1
# Where there are more contacts than this, some are always far from done. With six times that share,
# and without mixing, which has one y for all, the cost of a body stays that in a smaller pile; the
# residual of 10,000 spheres at rest is 1e-4 m/s either way.
HUGE, LAZY_HUGE = 5000, 0.6
STIRRED = 6  # column of the twists: the last sweep in which it was

# Sweeps over a large island that go on for longer are mixed, if something quicker than plain sweeps
# is asked for: the next one starts from x = g - y (g - g'), with g and g' what the last two have
# left, and y such that what they changed, f and f', cancels best: least |f - y (f - f')|. It is
# anderson.py with a memory of one, which is nearly free; where plain sweeps take hundreds it saves
# two in three. A memory of five saves a tenth more, and costs more than that. Mixing stirs all
# bodies: it is worth it where that share of the contacts is still being visited anyway.
MIXING = 16
SPREAD = 0.3
MIXED = 100  # contacts of an island above which that is tried before Newton, which takes the cube
GROWTH = 2.0  # of |f| beyond which nothing is mixed
MANY_BODIES = 4000  # above which cores share that of the velocities

_OPEN, _STUCK = -1, -2  # in place of the sweeps of a group that is not done

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


@kernel
def sweeps_ahead(change, before, goal):
    """Sweeps until the correction has fallen to `goal`, if it goes on as in the last WINDOW."""
    if not change < before:
        return np.inf
    return WINDOW * np.log(goal / change) / np.log(change / before) if before < np.inf else 0.0


@kernel
def _goal(tolerance, work):
    """The correction at which a small island may stop after so much work [m/s]."""
    if work < QUICK:
        return DEEPEST * tolerance
    return DEEPER * tolerance if work < 10 * QUICK else tolerance


@inner_kernel
def sweep_rows(
    lo, hi, backward,
    # problem
    body, frame, arm, block, inverse, bias, friction, mass,
    # in and out
    impulse, twist,
):  # fmt: skip
    """Visit rows lo..hi once; returns the largest velocity that a visit had to correct [m/s]."""
    worst = 0.0
    for i in range(hi - lo):
        r = hi - 1 - i if backward else lo + i
        un, u1, u2 = velocity_at(r, body, frame, arm, twist)
        un += bias[r]
        pn, p1, p2 = solve_contact(r, un, u1, u2, block, inverse, friction[r], impulse)
        dn, d1, d2 = pn - impulse[r, 0], p1 - impulse[r, 1], p2 - impulse[r, 2]
        if dn != 0.0 or d1 != 0.0 or d2 != 0.0:
            change = (abs(dn) + abs(d1) + abs(d2)) * block[r, 0]
            worst = max(worst, change)
            push(r, dn, d1, d2, body, frame, arm, mass, twist)
            impulse[r, 0], impulse[r, 1], impulse[r, 2] = pn, p1, p2
    return worst


@inner_kernel
def sweep_stirred(
    lo, hi, backward, since, now, least, mixes, y,
    # problem
    body, frame, arm, block, inverse, bias, friction, mass,
    # in and out
    impulse, twist, kept, sums,
):  # fmt: skip
    """As sweep_rows(), but only rows of which a body has been stirred: in sweep `since` or later
    a visit changed its velocity by more than `least` [m/s].

    y      share of the last change of the impulses that is taken back first, see MIXING
    sums   (4,) the squares |f - f'|², (f - f').f and |f|² [J]; visits
    """
    worst, differ, along, size, visits = 0.0, 0.0, 0.0, 0.0, 0
    for i in range(hi - lo):
        r = hi - 1 - i if backward else lo + i
        a, b = body[r, 0], body[r, 1]
        if twist[a, STIRRED] < since and twist[b, STIRRED] < since:
            continue
        visits += 1
        un, u1, u2 = velocity_at(r, body, frame, arm, twist)
        un += bias[r]
        if mixes:
            for k in range(3):
                g = impulse[r, k]
                impulse[r, k] = g - y * (g - kept[r, 3 + k])
                kept[r, 3 + k] = g
        pn, p1, p2 = solve_contact(r, un, u1, u2, block, inverse, friction[r], impulse)
        dn, d1, d2 = pn - impulse[r, 0], p1 - impulse[r, 1], p2 - impulse[r, 2]
        if mixes:
            en, e1, e2 = dn - kept[r, 0], d1 - kept[r, 1], d2 - kept[r, 2]
            differ += block[r, 0] * (en * en + e1 * e1 + e2 * e2)
            along += block[r, 0] * (en * dn + e1 * d1 + e2 * d2)
            size += block[r, 0] * (dn * dn + d1 * d1 + d2 * d2)
            kept[r, 0], kept[r, 1], kept[r, 2] = dn, d1, d2
        if dn != 0.0 or d1 != 0.0 or d2 != 0.0:
            change = (abs(dn) + abs(d1) + abs(d2)) * block[r, 0]
            worst = max(worst, change)
            push(r, dn, d1, d2, body, frame, arm, mass, twist)
            impulse[r, 0], impulse[r, 1], impulse[r, 2] = pn, p1, p2
            if change > least:
                if mass[a, 0] != 0.0:
                    twist[a, STIRRED] = now
                if mass[b, 0] != 0.0:
                    twist[b, STIRRED] = now
    sums[0], sums[1], sums[2], sums[3] = differ, along, size, visits
    return worst


@inner_kernel
def worst_error(
    lo, hi,
    # problem
    body, frame, arm, block, bias, friction,
    # in
    impulse, twist,
):  # fmt: skip
    """Largest contact_error() of rows lo..hi [m/s]."""
    worst = 0.0
    for r in range(lo, hi):
        un, u1, u2 = velocity_at(r, body, frame, arm, twist)
        rho = 3.0 / (block[r, 0] + block[r, 3] + block[r, 5])
        error = contact_error(
            impulse[r, 0], impulse[r, 1], impulse[r, 2], un + bias[r], u1, u2, friction[r], rho
        )
        if not error <= worst:  # also takes a NaN
            worst = error
    return worst


@kernel
def push_rows(lo, hi, body, frame, arm, mass, impulse, twist):
    """Add to the twists what the impulses of rows lo..hi do."""
    for r in range(lo, hi):
        push(r, impulse[r, 0], impulse[r, 1], impulse[r, 2], body, frame, arm, mass, twist)


@kernel
def _sweep_slab(i, backward, rows, mass, twist):
    if rows.flat[0] == 1:
        return sweep_flat_rows(
            rows.slab_first[i], rows.slab_first[i + 1], backward,
            rows.body, rows.frame, rows.arm, rows.block, rows.inverse, rows.bias, rows.friction,
            mass, rows.impulse, twist,
        )  # fmt: skip
    return sweep_rows(
        rows.slab_first[i], rows.slab_first[i + 1], backward,
        rows.body, rows.frame, rows.arm, rows.block, rows.inverse, rows.bias, rows.friction, mass,
        rows.impulse, twist,
    )  # fmt: skip


@kernel
def _slab_error(i, rows, twist):
    return worst_error(
        rows.slab_first[i], rows.slab_first[i + 1],
        rows.body, rows.frame, rows.arm, rows.block, rows.bias, rows.friction,
        rows.impulse, twist,
    )  # fmt: skip


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


@kernel
def sweep_limit(max_sweeps, row_count):
    """How many sweeps an island of `row_count` contacts may have, if `max_sweeps` is 0."""
    if max_sweeps > 0:
        return max_sweeps
    return max(MANY_SWEEPS, MANY_VISITS // max(row_count, 1))


@inner_kernel
def solve_group(g, backward, rows, all_rows, mass, tolerance, max_sweeps, hasty, twist):
    """Sweep the slabs of group `g`, by this thread alone, until its residual is small enough.

    If `hasty`, only as long as the end can be seen: see AHEAD.
    """
    first, last = rows.group_first[g], rows.group_first[g + 1]
    row_count = rows.slab_first[last] - rows.slab_first[first]
    limit = sweep_limit(max_sweeps, row_count)
    sweeps = 0
    residual = 0.0
    before = np.inf
    while True:
        change = 0.0
        for i in range(last - first):
            slab = last - 1 - i if backward else first + i
            change = max(change, _sweep_slab(slab, backward, rows, mass, twist))
        backward = not backward
        sweeps += 1
        goal = _goal(tolerance, sweeps * row_count * min(all_rows, MANY_ROWS))
        lost = False
        if hasty and sweeps % WINDOW == 0:
            lost = change > goal and sweeps_ahead(change, before, goal) > AHEAD
            before = change
        if change <= goal or sweeps >= limit or lost:
            residual = 0.0
            for i in range(first, last):
                error = _slab_error(i, rows, twist)
                if not error <= residual:
                    residual = error
            if residual <= tolerance or sweeps >= limit or lost or residual != residual:
                break
    rows.group_sweeps[g] = sweeps
    rows.group_residual[g] = residual


@parallel_kernel
def _solve_small(count, backward, rows, all_rows, mass, tolerance, max_sweeps, hasty, twist):
    for k in prange(count):
        g = rows.group_list[k]
        solve_group(g, backward, rows, all_rows, mass, tolerance, max_sweeps, hasty, twist)


@kernel
def _sweep_run(k, backward, since, now, least, mixes, y, rows, mass, twist, change):
    first, last = rows.run_first[k], rows.run_last[k]
    for j in range(last - first):
        i = last - 1 - j if backward else first + j
        if rows.flat[0] == 1:
            change[i] = _sweep_slab(i, backward, rows, mass, twist)
            continue
        change[i] = sweep_stirred(
            rows.slab_first[i], rows.slab_first[i + 1], backward, since, now, least, mixes, y,
            rows.body, rows.frame, rows.arm, rows.block, rows.inverse, rows.bias, rows.friction,
            mass, rows.impulse, twist, rows.kept, rows.slab_sums[i],
        )  # fmt: skip


@parallel_kernel
def _sweep_parallel(lo, hi, backward, since, now, least, mixes, y, rows, mass, twist, change):
    for k in prange(hi - lo):
        _sweep_run(lo + k, backward, since, now, least, mixes, y, rows, mass, twist, change)


@kernel
def _sweep_runs(lo, hi, backward, since, now, least, mixes, y, rows, mass, twist, change):
    """Sweep the runs lo .. hi, which share no body. One alone is not worth a parallel loop."""
    if hi - lo == 1:
        _sweep_run(lo, backward, since, now, least, mixes, y, rows, mass, twist, change)
    elif hi > lo:
        _sweep_parallel(lo, hi, backward, since, now, least, mixes, y, rows, mass, twist, change)


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


@parallel_kernel
def _measure_slabs(count, slab_list, rows, twist, change):
    for k in prange(count):
        i = slab_list[k]
        change[i] = _slab_error(i, rows, twist)


@kernel
def _mix_bodies(lo, hi, y, kept_twist, twist):
    """Velocities of bodies lo..hi, mixed as the impulses are; those that a sweep left are kept."""
    for b in range(lo, hi):
        for k in range(6):
            g = twist[b, k]
            twist[b, k] = g - y * (g - kept_twist[b, k])
            kept_twist[b, k] = g


@parallel_kernel
def _mix_parallel(y, kept_twist, twist):
    bodies = twist.shape[0]
    for task in prange((bodies + MANY_BODIES - 1) // MANY_BODIES):
        lo, hi = task * MANY_BODIES, min((task + 1) * MANY_BODIES, bodies)
        _mix_bodies(lo, hi, y, kept_twist, twist)


@kernel
def _visited(count, rows):
    """Share of the rows in the listed slabs that the last sweep visited."""
    visits, all_rows = 0.0, 0
    for k in range(count):
        i = rows.slab_list[k]
        visits += rows.slab_sums[i, 3]
        all_rows += rows.slab_first[i + 1] - rows.slab_first[i]
    return visits / max(all_rows, 1)


@kernel
def _mix(count, before, rows, twist):
    """Velocities from which the next sweep over the listed slabs starts, mixed from the last two.

    before   |f'|² [J]; negative: there is none
    Returns y, by which that sweep mixes the impulses as it comes to them, and |f|².
    """
    differ, along, size = 0.0, 0.0, 0.0
    for k in range(count):
        i = rows.slab_list[k]
        differ += rows.slab_sums[i, 0]
        along += rows.slab_sums[i, 1]
        size += rows.slab_sums[i, 2]
    good = 0.0 <= size <= GROWTH * GROWTH * before and differ > 0.0
    y = along / differ if good else 0.0
    if twist.shape[0] <= MANY_BODIES:
        _mix_bodies(0, twist.shape[0], y, rows.kept_twist, twist)
    else:
        _mix_parallel(y, rows.kept_twist, twist)
    return y, size


@kernel
def _solve_large(backward, rows, groups, row_count, mass, tolerance, max_sweeps, hasty, twist):
    """Sweep all groups of many slabs together, each until it has converged; mixed if `hasty`."""
    limit = sweep_limit(max_sweeps, MANY_VISITS)
    change_of, end, huge = rows.slab_change, rows.run_first.shape[0], row_count > HUGE
    least = (LAZY_HUGE if huge else LAZY) * tolerance
    sweeps, mixes = 0, False
    for b in range(twist.shape[0]):
        twist[b, STIRRED] = 0.0
    for g in range(groups):
        if rows.group_sweeps[g] == _OPEN:
            rows.group_residual[g] = np.inf  # the correction WINDOW sweeps ago
    while True:
        parts, between, total = 0, 0, 0
        for g in range(groups):
            if rows.group_sweeps[g] >= 0:
                continue
            parts, between = _split_group(g, parts, between, rows)
            for i in range(rows.group_first[g], rows.group_first[g + 1]):
                rows.slab_list[total] = i
                total += 1
        if total == 0:
            return
        open_groups, since = True, 0.0  # at first all are visited
        y, size = 0.0, -1.0
        while open_groups:
            sweeps += 1
            now = float(sweeps)
            for phase in range(2):
                first, last = (0, parts) if (phase == 1) == backward else (end - between, end)
                _sweep_runs(
                    first, last, backward, since, now, least, mixes, y, rows, mass, twist, change_of
                )
            since = now
            for g in range(groups):
                if rows.group_sweeps[g] == _OPEN:
                    change = 0.0
                    for i in range(rows.group_first[g], rows.group_first[g + 1]):
                        change = max(change, rows.slab_change[i])
                    if change <= tolerance or sweeps >= limit:
                        open_groups = False
                    elif sweeps % WINDOW == 0 and max_sweeps == 0:
                        if change > STALLED * rows.group_residual[g]:
                            rows.group_sweeps[g] = _STUCK
                            open_groups = False
                        rows.group_residual[g] = change
            if mixes:
                since = 0.0
                if open_groups:
                    y, size = _mix(total, size, rows, twist)
            elif hasty and not huge and sweeps >= MIXING and rows.flat[0] == 0:
                mixes = _visited(total, rows) > SPREAD
                since = 0.0 if mixes else since
        _measure_slabs(total, rows.slab_list, rows, twist, change_of)
        for g in range(groups):
            if rows.group_sweeps[g] < 0:
                residual = 0.0
                for i in range(rows.group_first[g], rows.group_first[g + 1]):
                    if not rows.slab_change[i] <= residual:
                        residual = rows.slab_change[i]
                ended = rows.group_sweeps[g] == _STUCK or sweeps >= limit
                if residual <= tolerance or ended or residual != residual:
                    rows.group_sweeps[g] = sweeps
                    rows.group_residual[g] = residual


@kernel
def _reopen(small, rows, tolerance):
    """Open those of the small groups again for which mixed sweeps are cheaper than Newton.

    Returns how many.
    """
    count = 0
    for k in range(small):
        g = rows.group_list[k]
        first, last = rows.group_first[g], rows.group_first[g + 1]
        rows_of_group = rows.slab_first[last] - rows.slab_first[first]
        if rows_of_group > MIXED and rows.group_residual[g] > tolerance:
            rows.group_sweeps[g] = _OPEN
            count += 1
    return count


@stage
def solve_rows(rows, groups, row_count, backward, mass, tolerance, max_sweeps, hasty, twist):
    """Improve rows.impulse, and the twists with it, until every group has converged.

    If `hasty`, sweeps of small groups end where another method would be quicker, and those of
    large ones are mixed.

    Returns the number of sweeps of the hardest group and the largest residual [m/s].
    """
    small, linked = 0, 0
    for g in range(groups):
        slabs = rows.group_first[g + 1] - rows.group_first[g]
        rows.group_sweeps[g] = _OPEN
        if rows.group_linked[g] == 1:  # see articulate.py
            rows.group_sweeps[g], rows.group_residual[g] = 0, 0.0
            linked += 1
        elif slabs == 1 or row_count < 400:
            rows.group_sweeps[g] = 0
            rows.group_list[small] = g
            small += 1
    if small > 1 and row_count >= 400:
        _solve_small(small, backward, rows, row_count, mass, tolerance, max_sweeps, hasty, twist)
    else:
        for k in range(small):
            g = rows.group_list[k]
            solve_group(g, backward, rows, row_count, mass, tolerance, max_sweeps, hasty, twist)
    if hasty:
        small -= _reopen(small, rows, tolerance)
    if small + linked < groups:
        _solve_large(backward, rows, groups, row_count, mass, tolerance, max_sweeps, hasty, twist)
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
