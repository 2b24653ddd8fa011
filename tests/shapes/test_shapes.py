"""Shapes: mass properties, polytopes, tables and error sentences."""

from math import inf, pi

import numpy as np
import pytest
import trimesh
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from drystone.errors import InputError
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
    matrix_from_quaternion,
    principal_axes,
    quaternion_from_matrix,
)
from drystone.shapes.polytope import polytope_from_loops

CUBE = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
seeds = st.integers(0, 2**32 - 1)


def random_rotation(rng) -> np.ndarray:
    q = rng.normal(size=4)
    return matrix_from_quaternion(q / np.linalg.norm(q))


def random_quaternion(rng) -> tuple:
    q = rng.normal(size=4)
    return tuple(q / np.linalg.norm(q))


def box_triangles():
    box = trimesh.creation.box((1, 2, 3))
    return np.array(box.vertices), np.array(box.faces)


# Mass


def slices(radius, half: float, count: int = 400):
    """Volume and inertia of a body of revolution about z: Gauss-Legendre sum over thin discs.

    A disc of radius R has area π R² and the moments π R⁴/2 about z, π R⁴/4 across.
    """
    z, weight = np.polynomial.legendre.leggauss(count)
    z, weight = half * z, half * weight
    r2 = radius(z) ** 2
    across = (weight * pi * (r2 * r2 / 4 + r2 * z * z)).sum()
    return (weight * pi * r2).sum(), (across, across, (weight * pi * r2 * r2 / 2).sum())


@pytest.mark.parametrize(
    "shape, profile, half",
    [
        (Sphere(0.7), lambda z: np.sqrt(0.49 - z**2), 0.7),
        (Cylinder(0.3, 1.4), lambda z: 0.3 + 0 * z, 0.7),
        (
            Capsule(0.3, 1.4),
            lambda z: np.sqrt(0.09 - np.maximum(np.abs(z) - 0.7, 0) ** 2),
            1.0,
        ),
    ],
)
def test_round_shapes_match_their_slices(shape, profile, half):
    """The sum is exact for polynomials; the capsule's profile has a kink, hence 1e-6."""
    volume, moments = slices(profile, half)
    mass = shape.mass_properties()
    rel = 1e-6 if isinstance(shape, Capsule) else 1e-12
    assert mass.volume == pytest.approx(volume, rel=rel)
    np.testing.assert_allclose(mass.inertia, np.diag(moments), rtol=rel)
    np.testing.assert_array_equal(mass.centre, np.zeros(3))


def test_capsule_is_a_cylinder_and_two_half_balls():
    """Half ball: centre 3/8 r from its flat side, transverse moment there (83/320) m r²."""
    r, h = 0.4, 1.3
    ball = 2 / 3 * pi * r**3
    tube = Cylinder(r, h).mass_properties()
    across = tube.inertia[0, 0] + 2 * ball * (83 / 320 * r * r + (h / 2 + 3 / 8 * r) ** 2)
    mass = Capsule(r, h).mass_properties()
    assert mass.volume == pytest.approx(tube.volume + 2 * ball, rel=1e-12)
    assert mass.inertia[0, 0] == pytest.approx(across, rel=1e-12)
    assert mass.inertia[2, 2] == pytest.approx(tube.inertia[2, 2] + 0.8 * ball * r * r, rel=1e-12)


def test_box_agrees_with_its_polytope():
    box = Box(1, 2, 3)
    exact, integrated = box.mass_properties(), box.parts()[0].geometry.mass_properties()
    np.testing.assert_allclose(np.diag(exact.inertia), [6.5, 5.0, 2.5], rtol=1e-12)
    assert integrated.volume == pytest.approx(6, rel=1e-12)
    np.testing.assert_allclose(integrated.inertia, exact.inertia, atol=1e-12)


