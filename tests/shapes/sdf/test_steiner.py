"""Steiner points: the same closed surface in smaller triangles."""

import numpy as np
import pytest

import drystone as ds
from drystone.shapes.sdf.steiner import part_triangles, surface_area, with_steiner_points

SHAPES = {
    "box": ds.Box(1, 0.5, 2), "sphere": ds.Sphere(0.5), "cylinder": ds.Cylinder(0.3, 2),
    "capsule": ds.Capsule(0.2, 1), "cone": ds.Cone(0.4, 1),
    "hull": ds.ConvexHull([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]),
}  # fmt: skip


def volume(vertices, faces):
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    return np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6.0


@pytest.mark.parametrize("name", SHAPES)
def test_the_surface_stays_closed_and_the_same(name):
    vertices, faces = part_triangles(SHAPES[name].parts()[0])
    area = surface_area(vertices, faces)
    most = area.sum() / 300.0
    fine, triangles, origin = with_steiner_points(vertices, faces, most)
    assert len(triangles) > len(faces) or (area <= most).all()
    assert surface_area(fine, triangles).max() <= most
    sides = np.concatenate([triangles[:, [k, (k + 1) % 3]] for k in range(3)])
    forth = {tuple(side) for side in sides.tolist()}
    assert len(forth) == len(sides)  # each side once
    assert {(b, a) for a, b in forth} == forth  # and once back
    shares = np.bincount(origin, surface_area(fine, triangles), len(faces))
    np.testing.assert_allclose(shares, area, rtol=1e-9)
    assert volume(fine, triangles) == pytest.approx(volume(vertices, faces), rel=1e-9)


@pytest.mark.parametrize("name", SHAPES)
def test_the_mesh_has_the_volume_of_the_shape(name):
    """Inscribed in round ones: 48 corners around and 642 of a sphere miss about 1 %."""
    shape = SHAPES[name]
    found = volume(*part_triangles(shape.parts()[0]))
    exact = shape.mass_properties().volume
    assert 0.985 * exact < found < exact * (1 + 1e-12)
