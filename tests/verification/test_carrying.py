"""Kinematic bodies that carry, and sleeping bodies that wake when they must."""

import numpy as np
import pytest

import drystone as ds
from drystone.scenes import SCENES

G = 9.81
STONE = ds.Material(density=2000, friction=0.5)

solvers = pytest.mark.parametrize("solver", [k for k, v in ds.SOLVERS.items() if v.compiled])


def platform_world(**options):
    """A box of 0.5 m on a kinematic platform whose top is at z = 0."""
    world = ds.World(**options)
    platform = world.add_body(
        ds.Box(8, 8, 0.5), STONE, position=(0, 0, -0.25), kinematic=True, name="platform"
    )
    box = world.add_body(ds.Box(0.5, 0.5, 0.2), STONE, position=(0, 0, 0.1), name="box")
    return world, platform, box


@solvers
def test_platform_drags_the_box_until_it_rides(solver):
    """The box gains mu g t until v = V; until then it has slid V² / (2 mu g) on the platform.

    0.5 %: the step in which it stops sliding is 1/50 of the time that it slides.
    """
    world, platform, box = platform_world(sleeping=False, solver=solver)
    speed, mu = 1.0, STONE.friction
    platform.velocity = (speed, 0, 0)
    sliding = speed / (mu * G)
    steps = int(0.5 * sliding / world.dt)
    for _ in range(steps):
        world.step()
    assert box.velocity[0] == pytest.approx(mu * G * world.time, rel=5e-3)
    world.run(1.0)
    assert box.velocity[0] == pytest.approx(speed, abs=1e-5)
    lag = platform.position[0] - box.position[0]
    assert lag == pytest.approx(speed**2 / (2 * mu * G), rel=5e-3)


@solvers
def test_elevator_lifts_the_box(solver):
    """The box rides at the speed of the platform, and the platform carries its weight.

    1e-5 m/s and m; the force to 1e-4 of the weight, in steady motion.
    """
    world, platform, box = platform_world(sleeping=False, solver=solver)
    platform.velocity = (0, 0, 0.7)
    world.run(2.0)
    assert box.velocity[2] == pytest.approx(0.7, abs=1e-5)
    assert box.position[2] - platform.position[2] == pytest.approx(0.35, abs=1e-5)
    weight = box.mass * G
    np.testing.assert_allclose(
        world.contacts().between(platform, box), (0, 0, weight), atol=1e-4 * weight
    )


def ride_on_turntable(dt, solver, spin):
    """The world and its box after 4 s; friction can hold 4.9 m/s²."""
    world, platform, box = platform_world(sleeping=False, solver=solver, dt=dt)
    box.position = (1.0, 0.0, 0.1)
    box.velocity, box.spin = (0, spin, 0), (0, 0, spin)
    platform.spin = (0, 0, spin)
    world.run(4.0)
    return world, box


@pytest.mark.parametrize("dt", [1 / 60, 1 / 240])
def test_turntable_carries_a_box_in_a_circle(dt):
    """At w² r < mu g the box turns with the table and stays at its radius.

    The middle of a chord is where the contacts act, so that the box moves from point to point of
    the circle, to second order: 0.1 and 2 (w dt)² are left.
    """
    spin = 1.5
    world, box = ride_on_turntable(dt, "auto", spin)
    assert np.hypot(*box.position[:2]) == pytest.approx(1.0, abs=0.1 * (spin * dt) ** 2)
    direction = np.arctan2(box.position[1], box.position[0])
    there = np.exp(1j * spin * world.time)
    assert np.exp(1j * direction) == pytest.approx(there, abs=2 * (spin * dt) ** 2)


@pytest.mark.parametrize("dt", [1 / 60, 1 / 240])
def test_on_a_turntable_other_solvers_creep_outwards_to_first_order(dt):
    """They solve the problem of the start of the step, as their papers have it: every step leads
    along the tangent, and the radius grows as exp(w² dt t)."""
    spin = 1.5
    world, box = ride_on_turntable(dt, "nsgs", spin)
    grown = np.hypot(*box.position[:2])
    assert grown == pytest.approx(np.exp(spin**2 * dt * world.time), rel=2 * (spin * dt) ** 2)


