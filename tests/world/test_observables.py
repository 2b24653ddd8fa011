"""What is read of a world: contacts, energy, momentum, all bodies at once, names."""

import numpy as np
import pytest

import drystone as ds
from box_worlds import STONE, box_world, offset_hull

G = 9.81


def test_contacts_carry_the_weight():
    """Resting: the ground pushes up with m g; action is minus reaction."""
    world = box_world(sleeping=False, tolerance=1e-9)
    upper = world.add_body(ds.Box(1, 1, 1), STONE, position=(0, 0, 1.5), name="upper")
    world.run(1.0)
    table = world.contacts()
    crate = world["crate"]
    weight = 2600 * G
    np.testing.assert_allclose(table.on(upper), (0, 0, weight), atol=1e-5 * weight)
    np.testing.assert_allclose(table.between(None, crate), (0, 0, 2 * weight), atol=1e-5 * weight)
    np.testing.assert_allclose(
        table.between(crate, upper), -table.between(upper, crate), atol=1e-12
    )
    assert set(table.status) == {"stick"} and len(table) == 8
    assert set(zip(table.name_a, table.name_b, strict=True)) == {
        ("fixed", "crate"), ("crate", "upper")
    }  # fmt: skip
    np.testing.assert_allclose(table.normal, np.tile((0, 0, 1), (8, 1)), atol=1e-6)
    np.testing.assert_allclose(
        np.einsum("ci,ci->c", table.impulse, table.normal), table.impulse_axes[:, 0], atol=1e-9
    )


def test_a_sliding_contact_slips_against_its_motion():
    world = box_world(sleeping=False)
    crate = world["crate"]
    crate.velocity = (3, 0, 0)
    world.run(0.1)
    table = world.contacts()
    assert set(table.status) <= {"slip", "separate"} and "slip" in table.status
    assert table.on(crate)[0] == pytest.approx(-0.6 * 2600 * G, rel=1e-3)


def test_energy_and_momentum_of_known_motion():
    world = ds.World()
    a = world.add_body(ds.Sphere(0.1), STONE, mass=2.0, position=(1, 0, 5), velocity=(0, 3, 0))
    world.add_body(ds.Sphere(0.1), STONE, mass=1.0, velocity=(0, 0, -1), kinematic=True)
    energy, momentum = world.energy(), world.momentum()
    assert energy.kinetic == pytest.approx(9.0) == a.kinetic_energy
    assert energy.potential == pytest.approx(2 * G * 5)
    assert energy.total == energy.kinetic + energy.potential
    np.testing.assert_allclose(momentum.linear, (0, 6, 0))
    np.testing.assert_allclose(momentum.angular, np.cross((1, 0, 5), (0, 6, 0)))
    np.testing.assert_allclose(world.momentum(about=(1, 0, 5)).angular, (0, 0, 0), atol=1e-12)


def test_bulk_reads_equal_the_handles():
    world = ds.World()
    rng = np.random.default_rng(3)
    for _ in range(5):
        q = rng.normal(size=4)
        world.add_body(
            offset_hull(), STONE, rng.normal(size=3), q / np.linalg.norm(q),
            rng.normal(size=3), rng.normal(size=3),
        )  # fmt: skip
    world.run(0.05)
    for k, body in enumerate(world.bodies):
        assert body.index == k
        np.testing.assert_array_equal(world.positions[k], body.position)
        np.testing.assert_array_equal(world.orientations[k], body.orientation)
        np.testing.assert_array_equal(world.velocities[k], body.velocity)
        np.testing.assert_array_equal(world.spins[k], body.spin)
        np.testing.assert_array_equal(world.centres[k], body.centre)


def test_names_find_bodies():
    world = box_world()
    assert world["crate"] in world.bodies and world["ground"] in world.fixed
    assert "crate" in world and "lid" not in world
    world["crate"].name = "box"
    assert world["box"] is world.bodies[0] and "crate" not in world
    with pytest.raises(ds.InputError, match="Did you mean 'ground'"):
        world["grund"]
    world.add_body(ds.Sphere(1), STONE, name="box")
    with pytest.raises(ds.InputError, match="2 bodies are called 'box'"):
        world["box"]


def test_sleeping_bodies_press_on_what_carries_them():
    """Contacts of a stack that sleeps read as in the step in which it fell asleep."""
    world = box_world(tolerance=1e-9)
    upper = world.add_body(ds.Box(1, 1, 1), STONE, position=(0, 0, 1.5), name="upper")
    while not upper.asleep:
        assert world.time < 5.0
        world.step()
        awake = world.contacts()
    assert len(awake) == 8
    world.run(1.0)
    table, weight = world.contacts(), 2600 * G
    np.testing.assert_allclose(table.on(upper), (0, 0, weight), atol=1e-5 * weight)
    np.testing.assert_allclose(
        table.between(None, world["crate"]), (0, 0, 2 * weight), atol=1e-5 * weight
    )
    np.testing.assert_allclose(table.impulse, awake.impulse, atol=1e-9 * weight)
    np.testing.assert_allclose(table.point, awake.point, atol=1e-9)
    assert set(table.status) == {"stick"} and not table.velocity.any()
    before = world.hash()
    world.contacts()
    assert world.hash() == before


def test_contacts_of_those_awake_come_before_those_asleep():
    world = box_world(sleeping=True)
    world.run(2.0)
    ball = world.add_body(ds.Sphere(0.2), STONE, position=(5, 0, 0.2), velocity=(1, 0, 0))
    world.run(0.1)
    table = world.contacts()
    assert world["crate"].asleep and not ball.asleep
    assert table.name_b == [ball.name, *["crate"] * 4]
    np.testing.assert_allclose(table.on(world["crate"])[2], 2600 * G, rtol=1e-4)
