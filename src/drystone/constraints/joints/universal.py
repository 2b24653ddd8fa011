"""Universal joint: two axes that cross, one fixed to A, one to B, keep their angle (CLINE 4.4.1).

    p_B - p_A = 0                            three rows
    beta - beta_0 = 0                        one row, beta the angle between x_A and x_B:
                                             a = b = n = x_A x x_B / |x_A x x_B|, CLINE's third axis
    angle_a  of the cross about x_A          free: a = b = (x_A - c x_B) / s²
    angle_b  of B against the cross          free: a = b = (x_B - c x_A) / s²

x_A is axis_a as fixed to A, x_B is axis_b as fixed to B, c = x_A.x_B, s² = 1 - c². B rotated by
angle_b about axis_b and then, with axis_b, by angle_a about axis_a is where B is in A (CLINE 4.10
with the third angle zero). The axes need not be square to each other; where drift makes them
parallel, n is y_A and the angles take their own axes.

y_A is what of axis_b is square to axis_a, y_B what of axis_a is square to axis_b, at creation.
number: beta_0.
"""

from dataclasses import dataclass, field
from math import atan2, sqrt

import numpy as np

from drystone.constraints.joints.checks import check_axis, check_free, free_coordinate
from drystone.constraints.joints.drives import Motor, Servo
from drystone.constraints.joints.joint import TwoAngles
from drystone.constraints.joints.pose import place_joint
from drystone.constraints.joints.row_blocks import (
    NOWHERE,
    count_revolutions,
    write_coordinate,
    write_point,
    write_row,
)
from drystone.errors import InputError
from drystone.jit import inner_kernel, kernel
from drystone.jit.vec import cross, dot, mad, norm, scale
from drystone.model.attachment import Attachment, axes_along, check_bodies, fix_to_bodies
from drystone.model.checks import vector
from drystone.model.joint_arrays import ROW_EQUALITY, UNIVERSAL

# Least sine between the axes that has a direction [1]: 0.06 degrees. The angles' rows are at
# most 1000 times longer than usual there.
LEAST_SINE = 1e-3


@kernel
def angle_of_cross(place):
    """angle_a in (-pi, pi]: value, l, a, b."""
    angle = atan2(dot(place.z_a, place.x_b), dot(place.y_a, place.x_b))
    axis = _square_part(place.x_a, place.x_b)
    return angle, NOWHERE, axis, axis


@kernel
def angle_on_cross(place):
    """angle_b in (-pi, pi]: value, l, a, b."""
    angle = -atan2(dot(place.z_b, place.x_a), dot(place.y_b, place.x_a))
    axis = _square_part(place.x_b, place.x_a)
    return angle, NOWHERE, axis, axis


@kernel
def _square_part(x, other):
    """(x - c other) / s², or x where the two are parallel."""
    c = dot(x, other)
    s = norm(cross(x, other))
    return scale(mad(x, other, -c), 1.0 / (s * s)) if s > LEAST_SINE else x


@inner_kernel(no_cpython_wrapper=True)
def fill_universal(joints, j, r, position, rotation, dt, rows):
    place = place_joint(joints, j, position, rotation)
    r = write_point(place, r, rows)
    lean = cross(place.x_a, place.x_b)
    s, c = norm(lean), dot(place.x_a, place.x_b)
    n = scale(lean, 1.0 / s) if s > LEAST_SINE else place.y_a
    write_row(rows, r, NOWHERE, n, n, atan2(s, c) - joints.number[j, 0], ROW_EQUALITY)
    r += 1
    angle, lin, a, b = angle_of_cross(place)
    angle = count_revolutions(angle, rows.value[j, 0])
    r = write_coordinate(joints, j, 0, r, angle, lin, a, b, dt, rows)
    angle, lin, a, b = angle_on_cross(place)
    angle = count_revolutions(angle, rows.value[j, 1])
    write_coordinate(joints, j, 1, r, angle, lin, a, b, dt, rows)


@inner_kernel(inline="always")
def universal_errors(c, up, side, right):
    """Error of the row that holds the angle, from x_B in A's axes; see position_error.py."""
    return atan2(sqrt(up * up + side * side), c) - right, 0.0, 0.0


@dataclass(frozen=True, eq=False)
class Universal(TwoAngles):
    """B rotates about two axes through `point`: axis_a of A, and axis_b of its own.

    limits_a, limits_b      (lower, upper) of the angles about them [rad], zero at creation
    motor_a, motor_b        Motor or Servo
    friction_a, friction_b  torques that resist rotation [N m]
    """

    a: object
    b: object
    point: tuple[float, float, float]
    axis_a: tuple[float, float, float]
    axis_b: tuple[float, float, float]
    limits_a: tuple[float, float] | None = None
    limits_b: tuple[float, float] | None = None
    motor_a: Motor | Servo | None = None
    motor_b: Motor | Servo | None = None
    friction_a: float = 0.0
    friction_b: float = 0.0
    attachment: Attachment | None = field(default=None, kw_only=True, repr=False)

    _kind, _held_rows = UNIVERSAL, 4
    _measures, _angles = (angle_of_cross, angle_on_cross), (True, True)
    _tree = (3, 1, 2)

    def __post_init__(self) -> None:
        check_bodies("Universal", self.a, self.b)
        point = vector("Universal: point", self.point)
        object.__setattr__(self, "point", point)
        for name in ("axis_a", "axis_b"):
            object.__setattr__(self, name, check_axis(f"Universal: {name}", getattr(self, name)))
        x, y = self.axis_a, self.axis_b
        # Ten degrees: nearer axes leave one axis of rotation to the smallest of errors.
        if np.linalg.norm(np.cross(x, y)) < 0.17:
            raise InputError(
                f"Universal: axis_a {x} and axis_b {y} are within 10 degrees of each other, must "
                f"cross; for one axis use Hinge."
            )
        check_free(self, "_a")
        check_free(self, "_b")
        fix_to_bodies(self, point, point, axes_along(x, y), axes_along(y, x))

    def _numbers(self):
        sine = np.linalg.norm(np.cross(self.axis_a, self.axis_b))
        return (float(np.arctan2(sine, np.dot(self.axis_a, self.axis_b))),)

    def _coordinates(self):
        return free_coordinate(self, "_a"), free_coordinate(self, "_b")
