"""Parts of shapes, and the tables that kernels read."""

from math import inf

import numpy as np
import pytest
import trimesh
from hypothesis import given, settings
from hypothesis import strategies as st

from drystone.model import arrays
from drystone.shapes import (
    Box,
    Capsule,
    Compound,
    ConvexHull,
    Cylinder,
    Entry,
    Mesh,
    Plane,
    Sphere,
    Terrain,
    build_shapes,
)

CUBE = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
seeds = st.integers(0, 2**32 - 1)


def box_triangles():
    box = trimesh.creation.box((1, 2, 3))
    return np.array(box.vertices), np.array(box.faces)


def test_equal_boxes_share_a_polytope():
    assert Box(1, 2, 3).parts()[0].geometry is Box(1.0, 2.0, 3.0).parts()[0].geometry
    assert Box(1, 2, 3).parts()[0].geometry is not Box(1, 2, 4).parts()[0].geometry


@pytest.mark.parametrize(
    "shape, kind, size, radius",
    [
        (Sphere(2), arrays.SPHERE, (2, 0, 0), 2),
        (Box(2, 4, 4), arrays.BOX, (1, 2, 2), 3),
        (Capsule(1, 4), arrays.CAPSULE, (1, 2, 0), 3),
        (Cylinder(3, 8), arrays.CYLINDER, (3, 4, 0), 5),
        (Plane(), arrays.PLANE, (0, 0, 0), inf),
    ],
)
def test_parts_of_primitives(shape, kind, size, radius):
    (part,) = shape.parts()
    assert part.kind == kind and part.radius == radius
    np.testing.assert_array_equal(part.size, size)
    np.testing.assert_array_equal(part.position, np.zeros(3))
    np.testing.assert_array_equal(part.rotation, np.eye(3))


@pytest.mark.parametrize(
    "shape, half",
    [
        (Sphere(2), 2),
        (Capsule(1, 4), 1),
        (Cylinder(3, 8), 3),
        (Cylinder(3, 1), 0.5),
        (Box(2, 5, 4), 1),
        (ConvexHull(CUBE), 1 / 6),
        (Mesh(*box_triangles()), 6 / 22),
        (Plane(), inf),
        (Terrain(CUBE[:3], [[0, 1, 2]]), inf),
    ],
    ids=lambda x: type(x).__name__,
)
def test_half_thickness_is_no_more_than_half_of_the_thinnest_side(shape, half):
    """Of polyhedra volume over surface: 1 / 6 of a unit cube."""
    (part,) = shape.parts()
    assert part.half_thickness == pytest.approx(half, rel=1e-12)
    assert build_shapes([entry(0, part)]).thickness[0] == part.half_thickness


@settings(deadline=None)
@given(seeds)
def test_plane_is_placed_by_normal_and_offset(seed):
    rng = np.random.default_rng(seed)
    normal = rng.normal(size=3)
    (part,) = Plane(normal, offset=1.5).parts()
    unit = normal / np.linalg.norm(normal)
    np.testing.assert_allclose(part.rotation[:, 2], unit, atol=1e-12)
    np.testing.assert_allclose(part.rotation @ part.rotation.T, np.eye(3), atol=1e-12)
    assert np.linalg.det(part.rotation) > 0
    np.testing.assert_allclose(part.position, 1.5 * unit, atol=1e-12)


def test_plane_can_face_down():
    (part,) = Plane((0, 0, -1), 2).parts()
    np.testing.assert_array_equal(part.rotation @ [0, 0, 1], [0, 0, -1])
    assert np.linalg.det(part.rotation) == 1


def entry(body, part, material=0, group=1, mask=-1):
    return Entry(body, part, part.position, part.rotation, material, group, mask)


