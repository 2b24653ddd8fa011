"""Contacts that are carried along a curve, in the middle of the step [Moreau1999].

Rows of the start of a step belong to poses that bodies which rotate have left half a step later: a
box that sticks to a turntable then moves along the tangent and creeps outwards, a disk that rolls
round on its rim falls flat. Islands without joints that roll, stick or swing are therefore solved
in the middle: bodies move there freely, by half a step with the velocities v of its start, contacts
are found again, and the law holds for a mean of the velocities before and after the impulse,

    t = (1 - s) v + s v',   v' = v + M⁻¹ (dt f + Jᵀ p),   0 <= p_n, J t ...

after which they move freely by half a step with v'. The rotation, before and after, is that of
motion/integrate.py, so that the whole is symmetric in time. With s = 1/2 the impulse does the work
pᵀ J (v + v') / 2 = 0 where bodies stick, roll or swing: energy stays, and positions are right to
second order. An approach speed of the start would come back with the opposite sign, though. So s
grows with it, up to 1 where it is some times the change of velocity along the curve, K; and islands
in which bodies land, are struck or slide faster than that against friction keep the rows of the
start.

The unknown of the solve is t: free velocities are v + s dt f, inverse masses s M⁻¹.
"""

from math import sqrt

from drystone.collision.swept_motion import FREE
from drystone.constraints.contact_rows import fill_block, start_impulse
from drystone.constraints.coulomb import invert_block, push_rows
from drystone.constraints.islands import TALLY_GROUPS
from drystone.constraints.joint_rows import contacts_of
from drystone.forces.free_velocity import set_rotation
from drystone.jit import inner_kernel, kernel
from drystone.jit.stage import stage
from drystone.jit.vec import add, cross, dot, load, mad, rotate_quaternion, scale, sub
from drystone.model.arrays import (
    CARRIED,
    DEFAULT_DRIFT,
    INFO_IMPACTS,
    INFO_NEAR,
    KINEMATIC,
)
from drystone.motion.integrate import rotate_freely
from drystone.solvers.stages.impact_times import find_again, gap_at, has_mesh

# Contacts of an island that is looked at. Larger ones are piles, where something always lands.
MOST_CARRIED = 64
# Islands whose velocities change by less than so many tolerances along their curves keep the rows
# of the start: their bits, and their cost, are those of a body at rest.
LEAST_CHANGE = 10.0
# Approach or slip at the start of a step, in units of K, above which something lands or slides. The
# rows of the start leave an approach of some K in every step, from which there is a way back.
LANDING = 8.0
LARGEST_ANGLE = 0.5  # [rad] by which a body may rotate: tops that spin faster gain nothing by it


@kernel
def _change_along_curve(b, bodies, twist, dt):
    """By how much rotation changes the velocities of body `b` within the step, about [m/s]; -1: it
    rotates too far."""
    w = (twist[b, 3], twist[b, 4], twist[b, 5])
    v = (twist[b, 0], twist[b, 1], twist[b, 2])
    spin = sqrt(dot(w, w))
    if dt * spin > LARGEST_ANGLE:
        return -1.0
    return dt * spin * (sqrt(dot(v, v)) + spin * bodies.radius[b])


@kernel
def _is_plain(b, bodies, state, motion, impacts):
    """Whether nothing but gravity, constant forces and contacts acts on body `b`."""
    if impacts > 0 and motion.impact_time[b] >= 0.0:
        return False
    for k in range(6):
        if motion.force[b, k] != state.force[b, k]:
            return False
    return True


@kernel
def _curve_of(lo, hi, bodies, state, rows, motion, impacts, dt):
    """The largest change along a curve of a dynamic body of rows lo..hi; -1: one is not plain."""
    n, most = state.position.shape[0], 0.0
    for r in range(lo, hi):
        for side in range(2):
            b = rows.body[r, side]
            if b == n or bodies.kind[b] == KINEMATIC:
                continue
            if not _is_plain(b, bodies, state, motion, impacts):
                return -1.0
            change = _change_along_curve(b, bodies, state.twist, dt)
            if change < 0.0:
                return -1.0
            most = max(most, change)
    return most


@kernel
def _velocity(r, rows, twist):
    """Of B seen from A at contact `r`, world axes; `twist` has no row for the fixed world."""
    u = (0.0, 0.0, 0.0)
    for side in range(2):
        b, k = rows.body[r, side], 3 * side
        if b < twist.shape[0]:
            lever = (rows.arm[r, k], rows.arm[r, k + 1], rows.arm[r, k + 2])
            orbit = cross((twist[b, 3], twist[b, 4], twist[b, 5]), lever)
            u = mad(u, add(load(twist, b), orbit), 1.0 if side == 1 else -1.0)
    return u


