"""How thin a shape is: what decides whether it moves fast enough to be followed (ccd.py)."""

from functools import cache
from math import inf

import numpy as np

from drystone.arrays import BOX, CAPSULE, CYLINDER, HULL, MESH, SPHERE


def half_thickness(part) -> float:
    """Half the thickness of a part where it is thinnest, or less [m]; inf if it has no other side.

    Of a polyhedron its volume over its surface: half the thickness of a wide plate, and for
    anything less flat a part of it.
    """
    size = part.size
    if part.kind in (SPHERE, CAPSULE):
        return float(size[0])
    if part.kind == CYLINDER:
        return float(min(size[0], size[1]))
    if part.kind == BOX:
        return float(min(size))
    if part.kind == HULL:
        return _polytope_thickness(part.geometry)
    if part.kind == MESH:
        return _mesh_thickness(part.geometry)
    return inf


@cache  # geometries hash by identity, and a thousand bodies may share one
def _polytope_thickness(polytope) -> float:
    return _volume_over_surface(polytope.vertex, polytope.triangles)


@cache
def _mesh_thickness(table) -> float:
    return _volume_over_surface(table.vertex, table.triangle)


def _volume_over_surface(vertex, triangles) -> float:
    a, b, c = (vertex[triangles[:, k]] for k in range(3))
    area = np.cross(b - a, c - a)
    volume = np.einsum("ij,ij->", area, a) / 6.0
    return float(volume / (0.5 * np.linalg.norm(area, axis=1).sum()))
