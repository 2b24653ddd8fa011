"""Meshes that stand on, slide into and strike each other where faces and edges are flush."""

import numpy as np
import pytest
import trimesh

import drystone as ds

WOOD = ds.Material(density=700, friction=0.5)


def as_mesh(surface, **options):
    return ds.Mesh(surface.vertices, surface.faces, **options)


def prisms():
    """All 1 m high, about their middle."""
    create = trimesh.creation
    return [
        as_mesh(create.box((1, 1, 1))),
        as_mesh(create.box((1, 1, 1)).subdivide()),
        as_mesh(create.cylinder(0.5, 1, sections=24)),
        as_mesh(create.cylinder(0.5, 1, sections=7)),
        as_mesh(create.annulus(0.3, 0.5, 1, sections=24)),
        as_mesh(create.annulus(0.35, 0.5, 1, sections=8)),
        as_mesh(create.annulus(0.47, 0.5, 1, sections=16)),
    ]


def test_flush_prisms_stand_where_they_are_put():
    """One on the other with a gap of nothing or a hair: it is not pushed, up or aside."""
    rng, shapes = np.random.default_rng(5), prisms()
    for _ in range(150):
        low, high = rng.integers(len(shapes), size=2)
        gap = rng.choice([0, 0, 1e-12, -1e-12, 1e-9, -1e-9, -1e-7, 1e-6, -1e-5])
        aside = 0.08 * rng.normal(size=2) * rng.choice([0, 1], 2, p=[0.2, 0.8])
        yaw = rng.choice([0, 0, np.pi / 4, 6 * rng.random()])
        world = ds.World(sleeping=False)
        world.add_fixed(shapes[low], WOOD, position=(0, 0, -0.5))
        at = np.array([*aside, 0.5 + gap])
        body = world.add_body(
            shapes[high], WOOD, position=at, orientation=(np.cos(yaw / 2), 0, 0, np.sin(yaw / 2))
        )
        world.step()
        gaps = world.contacts().gap
        assert np.linalg.norm(body.position - at) < 1e-3, (low, high, aside, yaw, gap)
        assert gaps.min() > -1e-4, (low, high, aside, yaw, gap)


@pytest.mark.parametrize("sides", [3, 5, 6, 8])
def test_pegs_with_few_sides_enter_their_holes(sides):
    """5 µm of room on all sides, and the corners of the peg at those of the hole."""
    world = ds.World(dt=1 / 960, sleeping=False)
    hole = as_mesh(trimesh.creation.annulus(0.005, 0.02, 0.03, sections=sides))
    world.add_fixed(hole, position=(0, 0, -0.015))
    world.add_fixed(ds.Plane(), position=(0, 0, -0.03))
    peg = as_mesh(trimesh.creation.cylinder(0.004995, 0.04, sections=sides))
    body = world.add_body(peg, position=(0, 0, 0.0205))
    world.run(0.3)
    assert body.position[2] == pytest.approx(-0.01, abs=1e-4)


@pytest.mark.parametrize("thickness", [0.01, 0.001])
def test_plates_do_not_slap_through_the_ground(thickness):
    """The far edge comes down at several metres a second while a corner touches already."""
    x = np.linspace(-4, 4, 33)
    ground = ds.Terrain.from_grid(np.zeros((33, 33)), x[1] - x[0], (-4, -4))
    plate = as_mesh(trimesh.creation.box((1, 1, thickness)).subdivide())
    rng = np.random.default_rng(0)
    for _ in range(14):
        turn, spin = rng.normal(size=4), 3 * rng.normal(size=3)
        world = ds.World(sleeping=False)
        world.add_fixed(ground, WOOD)
        body = world.add_body(
            plate, WOOD, position=(0, 0, 1), velocity=(0, 0, -1), spin=spin,
            orientation=turn / np.linalg.norm(turn),
        )  # fmt: skip
        world.run(0.8)
        assert body.position[2] > -0.01


def test_what_is_deep_in_a_mesh_is_pushed_out():
    """A box a quarter of its size deep in a plate: seen, named by check(), and on top again."""
    turn = np.array([0.45, 1.0, -0.2, -0.45])
    plate = as_mesh(trimesh.creation.box((1, 1, 0.1)))
    for height in (0.115, 0.11, 0.1):
        world = ds.World()
        world.add_fixed(plate)
        body = world.add_body(
            ds.Box(0.1, 0.1, 0.1), position=(0.1, 0.2, height),
            orientation=turn / np.linalg.norm(turn),
        )  # fmt: skip
        assert any("overlaps" in finding.what for finding in world.check())
        world.run(1.0)
        assert body.position[2] > 0.09
