"""Joints that pull hard on light bodies: what keeps an explicit step from swinging them up.

A body of inertia I that is pulled with the force F at the arm r turns back and forth with the
square of the frequency F r / I or more, and a step follows that only while dt² F r / I is small.
Where it is not, dt² F r is added to the inertia of the body, as an implicit step would do with
the stiffness of the pull [Andrews2017]: the body turns more slowly, and stays where it is pulled.
"""

from math import sqrt

from drystone.jit import inner_kernel, kernel
from drystone.jit.vec import rotation_matrix, world_inertia

TAUT = 2.0  # dt² F r / I; a body between two joints swings up from here on


@kernel
def _pull(j, joints, rows, dt):
    """dt² F of joint `j` [kg m], from the impulses that stand in rows."""
    x, y, z = 0.0, 0.0, 0.0
    for r in range(joints.row_first[j], joints.row_first[j + 1]):
        x += rows.impulse[r] * rows.linear[r, 0]
        y += rows.impulse[r] * rows.linear[r, 1]
        z += rows.impulse[r] * rows.linear[r, 2]
    return dt * sqrt(x * x + y * y + z * z)


@kernel
def _arm(j, side, joints, axis):
    """How far the point of the joint lies from that principal axis of the body [m]."""
    total = 0.0
    for k in range(3):
        if k != axis:
            total += joints.anchor[j, 3 * side + k] ** 2
    return sqrt(total)


@inner_kernel
def tautness(j, side, joints, rows, inv_inertia, dt):
    """dt² F r / I of joint `j` on one of its bodies, about the axis for which it is largest."""
    b, worst = joints.body[j, side], 0.0
    if b < inv_inertia.shape[0]:
        for axis in range(3):
            worst = max(worst, inv_inertia[b, axis] * _arm(j, side, joints, axis))
    return worst * _pull(j, joints, rows, dt)


@kernel
def _set_inertia(b, q, inertia, extra, mass):
    """World inverse inertia of body `b`, with `extra` added to its moments."""
    m = rotation_matrix(q[b, 0], q[b, 1], q[b, 2], q[b, 3])
    x, y = 1.0 / (inertia[b, 0] + extra), 1.0 / (inertia[b, 1] + extra)
    z = 1.0 / (inertia[b, 2] + extra)
    tensor = world_inertia(m, x, y, z)
    for k in range(6):
        mass[b, 1 + k] = tensor[k]


@inner_kernel
def has_stiff(first, last, joint_work):
    """Whether bodies of the blocks first .. last are stiffened, for which no motion is smooth."""
    for d in range(first, last):
        for side in range(2):
            if joint_work.stiff[joint_work.node_body[joint_work.node_list[d], side]] > 0.0:
                return True
    return False


@inner_kernel
def stiffen_bodies(joints, joint_work, bodies, state, mass, dt):
    """Add to the inertia of bodies on which joints pull hard, as they did in the last step."""
    stiff, rows = joint_work.stiff, joint_work.rows
    for r in range(rows.impulse.shape[0]):
        rows.impulse[r] = state.joint_impulse[r]
    for b in range(stiff.shape[0]):
        stiff[b] = 0.0
    taut = False
    for j in range(joints.kind.shape[0]):
        for side in range(2):
            if tautness(j, side, joints, rows, bodies.inv_inertia, dt) > TAUT:
                reach = max(
                    _arm(j, side, joints, 0), _arm(j, side, joints, 1), _arm(j, side, joints, 2)
                )
                stiff[joints.body[j, side]] += reach * _pull(j, joints, rows, dt)
                taut = True
    if taut:
        for b in range(bodies.kind.shape[0]):
            if stiff[b] > 0.0:
                _set_inertia(b, state.rotation, bodies.inertia, stiff[b], mass)
