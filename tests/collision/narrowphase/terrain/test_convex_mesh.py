"""Convex shapes against closed meshes: distances of a slow twin, channels, overhangs, walls."""

import numpy as np
import pytest
import trimesh
from scipy.spatial import ConvexHull

import drystone as ds
from drystone.shapes import Box, Capsule, Cylinder, Mesh, Sphere
from mesh_twin import (
    box_mesh,
    channel,
    extruded,
    mesh_surface,
    plate_with_hole,
    signed_distance,
    surface_distance,
    torus,
)
from narrow_twin import bare_shapes, collide, pose_row, random_hull, random_rotation

MARGIN = 0.1


def knob():
    """A ball with hills and hollows."""
    ball = trimesh.creation.icosphere(2)
    v = np.array(ball.vertices)
    return Mesh(v * (1 + 0.35 * np.sin(5 * v[:, :1]) * np.cos(4 * v[:, 1:2])), ball.faces)


MESHES = {
    "torus": torus(),
    "channel": channel(),
    "thin channel": channel(wall=0.02),
    "plate": box_mesh(2, 2, 0.05),
    "knob": knob(),
    "fine": torus(around=40, across=24),
}


def placed(mesh, rng):
    """The tables of a mesh at a random pose, and its vertices there."""
    pose = pose_row(rng.normal(size=3), random_rotation(rng))
    return pose, mesh.table.vertex @ pose[3:].reshape(3, 3).T + pose[:3]


@pytest.mark.parametrize("radius", [0.05, 0.3, 1.2])
@pytest.mark.parametrize("name", MESHES)
def test_sphere_is_as_far_from_a_mesh_as_the_twin_says(name, radius):
    mesh, rng = MESHES[name], np.random.default_rng(30)
    tables = bare_shapes(Sphere(radius), mesh)
    pose, vertices = placed(mesh, rng)
    lower, upper = vertices.min(axis=0) - radius, vertices.max(axis=0) + radius
    seen = 0
    for point in rng.uniform(lower, upper, size=(60, 3)):
        d = signed_distance(vertices, mesh.faces, point)
        (c,) = collide(tables, [pose_row(point), pose], MARGIN)
        assert len(c.gap) <= 11
        if d - radius >= MARGIN:
            assert len(c.gap) == 0
        elif d > 0:
            assert c.gap.min() == pytest.approx(d - radius, abs=1e-9)
            seen += 1
        elif d > -3 * radius:
            # Under a hollow edge two planes hold the point, both nearer than the edge.
            assert d - radius - 1e-9 <= c.gap.min() < 0.6 * d - radius
            seen += 1
    assert seen > 5


@pytest.mark.parametrize("name", ["torus", "thin channel", "knob"])
def test_pushing_a_sphere_along_its_contact_brings_it_to_the_surface(name):
    """The normal leads out on the side that is nearest, also from deep inside a thin wall."""
    mesh, rng = MESHES[name], np.random.default_rng(31)
    tables, vertices = bare_shapes(Sphere(0.02), mesh), mesh.table.vertex
    corners = vertices[mesh.faces]
    for _ in range(40):
        face, weights = rng.integers(len(corners)), rng.dirichlet([1, 1, 1])
        point = weights @ corners[face] - 0.008 * rng.uniform() * mesh.table.normal[face]
        (c,) = collide(tables, [pose_row(point), pose_row()], 1e-3)
        k = c.gap.argmin()
        after = point - c.gap[k] * -c.normal[k]
        before = signed_distance(vertices, mesh.faces, point)
        assert signed_distance(vertices, mesh.faces, after) > before + 0.01


SHAPES = {
    "box": Box(0.5, 0.4, 0.3),
    "capsule": Capsule(0.1, 0.5),
    "hull": random_hull(np.random.default_rng(20), 20, 0.3),
}


def core_of(shape, pose):
    """Vertices, edges and faces of a surface that, grown by a rounding, is that of the shape."""
    turn, place = pose[3:].reshape(3, 3), pose[:3]
    if isinstance(shape, Capsule):
        ends = np.array([[0, 0, -0.25], [0, 0, 0.25]]) @ turn.T + place
        return (ends, np.array([[0, 1]]), np.zeros((0, 3), int)), 0.1
    points = shape.parts()[0].geometry.vertex @ turn.T + place
    return mesh_surface(points, ConvexHull(points).simplices), 0.0


