"""Cylinder: V = π r² h, inertia V r²/2 about z and V (3 r² + h²)/12 across.

The kernels below are what the narrow phase asks of a cylinder (shapes/kinds.py); `size` is
(radius, half length, 0), points and directions are in its own axes. Those of a rim serve
every shape that ends in a flat round face at right angles to z.
"""

from dataclasses import dataclass
from math import hypot, pi, sqrt

import numpy as np

from drystone.jit import inner_kernel
from drystone.jit.vec import dot, mad, normalize, scale
from drystone.model.arrays import CYLINDER
from drystone.model.checks import positive
from drystone.shapes.mass_properties import MassProperties, centred
from drystone.shapes.part import Part
from drystone.shapes.surface import Surface, surface_of_revolution

# Corners that stand for a rim.
DIAGONAL = sqrt(0.5)
RIM = 8
RIM_X = (1.0, DIAGONAL, 0.0, -DIAGONAL, -1.0, -DIAGONAL, 0.0, DIAGONAL)
RIM_Y = (0.0, DIAGONAL, 1.0, DIAGONAL, 0.0, -DIAGONAL, -1.0, -DIAGONAL)
# A cap tilted from the normal by more than 45 degrees is not what touches: the side is.
CAP = 0.7071
# A cap tilted by less than this [sine] stands on its own eight corners, so that they do not wander
# with rounding; the deepest rim point is then missed by at most 1e-5 radii.
FLAT = 1e-4
# A cylinder steeper than this cosine to the normal of the ground stands on its cap, else it lies
# on its side.
STANDING = 0.7071
# Below this tilt [rad] the rim points of a standing cylinder are fixed in its own axes, so that
# they do not wander with rounding; the lowest point is then missed by at most 3e-5 radii.
UPRIGHT = 1e-4


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
        thickness = min(self.r, half)
        return [
            Part(CYLINDER, np.array([self.r, half, 0.0]), hypot(self.r, half), thickness=thickness)
        ]

    def surfaces(self) -> list[Surface]:
        r, half = self.r, 0.5 * self.length
        return [surface_of_revolution([(0.0, -half), (r, -half)], [(r, -half), (r, half)],
                                      [(r, half), (0.0, half)])]  # fmt: skip


@inner_kernel
def cylinder_support(size, q):
    aside = sqrt(q[0] * q[0] + q[1] * q[1])
    r = size[0] / aside if aside > 0.0 else 0.0  # the middle of a cap seen straight on
    return r * q[0], r * q[1], size[1] if q[2] >= 0.0 else -size[1]


@inner_kernel
def cylinder_extent(size, d):
    half = abs(d[2]) * size[1] + size[0] * sqrt(max(0.0, 1.0 - d[2] * d[2]))
    return -half, half


@inner_kernel
def cylinder_feature(q):
    """The side, two corners, or a cap; and which corner of its rim moves."""
    if abs(q[2]) <= CAP:
        return 2, -1
    return RIM, moved_corner(q)


@inner_kernel
def moved_corner(q):
    """The corner of a rim nearest to where it goes farthest along `q`; -1 along the axis."""
    best, best_along = -1, -2.0
    for i in range(RIM):
        along = RIM_X[i] * q[0] + RIM_Y[i] * q[1]
        if along > best_along:
            best, best_along = i, along
    tilted = q[0] * q[0] + q[1] * q[1] > FLAT * FLAT
    return best if tilted else -1


@inner_kernel
def rim_corner(r, z, q, moved, i):
    """Corner `i` of the rim of radius `r` at height `z`, counter-clockwise seen from outside."""
    k = i if q[2] > 0.0 else RIM - 1 - i
    x, y = RIM_X[k], RIM_Y[k]
    if k == moved:
        r, x, y = r / sqrt(q[0] * q[0] + q[1] * q[1]), q[0], q[1]
    return r * x, r * y, z


@inner_kernel
def cylinder_corner(size, q, count, moved, i):
    if count == RIM:
        return rim_corner(size[0], size[1] if q[2] > 0.0 else -size[1], q, moved, i)
    r = size[0] / sqrt(q[0] * q[0] + q[1] * q[1])
    return r * q[0], r * q[1], size[1] if i == 1 else -size[1]


@inner_kernel
def cylinder_snapped(u, n, snap):
    """Normal of a cap or of the side that the world direction `n` is as good as; zero if none."""
    along = dot(u, n)
    if abs(along) > 1.0 - snap:
        return u if along > 0.0 else scale(u, -1.0)
    if along * along < snap:
        return normalize(mad(n, u, -along))
    return 0.0, 0.0, 0.0


@inner_kernel
def lowest_of_rim(r, q):
    """The point (x, y) of a rim that is lowest over ground with local normal `q`."""
    tilt = sqrt(q[0] * q[0] + q[1] * q[1])
    if tilt > UPRIGHT:
        return -r * q[0] / tilt, -r * q[1] / tilt
    return r, 0.0


@inner_kernel
def quarter_of_rim(r, z, q, i):
    """The lowest point of a rim, and those a quarter, half and three quarters further round."""
    x, y = lowest_of_rim(r, q)
    if i % 2 == 1:
        x, y = -y, x
    return x if i < 2 else -x, y if i < 2 else -y, z


@inner_kernel
def cylinder_resting_point(size, q, i):
    """Two ends of the lowest line of one that lies, four points of the rim of one that stands."""
    half = -size[1] if q[2] > 0.0 else size[1]
    if abs(q[2]) < STANDING:
        x, y = lowest_of_rim(size[0], q)
        return x, y, half if i == 0 else -half
    return quarter_of_rim(size[0], half, q, i)


@inner_kernel
def cylinder_height(size, v):
    radial = sqrt(v[0] * v[0] + v[1] * v[1])
    side, cap = radial - size[0], abs(v[2]) - size[1]
    if side > cap:
        d = (-v[0] / radial, -v[1] / radial, 0.0)
    else:
        d = (0.0, 0.0, -1.0 if v[2] > 0.0 else 1.0)
    return d, max(side, cap), min(side, cap) <= 0.0