@pytest.mark.parametrize("seed", range(10))
def test_hull_mass_matches_trimesh(seed):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(30, 3)) + rng.normal(size=3)
    mesh, mass = trimesh.convex.convex_hull(points), ConvexHull(points).mass_properties()
    assert mass.volume == pytest.approx(mesh.volume, rel=1e-12)
    np.testing.assert_allclose(mass.centre, mesh.center_mass, atol=1e-12)
    scale = np.abs(mesh.moment_inertia).max()
    np.testing.assert_allclose(mass.inertia, mesh.moment_inertia, atol=1e-12 * scale)


def test_hull_at_map_coordinates_keeps_its_digits():
    """Coordinates are multiples of 1/8 m, exact there as here; nothing else may be lost."""
    corner = np.array([2793293.0, 1180191.0, 1500.0])
    points = np.random.default_rng(3).integers(-8, 8, size=(20, 3)) / 8
    near, far = ConvexHull(points), ConvexHull(points + corner)
    np.testing.assert_array_equal(near.polytope.vertex, far.polytope.vertex)
    np.testing.assert_array_equal(near.mass_properties().inertia, far.mass_properties().inertia)
    np.testing.assert_array_equal(near.offset + corner, far.offset)


@pytest.mark.parametrize("seed", range(10))
def test_compound_matches_brute_sum(seed):
    """Second moments ∫ x xᵀ about the origin add; the centre is taken out at the end."""
    rng = np.random.default_rng(seed)
    shapes = [
        Sphere(0.3),
        Box(0.2, 0.5, 1.0),
        Cylinder(0.2, 0.9),
        ConvexHull(rng.normal(size=(9, 3))),
    ]
    members = [(s, rng.normal(size=3), random_quaternion(rng)) for s in shapes]
    volume, first, second = 0.0, np.zeros(3), np.zeros((3, 3))
    for shape, position, orientation in members:
        m, turn = shape.mass_properties(), matrix_from_quaternion(orientation)
        spread = 0.5 * np.trace(m.inertia) * np.eye(3) - m.inertia
        centre = position + turn @ m.centre
        volume += m.volume
        first += m.volume * centre
        second += turn @ spread @ turn.T + m.volume * np.outer(centre, centre)
    centre = first / volume
    second -= volume * np.outer(centre, centre)
    mass = Compound(*members).mass_properties()
    assert mass.volume == pytest.approx(volume, rel=1e-12)
    np.testing.assert_allclose(mass.centre, centre, atol=1e-12)
    np.testing.assert_allclose(mass.inertia, np.trace(second) * np.eye(3) - second, atol=1e-12)


def test_box_of_eight_boxes_is_a_box():
    small = [(Box(0.5, 1, 1.5), p * (1, 2, 3) / 2) for p in CUBE]
    whole, sum_ = Box(1, 2, 3).mass_properties(), Compound(*small).mass_properties()
    np.testing.assert_allclose(sum_.inertia, whole.inertia, atol=1e-12)


def test_nested_compound_equals_flat_one():
    half, quarter = (0.5**0.5, 0, 0, 0.5**0.5), (0.5**0.5, 0.5**0.5, 0, 0)
    inner = Compound((Box(1, 2, 3), (1, 0, 0), quarter), (Sphere(1), (0, 2, 0)))
    outer = Compound((inner, (0, 0, 5), half))
    parts = outer.parts()
    assert [p.kind for p in parts] == [arrays.BOX, arrays.SPHERE]
    np.testing.assert_allclose(parts[0].position, [0, 1, 5], atol=1e-12)  # x turns to y
    np.testing.assert_allclose(parts[1].position, [-2, 0, 5], atol=1e-12)
    turn = matrix_from_quaternion(half) @ matrix_from_quaternion(quarter)
    np.testing.assert_allclose(parts[0].rotation, turn, atol=1e-12)
    np.testing.assert_allclose(outer.mass_properties().centre[2], 5, atol=1e-12)


@pytest.mark.parametrize("shape", [Plane(), Compound((Plane(), (0, 0, 0)), (Sphere(1), (0, 0, 0)))])
def test_plane_has_no_mass(shape):
    with pytest.raises(InputError, match="can only be fixed"):
        shape.mass_properties()


