"""Cone: V = π r² h / 3, inertia 3/10 V r² about z and V (3/20 r² + 3/80 h²) across.

Its centre of mass is a quarter of its length above the base; moments are about that. The flank has
the normal (c ρ, s z) in the half plane of each direction ρ across the axis, with c = h / l and
s = r / l for the slant length l = √(r² + h²). The kernels are what the narrow phase asks of a
cone (shapes/kinds.py); `size` is (radius, half length, 0), points and directions are in its own
axes.
"""

from dataclasses import dataclass
from math import hypot, pi, sqrt

import numpy as np

from drystone.jit import inner_kernel
from drystone.jit.vec import dot, mad, norm, scale
from drystone.model.arrays import CONE
from drystone.model.checks import positive
from drystone.shapes.cylinder import (
    CAP,
    RIM,
    STANDING,
    lowest_of_rim,
    moved_corner,
    quarter_of_rim,
    rim_corner,
)
from drystone.shapes.mass_properties import MassProperties
from drystone.shapes.part import Part
from drystone.shapes.surface import Surface, surface_of_revolution


@dataclass(frozen=True)
class Cone:
    """Right circular cone along the z axis of its frame, the origin half way up.

    r       radius of the base, which lies at z = -length / 2 [m]
    length  from the base to the apex at z = length / 2 [m]
    """

    r: float
    length: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "r", positive("Cone: radius r", self.r))
        object.__setattr__(self, "length", positive("Cone: length", self.length))

    def mass_properties(self) -> MassProperties:
        r, h = self.r, self.length
        volume = pi * r * r * h / 3.0
        across = volume * (0.15 * r * r + 0.0375 * h * h)
        inertia = np.diag([across, across, 0.3 * volume * r * r])
        return MassProperties(volume, np.array([0.0, 0.0, -0.25 * h]), inertia)

    def parts(self) -> list[Part]:
        r, half = self.r, 0.5 * self.length
        # Volume over surface, as of a hull.
        thickness = r * self.length / (3.0 * (r + hypot(r, self.length)))
        return [Part(CONE, np.array([r, half, 0.0]), hypot(r, half), thickness=thickness)]

    def surfaces(self) -> list[Surface]:
        r, half = self.r, 0.5 * self.length
        base, flank = [(0.0, -half), (r, -half)], [(r, -half), (0.0, half)]
        return [surface_of_revolution(base, flank)]


@inner_kernel
def flank_normal(size):
    """Its parts across the axis and along it, c and s."""
    slant = sqrt(size[0] * size[0] + 4.0 * size[1] * size[1])
    return 2.0 * size[1] / slant, size[0] / slant


@inner_kernel
def cone_support(size, q):
    aside = sqrt(q[0] * q[0] + q[1] * q[1])
    if 2.0 * size[1] * q[2] > size[0] * aside:
        return 0.0, 0.0, size[1]
    r = size[0] / aside if aside > 0.0 else 0.0  # the middle of the base seen straight on
    return r * q[0], r * q[1], -size[1]


@inner_kernel
def cone_extent(size, d):
    base, apex = -size[1] * d[2], size[1] * d[2]
    aside = size[0] * sqrt(max(0.0, 1.0 - d[2] * d[2]))
    return min(base - aside, apex), max(base + aside, apex)


@inner_kernel
def cone_feature(size, q):
    """The base or the flank if `q` is within 45 degrees of its normal, else a point."""
    if -q[2] > CAP:
        return RIM, moved_corner(q)
    c, s = flank_normal(size)
    facing = c * sqrt(q[0] * q[0] + q[1] * q[1]) + s * q[2]
    return 2 if facing > CAP else 1, -1


@inner_kernel
def cone_corner(size, q, count, moved, i):
    """Of the base; or of the line of the flank towards `q`, from the rim to the apex."""
    if count == RIM:
        return rim_corner(size[0], -size[1], q, moved, i)
    aside = sqrt(q[0] * q[0] + q[1] * q[1])
    if i == 1:
        return 0.0, 0.0, size[1]
    if aside == 0.0:
        return size[0], 0.0, -size[1]
    return size[0] * q[0] / aside, size[0] * q[1] / aside, -size[1]


@inner_kernel
def cone_side_radius(size, i):
    """Radius of curvature across the flank at the rim (i = 0) and at the apex."""
    c, _ = flank_normal(size)
    return size[0] / c if i == 0 else 0.0


@inner_kernel
def cone_side_normal(size, u, across, sign):
    """Normal of the flank over the unit vector `across`; outward if `sign` is 1, else inward."""
    c, s = flank_normal(size)
    return mad(scale(across, c), u, sign * s)


@inner_kernel
def cone_snapped(size, u, n, sign, snap):
    """Normal of base or flank that the world direction `n` is as good as; zero if none."""
    along = sign * dot(u, n)
    if -along > 1.0 - snap:
        return scale(u, -sign)
    across = mad(n, u, -sign * along)
    length = norm(across)
    c, s = flank_normal(size)
    if length > 0.0 and c * length + s * along > 1.0 - snap:
        return cone_side_normal(size, u, scale(across, 1.0 / length), sign)
    return 0.0, 0.0, 0.0


@inner_kernel
def cone_resting_count(q):
    return 4 if q[2] >= STANDING else 2


@inner_kernel
def cone_resting_point(size, q, i):
    """Four points of the rim of one that stands, else the lowest one and the apex."""
    if q[2] >= STANDING:
        return quarter_of_rim(size[0], -size[1], q, i)
    if i == 1:
        return 0.0, 0.0, size[1]
    x, y = lowest_of_rim(size[0], q)
    return x, y, -size[1]


@inner_kernel
def cone_height(size, v):
    """Over the flank or the base, whichever `v` is farther out of; none beyond the rim."""
    radial = sqrt(v[0] * v[0] + v[1] * v[1])
    c, s = flank_normal(size)
    flank, base = c * radial + s * (v[2] - size[1]), -v[2] - size[1]
    if base >= flank:
        return (0.0, 0.0, 1.0), base, flank <= 0.0
    x, y = (v[0] / radial, v[1] / radial) if radial > 0.0 else (1.0, 0.0)
    below_apex = s * radial - c * (v[2] - size[1])
    exists = base <= 0.0 and below_apex >= -max(flank, 0.0)
    return (-c * x, -c * y, -s), flank, exists
