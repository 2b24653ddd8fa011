"""One rock from its start to its end, all compiled: READ FIRST.

Each pass of the loop in `roll_rock` is one time step of ROCFALL 1.1:

    outside?      the box and the triangles of the slope (5.2.1)
    touch         contacts of the pose, if something is near
    collide       impacts, until no contact approaches (3.3)
    press         forces of the contacts over the step, or free flight (3.2, 2.3)
    sweep         how much of the step is possible before something new is near (1.4)
    cross         barriers on the way of the centre of mass (4.2)
    move, log     and the conditions that look at the motion (5.2.2 to 5.2.4)
"""

from math import inf, sqrt
from typing import NamedTuple

import numpy as np

from drystone.integrate import carry_spin
from drystone.jit import kernel
from drystone.rockfall.ccd import sweep
from drystone.rockfall.distance import piece_distance
from drystone.rockfall.fence import cross_panels
from drystone.rockfall.flight import (
    RECOVER,
    SHRINK,
    fall,
    place_at,
    spin_energy,
    turn_step,
    turned,
)
from drystone.rockfall.forest import drag_at
from drystone.rockfall.grid import find_triangles, ground_below
from drystone.rockfall.logbook import log_arc, log_crossing, log_end, log_impact
from drystone.rockfall.meet import MeetRoom, collide, prepare, press, put_twist, step_away, take_twist
from drystone.rockfall.records import (
    BARRIER,
    CONTACT,
    FAILED,
    FLIGHT,
    JITTER,
    OVERTOPPED,
    PASSED,
    STEPS,
    STOPPED,
    TIME,
    VELOCITY,
)
from drystone.rockfall.stops import (
    NOT_YET,
    are_small,
    clear_boxes,
    grow_boxes,
    is_balanced,
    is_still,
    outside,
)
from drystone.rockfall.touch import add_contact, find_contacts, thin_out
from drystone.vec import add, dot, load, mul, mul_t, norm, rotation_matrix, scale, sub

DONE, LOG_FULL, FOUND_FULL = range(3)

# Steps in a row without progress after which the closest direction is a contact, come what may,
# and after which the rock counts as failed.
STUCK, HOPELESS = 20, 2000

# Share of a step below which there was no progress.
PROGRESS = 1e-6


class Room(NamedTuple):
    """Scratch of one trajectory."""

    meet: MeetRoom
    found: np.ndarray  # (F,) int32 triangles near the rock
    simplex: np.ndarray  # (8, 4)
    boxes: np.ndarray  # (6, 3)

    @classmethod
    def of(cls, contacts: int, directions: int, found: int) -> "Room":
        return cls(
            MeetRoom.of(contacts, directions), np.zeros(found, dtype=np.int32),
            np.zeros((8, 4)), np.zeros((6, 3)),
        )  # fmt: skip


@kernel
def _energy(mass, inertia, v, q, w):
    return 0.5 * mass * dot(v, v) + spin_energy(q, w, inertia)


@kernel
def _find_near(grid, x, reach, drift, found):
    """Triangles near the way from x along `drift`, within `reach` of it."""
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
def _force_contact(rocks, k, x, m, grid, t, skin, count, room):
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
            (0.0, 0.0, 1.0), room.simplex,
        )  # fmt: skip
        if 0.0 < d and d - rounding <= skin:
            arm = mul(m, add(spot, scale(n, d - rounding)))
            count = add_contact(
                grid, room.meet.contacts, count, skin, arm, mul(m, n), d - rounding, t, 0
            )
    return count


@kernel
def _touch(rocks, k, x, m, grid, skin, most, blocked, event, room):
    """Contacts of the pose; -1 if there were too many triangles for the scratch."""
    near = _find_near(grid, x, rocks.body[k, 4] + skin, (0.0, 0.0, 0.0), room.found)
    if near < 0:
        return -1
    c = room.meet.contacts
    count = find_contacts(rocks, k, x, m, grid, room.found, near, skin, c, room.simplex)
    if blocked > STUCK or (count == 0 and event >= 0):
        count = _force_contact(rocks, k, x, m, grid, event, skin, count, room)
    return thin_out(c, count, most)


