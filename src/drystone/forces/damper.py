"""Damper: a force against the speed at which two points part or approach.

    F on B = -c s n,   d = p_B - p_A,  n = d / |d|,  s = n . d'

The spring of spring.py with k = 0: its gradients are there. It stores no energy.

number: 0, 0, damping c [N s/m].
"""

from dataclasses import dataclass, field

from drystone.forces.force import Element, check_ends, place_points
from drystone.forces.spring import SPRING
from drystone.model.attachment import Attachment
from drystone.model.checks import positive


@dataclass(frozen=True, eq=False)
class Damper(Element):
    """A damper between a point of `a` and a point of `b`; None is the fixed world.

    damping            [N s/m]
    point_a, point_b   where it is fixed, in world coordinates now [m]; None: centre of mass
    """

    a: object
    b: object
    damping: float
    point_a: tuple[float, float, float] | None = None
    point_b: tuple[float, float, float] | None = None
    attachment: Attachment | None = field(default=None, kw_only=True, repr=False)

    _kind, _fixed = SPRING, ("a", "b", "point_a", "point_b", "attachment")

    def __post_init__(self) -> None:
        check_ends(self)
        object.__setattr__(self, "damping", positive("Damper: damping", self.damping, "N s/m"))
        place_points(self)

    def _numbers(self):
        return 0.0, 0.0, self.damping
