"""Surfaces for drawing."""

import numpy as np
import pytest
import trimesh

from drystone.shapes import (
    Box,
    Capsule,
    Compound,
    ConvexHull,
    Cylinder,
    Mesh,
    Sphere,
)

CUBE = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])


def box_triangles():
    box = trimesh.creation.box((1, 2, 3))
    return np.array(box.vertices), np.array(box.faces)


def enclosed(surface) -> float:
    """Volume inside a closed surface whose polygons are turned outward: fans of tetrahedra."""
    v, total = surface.vertices, 0.0
    for face in surface.faces:
        for b, c in zip(face[1:-1], face[2:], strict=True):
            total += np.linalg.det([v[face[0]], v[b], v[c]]) / 6
    return total


@pytest.mark.parametrize(
    "shape, exact",
    [
        (Sphere(0.3), False),
        (Box(0.2, 0.5, 1.0), True),
        (Capsule(0.3, 1.4), False),
        (Cylinder(0.3, 1.4), False),
        (ConvexHull(CUBE + (5, 0, 0)), True),
        (Mesh(*box_triangles()), True),
        (Compound((Box(1, 1, 1), (0, 0, 5)), (Box(1, 2, 1), (0, 2, 0), (0.6, 0.8, 0, 0))), True),
    ],
    ids=lambda x: type(x).__name__,
)
def test_a_drawn_surface_encloses_the_shape(shape, exact):
    """A polygon of 48 corners has 0.3 % less area than its circle; rings of 5 degrees like it."""
    volume = shape.mass_properties().volume
    drawn = sum(enclosed(surface) for surface in shape.surfaces())
    assert drawn == pytest.approx(volume, rel=1e-12 if exact else 0.006)
    assert exact or drawn < volume
