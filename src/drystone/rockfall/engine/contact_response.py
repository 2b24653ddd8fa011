"""Contact response: impacts first, then the contact forces of a step (ROCFALL 1.1.1).

Twist and rows are those of impact.py. A contact that approaches is colliding; then all contacts
are treated as an impact, again until none approaches, since friction may drive the rock back into
the slope. Contacts slower than the rest speed do not bounce.
"""

from typing import NamedTuple

import numpy as np

from drystone.jit import kernel
from drystone.jit.vec import add, cross, dot, load, mad, mul, mul_t, norm, scale, tangents
from drystone.rockfall.engine.contacts import Contacts
from drystone.rockfall.engine.impact import (
    ImpactWorkspace,
    apply_friction,
    bounce_off,
    push,
    row_dot,
    row_speed,
)
from drystone.rockfall.engine.resting_contact import RestingWorkspace, hold
from drystone.rockfall.terrain.materials import material_at

# Contacts slower than this do not collide [m/s]: in a step of 10 ms they move a nanometre.
COLLIDING = 1e-7

# Of an impact; friction rarely asks for more than three. The last has neither restitution nor
# friction, after which nothing approaches.
MAX_ITERATIONS = 20

# Tangential speed below which sliding has no direction [m/s].
STILL = 1e-12

# Parts of the stopping distance: a rock nearer than the first is moved away to the second.
TOO_NEAR, FAR_ENOUGH = 0.5, 0.75


class ResponseWorkspace(NamedTuple):
    """Scratch arrays for the contacts of one rock."""

    contacts: Contacts
    normal: np.ndarray  # (K, 6) rows
    slide: np.ndarray  # (K, 6)
    tangent: np.ndarray  # (2 K, 6)
    material: np.ndarray  # (K,) int64
    bounce: np.ndarray  # (K,)
    friction: np.ndarray  # (K,)
    rolling: np.ndarray  # (K,)
    target: np.ndarray  # (K,)
    impulse: np.ndarray  # (K,)
    total: np.ndarray  # (K,)
    rubbed: np.ndarray  # (K,)
    z: np.ndarray  # (6,)
    free: np.ndarray  # (6,) the twist before the contact forces
    brake: np.ndarray  # (6,) what the resistance against rolling adds to it
    impact: ImpactWorkspace
    rest: RestingWorkspace

    @classmethod
    def of(cls, contacts: int, directions: int) -> "ResponseWorkspace":
        k = contacts
        return cls(
            Contacts.empty(), np.zeros((k, 6)), np.zeros((k, 6)), np.zeros((2 * k, 6)),
            np.zeros(k, dtype=np.int64), *np.zeros((7, k)), *np.zeros((3, 6)),
            ImpactWorkspace.of(k), RestingWorkspace.of(k, directions),
        )  # fmt: skip


@kernel
def _set_row(rows, i, d, spot, m, gyration):
    """Row of direction d at an arm from the centre of mass."""
    lever = mul_t(m, cross(spot, d))
    for k in range(3):
        rows[i, k] = d[k]
        rows[i, 3 + k] = lever[k] / gyration[k]


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
def prepare(count, x, m, gyration, surface, values, work):
    """Normal rows and materials of the contacts; the largest scarring drag of these [1/s].

    values   (4, materials) restitution, friction, rolling, scarring of this rock
    """
    c, scar = work.contacts, 0.0
    for i in range(count):
        spot, n = load(c.spot, i), load(c.normal, i)
        _set_row(work.normal, i, n, spot, m, gyration)
        at = add(x, spot)
        work.material[i] = material_at(c.triangle[i], c.feature[i], at[0], at[1], surface)
        work.friction[i] = values[1, work.material[i]]
        work.rolling[i] = values[2, work.material[i]]
        scar = max(scar, values[3, work.material[i]])
        work.total[i] = 0.0
    return scar


@kernel
def _slide_rows(count, m, gyration, work):
    """Rows against the sliding of each contact (eq. 3.57 to 3.59)."""
    v, w = take_twist(work.z, m, gyration)
    for i in range(count):
        spot, n = load(work.contacts.spot, i), load(work.contacts.normal, i)
        u = add(v, cross(w, spot))
        u = mad(u, n, -dot(u, n))
        speed = norm(u)
        d = scale(u, -1.0 / speed) if speed > STILL else (0.0, 0.0, 0.0)
        _set_row(work.slide, i, d, spot, m, gyration)


@kernel
def _stop_worst(count, work):
    """Stop the fastest contact alone: never wrong, if rounding spoiled the rest."""
    worst, least = 0, 0.0
    for i in range(count):
        work.impulse[i] = 0.0
        speed = row_speed(work.normal, i, work.z)
        if speed < least:
            worst, least = i, speed
    work.impulse[worst] = -least / row_dot(work.normal, worst, work.normal, worst)
    push(work.normal, worst, work.impulse[worst], work.z)


