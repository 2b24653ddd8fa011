"""Box: V = x y z, inertia V/12 (y² + z²) and so on round."""

from dataclasses import dataclass
from functools import lru_cache
from math import sqrt

import numpy as np

from drystone.jit import inner_kernel
from drystone.model.arrays import BOX
from drystone.model.checks import positive
from drystone.shapes.mass_properties import MassProperties, centred
from drystone.shapes.part import Part
from drystone.shapes.polytope import Polytope, polytope_from_loops, polytope_surface
from drystone.shapes.surface import Surface


@dataclass(frozen=True)
class Box:
    """Block with the full sizes `x`, `y`, `z` [m], centred on the origin of its frame."""

    x: float
    y: float
    z: float

    def __post_init__(self) -> None:
        for axis in ("x", "y", "z"):
            object.__setattr__(self, axis, positive(f"Box: size {axis}", getattr(self, axis)))

    def mass_properties(self) -> MassProperties:
        x, y, z = self.x, self.y, self.z
        v = x * y * z
        k = v / 12.0
        return centred(v, k * (y * y + z * z), k * (z * z + x * x), k * (x * x + y * y))

    def parts(self) -> list[Part]:
        half = np.array([0.5 * self.x, 0.5 * self.y, 0.5 * self.z])
        geometry = box_polytope(self.x, self.y, self.z)
        thickness = float(half.min())
        return [Part(BOX, half, geometry.radius, geometry=geometry, thickness=thickness)]

    def surfaces(self) -> list[Surface]:
        return [polytope_surface(box_polytope(self.x, self.y, self.z))]


# Vertex k of a box is on the upper side in x, y, z where bit 0, 1, 2 of k is set.
_CORNERS = np.array([[0.5 if k >> axis & 1 else -0.5 for axis in range(3)] for k in range(8)])

# Faces in the order -x, +x, -y, +y, -z, +z.
_UNIT = polytope_from_loops(
    _CORNERS,
    [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]],
)


@lru_cache(maxsize=65536)  # equal boxes share one polytope; some 1 kB each
def box_polytope(x: float, y: float, z: float) -> Polytope:
    """The polytope of Box(x, y, z): the unit cube's topology, scaled."""
    vertex = _CORNERS * (x, y, z)
    face_plane = _UNIT.face_plane.copy()
    face_plane[:, 3] = 0.5 * np.array([x, x, y, y, z, z])
    vertex.flags.writeable = face_plane.flags.writeable = False
    return Polytope(
        vertex,
        face_plane,
        _UNIT.face_loop,
        _UNIT.loop,
        _UNIT.edge,
        _UNIT.vertex_star,
        _UNIT.star,
        0.5 * sqrt(x * x + y * y + z * z),
    )


@inner_kernel
def box_support(size, q):
    return (
        size[0] if q[0] >= 0.0 else -size[0],
        size[1] if q[1] >= 0.0 else -size[1],
        size[2] if q[2] >= 0.0 else -size[2],
    )


@inner_kernel
def box_extent(size, d):
    half = abs(d[0]) * size[0] + abs(d[1]) * size[1] + abs(d[2]) * size[2]
    return -half, half


@inner_kernel
def box_corner(size, i):
    x = size[0] if i & 1 else -size[0]
    y = size[1] if i & 2 else -size[1]
    return x, y, size[2] if i & 4 else -size[2]
