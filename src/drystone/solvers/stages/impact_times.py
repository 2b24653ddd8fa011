"""Impacts in the order of their times: paths of bodies within a step, and contacts on them.

Between two impacts a body flies: its velocity changes evenly, by what gravity and other forces add
in the step. The gap of a contact along its normal is then a quadratic in time, and its root the
time of impact. The normal of the start of the step belongs to other poses, though: a ball of 28 mm
that flies 17 mm in the step meets the next at a normal up to 6 degrees off. So the narrow phase is
run again on the pair, at its poses at that time, and the root taken again (Newton's method on the
distance, as in conservative advancement) until the pair has moved by less than CLOSE_SHARE of its
skin since: impulses then act along the normal, and on both bodies at one point, so that angular
momentum is conserved.
"""

from math import inf, sqrt

from drystone.collision.broadphase import place_on
from drystone.collision.displaced_pair import collide_displaced
from drystone.constraints.contact_rows import fill_block
from drystone.constraints.coulomb import invert_block
from drystone.constraints.joint_rows import contacts_of
from drystone.jit import inner_kernel, kernel
from drystone.jit.vec import add, cross, dot, load, rotate_quaternion, scale, sub, tangents
from drystone.model.arrays import FIXED, INFO_NEAR, MESH
from drystone.motion.integrate import rotate_freely

CLOSE_SHARE = 1e-5  # of the skin: 3e-10 of the radius
# Searches for the contacts of one pair in a step. Newton's method takes two or three for an impact;
# shapes whose distance is only known to the tolerance of GJK stop here.
MOST_SEARCHES = 12
MOST_LOOKS = 8  # of these, before there is a time of impact
# Contacts of an island in which bodies without restitution are said to meet alone; in larger ones
# they fall on each other, and the end of the step will do.
MOST_MEETING = 4


@inner_kernel
def flight_begin(b, motion):
    """When the last impact of body `b` within this step was [s]; 0 if it had none."""
    return max(motion.impact_time[b], 0.0)


@inner_kernel
def path_at(b, t, state, motion, dt):
    """Displacement of body `b` from the start of the step to time `t`, and its velocity there."""
    if b == state.position.shape[0]:
        nothing = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        return nothing, nothing
    s = t - flight_begin(b, motion)
    old, free, v, d = state.twist, motion.free, motion.after, motion.impact_displacement
    x0, w0 = s * (free[b, 0] - old[b, 0]) / dt, v[b, 0]
    x1, w1 = s * (free[b, 1] - old[b, 1]) / dt, v[b, 1]
    x2, w2 = s * (free[b, 2] - old[b, 2]) / dt, v[b, 2]
    x3, w3 = s * (free[b, 3] - old[b, 3]) / dt, v[b, 3]
    x4, w4 = s * (free[b, 4] - old[b, 4]) / dt, v[b, 4]
    x5, w5 = s * (free[b, 5] - old[b, 5]) / dt, v[b, 5]
    displacement = (
        d[b, 0] + s * (w0 + 0.5 * x0), d[b, 1] + s * (w1 + 0.5 * x1),
        d[b, 2] + s * (w2 + 0.5 * x2), d[b, 3] + s * (w3 + 0.5 * x3),
        d[b, 4] + s * (w4 + 0.5 * x4), d[b, 5] + s * (w5 + 0.5 * x5),
    )  # fmt: skip
    return displacement, (w0 + x0, w1 + x1, w2 + x2, w3 + x3, w4 + x4, w5 + x5)


@inner_kernel
def rotation_at(b, t, bodies, state, motion, dt):
    """Quaternion and spin of body `b` at time `t`, after free rotation since its last impact."""
    s, at, m = t - flight_begin(b, motion), motion.impact_rotation, motion.rotation_matrix
    q = (at[b, 0], at[b, 1], at[b, 2], at[b, 3])
    matrix = (
        m[b, 0], m[b, 1], m[b, 2], m[b, 3], m[b, 4], m[b, 5], m[b, 6], m[b, 7], m[b, 8],
    )  # fmt: skip
    first = (motion.after[b, 3], motion.after[b, 4], motion.after[b, 5])
    _, twist = path_at(b, t, state, motion, dt)
    last = (twist[3], twist[4], twist[5])
    mean, later = rotate_freely(last, load(bodies.inertia, b), matrix, s)
    mean = add(mean, scale(sub(first, last), 0.5))
    return rotate_quaternion(q, scale(mean, s)), later


