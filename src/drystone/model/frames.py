"""Frames of a body: that in which the user gave its shape, and the principal frame inside.

The principal frame sits at the centre of mass c (given in the shape's frame) along the principal
axes, rotated by the quaternion t against the shape's axes:

    centre = position + R(orientation) c        rotation = orientation t

Positions inside are relative to the world's local origin, so that map coordinates cost no digits.
"""

from drystone.jit import kernel
from drystone.jit.vec import add, load, mul, quaternion_product, rotation_matrix, store, sub


@kernel
def to_inside(position, orientation, offset, principal, origin):
    """Centre of mass relative to `origin`, and rotation of the body's principal axes."""
    arm = mul(rotation_matrix(*orientation), offset)
    return add(sub(position, origin), arm), quaternion_product(orientation, principal)


@kernel
def to_outside(centre, rotation, offset, principal, origin):
    """Position and orientation of the shape's frame, as the user sees them."""
    back = (principal[0], -principal[1], -principal[2], -principal[3])
    orientation = quaternion_product(rotation, back)
    arm = mul(rotation_matrix(*orientation), offset)
    return add(sub(centre, arm), origin), orientation


@kernel
def fill_outside(
    # in
    centre, rotation, offset, principal, origin,
    # out
    position, orientation,
):  # fmt: skip
    """`to_outside` for all bodies."""
    for b in range(centre.shape[0]):
        q = (rotation[b, 0], rotation[b, 1], rotation[b, 2], rotation[b, 3])
        t = (principal[b, 0], principal[b, 1], principal[b, 2], principal[b, 3])
        p, q = to_outside(load(centre, b), q, load(offset, b), t, origin)
        store(position, b, p)
        for k in range(4):
            orientation[b, k] = q[k]


@kernel
def fill_inside(
    # in
    position, orientation, offset, principal, origin,
    # out
    centre, rotation,
):  # fmt: skip
    """`to_inside` for all bodies."""
    for b in range(position.shape[0]):
        q = (orientation[b, 0], orientation[b, 1], orientation[b, 2], orientation[b, 3])
        t = (principal[b, 0], principal[b, 1], principal[b, 2], principal[b, 3])
        c, q = to_inside(load(position, b), q, load(offset, b), t, origin)
        store(centre, b, c)
        for k in range(4):
            rotation[b, k] = q[k]
