"""Slider: B moves along one axis of A and does not turn against it.

    y_A.(p_B - p_A) = 0, z_A.(p_B - p_A) = 0        two rows
    2 v = 0, (q, v) B's turn in A                   three rows
    position = x_A.(p_B - p_A)                      free

Symbols and Jacobians are those of row_blocks.py; x is the axis of the slider. The arm on A reaches
to p_B, not to p_A: a push across the axis turns A the more the farther B is out.
"""

from dataclasses import dataclass, field

from drystone.constraints.joints.checks import check_axis, check_free, free_coordinate
from drystone.constraints.joints.drives import Motor, Servo
from drystone.constraints.joints.joint import Joint
from drystone.constraints.joints.pose import place_joint
from drystone.constraints.joints.row_blocks import (
    across_axis,
    along_axis,
    write_across,
    write_coordinate,
    write_orientation,
)
from drystone.jit import inner_kernel
from drystone.model.attachment import (
    Attachment,
    axes_along,
    check_bodies,
    check_point,
    fix_to_bodies,
    point_or_centre,
)
from drystone.model.joint_arrays import SLIDER


@inner_kernel(no_cpython_wrapper=True)
def fill_slider(joints, j, r, position, rotation, dt, rows):
    place = place_joint(joints, j, position, rotation)
    r = write_across(place, place.z_a, write_across(place, place.y_a, r, rows), rows)
    r = write_orientation(place, r, rows)
    way, lin, a, b = along_axis(place)
    write_coordinate(joints, j, 0, r, way, lin, a, b, dt, rows)


@dataclass(frozen=True, eq=False)
class Slider(Joint):
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

    def __post_init__(self) -> None:
        check_bodies("Slider", self.a, self.b)
        axis, point = check_point(self, "axis"), point_or_centre(self)
        axis = check_axis("Slider: axis", axis)
        object.__setattr__(self, "axis", axis)
        check_free(self, unit="m")
        axes = axes_along(axis)
        fix_to_bodies(self, point, point, axes, axes)

    def _coordinates(self):
        return (free_coordinate(self),)

    @property
    def position(self) -> float:
        """Way of B along the axis since creation [m]."""
        return self._value(0)

    @property
    def speed(self) -> float:
        """Rate of the position [m/s]."""
        return self._rate(0)

    @property
    def separation(self) -> float:
        """How far B is off the axis [m]; zero but for drift."""
        return across_axis(self._place())
