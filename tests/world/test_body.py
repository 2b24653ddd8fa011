"""Bodies: what users set and read, in both frames, before and while the world runs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import drystone as ds
from box_worlds import STONE, box_world, offset_hull

G = 9.81


def rotate(q, v):
    w, x, y, z = q
    u = np.array([x, y, z])
    return v + 2.0 * np.cross(u, np.cross(u, v) + w * np.asarray(v))


# Frames


def test_pose_is_that_of_the_frame_in_which_the_shape_was_given():
    """centre = position + R c, before and after the arrays are made."""
    q = np.array([0.5, 0.5, -0.5, 0.5])
    world = ds.World(gravity=(0, 0, 0))
    body = world.add_body(offset_hull(), STONE, position=(10, 20, 30), orientation=q)
    for _ in range(2):
        np.testing.assert_allclose(body.position, (10, 20, 30), atol=1e-12)
        np.testing.assert_allclose(body.orientation, q, atol=1e-12)
        expected = (10, 20, 30) + rotate(q, np.array([4.0, -2.0, 1.0]))
        np.testing.assert_allclose(body.centre, expected, atol=1e-12)
        assert world.model is not None


def test_mass_and_inertia_come_from_the_shape():
    """Box of a x b x c: m (b² + c²) / 12 and so on, in the shape's axes."""
    world = ds.World()
    body = world.add_body(offset_hull(), STONE)
    mass = 2600 * 2 * 1 * 3
    inertia = mass / 12 * np.diag([1 + 9, 9 + 4, 4 + 1])
    assert body.mass == pytest.approx(mass, rel=1e-12)
    np.testing.assert_allclose(body.inertia, inertia, rtol=1e-10, atol=1e-9 * mass)


def test_given_mass_inertia_and_centre_are_kept():
    tensor = np.array([[3.0, 0.2, 0.1], [0.2, 4.0, -0.3], [0.1, -0.3, 5.0]])
    world = ds.World(gravity=(0, 0, 0))
    body = world.add_body(
        ds.Box(1, 1, 1), STONE, mass=7.0, inertia=tensor, centre=(0.1, 0.2, 0.3), spin=(1, 2, 3)
    )
    assert body.mass == 7.0
    np.testing.assert_allclose(body.inertia, tensor, atol=1e-12)
    np.testing.assert_allclose(body.centre, (0.1, 0.2, 0.3), atol=1e-12)
    np.testing.assert_allclose(body.orientation, (1, 0, 0, 0), atol=1e-12)
    spin = np.array([1.0, 2.0, 3.0])
    assert body.kinetic_energy == pytest.approx(0.5 * spin @ tensor @ spin, rel=1e-12)
    assert world.energy().kinetic == pytest.approx(body.kinetic_energy, rel=1e-12)
    np.testing.assert_allclose(world.momentum().angular, tensor @ spin, rtol=1e-12)


def test_a_mass_alone_keeps_the_distribution_of_the_shape():
    world = ds.World()
    body = world.add_body(ds.Sphere(0.5), STONE, mass=10.0)
    np.testing.assert_allclose(body.inertia, 0.4 * 10 * 0.25 * np.eye(3), rtol=1e-12)
    body.mass = 20.0
    np.testing.assert_allclose(body.inertia, 0.4 * 20 * 0.25 * np.eye(3), rtol=1e-12)


unit = st.tuples(*[st.floats(-1, 1)] * 4).filter(lambda q: sum(x * x for x in q) > 0.01)
point = st.tuples(*[st.floats(-100, 100)] * 3)


@settings(max_examples=30, deadline=None)
@given(point, unit, point)
def test_what_is_set_is_read(position, q, centre):
    """Round trip through the inner frame, to the rounding of a sum of such sizes."""
    q = np.array(q) / np.linalg.norm(q)
    world = ds.World(gravity=(0, 0, 0))
    tensor = np.array([[3.0, 0.2, 0.1], [0.2, 4.0, -0.3], [0.1, -0.3, 5.0]])
    body = world.add_body(ds.Box(1, 1, 1), STONE, mass=1.0, inertia=tensor, centre=centre)
    assert world.model is not None
    body.position = position
    body.orientation = q
    np.testing.assert_allclose(body.position, position, atol=1e-11)
    np.testing.assert_allclose(body.orientation, q, atol=1e-12)
    np.testing.assert_allclose(body.centre, position + rotate(q, np.array(centre)), atol=1e-11)
    body.centre = (1.0, 2.0, 3.0)
    np.testing.assert_allclose(body.centre, (1, 2, 3), atol=1e-11)
    np.testing.assert_allclose(body.orientation, q, atol=1e-12)


