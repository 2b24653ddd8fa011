"""Impacts within a step: their moment, their speed, and what does not bounce."""

import numpy as np
import pytest

import drystone as ds

G = 9.81


def ball_world(restitution, speed, height=1e-2, dt=1 / 240, gravity=(0, 0, -G), **options):
    material = ds.Material(restitution=restitution, friction=0.0)
    world = ds.World(dt=dt, gravity=gravity, sleeping=False, **options)
    world.add_fixed(ds.Plane(), material)
    ball = world.add_body(
        ds.Sphere(0.1), material, position=(0, 0, 0.1 + height), velocity=(0.5, 0, -speed)
    )
    return world, ball


@pytest.mark.parametrize("share", [0.05, 0.5, 0.95])
@pytest.mark.parametrize("restitution", [0.3, 1.0])
def test_bounce_happens_at_its_moment(share, restitution):
    """Without gravity: flown until t = share * dt, then back at e v: z = e v (dt - t), exactly."""
    speed, dt = 4.0, 1 / 240
    world, ball = ball_world(restitution, speed, height=share * speed * dt, gravity=(0, 0, 0))
    world.step()
    assert ball.velocity[2] == pytest.approx(restitution * speed, rel=1e-9)
    assert ball.position[2] - 0.1 == pytest.approx(restitution * speed * (1 - share) * dt, rel=1e-6)
    assert ball.position[0] == pytest.approx(0.5 * dt, rel=1e-9)


def test_bounce_with_gravity_keeps_the_energy():
    """e = 1: v² / 2 + g z is the same after the bounce as before, to 1e-9."""
    world, ball = ball_world(1.0, 2.0)
    before = world.energy().total
    for _ in range(400):
        world.step()
        assert world.energy().total == pytest.approx(before, rel=1e-9)
    assert ball.position[0] == pytest.approx(0.5 * world.time, rel=1e-9)


@pytest.mark.parametrize(("speed", "bounces"), [(5e-3, False), (5e-2, True)])
def test_slow_impacts_do_not_bounce(speed, bounces):
    """Below bounce_speed (1 cm/s) restitution is not applied, so that bodies come to rest."""
    world, ball = ball_world(0.9, speed, height=1e-5, gravity=(0, 0, 0))
    world.step()
    assert (ball.velocity[2] > 1e-3) == bounces


def test_bounce_speed_can_be_set():
    world, ball = ball_world(0.9, 0.5, height=1e-4, gravity=(0, 0, 0), bounce_speed=1.0)
    world.step()
    assert abs(ball.velocity[2]) < 0.1


def test_bouncing_ball_comes_to_rest():
    """Times of flight form a geometric series: all over after (2 v / g) / (1 - e) seconds."""
    world, ball = ball_world(0.5, 2.0, height=0.0)
    world.run(1.1 * 2 * 2.0 / G)
    assert abs(ball.velocity[2]) < 1e-4
    assert ball.position[2] == pytest.approx(0.1, abs=1e-4)


def test_restitution_acts_on_the_normal_only():
    """A ball thrown flat at a wall with friction: u_n+ = -e u_n-, and it starts to roll.

    J_t = min(mu J_n, 2/7 m v_t): here the latter, so v_t+ = 5/7 v_t (a full sphere). Arms are
    those at the start of the step, off by half the gap of 1 micrometre in 0.1 m: 1e-5.
    """
    material = ds.Material(restitution=0.5, friction=0.9)
    world = ds.World(gravity=(0, 0, 0), sleeping=False)
    world.add_fixed(ds.Plane(), material)
    ball = world.add_body(
        ds.Sphere(0.1), material, position=(0, 0, 0.1 + 1e-6), velocity=(1.0, 0, -2.0)
    )
    world.run(0.1)
    np.testing.assert_allclose(ball.velocity, (5 / 7, 0, 1.0), atol=1e-5)
    np.testing.assert_allclose(ball.spin, (0, 5 / 7 / 0.1, 0), atol=1e-4)


def test_sliding_impact():
    """With little friction the impact slides: J_t = mu J_n = mu (1 + e) m u_n."""
    material = ds.Material(restitution=0.5, friction=0.05)
    world = ds.World(gravity=(0, 0, 0), sleeping=False)
    world.add_fixed(ds.Plane(), material)
    ball = world.add_body(ds.Sphere(0.1), material, position=(0, 0, 0.11), velocity=(1.0, 0, -2.0))
    world.run(0.1)
    np.testing.assert_allclose(ball.velocity, (1.0 - 0.05 * 1.5 * 2.0, 0, 1.0), atol=1e-8)
