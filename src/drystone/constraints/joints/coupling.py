"""Coupling of two shafts: B rotates about its own axis as A does about its; all else is free.

    angle = twist of B about x relative to A        a = b = (x_A + x_B) / (1 + c)

The plane of the row halves the angle between the shafts: it is the homokinetic plane, so that
shafts at an angle have the same speed at every moment, as in a constant-velocity joint (a universal
joint has not). Held at zero it has one row; with limits the angle is a free coordinate (a coupling
with play), and friction makes it a clutch, which slips at that torque.

number: 1 if the angle is held, 0 with limits.
"""

from dataclasses import dataclass, field
from math import inf, sqrt

import numpy as np

from drystone.constraints.joints.checks import check_axis, check_free, free_coordinate, set_fields
from drystone.constraints.joints.drives import Motor, Servo
from drystone.constraints.joints.joint import OneAngle
from drystone.constraints.joints.pose import place_joint
from drystone.constraints.joints.row_blocks import (
    count_revolutions,
    twist,
    write_coordinate,
    write_row,
)
from drystone.errors import InputError
from drystone.jit import inner_kernel
from drystone.jit.vec import rotation_matrix
from drystone.model.attachment import (
    Attachment,
    axes_along,
    check_bodies,
    check_point,
    fix_to_bodies,
)
from drystone.model.joint_arrays import COUPLING, ROW_EQUALITY


@inner_kernel(no_cpython_wrapper=True)
def fill_coupling(joints, j, r, position, rotation, dt, rows):
    place = place_joint(joints, j, position, rotation)
    angle, lin, a, b = twist(place)
    angle = count_revolutions(angle, rows.value[j, 0])
    if joints.number[j, 0] == 1.0:
        rows.value[j, 0] = angle
        write_row(rows, r, lin, a, b, angle, ROW_EQUALITY)
    else:
        write_coordinate(joints, j, 0, r, angle, lin, a, b, dt, rows)


def rotation_between_axes(x, y) -> tuple[float, float, float, float]:
    """Quaternion of the least rotation that takes the unit vector `x` to `y`: it has no twist."""
    w = sqrt(0.5 * (1.0 + float(np.dot(x, y))))
    return w, *(np.cross(x, y) / (2.0 * w)).tolist()


@dataclass(frozen=True, eq=False)
class Coupling(OneAngle):
    """B rotates about its axis as A does; shafts that lean or shift stay free to.

    point     where forces are read about
    axis      of the shaft A, and of B unless it has another
    axis_b    of the shaft B, within 135 degrees of `axis`
    limits    (lower, upper) of the angle between them [rad]: play; (None, None): it is free
    motor     Motor or Servo between the shafts; only with limits
    friction  torque that resists slipping [N m], as of a clutch; only with limits
    """

    a: object
    b: object
    point: tuple[float, float, float]
    axis: tuple[float, float, float]
    limits: tuple[float, float] | None = None
    motor: Motor | Servo | None = None
    friction: float = 0.0
    axis_b: tuple[float, float, float] | None = None
    attachment: Attachment | None = field(default=None, kw_only=True, repr=False)

    _kind = COUPLING
    _measures, _angles = (twist,), (True,)

    def __post_init__(self) -> None:
        check_bodies("Coupling", self.a, self.b)
        point, axis = check_point(self, "point"), check_axis("Coupling: axis", self.axis)
        check_free(self)
        if self.limits is None and (self.motor is not None or self.friction > 0.0):
            raise InputError(
                "Coupling: has a motor or friction but no limits, so that nothing can slip; give "
                "limits=(None, None)."
            )
        other = axis if self.axis_b is None else check_axis("Coupling: axis_b", self.axis_b)
        if np.dot(axis, other) < -0.7:
            raise InputError(
                f"Coupling: axis_b {other} points against axis {axis}; give it the other sign."
            )
        set_fields(self, point=point, axis=axis, axis_b=other)
        axes = axes_along(axis)
        turn = rotation_matrix(*rotation_between_axes(axis, other))
        fix_to_bodies(self, point, point, axes, np.reshape(turn, (3, 3)) @ axes)

    @property
    def _held_rows(self) -> int:
        return 1 if self.limits is None else 0

    def _numbers(self):
        return (1.0 if self.limits is None else 0.0,)

    def _coordinates(self):
        return () if self.limits is None else (free_coordinate(self),)

    @property
    def separation(self) -> float:
        """How far the angle is from what it may be [rad]; zero but for drift."""
        lower, upper = (0.0, 0.0) if self.limits is None else self.limits
        lower, upper = -inf if lower is None else lower, inf if upper is None else upper
        return max(self.angle - upper, lower - self.angle, 0.0)
