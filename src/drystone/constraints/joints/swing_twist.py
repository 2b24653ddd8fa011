"""SwingTwist: how far a ball joint may swing and twist; the mathematics is in ball.py."""

from dataclasses import dataclass
from math import pi

import numpy as np

from drystone.constraints.joints.checks import check_axis, check_limits
from drystone.constraints.joints.row_blocks import quaternion_of
from drystone.errors import InputError
from drystone.jit.vec import rotation_matrix
from drystone.model.attachment import axes_along
from drystone.model.checks import positive, shown, vector
from drystone.model.signatures import public


@public
@dataclass(frozen=True)
class SwingTwist:
    """How far a Ball may go.

    axis       of B, such as the direction of the upper arm, in world coordinates at creation
    swing      largest angle between the axis and the middle of the cone [rad], below pi; or two:
               (towards `towards` and back, sideways)
    twist      (lower, upper) rotation of B about the axis [rad], zero at creation
    cone       middle of the cone, fixed to A, in world coordinates at creation; None: the axis
    towards    direction of the first of two swings, fixed to A; needed only for these
    """

    axis: tuple[float, float, float]
    swing: float | tuple[float, float] | None = None
    twist: tuple[float, float] | None = None
    cone: tuple[float, float, float] | None = None
    towards: tuple[float, float, float] | None = None

    def __post_init__(self) -> None:
        for name in ("axis", "cone", "towards"):
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, check_axis(f"SwingTwist: {name}", value))
        object.__setattr__(self, "swing", _check_swing(self.swing))
        limits = check_limits("SwingTwist: twist", self.twist)
        object.__setattr__(self, "twist", limits if self.twist is not None else None)
        if isinstance(self.swing, tuple) and self.towards is None:
            raise InputError(
                "SwingTwist: swing has two angles; give towards=, the direction of the first."
            )
        middle = self.cone or self.axis
        if self.towards and np.linalg.norm(np.cross(middle, self.towards)) < 1e-6:
            raise InputError(
                f"SwingTwist: towards is {self.towards}, must not point along the middle of the "
                f"cone {middle}."
            )

    def alphas(self) -> tuple[float, float]:
        """Largest swings about y_A and z_A: tilting towards y is a rotation about z."""
        if self.swing is None:
            return 0.0, 0.0
        both = self.swing if isinstance(self.swing, tuple) else (self.swing, self.swing)
        return both[1], both[0]

    def axes(self) -> tuple[np.ndarray, np.ndarray]:
        """Axes of A (x in the middle of the cone) and of B (x along the axis), no twist."""
        middle = np.array(self.cone or self.axis)
        axes_a = axes_along(middle, self.towards)
        lean = np.cross(middle, self.axis)
        s, c = np.linalg.norm(lean), middle @ np.array(self.axis)
        n = lean / s if s > 1e-12 else axes_a[:, 1]
        v = n * np.arctan2(s, c)
        matrix = np.reshape(rotation_matrix(*quaternion_of(tuple(v.tolist()))), (3, 3))
        return axes_a, matrix @ axes_a


def _check_swing(value):
    if value is None:
        return None
    if not hasattr(value, "__len__"):
        return _check_angle(value)
    try:
        count = len(value)
    except Exception:  # of a class, or an object that has no length after all
        count = 0
    if count not in (1, 2):
        raise InputError(f"SwingTwist: swing is {shown(value)}, must be one angle or two [rad].")
    angles = tuple(_check_angle(angle) for angle in vector("SwingTwist: swing", value, count))
    return angles if count == 2 else angles[0]


def _check_angle(value) -> float:
    fix = "For a joint that only turns use Hinge."
    angle = positive("SwingTwist: swing", value, "rad", fix)
    if angle >= pi:
        raise InputError(
            f"SwingTwist: swing is {angle:g} rad, must be below pi; None lets it go everywhere."
        )
    return angle
