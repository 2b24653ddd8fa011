"""What the rows that hold a joint together miss, without their Jacobians: for looking ahead.

The same numbers as `error` of the rows in ball.py, hinge.py, universal.py, fixed.py and
planar_2d.py. With the quaternion (q, x, y, z) of B in A's axes, the axis x_B is (1 - 2 (y² + z²), 2
(x y + q z), 2 (x z - q y)) there.
"""

from math import atan2, sqrt

from drystone.constraints.joints.row_blocks import LEAST_OPENING
from drystone.jit import inner_kernel, kernel
from drystone.jit.vec import mul, quaternion_product, rotation_matrix
from drystone.model.joint_arrays import FIXED, FLAT_FIXED, HINGE, UNIVERSAL


@kernel(inline="always")
def _quaternion(array, i, o):
    return array[i, o], array[i, o + 1], array[i, o + 2], array[i, o + 3]


@inner_kernel(inline="always")
def missed_point(joints, j, position, rotation):
    """p_B - p_A of joint `j`; `position` and `rotation` have a row for the fixed world."""
    a, b, anchor = joints.body[j, 0], joints.body[j, 1], joints.anchor
    q, p = _quaternion(rotation, a, 0), _quaternion(rotation, b, 0)
    arm_a = mul(rotation_matrix(*q), (anchor[j, 0], anchor[j, 1], anchor[j, 2]))
    arm_b = mul(rotation_matrix(*p), (anchor[j, 3], anchor[j, 4], anchor[j, 5]))
    return (
        position[b, 0] - position[a, 0] + arm_b[0] - arm_a[0],
        position[b, 1] - position[a, 1] + arm_b[1] - arm_a[1],
        position[b, 2] - position[a, 2] + arm_b[2] - arm_a[2],
    )


@inner_kernel(inline="always")
def missed_turn(joints, j, rotation):
    """Errors of the rows of joint `j` that hold directions, in their order; zero for no row."""
    kind = joints.kind[j]
    q_a = quaternion_product(
        _quaternion(rotation, joints.body[j, 0], 0), _quaternion(joints.frame, j, 0)
    )
    q_b = quaternion_product(
        _quaternion(rotation, joints.body[j, 1], 0), _quaternion(joints.frame, j, 4)
    )
    q, x, y, z = quaternion_product((q_a[0], -q_a[1], -q_a[2], -q_a[3]), q_b)
    c, up, side = 1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y + q * z), 2.0 * (x * z - q * y)
    if kind == HINGE:
        k = sqrt(2.0 / max(1.0 + c, LEAST_OPENING))
        return -k * side, k * up, 0.0
    if kind == UNIVERSAL:
        return atan2(sqrt(up * up + side * side), c) - joints.number[j, 0], 0.0, 0.0
    sign = 1.0 if q >= 0.0 else -1.0
    if kind == FIXED:
        return 2.0 * sign * x, 2.0 * sign * y, 2.0 * sign * z
    if kind == FLAT_FIXED:
        m = rotation_matrix(*q_a)
        lean = m[3] * x + m[4] * y + m[5] * z
        return 2.0 * atan2(sign * lean, sign * q), 0.0, 0.0
    return 0.0, 0.0, 0.0
