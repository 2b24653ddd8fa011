"""Planar joint: a body stays in a plane of the world and rotates only about the plane's normal.

    x_A.(p_B - p_A) = 0                     one row
    swing of x_B from x_A = 0               two rows
    u = y_A.(p_B - p_A), v = z_A.(p_B - p_A), angle = twist of B about x       free

Symbols and Jacobians are those of row_blocks.py; A is the fixed world (or the body `b` that carries
the plane), B the body that is held, x the normal of the plane and p_B the centre of mass of B.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from drystone.constraints.joints.checks import (
    check_axis,
    check_free,
    free_coordinate,
    set_fields,
)
from drystone.constraints.joints.drives import Motor, Servo
from drystone.constraints.joints.joint import AboutAxis
from drystone.constraints.joints.pose import place_joint
from drystone.constraints.joints.row_blocks import (
    along,
    count_revolutions,
    twist,
    write_across,
    write_axis,
    write_coordinate,
)
from drystone.errors import InputError
from drystone.jit import inner_kernel, kernel
from drystone.model.attachment import Attachment, axes_along, check_bodies, fix_to_bodies, is_world
from drystone.model.joint_arrays import PLANAR


@kernel
def along_u(place):
    """Displacement along y_A: value, l, a, b."""
    return along(place, place.y_a)


@kernel
def along_v(place):
    """Displacement along z_A: value, l, a, b."""
    return along(place, place.z_a)


@inner_kernel(no_cpython_wrapper=True)
def fill_planar(joints, j, r, position, rotation, dt, rows):
    place = place_joint(joints, j, position, rotation)
    r = write_axis(place, write_across(place, place.x_a, r, rows), rows)
    value, lin, a, b = along_u(place)
    r = write_coordinate(joints, j, 0, r, value, lin, a, b, dt, rows)
    value, lin, a, b = along_v(place)
    r = write_coordinate(joints, j, 1, r, value, lin, a, b, dt, rows)
    angle, lin, a, b = twist(place)
    angle = count_revolutions(angle, rows.value[j, 2])
    write_coordinate(joints, j, 2, r, angle, lin, a, b, dt, rows)


@dataclass(frozen=True, eq=False)
class Planar(AboutAxis):
    """Body `a` stays in the plane through its centre of mass with this normal.

    b          what carries the plane; None: the fixed world
    direction  of u, in the plane; v is normal x direction. None: x, or z for a normal near x, as
               far as it lies in the plane
    limits_u, limits_v, limits_angle        (lower, upper), zero at creation [m], [m], [rad]
    motor_u, ..., friction_u, ...           Motor or Servo; force [N] or torque [N m]
    """

    a: Any
    normal: tuple[float, float, float] = (0.0, 1.0, 0.0)
    b: object = None
    direction: tuple[float, float, float] | None = None
    limits_u: tuple[float, float] | None = None
    limits_v: tuple[float, float] | None = None
    limits_angle: tuple[float, float] | None = None
    motor_u: Motor | Servo | None = None
    motor_v: Motor | Servo | None = None
    motor_angle: Motor | Servo | None = None
    friction_u: float = 0.0
    friction_v: float = 0.0
    friction_angle: float = 0.0
    attachment: Attachment | None = field(default=None, kw_only=True, repr=False)

    _kind, _held_rows = PLANAR, 3
    _measures, _angles = (along_u, along_v, twist), (False, False, True)

    def __post_init__(self) -> None:
        check_bodies("Planar", self.a, self.b)
        if is_world(self.a):
            raise InputError("Planar: a is the fixed world, must be the body to keep in the plane.")
        normal = check_axis("Planar: normal", self.normal)
        set_fields(self, normal=normal, direction=self._in_plane(normal))
        check_free(self, "_u", unit="m")
        check_free(self, "_v", unit="m")
        check_free(self, "_angle")
        point = tuple(map(float, self.a.centre))
        axes = axes_along(normal, self.direction)
        fix_to_bodies(self, point, point, axes, axes)

    def _in_plane(self, normal) -> tuple[float, float, float]:
        """The part of the direction that lies in the plane, a unit vector."""
        if self.direction is None:
            given = (0.0, 0.0, 1.0) if abs(normal[0]) > 0.9 else (1.0, 0.0, 0.0)
        else:
            given = check_axis("Planar: direction", self.direction)
        part = np.subtract(given, np.multiply(normal, np.dot(normal, given)))
        if np.linalg.norm(part) < 1e-6:
            raise InputError(
                f"Planar: direction is {self.direction}, must not point along the normal {normal}."
            )
        return tuple((part / np.linalg.norm(part)).tolist())

    @property
    def bodies(self) -> tuple:
        """What carries the plane, and the body in it: positions are those of `a`."""
        return None if is_world(self.b) else self.b, self.a

    def _coordinates(self):
        return tuple(free_coordinate(self, suffix) for suffix in ("_u", "_v", "_angle"))

    @property
    def position(self) -> tuple[float, float]:
        """Displacement along `direction` and along normal x direction since creation [m]."""
        return self._value(0), self._value(1)

    @property
    def speed(self) -> tuple[float, float]:
        """Rates of the position [m/s]."""
        return self._rate(0), self._rate(1)

    @property
    def separation(self) -> float:
        """Position error: how far the centre of mass is off the plane [m]; zero but for drift."""
        place = self._place()
        return abs(along(place, place.x_a)[0])
