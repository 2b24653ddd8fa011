"""Shapes on triangles: flat ground is a plane, ridges and hollows in closed form, no bumps."""

import numpy as np
import pytest
from scipy.spatial import Delaunay

from drystone.collision.narrowphase.gjk import core_distance
from drystone.model.arrays import CYLINDER, HULL
from drystone.shapes import Box, Capsule, Cone, Cylinder, Plane, Sphere, Terrain
from narrow_twin import bare_shapes, collide, pose_row, random_hull, random_rotation, turn

LYING = turn((0, 1, 0), np.pi / 2)  # local z -> world x
HULL_SHAPE = random_hull(np.random.default_rng(20), 30, 0.5)
SHAPES = {
    "sphere": Sphere(0.5),
    "capsule": Capsule(0.2, 1.0),
    "cylinder": Cylinder(0.3, 1.0),
    "box": Box(0.8, 0.6, 0.4),
    "hull": HULL_SHAPE,
    "cone": Cone(0.6, 1.0),
}


def triangulated(xy, height):
    faces = Delaunay(xy).simplices
    a, b, c = (xy[faces[:, k]] for k in range(3))
    turned = np.linalg.det(np.stack([b - a, c - a], axis=1)) < 0
    faces[turned] = faces[turned][:, ::-1]
    return Terrain(np.column_stack([xy, height]), faces)


def scattered(count, rng):
    corners = [(-3, -3), (3, -3), (3, 3), (-3, 3)]
    return np.vstack([rng.uniform(-3, 3, size=(count, 2)), corners])


def rough_ground(rng, count=60, roughness=0.15):
    xy = scattered(count, rng)
    return triangulated(xy, roughness * rng.normal(size=len(xy)))


def folded(slope):
    """Two planes that meet at x = 0, height slope * |x|, of squares cut in two."""
    x = np.linspace(-2, 2, 9)
    xx, yy = np.meshgrid(x, x)
    return triangulated(np.column_stack([xx.ravel(), yy.ravel()]), slope * abs(xx.ravel()))


def block(height=1.0):
    """A square hill of side 2 with upright walls on a wide floor, made of a few triangles."""
    v = np.array([(x, y, z) for z in (0, height) for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1))])
    v = np.vstack([v, [(-9, -9, 0), (9, -9, 0), (9, 9, 0), (-9, 9, 0)]])
    faces = [(4, 5, 6), (4, 6, 7)]
    for k in range(4):
        j = (k + 1) % 4
        faces += [(k, j, j + 4), (k, j + 4, k + 4), (8 + k, 8 + j, j), (8 + k, j, k)]
    return Terrain(v, np.array(faces))


def ground_row(ground, position=(0, 0, 0), rotation=None):
    """Pose of the tables of a terrain that stands here; they have an origin of their own."""
    rotation = np.eye(3) if rotation is None else rotation
    return pose_row(position + rotation @ ground.offset, rotation)


def meet(shape, ground, place, rotation=None, margin=0.02):
    tables = bare_shapes(shape, ground)
    (c,) = collide(tables, [pose_row(place, rotation), ground_row(ground)], margin)
    return c


def in_order(c):
    rows = np.column_stack([c.point, c.normal, c.gap])
    return rows[np.lexsort(np.round(rows[:, :3], 7).T)]


# flat ground


@pytest.mark.parametrize("name", SHAPES)
def test_flat_ground_is_a_plane(name):
    """Same contacts as on an analytic plane, wherever the edges of the triangles run."""
    rng = np.random.default_rng(21)
    xy = scattered(200, rng)
    ground = triangulated(xy, np.zeros(len(xy)))
    tables = bare_shapes(SHAPES[name], ground, Plane())
    upright = [np.eye(3), LYING, turn((1, 0, 0), np.pi / 2)]
    for k in range(60):
        rotation = turn((0, 0, 1), k) @ upright[k % 3] if k % 2 else random_rotation(rng)
        pose = np.array([pose_row((0, 0, 1), rotation), ground_row(ground), pose_row()])
        (high,) = collide(tables, pose, 5.0, pairs=[(0, 2)])
        place = (*rng.uniform(-1.5, 1.5, size=2), 1 - high.gap.min() + rng.choice([0.01, 0, -0.01]))
        pose[0, :3] = place
        on_plane, on_ground = collide(tables, pose, 0.02, pairs=[(0, 2), (0, 1)])
        np.testing.assert_allclose(in_order(on_ground), in_order(on_plane), atol=1e-12)
        np.testing.assert_array_equal(on_ground.normal, [[0, 0, -1]] * len(on_ground.gap))