@kernel
def _collide(count, t, x, q, v, w, m, mass, inertia, gyration, bounce, rest_speed, log, meet):
    """Impact of the contacts: velocity and spin after it, whether it changed them, room in log."""
    put_twist(v, w, m, gyration, meet.z)
    hit = collide(count, m, gyration, bounce, rest_speed, meet)
    strongest = 0
    for i in range(1, count):
        if meet.total[i] > meet.total[strongest]:
            strongest = i
    if meet.total[strongest] == 0.0:
        return v, w, False, True
    v_out, w_out = take_twist(meet.z, m, gyration)
    if not hit:
        return v_out, w_out, True, True
    c = meet.contacts
    e_in, e_out = _energy(mass, inertia, v, q, w), _energy(mass, inertia, v_out, q, w_out)
    written = log_impact(
        log, t, add(x, load(c.spot, strongest)), load(c.normal, strongest), v, v_out, w, w_out,
        e_in, e_out, c.triangle[strongest], meet.material[strongest],
    )  # fmt: skip
    return v_out, w_out, True, written


@kernel
def _cross(barriers, panel, height, t, x, v, w, mass, spin_part, log):
    """What a barrier does: the velocity after it, the outcome, and whether the log had room."""
    energy = 0.5 * mass * dot(v, v)
    b = barriers.barrier[panel]
    outcome, taken = PASSED, min(energy, barriers.capacity[b])
    if height > barriers.height[panel]:
        outcome, taken = OVERTOPPED, 0.0
    elif taken >= energy:
        outcome = STOPPED
    written = log_crossing(log, t, b, x, v, w, height, energy + spin_part, taken, outcome)
    left = sqrt(max(1.0 - taken / energy, 0.0)) if energy > 0.0 else 0.0
    return (scale(v, left) if outcome != OVERTOPPED else v), outcome, written


