"""Time stepping of one rock from its start to its end, all compiled: READ FIRST.

Each pass of the loop in `roll_rock` is one time step of ROCFALL 1.1:

    outside?      the box and the triangles of the slope (5.2.1)
    contacts      of the pose, if something is near (1.4)
    collide       impacts, until no contact approaches (3.3)
    press         forces of the contacts over the step, or free flight (3.2, 2.3)
    sweep         time of impact with anything new: how much of the step is possible (1.4)
    cross         barriers on the path of the centre of mass (4.2)
    move, log     and the stopping conditions of the motion (5.2.2 to 5.2.4)
"""

from math import sqrt
from typing import NamedTuple

import numpy as np

from drystone.jit import kernel
from drystone.jit.vec import add, dot, load, mul, mul_t, norm, rotation_matrix, scale, sub
from drystone.motion.integrate import carry_spin
from drystone.rockfall.engine.barrier_crossing import (
    AGAIN,
    barrier_of,
    cross_barriers,
    follow_sides,
    is_over_ground,
    log_hits,
    note_sides,
    panel_outcome,
)
from drystone.rockfall.engine.ccd import Path, sweep
from drystone.rockfall.engine.contact_response import (
    ResponseWorkspace,
    collide,
    prepare,
    press,
    put_twist,
    separate,
    take_twist,
)
from drystone.rockfall.engine.contacts import add_contact, find_contacts, reduce_contacts
from drystone.rockfall.engine.distance import piece_distance
from drystone.rockfall.engine.event_log import (
    DONE,
    FOUND_FULL,
    LOG_FULL,
    log_arc,
    log_crossing,
    log_end,
    log_impact,
    log_state,
)
from drystone.rockfall.engine.flight import (
    RECOVER,
    SHRINK,
    fall,
    place_at,
    rotated,
    spin_energy,
    spin_step,
)
from drystone.rockfall.engine.forest_drag import drag_at
from drystone.rockfall.engine.records import (
    BARRIER,
    CONTACT,
    FAILED,
    FLIGHT,
    JITTER,
    STEPS,
    STOPPED,
    TIME,
    VELOCITY,
)
from drystone.rockfall.engine.stopping_conditions import (
    NOT_YET,
    are_small,
    clear_boxes,
    grow_boxes,
    is_balanced,
    is_still,
    outside,
)
from drystone.rockfall.engine.triangle_grid import find_triangles, ground_below

# Steps in a row without progress after which the closest direction is a contact, come what may,
# and after which the rock counts as failed.
STUCK, HOPELESS = 20, 2000

# Share of a step below which there was no progress.
PROGRESS = 1e-6

# Halvings of a step whose rotational energy grows (5.1.2).
HALVINGS = 10


class Body(NamedTuple):
    """One rock's numbers."""

    mass: float
    inertia: tuple  # principal moments [kg m²]
    gyration: tuple  # their radii of gyration [m]
    radius: float  # [m]
    rounding: float  # [m]
    skin: float  # [m]
    distance: float  # [m]
    air: float  # drag of the air per mass and speed squared [1/m]


class Motion(NamedTuple):
    """One step of a rock, before anything obstructs it."""

    h: float  # [s]
    v: tuple  # the centre of mass moves on x + v s + a s²/2
    a: tuple
    mean: tuple  # spin, constant over the step
    v_start: tuple
    v_end: tuple
    w_end: tuple
    pressed: bool  # by contacts


class State(NamedTuple):
    """Where a rock is and how it moves."""

    t: float  # [s]
    x: tuple  # centre of mass [m]
    q: tuple  # orientation, unit quaternion
    v: tuple  # [m/s]
    w: tuple  # spin, world axes [rad/s]


class Workspace(NamedTuple):
    """Scratch arrays of one trajectory."""

    response: ResponseWorkspace
    found: np.ndarray  # (F,) int32 triangles near the rock
    simplex: np.ndarray  # (8, 4)
    boxes: np.ndarray  # (6, 3)
    side: np.ndarray  # (planes of barriers,) int64, on which side of each the rock is

    @classmethod
    def of(cls, contacts: int, directions: int, found: int, planes: int) -> "Workspace":
        return cls(
            ResponseWorkspace.of(contacts, directions), np.zeros(found, dtype=np.int32),
            np.zeros((8, 4)), np.zeros((6, 3)), np.zeros(planes, dtype=np.int64),
        )  # fmt: skip


@kernel
def _find_near(grid, x, reach, drift, found):
    """Triangles near the path from x along `drift`, within `reach` of it."""
    low = (
        x[0] + min(drift[0], 0.0) - reach,
        x[1] + min(drift[1], 0.0) - reach,
        x[2] + min(drift[2], 0.0) - reach,
    )
    high = (
        x[0] + max(drift[0], 0.0) + reach,
        x[1] + max(drift[1], 0.0) + reach,
        x[2] + max(drift[2], 0.0) + reach,
    )
    return find_triangles(grid, low, high, found)


