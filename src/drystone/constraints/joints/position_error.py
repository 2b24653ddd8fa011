"""Position errors of joints without their Jacobians, for the iterations of RATTLE on trees.

The same numbers as `error` of the rows in ball.py, hinge.py, universal.py and fixed.py. With the
quaternion (q, x, y, z) of B in A's axes, the axis x_B is (1 - 2 (y² + z²), 2 (x y + q z),
2 (x z - q y)) there. The errors of the rows that hold directions are found by direction_errors() of
fill_rows.py.
"""

from drystone.jit import inner_kernel, kernel
from drystone.jit.vec import mul, quaternion_product, rotation_matrix


@kernel(inline="always")
def _quaternion(array, i, o):
    return array[i, o], array[i, o + 1], array[i, o + 2], array[i, o + 3]


@inner_kernel(inline="always")
def point_error(joints, j, position, rotation):
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
def joint_quaternions(joints, j, rotation):
    """Quaternions of joint `j`: of A's axes in the world, of B's axes in A's axes."""
    q_a = quaternion_product(
        _quaternion(rotation, joints.body[j, 0], 0), _quaternion(joints.frame, j, 0)
    )
    q_b = quaternion_product(
        _quaternion(rotation, joints.body[j, 1], 0), _quaternion(joints.frame, j, 4)
    )
    return q_a, quaternion_product((q_a[0], -q_a[1], -q_a[2], -q_a[3]), q_b)
