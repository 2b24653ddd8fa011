"""Closest points and overlap against closed forms."""

import numpy as np
import pytest

import drystone as ds


def pair(shape_a, shape_b, at, orientation=(1, 0, 0, 0)):
    world = ds.World()
    a = world.add_body(shape_a)
    b = world.add_body(shape_b, position=at, orientation=orientation)
    return world, a, b


@pytest.mark.parametrize(
    ("a", "b", "at", "distance"),
    [
        (ds.Sphere(1), ds.Sphere(0.5), (3, 0, 4), 3.5),
        (ds.Sphere(1), ds.Sphere(0.5), (1, 0, 0), -0.5),
        (ds.Box(2, 2, 2), ds.Box(1, 1, 1), (3, 0, 0), 1.5),
        (ds.Box(2, 2, 2), ds.Box(1, 1, 1), (3, 3, 0), 1.5 * 2**0.5),
        (ds.Box(2, 2, 2), ds.Box(1, 1, 1), (1.4, 0.2, 0.1), -0.1),
        (ds.Capsule(0.3, 2), ds.Cylinder(0.5, 1), (2, 0, 0.2), 1.2),
        (ds.Box(2, 2, 2), ds.Sphere(0.5), (0, 0, 1.3), -0.2),
    ],
)
def test_the_gap_of_two_bodies_is_that_of_the_closed_form(a, b, at, distance):
    world, one, other = pair(a, b, at)
    found = world.closest_points(one, other)
    assert found.distance == pytest.approx(distance, rel=1e-9, abs=1e-9)
    apart = found.point_b - found.point_a
    assert apart @ found.normal == pytest.approx(distance, rel=1e-6, abs=1e-6)
    assert found.normal @ np.array(at) > 0
    assert world.overlap(one, other) == (distance <= 0)


def test_meshes_planes_and_terrain_have_distances_too():
    box = ds.Box(2, 2, 2)
    corner = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)
    faces = [(0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1), (2, 3, 7), (2, 7, 6),
             (0, 2, 6), (0, 6, 4), (1, 5, 7), (1, 7, 3)]  # fmt: skip
    world = ds.World()
    ground = world.add_fixed(ds.Plane())
    mesh = world.add_body(ds.Mesh(corner, faces), position=(0, 0, 3))
    other = world.add_body(ds.Mesh(corner, faces), position=(0, 5, 3))
    inner = world.add_body(ds.Sphere(0.2), position=(0, 0, 3))
    block = world.add_body(box, position=(4, 0, 3))
    assert world.closest_points(mesh, ground).distance == pytest.approx(2.0, rel=1e-12)
    assert world.closest_points(mesh, block).distance == pytest.approx(2.0, rel=1e-9)
    assert world.closest_points(mesh, other).distance == pytest.approx(3.0, rel=1e-9)
    assert world.overlap(mesh, inner)
    assert world.closest_points(ground, block).normal.tolist() == [0, 0, 1]


def test_a_shape_that_is_in_no_world_can_ask():
    world = ds.World()
    ground = world.add_fixed(ds.Plane(), group=2)
    ball = world.add_body(ds.Sphere(0.5), position=(0, 0, 3))
    assert world.overlaps(ds.Box(1, 1, 1), (0, 0, 3)) == [ball]
    assert set(world.overlaps(ds.Box(1, 1, 8), (0, 0, 3))) == {ground, ball}
    assert world.overlaps(ds.Box(1, 1, 8), (0, 0, 3), mask=2) == [ground]
    near = world.closest_to(ds.Sphere(0.1), (2, 0, 3))
    assert near.body is ball and near.distance == pytest.approx(1.4, rel=1e-12)
    assert world.closest_to(ds.Sphere(0.1), (2, 0, 3), within=1.0) is None
    assert world.closest_to(ds.Sphere(0.1), (2, 0, 3), ignore=ball).body is ground


def test_wrong_questions_get_a_sentence():
    world, one, _ = pair(ds.Sphere(1), ds.Sphere(1), (3, 0, 0))
    with pytest.raises(ds.InputError, match="given twice"):
        world.closest_points(one, one)
    with pytest.raises(ds.InputError, match="is no body"):
        world.closest_points(one, "wall")
    with pytest.raises(ds.InputError, match="not in this world"):
        ds.World().closest_points(one, one)
