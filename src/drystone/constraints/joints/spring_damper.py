"""SpringDamper: a force along the line between two points, solved together with the contacts.

    force on B = -(k (|d| - length) + c d|d|/dt) n,  d = p_B - p_A,  n = d / |d|

As one row with the Jacobian of distance.py. The force is that of length and speed after the
step, linearly implicit (CLINE 2.50 to 2.55): p = -dt (k (g + dt u) + c u) with g = |d| - length,

    u + softness p + bias = 0,   softness = 1 / (dt (c + k dt)),   bias = k g / (c + k dt)

so that no stiffness is too high for the step. What is slower than the step is not damped by it: see
solvers/articulated/soft_rows.py.

number: length [m], stiffness k [N/m], damping c [N s/m].
"""

from dataclasses import dataclass, field

import numpy as np

from drystone.constraints.joints.distance import length_of
from drystone.constraints.joints.joint import BetweenPoints, Flat
from drystone.constraints.joints.pose import place_joint
from drystone.constraints.joints.row_blocks import write_row, write_spring
from drystone.jit import inner_kernel
from drystone.model.attachment import Attachment, check_bodies, fix_to_bodies, set_points
from drystone.model.checks import check_spring, not_negative
from drystone.model.joint_arrays import ROW_SPRING, SPRING


@inner_kernel(no_cpython_wrapper=True)
def fill_spring(joints, j, r, position, rotation, dt, rows):
    place = place_joint(joints, j, position, rotation)
    length, lin, a, b = length_of(place)
    rows.value[j, 0] = length
    write_row(rows, r, lin, a, b, 0.0, ROW_SPRING)
    offset = length - joints.number[j, 0]
    write_spring(rows, r, offset, joints.number[j, 1], joints.number[j, 2], dt)


@dataclass(frozen=True, eq=False)
class SpringDamper(BetweenPoints):
    """A spring with a damper between point_a of A and point_b of B, stable for any step.

    stiffness  [N/m]
    damping    [N s/m]
    length     at which the spring is slack [m]; None: what it is at creation
    """

    a: object
    b: object
    point_a: tuple[float, float, float]
    point_b: tuple[float, float, float]
    stiffness: float
    damping: float = 0.0
    length: float | None = None
    attachment: Attachment | None = field(default=None, kw_only=True, repr=False)

    _kind, _held_rows = SPRING, 1
    _measures, _angles = (length_of,), (False,)
    _flat = Flat(SPRING)

    def __post_init__(self) -> None:
        check_bodies("SpringDamper", self.a, self.b)
        here = set_points(self)
        check_spring(self, "SpringDamper")
        length = here if self.length is None else self.length
        object.__setattr__(self, "length", not_negative("SpringDamper: length", length))
        fix_to_bodies(self, self.point_a, self.point_b, np.eye(3), np.eye(3))

    def _numbers(self):
        return self.length, self.stiffness, self.damping

    @property
    def separation(self) -> float:
        """Zero: a spring holds nothing together."""
        return 0.0
