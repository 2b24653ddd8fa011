"""Fixed: B keeps its place and orientation in A.

    p_B - p_A = 0                       three rows
    2 v = 0, (q, v) B's turn in A       three rows

Symbols and Jacobians are those of row_blocks.py. The point is the centre of mass of B, or of A
where B is the fixed world, unless a person gives one: reading the torque about another point is the
only reason to.
"""

from dataclasses import dataclass, field

import numpy as np

from drystone.constraints.joints.joint import Joint
from drystone.constraints.joints.pose import place_joint
from drystone.constraints.joints.row_blocks import rotation_vector, write_orientation, write_point
from drystone.jit import inner_kernel
from drystone.jit.vec import norm
from drystone.model.attachment import Attachment, check_bodies, fix_to_bodies, point_or_centre
from drystone.model.joint_arrays import FIXED


@inner_kernel(no_cpython_wrapper=True)
def fill_fixed(joints, j, r, position, rotation, dt, rows):
    place = place_joint(joints, j, position, rotation)
    write_orientation(place, write_point(place, r, rows), rows)


@dataclass(frozen=True, eq=False)
class Fixed(Joint):
    """B moves as if it were one piece with A. `torque` is read about `point`."""

    a: object
    b: object
    point: tuple[float, float, float] | None = None
    attachment: Attachment | None = field(default=None, kw_only=True, repr=False)

    _kind, _held_rows = FIXED, 6

    def __post_init__(self) -> None:
        check_bodies("Fixed", self.a, self.b)
        point = point_or_centre(self)
        fix_to_bodies(self, point, point, np.eye(3), np.eye(3))

    @property
    def misalignment(self) -> float:
        """Angle by which B is turned against A since creation [rad]; zero but for drift."""
        return float(norm(rotation_vector(self._place().turn)))
