"""Poses of the two frames of a joint: the quantities that its constraints are written in.

    p_A, p_B     the joint's point as fixed to A and to B; both are `point` at creation
    arm_a, arm_b from the centres of mass to p_A, p_B
    apart        p_B - p_A
    x_a, y_a, z_a    axes of the joint as fixed to A; x is the axis that the user gave
    x_b, y_b, z_b    the same as fixed to B
    rotation     quaternion of B's axes in A's axes, (w, x, y, z)

The axes of A and B coincide at creation, so that errors are zero there whatever the orientations
of the bodies are (CLINE 4.4.1, the second method), but for universal joints and off-centre cones.
"""

from typing import NamedTuple

from drystone.jit import inner_kernel, kernel
from drystone.jit.vec import add, load, mul, quaternion_product, rotation_matrix, sub


class Place(NamedTuple):
    arm_a: tuple
    arm_b: tuple
    apart: tuple
    x_a: tuple
    y_a: tuple
    z_a: tuple
    x_b: tuple
    y_b: tuple
    z_b: tuple
    rotation: tuple


@kernel
def place_between(
    anchor_a, anchor_b, frame_a, frame_b, position_a, rotation_a, position_b, rotation_b
):
    """Place of a joint: anchors and axes in the frames of its bodies, and the poses of these."""
    arm_a = mul(rotation_matrix(*rotation_a), anchor_a)
    arm_b = mul(rotation_matrix(*rotation_b), anchor_b)
    q_a, q_b = quaternion_product(rotation_a, frame_a), quaternion_product(rotation_b, frame_b)
    m_a, m_b = rotation_matrix(*q_a), rotation_matrix(*q_b)
    return Place(
        arm_a,
        arm_b,
        # The difference of the centres first: it is exact where the arms are small beside them.
        sub(add(sub(position_b, position_a), arm_b), arm_a),
        (m_a[0], m_a[3], m_a[6]),
        (m_a[1], m_a[4], m_a[7]),
        (m_a[2], m_a[5], m_a[8]),
        (m_b[0], m_b[3], m_b[6]),
        (m_b[1], m_b[4], m_b[7]),
        (m_b[2], m_b[5], m_b[8]),
        quaternion_product((q_a[0], -q_a[1], -q_a[2], -q_a[3]), q_b),
    )


@kernel
def _pose(position, rotation, b):
    """Pose of body `b`; beyond the last row is the fixed world."""
    if b >= position.shape[0]:
        return (0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0)
    q = (rotation[b, 0], rotation[b, 1], rotation[b, 2], rotation[b, 3])
    return load(position, b), q


@inner_kernel(no_cpython_wrapper=True)
def place_joint(joints, j, position, rotation):
    """Place of joint `j`."""
    anchor, frame = joints.anchor, joints.frame
    position_a, rotation_a = _pose(position, rotation, joints.body[j, 0])
    position_b, rotation_b = _pose(position, rotation, joints.body[j, 1])
    return place_between(
        (anchor[j, 0], anchor[j, 1], anchor[j, 2]),
        (anchor[j, 3], anchor[j, 4], anchor[j, 5]),
        (frame[j, 0], frame[j, 1], frame[j, 2], frame[j, 3]),
        (frame[j, 4], frame[j, 5], frame[j, 6], frame[j, 7]),
        position_a, rotation_a, position_b, rotation_b,
    )  # fmt: skip
