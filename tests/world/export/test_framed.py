"""What of a scene is framed: nearly all bodies, what would hide them, and walls to see through."""

import numpy as np
import pytest

import drystone as ds
from drystone.world.export.drawing import drawing_of_world
from drystone.world.export.framed import LENS, framed

VIEW = (-0.6, -1.0, 0.45)


def test_the_sphere_holds_a_shape_that_stands_off_its_own_origin():
    world = ds.World()
    hull = ds.ConvexHull([(4, 0, 0), (5, 0, 0), (4, 1, 0), (4, 0, 1)])
    world.add_body(hull, position=(1, 2, 3), orientation=(np.sqrt(0.5), 0, 0, np.sqrt(0.5)))
    centre, radius = framed(drawing_of_world(world))
    corners = world.bodies[0].position + np.array([(0, 4, 0), (0, 5, 0), (-1, 4, 0), (0, 4, 1)])
    assert np.linalg.norm(corners - centre, axis=1).max() == pytest.approx(radius)
    assert radius < 1.0


def test_a_large_floor_is_not_framed_and_what_hides_the_bodies_is():
    world = ds.World()
    world.add_body(ds.Sphere(0.1), position=(0, 0, 1))
    world.add_fixed(ds.Box(100, 100, 1), position=(0, 0, -0.5))
    assert framed(drawing_of_world(world), VIEW)[1] < 1.0
    world.add_fixed(ds.Sphere(30), position=(-18, -30, 13.5))  # before the eye
    centre, radius = framed(drawing_of_world(world), VIEW)
    eye = centre + radius / np.sin(LENS / 2) * np.array(VIEW) / np.linalg.norm(VIEW)
    assert np.linalg.norm(eye - (-18, -30, 13.5)) > 30


def test_walls_of_a_container_are_seen_through_and_stairs_are_not():
    world = ds.World()
    floor = world.add_fixed(ds.Box(4, 4, 0.2), position=(0, 0, -0.1))
    for side in (-1, 1):
        world.add_fixed(ds.Box(0.2, 4, 3), position=(2 * side, 0, 1.5))
        world.add_fixed(ds.Box(4, 0.2, 3), position=(0, 2 * side, 1.5))
    drawing = drawing_of_world(world)
    assert drawing.fixed[0][2] == floor.name and drawing.walls == {1, 2, 3, 4}
    stairs = ds.World()
    for k in range(8):
        stairs.add_fixed(ds.Box(0.3, 2, 0.2 * (k + 1)), position=(0.3 * k, 0, 0.1 * (k + 1)))
    stairs.add_fixed(ds.Box(0.2, 4, 3), position=(-9, 0, 1.5))  # a wall alone is one to hit
    assert drawing_of_world(stairs).walls == set()
