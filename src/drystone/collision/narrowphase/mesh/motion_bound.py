"""How far two surfaces come towards each other within a step, here and in this direction.

Seen from A, B moves like one rigid body: a point x of it by way + turn x x. What is in front of a
surface by more than it approaches, and a little, need not be looked at; nor what recedes.
"""

from math import inf, sqrt

from drystone.collision.narrowphase.mesh.constants import SLACK, TURN, TURN_SIZE, WAY
from drystone.jit import inner_kernel
from drystone.jit.vec import add, cross, dot, mul_t, pose_position, pose_rotation, scale, sub


@inner_kernel(forceinline=True)
def falls(way, a, b):
    """How far gravity brings two shapes together [m]: once, as it pulls at both alike."""
    return max(way[a, 11], way[b, 11])


@inner_kernel
def set_motion(pose, way, a, b, slack, level):
    """From here on only what the step may bring together counts, and what is nearer than `slack`.

    pose, way  of all shapes, see arrays.Boxes
    """
    r = pose_rotation(pose, a)
    turn_a = (way[a, 4], way[a, 5], way[a, 6])
    turn_b = (way[b, 4], way[b, 5], way[b, 6])
    arm = sub(pose_position(pose, a), pose_position(pose, b))
    moved = sub((way[b, 7], way[b, 8], way[b, 9]), (way[a, 7], way[a, 8], way[a, 9]))
    moved = mul_t(r, add(moved, cross(turn_b, arm)))
    turn = mul_t(r, sub(turn_b, turn_a))
    level[WAY], level[WAY + 1], level[WAY + 2] = moved
    level[TURN], level[TURN + 1], level[TURN + 2] = turn
    level[TURN_SIZE] = sqrt(dot(turn, turn))
    level[SLACK] = slack + way[a, 10] + way[b, 10] + falls(way, a, b)


@inner_kernel
def motions(level, r, t):
    """Motion of B seen from A and of A seen from B: way, turn, its size; each in its own axes.

    r, t  pose of B in the axes of A
    """
    way = (level[WAY], level[WAY + 1], level[WAY + 2])
    turn = (level[TURN], level[TURN + 1], level[TURN + 2])
    way_b = mul_t(r, scale(add(way, cross(turn, t)), -1.0))
    turn_b = mul_t(r, scale(turn, -1.0))
    return (*way, *turn, level[TURN_SIZE]), (*way_b, *turn_b, level[TURN_SIZE])


@inner_kernel(forceinline=True)
def comes_within(level, point, normal):
    """How near a point of B with this normal must be to one of A to count [m]."""
    if level[SLACK] == inf:
        return inf
    way = (level[WAY], level[WAY + 1], level[WAY + 2])
    turn = (level[TURN], level[TURN + 1], level[TURN + 2])
    return level[SLACK] + max(0.0, -dot(add(way, cross(turn, point)), normal))
