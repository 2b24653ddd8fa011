"""What contacts do to the velocity: impacts first, then the forces of a step (ROCFALL 1.1.1).

Twist and rows are those of impact.py. A contact that approaches is colliding; then all contacts
are treated as an impact, again until none approaches, since friction may turn the rock back into
the slope. Contacts slower than the rest speed do not bounce.
"""

from typing import NamedTuple

import numpy as np

from drystone.jit import kernel
from drystone.jit.vec import add, cross, dot, load, mad, mul, mul_t, norm, scale, tangents
from drystone.rockfall.engine.contacts import Contacts
from drystone.rockfall.engine.impact import ImpactRoom, bounce_off, push, row_dot, row_speed, rub
from drystone.rockfall.engine.resting_contact import RestRoom, hold
from drystone.rockfall.terrain.materials import material_at

# Contacts slower than this do not collide [m/s]: in a step of 10 ms they move a nanometre.
COLLIDING = 1e-7

# Rounds of an impact; friction rarely asks for more than three. The last has neither bounce nor
# friction, after which nothing approaches.
ROUNDS = 20

# Tangential speed below which sliding has no direction [m/s].
STILL = 1e-12

# Parts of the stopping distance: a rock nearer than the first is moved away to the second.
TOO_NEAR, FAR_ENOUGH = 0.5, 0.75


class MeetRoom(NamedTuple):
    """Scratch for the contacts of one rock."""

    contacts: Contacts
    normal: np.ndarray  # (K, 6) rows
    slide: np.ndarray  # (K, 6)
    tangent: np.ndarray  # (2 K, 6)
    material: np.ndarray  # (K,) int64
    bounce: np.ndarray  # (K,)
    friction: np.ndarray  # (K,)
    target: np.ndarray  # (K,)
    impulse: np.ndarray  # (K,)
    total: np.ndarray  # (K,)
    rubbed: np.ndarray  # (K,)
    z: np.ndarray  # (6,)
    impact: ImpactRoom
    rest: RestRoom

    @classmethod
    def of(cls, contacts: int, directions: int) -> "MeetRoom":
        k = contacts
        return cls(
            Contacts.empty(), np.zeros((k, 6)), np.zeros((k, 6)), np.zeros((2 * k, 6)),
            np.zeros(k, dtype=np.int64), *np.zeros((6, k)), np.zeros(6),
            ImpactRoom.of(k), RestRoom.of(k, directions),
        )  # fmt: skip


@kernel
def _set_row(rows, i, d, spot, m, gyration):
    """Row of direction d at an arm from the centre of mass."""
    turn = mul_t(m, cross(spot, d))
    for k in range(3):
        rows[i, k] = d[k]
        rows[i, 3 + k] = turn[k] / gyration[k]


@kernel
def put_twist(v, w, m, gyration, z):
    b = mul_t(m, w)
    for k in range(3):
        z[k], z[3 + k] = v[k], gyration[k] * b[k]


@kernel
def take_twist(z, m, gyration):
    """Velocity and spin of the twist z."""
    b = (z[3] / gyration[0], z[4] / gyration[1], z[5] / gyration[2])
    return (z[0], z[1], z[2]), mul(m, b)


@kernel
def prepare(count, x, m, gyration, surface, friction, room):
    """Normal rows and materials of the contacts; `friction` (materials,) is that of this rock."""
    c = room.contacts
    for i in range(count):
        spot, n = load(c.spot, i), load(c.normal, i)
        _set_row(room.normal, i, n, spot, m, gyration)
        at = add(x, spot)
        room.material[i] = material_at(c.triangle[i], c.feature[i], at[0], at[1], surface)
        room.friction[i] = friction[room.material[i]]
        room.total[i] = 0.0


@kernel
def _slide_rows(count, m, gyration, room):
    """Rows against the sliding of each contact (eq. 3.57 to 3.59)."""
    v, w = take_twist(room.z, m, gyration)
    for i in range(count):
        spot, n = load(room.contacts.spot, i), load(room.contacts.normal, i)
        u = add(v, cross(w, spot))
        u = mad(u, n, -dot(u, n))
        speed = norm(u)
        d = scale(u, -1.0 / speed) if speed > STILL else (0.0, 0.0, 0.0)
        _set_row(room.slide, i, d, spot, m, gyration)