@kernel
def _force_contact(rocks, k, x, m, grid, t, skin, count, work):
    """The closest direction to triangle t as a contact, whatever its neighbours say."""
    if t < 0:
        return count
    a = mul_t(m, sub(load(grid.vertex, grid.triangle[t, 0]), x))
    b = mul_t(m, sub(load(grid.vertex, grid.triangle[t, 1]), x))
    c = mul_t(m, sub(load(grid.vertex, grid.triangle[t, 2]), x))
    rounding = rocks.body[k, 5]
    for piece in range(rocks.pieces[k, 0], rocks.pieces[k, 1]):
        d, n, spot = piece_distance(
            rocks.vertex, rocks.piece_vertex[piece], rocks.piece_vertex[piece + 1], a, b, c,
            (0.0, 0.0, 1.0), work.simplex,
        )  # fmt: skip
        if 0.0 < d and d - rounding <= skin:
            arm = mul(m, add(spot, scale(n, d - rounding)))
            count = add_contact(
                grid, work.response.contacts, count, skin, arm, mul(m, n), d - rounding, t, 0
            )
    return count


@kernel
def _find_contacts(rocks, k, x, m, grid, skin, most, blocked, event, work):
    """Contacts of the pose; -1 if there were too many triangles for the scratch."""
    near = _find_near(grid, x, rocks.body[k, 4] + skin, (0.0, 0.0, 0.0), work.found)
    if near < 0:
        return -1
    c = work.response.contacts
    count = find_contacts(rocks, k, x, m, grid, work.found, near, skin, c, work.simplex)
    if blocked > STUCK or (count == 0 and event >= 0):
        count = _force_contact(rocks, k, x, m, grid, event, skin, count, work)
    return reduce_contacts(c, count, most)


@kernel
def _body_of(rocks, k, options):
    mass, radius = rocks.body[k, 0], rocks.body[k, 4]
    inertia = (rocks.body[k, 1], rocks.body[k, 2], rocks.body[k, 3])
    gyration = (sqrt(inertia[0] / mass), sqrt(inertia[1] / mass), sqrt(inertia[2] / mass))
    air = 0.5 * options.air_density * options.air_drag * rocks.body[k, 6] / mass
    return Body(
        mass, inertia, gyration, radius, rocks.body[k, 5], options.skin * radius,
        options.distance * radius, air,
    )  # fmt: skip


@kernel
def _step_away(rocks, k, body, x, q, count, blocked, grid, work):
    """Where a rock too near to the slope goes: as far out as nothing else obstructs it.

    A rock that cannot move at all is set free in any case.
    """
    contacts, none = work.response.contacts, (0.0, 0.0, 0.0)
    move = separate(count, body.distance, contacts)
    if dot(move, move) == 0.0:
        return x
    if blocked <= STUCK:
        nearest = body.distance
        for i in range(count):
            nearest = min(nearest, contacts.gap[i])
        near = _find_near(grid, x, body.radius + norm(move), none, work.found)
        s, _ = sweep(
            rocks, k, Path(x, move, none, q, none), 1.0, 0.5 * nearest, grid, work.found, near,
            work.simplex,
        )  # fmt: skip
        move = scale(move, min(s, 1.0))
    for i in range(count):
        contacts.gap[i] += dot(load(contacts.normal, i), move)
    return add(x, move)


@kernel
def _collide(body, count, state, m, bounce, rest_speed, barriers, log, work):
    """Impact of the contacts: velocity and spin after it, whether they changed, log not full."""
    t, x, q, v, w = state
    put_twist(v, w, m, body.gyration, work.z)
    hit = collide(count, m, body.gyration, bounce, rest_speed, work)
    strongest = 0
    for i in range(1, count):
        if work.total[i] > work.total[strongest]:
            strongest = i
    if work.total[strongest] == 0.0:
        return v, w, False, True
    v_out, w_out = take_twist(work.z, m, body.gyration)
    if not hit:
        return v_out, w_out, True, True
    c = work.contacts
    e_in = 0.5 * body.mass * dot(v, v) + spin_energy(q, w, body.inertia)
    e_out = 0.5 * body.mass * dot(v_out, v_out) + spin_energy(q, w_out, body.inertia)
    written = log_impact(
        log, t, add(x, load(c.spot, strongest)), load(c.normal, strongest), v, v_out, w, w_out,
        e_in, e_out, c.triangle[strongest], work.material[strongest],
    )  # fmt: skip
    written = written and log_hits(
        barriers, count, c.triangle, work.total, t, x, v, w, e_in, e_in - e_out, log
    )
    return v_out, w_out, True, written