def test_disk_rolls_round_on_its_rim_and_keeps_its_energy():
    """Without slip no contact does work. At 1/240 s the point of contact goes round by 0.2 rad in
    a step; the energy of a second is off by (0.2)³ / 12 for each of its 240 steps at most."""
    world = SCENES["euler-disk"].build()
    disk = world["disk"]
    start, height = world.energy().total, disk.centre[2]
    world.run(1.0)
    lean = np.degrees(np.arccos(1 - 2 * (disk.orientation[1:3] ** 2).sum()))
    assert lean == pytest.approx(10.0, abs=2.0)
    assert -0.2 * start < world.energy().total - start < 1e-6 * start
    assert disk.centre[2] == pytest.approx(height, rel=0.2)


def sleeping_stack(**options):
    world = ds.World(sleeping=True, **options)
    world.add_fixed(ds.Plane(), STONE)
    for k in range(3):
        world.add_body(ds.Box(1, 1, 1), STONE, position=(0, 0, 0.5 + k))
    world.run(1.5)
    assert all(body.asleep for body in world.bodies)
    return world


@solvers
def test_sleeping_bodies_do_not_move_at_all(solver):
    """Asleep means bit for bit where it was."""
    world = sleeping_stack(solver=solver)
    before = world.positions
    world.run(1.0)
    assert np.array_equal(world.positions, before)
    assert not world.velocities.any()


@solvers
def test_sleeping_stack_wakes_when_it_is_hit(solver):
    """A ball against the lowest box wakes the whole stack, and pushes it: p = m v is shared."""
    world = sleeping_stack(solver=solver)
    ball = world.add_body(
        ds.Sphere(0.3), STONE, position=(-1.5, 0, 0.5), velocity=(8, 0, 0), mass=2000.0
    )
    world.run(0.4)
    assert ball.velocity[0] < 7.9
    assert not any(body.asleep for body in world.bodies[:3])
    assert world.bodies[0].position[0] > 0.1


@solvers
def test_sleeping_stack_falls_when_its_support_is_removed(solver):
    """What stood on a removed body is in free fall: z = -g t² / 2 until it lands."""
    world = sleeping_stack(solver=solver)
    low, middle, high = world.bodies
    world.remove(low)
    world.run(0.25)
    fallen = G * world.dt**2 * 60**2 / 2
    for body, height in ((middle, 1.5), (high, 2.5)):
        assert not body.asleep
        assert height - body.position[2] == pytest.approx(fallen, abs=1e-6)


@solvers
def test_sleeping_box_wakes_when_its_platform_starts(solver):
    """A box asleep on a kinematic platform is carried on as soon as the platform moves."""
    world, platform, box = platform_world(solver=solver)
    world.run(1.5)
    assert box.asleep
    platform.velocity = (0, 0, 0.5)
    world.run(0.5)
    assert not box.asleep
    assert box.velocity[2] == pytest.approx(0.5, abs=1e-5)
    assert box.position[2] - platform.position[2] == pytest.approx(0.35, abs=1e-5)


@solvers
def test_platform_that_comes_from_elsewhere_wakes_a_sleeper(solver):
    """A kinematic body that reaches a sleeping box pushes it ahead of itself."""
    world = sleeping_stack(solver=solver)
    ram = world.add_body(
        ds.Box(0.5, 0.5, 0.5), STONE, position=(-1.5, 0, 0.5), velocity=(1, 0, 0), kinematic=True
    )
    world.run(1.5)
    assert ram.position[0] == pytest.approx(0.0, abs=1e-9)
    assert not world.bodies[0].asleep
    assert world.bodies[0].position[0] == pytest.approx(0.75, abs=1e-2)
