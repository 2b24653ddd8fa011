"""Options of the penalty method."""

from dataclasses import dataclass
from typing import Any, ClassVar, NoReturn

import numpy as np

from drystone.errors import InputError, UnsupportedFeature
from drystone.model.checks import choice, positive
from drystone.model.signatures import public
from drystone.solvers.options import check_options

FRICTIONS = ("slip", "spring", "system")
MOST_POINTS = 60  # of a pair: the contact cache tells so many apart
MOST_TRIANGLES = 10_000


@public
@dataclass(frozen=True)
class Penalty:
    """Bodies may overlap, and forces push them apart (PENALTY III): `World(solver="penalty")`.

    f = max((proportional depth + derivative approach + integral I) / points, 0) at each point on
    the bottom of the intersection, I <- forgetting I + greatest depth after every step.

    proportional    [N/m]
    derivative      [N s/m]
    integral        [N/m a step]; all three for every kilogram that the two bodies have together,
                    where what is fixed counts as much as all bodies
    per_kilogram    False: they are those of every pair of bodies
    forgetting      share of I that the next step keeps
    points          of a pair that get a force, at most; 1: the deepest alone
    friction        "slip": against the sliding, always; "spring": virtual springs and dampers in
                    the tangent plane; "system": forces that stop all sliding, from a linear system
    triangles       Steiner points are added until a shape has no triangle larger than its surface
                    divided by this
    limit_gains     keep the forces within what one step can follow (docs/solvers/penalty.md)

    PENALTY III C has the gains 100, 50 and 2, with which a body sinks into the ground by 4 cm.

    tolerance       a step counts as converged if the forces obey Coulomb's law to this [m/s] and no
                    overlap is deeper than 1 % of the smaller body
    """

    name: ClassVar[str] = "penalty"
    law: ClassVar[str] = "compliant"
    level: ClassVar[str] = "force"  # it solves no ContactProblem: steppers/rk4.py
    supports: ClassVar[frozenset[str]] = frozenset({"restitution"})
    compiled: ClassVar[bool] = False

    proportional: float = 1e4  # a body at rest overlaps the ground by 0.5 mm; the source has 100
    derivative: float = 200.0  # critical damping; the source has 50
    integral: float = 200.0  # the source has 2
    forgetting: float = 0.85
    per_kilogram: bool = True
    points: int = 24
    friction: str = "spring"
    triangles: int = 100
    limit_gains: bool = True
    tolerance: float = 1e-2

    def __post_init__(self) -> None:
        check_options(self, "penalty")
        choice("penalty: friction", self.friction, FRICTIONS)
        positive("penalty: tolerance", self.tolerance, "m/s")
        if not self.forgetting < 1.0:
            raise InputError(
                f"penalty: forgetting is {self.forgetting:g}, must be less than 1, else overlaps "
                f"of long ago count for ever."
            )
        if self.points > MOST_POINTS:
            raise InputError(f"penalty: points is {self.points}, must be at most {MOST_POINTS}.")
        if self.triangles > MOST_TRIANGLES:
            raise InputError(
                f"penalty: triangles is {self.triangles}, must be at most {MOST_TRIANGLES}: every "
                f"step looks at all of them."
            )

    def solve(self, problem: Any, impulse: np.ndarray) -> NoReturn:
        """It cannot: forces come from how deep bodies overlap, which a problem does not say."""
        raise UnsupportedFeature(
            "penalty solves no ContactProblem: it integrates forces. Use World(solver='penalty')."
        )