def test_a_corner_right_on_a_vertex_or_an_edge_is_one_contact():
    x = np.linspace(-2, 2, 9)
    xx, yy = np.meshgrid(x, x)
    ground = triangulated(np.column_stack([xx.ravel(), yy.ravel()]), np.zeros(81))
    for place in ((0.5, 0.5), (0.25, 0.25), (0.0, 0.3)):
        c = meet(Box(1, 1, 1), ground, (*place, 0.5))
        assert len(c.gap) == 4
        np.testing.assert_array_equal(c.normal, [[0, 0, -1]] * 4)
    assert len(meet(Sphere(0.5), ground, (0.5, 0.5, 0.5)).gap) == 1


def test_sliding_over_flat_ground_never_changes_the_contacts():
    rng = np.random.default_rng(22)
    xy = scattered(300, rng)
    ground = triangulated(xy, np.zeros(len(xy)))
    for x in np.linspace(-2, 2, 101):
        c = meet(Box(1, 1, 1), ground, (x, 0.3, 0.5 - 1e-6))
        corners = [(x + s, 0.3 + t, -5e-7) for s in (-0.5, 0.5) for t in (-0.5, 0.5)]
        np.testing.assert_allclose(sorted(map(tuple, c.point)), sorted(corners), atol=1e-12)


# ridges and hollows


@pytest.mark.parametrize("x", [-0.4, -0.05, 0.0, 0.03, 0.2])
def test_sphere_over_a_ridge(x):
    """Beside the ridge the normal is a face's, above it that from the ridge to the centre."""
    slope, r = -0.5, 0.5
    up = np.array([0, 1]) if x == 0 else np.array([np.sign(x) * 0.5, 1]) / np.hypot(0.5, 1)
    centre = np.array([x, 0.502])
    on_face = abs(x) * 1.0 + slope * centre[1] > 0  # foot of the face's normal beyond x = 0
    c = meet(Sphere(r), folded(slope), (x, 0.1, centre[1]), margin=0.3)
    if on_face:
        gap, n = centre @ up - r, up
    else:
        gap, n = np.linalg.norm(centre) - r, centre / np.linalg.norm(centre)
    deepest = c.gap.argmin()
    assert c.gap[deepest] == pytest.approx(gap, abs=1e-12)
    np.testing.assert_allclose(c.normal[deepest], [-n[0], 0, -n[1]], atol=1e-12)
    assert len(c.gap) == 1


@pytest.mark.parametrize("x", [-0.2, 0.0, 0.1])
def test_sphere_in_a_hollow_touches_faces_only(x):
    slope, r = 0.5, 0.5
    c = meet(Sphere(r), folded(slope), (x, 0.1, 0.57), margin=0.5)
    norm = np.hypot(0.5, 1)
    expected = {(-0.5 * s / norm, (0.57 - 0.5 * s * x) / norm - r) for s in (-1, 1)}
    found = {(-n, g) for n, g in zip(c.normal[:, 0], c.gap, strict=True)}
    np.testing.assert_allclose(sorted(found), sorted(expected), atol=1e-12)


def test_a_corner_in_a_hollow_is_held_by_both_sides():
    """However little it is under the edge, where it is under neither triangle."""
    box = Box(1, 1, 1)
    rotation = turn((0, 1, 0), np.pi / 4)
    for depth in (1e-7, 1e-5, 1e-3):
        for aside in (0.0, 0.3 * depth, -depth):
            c = meet(box, folded(0.5), (aside, 0.1, np.sqrt(0.5) - depth), rotation)
            assert {round(n, 6) for n in c.normal[:, 0]} == {0.447214, -0.447214}
            assert (c.gap < 0).all()


def test_box_flat_on_a_roof():
    """Two lines along the ridge would do; the normal is that of the box."""
    c = meet(Box(1, 1, 1), folded(-0.5), (0.2, 0.1, 0.499))
    np.testing.assert_allclose(c.normal, [[0, 0, -1]] * len(c.gap), atol=1e-12)
    np.testing.assert_allclose(c.gap, -1e-3, atol=1e-12)
    assert {round(y, 9) for y in c.point[:, 1]} >= {-0.4, 0.6}
    np.testing.assert_allclose(c.point[:, 0], 0.0, atol=1e-12)


def test_box_across_a_roof_touches_at_crossing_edges():
    """Edge on edge at right angles: one contact, its normal upright."""
    rotation = turn((1, 0, 0), np.pi / 4)
    c = meet(Box(1, 1, 1), folded(-0.5), (0.2, 0.1, np.sqrt(0.5) - 1e-3), rotation)
    assert len(c.gap) == 1
    np.testing.assert_allclose(c.normal, [[0, 0, -1]], atol=1e-12)
    np.testing.assert_allclose(c.point[0], [0, 0.1, -5e-4], atol=1e-12)


