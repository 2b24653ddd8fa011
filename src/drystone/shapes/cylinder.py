"""Cylinder: V = π r² h, inertia V r²/2 about z and V (3 r² + h²)/12 across."""

from dataclasses import dataclass
from math import hypot, pi

import numpy as np

from drystone.model.arrays import CYLINDER
from drystone.model.checks import positive
from drystone.shapes.mass_properties import MassProperties, centred
from drystone.shapes.part import Part


@dataclass(frozen=True)
class Cylinder:
    """Round bar along the z axis of its frame, centred on the origin.

    r       radius [m]
    length  full length along z [m]
    """

    r: float
    length: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "r", positive("Cylinder: radius r", self.r))
        object.__setattr__(self, "length", positive("Cylinder: length", self.length))

    def mass_properties(self) -> MassProperties:
        r, h = self.r, self.length
        volume = pi * r * r * h
        across = volume * (3.0 * r * r + h * h) / 12.0
        return centred(volume, across, across, 0.5 * volume * r * r)

    def parts(self) -> list[Part]:
        half = 0.5 * self.length
        return [Part(CYLINDER, np.array([self.r, half, 0.0]), hypot(self.r, half))]