@kernel
def _share_of(lo, hi, change, rows, twist, tolerance, dt):
    """Share s of the velocity after the impulse; -1: something lands, is struck or slides."""
    worst = 0.0
    for r in range(lo, hi):
        u = _velocity(r, rows, twist)
        un = dot(u, load(rows.frame, r))
        if rows.impulse[r, 0] <= 0.0:
            if rows.gap[r] + dt * un < -rows.skin[r] - dt * change:
                return -1.0
            continue
        size = abs(un)
        if rows.friction[r] > 0.0:
            size = sqrt(dot(u, u))
        worst = max(worst, size - tolerance)
    if worst > LANDING * change:
        return -1.0
    return 0.5 + 0.5 * (worst / (LANDING * change)) ** 2


@kernel
def _move_half(b, bodies, state, motion, dt):
    """Path of body `b` to the middle of the step, its rotation and velocity there.

    With the velocities of the start, as it will move: contacts that were found where the impulses
    of the last step would lead it, by half of what these give, cost Euler's disk 2.4 % of its
    energy in 2 s at 1/240 s in place of 0.0006 %.
    """
    if b == state.position.shape[0]:
        return
    old, q, t = state.twist, state.rotation, motion.rotation_matrix
    v = (old[b, 0], old[b, 1], old[b, 2])
    spin = (old[b, 3], old[b, 4], old[b, 5])
    mean, later = spin, spin
    if bodies.kind[b] != KINEMATIC:
        matrix = (
            t[b, 0], t[b, 1], t[b, 2], t[b, 3], t[b, 4], t[b, 5], t[b, 6], t[b, 7], t[b, 8],
        )  # fmt: skip
        mean, later = rotate_freely(spin, load(bodies.inertia, b), matrix, 0.5 * dt)
    middle = rotate_quaternion((q[b, 0], q[b, 1], q[b, 2], q[b, 3]), scale(mean, 0.5 * dt))
    motion.impact_time[b] = 0.5 * dt
    for k in range(4):
        motion.impact_rotation[b, k] = middle[k]
    for k in range(3):
        motion.impact_displacement[b, k] = 0.5 * dt * v[k]
        motion.impact_displacement[b, 3 + k] = 0.5 * dt * mean[k]
        motion.after[b, k], motion.after[b, 3 + k] = v[k], later[k]


@kernel
def _start_body(b, share, bodies, state, motion, dt):
    """Inverse mass and free velocity of body `b` in the middle, in terms of the mean."""
    if b == state.position.shape[0] or bodies.kind[b] == KINEMATIC or motion.scheme[b] == CARRIED:
        return
    motion.scheme[b], motion.carried[b] = CARRIED, share
    q = motion.impact_rotation
    set_rotation(
        b, (q[b, 0], q[b, 1], q[b, 2], q[b, 3]), bodies, motion.rotation_matrix, motion.mass
    )
    for k in range(7):
        motion.mass[b, k] *= share
    for k in range(6):
        gain = motion.free[b, k] - state.twist[b, k]
        motion.free[b, k] = motion.after[b, k] + share * gain
        motion.twist[b, k] = motion.free[b, k]


@kernel
def _save_impulse(r, rows):
    """The warm start of row `r` in world axes, while its axes change."""
    frame, p = rows.frame, rows.impulse
    for k in range(3):
        rows.round_impulse[r, k] = (
            p[r, 0] * frame[r, k] + p[r, 1] * frame[r, 3 + k] + p[r, 2] * frame[r, 6 + k]
        )


@kernel
def _spin_across(b, normal, state):
    """Spin of body `b` across `normal` [rad/s]: with it a point off its surface slips."""
    if b == state.position.shape[0]:
        return (0.0, 0.0, 0.0)
    w = (state.twist[b, 3], state.twist[b, 4], state.twist[b, 5])
    return mad(w, normal, -dot(w, normal))


@kernel
def _touch_what_rolls(r, t, state, rows, motion, dt):
    """Move the point of row `r` within its gap to where velocities are those of the two surfaces.

    Bodies have moved with the velocities of the start alone, and what rocks by a little is a gap
    off its support there. In the middle of that gap a body that rolls slips: at x along the normal
    by (w_a + w_b) g / 2 - (w_b - w_a) x. Friction on both ends of a cylinder yawed it by that, and
    the rocking of one that rolled at 2 m/s grew by 2 % in every step, from rounding to 0.2 rad/s.
    """
    gap, _, _ = gap_at(r, t, rows, state, motion, dt)
    if gap > rows.skin[r] + dt * abs(rows.approach[r]):
        return  # it is not there any more
    normal = load(rows.frame, r)
    spin_a = _spin_across(rows.body[r, 0], normal, state)
    spin_b = _spin_across(rows.body[r, 1], normal, state)
    apart = sub(spin_b, spin_a)
    size = dot(apart, apart)
    if size == 0.0:
        return
    share = (dot(spin_b, spin_b) - dot(spin_a, spin_a)) / size
    off = 0.5 * gap * min(max(share, -1.0), 1.0)
    for side in range(2):
        for k in range(3):
            rows.arm[r, 3 * side + k] += off * normal[k]


