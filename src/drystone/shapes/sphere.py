"""Sphere: V = 4/3 π r³, inertia 2/5 V r² about every axis."""

from dataclasses import dataclass
from math import pi

import numpy as np

from drystone.jit import inner_kernel
from drystone.model.arrays import SPHERE
from drystone.model.checks import positive
from drystone.shapes.mass_properties import MassProperties, centred
from drystone.shapes.part import Part
from drystone.shapes.surface import Surface, arc, surface_of_revolution


@dataclass(frozen=True)
class Sphere:
    """Ball of radius `r` [m] about the origin of its frame."""

    r: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "r", positive("Sphere: radius r", self.r))

    def mass_properties(self) -> MassProperties:
        volume = 4.0 / 3.0 * pi * self.r**3
        moment = 0.4 * volume * self.r**2
        return centred(volume, moment, moment, moment)

    def parts(self) -> list[Part]:
        return [Part(SPHERE, np.array([self.r, 0.0, 0.0]), self.r, thickness=self.r)]

    def surfaces(self) -> list[Surface]:
        return [surface_of_revolution(arc(self.r, -90.0, 90.0))]


@inner_kernel
def sphere_extent(size):
    return -size[0], size[0]
