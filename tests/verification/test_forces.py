"""Force elements in a running world, against closed forms."""

from math import exp, pi, sqrt

import numpy as np
import pytest

import drystone as ds


def ball_world(position=(1, 0, 0), velocity=(0, 0, 0), mass=1.0, dt=1 / 240):
    world = ds.World(dt=dt, gravity=(0, 0, 0), sleeping=False)
    return world, world.add_body(ds.Sphere(0.1), position=position, velocity=velocity, mass=mass)


def spring_function(state):
    return -100.0 * state.centres


@pytest.mark.parametrize("compiled", [True, False])
def test_spring_swings_with_the_period_of_verlet(compiled):
    """x(t) = cos(w t) with sin(w dt / 2) = sqrt(k/m) dt / 2, exactly, and no energy is gained.

    For k/m = 100 and dt = 1/240 that period is 7e-5 shorter than 2 pi / 10.
    """
    world, ball = ball_world()
    if compiled:
        world.add_force(ds.Spring(None, ball, stiffness=100, point_a=(0, 0, 0), length=0.0))
    else:
        world.add_force(ds.Force(spring_function))
    swing = 2.0 * np.arcsin(10.0 * world.dt / 2.0) / world.dt
    for _ in range(10):
        world.run(0.5)
        assert ball.position[0] == pytest.approx(np.cos(swing * world.time), abs=1e-9)
    energy = 0.5 * ball.velocity[0] ** 2 + 50.0 * ball.position[0] ** 2
    assert energy == pytest.approx(50.0, rel=1e-3)  # (w dt / 2)² = 4e-4 of it comes and goes
    assert 2 * pi / swing == pytest.approx(2 * pi / 10, rel=1e-4)


def test_damped_spring_decays_as_it_should():
    """x = exp(-a t) (cos(w t) + a/w sin(w t)), a = c / 2m, w² = k/m - a²; error of order dt²."""
    k, c, m = 100.0, 2.0, 1.5
    world, ball = ball_world(mass=m)
    world.add_force(ds.Spring(None, ball, k, c, point_a=(-2, 0, 0), length=2.0))
    a = c / (2 * m)
    w = sqrt(k / m - a * a)
    for _ in range(8):
        world.run(0.25)
        t = world.time
        expected = exp(-a * t) * (np.cos(w * t) + a / w * np.sin(w * t))
        assert ball.position[0] == pytest.approx(expected, abs=(10 * world.dt) ** 2)


def test_two_bodies_on_a_spring_keep_momentum_and_turn_each_other():
    """Off centre: linear momentum stays; angular momentum and energy to first order in dt.

    First order, because integrate.carry_spin() never lets a turn that was not free add energy.
    """
    world = ds.World(gravity=(0, 0, 0), sleeping=False, dt=1 / 1000)
    one = world.add_body(ds.Box(0.4, 0.2, 0.1), position=(0, 0, 0), mass=1.0)
    two = world.add_body(ds.Box(0.4, 0.3, 0.1), position=(1, 0, 0), mass=2.0, spin=(0, 0, 1))
    world.exclude(one, two)
    spring = ds.Spring(one, two, 50, point_a=(0, 0.1, 0.05), point_b=(1, -0.1, 0.03), length=0.6)
    world.add_force(spring)
    before, energy = world.momentum(), world.energy().total
    assert energy == pytest.approx(
        0.5 * two.inertia[2, 2] + 25 * (np.linalg.norm((1, -0.2, -0.02)) - 0.6) ** 2
    )
    world.run(2.0)
    after = world.momentum()
    assert np.abs(after.linear - before.linear).max() < 1e-12
    assert np.abs(after.angular - before.angular).max() < 0.5 * world.dt
    assert world.energy().total == pytest.approx(energy, rel=5 * world.dt)
    assert np.abs(one.spin).max() > 0.1


