"""Seams of a ground laid edge to edge trip nothing; walls, steps and ramps do."""

import numpy as np
import pytest

import drystone as ds

ICE = ds.Material(density=900, friction=0.0, restitution=0.0)
SPEED = 3.0
LENGTHS = np.random.default_rng(3).uniform(0.07, 0.4, 24)


def tiles():
    """Middle and size along x of boxes laid edge to edge from x = -1.5 on."""
    ends = -1.5 + np.concatenate([[0.0], np.cumsum(LENGTHS)])
    return zip(0.5 * (ends[1:] + ends[:-1]), LENGTHS, strict=True)


def boxes(world):
    for x, length in tiles():
        world.add_fixed(ds.Box(length, 1, 0.1), ICE, position=(x, 0, -0.05))


def compound(world):
    parts = [(ds.Box(length, 1, 0.1), (x, 0, -0.05)) for x, length in tiles()]
    world.add_fixed(ds.Compound(*parts), ICE)


def kinematic(world):
    for x, length in tiles():
        world.add_body(ds.Box(length, 1, 0.1), ICE, position=(x, 0, -0.05), kinematic=True)


def beside_a_plane(world):
    world.add_fixed(ds.Plane(), ICE)
    world.add_fixed(ds.Box(0.5, 1, 0.4), ICE, position=(0, 0, -0.2))


def mesh_box(length, width, height):
    corners = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    faces = [face for a, b, c, d in quads for face in ((a, b, c), (a, c, d))]
    return ds.Mesh(0.5 * corners * (length, width, height), np.array(faces))


def sheet(length):
    x = 0.5 * length
    corners = [(-x, -0.5, 0), (x, -0.5, 0), (x, 0.5, 0), (-x, 0.5, 0)]
    return ds.Terrain(np.array(corners), np.array([(0, 1, 2), (0, 2, 3)]))


def meshes(world):
    for x, length in tiles():
        world.add_fixed(mesh_box(length, 1, 0.1), ICE, position=(x, 0, -0.05))


def terrains(world):
    for x, length in tiles():
        world.add_fixed(sheet(length), ICE, position=(x, 0, 0))


def of_all_kinds(world):
    for k, (x, length) in enumerate(tiles()):
        shape = (ds.Box(length, 1, 0.1), mesh_box(length, 1, 0.1), sheet(length))[k % 3]
        world.add_fixed(shape, ICE, position=(x, 0, 0 if k % 3 == 2 else -0.05))


def slide(lay, shape, dt, height=0.1):
    """Largest rise [m] and spin [rad/s] on the way, and the body."""
    world = ds.World(dt=dt, sleeping=False)
    lay(world)
    body = world.add_body(shape, ICE, position=(-1.2, 0, height), velocity=(SPEED, 0, 0))
    rise, spin = 0.0, 0.0
    for _ in range(round(0.8 / dt)):
        world.step()
        rise = max(rise, body.centre[2] - height)
        spin = max(spin, np.linalg.norm(body.spin))
    return rise, spin, body


@pytest.mark.parametrize("dt", [1 / 60, 1 / 240])
@pytest.mark.parametrize("lay", [boxes, compound, kinematic, beside_a_plane])
def test_a_box_slides_over_seams(lay, dt):
    rise, spin, body = slide(lay, ds.Box(0.2, 0.2, 0.2), dt)
    assert rise < 1e-6 and spin < 1e-5
    assert body.velocity[0] == pytest.approx(SPEED, rel=1e-9)


@pytest.mark.parametrize(
    "shape", [ds.Sphere(0.1), ds.Cylinder(0.1, 0.2), ds.Box(0.2, 0.2, 0.2)], ids=repr
)
def test_other_shapes_do_too(shape):
    rise, spin, body = slide(boxes, shape, 1 / 240)
    assert rise < 1e-6 and spin < 1e-5
    assert body.velocity[0] == pytest.approx(SPEED, rel=1e-9)


@pytest.mark.parametrize("lay", [meshes, terrains, of_all_kinds])
@pytest.mark.parametrize(
    "shape", [ds.Box(0.2, 0.2, 0.2), ds.Sphere(0.1), mesh_box(0.2, 0.2, 0.2)], ids=repr
)
def test_nothing_trips_at_seams_of_meshes_and_terrains(lay, shape):
    rise, spin, body = slide(lay, shape, 1 / 240)
    assert rise < 1e-6 and spin < 1e-5
    assert body.velocity[0] == pytest.approx(SPEED, rel=1e-9)


def wall(world):
    world.add_fixed(ds.Box(4, 1, 0.1), ICE, position=(0, 0, -0.05))
    world.add_fixed(ds.Box(0.2, 1, 0.4), ICE, position=(0.6, 0, 0.2))


def step_up(world):
    world.add_fixed(ds.Box(4, 1, 0.1), ICE, position=(-1.5, 0, -0.05))
    world.add_fixed(ds.Box(4, 1, 0.15), ICE, position=(2.5, 0, -0.025))


def wall_on_terrain(world):
    world.add_fixed(sheet(8), ICE)
    world.add_fixed(mesh_box(0.2, 1, 0.4), ICE, position=(0.6, 0, 0.2))


def cliff(world):
    world.add_fixed(sheet(4), ICE, position=(-1.5, 0, 0))
    world.add_fixed(mesh_box(4, 1, 0.15), ICE, position=(2.5, 0, -0.025))


@pytest.mark.parametrize(
    "lay, end", [(wall, 0.5), (step_up, 0.5), (wall_on_terrain, 0.5), (cliff, 0.5)]
)
def test_the_base_of_a_wall_and_a_step_stop_a_box(lay, end):
    _, _, body = slide(lay, ds.Box(0.2, 0.2, 0.2), 1 / 240)
    assert body.centre[0] <= end - 0.1 + 1e-4 or body.centre[2] > 0.1 + 1e-3


def test_a_ramp_lifts_a_box():
    """Its lower edge is level with the floor; what lies behind it is not."""
    lean = np.radians(20)

    def ramp(world):
        world.add_fixed(ds.Box(2, 1, 0.1), ICE, position=(-1, 0, -0.05))
        along, up = np.array([np.cos(lean), 0, np.sin(lean)]), (-np.sin(lean), 0, np.cos(lean))
        world.add_fixed(
            ds.Box(2, 1, 0.1), ICE, position=along - 0.05 * np.array(up),
            orientation=(np.cos(lean / 2), 0, -np.sin(lean / 2), 0),
        )  # fmt: skip

    rise, _, _ = slide(ramp, ds.Box(0.2, 0.2, 0.2), 1 / 240)
    assert rise > 0.05


def test_a_box_in_a_corner_keeps_the_contacts_of_the_wall():
    """Its lower corners touch floor and wall alike: neither is a seam of the other."""
    world = ds.World(sleeping=False)
    wall(world)
    body = world.add_body(ds.Box(0.2, 0.2, 0.2), ICE, position=(0.4, 0, 0.1))
    body.force = (50.0, 0.0, 0.0)
    for _ in range(3):
        world.step()
    contacts = world.contacts()
    assert np.sum(np.abs(contacts.normal[:, 0]) > 0.9) == 4
    assert contacts.on(body)[0] == pytest.approx(-50.0, rel=1e-6)