@kernel
def _place(s, t, bodies, shapes, state, motion, pose, dt):
    """Row `s` of `pose`: shape `s` at time `t`."""
    b = shapes.body[s]
    if b == FIXED:
        for k in range(12):
            pose[s, k] = shapes.local[s, k]
        return
    moved, _ = path_at(b, t, state, motion, dt)
    q, _ = rotation_at(b, t, bodies, state, motion, dt)
    x = add(load(state.position, b), (moved[0], moved[1], moved[2]))
    place_on(s, shapes.local, x, q, pose, s)


@kernel
def _at_lever(twist, lever):
    """What a twist, or a displacement, is at that arm from the centre of mass."""
    return add((twist[0], twist[1], twist[2]), cross((twist[3], twist[4], twist[5]), lever))


@inner_kernel
def gap_at(r, t, rows, state, motion, dt):
    """Gap of contact `r` at time `t` [m], its rate [m/s], and the speed of B seen from A [m/s]."""
    normal = (rows.frame[r, 0], rows.frame[r, 1], rows.frame[r, 2])
    gap, velocity = rows.gap[r], (0.0, 0.0, 0.0)
    for side in range(2):
        displacement, twist = path_at(rows.body[r, side], t, state, motion, dt)
        lever = (rows.arm[r, 3 * side], rows.arm[r, 3 * side + 1], rows.arm[r, 3 * side + 2])
        sign = 1.0 if side == 1 else -1.0
        gap += sign * dot(normal, _at_lever(displacement, lever))
        velocity = add(velocity, scale(_at_lever(twist, lever), sign))
    return gap, dot(normal, velocity), sqrt(dot(velocity, velocity))


@inner_kernel
def closing_time(gap, speed, acceleration, dt):
    """When a gap that changes with `speed` and `acceleration` is closed, or -1 if not by dt [s]."""
    if gap <= 0.0:
        return 0.0
    inside = speed * speed - 2.0 * acceleration * gap
    if inside < 0.0:
        return -1.0
    below = -speed + sqrt(inside)
    if below <= 0.0:
        return -1.0
    t = 2.0 * gap / below
    return t if t <= dt else -1.0


@inner_kernel
def next_impact(r, rows, state, motion, settings):
    """Time of the next impact at contact `r`, -1 if it has none: not within the step, or slower
    than bounce_speed where the bodies began to fly."""
    a, b, dt = rows.body[r, 0], rows.body[r, 1], settings.dt
    since = max(flight_begin(a, motion), flight_begin(b, motion))
    gap, rate, _ = gap_at(r, since, rows, state, motion, dt)
    if rate > -settings.bounce_speed or since >= dt:
        return -1.0
    _, last, _ = gap_at(r, dt, rows, state, motion, dt)
    t = closing_time(gap, rate, (last - rate) / (dt - since), dt - since)
    return t if t < 0.0 else since + t


@inner_kernel
def is_exact(r, t, rows, state, motion, dt):
    """Whether the contact has moved so little, from when it was found to time `t`, that its normal
    is that of time `t`."""
    if rows.searches[r] >= MOST_SEARCHES:
        return True
    _, _, speed = gap_at(r, t, rows, state, motion, dt)
    return abs(t - rows.found_at[r]) * speed <= CLOSE_SHARE * rows.skin[r]


@inner_kernel
def pair_of(contact, near, near_count):
    """Index of the near pair that a contact belongs to."""
    low, high = 0, near_count
    while high - low > 1:
        middle = (low + high) // 2
        if near.contact_first[middle] <= contact:
            low = middle
        else:
            high = middle
    return low


@inner_kernel
def has_mesh(lo, hi, kind, pair, work):
    """Whether a mesh is among the shapes of rows lo..hi."""
    near, near_count = work.near, int(work.log.info[INFO_NEAR])
    for r in range(lo, hi):
        p = near.pair[pair_of(work.contact_list.row_contact[r], near, near_count)]
        if kind[pair[p, 0]] == MESH or kind[pair[p, 1]] == MESH:
            return True
    return False


