"""When islands fall asleep, and when not."""

import numpy as np
import pytest

import drystone as ds

STONE = ds.Material(friction=0.5)


def ground_world(**options):
    world = ds.World(**options)
    world.add_fixed(ds.Plane(), STONE)
    return world


def first_sleep(world, body, limit=600):
    """Number of the step after which `body` sleeps."""
    for k in range(1, limit):
        world.step()
        if body.asleep:
            return k
    return None


@pytest.mark.parametrize("delay", [0.1, 0.5])
def test_a_resting_body_sleeps_after_the_delay(delay):
    """At rest from the start: asleep after delay / dt steps, give or take rounding."""
    world = ground_world(sleep_delay=delay)
    box = world.add_body(ds.Box(1, 1, 1), STONE, position=(0, 0, 0.5))
    assert abs(first_sleep(world, box) - round(delay / world.dt)) <= 1
    assert not box.velocity.any() and not box.spin.any()


def test_without_sleeping_nothing_sleeps():
    world = ground_world(sleeping=False)
    box = world.add_body(ds.Box(1, 1, 1), STONE, position=(0, 0, 0.5))
    assert first_sleep(world, box, 300) is None


def test_a_body_in_the_air_never_sleeps():
    """Slow, but touching nothing: without gravity it goes on at 1 mm/s for ever."""
    world = ds.World(gravity=(0, 0, 0))
    ball = world.add_body(ds.Sphere(0.5), velocity=(1e-3, 0, 0))
    world.run(2.0)
    assert not ball.asleep
    assert ball.position[0] == pytest.approx(2e-3, rel=1e-9)


def test_an_island_sleeps_together():
    """While one body of a stack moves, none sleeps; a stack beside it does."""
    world = ground_world()
    plank = ds.Material(friction=0.0)
    low = world.add_body(ds.Box(6, 1, 0.2), STONE, position=(0, 0, 0.1))
    slider = world.add_body(
        ds.Box(0.2, 0.2, 0.2), plank, position=(-2, 0, 0.3), velocity=(1.0, 0, 0)
    )
    beside = world.add_body(ds.Box(1, 1, 1), STONE, position=(0, 5, 0.5))
    world.run(1.5)
    assert slider.velocity[0] == pytest.approx(1.0, abs=1e-6)
    assert not low.asleep and not slider.asleep
    assert beside.asleep


def test_sleep_speed_counts_the_rim_of_a_spinning_body():
    """|v|² + |w|² r² < sleep_speed²: a ball that spins in place stays awake if its rim is fast."""
    frictionless = ds.Material(friction=0.0)
    for spin, sleeps in ((4e-3, True), (2e-2, False)):
        world = ds.World()
        world.add_fixed(ds.Plane(), frictionless)
        ball = world.add_body(ds.Sphere(0.5), frictionless, position=(0, 0, 0.5), spin=(0, 0, spin))
        world.run(1.5)
        assert ball.asleep == sleeps


def test_a_sleeping_island_costs_no_contacts():
    world = ground_world()
    for k in range(5):
        world.add_body(ds.Box(1, 1, 1), STONE, position=(0, 0, 0.5 + k))
    world.run(1.5)
    assert world.info.contacts == 0
    assert all(body.asleep for body in world.bodies)


def test_waking_finds_the_old_impulses():
    """Contacts are kept while asleep: the first step after waking needs no more sweeps."""
    world = ground_world()
    for k in range(5):
        world.add_body(ds.Box(1, 1, 1), STONE, position=(0, 0, 0.5 + k))
    cold = world.step().iterations
    world.run(1.5)
    before = world.positions
    world.bodies[2].asleep = False
    info = world.step()
    assert info.contacts >= 20 and info.iterations < cold
    np.testing.assert_allclose(world.positions, before, atol=1e-8)