@pytest.mark.slow
@pytest.mark.parametrize("name", SHAPES)
def test_smallest_gap_is_the_distance_to_the_triangles(name):
    rng, mesh, shape = np.random.default_rng(32), torus(around=8, across=5), SHAPES[name]
    tables, surface = bare_shapes(shape, mesh), mesh_surface(mesh.table.vertex, mesh.faces)
    found = 0
    for _ in range(8):
        way, wanted = rng.normal(size=3), 10.0 ** rng.uniform(-5, -2)
        way /= np.linalg.norm(way)
        target = rng.uniform(-0.9, 0.9, size=3) * [1, 1, 0.2]
        pose = pose_row(target - 4 * way, random_rotation(rng))
        for _ in range(30):  # forward until the gap is there, if the way meets the torus
            core, rounding = core_of(shape, pose)
            gap = surface_distance(core, surface) - rounding
            pose[:3] += (gap - wanted) * way
            if gap < 1.001 * wanted:
                break
        (c,) = collide(tables, [pose, pose_row()], 0.03)
        gap = surface_distance(core_of(shape, pose)[0], surface) - rounding
        assert len(c.gap) == 0 if gap > 0.03 else c.gap.min() == pytest.approx(gap, abs=1e-5)
        found += gap < 0.03
    assert found > 4


@pytest.mark.parametrize("floor", ["box", "hull", "thin box"])
def test_mesh_on_a_wide_floor_touches_it_as_a_plane(floor):
    """Vertices over the top of the floor, its normal, and nothing from the mesh's other side."""
    thick = 0.01 if floor == "thin box" else 0.3
    shape = Box(4, 4, thick)
    if floor == "hull":
        shape = ds.ConvexHull(shape.parts()[0].geometry.vertex)
    rng, mesh = np.random.default_rng(33), torus(0.2, 0.08, around=30, across=20)
    tables = bare_shapes(shape, mesh)
    for margin in (1e-4, 0.02):
        for gap in (-1e-4, 5e-5, 3e-2):
            turn = random_rotation(rng)
            vertices = mesh.table.vertex @ turn.T
            lowest = vertices[:, 2].min()
            pose = [pose_row((0, 0, -0.5 * thick)), pose_row((0.3, 0.2, gap - lowest), turn)]
            (c,) = collide(tables, pose, margin)
            if gap >= margin:
                assert len(c.gap) == 0
                continue
            assert 1 <= len(c.gap) <= 4 and c.gap.min() == pytest.approx(gap, abs=1e-12)
            np.testing.assert_allclose(c.normal, np.tile([0, 0, 1], (len(c.gap), 1)), atol=1e-12)
            np.testing.assert_allclose(c.point[:, 2], 0.5 * c.gap, atol=1e-12)


# Worlds


def test_sphere_rests_on_the_floor_of_a_channel_not_on_its_lid():
    """The hull of the channel would carry the sphere at 1.3 m."""
    world = ds.World()
    world.add_fixed(channel())
    ball = world.add_body(Sphere(0.3), position=(0.02, 0.1, 1.6))
    world.run(1.5)
    np.testing.assert_allclose(ball.position, [0.02, 0.1, 0.3], atol=1e-5)
    assert np.abs(ball.velocity).max() < 1e-6


def test_sphere_rests_in_a_channel_that_stands_on_a_box():
    world = ds.World()
    world.add_fixed(Box(10, 10, 1), position=(0, 0, -0.5))
    trough = world.add_body(channel(), position=(0, 0, 0.21))
    ball = world.add_body(Sphere(0.3), position=(0.02, 0.1, 1.0))
    world.run(1.5)
    np.testing.assert_allclose(trough.position, [0, 0, 0.2], atol=1e-4)
    np.testing.assert_allclose(ball.position, [0.02, 0.1, 0.5], atol=1e-4)


def test_sphere_under_an_overhang_rests_on_the_ledge_below_it():
    c_shape = [(-1, 0), (1, 0), (1, 0.2), (-0.8, 0.2), (-0.8, 1.0), (1, 1.0), (1, 1.2), (-1, 1.2)]
    world = ds.World()
    world.add_fixed(extruded(c_shape, 3.0))
    below = world.add_body(Sphere(0.3), position=(0.1, 0, 0.6))
    above = world.add_body(Sphere(0.3), position=(0.1, 0, 2.0))
    world.run(1.5)
    np.testing.assert_allclose(below.position, [0.1, 0, 0.5], atol=1e-5)
    np.testing.assert_allclose(above.position, [0.1, 0, 1.5], atol=1e-5)