# Principal axes and rotations


def test_diagonal_inertia_keeps_its_order():
    moments, axes = principal_axes(np.diag([3.0, 1.0, 2.0]))
    np.testing.assert_array_equal(moments, [3, 1, 2])
    np.testing.assert_array_equal(axes, np.eye(3))


@settings(deadline=None)
@given(seeds)
def test_principal_axes_rebuild_the_tensor(seed):
    rng = np.random.default_rng(seed)
    turn, spread = random_rotation(rng), rng.uniform(0.1, 1, 3)
    tensor = turn @ np.diag(spread.sum() - spread) @ turn.T
    moments, axes = principal_axes(tensor)
    np.testing.assert_allclose(axes @ np.diag(moments) @ axes.T, tensor, atol=1e-12)
    np.testing.assert_allclose(axes.T @ axes, np.eye(3), atol=1e-12)
    assert np.linalg.det(axes) == pytest.approx(1, abs=1e-12)


def test_nearly_diagonal_inertia_turns_little():
    tensor = np.diag([3.0, 1.0, 2.0])
    tensor[0, 1] = tensor[1, 0] = 1e-5
    assert np.abs(principal_axes(tensor)[1] - np.eye(3)).max() < 1e-5


@pytest.mark.parametrize(
    "tensor, words",
    [
        (np.diag([1, 1, -1]), "moments must be > 0"),
        (np.eye(2), "3 by 3"),
        ([[1, 0.5, 0], [0, 1, 0], [0, 0, 1]], "symmetric"),
        (np.full((3, 3), np.nan), "finite"),
    ],
)
def test_bad_inertia_is_refused(tensor, words):
    with pytest.raises(InputError, match=words):
        principal_axes(tensor)


@settings(deadline=None)
@given(seeds)
def test_quaternion_and_matrix_are_inverse(seed):
    q = np.array(random_quaternion(np.random.default_rng(seed)))
    turn = matrix_from_quaternion(q)
    np.testing.assert_allclose(turn @ turn.T, np.eye(3), atol=1e-12)
    np.testing.assert_allclose(quaternion_from_matrix(turn), q * np.sign(q[0]), atol=1e-12)


@pytest.mark.parametrize("axis", [(1, 0, 0), (0, 1, 0), (0, 0, 1)])
def test_quarter_turn_is_right_handed(axis):
    s = 0.5**0.5
    turn = matrix_from_quaternion((s, *(s * np.array(axis))))
    start = np.roll(axis, 1)
    np.testing.assert_allclose(turn @ start, np.cross(axis, start), atol=1e-12)


# Polytopes


def check_polytope(p, tolerance):
    """All that contact code relies on; `tolerance` [m] is how far corners may be off a plane."""
    faces = [p.loop[a : a + n].tolist() for a, n in p.face_loop]
    assert len(p.vertex) - len(p.edge) + len(p.face_plane) == 2  # Euler
    normal, offset = p.face_plane[:, :3], p.face_plane[:, 3]
    np.testing.assert_allclose(np.linalg.norm(normal, axis=1), 1, atol=1e-12)
    height = p.vertex @ normal.T - offset
    assert height.max() <= 1e-13 * p.radius  # planes hold all vertices
    directed = {}
    for f, corners in enumerate(faces):
        assert len(set(corners)) == len(corners) >= 3
        assert np.abs(height[corners, f]).max() <= tolerance
        polygon = p.vertex[corners]
        area = sum(np.cross(polygon[k - 1], polygon[k]) for k in range(len(polygon)))
        assert area @ normal[f] > 0  # counter-clockwise from outside
        for k in range(len(corners)):
            directed[corners[k - 1], corners[k]] = f
    assert len(directed) == 2 * len(p.edge)
    for start, end, left, right in p.edge.tolist():
        assert directed[start, end] == left and directed[end, start] == right
    for v, (first, count) in enumerate(p.vertex_star.tolist()):
        expected = np.flatnonzero((p.edge[:, :2] == v).any(axis=1))
        assert sorted(p.star[first : first + count].tolist()) == expected.tolist()
        assert count >= 3 or tolerance > 0
    assert p.radius == pytest.approx(np.linalg.norm(p.vertex, axis=1).max())


