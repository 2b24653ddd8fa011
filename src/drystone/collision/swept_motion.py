"""How far bodies move within a step, and from which motion on they are followed (ccd.py)."""

from math import sqrt

from drystone.collision.broadphase import place_on
from drystone.jit import inner_kernel, kernel
from drystone.jit.vec import turn_quaternion
from drystone.model.arrays import CAPSULE, FIXED, SPHERE

# Pairs are followed when they may move by more than this share of the thinner one's half thickness.
FAST = 0.5
# How deep a pair may come before it is stopped, as a share of that thickness: pairs that the step
# knew nothing of, and pairs with contacts, which are kept apart by these but may roll and pivot.
DEEP_UNSEEN, DEEP = 0.01, 0.25
# Where not all contacts act, settings.ccd is FREE and the latter less: spheres that graze each
# other pass without ever being deep. Advances are as much shorter, so it is not less than this.
FREE, DEEP_FREE = 2, 0.05
MOST_STEPS = 200  # of a pair; one that takes more is stopped where it is


@kernel
def _turning_radius(s, shapes):
    """How far [m] the surface reaches from the body's centre, less what turning does not move."""
    x, y, z = shapes.local[s, 0], shapes.local[s, 1], shapes.local[s, 2]
    if shapes.kind[s] == SPHERE:
        core = 0.0
    else:
        core = shapes.size[s, 1] if shapes.kind[s] == CAPSULE else shapes.radius[s]
    return sqrt(x * x + y * y + z * z) + core


@inner_kernel
def span_of(body, s, shapes, motion, fraction, dt):
    """Translation of a shape's body in this step, and how far turning moves its surface [m]."""
    if body == FIXED:
        return 0.0, 0.0, 0.0, 0.0
    way, move = fraction[body] * dt, motion.move
    turn = sqrt(move[body, 3] ** 2 + move[body, 4] ** 2 + move[body, 5] ** 2)
    turn *= way * _turning_radius(s, shapes)
    return way * move[body, 0], way * move[body, 1], way * move[body, 2], turn


@inner_kernel
def place_at(share, s, shapes, state, motion, fraction, dt, pose, row):
    """Row of `pose`: shape `s` after this share of the step's motion."""
    b = shapes.body[s]
    if b == FIXED:
        for k in range(12):
            pose[row, k] = shapes.local[s, k]
        return
    way, at, q, move = share * fraction[b] * dt, state.position, state.rotation, motion.move
    turned = turn_quaternion(
        (q[b, 0], q[b, 1], q[b, 2], q[b, 3]),
        (way * move[b, 3], way * move[b, 4], way * move[b, 5]),
    )
    x = (at[b, 0] + way * move[b, 0], at[b, 1] + way * move[b, 1], at[b, 2] + way * move[b, 2])
    place_on(s, shapes.local, x, turned, pose, row)
