"""Slider (prismatic joint): B moves along one axis of A and does not rotate against it.

    y_A.(p_B - p_A) = 0, z_A.(p_B - p_A) = 0        two rows
    2 v = 0, (q, v) B's rotation in A                   three rows
    position = x_A.(p_B - p_A)                      free

Symbols and Jacobians are those of row_blocks.py; x is the axis of the slider. The arm on A reaches
to p_B, not to p_A: a push across the axis has the longer lever on A the farther B is out.
"""

from dataclasses import dataclass, field

from drystone.constraints.joints.checks import (
    check_axis,
    check_free,
    fix_along,
    free_coordinate,
)
from drystone.constraints.joints.drives import Motor, Servo
from drystone.constraints.joints.joint import AlongAxis, Flat
from drystone.constraints.joints.planar_2d import LEAN, UPWARD, write_flat_angle
from drystone.constraints.joints.pose import place_joint
from drystone.constraints.joints.row_blocks import (
    along_axis,
    write_across,
    write_coordinate,
    write_orientation,
)
from drystone.errors import InputError
from drystone.jit import inner_kernel
from drystone.jit.vec import cross
from drystone.model.attachment import Attachment, check_bodies, check_point, point_or_centre
from drystone.model.joint_arrays import FLAT_SLIDER, SLIDER


@inner_kernel(no_cpython_wrapper=True)
def fill_slider(joints, j, r, position, rotation, dt, rows):
    place = place_joint(joints, j, position, rotation)
    r = write_across(place, place.z_a, write_across(place, place.y_a, r, rows), rows)
    r = write_orientation(place, r, rows)
    value, lin, a, b = along_axis(place)
    write_coordinate(joints, j, 0, r, value, lin, a, b, dt, rows)


@inner_kernel(no_cpython_wrapper=True)
def fill_flat_slider(joints, j, r, position, rotation, dt, rows):
    """In two dimensions: t.(p_B - p_A) = 0 with t = y x x_A, angle = 0; two rows."""
    place = place_joint(joints, j, position, rotation)
    r = write_flat_angle(place, write_across(place, cross(UPWARD, place.x_a), r, rows), rows)
    value, lin, a, b = along_axis(place)
    write_coordinate(joints, j, 0, r, value, lin, a, b, dt, rows)


@dataclass(frozen=True, eq=False)
class Slider(AlongAxis):
    """B moves along `axis` of A.

    point     where forces are read about; None: the centre of mass of B (of A if B is the world)
    limits    (lower, upper) of the position [m], zero at creation
    motor     Motor or Servo
    friction  force that resists sliding [N]
    """

    a: object
    b: object
    axis: tuple[float, float, float]
    point: tuple[float, float, float] | None = None
    limits: tuple[float, float] | None = None
    motor: Motor | Servo | None = None
    friction: float = 0.0
    attachment: Attachment | None = field(default=None, kw_only=True, repr=False)

    _kind, _held_rows = SLIDER, 5
    _measures, _angles = (along_axis,), (False,)
    _flat = Flat(FLAT_SLIDER, 2)

    def __post_init__(self) -> None:
        check_bodies("Slider", self.a, self.b)
        axis, point = check_point(self, "axis"), point_or_centre(self)
        axis = check_axis("Slider: axis", axis)
        check_free(self, unit="m")
        fix_along(self, point, axis)

    def _check_flat(self) -> None:
        if abs(self.axis[1]) > LEAN:
            raise InputError(f"Slider: axis is {self.axis}, must be (x, 0, z) in two dimensions.")

    def _coordinates(self):
        return (free_coordinate(self),)
