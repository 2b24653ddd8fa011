"""Distance: two points keep their distance (a rod), or keep it within limits (a rope, a piston).

    |d| - length = 0, d = p_B - p_A         one row: l = d / |d| = n, a = arm_A x n, b = arm_B x n

A rod has the equality. With limits the length is a free coordinate: a rope has only an upper
limit. Where the points coincide, n is the world's z.

number: length [m], and 1 for a rod, 0 with limits.
"""

from dataclasses import dataclass, field
from math import inf

import numpy as np

from drystone.constraints.joints.checks import check_free, free_coordinate
from drystone.constraints.joints.drives import Motor, Servo
from drystone.constraints.joints.joint import BetweenPoints, Flat
from drystone.constraints.joints.pose import place_joint
from drystone.constraints.joints.row_blocks import write_coordinate, write_row
from drystone.errors import InputError
from drystone.jit import inner_kernel, kernel
from drystone.jit.vec import cross, norm, normalize
from drystone.model.attachment import Attachment, check_bodies, fix_to_bodies, set_points
from drystone.model.checks import not_negative, shown
from drystone.model.joint_arrays import DISTANCE, ROW_EQUALITY


@kernel
def length_of(place):
    """Distance of the points [m]: value, l, a, b."""
    n = normalize(place.apart)
    return norm(place.apart), n, cross(place.arm_a, n), cross(place.arm_b, n)


@inner_kernel(no_cpython_wrapper=True)
def fill_distance(joints, j, r, position, rotation, dt, rows):
    place = place_joint(joints, j, position, rotation)
    length, lin, a, b = length_of(place)
    if joints.number[j, 1] == 1.0:
        rows.value[j, 0] = length
        write_row(rows, r, lin, a, b, length - joints.number[j, 0], ROW_EQUALITY)
    else:
        write_coordinate(joints, j, 0, r, length, lin, a, b, dt, rows)


@dataclass(frozen=True, eq=False)
class Distance(BetweenPoints):
    """point_a of A and point_b of B keep their distance.

    length    [m] of a rod; None: what it is at creation
    limits    (lower, upper) of the distance [m] in place of a length; (None, 2) is a rope of 2 m
    motor     Motor or Servo that changes the distance; only with limits, (0, None) are the widest
    friction  force that resists a change [N]; only with limits
    """

    a: object
    b: object
    point_a: tuple[float, float, float]
    point_b: tuple[float, float, float]
    length: float | None = None
    limits: tuple[float, float] | None = None
    motor: Motor | Servo | None = None
    friction: float = 0.0
    attachment: Attachment | None = field(default=None, kw_only=True, repr=False)

    _kind = DISTANCE
    _measures, _angles = (length_of,), (False,)
    _flat = Flat(DISTANCE)

    def __post_init__(self) -> None:
        check_bodies("Distance", self.a, self.b)
        here = set_points(self)
        check_free(self, unit="m")
        if self.limits is None:
            self._check_rod(here)
        elif self.length is not None:
            raise InputError(
                f"Distance: length is {shown(self.length)} and limits are {self.limits}, "
                "give only one."
            )
        elif self.limits[1] < 0.0:
            raise InputError(f"Distance: limits are {self.limits} m, no distance is below 0.")
        fix_to_bodies(self, self.point_a, self.point_b, np.eye(3), np.eye(3))

    def _check_rod(self, here: float) -> None:
        if self.motor is not None or self.friction > 0.0:
            raise InputError(
                "Distance: has a motor or friction but no limits, so that nothing can move; give "
                "limits=(0, None)."
            )
        length = here if self.length is None else not_negative("Distance: length", self.length)
        if length == 0.0:
            raise InputError("Distance: length is 0 m, must be > 0; for one common point use Ball.")
        object.__setattr__(self, "length", length)

    @property
    def _held_rows(self) -> int:
        return 1 if self.limits is None else 0

    def _numbers(self):
        return (self.length, 1.0) if self.limits is None else (0.0, 0.0)

    def _coordinates(self):
        if self.limits is None:
            return ()
        lower, upper = self.limits
        # No distance is below zero; a row for that would do nothing.
        coordinate = free_coordinate(self)
        return (coordinate._replace(limits=(lower if lower > 0.0 else -inf, upper)),)

    @property
    def separation(self) -> float:
        """Position error: how far the distance is from what it may be [m]; zero but for drift."""
        lower, upper = (self.length, self.length) if self.limits is None else self.limits
        here = self.distance
        return max(here - upper, lower - here, 0.0)
