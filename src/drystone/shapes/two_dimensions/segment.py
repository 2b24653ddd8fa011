"""Segment of two dimensions, with round ends if it has a radius: A = 2 r l + π r².

Moment about the middle: that of the rectangle, 2 r l (l² + 4 r²) / 12, and of the two half discs,
π r² (r² / 2 + l² / 4) + 4 r³ l / 3 (half discs about their own centres of mass, moved out).
"""

from dataclasses import dataclass
from math import hypot, pi

from drystone.errors import InputError
from drystone.model.checks import number, vector
from drystone.shapes.mass_properties import MassProperties, massless
from drystone.shapes.part import Part
from drystone.shapes.surface import Surface
from drystone.shapes.two_dimensions.outline import flat_mass, outline_part, prism


@dataclass(frozen=True)
class Segment:
    """Line from `a` to `b`, (x, z) [m], solid on both sides.

    radius  half its thickness [m], round at the ends; without one it has no mass and can only be
            fixed
    """

    a: tuple[float, float]
    b: tuple[float, float]
    radius: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "a", vector("Segment: a", self.a, 2))
        object.__setattr__(self, "b", vector("Segment: b", self.b, 2))
        object.__setattr__(self, "radius", number("Segment: radius", self.radius, "m"))
        if self.radius < 0.0:
            raise InputError(f"Segment: radius is {self.radius:g} m, must be >= 0.")
        if self.a == self.b:
            raise InputError(f"Segment: a and b are the same point {self.a}; use a Disc.")

    def mass_properties(self) -> MassProperties:
        """Area [m²], centre and moment [m⁴], for one metre of depth."""
        r = self.radius
        if r == 0.0:
            raise massless(self)
        (ax, az), (bx, bz) = self.a, self.b
        length = hypot(bx - ax, bz - az)
        bar, ends = 2.0 * r * length, pi * r * r
        moment = bar * (length**2 + 4.0 * r * r) / 12.0
        moment += ends * (0.5 * r * r + 0.25 * length**2) + 4.0 * r**3 * length / 3.0
        return flat_mass(bar + ends, 0.5 * (ax + bx), 0.5 * (az + bz), moment)

    def parts(self) -> list[Part]:
        return [outline_part([self.a, self.b], self.radius)]

    def surfaces(self) -> list[Surface]:
        return [prism(part) for part in self.parts()]
