"""How thin a shape is: what decides whether it moves fast enough to be followed
(collision/ccd.py).
"""

from functools import cache
from math import inf, pi

import numpy as np

from drystone.model.arrays import BOX, CAPSULE, CYLINDER, HULL, MESH, OUTLINE, SPHERE


def half_thickness(part) -> float:
    """Half the thickness of a part where it is thinnest, or less [m]; inf if it has no other side.

    Of a polyhedron its volume over its surface: half the thickness of a wide plate, and for
    anything less flat a part of it. Of an outline its area over its rim. A line without a
    thickness is solid on both sides: what comes through has to move by its own.
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
    if part.kind == OUTLINE:
        return _outline_thickness(part.geometry)
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


def _outline_thickness(outline) -> float:
    if len(outline.corner) == 2 and outline.rounding == 0.0:
        return inf
    a, b, r = outline.corner, np.roll(outline.corner, -1, axis=0), outline.rounding
    area = 0.5 * float((a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]).sum())
    rim = float(np.linalg.norm(b - a, axis=1).sum())
    return (area + r * rim + pi * r * r) / (rim + 2.0 * pi * r)
