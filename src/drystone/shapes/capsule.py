"""Capsule: a cylinder of radius r and length h along z with a half ball on either end.

With the volumes C = π r² h of the cylinder and S = 4/3 π r³ of the two half balls, the moment is
C r²/2 + 2/5 S r² about z and C (h²/12 + r²/4) + S (2/5 r² + h²/4 + 3/8 h r) across.
"""

from dataclasses import dataclass
from math import pi

import numpy as np

from drystone.jit import inner_kernel
from drystone.jit.vec import dot, norm, scale, sub
from drystone.model.arrays import CAPSULE
from drystone.model.checks import positive
from drystone.shapes.mass_properties import MassProperties, centred
from drystone.shapes.part import Part
from drystone.shapes.surface import Surface, arc, surface_of_revolution


@dataclass(frozen=True)
class Capsule:
    """Rod with round ends along the z axis of its frame, centred on the origin.

    r       radius [m]
    length  of the cylindrical part alone [m]; from tip to tip it is length + 2 r
    """

    r: float
    length: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "r", positive("Capsule: radius r", self.r))
        length = positive("Capsule: length", self.length, fix="For no length use Sphere(r).")
        object.__setattr__(self, "length", length)

    def mass_properties(self) -> MassProperties:
        r, h = self.r, self.length
        c, s = pi * r * r * h, 4.0 / 3.0 * pi * r**3
        along = 0.5 * c * r * r + 0.4 * s * r * r
        across = c * (h * h / 12 + r * r / 4) + s * (0.4 * r * r + h * h / 4 + 0.375 * h * r)
        return centred(c + s, across, across, along)

    def parts(self) -> list[Part]:
        half = 0.5 * self.length
        return [Part(CAPSULE, np.array([self.r, half, 0.0]), self.r + half, thickness=self.r)]

    def surfaces(self) -> list[Surface]:
        r, half = self.r, 0.5 * self.length
        return [surface_of_revolution(arc(r, -90.0, 0.0, -half) + arc(r, 0.0, 90.0, half))]


@inner_kernel
def segment_support(size, q):
    return 0.0, 0.0, size[1] if q[2] >= 0.0 else -size[1]


@inner_kernel
def capsule_extent(size, d):
    half = abs(d[2]) * size[1] + size[0]
    return -half, half


@inner_kernel
def capsule_height(size, u, v):
    """In world axes: `u` is that of the capsule, or anything for a sphere, whose length is 0."""
    x = scale(u, min(max(dot(v, u), -size[1]), size[1]))
    d = sub(x, v)
    length = norm(d)
    return scale(d, 1.0 / length), length - size[0], length > 0.0