@kernel
def _find_rows(lo, hi, shapes, outlines, bodies, state, work, dt):
    """Find the contacts of rows lo..hi again in the middle of the step; their gaps stay those of
    its start, for what they close by is seen by the rows."""
    rows, near_count, r = work.rows, int(work.log.info[INFO_NEAR]), lo
    for row in range(lo, hi):
        _save_impulse(row, rows)
        rows.target[row] = rows.gap[row]
    while r < hi:
        r = find_again(r, 0.5 * dt, True, shapes, outlines, bodies, state, work, near_count, dt)
    for row in range(lo, hi):
        _touch_what_rolls(row, 0.5 * dt, state, rows, work.motion, dt)
        rows.gap[row] = rows.target[row]
        start_impulse(
            row, load(rows.round_impulse, row), rows.friction[row], rows.frame, rows.impulse
        )


@kernel
def _carry_group(lo, hi, share, shapes, outlines, bodies, state, settings, work):
    """Rows lo..hi of one island, and its bodies, in the middle of the step."""
    rows, motion, dt = work.rows, work.motion, settings.dt
    for r in range(lo, hi):
        for side in range(2):
            _move_half(rows.body[r, side], bodies, state, motion, dt)
    _find_rows(lo, hi, shapes, outlines, bodies, state, work, dt)
    for r in range(lo, hi):
        for side in range(2):
            _start_body(rows.body[r, side], share, bodies, state, motion, dt)
    for r in range(lo, hi):
        fill_block(r, rows.body, rows.frame, rows.arm, motion.mass, 1.0, 1.0, rows.delassus)
        invert_block(r, rows.delassus, rows.inverse)
    push_rows(lo, hi, rows.body, rows.frame, rows.arm, motion.mass, rows.impulse, motion.twist)


@inner_kernel
def carry_islands(shapes, outlines, bodies, state, settings, work):
    """Move the rows of islands whose contacts follow curves to the middle of the step."""
    rows, motion, dt, tolerance = work.rows, work.motion, settings.dt, settings.tolerance
    impacts, some = int(work.log.info[INFO_IMPACTS]), False
    if settings.newton == 0 or settings.drift != DEFAULT_DRIFT or settings.ccd == FREE:
        return  # other solvers than `auto` solve the problem of the start, as their papers have it
    for g in range(work.graph.tally[TALLY_GROUPS]):
        lo, hi = contacts_of(g, rows)
        if rows.group_linked[g] > 0 or hi - lo > MOST_CARRIED or hi == lo:
            continue
        change = _curve_of(lo, hi, bodies, state, rows, motion, impacts, dt)
        if not change > LEAST_CHANGE * tolerance:
            continue
        # A facet that a mesh rolls on to is an impact, of which the middle of the step takes more
        # energy than its end: a ring that swings on a peg would lose two thirds of it in 4 s
        # instead of a seventh.
        if has_mesh(lo, hi, shapes.kind, state.pair, work):
            continue
        share = _share_of(lo, hi, change, rows, state.twist, tolerance, dt)
        if share > 0.0:
            if not some and impacts == 0:
                for b in range(motion.impact_time.shape[0]):
                    motion.impact_time[b] = -1.0
            some = True
            _carry_group(lo, hi, share, shapes, outlines, bodies, state, settings, work)


@stage
def carry_islands_solids(shapes, bodies, state, settings, work):
    """The same in three dimensions, compiled once for all that call it."""
    carry_islands(shapes, None, bodies, state, settings, work)


@kernel
def leave_middle(motion):
    """Velocities after the impulses, of bodies that were solved for means; these are kept."""
    for b in range(motion.scheme.shape[0]):
        if motion.scheme[b] == CARRIED:
            for k in range(6):
                mean, before = motion.twist[b, k], motion.after[b, k]
                motion.twist[b, k] = before + (mean - before) / motion.carried[b]
                motion.after[b, k] = mean


@kernel
def restore_means(motion):
    """The solved velocities of these bodies again, which contacts and measures are read from."""
    for b in range(motion.scheme.shape[0]):
        if motion.scheme[b] == CARRIED:
            for k in range(6):
                motion.twist[b, k] = motion.after[b, k]
