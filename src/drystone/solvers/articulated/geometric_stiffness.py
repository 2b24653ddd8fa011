"""Geometric stiffness of joint forces [Andrews2017]: added inertia for light bodies.

A body of inertia I on which a joint pulls with the force F at the arm r oscillates with the square
of the angular frequency F r / I or more, and an explicit step is stable only while dt² F r / I is
small. Where it is not, dt² F r is added to the inertia of the body, as an implicit step would do
with the geometric stiffness F r: the body rotates more slowly, and stays where it is pulled.
"""

from math import sqrt

from drystone.jit import inner_kernel, kernel
from drystone.jit.vec import rotation_matrix, world_inertia

STABLE = 2.0  # dt² F r / I; a body between two joints becomes unstable from here on


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


@kernel
def _stiffness_ratio(j, side, joints, rows, inv_inertia, dt):
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
def has_added_inertia(first, last, joint_work):
    """Whether bodies of the blocks first .. last have added inertia: they do not move smoothly."""
    for d in range(first, last):
        for side in range(2):
            if joint_work.added_inertia[joint_work.node_body[joint_work.node_list[d], side]] > 0.0:
                return True
    return False


@inner_kernel
def is_stiff(first, last, joints, joint_work, inv_inertia, dt):
    """Whether joints of the blocks first .. last pull so hard that RATTLE would be unstable."""
    before = -1
    for d in range(first, last):
        j = joint_work.node_joint[joint_work.node_list[d]]
        if j == before:
            continue
        before = j
        for side in range(2):
            if _stiffness_ratio(j, side, joints, joint_work.rows, inv_inertia, dt) > STABLE:
                return True
    return False


@inner_kernel
def add_inertia(joints, joint_work, bodies, state, mass, dt):
    """Add to the inertia of bodies on which joints pull hard, as they did in the last step."""
    added, rows = joint_work.added_inertia, joint_work.rows
    for r in range(rows.impulse.shape[0]):
        rows.impulse[r] = state.joint_impulse[r]
    for b in range(added.shape[0]):
        added[b] = 0.0
    some = False
    for j in range(joints.kind.shape[0]):
        for side in range(2):
            if _stiffness_ratio(j, side, joints, rows, bodies.inv_inertia, dt) > STABLE:
                reach = max(
                    _arm(j, side, joints, 0), _arm(j, side, joints, 1), _arm(j, side, joints, 2)
                )
                added[joints.body[j, side]] += reach * _pull(j, joints, rows, dt)
                some = True
    if some:
        for b in range(bodies.kind.shape[0]):
            if added[b] > 0.0:
                _set_inertia(b, state.rotation, bodies.inertia, added[b], mass)
