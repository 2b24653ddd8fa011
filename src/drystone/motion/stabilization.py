"""Stage 7: keep bodies apart, by moving them, not by giving them velocity.

A step moves each body by its displacement twist: the mean of its velocities before and after
where the motion is straight, the velocity after where a contact bends it. Displacements that would
let a contact overlap, or leave an overlap as deep as it is, are corrected by impulses of their
own in the same contacts (normals only, post-stabilization of CLINE 3.3 before the move instead
of after it). Velocities, and with them the kinetic energy, are not touched.
"""

from numba import prange

from drystone.constraints.coulomb import normal_velocity_at, push_body
from drystone.jit import inner_kernel, kernel, parallel_kernel
from drystone.jit.stage import stage
from drystone.model.arrays import KINEMATIC, LINKED, ROUGH
from drystone.motion.integrate import turn_freely

PUSH_SWEEPS = 20  # at most, in a step; what is left is taken up by the next

# A contact is rough when its bodies parted there as the step began by more than this share of what
# gravity adds in a step ...
ROUGH_SHARE = 1e-3
# ... or approached by more than this share and the error of the solver. They were struck, or their
# way is bent upwards, as that of a ring that swings on a peg: the mean of two velocities, each
# along the tangent at another place, leads below such a way, and being lifted back would add energy
# in every step. Where it is bent downwards the mean only takes energy away.
BENT_SHARE = 1e-7


@kernel
def mark_rough(rough, rows, count, impacts, settings, residual):
    """Flag the bodies whose contacts change their normal velocity."""
    gravity = abs(settings.gravity_x) + abs(settings.gravity_y) + abs(settings.gravity_z)
    parting = ROUGH_SHARE * gravity * settings.dt + 2.0 * settings.tolerance
    meeting = BENT_SHARE * gravity * settings.dt + 2.0 * min(residual, settings.tolerance)
    for r in range(count):
        if rows.impulse[r, 0] <= 0.0:
            continue
        # A contact that bounced and holds its bodies all the same came back within the step: the
        # mean would leave them at a height that nothing has paid for.
        struck = impacts > 0 and rows.struck[r, 0] > 0.0
        change = rows.bias[r] + rows.approach[r]
        if struck or change < -meeting or change > parting:
            for side in range(2):
                b = rows.body[r, side]
                rough[b] = max(rough[b], ROUGH)


@inner_kernel(inline="always")  # else handing over all these arrays takes as long
def displace_body(b, bodies, state, motion, impacts, dt):
    """Displacement twist of body `b`; its free turn and the spin after it: motion.mean, later."""
    old, twist, move = state.twist, motion.twist, motion.move
    spin = (twist[b, 3], twist[b, 4], twist[b, 5])
    if bodies.kind[b] == KINEMATIC:
        mean, later = spin, spin
    else:
        t = motion.turn
        r_wb = (
            t[b, 0], t[b, 1], t[b, 2], t[b, 3], t[b, 4], t[b, 5], t[b, 6], t[b, 7], t[b, 8],
        )  # fmt: skip
        inertia = (bodies.inertia[b, 0], bodies.inertia[b, 1], bodies.inertia[b, 2])
        mean, later = turn_freely(spin, inertia, r_wb, dt)
    for k in range(3):
        move[b, k] = twist[b, k]
        move[b, 3 + k] = mean[k]
        motion.mean[b, k] = mean[k]
        motion.later[b, k] = later[k]
    struck = impacts > 0 and motion.strike[b] >= 0.0
    if motion.rough[b] < ROUGH:
        for k in range(6):
            start = motion.after[b, k] if struck else old[b, k]
            move[b, k] += 0.5 * (start - twist[b, k])
    if struck:  # fly to the impact with the velocity before it, then on with the one after
        rest = 1.0 - motion.strike[b] / dt
        for k in range(6):
            move[b, k] = motion.flown[b, k] / dt + rest * move[b, k]


