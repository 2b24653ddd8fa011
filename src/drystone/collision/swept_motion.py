"""Swept motion of bodies within a step, and the thresholds of continuous collision detection."""

from math import sqrt

from drystone.collision.broadphase import place_on
from drystone.jit import inner_kernel, kernel
from drystone.jit.vec import rotate_quaternion
from drystone.model.arrays import CAPSULE, FIXED, SPHERE

# CCD is for pairs that may move by more than this share of the thinner one's half thickness.
FAST = 0.5
# How deep a pair may come before it is stopped, as a share of that thickness: pairs without
# contacts in this step, and pairs with, which are held apart by these but may roll and pivot.
DEEP_UNSEEN, DEEP = 0.01, 0.25
# Where not all contacts act, settings.ccd is FREE and the latter less: spheres that graze each
# other pass without ever being deep. Advances are as much shorter, so it is not less than this.
FREE, DEEP_FREE = 2, 0.05
MAX_ADVANCES = 200  # of a pair; one that takes more is stopped where it is


@kernel
def _rotation_radius(s, shapes):
    """How far [m] the surface reaches from the body's centre, less what rotation does not move."""
    x, y, z = shapes.local[s, 0], shapes.local[s, 1], shapes.local[s, 2]
    if shapes.kind[s] == SPHERE:
        core = 0.0
    else:
        core = shapes.size[s, 1] if shapes.kind[s] == CAPSULE else shapes.radius[s]
    return sqrt(x * x + y * y + z * z) + core


@inner_kernel
def span_of(body, s, shapes, motion, fraction, dt):
    """Translation of a shape's body in this step, and how far rotation moves its surface [m]."""
    if body == FIXED:
        return 0.0, 0.0, 0.0, 0.0
    time, move = fraction[body] * dt, motion.move
    swing = sqrt(move[body, 3] ** 2 + move[body, 4] ** 2 + move[body, 5] ** 2)
    swing *= time * _rotation_radius(s, shapes)
    return time * move[body, 0], time * move[body, 1], time * move[body, 2], swing


@inner_kernel
def place_at(share, s, shapes, state, motion, fraction, dt, pose, row):
    """Row of `pose`: shape `s` after this share of the step's motion."""
    b = shapes.body[s]
    if b == FIXED:
        for k in range(12):
            pose[row, k] = shapes.local[s, k]
        return
    time, at, q, move = share * fraction[b] * dt, state.position, state.rotation, motion.move
    rotated = rotate_quaternion(
        (q[b, 0], q[b, 1], q[b, 2], q[b, 3]),
        (time * move[b, 3], time * move[b, 4], time * move[b, 5]),
    )
    x = (at[b, 0] + time * move[b, 0], at[b, 1] + time * move[b, 1], at[b, 2] + time * move[b, 2])
    place_on(s, shapes.local, x, rotated, pose, row)
