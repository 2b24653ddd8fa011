"""Bounds on the relative motion of two surfaces within a step, by place and direction.

Seen from A, B moves like one rigid body: a point x of it by translation + rotation x x. What is in
front of a surface by more than it approaches, and a little, gives no speculative contact; nor what
recedes.
"""

from math import inf, sqrt

from drystone.collision.narrowphase.mesh.constants import ANGLE, ROTATION, SLACK, TRANSLATION
from drystone.jit import inner_kernel, kernel
from drystone.jit.vec import add, cross, dot, mul_t, pose_position, pose_rotation, scale, sub


@inner_kernel(forceinline=True)
def fall_of(swept, a, b):
    """How far gravity brings two shapes together [m]: once, as it pulls at both alike."""
    return max(swept[a, 11], swept[b, 11])


@inner_kernel
def set_motion(pose, swept, a, b, slack, query):
    """From here on only what the step may bring together counts, and what is nearer than `slack`.

    pose, swept  of all shapes, see arrays.Boxes
    """
    r = pose_rotation(pose, a)
    rotation_a = (swept[a, 4], swept[a, 5], swept[a, 6])
    rotation_b = (swept[b, 4], swept[b, 5], swept[b, 6])
    arm = sub(pose_position(pose, a), pose_position(pose, b))
    moved = sub((swept[b, 7], swept[b, 8], swept[b, 9]), (swept[a, 7], swept[a, 8], swept[a, 9]))
    moved = mul_t(r, add(moved, cross(rotation_b, arm)))
    rotation = mul_t(r, sub(rotation_b, rotation_a))
    query[TRANSLATION], query[TRANSLATION + 1], query[TRANSLATION + 2] = moved
    query[ROTATION], query[ROTATION + 1], query[ROTATION + 2] = rotation
    query[ANGLE] = sqrt(dot(rotation, rotation))
    query[SLACK] = slack + swept[a, 10] + swept[b, 10] + fall_of(swept, a, b)


@kernel(forceinline=True)
def _motion_of_b(query):
    """Translation [m] and rotation vector [rad] of B seen from A."""
    translation = (query[TRANSLATION], query[TRANSLATION + 1], query[TRANSLATION + 2])
    return translation, (query[ROTATION], query[ROTATION + 1], query[ROTATION + 2])


@inner_kernel
def relative_motions(query, r, t):
    """Motion of B seen from A and of A seen from B: translation, rotation vector, angle.

    Each in its own axes.

    r, t  pose of B in the axes of A
    """
    translation, rotation = _motion_of_b(query)
    back = mul_t(r, scale(add(translation, cross(rotation, t)), -1.0))
    rotation_back = mul_t(r, scale(rotation, -1.0))
    return (*translation, *rotation, query[ANGLE]), (*back, *rotation_back, query[ANGLE])


@inner_kernel(forceinline=True)
def approach_at(query, point, normal):
    """How near a point of B with this normal must be to one of A to count [m]."""
    if query[SLACK] == inf:
        return inf
    translation, rotation = _motion_of_b(query)
    return query[SLACK] + max(0.0, -dot(add(translation, cross(rotation, point)), normal))
