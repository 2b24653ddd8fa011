"""Pendulums and chains: periods, energy, momentum, and chains that do not stretch."""

from math import pi, sqrt

import numpy as np
import pytest
from scipy.special import ellipk

import drystone as ds
from drystone.scenes import SCENES


def pendulum(amplitude, dt=1 / 240):
    """A rod of 1 m hinged at its end, let go at `amplitude` [rad] from hanging down."""
    world = ds.World(dt=dt, sleeping=False)
    half = amplitude / 2
    rod = world.add_body(
        ds.Box(0.05, 0.05, 1.0), position=(-0.5 * np.sin(amplitude), 0, -0.5 * np.cos(amplitude)),
        orientation=(np.cos(half), 0, np.sin(half), 0), mass=2.0,
    )  # fmt: skip
    joint = world.add_joint(ds.Hinge(None, rod, (0, 0, 0), (0, 1, 0)))
    inertia = 2.0 * (0.05**2 + 1.0) / 12 + 2.0 * 0.25  # about the hinge [kg m²]
    small = 2 * pi * sqrt(inertia / (2.0 * 9.81 * 0.5))
    return world, joint, small * ellipk(np.sin(half) ** 2) * 2 / pi


def crossings(world, joint, seconds, amplitude):
    """Times at which the rod passes the vertical, interpolated [s]."""
    times, before = [], joint.angle + amplitude
    for _ in range(round(seconds / world.dt)):
        world.step()
        now = joint.angle + amplitude
        if before * now < 0.0:
            times.append(world.time - world.dt * now / (now - before))
        before = now
    return np.array(times)


def test_period_of_a_pendulum_is_the_elliptic_integral():
    """T = 4 sqrt(I / m g l) K(sin²(A/2)) at 1 rad, within 0.1 %."""
    world, joint, period = pendulum(1.0)
    times = crossings(world, joint, 10 * period, 1.0)
    measured = 2 * (times[-1] - times[0]) / (len(times) - 1)
    assert measured == pytest.approx(period, rel=1e-3)


def test_energy_of_a_pendulum_stays_over_a_hundred_periods():
    """Below 0.5 % of what the swing turns over, with the default step."""
    world, joint, period = pendulum(1.0)
    start, swing = world.energy().total, 2.0 * 9.81 * 0.5 * (1 - np.cos(1.0))
    worst = 0.0
    for _ in range(400):
        world.run(period / 4)
        worst = max(worst, abs(world.energy().total - start))
    assert worst < 5e-3 * swing
    assert joint.separation < 1e-8


def test_pendulum_is_of_second_order():
    """Halving the step divides the error of the period by four."""
    errors = []
    for dt in (1 / 60, 1 / 120):
        world, joint, period = pendulum(1.0, dt)
        times = crossings(world, joint, 6 * period, 1.0)
        errors.append(2 * (times[-1] - times[0]) / (len(times) - 1) - period)
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.3)


@pytest.mark.parametrize("dt", [1 / 240, 5e-4])
def test_force_of_a_joint_is_that_of_the_end_of_the_step(dt):
    """m (a - g) of a pendulum at the poses and spins that are read beside it. It is nearer to that
    than to the one of the start of the step by a factor of five, and lags no more."""
    world, joint, _ = pendulum(1.5, dt)
    rod, exact, read = world.bodies[0], [], []
    inertia = 2.0 * (0.05**2 + 1.0) / 12 + 2.0 * 0.25
    for _ in range(round(1.0 / dt)):
        world.step()
        arm, spin = rod.centre, rod.spin
        turning = np.cross(arm, (0, 0, -2.0 * 9.81)) / inertia
        acceleration = np.cross(turning, arm) + np.cross(spin, np.cross(spin, arm))
        exact.append(2.0 * (acceleration + (0, 0, 9.81)))
        read.append(joint.force)
    exact, read = np.array(exact[2:]), np.array(read[2:])
    late = np.linalg.norm(read[1:] - exact[:-1]) / np.linalg.norm(read - exact)
    assert late > 5.0


