"""From the frame in which a person gave a shape to the frame of its body inside, and back.

A body's own frame sits at its centre of mass c (given in the shape's frame) with principal
axes, turned by the quaternion t against the shape's axes:

    centre = position + R(orientation) c        rotation = orientation t

Positions inside are relative to the world's local origin, so that map coordinates cost no digits.
"""

from drystone.jit import kernel
from drystone.jit.vec import add, load, mul, quaternion_product, rotation_matrix, store, sub


@kernel
def to_inside(position, orientation, offset, turn, origin):
    """Centre of mass relative to `origin`, and rotation of the body's principal axes."""
    arm = mul(rotation_matrix(*orientation), offset)
    return add(sub(position, origin), arm), quaternion_product(orientation, turn)


@kernel
def to_outside(centre, rotation, offset, turn, origin):
    """Position and orientation of the shape's frame, as a person sees them."""
    back = (turn[0], -turn[1], -turn[2], -turn[3])
    orientation = quaternion_product(rotation, back)
    arm = mul(rotation_matrix(*orientation), offset)
    return add(sub(centre, arm), origin), orientation


@kernel
def fill_outside(
    # in
    centre, rotation, offset, turn, origin,
    # out
    position, orientation,
):  # fmt: skip
    """`to_outside` for all bodies."""
    for b in range(centre.shape[0]):
        q = (rotation[b, 0], rotation[b, 1], rotation[b, 2], rotation[b, 3])
        t = (turn[b, 0], turn[b, 1], turn[b, 2], turn[b, 3])
        p, q = to_outside(load(centre, b), q, load(offset, b), t, origin)
        store(position, b, p)
        for k in range(4):
            orientation[b, k] = q[k]


@kernel
def fill_inside(
    # in
    position, orientation, offset, turn, origin,
    # out
    centre, rotation,
):  # fmt: skip
    """`to_inside` for all bodies."""
    for b in range(position.shape[0]):
        q = (orientation[b, 0], orientation[b, 1], orientation[b, 2], orientation[b, 3])
        t = (turn[b, 0], turn[b, 1], turn[b, 2], turn[b, 3])
        c, q = to_inside(load(position, b), q, load(offset, b), t, origin)
        store(centre, b, c)
        for k in range(4):
            rotation[b, k] = q[k]