def test_free_flight_turns_about_the_centre_of_mass():
    """Half a turn about z moves the shape's frame round the centre, which flies straight."""
    world = ds.World(dt=0.01, gravity=(0, 0, 0))
    hull = offset_hull()
    body = world.add_body(hull, STONE, velocity=(1, 0, 0), spin=(0, 0, np.pi))
    world.run(1.0)
    np.testing.assert_allclose(body.centre, (5, -2, 1), atol=1e-9)
    np.testing.assert_allclose(body.position, (5 + 4, -2 - 2, 0), atol=2e-3)


# Setting


def test_setters_reach_pending_and_running_bodies():
    world = box_world(gravity=(0, 0, 0))
    crate = world["crate"]
    for _ in range(2):
        crate.velocity, crate.spin = (1, 2, 3), (0.1, 0.2, 0.3)
        crate.force, crate.torque = (4, 5, 6), (7, 8, 9)
        np.testing.assert_array_equal(crate.velocity, (1, 2, 3))
        np.testing.assert_array_equal(crate.spin, (0.1, 0.2, 0.3))
        np.testing.assert_array_equal(crate.force, (4, 5, 6))
        np.testing.assert_array_equal(crate.torque, (7, 8, 9))
        crate.velocity, crate.spin, crate.force, crate.torque = (np.zeros(3),) * 4
        assert world.state is not None


def test_a_constant_force_accelerates():
    """v = F t / m, exactly up to rounding."""
    world = ds.World(gravity=(0, 0, 0))
    ball = world.add_body(ds.Sphere(0.1), STONE, mass=2.0)
    ball.force = (3, 0, 0)
    world.run(1.0)
    assert ball.velocity[0] == pytest.approx(1.5, rel=1e-12)


def test_setting_the_inertia_of_a_running_body_keeps_its_motion():
    world = box_world(sleeping=False)
    crate = world["crate"]
    world.run(0.1)
    before = crate.position, crate.orientation, crate.velocity, crate.spin, world.step_count
    crate.inertia = [[900.0, 50, 0], [50, 800, 0], [0, 0, 700]]
    after = crate.position, crate.orientation, crate.velocity, crate.spin, world.step_count
    for a, b in zip(before, after, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-12)
    world.run(0.1)
    assert crate.position[2] == pytest.approx(0.5, abs=1e-4)


def test_arrays_of_a_body_cannot_be_written_in_place():
    """crate.position[2] = 1 would change a copy and nothing else."""
    crate = box_world()["crate"]
    with pytest.raises(ValueError, match="read-only"):
        crate.position[2] = 1.0


def test_setting_wakes_the_body_and_what_touches_it():
    world = box_world()
    upper = world.add_body(ds.Box(1, 1, 1), STONE, position=(0, 0, 1.5))
    far = world.add_body(ds.Box(1, 1, 1), STONE, position=(10, 0, 0.5))
    world.run(2.0)
    assert all(body.asleep for body in world.bodies)
    world["crate"].velocity = (0, 0, 0)
    assert not world["crate"].asleep and not upper.asleep and far.asleep


def test_a_body_can_be_put_to_sleep():
    world = box_world()
    world.step()
    world["crate"].asleep = True
    assert world["crate"].asleep
    world["crate"].asleep = False
    assert not world["crate"].asleep
    awake = box_world(sleeping=False)
    with pytest.raises(ds.InputError, match="sleeping=False"):
        awake["crate"].asleep = True


def test_changing_gravity_wakes_everything():
    world = box_world()
    world.run(1.0)
    assert world["crate"].asleep
    world.gravity = (0, 0, 9.81)
    world.run(0.5)
    assert world["crate"].position[2] > 1.0