def test_damper_stops_what_it_joins():
    """v_B - v_A = v0 exp(-c t / mu), mu = m/2 the reduced mass, and the momentum stays."""
    world = ds.World(gravity=(0, 0, 0), sleeping=False)
    one = world.add_body(ds.Sphere(0.1), position=(0, 0, 0), mass=2.0)
    two = world.add_body(ds.Sphere(0.1), position=(1, 0, 0), mass=2.0, velocity=(1, 0, 0))
    world.add_force(ds.Damper(one, two, damping=3.0))
    world.run(0.5)
    apart = two.velocity[0] - one.velocity[0]
    assert apart == pytest.approx(exp(-3.0 * 0.5 / 1.0), rel=1e-4)
    assert one.velocity[0] + two.velocity[0] == pytest.approx(1.0, abs=1e-12)
    assert world.energy().potential == 0.0


def test_drag_leads_to_the_terminal_speed():
    """m g = a v + b v²; from rest with b alone v = v_end tanh(g t / v_end)."""
    world = ds.World(sleeping=False)
    ball = world.add_body(ds.Sphere(0.1), mass=2.0)
    drag = world.add_force(ds.Drag(ball, quadratic=0.5))
    end = sqrt(2.0 * 9.81 / 0.5)
    world.run(0.5)
    assert -ball.velocity[2] == pytest.approx(end * np.tanh(9.81 * world.time / end), rel=1e-4)
    drag.set(linear=3.0)
    world.run(20.0)
    v = -ball.velocity[2]
    assert 3.0 * v + 0.5 * v * v == pytest.approx(2.0 * 9.81, rel=1e-9)


def test_drag_on_all_bodies_slows_each_on_its_own():
    """v = v0 exp(-a t / m), w = w0 exp(-c t / I)."""
    world = ds.World(gravity=(0, 0, 0), sleeping=False)
    masses = (1.0, 3.0)
    for k, mass in enumerate(masses):
        world.add_body(
            ds.Sphere(0.1), position=(k, 0, 0), mass=mass, velocity=(0, 1, 0), spin=(2, 0, 0)
        )
    world.add_force(ds.Drag(linear=0.7, angular=0.002))
    world.run(1.0)
    for body, mass in zip(world.bodies, masses, strict=True):
        assert body.velocity[1] == pytest.approx(exp(-0.7 / mass), rel=1e-5)
        assert body.spin[0] == pytest.approx(2 * exp(-0.002 / body.inertia[0, 0]), rel=1e-3)


def test_attractor_holds_a_circular_orbit():
    """v² = S / (m r), period 2 pi r / v: after ten turns back at the start, energy -S / 2r."""
    world, ball = ball_world(velocity=(0, 2, 0), mass=0.5)
    world.add_force(ds.Attractor((0, 0, 0), strength=2.0))
    assert world.energy().total == pytest.approx(-1.0)
    for _ in range(10):
        world.run(pi / 4)
        assert np.linalg.norm(ball.position) == pytest.approx(1.0, abs=1e-4)
    assert world.energy().total == pytest.approx(-1.0, rel=1e-6)
    world.run(10 * pi - world.time)
    assert ball.position == pytest.approx((1, 0, 0), abs=0.02)  # the phase is off by (v dt)² / 24


@pytest.mark.parametrize("power", [0.0, 1.0, 2.0, 3.5])
def test_repulsor_gives_its_energy_to_the_body(power):
    """What the potential loses is what the motion gains."""
    world, ball = ball_world(position=(0.3, 0.1, 0), dt=1 / 2000)
    world.add_force(ds.Repulsor((0, 0, 0.02), strength=1.0, power=power, core=0.05))
    start = world.energy()
    world.run(0.4)
    end = world.energy()
    assert end.kinetic > 0.05
    assert end.kinetic - start.kinetic == pytest.approx(start.potential - end.potential, rel=1e-4)