def test_energy_of_a_chain_in_free_swing_stays():
    """Six links of 1 m let go from the horizontal, 5 s: the end cracks like a whip."""
    world = SCENES["chain"].build(length=1.0, dt=1 / 240)
    start, released = world.energy().total, sum(b.mass for b in world.bodies) * 9.81 * 3.0
    gap = 0.0
    for _ in range(100):
        world.run(0.05)
        gap = max(gap, *(joint.separation for joint in world.joints))
    assert abs(world.energy().total - start) < 5e-3 * released
    assert gap < 1e-6


KINDS = {
    "ball": lambda a, b: ds.Ball(a, b, (0.5, 0, 0)),
    "hinge": lambda a, b: ds.Hinge(a, b, (0.5, 0, 0), (0, 0, 1)),
    "universal": lambda a, b: ds.Universal(a, b, (0.5, 0, 0), (0, 1, 0), (0, 0, 1)),
    "slider": lambda a, b: ds.Slider(a, b, (1, 0, 0)),
    "fixed": lambda a, b: ds.Fixed(a, b),
    "distance": lambda a, b: ds.Distance(a, b, (0.2, 0, 0), (0.8, 0, 0)),
    "cylindrical": lambda a, b: ds.Cylindrical(a, b, (0.5, 0, 0), (1, 0, 0)),
}


@pytest.mark.parametrize("kind", KINDS)
def test_pair_in_free_flight_keeps_momentum_and_energy(kind):
    """No force from outside: momentum to rounding, angular momentum and energy to the scheme."""
    world = ds.World(gravity=(0, 0, 0), sleeping=False)
    a = world.add_body(ds.Box(0.9, 0.3, 0.2), velocity=(0.3, 0, 0), name="a", mask=0)
    b = world.add_body(ds.Box(0.9, 0.2, 0.3), position=(1, 0, 0), name="b", mask=0)
    world.add_joint(KINDS[kind](a, b))
    # A common turn fits every joint; what a joint leaves free is stirred by an impulse on b.
    for body in (a, b):
        body.spin = (0.4, 0.3, 1.0)
        body.velocity = np.cross(body.spin, body.centre) + (0.3, 0, 0)
    world.step()  # the first step makes the velocities fit the joint
    momentum, energy = world.momentum(), world.energy().kinetic
    world.run(5.0)
    later = world.momentum()
    assert later.linear == pytest.approx(momentum.linear, abs=1e-9)
    # 1200 steps of second order at 1 rad/s: (w dt)² / 12 is 1.5e-6 of a turn
    scale = np.linalg.norm(momentum.angular)
    assert np.abs(later.angular - momentum.angular).max() < 1e-4 * scale
    assert world.energy().kinetic == pytest.approx(energy, rel=1e-4)
    assert world.joints[0].separation < 1e-7


@pytest.mark.parametrize("angle_deg", [30.0, 60.0, 85.0])
def test_chain_with_a_heavy_load_keeps_its_length(angle_deg):
    """Ten links and a load of 1000 links: the hanger stays within 1 mm of its length.

    Steps of 1 ms: the light links vibrate at about sqrt(tension / (mass length)) = 500 rad/s.
    """
    world = SCENES["chain"].build(count=10, load_ratio=1000.0, angle_deg=angle_deg)
    start, stretch = world.energy().total, 0.0
    links = world.joints[1:]
    for _ in range(60):
        world.run(0.05)
        ends = [np.zeros(3), *(joint.anchor_b for joint in links)]
        length = sum(np.linalg.norm(q - p) for p, q in zip(ends, ends[1:], strict=False))
        stretch = max(stretch, abs(length - 1.0))
    assert stretch < 1e-3
    assert abs(world.energy().total - start) < 1e-2 * world["load"].mass * 9.81


def test_chain_with_a_heavy_load_holds_at_the_default_step():
    world = SCENES["chain"].build(count=10, load_ratio=1000.0, angle_deg=60.0, dt=1 / 240)
    world.run(1.0)
    assert max(joint.separation for joint in world.joints) < 1e-3


def test_light_chain_holds_at_the_default_step():
    world = SCENES["chain"].build(dt=1 / 240)
    start = world.energy().total
    world.run(3.0)
    assert max(joint.separation for joint in world.joints) < 1e-3
    assert world.energy().total < start + 0.1
