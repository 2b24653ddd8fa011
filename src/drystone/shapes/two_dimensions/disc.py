"""Disc of two dimensions: A = π r², moment about the centre A r² / 2."""

from dataclasses import dataclass
from math import pi

from drystone.model.checks import positive
from drystone.shapes.mass_properties import MassProperties
from drystone.shapes.part import Part
from drystone.shapes.surface import Surface
from drystone.shapes.two_dimensions.outline import flat_mass, outline_part, prism


@dataclass(frozen=True)
class Disc:
    """Disc of radius `r` [m] about the origin of its frame, in a world of two dimensions."""

    r: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "r", positive("Disc: radius r", self.r))

    def mass_properties(self) -> MassProperties:
        """Area [m²] and moment [m⁴], for one metre of depth."""
        area = pi * self.r**2
        return flat_mass(area, 0.0, 0.0, 0.5 * area * self.r**2)

    def parts(self) -> list[Part]:
        return [outline_part([(0.0, 0.0)], self.r)]

    def surfaces(self) -> list[Surface]:
        return [prism(part) for part in self.parts()]