@kernel
def _step_length(body, touching, w, dt, options):
    """Length of a step that does not rotate the rock too far."""
    h, angle, spin = dt, options.turn, norm(w)
    reach = body.radius - body.rounding
    if touching:
        h = min(h, options.dt_contact)
        # A corner at rest on the slope while the rock rotates by b comes nearer by reach b²/8.
        if reach > 0.0:
            angle = min(angle, sqrt(4.0 * body.distance / reach))
    return angle / spin if spin * h > angle else h


@kernel
def _fly(body, q, v, w, h, rate, options):
    """Free motion over a step, shortened until the rotational energy does not grow (5.1.2)."""
    mean, w_end, quiet = spin_step(q, w, body.inertia, options.angular_drag, h)
    for _ in range(HALVINGS):
        if quiet:
            break
        h *= SHRINK
        mean, w_end, quiet = spin_step(q, w, body.inertia, options.angular_drag, h)
    a = fall(v, options.gravity, rate, h)
    return Motion(h, v, a, mean, v, add(v, scale(a, h)), w_end, False)


@kernel
def _press(body, count, m, w, free, directions, work):
    """The same step with the forces of the contacts."""
    put_twist(free.v_end, free.w_end, m, body.gyration, work.z)
    if not press(count, w, body.rounding, m, body.gyration, free.h, directions, work):
        return free
    v, h = free.v, free.h
    v_end, w_end = take_twist(work.z, m, body.gyration)
    mean = scale(add(w, w_end), 0.5)
    if norm(sub(w_end, w)) * (body.radius - body.rounding) * h > body.distance:
        # With the mean spin belongs the mean velocity: corners at rest then stay there.
        middle = scale(add(v, v_end), 0.5)
        return Motion(h, middle, (0.0, 0.0, 0.0), mean, v, v_end, w_end, True)
    return Motion(h, v, scale(sub(v_end, v), 1.0 / h), mean, v, v_end, w_end, True)


@kernel
def _has_stopped(body, w, step, options):
    """Velocity stopping condition (5.2.2)."""
    v, speed, limit = step.v_start, options.stop_speed, options.stop_force * options.gravity
    return (
        step.pressed
        and is_still(v, w, body.radius, speed)
        and is_still(step.v_end, step.w_end, body.radius, speed)
        and is_balanced(v, w, step.v_end, step.w_end, body.radius, step.h, limit)
    )


@kernel
def _sweep(rocks, k, body, x, q, step, count, grid, work):
    """How long the step can go on, and the triangle that ends it (-1: none, -2: too many)."""
    threshold = body.distance
    for i in range(count):
        threshold = min(threshold, 0.5 * work.response.contacts.gap[i])
    drift = sub(place_at(x, step.v, step.a, step.h), x)
    bulge = 0.125 * step.h * step.h * norm(step.a)
    near = _find_near(grid, x, body.radius + body.skin + bulge, drift, work.found)
    if near <= 0:
        return step.h, -2 if near < 0 else -1
    s, event = sweep(
        rocks, k, Path(x, step.v, step.a, q, step.mean), step.h, threshold, grid, work.found,
        near, work.simplex,
    )  # fmt: skip
    return min(s, step.h), event


@kernel
def _velocities_after(body, step, w, m, q, s):
    """Velocity and spin after the first s seconds of a step, with the orientation q there."""
    if s >= step.h:
        return step.v_end, step.w_end
    v = add(step.v_start, scale(sub(step.v_end, step.v_start), s / step.h))
    if step.pressed:
        return v, add(w, scale(sub(step.w_end, w), s / step.h))
    end = rotation_matrix(q[0], q[1], q[2], q[3])
    return v, carry_spin(w, body.inertia, m, m, end, False)


@kernel
def _cross(body, barriers, panel, height, state, grid, log):
    """What a barrier does: the velocity after it, the outcome, and whether the log had space."""
    t, x, q, v, w = state
    energy = 0.5 * body.mass * dot(v, v)
    outcome, taken = panel_outcome(barriers, panel, height, energy)
    if is_over_ground(barriers, panel):
        below, ground = ground_below(grid, x[0], x[1], np.inf)
        height = x[2] - ground if below >= 0 else height
    total = energy + spin_energy(q, w, body.inertia)
    b = barrier_of(barriers, panel)
    written = log_crossing(log, t, b, x, v, w, height, total, taken, outcome)
    if taken > 0.0:
        v = scale(v, sqrt(max(1.0 - taken / energy, 0.0)))
    return v, outcome, written