@stage
def displace_bodies(bodies, state, motion, impacts, dt):
    """Displacement twists of all bodies."""
    n = bodies.kind.shape[0]
    for b in range(n):
        if state.asleep[b] == 1:
            for k in range(6):
                motion.move[b, k] = 0.0
            for k in range(3):
                motion.mean[b, k] = 0.0
                motion.later[b, k] = 0.0
        elif motion.rough[b] != LINKED:  # solvers/articulated/solve_islands.py has done it
            displace_body(b, bodies, state, motion, impacts, dt)
    for k in range(6):
        motion.move[n, k] = 0.0


@inner_kernel
def lean_out(rows, count, share):
    """Baumgarte's method for contacts (CLINE 3.2): overlaps below the skin become velocity."""
    for r in range(count):
        if rows.gap[r] < -rows.skin[r]:
            rows.bias[r] = share * (rows.gap[r] + rows.skin[r])


TINY = 1e-15  # [m] stands for a skin of zero


@inner_kernel
def room_wanted(gap, skin, share):
    """The gap that a contact must have at least after the step [m]."""
    return gap - share * (gap + skin) if gap < -skin else min(gap, 0.0)


@kernel
def _push_range(lo, hi, rows, mass, move, share, dt):
    """One visit of rows lo..hi; returns the largest lack of room that it found, in skins."""
    worst = 0.0
    for r in range(lo, hi):
        lack = room_wanted(rows.gap[r], rows.skin[r], share) - rows.gap[r]
        lack -= dt * normal_velocity_at(r, rows.body, rows.frame, rows.arm, move)
        old = rows.push[r]
        new = max(0.0, old + lack / (dt * rows.block[r, 0]))
        if new != old:
            if new > 0.0:
                worst = max(worst, abs(lack) / (rows.skin[r] + TINY))
            rows.push[r] = new
            d = new - old
            x, y, z = d * rows.frame[r, 0], d * rows.frame[r, 1], d * rows.frame[r, 2]
            arm = rows.arm
            push_body(rows.body[r, 1], 1.0, x, y, z, arm[r, 3], arm[r, 4], arm[r, 5], mass, move)
            push_body(rows.body[r, 0], -1.0, x, y, z, arm[r, 0], arm[r, 1], arm[r, 2], mass, move)
    return worst


@kernel
def _lack_range(lo, hi, rows, move, share, dt):
    """Largest lack of room of rows lo..hi before any correction, in skins."""
    worst = 0.0
    for r in range(lo, hi):
        rows.push[r] = 0.0
        lack = room_wanted(rows.gap[r], rows.skin[r], share) - rows.gap[r]
        lack -= dt * normal_velocity_at(r, rows.body, rows.frame, rows.arm, move)
        worst = max(worst, lack / (rows.skin[r] + TINY))
    return worst


@parallel_kernel
def _lack_parallel(slabs, rows, move, share, dt, lack):
    for i in prange(slabs):
        lack[i] = _lack_range(rows.slab_first[i], rows.slab_first[i + 1], rows, move, share, dt)


@parallel_kernel
def _push_parallel(colour, slabs, rows, mass, move, share, dt, lack):
    for k in prange((slabs - colour + 1) // 2):
        i = 2 * k + colour
        lack[i] = _push_range(
            rows.slab_first[i], rows.slab_first[i + 1],
            rows, mass, move, share, dt,
        )  # fmt: skip


@stage
def make_room(motion, rows, slabs, count, settings):
    """Correct the displacements until no contact lacks room; returns the number of sweeps.

    Overlaps below the skin are not worth a sweep.
    """
    mass, move, dt = motion.mass, motion.move, settings.dt
    share = settings.push_out
    serial = slabs < 4
    if serial:
        worst = _lack_range(0, count, rows, move, share, dt)
    else:
        _lack_parallel(slabs, rows, move, share, dt, rows.slab_change)
        worst = 0.0
        for i in range(slabs):
            worst = max(worst, rows.slab_change[i])
    sweeps = 0
    while worst > 1.0 and sweeps < PUSH_SWEEPS:
        if serial:
            worst = _push_range(0, count, rows, mass, move, share, dt)
        else:
            for colour in range(2):
                _push_parallel(colour, slabs, rows, mass, move, share, dt, rows.slab_change)
            worst = 0.0
            for i in range(slabs):
                worst = max(worst, rows.slab_change[i])
        sweeps += 1
    return sweeps
