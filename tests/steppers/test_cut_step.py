"""A step that begins with a deep overlap of meshes is taken in parts, and is one step to others."""

import numpy as np
import pytest
import trimesh

import drystone as ds
from drystone.bench.fuzz.linked_tubes import linking_number
from drystone.model.rotation import matrix_from_quaternion
from drystone.timestep import PARTS

SIDE, DEEP = 0.2, 0.01


def mesh_box(side=SIDE):
    box = trimesh.creation.box((side, side, side))
    return ds.Mesh(box.vertices, box.faces)


def sunken(deep=DEEP, **options):
    """A box of triangles that lies in another, too deep."""
    world = ds.World(sleeping=False, **options)
    stone = ds.Material(density=1000, friction=0.5)
    world.add_fixed(mesh_box(1.0), stone, position=(0, 0, -0.5))
    body = world.add_body(mesh_box(), stone, position=(0, 0, 0.5 * SIDE - deep))
    return world, body


def test_parts_are_one_step():
    world, body = sunken()
    info = world.step()
    assert world.step_count == 1 and world.time == world.dt
    assert info.penetration == pytest.approx(DEEP)
    assert info.overlaps > 0 and not info.converged
    # Each part has pushed out its half.
    assert 0.5 * SIDE - body.position[2] == pytest.approx(DEEP * 0.5**PARTS, rel=0.05)
    assert world.run(0.1).converged


def test_a_world_that_lies_in_nothing_takes_whole_steps():
    world, body = sunken(deep=0.0)
    for _ in range(10):
        before = np.array(body.position)
        world.step()
    assert world._work.log.flag[3] <= 1
    assert np.allclose(before, body.position, atol=1e-12)


def test_forces_are_read_as_those_of_a_step():
    """Its own weight is all that presses it down, in whatever parts it is pushed out."""
    world, body = sunken()
    for _ in range(2):
        world.step()
        force = world.contacts().force.sum(axis=0)
        assert abs(force[2]) == pytest.approx(body.mass * 9.81, rel=1e-6)


def test_joints_are_read_as_those_of_a_step():
    """A weight that hangs beside a pair that is being pushed out."""
    world, _ = sunken()
    weight = world.add_body(ds.Sphere(0.1), position=(3, 0, 2), mass=2.0)
    joint = world.add_joint(ds.Fixed(None, weight, (3, 0, 3)))
    world.step()
    assert world._work.log.flag[3] == PARTS
    assert joint.force[2] == pytest.approx(2.0 * 9.81, rel=1e-6)


def test_a_saved_world_goes_on_bit_for_bit_amid_parts(tmp_path):
    world, _ = sunken(deep=0.04)
    world.run(world.dt)
    world.save(tmp_path / "world.h5")
    copy = ds.World.load(tmp_path / "world.h5")
    for _ in range(5):
        world.step()
        copy.step()
        assert world.hash() == copy.hash()


def test_one_run_is_as_many_steps():
    one, two = sunken()[0], sunken()[0]
    one.run(6 * one.dt)
    for _ in range(6):
        two.step()
    assert one.step_count == two.step_count == 6 and one.hash() == two.hash()


def test_a_part_that_fails_leaves_the_state_before_the_step():
    world, _ = sunken()
    world.add_body(ds.Sphere(0.1), position=(3, 0, 2))
    world.state.twist[-1, 2] = np.nan
    before = {name: array.copy() for name, array in world.state._asdict().items()}
    with pytest.raises(ds.SimulationError, match="no longer a finite number"):
        world.step()
    for name in ("position", "rotation", "twist", "cached_impulse", "joint_impulse"):
        after = getattr(world.state, name)[: len(before[name])]
        assert np.array_equal(before[name], after, equal_nan=True), name
    assert world.step_count == 0


def ring_line(body, radius):
    angle = 2 * np.pi * np.arange(90) / 90
    circle = radius * np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=1)
    return circle @ matrix_from_quaternion(body.orientation).T + body.position


def test_a_heavy_ring_on_light_ones_stays_near_where_it_hangs():
    """Four rings of 1 kg and one of 2000 kg, that fall taut in steps of 0.01 s: in whole steps the
    last one sank by half a tube."""
    ring = trimesh.creation.torus(0.4, 0.1, major_sections=24, minor_sections=12)
    mesh, major = ds.Mesh(ring.vertices, ring.faces), 0.4
    world = ds.World(dt=0.01, sleeping=False)
    around = ((np.sqrt(0.5), np.sqrt(0.5), 0.0, 0.0), (np.sqrt(0.5), 0.0, np.sqrt(0.5), 0.0))
    rings = [world.add_fixed(mesh, orientation=around[0], name="hook")]
    for k in range(1, 6):
        at = (0, 0, -0.57 * k)
        mass = 2000.0 if k == 5 else 1.0
        rings.append(
            world.add_body(mesh, position=at, orientation=around[k % 2], mass=mass, name=str(k))
        )
    worst = 0.0
    for _ in range(150):
        worst = max(worst, world.step().penetration)
    lines = [ring_line(body, major) for body in rings]
    for one, other in zip(lines, lines[1:], strict=False):
        assert abs(linking_number(one, other)) == 1
    assert worst < 0.03
