"""Gear: two bodies that rotate about axes of their own do so at a fixed ratio.

The axes are carried by the line between their centres, d = p_B - p_A, and angles are measured
against it: of A about x_A from d, of B about x_B from -d. So what holds the two axes may move, as
the carrier of a planetary gear does, and is no part of the joint:

    phi_A = -atan2(d.z_A, d.y_A)       g_A = x_A x d / r_A²,  h_A = d x g_A,  r_A what of d is
                                       square to x_A
    phi_B = -atan2(-d.z_B, -d.y_B)     g_B = -x_B x d / r_B²,  h_B = -d x g_B
    R (phi_A - ratio phi_B) = 0        one row, R the pitch radius of A: an arc [m]
       of phi_A: l = -g_A, a = -arm_A x g_A - h_A, b = -arm_B x g_A
       of phi_B: l = g_B,  a = arm_A x g_B,        b = arm_B x g_B + h_B

The rates are exact at every pose. With parallel axes l is the force between teeth: it acts along
the pitch circles, and no momentum is made.

number: ratio, R.
"""

from dataclasses import dataclass, field
from math import atan2

import numpy as np

from drystone.constraints.joints.checks import check_axis, set_fields
from drystone.constraints.joints.joint import TwoAngles
from drystone.constraints.joints.pose import place_joint
from drystone.constraints.joints.row_blocks import NOWHERE, count_revolutions, write_row
from drystone.errors import InputError
from drystone.jit import inner_kernel, kernel
from drystone.jit.vec import add, cross, dot, scale, sub
from drystone.model.attachment import Attachment, axes_along, check_bodies, fix_to_bodies
from drystone.model.attachment import set_points as check_points
from drystone.model.checks import number, shown
from drystone.model.joint_arrays import GEAR, ROW_EQUALITY

# Least part of the line of centres that is square to an axis: 0.6 degrees. Nearer the axis there is
# no direction from which an angle could be measured.
LEAST_SINE = 1e-2


@kernel
def angle_to_line(x, y, z, d):
    """Angle about `x` against the line `d`, and its rate: phi, g, h of the text above."""
    across, up = dot(d, y), dot(d, z)
    square = across * across + up * up
    if square == 0.0:
        return 0.0, NOWHERE, x
    g = scale(cross(x, d), 1.0 / square)
    return -atan2(up, across), g, cross(d, g)


@kernel
def angle_a(place):
    """phi_A: value, l, a, b."""
    angle, g, h = angle_to_line(place.x_a, place.y_a, place.z_a, place.apart)
    lin = scale(g, -1.0)
    return angle, lin, scale(add(cross(place.arm_a, g), h), -1.0), cross(place.arm_b, lin)


@kernel
def angle_b(place):
    """phi_B: value, l, a, b."""
    back = scale(place.apart, -1.0)
    angle, g, h = angle_to_line(place.x_b, place.y_b, place.z_b, back)
    return angle, g, cross(place.arm_a, g), add(cross(place.arm_b, g), h)


@inner_kernel(no_cpython_wrapper=True)
def fill_gear(joints, j, r, position, rotation, dt, rows):
    place = place_joint(joints, j, position, rotation)
    ratio, radius = joints.number[j, 0], joints.number[j, 1]
    angle, l_a, a_a, b_a = angle_a(place)
    first = count_revolutions(angle, rows.value[j, 0])
    angle, l_b, a_b, b_b = angle_b(place)
    second = count_revolutions(angle, rows.value[j, 1])
    rows.value[j, 0], rows.value[j, 1] = first, second
    write_row(
        rows, r, scale(sub(l_a, scale(l_b, ratio)), radius),
        scale(sub(a_a, scale(a_b, ratio)), radius), scale(sub(b_a, scale(b_b, ratio)), radius),
        radius * (first - ratio * second), ROW_EQUALITY,
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Gear(TwoAngles):
    """A rotates about `axis_a` `ratio` times as fast as B about `axis_b`.

    point_a, point_b   centres of the gears; what holds them there are joints of their own, as Hinge
    axis_a, axis_b     of any directions, but not along the line between the centres
    ratio              negative for outer teeth on parallel axes: -teeth of B / teeth of A

    Angles and speeds are measured against the line between the centres, so that the axes may sit on
    something that moves. One of the two may be the fixed world, as a ring gear is.
    """

    a: object
    b: object
    point_a: tuple[float, float, float]
    axis_a: tuple[float, float, float]
    point_b: tuple[float, float, float]
    axis_b: tuple[float, float, float]
    ratio: float
    attachment: Attachment | None = field(default=None, kw_only=True, repr=False)

    _kind, _held_rows = GEAR, 1
    _measures, _angles = (angle_a, angle_b), (True, True)

    def __post_init__(self) -> None:
        check_bodies("Gear", self.a, self.b)
        apart = check_points(self)
        line = np.subtract(self.point_b, self.point_a)
        for name in ("axis_a", "axis_b"):
            axis = check_axis(f"Gear: {name}", getattr(self, name))
            if not np.linalg.norm(np.cross(axis, line)) > LEAST_SINE * apart:
                raise InputError(
                    f"Gear: {name} {axis} is along the line from point_a {self.point_a} to "
                    f"point_b {self.point_b}, must be across it; for shafts in line use Coupling."
                )
            set_fields(self, **{name: axis})
        ratio = number("Gear: ratio", self.ratio)
        if not 1e-6 <= abs(ratio) <= 1e6:
            raise InputError(f"Gear: ratio is {shown(self.ratio)}, must be 1e-6 to 1e6, or minus.")
        set_fields(self, ratio=ratio)
        fix_to_bodies(
            self, self.point_a, self.point_b,
            axes_along(self.axis_a, line), axes_along(self.axis_b, -line),
        )  # fmt: skip

    def _numbers(self):
        return self.ratio, self._pitch_radius()

    def _pitch_radius(self) -> float:
        """Of A [m]: that of B is the ratio times as large, and both add up to the distance."""
        distance = float(np.linalg.norm(np.subtract(self.point_b, self.point_a)))
        return distance / (1.0 + abs(self.ratio))

    @property
    def separation(self) -> float:
        """Error on the pitch circles [m]; zero but for drift."""
        return self._pitch_radius() * abs(self.angle_a - self.ratio * self.angle_b)