@kernel
def _rows_of_pair(r, work, near_count):
    """First row of the pair that row `r` belongs to, and how many it has."""
    contact, near = work.contact_list.row_contact[r], work.near
    k = pair_of(contact, near, near_count)
    return r - (contact - near.contact_first[k]), near.slot_count[k]


@kernel
def _choose_slot(row, found, used, nearest, slot, rows, state):
    """Contact in the slots that row `row` becomes: the deepest that is left, or the nearest to
    where it was; -1 if none is left."""
    chosen, least, side = -1, 0.0, 1 if rows.body[row, 1] < state.position.shape[0] else 0
    b = rows.body[row, side]
    for j in range(found):
        if used & (1 << j) != 0:
            continue
        value = slot[j, 6]
        if nearest:
            value = 0.0
            for k in range(3):
                value += (slot[j, k] - state.position[b, k] - rows.arm[row, 3 * side + k]) ** 2
        if chosen < 0 or value < least:
            chosen, least = j, value
    return chosen


@inner_kernel
def find_again(r, t, nearest, shapes, outlines, bodies, state, work, near_count, dt):
    """Find the contacts of the pair of row `r` at its poses at time `t`; returns the row after the
    last of the pair.

    The pair keeps its rows: if there are fewer contacts those that are left over are as far apart
    as the search went, if there are more the deepest are taken, or if `nearest` those that are
    nearest to where they were.
    """
    rows, near, ccd = work.rows, work.near, work.ccd
    k = pair_of(work.contact_list.row_contact[r], near, near_count)
    first, count = _rows_of_pair(r, work, near_count)
    a, b = state.pair[near.pair[k], 0], state.pair[near.pair[k], 1]
    from_a, _ = path_at(rows.body[r, 0], t, state, work.motion, dt)
    from_b, _ = path_at(rows.body[r, 1], t, state, work.motion, dt)
    _place(a, t, bodies, shapes, state, work.motion, ccd.boxes.pose, dt)
    _place(b, t, bodies, shapes, state, work.motion, ccd.boxes.pose, dt)
    margin = work.boxes.spread[a] + work.boxes.spread[b]
    found = collide_displaced(a, b, margin, False, shapes, outlines, ccd)
    used = 0  # bit j: slot j
    for row in range(first, first + count):
        rows.found_at[row] = t
        rows.searches[row] += 1
        chosen = _choose_slot(row, found, used, nearest, ccd.near.slot, rows, state)
        for j in range(3):
            rows.impulse[row, j] = 0.0  # of the last step, along another normal
        if chosen < 0:
            gap, _, _ = gap_at(row, t, rows, state, work.motion, dt)
            rows.gap[row] += margin - gap
        else:
            used |= 1 << chosen
            _renew_row(row, chosen, from_a, from_b, ccd.near.slot, rows, state, work.motion.mass)
    return first + count


@kernel
def _renew_row(r, j, from_a, from_b, slot, rows, state, mass):
    """Make row `r` that of the contact in slot `j`, found after the displacements of its bodies.

    Its gap is such that, with the displacement since the start of the step, it is that in the slot.
    """
    point = (slot[j, 0], slot[j, 1], slot[j, 2])
    normal = (slot[j, 3], slot[j, 4], slot[j, 5])
    frame, impact = rows.frame, rows.impact_impulse
    t1 = (frame[r, 3], frame[r, 4], frame[r, 5])
    t2 = (frame[r, 6], frame[r, 7], frame[r, 8])
    given = add(
        scale((frame[r, 0], frame[r, 1], frame[r, 2]), impact[r, 0]),
        add(scale(t1, impact[r, 1]), scale(t2, impact[r, 2])),
    )
    t1, t2 = tangents(normal)
    for k in range(3):
        frame[r, k], frame[r, 3 + k], frame[r, 6 + k] = normal[k], t1[k], t2[k]
    impact[r, 0], impact[r, 1], impact[r, 2] = dot(given, normal), dot(given, t1), dot(given, t2)
    n = state.position.shape[0]
    gap, approach = slot[j, 6], 0.0
    for side in range(2):
        b = rows.body[r, side]
        if b == n:
            continue
        moved = from_b if side == 1 else from_a
        centre = add(load(state.position, b), (moved[0], moved[1], moved[2]))
        lever = sub(point, centre)
        for k in range(3):
            rows.arm[r, 3 * side + k] = lever[k]
        old = state.twist
        twist = (old[b, 0], old[b, 1], old[b, 2], old[b, 3], old[b, 4], old[b, 5])
        sign = 1.0 if side == 1 else -1.0
        gap -= sign * dot(normal, _at_lever(moved, lever))
        approach += sign * dot(normal, _at_lever(twist, lever))
    rows.gap[r], rows.approach[r] = gap, approach
    fill_block(r, rows.body, frame, rows.arm, mass, 1.0, 1.0, rows.delassus)
    invert_block(r, rows.delassus, rows.inverse)


