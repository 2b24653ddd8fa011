"""Motors, servos, limits and friction of joints against closed forms."""

from math import pi, radians

import numpy as np
import pytest

import drystone as ds

G = 9.81


def flywheel(world, **options):
    """A disc of 1 kg m² on an axle along z; gravity cannot turn it."""
    disc = world.add_body(ds.Cylinder(0.5, 0.1), mass=8.0, mask=0)
    return disc, world.add_joint(ds.Hinge(None, disc, (0, 0, 0), (0, 0, 1), **options))


def sled(world, **options):
    """A block of 2 kg on a slider along x."""
    block = world.add_body(ds.Box(0.2, 0.2, 0.2), mass=2.0, mask=0)
    return block, world.add_joint(ds.Slider(None, block, (1, 0, 0), **options))


def test_motor_spins_up_at_its_torque_and_holds_its_speed():
    """w = T t / I until the speed is reached, then w = speed with no torque left."""
    world = ds.World(sleeping=False)
    disc, hinge = flywheel(world, motor=ds.Motor(3.0, max_torque=2.0))
    world.run(1.0)
    assert hinge.speed == pytest.approx(2.0, abs=1e-9)
    assert hinge.motor_force == pytest.approx(2.0)
    world.run(1.0)
    assert hinge.speed == pytest.approx(3.0, abs=1e-9)
    assert abs(hinge.motor_force) < 1e-9
    assert hinge.angle == pytest.approx(3.0 * 1.5 / 2 + 3.0 * 0.5, abs=3.0 * world.dt)


def test_motor_lifts_what_it_can_and_no_more():
    """A slider straight up: 30 N lift 2 kg, 15 N do not."""
    for force, moves in ((30.0, True), (15.0, False)):
        world = ds.World(sleeping=False)
        block = world.add_body(ds.Box(0.2, 0.2, 0.2), mass=2.0, mask=0)
        drive = ds.Motor(1.0, max_force=force)
        slider = world.add_joint(ds.Slider(None, block, (0, 0, 1), limits=(0, 5), motor=drive))
        world.run(2.0)
        assert slider.position > 1.0 if moves else abs(slider.position) < 1e-6
        if moves:
            assert slider.motor_force == pytest.approx(2.0 * G, rel=1e-6)


def test_servo_is_a_damped_oscillator():
    """Critically damped: x = A (1 + w t) exp(-w t), second order in the step."""
    world = ds.World(dt=1 / 1000, sleeping=False)
    mass, stiffness = 2.0, 50.0
    w = np.sqrt(stiffness / mass)
    spring = ds.Servo(0.3, stiffness=stiffness, damping=2 * mass * w)
    _, slider = sled(world, motor=spring)
    for t in (0.2, 0.5, 1.0):
        world.run(t - world.time)
        exact = 0.3 - 0.3 * (1 + w * t) * np.exp(-w * t)
        assert slider.position == pytest.approx(exact, abs=0.3 * (w * world.dt) ** 2)


PERIOD = 0.63  # [s]


def oscillator(kind, dt):
    """1 kg that swings by 0.1 m about x = 1, undamped."""
    world = ds.World(dt=dt, gravity=(0, 0, 0), sleeping=False)
    ball = world.add_body(ds.Sphere(0.05), position=(1.1, 0, 0), mass=1.0)
    stiffness = (2 * pi / PERIOD) ** 2
    if kind == "spring":
        spring = ds.SpringDamper(None, ball, (0, 0, 0), (1.1, 0, 0), stiffness, length=1.0)
        world.add_joint(spring)
    else:
        world.add_joint(ds.Slider(None, ball, (1, 0, 0), motor=ds.Servo(-0.1, stiffness)))
    return world, ball, 0.5 * stiffness * 0.1**2


@pytest.mark.parametrize("dt", [1 / 60, 1 / 240])
@pytest.mark.parametrize("kind", ["spring", "servo"])
def test_undamped_springs_and_servos_swing_on(kind, dt):
    """Energy, their potential included, stays; the period is off by (w dt)² / 12."""
    world, ball, energy = oscillator(kind, dt)
    assert world.energy().total == pytest.approx(energy, rel=1e-9)
    world.run(5.0)
    assert world.energy().total == pytest.approx(energy, rel=1e-8)
    w = 2 * pi / PERIOD
    late = (w * dt) ** 2 / 12 * w * world.time
    assert ball.centre[0] - 1.0 == pytest.approx(0.1 * np.cos(w * world.time - late), abs=2e-4)


def test_spring_that_goes_round_keeps_its_energy():
    """Its direction rotates in every step: it pulls along the secant."""
    world, ball, _ = oscillator("spring", 1 / 240)
    ball.velocity = (0.0, 2.0, 0.0)
    start = world.energy().total
    for _ in range(240):
        world.step()
        assert world.energy().total == pytest.approx(start, rel=1e-5)