@kernel
def roll_rock(
    # scene
    grid, surface, barriers, forest,
    # rock
    rocks, k, start, bounce, friction, options,
    # scratch and out
    room, log,
):  # fmt: skip
    """Whole trajectory of rock `k`; DONE, or what has to be larger to do it again.

    start              (rocks, 13) position, orientation, velocity, spin
    bounce, friction   (materials,) values of this rock
    """
    mass, radius, rounding = rocks.body[k, 0], rocks.body[k, 4], rocks.body[k, 5]
    inertia = (rocks.body[k, 1], rocks.body[k, 2], rocks.body[k, 3])
    gyration = (sqrt(inertia[0] / mass), sqrt(inertia[1] / mass), sqrt(inertia[2] / mass))
    skin, distance = options.skin * radius, options.distance * radius
    x = (start[k, 0], start[k, 1], start[k, 2])
    q = (start[k, 3], start[k, 4], start[k, 5], start[k, 6])
    v = (start[k, 7], start[k, 8], start[k, 9])
    w = (start[k, 10], start[k, 11], start[k, 12])
    arcs, impacts, crossings = log.used[0], log.used[1], log.used[2]
    meet = room.meet
    t, dt, reason = 0.0, options.dt_flight, STEPS
    near, jumped, event, blocked, panel_before = True, True, -1, 0, -1
    # A corner at rest on the slope while the rock turns by b comes nearer by radius b²/8 half-way.
    reach = radius - rounding
    turn_contact = sqrt(4.0 * distance / reach) if reach > 0.0 else options.turn
    window = options.jitter_time
    clear_boxes(room.boxes)
    for _ in range(options.max_steps):
        m = rotation_matrix(q[0], q[1], q[2], q[3])
        below, ground = ground_below(grid, x[0], x[1], x[2])
        gone = outside(grid, x, below >= 0)
        if gone != NOT_YET:
            reason = gone
            break
        if t >= options.max_time:
            reason = TIME
            break
        # touch, collide
        count = 0
        if near:
            count = _touch(
                rocks, k, x, m, grid, skin, options.contacts, blocked, event, room
            )
            if count < 0:
                return FOUND_FULL
        if count > 0:
            move = step_away(count, distance, meet.contacts)
            if move[0] != 0.0 or move[1] != 0.0 or move[2] != 0.0:
                x = add(x, move)
                jumped = True
            prepare(count, x, m, gyration, surface, bounce, friction, meet)
            v, w, changed, written = _collide(
                count, t, x, q, v, w, m, mass, inertia, gyration, bounce, options.rest_speed,
                log, meet,
            )  # fmt: skip
            if not written:
                return LOG_FULL
            jumped = jumped or changed
        # press, or fly
        spin = norm(w)
        h, turn = min(dt, options.max_time - t), options.turn
        if count > 0:
            h, turn = min(h, options.dt_contact), min(turn, turn_contact)
        if spin * h > turn:
            h = turn / spin
        rate = drag_at(x[0], x[1], x[2] - ground, forest) / mass
        mean, w_end, quiet = turn_step(q, w, inertia, options.angular_drag, h)
        if not quiet:
            dt *= SHRINK
        else:
            dt = min(dt * RECOVER, options.dt_flight)
        a = fall(v, options.gravity, rate, h)
        v_end = add(v, scale(a, h))
        pressed, v_start = False, v
        threshold = distance
        if count > 0:
            put_twist(v_end, w_end, m, gyration, meet.z)
            pressed = press(
                count, w, rounding, m, gyration, h, options.friction_directions, meet
            )
            for i in range(count):
                threshold = min(threshold, 0.5 * meet.contacts.gap[i])
            if pressed:
                v_end, w_end = take_twist(meet.z, m, gyration)
                a = scale(sub(v_end, v), 1.0 / h)
                mean = scale(add(w, w_end), 0.5)
                if (
                    is_still(v, w, radius, options.stop_speed)
                    and is_still(v_end, w_end, radius, options.stop_speed)
                    and is_balanced(
                        v, w, v_end, w_end, radius, h, options.stop_force * options.gravity
                    )
                ):
                    reason = VELOCITY
                    break
                # With the mean spin belongs the mean velocity: corners at rest then stay there.
                if norm(sub(w_end, w)) * reach * h > distance:
                    v, a = scale(add(v, v_end), 0.5), (0.0, 0.0, 0.0)
                    jumped = True
        # sweep
        drift = sub(place_at(x, v, a, h), x)
        bulge = 0.125 * h * h * norm(a)
        near_count = _find_near(grid, x, radius + skin + bulge, drift, room.found)
        if near_count < 0:
            return FOUND_FULL
        s, event = inf, -1
        if near_count > 0:
            s, event = sweep(
                rocks, k, x, v, a, q, mean, h, threshold, grid, room.found, near_count,
                room.simplex,
            )  # fmt: skip
        s = min(s, h)
        # cross
        panel, cut, height = cross_panels(barriers.foot_a, barriers.foot_b, panel_before, x, v, a, s)
        if panel >= 0:
            s = cut
        # move, log
        kind = CONTACT if pressed else FLIGHT
        if s > 0.0 and not log_arc(log, arcs, jumped, t, t + s, x, v, a, w, kind):
            return LOG_FULL
        blocked = blocked + 1 if s < PROGRESS * h else 0
        jumped = jumped and s == 0.0
        x = place_at(x, v, a, s)
        p = turned(q, mean, s)
        if s < h:
            share = s / h
            v = add(v, scale(a, s))
            if pressed:
                v, w = add(v_start, scale(sub(v_end, v_start), share)), add(w, scale(sub(w_end, w), share))
            else:
                w = carry_spin(w, inertia, m, rotation_matrix(p[0], p[1], p[2], p[3]))
        else:
            v, w = v_end, w_end
        q = p
        t += s
        near = pressed or event >= 0
        panel_before = panel
        if panel >= 0:
            v, outcome, written = _cross(
                barriers, panel, height, t, x, v, w, mass, spin_energy(q, w, inertia), log
            )
            if not written:
                return LOG_FULL
            jumped = True
            near = True
            if outcome == STOPPED:
                reason = BARRIER
                break
        if blocked > HOPELESS or not np.isfinite(x[0] + x[1] + x[2] + v[2] + w[0] + w[1] + w[2]):
            reason = FAILED
            break
        # jitter
        grow_boxes(room.boxes, x, m, radius)
        if t >= window:
            if are_small(room.boxes, options.jitter_size * radius):
                reason = JITTER
                break
            clear_boxes(room.boxes)
            window = t + options.jitter_time
    log_end(
        log, k, t, x, q, reason, mass, log.used[0] - arcs, log.used[1] - impacts,
        log.used[2] - crossings,
    )  # fmt: skip
    return DONE


@kernel
def roll_rocks(
    grid, surface, barriers, forest, rocks, start, bounce, friction, options, room, log, first, last
):
    """Rocks first to last, one after the other; the first not done (last if all are), and why."""
    for k in range(first, last):
        arcs, impacts, crossings = log.used[0], log.used[1], log.used[2]
        status = roll_rock(
            grid, surface, barriers, forest, rocks, k, start, bounce[k], friction[k], options, room,
            log,
        )  # fmt: skip
        if status != DONE:
            log.used[0], log.used[1], log.used[2] = arcs, impacts, crossings
            return k, status
    return last, DONE