@pytest.mark.parametrize("sizes", [(1, 1, 1), (0.1, 2, 30)])
def test_box_polytope(sizes):
    part = Box(*sizes).parts()[0]
    check_polytope(part.geometry, 1e-14)
    assert len(part.geometry.face_plane) == 6 and len(part.geometry.edge) == 12
    np.testing.assert_array_equal(part.geometry.vertex.max(axis=0), part.size)
    for k, corner in enumerate(part.geometry.vertex):
        assert [int(c > 0) for c in corner] == [k >> axis & 1 for axis in range(3)]


@pytest.mark.parametrize("noise", [0, 1e-15, 1e-9, 1e-8])
@pytest.mark.parametrize("seed", range(3))
def test_cube_of_many_points_has_six_quads(noise, seed):
    """Corners, points on edges and faces and inside, turned anyhow, exact or a bit off."""
    rng = np.random.default_rng(seed)
    grid = np.stack(np.meshgrid(*[np.linspace(-0.5, 0.5, 5)] * 3), axis=-1).reshape(-1, 3)
    points = grid @ random_rotation(rng).T + noise * rng.normal(size=grid.shape)
    hull = ConvexHull(points)
    assert hull.polytope.face_loop[:, 1].tolist() == [4] * 6
    assert len(hull.polytope.vertex) == 8
    check_polytope(hull.polytope, 1e-13 + 20 * noise)
    assert hull.mass_properties().volume == pytest.approx(1, abs=1e-12 + 20 * noise)


def test_cube_read_from_float32_has_six_quads():
    turn = random_rotation(np.random.default_rng(5))
    points = (10 + CUBE @ turn.T).astype(np.float32)
    assert len(ConvexHull(points).polytope.face_plane) == 6


def test_prism_has_polygon_ends():
    angle = np.linspace(0, 2 * pi, 17)[:-1]
    ring = np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=1)
    p = ConvexHull(np.concatenate([ring, ring + [0, 0, 1]])).polytope
    assert sorted(p.face_loop[:, 1].tolist()) == [4] * 16 + [16, 16]
    check_polytope(p, 1e-13)


def test_hull_is_rebuilt_bit_for_bit_from_its_loops():
    """What saving and loading does."""
    p = ConvexHull(np.random.default_rng(2).normal(size=(20, 3))).polytope
    again = polytope_from_loops(p.vertex, [p.loop[a : a + n].tolist() for a, n in p.face_loop])
    for name in ("vertex", "face_plane", "face_loop", "loop", "edge", "vertex_star", "star"):
        np.testing.assert_array_equal(getattr(again, name), getattr(p, name))


@pytest.mark.parametrize("loops", [[[0, 1, 2], [0, 2, 3]], [[0, 1, 2], [0, 1, 3], [2, 1, 3]]])
def test_open_polytope_is_refused(loops):
    with pytest.raises(InputError, match="do not close"):
        polytope_from_loops(CUBE[:4], loops)


@settings(max_examples=60, deadline=None)
@given(seeds, st.sampled_from(["round", "lattice", "sphere", "slab"]), st.booleans())
def test_hull_invariants(seed, family, noisy):
    rng = np.random.default_rng(seed)
    count = rng.integers(8, 60)
    points = {
        "round": lambda: rng.normal(size=(count, 3)),
        "lattice": lambda: rng.integers(0, 4, size=(count, 3)) @ random_rotation(rng),
        "sphere": lambda: (lambda x: x / np.linalg.norm(x, axis=1)[:, None])(
            rng.normal(size=(count, 3))
        ),
        "slab": lambda: rng.integers(0, 3, size=(count, 3)) * [1, 1, 1e-3],
    }[family]()
    if noisy:
        points = points + 10.0 ** rng.uniform(-16, -5) * rng.normal(size=points.shape)
    size = np.linalg.norm(np.ptp(points, axis=0))
    try:
        hull = ConvexHull(points)
    except InputError:
        assert family in ("lattice", "slab")  # a few lattice points may lie in a plane
        reject()
    check_polytope(hull.polytope, 5e-6 * size)
    normal, offset = hull.polytope.face_plane[:, :3], hull.polytope.face_plane[:, 3]
    outside = ((points - hull.offset) @ normal.T - offset).max()
    assert outside <= 5e-6 * size  # a few times the merge tolerance