def test_box_on_a_peak():
    v = np.array([(0, 0, 1), (-2, -2, 0), (2, -2, 0), (2, 2, 0), (-2, 2, 0)], float)
    ground = Terrain(v, np.array([(0, 1, 2), (0, 2, 3), (0, 3, 4), (0, 4, 1)]))
    c = meet(Box(1, 1, 1), ground, (0.2, 0.1, 1.499))
    np.testing.assert_allclose(c.point, [[0, 0, 0.9995]], atol=1e-12)
    np.testing.assert_allclose(c.normal, [[0, 0, -1]], atol=1e-12)


@pytest.mark.parametrize("shape", [Box(1, 1, 1), Cylinder(0.5, 1.0)], ids=["box", "cylinder"])
def test_overhanging_shapes_are_held_by_the_rim_of_a_hill(shape):
    """Part of the foot is over the wall: contacts on top and where the rim is crossed."""
    c = meet(shape, block(), (0.8, 0.0, 1.5 - 1e-6))
    np.testing.assert_allclose(c.normal, [[0, 0, -1]] * len(c.gap), atol=1e-12)
    np.testing.assert_allclose(c.gap, -1e-6, atol=1e-12)
    assert c.point[:, 0].max() == pytest.approx(1.0, abs=1e-9)
    assert c.point[:, 0].min() < 0.4
    assert len(c.gap) >= 3


def test_box_beside_a_wall_touches_wall_and_floor():
    c = meet(Box(1, 1, 1), block(), (1.5 - 1e-4, 0.0, 0.5 - 1e-4))
    normals = {tuple(np.round(n, 9) + 0.0) for n in c.normal}
    assert normals == {(-1, 0, 0), (0, 0, -1)}
    np.testing.assert_allclose(c.gap, -1e-4, atol=1e-12)


def test_a_border_is_a_ridge():
    xy = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)], float)
    ground = triangulated(xy, np.zeros(4))
    c = meet(Box(1, 1, 1), ground, (1.2, 0, 0.5 - 1e-6))
    assert {round(x, 9) for x in c.point[:, 0]} == {0.7, 1.0}
    np.testing.assert_allclose(c.normal, [[0, 0, -1]] * len(c.gap), atol=1e-12)
    c = meet(Sphere(0.5), ground, (1.3, 0, 0.4 - 1e-3))
    d = np.array([0.3, 0, 0.399])
    np.testing.assert_allclose(c.normal, [-d / np.linalg.norm(d)], atol=1e-12)
    assert len(meet(Sphere(0.5), ground, (1.6, 0, 0.4)).gap) == 0


# rough ground


def bare_triangles(tables, ground):
    """The shape and every triangle as a hull of its own, for core_distance()."""
    count = len(ground.faces)
    corners = ground.vertices[ground.faces].reshape(-1, 3)
    known, points = len(tables.polytope), len(tables.vertex)
    polytope = np.zeros((known + count, 6), dtype=np.int32)
    polytope[:known] = tables.polytope
    polytope[known:, 0], polytope[known:, 1] = points + 3 * np.arange(count), 3
    return tables._replace(
        kind=np.append(tables.kind[:1], np.full(count, HULL)).astype(np.int32),
        size=np.vstack([tables.size[:1], np.zeros((count, 3))]),
        table=np.append(tables.table[:1], known + np.arange(count)).astype(np.int32),
        polytope=polytope,
        vertex=np.vstack([tables.vertex, corners]),
    )


def least_distance(triangles, pose, rounding):
    offset, scratch = tuple(-pose[0, :3]), np.zeros((256, 4))
    found = [
        core_distance(triangles, pose, 0, k, offset, (0.0, 0.0, -1.0), np.inf, scratch)[0]
        for k in range(1, len(pose))
    ]
    return min(found) - rounding


@pytest.mark.parametrize("name", SHAPES)
def test_smallest_gap_is_the_distance_to_the_triangles(name):
    rng = np.random.default_rng(23)
    ground = rough_ground(rng)
    tables = bare_shapes(SHAPES[name], ground)
    triangles = bare_triangles(tables, ground)
    rounding = tables.size[0, 0] if tables.kind[0] < CYLINDER else 0.0
    for _ in range(8):
        pose = np.array([pose_row()] * len(triangles.kind))
        pose[0] = pose_row((*rng.uniform(-1.8, 1.8, size=2), 2.0), random_rotation(rng))
        gap = 10.0 ** rng.uniform(-5, -2)
        for _ in range(30):  # down until the gap is there
            least = least_distance(triangles, pose, rounding)
            pose[0, 2] -= least - gap
            if abs(least - gap) < 1e-6 * gap:
                break
        (c,) = collide(tables, [pose[0], ground_row(ground)], 0.03)
        # the points kept may miss the deepest by 1e-5 of their extent
        assert c.gap.min() == pytest.approx(least_distance(triangles, pose, rounding), abs=1e-5)


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("roughness", [0.0, 0.03])
def test_what_is_under_the_ground_is_pushed_out_to_the_front(name, roughness):
    rng = np.random.default_rng(24)
    ground = rough_ground(rng, 200, roughness)
    tables = bare_shapes(SHAPES[name], ground)
    reach = tables.radius[0]
    for _ in range(12):
        place = np.array([*rng.uniform(-1.5, 1.5, size=2), rng.uniform(-0.9, 0.3) * reach])
        rotation = random_rotation(rng)
        for _ in range(80):
            (c,) = collide(tables, [pose_row(place, rotation), ground_row(ground)], 1e-4)
            if c.gap.min(initial=0.0) > -1e-3:
                break
            deepest = c.gap.argmin()
            place += 0.9 * c.gap[deepest] * c.normal[deepest]
        assert c.gap.min(initial=0.0) > -1e-3
        assert place[2] > 0.15  # all shapes are thicker than 0.4


