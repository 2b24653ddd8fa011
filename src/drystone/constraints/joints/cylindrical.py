"""Cylindrical joint: B moves along one axis of A and rotates about it.

    y_A.(p_B - p_A) = 0, z_A.(p_B - p_A) = 0        two rows
    swing of x_B from x_A = 0                       two rows
    position = x_A.(p_B - p_A)                      free
    angle = twist of B about x                      free

Symbols and Jacobians are those of row_blocks.py; x is the axis.
"""

from dataclasses import dataclass, field

from drystone.constraints.joints.checks import (
    check_axis,
    check_free,
    fix_along,
    free_coordinate,
)
from drystone.constraints.joints.drives import Motor, Servo
from drystone.constraints.joints.joint import AboutAxis, AlongAxis
from drystone.constraints.joints.pose import place_joint
from drystone.constraints.joints.row_blocks import (
    along_axis,
    count_revolutions,
    twist,
    write_across,
    write_axis,
    write_coordinate,
)
from drystone.jit import inner_kernel
from drystone.model.attachment import Attachment, check_bodies
from drystone.model.checks import vector
from drystone.model.joint_arrays import CYLINDRICAL


@inner_kernel(no_cpython_wrapper=True)
def fill_cylindrical(joints, j, r, position, rotation, dt, rows):
    place = place_joint(joints, j, position, rotation)
    r = write_across(place, place.z_a, write_across(place, place.y_a, r, rows), rows)
    r = write_axis(place, r, rows)
    value, lin, a, b = along_axis(place)
    r = write_coordinate(joints, j, 0, r, value, lin, a, b, dt, rows)
    angle, lin, a, b = twist(place)
    angle = count_revolutions(angle, rows.value[j, 1])
    write_coordinate(joints, j, 1, r, angle, lin, a, b, dt, rows)


@dataclass(frozen=True, eq=False)
class Cylindrical(AlongAxis, AboutAxis):
    """B moves along `axis` of A through `point`, and rotates about it.

    limits, limits_angle      (lower, upper) of position [m] and angle [rad], zero at creation
    motor, motor_angle        Motor or Servo along and about the axis
    friction, friction_angle  that resist sliding [N] and rotation [N m]
    """

    a: object
    b: object
    point: tuple[float, float, float]
    axis: tuple[float, float, float]
    limits: tuple[float, float] | None = None
    limits_angle: tuple[float, float] | None = None
    motor: Motor | Servo | None = None
    motor_angle: Motor | Servo | None = None
    friction: float = 0.0
    friction_angle: float = 0.0
    attachment: Attachment | None = field(default=None, kw_only=True, repr=False)

    _kind, _held_rows = CYLINDRICAL, 4
    _measures, _angles = (along_axis, twist), (False, True)

    def __post_init__(self) -> None:
        check_bodies("Cylindrical", self.a, self.b)
        point = vector("Cylindrical: point", self.point)
        axis = check_axis("Cylindrical: axis", self.axis)
        check_free(self, unit="m")
        check_free(self, "_angle")
        fix_along(self, point, axis)

    def _coordinates(self):
        return free_coordinate(self), free_coordinate(self, "_angle")
