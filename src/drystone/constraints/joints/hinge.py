"""Hinge (revolute joint): B rotates about one axis of A through one point (CLINE 4.4.1).

    p_B - p_A = 0                       three rows
    swing of x_B from x_A = 0           two rows: the forbidden axes of CLINE 4.9
    angle = twist of B about x          free

Symbols and Jacobians are those of row_blocks.py; x is the axis of the hinge. The angle is counted
over revolutions, so that limits and servos may lie anywhere: (-10, 400) degrees is a range like
any other. A body must rotate by less than half a revolution in a step for that.
"""

from dataclasses import dataclass, field
from math import sqrt

from drystone.constraints.joints.checks import (
    check_axis,
    check_free,
    fix_along,
    free_coordinate,
)
from drystone.constraints.joints.drives import Motor, Servo
from drystone.constraints.joints.joint import Flat, OneAngle
from drystone.constraints.joints.planar_2d import LEAN, write_flat_point
from drystone.constraints.joints.pose import place_joint
from drystone.constraints.joints.row_blocks import (
    LEAST_OPENING,
    count_revolutions,
    twist,
    write_axis,
    write_coordinate,
    write_point,
)
from drystone.errors import InputError
from drystone.jit import inner_kernel
from drystone.model.attachment import Attachment, check_bodies, check_point, is_flat
from drystone.model.joint_arrays import FLAT_HINGE, HINGE


@inner_kernel(no_cpython_wrapper=True)
def fill_hinge(joints, j, r, position, rotation, dt, rows):
    place = place_joint(joints, j, position, rotation)
    r = write_axis(place, write_point(place, r, rows), rows)
    angle, lin, a, b = twist(place)
    angle = count_revolutions(angle, rows.value[j, 0])
    write_coordinate(joints, j, 0, r, angle, lin, a, b, dt, rows)


@inner_kernel(no_cpython_wrapper=True)
def fill_flat_hinge(joints, j, r, position, rotation, dt, rows):
    """About y in two dimensions: x and z of p_B - p_A = 0, two rows."""
    place = place_joint(joints, j, position, rotation)
    r = write_flat_point(place, r, rows)
    angle, lin, a, b = twist(place)
    angle = count_revolutions(angle, rows.value[j, 0])
    write_coordinate(joints, j, 0, r, angle, lin, a, b, dt, rows)


@inner_kernel(inline="always")
def hinge_errors(c, up, side):
    """Errors of the rows that hold the axis, from x_B in A's axes; see position_error.py."""
    k = sqrt(2.0 / max(1.0 + c, LEAST_OPENING))
    return -k * side, k * up, 0.0


@dataclass(frozen=True, eq=False)
class Hinge(OneAngle):
    """Revolute joint: B rotates about `axis` through `point` of A.

    axis      may be left out in two dimensions, where it is y
    limits    (lower, upper) of the angle [rad], zero at creation; None for a side without limit
    motor     Motor or Servo
    friction  torque that resists rotation [N m]
    """

    a: object
    b: object
    point: tuple[float, float, float]
    axis: tuple[float, float, float] | None = None
    limits: tuple[float, float] | None = None
    motor: Motor | Servo | None = None
    friction: float = 0.0
    attachment: Attachment | None = field(default=None, kw_only=True, repr=False)

    _kind, _held_rows = HINGE, 5
    _measures, _angles = (twist,), (True,)
    _tree, _flat = (3, 2, 1), Flat(FLAT_HINGE, 2, (2, 0, 1))

    def __post_init__(self) -> None:
        check_bodies("Hinge", self.a, self.b)
        point, axis = check_point(self, "point"), self.axis
        if axis is None and is_flat(self):
            axis = (0.0, 1.0, 0.0)
        axis = check_axis("Hinge: axis", axis)
        check_free(self)
        fix_along(self, point, axis)

    def _check_flat(self) -> None:
        if max(abs(self.axis[0]), abs(self.axis[2])) > LEAN:
            raise InputError(f"Hinge: axis is {self.axis}, must be (0, ±1, 0) in two dimensions.")

    def _coordinates(self):
        return (free_coordinate(self),)