def test_a_thin_wall_does_not_pull_a_body_through():
    """Two sheets back to back: only the one in front acts, though the other is near."""
    sheet = np.array([(-2, 0), (2, 0), (2, 4), (-2, 4)], float)
    v = np.vstack([[(x, 0.0, z) for x, z in sheet], [(x, 0.1, z) for x, z in sheet]])
    front, back = [(0, 1, 2), (0, 2, 3)], [(4, 6, 5), (4, 7, 6)]
    floor = np.array([(-9, -9, -1), (9, -9, -1), (9, 9, -1), (-9, 9, -1)])
    faces = np.array([*front, *back, (8, 9, 10), (8, 10, 11)])
    wall = Terrain(np.vstack([v, floor]), faces)
    for shape in (Box(1, 1, 1), Sphere(0.5), Cylinder(0.5, 1.0), Capsule(0.5, 1.0)):
        for depth in (1e-3, 0.04):
            c = meet(shape, wall, (0.1, -0.5 + depth, 2.0))
            assert len(c.gap) > 0
            np.testing.assert_allclose(c.normal, [[0, 1, 0]] * len(c.gap), atol=1e-12)
            np.testing.assert_allclose(c.gap, -depth, atol=1e-12)


# frames and tables


def test_turned_and_moved_ground_gives_turned_and_moved_contacts():
    rng = np.random.default_rng(25)
    ground = rough_ground(rng)
    turned, moved = random_rotation(rng), np.array([5.0, -3.0, 2.0])
    for shape in SHAPES.values():
        rotation = random_rotation(rng)
        place = np.array([0.3, -0.4, 0.35])
        plain = meet(shape, ground, place, rotation, margin=0.05)
        tables = bare_shapes(shape, ground)
        pose = [
            pose_row(turned @ place + moved, turned @ rotation),
            ground_row(ground, moved, turned),
        ]
        (c,) = collide(tables, pose, 0.05)
        assert len(c.gap) == len(plain.gap) > 0
        np.testing.assert_allclose(np.sort(c.gap), np.sort(plain.gap), atol=1e-12)
        np.testing.assert_allclose(
            in_order(plain)[:, :3],
            in_order(type(c)(point=(c.point - moved) @ turned, normal=c.normal @ turned, gap=c.gap))
            [:, :3],
            atol=1e-9,
        )  # fmt: skip


def test_two_terrains_in_one_table():
    rng = np.random.default_rng(26)
    first, second = rough_ground(rng, 50), rough_ground(rng, 80)
    for shape in SHAPES.values():
        place, rotation = (0.2, 0.1, 0.4), random_rotation(rng)
        alone = meet(shape, second, place, rotation, margin=0.3)
        tables = bare_shapes(first, shape, second)
        pose = [ground_row(first), pose_row(place, rotation), ground_row(second)]
        (c,) = collide(tables, pose, 0.3, pairs=[(1, 2)])
        assert len(c.gap) > 0
        np.testing.assert_array_equal(c.point, alone.point)
        np.testing.assert_array_equal(c.gap, alone.gap)


def test_a_fine_mesh_under_a_large_shape_gives_few_contacts():
    """Hundreds of triangles in reach: at most sixteen contacts, the deepest among them."""
    rng = np.random.default_rng(27)
    xy = scattered(3000, rng)
    ground = triangulated(xy, 0.02 * rng.normal(size=len(xy)))
    c = meet(Box(4, 4, 1), ground, (0, 0, 0.5), margin=0.05)
    assert 4 <= len(c.gap) <= 16
    inside = (abs(ground.vertices[:, :2]) < 2).all(axis=1)
    # ridges that lean by up to 11 degrees under the box may see it deeper by 1 / cos
    assert c.gap.min() == pytest.approx(-ground.vertices[inside, 2].max(), rel=0.03)