@pytest.mark.parametrize("kind", ["spring", "servo"])
def test_springs_that_are_faster_than_the_step_are_damped(kind):
    """A period of a tenth of the step: it comes to rest where the spring is slack."""
    world, ball, energy = oscillator(kind, 10 * PERIOD)
    for _ in range(20):
        world.step()
    assert world.energy().total < 1e-3 * energy


def test_servo_holds_a_load_where_spring_and_weight_balance():
    world = ds.World(sleeping=False)
    block = world.add_body(ds.Box(0.2, 0.2, 0.2), mass=2.0, mask=0)
    hold = ds.Servo(0.0, stiffness=500.0, damping=100.0)
    slider = world.add_joint(ds.Slider(None, block, (0, 0, 1), motor=hold))
    world.run(3.0)
    assert slider.position == pytest.approx(-2.0 * G / 500.0, rel=1e-6)
    assert slider.motor_force == pytest.approx(2.0 * G, rel=1e-6)


@pytest.mark.parametrize("limit_deg", [20.0, 90.0, 400.0])
def test_hinge_stops_at_its_limit(limit_deg):
    """A motor turns it into the limit, also beyond a whole turn, and presses with its torque."""
    world = ds.World(sleeping=False)
    limit = radians(limit_deg)
    disc, hinge = flywheel(world, limits=(-0.5, limit), motor=ds.Motor(4.0, max_torque=20.0))
    worst = 0.0
    for _ in range(round((limit / 4.0 + 1.0) / world.dt)):
        world.step()
        worst = max(worst, hinge.angle - limit)
    assert worst < 1e-6
    assert hinge.angle == pytest.approx(limit, abs=1e-6)
    assert hinge.motor_force == pytest.approx(20.0)
    assert hinge.torque[2] == pytest.approx(0.0, abs=1e-6)  # the limit takes what the motor gives


def test_limits_carry_a_weight():
    """A rod held out by its limit: torque m g l / 2 and force m g at the hinge."""
    world = ds.World(sleeping=False)
    rod = world.add_body(ds.Box(1.0, 0.1, 0.1), position=(0.5, 0, 0), mass=3.0)
    hinge = world.add_joint(ds.Hinge(None, rod, (0, 0, 0), (0, 1, 0), limits=(-0.1, 0.0)))
    world.run(1.0)
    assert hinge.force == pytest.approx([0, 0, 3.0 * G], abs=1e-6)
    assert hinge.torque == pytest.approx([0, -3.0 * G * 0.5, 0], abs=1e-6)
    assert hinge.angle == pytest.approx(0.0, abs=1e-8)


def test_body_that_rests_on_a_limit_has_no_velocity():
    world = ds.World(sleeping=False)
    rod = world.add_body(ds.Box(1.0, 0.1, 0.1), position=(0.5, 0, 0))
    world.add_joint(ds.Hinge(None, rod, (0, 0, 0), (0, 1, 0), limits=(-0.3, 0.3)))
    world.run(3.0)
    assert world.energy().kinetic < 1e-9


def test_friction_of_a_hinge_stops_a_flywheel():
    """t = I w / T and the angle w² I / 2T."""
    world = ds.World(sleeping=False)
    disc, hinge = flywheel(world, friction=0.5)
    disc.spin = (0, 0, 2.0)
    world.run(3.0)
    assert hinge.speed == pytest.approx(2.0 - 0.5 * 3.0, abs=1e-9)
    world.run(2.0)
    assert abs(hinge.speed) < 1e-9
    assert hinge.angle == pytest.approx(4.0, abs=2.0 * world.dt)


@pytest.mark.parametrize(("share", "moves"), [(1.05, False), (0.95, True)])
def test_friction_of_a_slider_holds_up_to_its_force(share, moves):
    """Along a line that falls by 30 degrees: the weight pulls with m g sin 30."""
    world = ds.World(sleeping=False)
    block = world.add_body(ds.Box(0.2, 0.2, 0.2), mass=2.0, mask=0)
    pull = 2.0 * G * 0.5
    axis = (np.cos(pi / 6), 0, -0.5)
    slider = world.add_joint(ds.Slider(None, block, axis, friction=share * pull))
    world.run(1.0)
    expected = 0.5 * (1 - share) * pull / 2.0 if moves else 0.0
    assert slider.position == pytest.approx(expected, abs=1e-3)


def test_joint_can_be_changed_while_the_world_runs():
    world = ds.World(sleeping=False)
    _, hinge = flywheel(world, motor=ds.Motor(2.0))
    world.run(0.5)
    assert hinge.speed == pytest.approx(2.0)
    hinge.set(motor=ds.Motor(-1.0))
    world.run(0.5)
    assert hinge.speed == pytest.approx(-1.0)
    hinge.set(motor=None)
    world.run(0.5)
    assert hinge.speed == pytest.approx(-1.0)