def test_spring_holds_a_box_against_friction_until_it_slips():
    """A box on the floor, pulled by a spring of growing length: it starts at F = mu m g."""
    world = ds.World(sleeping=False)
    stone = ds.Material(friction=0.5)
    world.add_fixed(ds.Plane(), stone)
    box = world.add_body(ds.Box(1, 1, 0.2), stone, position=(0, 0, 0.1), mass=2.0)
    spring = world.add_force(ds.Spring(box, None, 100, point_b=(2, 0, 0.1), length=2.0))
    world.run(0.2)
    for force, slips in ((9.0, False), (10.5, True)):
        spring.set(length=2.0 - force / 100)
        world.run(0.05)
        assert (box.velocity[0] > 1e-3) == slips


def test_sleepers_wake_when_the_other_end_of_their_spring_moves():
    world = ds.World()
    world.add_fixed(ds.Plane())
    low = world.add_body(ds.Box(1, 1, 1), position=(0, 0, 0.5))
    high = world.add_body(ds.Box(1, 1, 1), position=(3, 0, 0.5))
    world.add_force(ds.Spring(low, high, stiffness=1.0))
    world.run(2.0)
    assert low.asleep and high.asleep
    high.velocity = (0, 0, 3.0)
    world.run(0.1)
    assert not low.asleep
    world.run(4.0)
    assert low.asleep and high.asleep


def test_forces_can_be_removed_and_go_with_their_bodies():
    world, ball = ball_world()
    other = world.add_body(ds.Sphere(0.1), position=(0, 3, 0))
    one = world.add_force(ds.Spring(ball, other, 10, length=1.0))
    two = world.add_force(ds.Drag(linear=1.0))
    assert world.forces == (one, two)
    world.run(0.1)
    world.remove(other)
    assert world.forces == (two,)
    world.remove(two)
    v = ball.velocity.copy()
    world.run(0.1)
    assert (ball.velocity == v).all()


def test_a_constant_force_of_the_user_stays_what_it_was():
    world, ball = ball_world()
    ball.force = (0.1, 0.2, 0.3)
    world.add_force(ds.Attractor((0, 0, 0), strength=1.0))
    world.run(0.1)
    assert (ball.force == (0.1, 0.2, 0.3)).all()


def test_function_of_time_pushes_a_sleeper():
    world = ds.World()
    world.add_fixed(ds.Plane(), ds.Material(friction=0.0))
    box = world.add_body(ds.Box(1, 1, 1), ds.Material(friction=0.0), position=(0, 0, 0.5), mass=1)
    world.add_force(ds.Force(lambda s: [[1.0 if s.time > 1.5 else 0.0, 0, 0]], on=box))
    world.run(1.5)
    assert box.asleep
    world.run(0.5)
    assert box.velocity[0] == pytest.approx(0.5, abs=2 * world.dt)


def test_saved_and_recorded_worlds_keep_their_forces(tmp_path):
    world = ds.World(sleeping=False)
    one = world.add_body(ds.Box(0.2, 0.3, 0.4), position=(0, 0, 1), spin=(1, 2, 3))
    two = world.add_body(ds.Sphere(0.1), position=(1, 0, 1))
    world.add_force(ds.Spring(one, two, 30, 0.1, point_a=(0.1, 0.1, 1.1)))
    world.add_force(ds.Drag(linear=0.1))
    with ds.record(world, tmp_path / "run.h5") as _:
        pointer = world.add_force(ds.Attractor((0, 0, 3), 5.0, two, core=0.1))
        world.run(0.2)
        pointer.set(position=(0, 1, 3))
        world.run(0.2)
        world.remove(pointer)
        world.save(tmp_path / "world.h5")
        world.run(0.2)
    again = ds.World.load(tmp_path / "world.h5")
    assert [type(force).__name__ for force in again.forces] == ["Spring", "Drag"]
    again.run(0.2)
    assert again.hash() == world.hash()
    assert ds.replay(tmp_path / "run.h5", verify=True).verified


def test_functions_cannot_be_saved(tmp_path):
    world, _ = ball_world()
    world.add_force(ds.Force(spring_function))
    with pytest.raises(ds.UnsupportedFeature, match="cannot be saved"):
        world.save(tmp_path / "world.h5")