def test_build_shapes_stores_every_geometry_once_and_in_order():
    hull = ConvexHull(np.random.default_rng(0).normal(size=(12, 3)))
    ground = Terrain.from_grid(np.zeros((3, 4)), 1.0)
    hill = Terrain.from_grid(np.arange(4.0).reshape(2, 2), 2.0)
    shapes = [
        Plane(),
        ground,
        Box(1, 1, 1),
        hull,
        Sphere(1),
        Box(1, 1, 1),
        hull,
        hill,
        Box(2, 1, 1),
    ]
    parts = [s.parts()[0] for s in shapes]
    t = build_shapes([entry(b, p, b % 2, 1 << b, 0xFFFFFFFF) for b, p in enumerate(parts)])
    assert t.kind.tolist() == [p.kind for p in parts]
    assert t.table.tolist() == [-1, 0, 0, 1, -1, 0, 1, 1, 2]
    assert t.group.tolist() == [1 << b for b in range(9)] and set(t.mask.tolist()) == {-1}
    assert t.material.tolist() == [b % 2 for b in range(9)]
    for s, part in enumerate(parts):
        np.testing.assert_array_equal(t.local[s, :3], part.position)
        np.testing.assert_array_equal(t.local[s, 3:].reshape(3, 3), part.rotation)
    for s in (2, 3, 8):
        check_polytope_slice(t, t.table[s], parts[s].geometry)
    for s in (1, 7):
        check_terrain_slice(t, t.table[s], parts[s].geometry)


def check_polytope_slice(t, number, p):
    v, nv, f, nf, e, ne = t.polytope[number].tolist()
    np.testing.assert_array_equal(t.vertex[v : v + nv], p.vertex)
    np.testing.assert_array_equal(t.face_plane[f : f + nf], p.face_plane)
    np.testing.assert_array_equal(t.edge[e : e + ne], p.edge)
    for (first, count), (a, n) in zip(t.face_loop[f : f + nf], p.face_loop, strict=True):
        np.testing.assert_array_equal(t.loop[first : first + count], p.loop[a : a + n])
    for (first, count), (a, n) in zip(t.vertex_star[v : v + nv], p.vertex_star, strict=True):
        np.testing.assert_array_equal(t.star[first : first + count], p.star[a : a + n])


def check_terrain_slice(t, number, g):
    v, tri, nt, cell, nx, ny = t.terrain[number].tolist()
    assert (nx, ny) == g.cells
    np.testing.assert_array_equal(t.terrain_grid[number], [*g.corner, g.side])
    np.testing.assert_array_equal(t.terrain_vertex[v : v + len(g.vertex)], g.vertex)
    np.testing.assert_array_equal(t.triangle[tri : tri + nt], g.triangle)
    np.testing.assert_array_equal(t.triangle_normal[tri : tri + nt], g.normal)
    np.testing.assert_array_equal(t.neighbour[tri : tri + nt], g.neighbour)
    for c in range(nx * ny):
        listed = t.cell_triangle[t.cell_first[cell + c] : t.cell_first[cell + c + 1]]
        expected = g.cell_triangle[g.cell_first[c] : g.cell_first[c + 1]]
        np.testing.assert_array_equal(listed, expected)


@pytest.mark.parametrize("shapes", [[], [Sphere(1)], [Box(1, 1, 1), ConvexHull(CUBE)]])
def test_tables_have_one_signature(shapes):
    """Same type, dimension and layout whatever is in them: a second one means compiling twice."""
    full = Compound(
        (Terrain.from_grid(np.zeros((2, 2)), 1.0), (0, 0, 0)), (ConvexHull(CUBE), (0, 0, 0))
    )
    model = build_shapes([entry(0, p) for p in full.parts()])
    table = build_shapes([entry(k, p) for k, s in enumerate(shapes) for p in s.parts()])
    for name, one, other in zip(arrays.Shapes._fields, table, model, strict=True):
        assert one.dtype == other.dtype and one.ndim == other.ndim, name
        assert one.shape[1:] == other.shape[1:], name
        assert one.flags.c_contiguous and one.flags.writeable, name
        assert one.dtype in (np.float64, np.int32), name
    assert len(table.kind) == len(shapes)