@kernel
def roll_rock(
    # scene
    grid, surface, barriers, forest,
    # rock
    rocks, k, start, values, options,
    # scratch and out
    work, log,
):  # fmt: skip
    """Whole trajectory of rock `k`; DONE, or what has to be larger to do it again.

    start    (rocks, 13) position, orientation, velocity, spin
    values   (4, materials) restitution, friction, rolling and scarring for this rock
    Longer than a function should be: it is the list of the stages, and their state is all of it.
    """
    body, response = _body_of(rocks, k, options), work.response
    x = (start[k, 0], start[k, 1], start[k, 2])
    q = (start[k, 3], start[k, 4], start[k, 5], start[k, 6])
    v = (start[k, 7], start[k, 8], start[k, 9])
    w = (start[k, 10], start[k, 11], start[k, 12])
    arcs, impacts, crossings = log.used[0], log.used[1], log.used[2]
    t, dt, window, reason = 0.0, options.dt_flight, options.jitter_time, STEPS
    near, jumped, event, blocked = True, True, -1, 0
    crossed, crossed_at, scar, scar_end = -1, -1.0, 0.0, -1.0
    clear_boxes(work.boxes)
    note_sides(barriers, x, work.side)
    if not log_state(log, t, x, q, v, w):
        return LOG_FULL
    for _ in range(options.max_steps):
        m = rotation_matrix(q[0], q[1], q[2], q[3])
        below, ground = ground_below(grid, x[0], x[1], x[2])
        gone = outside(grid, x, below >= 0)
        if gone != NOT_YET or t >= options.max_time:
            reason = gone if gone != NOT_YET else TIME
            break
        count = 0
        if near:  # contacts
            count = _find_contacts(
                rocks, k, x, m, grid, body.skin, options.contacts, blocked, event, work
            )
            if count < 0:
                return FOUND_FULL
        if count > 0:  # collide
            old = x
            x = _step_away(rocks, k, body, x, q, count, blocked, grid, work)
            scar = prepare(count, x, m, body.gyration, surface, values, response)
            scar_end = t + options.scar_time
            v, w, changed, written = _collide(
                body, count, State(t, x, q, v, w), m, values[0], options.rest_speed, barriers, log,
                response,
            )  # fmt: skip
            if not written:
                return LOG_FULL
            jumped = jumped or changed or x != old
        # fly, or press
        h = _step_length(body, count > 0, w, min(dt, options.max_time - t), options)
        rate = drag_at(x[0], x[1], x[2] - ground, forest) / body.mass + body.air * norm(v)
        rate += scar if t < scar_end else 0.0
        step = _fly(body, q, v, w, h, rate, options)
        dt = min(dt * RECOVER, options.dt_flight) if step.h == h else step.h
        if count > 0:
            step = _press(body, count, m, w, step, options.friction_directions, response)
            jumped = jumped or step.v != v
            if _has_stopped(body, w, step, options):
                reason = VELOCITY
                break
        s, event = _sweep(rocks, k, body, x, q, step, count, grid, work)
        if event == -2:
            return FOUND_FULL
        spared = crossed if t - crossed_at < AGAIN else -1
        panel, s, height, plane, after = cross_barriers(
            barriers, work.side, x, step.v, step.a, s, body.radius, spared
        )
        follow_sides(barriers, work.side, x, step.v, step.a, s, body.radius, spared, plane, after)
        # move, log
        q_end = rotated(q, step.mean, s)
        v, w_end = _velocities_after(body, step, w, m, q_end, s)
        kind = CONTACT if step.pressed else FLIGHT
        if s > 0.0 and not log_arc(
            log, arcs, jumped, State(t, x, q, step.v, w), t + s, step.a, w_end,
            spin_energy(q, w, body.inertia), spin_energy(q_end, w_end, body.inertia), kind,
        ):  # fmt: skip
            return LOG_FULL
        blocked = blocked + 1 if s < PROGRESS * step.h else 0
        x, q, w, t = place_at(x, step.v, step.a, s), q_end, w_end, t + s
        if not log_state(log, t, x, q, v, w):
            return LOG_FULL
        near, jumped = step.pressed or event >= 0, jumped and s == 0.0
        if panel >= 0:  # cross
            state = State(t, x, q, v, w)
            v, outcome, written = _cross(body, barriers, panel, height, state, grid, log)
            near, jumped, crossed, crossed_at = True, True, barrier_of(barriers, panel), t
            if not written:
                return LOG_FULL
            if outcome == STOPPED:
                reason = BARRIER
                break
        if blocked > HOPELESS or not np.isfinite(dot(x, x) + dot(v, v) + dot(w, w)):
            reason = FAILED
            break
        grow_boxes(work.boxes, x, m, body.radius)
        if t >= window:
            if are_small(work.boxes, options.jitter_size * body.radius):
                reason = JITTER
                break
            clear_boxes(work.boxes)
            window = t + options.jitter_time
    log_end(
        log, k, t, x, q, reason, body.mass, log.used[0] - arcs, log.used[1] - impacts,
        log.used[2] - crossings,
    )  # fmt: skip
    return DONE