@kernel
def collide(count, m, gyration, bounce, rest_speed, work):
    """Impact of all contacts, work.z in and out; whether anything hit faster than the rest speed.

    work.total (count,) is the normal impulse per mass of each.
    """
    hit = False
    for iteration in range(MAX_ITERATIONS):
        least = 0.0
        for i in range(count):
            speed = row_speed(work.normal, i, work.z)
            least = min(least, speed)
            work.bounce[i] = bounce[work.material[i]] if abs(speed) > rest_speed else 0.0
            if iteration == MAX_ITERATIONS - 1:
                work.bounce[i] = 0.0
        if least >= -COLLIDING:
            break
        hit = hit or least < -rest_speed
        _slide_rows(count, m, gyration, work)
        if not bounce_off(count, work.normal, work.bounce, work.z, work.impulse, work.impact):
            _stop_worst(count, work)
        if iteration < MAX_ITERATIONS - 1:
            apply_friction(
                count, work.slide, work.friction, work.impulse, work.z, work.rubbed, work.impact
            )
        for i in range(count):
            work.total[i] += work.impulse[i]
    return hit


@kernel
def separate(count, distance, contacts):
    """How to move a rock that has come too near to the slope: zero if it has not.

    Steps of finite length bend the path of a corner: of a rock that rolls fast some thousandths of
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
def _solve_step(count, m, gyration, directions, work):
    """Contact forces of a step, work.z from free to final twist; rows and targets are there."""
    if not hold(
        count, work.normal, work.tangent, work.friction, work.target, directions, work.z,
        work.impulse, work.rest,
    ):  # fmt: skip
        # No solution on Lemke's path: an inelastic impact at the end of the step has one.
        _slide_rows(count, m, gyration, work)
        for i in range(count):
            work.bounce[i] = 0.0
        if not bounce_off(count, work.normal, work.bounce, work.z, work.impulse, work.impact):
            _stop_worst(count, work)
        apply_friction(
            count, work.slide, work.friction, work.impulse, work.z, work.rubbed, work.impact
        )


@kernel
def _spin_about(work, i, w):
    """What of the spin w is rolling at contact i: all but that about its normal."""
    n = load(work.contacts.normal, i)
    return mad(w, n, -dot(w, n))


@kernel
def _set_brake(count, m, gyration, w, work):
    """work.brake: what the moments against rolling do to the twist of a rock of spin w.

    At each contact the moment is its rolling resistance times its normal force and its distance
    from the centre of mass, against the rolling there; whether there is any.
    """
    moment = (0.0, 0.0, 0.0)
    for i in range(count):
        u = _spin_about(work, i, w)
        speed = norm(u)
        if work.rolling[i] > 0.0 and work.impulse[i] > 0.0 and speed > STILL:
            arm = norm(load(work.contacts.spot, i))
            moment = mad(moment, u, -work.rolling[i] * work.impulse[i] * arm / speed)
    b = mul_t(m, moment)
    for k in range(3):
        work.brake[k], work.brake[3 + k] = 0.0, b[k] / gyration[k]
    return dot(moment, moment) > 0.0


@kernel
def _resist_rolling(count, m, gyration, directions, work):
    """Contact forces of a step with the moments against rolling.

    They are found without these moments first, for the normal forces; then again with them, so
    that a rock that rolls goes on without sliding. A moment that would reverse the rolling is cut
    down to what ends it: a rock comes to rest, and stays there on a slope that is flat enough.
    """
    resists = False
    for i in range(count):
        resists = resists or work.rolling[i] > 0.0
    if not resists:
        _solve_step(count, m, gyration, directions, work)
        return
    for k in range(6):
        work.free[k] = work.z[k]
    _solve_step(count, m, gyration, directions, work)
    _, before = take_twist(work.z, m, gyration)
    if not _set_brake(count, m, gyration, before, work):
        return
    strongest, share = 0, 1.0
    for i in range(1, count):
        if work.impulse[i] > work.impulse[strongest]:
            strongest = i
    before = _spin_about(work, strongest, before)
    for _ in range(2):
        for k in range(6):
            work.z[k] = work.free[k] + share * work.brake[k]
        _solve_step(count, m, gyration, directions, work)
        _, after = take_twist(work.z, m, gyration)
        most, least = dot(before, before), dot(before, after)
        if least >= 0.0 or share < 1.0:
            return
        share = most / (most - least)


@kernel
def press(count, w, rounding, m, gyration, h, directions, work):
    """Contact forces over a step, work.z from free to final twist; False if there are none.

    w   spin before the step: a corner of a spinning rock is pulled to the axis, and its normal
        velocity changes by n.(w x (w x r)) a second without any force
    """
    needed = False
    for i in range(count):
        n = load(work.contacts.normal, i)
        corner = mad(load(work.contacts.spot, i), n, rounding)
        work.target[i] = -h * dot(n, cross(w, cross(w, corner)))
        if row_speed(work.normal, i, work.z) < work.target[i]:
            needed = True
    if not needed:
        return False
    v, spin = take_twist(work.z, m, gyration)
    for i in range(count):
        spot, n = load(work.contacts.spot, i), load(work.contacts.normal, i)
        u = add(v, cross(spin, spot))
        u = mad(u, n, -dot(u, n))
        speed = norm(u)
        t, _ = tangents(n)
        if speed > STILL:
            t = scale(u, 1.0 / speed)
        _set_row(work.tangent, 2 * i, t, spot, m, gyration)
        _set_row(work.tangent, 2 * i + 1, cross(n, t), spot, m, gyration)
    _resist_rolling(count, m, gyration, directions, work)
    return True
