"""Rack: a pinion B moves along a rack A as it rotates; with the direction along its axis, a screw.

    theta = twist of B about x relative to A        as in hinge.py: a = b = (x_A + x_B) / (1 + c)
    s = t.(p_B - p_A)                               t, the direction, is fixed to A
    s - radius theta = 0                            one row

The rack does not rotate against what carries the pinion, so that its own axes stand for those of
the carrier. Symbols and Jacobians are those of row_blocks.py; x is the axis of the pinion.

number: radius [m], then t in the axes of the joint on A.
"""

from dataclasses import dataclass, field

import numpy as np

from drystone.constraints.joints.checks import check_axis, fix_along, set_fields
from drystone.constraints.joints.joint import OneAngle, coordinate_rate, twist_of
from drystone.constraints.joints.pose import place_joint
from drystone.constraints.joints.row_blocks import (
    along,
    count_revolutions,
    in_world,
    twist,
    write_row,
)
from drystone.errors import InputError
from drystone.jit import inner_kernel
from drystone.jit.vec import scale, sub
from drystone.model.attachment import Attachment, axes_along, check_bodies, check_point
from drystone.model.checks import number, shown
from drystone.model.joint_arrays import RACK, ROW_EQUALITY


@inner_kernel(no_cpython_wrapper=True)
def fill_rack(joints, j, r, position, rotation, dt, rows):
    place, radius = place_joint(joints, j, position, rotation), joints.number[j, 0]
    direction = (joints.number[j, 1], joints.number[j, 2], joints.number[j, 3])
    angle, _, a_turn, b_turn = twist(place)
    angle = count_revolutions(angle, rows.value[j, 0])
    shift, lin, a, b = along(place, in_world(place, direction))
    rows.value[j, 0], rows.value[j, 1] = angle, shift
    write_row(
        rows, r, lin, sub(a, scale(a_turn, radius)), sub(b, scale(b_turn, radius)),
        shift - radius * angle, ROW_EQUALITY,
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Rack(OneAngle):
    """The pinion B moves along `direction` of the rack A by `radius` times its angle about `axis`.

    point   on the axis of the pinion; joints of their own hold rack and pinion where they are
    radius  [m] a radian; negative for the other side of the rack

    With the direction along the axis it is a screw, whose radius is its lead / 2 pi.
    """

    a: object
    b: object
    point: tuple[float, float, float]
    axis: tuple[float, float, float]
    direction: tuple[float, float, float]
    radius: float
    attachment: Attachment | None = field(default=None, kw_only=True, repr=False)

    _kind, _held_rows = RACK, 1
    _measures, _angles = (twist,), (True,)

    def __post_init__(self) -> None:
        check_bodies("Rack", self.a, self.b)
        point = check_point(self, "point")
        axis = check_axis("Rack: axis", self.axis)
        radius = number("Rack: radius", self.radius)
        if not 1e-9 <= abs(radius) <= 1e6:
            raise InputError(
                f"Rack: radius is {shown(self.radius)} m, must be 1e-9 to 1e6, or minus."
            )
        set_fields(self, radius=radius, direction=check_axis("Rack: direction", self.direction))
        fix_along(self, point, axis)

    def _numbers(self):
        return (self.radius, *(axes_along(self.axis).T @ np.array(self.direction)).tolist())

    @property
    def position(self) -> float:
        """Displacement of the pinion along the direction since creation [m]."""
        return self._shift()[0]

    @property
    def position_speed(self) -> float:
        """Rate of the position [m/s]."""
        _, lin, on_a, on_b = self._shift()
        return coordinate_rate(lin, on_a, on_b, *(twist_of(body) for body in self.bodies))

    @property
    def separation(self) -> float:
        """How far the position is from radius times angle [m]; zero but for drift."""
        return abs(self.position - self.radius * self.angle)

    def _shift(self):
        place = self._place()
        axes = np.column_stack([place.x_a, place.y_a, place.z_a])
        return along(place, tuple((axes @ self._numbers()[1:]).tolist()))