@pytest.mark.parametrize("side", [-1, 1])
def test_ball_deep_in_a_thin_wall_leaves_on_the_nearer_side(side):
    world = ds.World(gravity=(0, 0, 0))
    world.add_fixed(box_mesh(0.04, 4, 4))
    ball = world.add_body(Sphere(0.1), position=(0.005 * side, 0.3, 0.2))
    world.run(1.0)
    assert side * ball.position[0] == pytest.approx(0.12, abs=1e-3)
    np.testing.assert_allclose(ball.position[1:], [0.3, 0.2], atol=1e-6)


def test_ball_all_inside_a_tower_leaves_through_its_nearest_wall():
    world = ds.World(gravity=(0, 0, 0))
    world.add_fixed(box_mesh(2, 2, 20))
    ball = world.add_body(Sphere(0.1), position=(0.85, 0.1, 0.3))
    world.run(1.0)
    np.testing.assert_allclose(ball.position, [1.1, 0.1, 0.3], atol=1e-3)


def test_peg_of_9_99_mm_falls_through_a_hole_of_10_mm():
    world = ds.World(dt=1e-3)
    world.add_fixed(plate_with_hole(0.005, 0.04, 0.01), ds.Material(friction=0.1))
    peg = world.add_body(Cylinder(0.004995, 0.02), position=(0, 0, 0.0151))
    world.run(0.15)
    assert peg.position[2] < -0.03
    np.testing.assert_allclose(peg.position[:2], 0, atol=5e-6)


def test_ring_falls_over_a_peg():
    world = ds.World(dt=1 / 500)
    world.add_fixed(Box(1, 1, 0.1), position=(0, 0, -0.05))
    world.add_fixed(Cylinder(0.013, 0.1), ds.Material(friction=0.1), position=(0, 0, 0.05))
    tilt = np.cos(0.05), np.sin(0.05), 0, 0
    ring = world.add_body(torus(0.02, 0.006, around=48, across=24), ds.Material(friction=0.1),
                          position=(0.0003, 0, 0.11), orientation=tilt)  # fmt: skip
    world.run(1.5)
    assert ring.position[2] == pytest.approx(0.006, abs=2e-5)
    assert np.linalg.norm(ring.position[:2]) < 0.0011
    assert np.abs(ring.velocity).max() < 0.01


def test_nothing_is_felt_of_the_edges_within_a_flat_face():
    """A ball and a box slide over the top of a block that is cut into many triangles."""
    block = trimesh.creation.box((6, 2, 0.4)).subdivide().subdivide().subdivide()
    world = ds.World(gravity=(0, 0, -9.81))
    world.add_fixed(Mesh(block.vertices, block.faces), ds.Material(friction=0))
    things = [
        world.add_body(Sphere(0.1), ds.Material(friction=0), (-2, 0.3, 0.3), velocity=(3, 0.1, 0)),
        world.add_body(Box(0.3, 0.2, 0.2), ds.Material(friction=0), (-2, -0.4, 0.3),
                       velocity=(3, 0.1, 0)),
    ]  # fmt: skip
    for _ in range(240):
        world.step()
        for thing in things:
            assert abs(thing.velocity[2]) < 1e-6 and abs(thing.position[2] - 0.3) < 1e-5
    assert things[0].position[0] == pytest.approx(1.0, abs=1e-3)


def test_cube_of_a_mesh_falls_as_a_box_does():
    heights, turned = [], np.array([0.95, 0.2, 0.1, 0.05])
    turned /= np.linalg.norm(turned)
    for shape in (Box(0.4, 0.4, 0.4), box_mesh(0.4, 0.4, 0.4)):
        world = ds.World()
        world.add_fixed(Box(4, 4, 1), position=(0, 0, -0.5))
        body = world.add_body(shape, position=(0, 0, 0.5), orientation=turned)
        world.run(2.0)
        heights.append(body.position[2])
    np.testing.assert_allclose(heights, 0.2, atol=1e-4)


def test_recorded_and_replayed(tmp_path):
    world = ds.World()
    world.add_fixed(channel())
    ball = world.add_body(Sphere(0.3), position=(0, 0, 0.6))
    with ds.record(world, tmp_path / "fall.h5"):
        world.run(0.1)
        world.add_body(torus(0.1, 0.03), position=(0, 5, 0))
        world.run(0.1)
    copy = ds.replay(tmp_path / "fall.h5").world
    np.testing.assert_array_equal(copy.bodies[0].position, ball.position)
    assert isinstance(copy.bodies[1].shape, Mesh)
