"""Pushes of stabilization.py for eight contacts at once, in the batches of lane_batches.py.

In place of the impulses of the sweep before, a batch has the lack of gap that the contact begins
the step with, its push, and its skin.
"""

from drystone.constraints.lane_batches import (
    ARM_A,
    ARM_B,
    BATCH,
    BLOCK,
    INERTIA_A,
    INERTIA_B,
    MASS_A,
    MASS_B,
    NORMAL,
    PREVIOUS,
)
from drystone.jit import inner_kernel, kernel
from drystone.jit.lane_algebra import answers, cross_lanes, dot_lanes, largest_lane, three
from drystone.jit.lanes import WIDTH, gather, load, scatter, select, size, some, splat, store

LACK, PUSH, SKIN = PREVIOUS, PREVIOUS + WIDTH, PREVIOUS + 2 * WIDTH


@kernel
def _lacks(d, dt, a, b, arms):
    """What the gaps lack after the displacements `a` and `b` of the bodies [m]."""
    n = three(d, NORMAL)
    spin_a = cross_lanes((a[3], a[4], a[5]), arms[0])
    spin_b = cross_lanes((b[3], b[4], b[5]), arms[1])
    v = (
        b[0] - a[0] + spin_b[0] - spin_a[0],
        b[1] - a[1] + spin_b[1] - spin_a[1],
        b[2] - a[2] + spin_b[2] - spin_a[2],
    )
    return load(d, LACK) - splat(dt) * dot_lanes(n, v)


@inner_kernel
def lack_batches(first, end, dt, rows, sums, move):
    """Largest lack of gap of these batches before any correction, in skins."""
    worst, lane_body = splat(0.0), rows.lane_body
    for k in range(first, end):
        d, at = rows.lane_data[k * BATCH : (k + 1) * BATCH], 2 * WIDTH * k
        a, b = gather(move, lane_body, at), gather(move, lane_body, at + WIDTH)
        lack = _lacks(d, dt, a, b, (three(d, ARM_A), three(d, ARM_B))) / load(d, SKIN)
        worst = select(lack > worst, lack, worst)
    return largest_lane(worst, sums)


@inner_kernel
def push_batches(first, end, dt, rows, sums, mass, move):
    """One visit of these batches; returns the largest lack of gap that it found, in skins."""
    zero, worst, fixed = splat(0.0), splat(0.0), mass.shape[0] - 1
    lane_body, lane_mass = rows.lane_body, rows.lane_mass
    for k in range(first, end):
        d, at = rows.lane_data[k * BATCH : (k + 1) * BATCH], 2 * WIDTH * k
        a, b = gather(move, lane_body, at), gather(move, lane_body, at + WIDTH)
        arm_a, arm_b, n = three(d, ARM_A), three(d, ARM_B), three(d, NORMAL)
        lack, old = _lacks(d, dt, a, b, (arm_a, arm_b)), load(d, PUSH)
        new = old + lack / (splat(dt) * load(d, BLOCK))
        new = select(new > zero, new, zero)
        change = new - old
        pushed = (change < zero) | (change > zero)
        if not some(pushed):
            continue
        found = select(pushed & (new > zero), size(lack) / load(d, SKIN), zero)
        worst = select(found > worst, found, worst)
        store(d, PUSH, new)
        f = n[0] * change, n[1] * change, n[2] * change
        ta, tb = cross_lanes(arm_a, f), cross_lanes(arm_b, f)
        masses = load(d, INERTIA_A), load(d, INERTIA_B)
        sa, sb = answers(rows.lane_even[k] == 1, masses, at, lane_body, lane_mass, ta, tb)
        ma, mb = load(d, MASS_A), load(d, MASS_B)
        scatter(move, lane_body, at, fixed, (
            a[0] - ma * f[0], a[1] - ma * f[1], a[2] - ma * f[2],
            a[3] - sa[0], a[4] - sa[1], a[5] - sa[2], a[6], a[7],
        ))  # fmt: skip
        scatter(move, lane_body, at + WIDTH, fixed, (
            b[0] + mb * f[0], b[1] + mb * f[1], b[2] + mb * f[2],
            b[3] + sb[0], b[4] + sb[1], b[5] + sb[2], b[6], b[7],
        ))  # fmt: skip
    return largest_lane(worst, sums)