# Surfaces for drawing


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


# Parts and tables


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


# What users see


def test_repr_is_readable():
    assert repr(Box(1, 2, 3)) == "Box(x=1.0, y=2.0, z=3.0)"
    assert repr(ConvexHull(CUBE)) == "ConvexHull(8 vertices, 6 faces)"
    assert repr(Compound((Sphere(1), (0, 0, 1)))) == (
        "Compound((Sphere(r=1.0), (0.0, 0.0, 1.0), (1.0, 0.0, 0.0, 0.0)))"
    )


def test_shapes_are_frozen_and_compare_by_value():
    assert Box(1, 2, 3) == Box(1.0, 2.0, 3.0)
    assert Compound((Sphere(1), (0, 0, 1))) == Compound((Sphere(1), (0.0, 0.0, 1.0)))
    with pytest.raises(AttributeError):
        Sphere(1).r = 2
    with pytest.raises(ValueError):
        ConvexHull(CUBE).polytope.vertex[0, 0] = 1


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda: Sphere(0), "Sphere: radius r is 0 m, must be > 0"),
        (lambda: Sphere(np.nan), "Sphere: radius r is nan, must be a finite number in m"),
        (lambda: Sphere("big"), "radius r is 'big', must be a number"),
        (lambda: Sphere(None), "radius r is None, must be a number"),
        (lambda: Box(1, -2, 3), "Box: size y is -2 m"),
        (lambda: Box(1, 2, np.inf), "Box: size z is inf"),
        (lambda: Capsule(1, 0), "Capsule: length is 0 m, must be > 0. For no length use Sphere"),
        (lambda: Cylinder(-1, 1), "Cylinder: radius r is -1 m"),
        (lambda: Plane((0, 0, 0)), "Plane: normal is (0, 0, 0)"),
        (lambda: Plane((0, 1)), "Plane: normal has 2 numbers, must have 3"),
        (lambda: Plane(offset=np.nan), "Plane: offset is nan"),
        (lambda: ConvexHull([[0, 0, 0]] * 3), "only 3 given, at least 4"),
        (lambda: ConvexHull([[0, 0, 0]] * 5), "all 5 points are the same"),
        (lambda: ConvexHull(np.eye(4)), "shape (4, 4), must be (n, 3)"),
        (lambda: ConvexHull(CUBE * [1, 1, 0]), "lie in a plane"),
        (lambda: ConvexHull(CUBE * [1, 1, 1e-8]), "lie in a plane"),
        (lambda: ConvexHull(CUBE * [1, 0, 0]), "lie in a plane"),
        (lambda: ConvexHull(np.where(CUBE > 0, CUBE, np.nan)), "row 0 is [nan, nan, nan]"),
        (lambda: ConvexHull("points"), "must be an array of numbers"),
        (lambda: Compound(), "Compound: is empty"),
        (lambda: Compound(Sphere(1)), "member 0 is Sphere(r=1.0), must be (shape, position)"),
        (lambda: Compound((Sphere(1), (0, 0))), "member 0: position has 2 numbers"),
        (lambda: Compound((Sphere, (0, 0, 0))), "is not a shape"),
        (lambda: Compound((Sphere(1), (0, 0, 0), (1, 1, 0, 0))), "must be a unit quaternion"),
    ],
)
def test_bad_input_is_named(make, words):
    with pytest.raises(InputError) as error:
        make()
    assert words in str(error.value)