@inner_kernel
def list_impacts(rows, groups, mass):
    """List the rows that may have impacts; returns how many.

    All with restitution; and where two moving bodies meet, alone, those without, which end at rest
    against each other: along the normal where they touch.
    """
    listed = 0
    for g in range(groups):
        lo, hi = contacts_of(g, rows)
        if rows.group_linked[g] == 2:  # links of robots bounce in solvers/reduced/
            continue
        for r in range(lo, hi):
            if rows.restitution[r] > 0.0:
                rows.bounce_list[listed] = r
                listed += 1
    for g in range(groups):
        lo, hi = contacts_of(g, rows)
        if hi - lo > MOST_MEETING or rows.group_linked[g] > 0:
            continue
        for r in range(lo, hi):
            a, b = rows.body[r, 0], rows.body[r, 1]
            moving = mass[a, 0] > 0.0 and mass[b, 0] > 0.0
            if moving and rows.restitution[r] == 0.0 and rows.gap[r] > rows.skin[r]:
                rows.bounce_list[listed] = r
                listed += 1
    return listed


@inner_kernel
def may_come_round(r, rows, radius, state, dt):
    """Whether bodies that are still apart at contact `r` rotate so far that they may meet: else
    the plane between them keeps them apart, whatever they show each other."""
    chord, gap, old = 0.0, rows.gap[r], state.twist
    if gap <= rows.skin[r]:
        return False
    for side in range(2):
        b = rows.body[r, side]
        if b < old.shape[0]:
            along = dot(load(rows.frame, r), load(old, b))
            gap += dt * along if side == 1 else -dt * along
            chord += dt * radius[b] * sqrt(old[b, 3] ** 2 + old[b, 4] ** 2 + old[b, 5] ** 2)
    return chord > max(rows.skin[r], gap)


@kernel
def _advance(r, shapes, outlines, bodies, state, settings, work):
    """Follow a pair that comes round by conservative advancement, until one of its contacts has a
    time of impact or the step is over: no gap shrinks faster than their surfaces move."""
    rows, motion, dt, near_count = (
        work.rows,
        work.motion,
        settings.dt,
        int(work.log.info[INFO_NEAR]),
    )
    first, count = _rows_of_pair(r, work, near_count)
    old, v, turning, t = state.twist, (0.0, 0.0, 0.0), 0.0, 0.0
    for side in range(2):
        b = rows.body[r, side]
        if b < old.shape[0]:
            v = add(v, scale(load(old, b), 1.0 if side == 1 else -1.0))
            w = (old[b, 3], old[b, 4], old[b, 5])
            turning += bodies.radius[b] * sqrt(dot(w, w))
    for _ in range(MOST_LOOKS):
        gap = inf
        for row in range(first, first + count):
            if next_impact(row, rows, state, motion, settings) >= 0.0:
                return
            gap = min(gap, gap_at(row, t, rows, state, motion, dt)[0])
        t += max(gap, rows.skin[r]) / (sqrt(dot(v, v)) + turning)
        if t >= dt:
            return
        find_again(r, t, False, shapes, outlines, bodies, state, work, near_count, dt)


@inner_kernel
def look_ahead(bouncing, shapes, outlines, bodies, state, settings, work):
    """Follow the pairs that come round and have no time of impact yet."""
    rows = work.rows
    for i in range(bouncing):
        r = rows.bounce_list[i]
        if rows.searches[r] == 0 and may_come_round(r, rows, bodies.radius, state, settings.dt):
            _advance(r, shapes, outlines, bodies, state, settings, work)
