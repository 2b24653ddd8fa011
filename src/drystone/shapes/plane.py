"""Plane: all points x with n.x = offset; solid below it, on the side that n points away from."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from math import inf, sqrt

import numpy as np

from drystone.errors import InputError
from drystone.model.arrays import PLANE
from drystone.model.checks import number, vector
from drystone.model.rotation import matrix_with_z_along
from drystone.shapes.mass_properties import MassProperties, massless
from drystone.shapes.part import NO_SIZE, Part


@dataclass(frozen=True)
class Plane:
    """Endless ground, z = 0 of its frame unless said otherwise; only as fixed.

    normal  points out of the ground; any length but zero, kept as a unit vector
    offset  distance of the plane from the frame's origin along the normal [m]
    """

    normal: tuple[float, float, float] = (0.0, 0.0, 1.0)
    offset: float = 0.0

    def __post_init__(self) -> None:
        x, y, z = vector("Plane: normal", self.normal)
        length = sqrt(x * x + y * y + z * z)
        if not length > 0.0:
            raise InputError("Plane: normal is (0, 0, 0), must point out of the ground.")
        object.__setattr__(self, "normal", (x / length, y / length, z / length))
        object.__setattr__(self, "offset", number("Plane: offset", self.offset, "m"))

    def mass_properties(self) -> MassProperties:
        raise massless(self)

    def parts(self) -> list[Part]:
        position = self.offset * np.array(self.normal)
        turned = matrix_with_z_along(self.normal)
        return [Part(PLANE, NO_SIZE, inf, position, turned, thickness=inf)]

    def surfaces(self) -> list:
        """None: it is endless, and pictures show as much of it as is in view."""
        return []

    def describe(self, put: Callable) -> dict:
        return asdict(self)

    @classmethod
    def restored(cls, value: dict, get: Callable) -> "Plane":
        """Its normal bit for bit: a unit vector made of a unit vector may differ in a last bit."""
        plane = cls(**value)
        object.__setattr__(plane, "normal", tuple(value["normal"]))
        return plane