@kernel
def _stop_worst(count, room):
    """Stop the fastest contact alone: never wrong, if rounding spoiled the rest."""
    worst, least = 0, 0.0
    for i in range(count):
        room.impulse[i] = 0.0
        speed = row_speed(room.normal, i, room.z)
        if speed < least:
            worst, least = i, speed
    room.impulse[worst] = -least / row_dot(room.normal, worst, room.normal, worst)
    push(room.normal, worst, room.impulse[worst], room.z)


@kernel
def collide(count, m, gyration, bounce, rest_speed, room):
    """Impact of all contacts, room.z in and out; whether anything hit faster than the rest speed.

    room.total (count,) is the normal impulse per mass of each.
    """
    hit = False
    for turn in range(ROUNDS):
        least = 0.0
        for i in range(count):
            speed = row_speed(room.normal, i, room.z)
            least = min(least, speed)
            room.bounce[i] = bounce[room.material[i]] if abs(speed) > rest_speed else 0.0
            if turn == ROUNDS - 1:
                room.bounce[i] = 0.0
        if least >= -COLLIDING:
            break
        hit = hit or least < -rest_speed
        _slide_rows(count, m, gyration, room)
        if not bounce_off(count, room.normal, room.bounce, room.z, room.impulse, room.impact):
            _stop_worst(count, room)
        if turn < ROUNDS - 1:
            rub(count, room.slide, room.friction, room.impulse, room.z, room.rubbed, room.impact)
        for i in range(count):
            room.total[i] += room.impulse[i]
    return hit


@kernel
def way_out(count, distance, contacts):
    """How to move a rock that has come too near to the slope: zero if it has not.

    Steps of finite length bend the way of a corner: of a rock that rolls fast some thousandths of
    the stopping distance are lost in every step.
    """
    nearest = distance
    for i in range(count):
        nearest = min(nearest, contacts.gap[i])
    move = (0.0, 0.0, 0.0)
    if nearest >= TOO_NEAR * distance:
        return move
    for _ in range(4):
        for i in range(count):
            n = load(contacts.normal, i)
            move = mad(move, n, max(FAR_ENOUGH * distance - contacts.gap[i] - dot(n, move), 0.0))
    return move


@kernel
def press(count, w, rounding, m, gyration, h, directions, room):
    """Contact forces over a step, room.z from free to final twist; False if there are none.

    w   spin before the step: a corner of a turning rock is pulled to the axis, and its normal
        velocity changes by n.(w x (w x r)) a second without any force
    """
    needed = False
    for i in range(count):
        n = load(room.contacts.normal, i)
        corner = mad(load(room.contacts.spot, i), n, rounding)
        room.target[i] = -h * dot(n, cross(w, cross(w, corner)))
        if row_speed(room.normal, i, room.z) < room.target[i]:
            needed = True
    if not needed:
        return False
    v, spin = take_twist(room.z, m, gyration)
    for i in range(count):
        spot, n = load(room.contacts.spot, i), load(room.contacts.normal, i)
        u = add(v, cross(spin, spot))
        u = mad(u, n, -dot(u, n))
        speed = norm(u)
        t, _ = tangents(n)
        if speed > STILL:
            t = scale(u, 1.0 / speed)
        _set_row(room.tangent, 2 * i, t, spot, m, gyration)
        _set_row(room.tangent, 2 * i + 1, cross(n, t), spot, m, gyration)
    if not hold(
        count, room.normal, room.tangent, room.friction, room.target, directions, room.z,
        room.impulse, room.rest,
    ):  # fmt: skip
        # No solution on Lemke's path: an inelastic impact at the end of the step has one.
        _slide_rows(count, m, gyration, room)
        for i in range(count):
            room.bounce[i] = 0.0
        if not bounce_off(count, room.normal, room.bounce, room.z, room.impulse, room.impact):
            _stop_worst(count, room)
        rub(count, room.slide, room.friction, room.impulse, room.z, room.rubbed, room.impact)
    return True
