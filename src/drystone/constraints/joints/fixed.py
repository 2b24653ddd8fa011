"""Fixed (weld): B keeps its position and orientation in A.

    p_B - p_A = 0                       three rows
    2 v = 0, (q, v) B's rotation in A       three rows

Symbols and Jacobians are those of row_blocks.py. The point is the centre of mass of B, or of A
where B is the fixed world, unless the user gives one: reading the torque about another point is the
only reason to.
"""

from dataclasses import dataclass, field
from math import atan2

import numpy as np

from drystone.constraints.joints.joint import Flat, Joint
from drystone.constraints.joints.planar_2d import write_flat_angle, write_flat_point
from drystone.constraints.joints.pose import place_joint
from drystone.constraints.joints.row_blocks import rotation_vector, write_orientation, write_point
from drystone.jit import inner_kernel
from drystone.jit.vec import norm, rotation_matrix
from drystone.model.attachment import Attachment, check_bodies, fix_to_bodies, point_or_centre
from drystone.model.joint_arrays import FIXED, FLAT_FIXED


@inner_kernel(no_cpython_wrapper=True)
def fill_fixed(joints, j, r, position, rotation, dt, rows):
    place = place_joint(joints, j, position, rotation)
    write_orientation(place, write_point(place, r, rows), rows)


@inner_kernel(no_cpython_wrapper=True)
def fill_flat_fixed(joints, j, r, position, rotation, dt, rows):
    """In two dimensions: x and z of p_B - p_A = 0, angle = 0; three rows."""
    place = place_joint(joints, j, position, rotation)
    write_flat_angle(place, write_flat_point(place, r, rows), rows)


@inner_kernel(inline="always")
def fixed_errors(q):
    """Errors of the rows that hold the orientation, from the quaternion of B in A's axes."""
    sign = 1.0 if q[0] >= 0.0 else -1.0
    return 2.0 * sign * q[1], 2.0 * sign * q[2], 2.0 * sign * q[3]


@inner_kernel(inline="always")
def flat_fixed_errors(q, q_a):
    """The same in two dimensions, where the axes of A are given by the quaternion q_a."""
    sign, m = 1.0 if q[0] >= 0.0 else -1.0, rotation_matrix(q_a[0], q_a[1], q_a[2], q_a[3])
    lean = m[3] * q[1] + m[4] * q[2] + m[5] * q[3]
    return 2.0 * atan2(sign * lean, sign * q[0]), 0.0, 0.0


@dataclass(frozen=True, eq=False)
class Fixed(Joint):
    """B moves as if it were one piece with A. `torque` is read about `point`."""

    a: object
    b: object
    point: tuple[float, float, float] | None = None
    attachment: Attachment | None = field(default=None, kw_only=True, repr=False)

    _kind, _held_rows = FIXED, 6
    _tree, _flat = (3, 3, 0), Flat(FLAT_FIXED, 3, (2, 1, 0))

    def __post_init__(self) -> None:
        check_bodies("Fixed", self.a, self.b)
        point = point_or_centre(self)
        fix_to_bodies(self, point, point, np.eye(3), np.eye(3))

    @property
    def misalignment(self) -> float:
        """Angle by which B is rotated against A since creation [rad]; zero but for drift."""
        return float(norm(rotation_vector(self._place().rotation)))
