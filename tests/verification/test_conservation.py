"""What free motion conserves, and its closed forms."""

import numpy as np
import pytest

import drystone as ds


def test_body_that_tumbles_about_its_middle_axis_keeps_energy_and_momentum():
    """Euler's equations conserve T = w.Iw / 2 and L = R I w; the middle axis is unstable.

    1e-6 of the energy and 1e-10 of the momentum over 100 s: the midpoint rule conserves both but
    for rounding, which may grow with the 24 000 steps.
    """
    world = ds.World(gravity=(0, 0, 0), sleeping=False)
    body = world.add_body(ds.Box(0.3, 0.15, 0.05), spin=(1e-3, 6.0, 1e-3))
    energy, momentum = world.energy().kinetic, world.momentum().angular
    axis = []
    worst_energy = worst_momentum = 0.0
    for _ in range(100):
        world.run(1.0)
        worst_energy = max(worst_energy, abs(world.energy().kinetic / energy - 1.0))
        drift = np.linalg.norm(world.momentum().angular - momentum)
        worst_momentum = max(worst_momentum, drift / np.linalg.norm(momentum))
        w, x, y, z = body.orientation
        axis.append(1.0 - 2.0 * (x * x + z * z))  # of the body's y axis along the world's
    assert min(axis) < -0.9 and max(axis) > 0.9  # it did turn over
    assert worst_energy < 1e-6
    assert worst_momentum < 1e-10


@pytest.mark.parametrize("dt", [1 / 30, 1 / 240])
def test_free_flight_is_the_exact_parabola(dt):
    """x = x0 + v0 t + g t² / 2 for any step, to rounding (1e-12 of 20 m)."""
    gravity, velocity = np.array([0.5, -1.0, -9.81]), np.array([3.0, 4.0, 5.0])
    world = ds.World(dt=dt, gravity=gravity, sleeping=False)
    ball = world.add_body(ds.Sphere(0.1), position=(1, 2, 3), velocity=velocity)
    world.run(2.0)
    np.testing.assert_allclose(
        ball.position, (1, 2, 3) + 2.0 * velocity + 2.0 * gravity, atol=2e-11
    )
    np.testing.assert_allclose(ball.velocity, velocity + 2.0 * gravity, atol=2e-11)


def test_spin_about_a_principal_axis_is_even():
    """The angle is w t: after 1 s at 2 pi the body is where it was, to 1e-11 rad."""
    world = ds.World(gravity=(0, 0, 0), sleeping=False)
    body = world.add_body(ds.Box(3, 2, 1), spin=(0, 0, 2 * np.pi))
    world.run(0.25)
    np.testing.assert_allclose(np.abs(body.orientation), (0.5**0.5, 0, 0, 0.5**0.5), atol=1e-11)
    world.run(0.75)
    np.testing.assert_allclose(np.abs(body.orientation), (1, 0, 0, 0), atol=1e-11)


def test_precession_of_a_symmetric_body():
    """A disc with I3 = 2 I1 wobbles about L at W = L / I1: its axis is back after 2 pi / W.

    The midpoint rule is of second order: (W dt)² / 12 = 5e-6 relative here.
    """
    inertia = (1.0, 1.0, 2.0)
    world = ds.World(dt=1 / 1000, gravity=(0, 0, 0), sleeping=False)
    spin = np.array([0.5, 0.0, 3.0])
    disc = world.add_body(ds.Sphere(1.0), mass=1.0, inertia=inertia, spin=spin)
    period = 2 * np.pi / np.linalg.norm(np.array(inertia) * spin)
    steps = round(period / world.dt)
    world.run(steps * world.dt)
    w, x, y, z = disc.orientation
    axis = np.array([2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)])
    start = np.array([0.0, 0.0, 1.0])
    along = np.array(inertia) * spin / np.linalg.norm(np.array(inertia) * spin)
    left = (steps * world.dt / period - 1.0) * 2 * np.pi  # what rounding to whole steps leaves
    lean = np.linalg.norm(np.cross(along, start))
    assert np.linalg.norm(axis - start) == pytest.approx(abs(left) * lean, abs=1e-4 * lean)
