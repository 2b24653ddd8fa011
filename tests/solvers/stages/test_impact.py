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


@pytest.mark.parametrize("bounce_speed", [0.0, 0.01])
@pytest.mark.parametrize("restitution", [0.3, 1.0])
def test_restitution_is_what_was_asked_for(restitution, bounce_speed):
    """Head-on impacts of two spheres, of any size, mass, speed and direction: u+ = -e u- to 1e-9.

    That an impact adds no energy is tested without slack; what fails by rounding alone must not
    cost a visible share of e.
    """
    rng = np.random.default_rng(5)
    material = ds.Material(restitution=restitution, friction=0.3)
    for _ in range(60):
        world = ds.World(
            dt=1 / rng.uniform(60, 1000), gravity=(0, 0, 0), bounce_speed=bounce_speed,
            sleeping=False,
        )  # fmt: skip
        direction = rng.normal(size=3)
        direction /= np.linalg.norm(direction)
        radii, speeds = rng.uniform(0.02, 0.3, 2), rng.uniform(0.1, 5.0, 2)
        apart = radii.sum() + rng.uniform(0.01, 0.1)
        a, b = (
            world.add_body(
                ds.Sphere(radii[k]), material, mass=rng.uniform(0.1, 10.0),
                position=(k - 0.5) * apart * direction,
                velocity=(0.5 - k) * 2.0 * speeds[k] * direction,
            )
            for k in range(2)
        )  # fmt: skip
        approach = (a.velocity - b.velocity) @ direction
        world.run(0.3)
        parting = (b.velocity - a.velocity) @ direction
        assert parting == pytest.approx(restitution * approach, rel=1e-9)


@pytest.mark.parametrize("dt", [1 / 60, 1 / 240, 1 / 1000])
@pytest.mark.parametrize("offset", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("e", [0.95, 0.0])
def test_off_centre_hits_leave_along_the_line_of_centres(e, offset, dt):
    """Without friction the struck ball leaves along the normal at the time of impact, with the
    speed (1 + e) / 2 v cos: to 1e-9, and the angular momentum stays to 1e-9 of m v r."""
    speed, r = 4.0, 0.028
    material = ds.Material(restitution=e, friction=0.0)
    world = ds.World(dt=dt, gravity=(0, 0, 0), sleeping=False)
    a = world.add_body(ds.Sphere(r), material, position=(-0.2, 0, 0), velocity=(speed, 0, 0))
    b = world.add_body(ds.Sphere(r), material, position=(0, 2 * r * offset, 0))
    before = world.momentum().angular
    world.run(0.1)
    normal = np.array([np.sqrt(1 - offset**2), offset, 0])
    wanted = (1 + e) / 2 * speed * normal[0] * normal
    np.testing.assert_allclose(b.velocity, wanted, atol=1e-9 * speed)
    np.testing.assert_allclose(a.velocity, np.array([speed, 0, 0]) - wanted, atol=1e-9 * speed)
    change = world.momentum().angular - before
    assert np.abs(change).max() < 1e-9 * a.mass * speed * r


@pytest.mark.parametrize("friction", [0.0, 0.4])
def test_an_impact_of_spinning_boxes_keeps_the_angular_momentum(friction):
    """One corner meets a face, both bodies rotate: inertia, normal and point are those at the time
    of impact, so that the momentum stays to 1e-9, at a step in which they rotate by 0.1 rad."""
    material = ds.Material(restitution=0.8, friction=friction)
    world = ds.World(dt=1 / 60, gravity=(0, 0, 0), sleeping=False)
    world.add_body(
        ds.Box(0.2, 0.15, 0.1), material, position=(-0.5, 0, 0), velocity=(4, 0, 0),
        orientation=(0.9, 0.3, 0.2, 0.06**0.5), spin=(3, -4, 2),
    )  # fmt: skip
    b = world.add_body(ds.Box(0.5, 0.4, 0.6), material, spin=(1, 2, -3))
    start, energy = world.momentum(), world.energy().kinetic
    world.run(0.25)
    end = world.momentum()
    assert np.linalg.norm(b.velocity) > 0.1
    size = np.linalg.norm(start.angular) + 0.5 * np.linalg.norm(start.linear)
    np.testing.assert_allclose(end.linear, start.linear, atol=1e-12 * np.abs(start.linear).max())
    np.testing.assert_allclose(end.angular, start.angular, atol=1e-9 * size)
    assert world.energy().kinetic <= energy * (1 + 1e-12)


@pytest.mark.parametrize(("gap", "dt"), [(1e-4, 1 / 1000), (1e-3, 1 / 240), (0.0, 1 / 240)])
def test_a_cradle_with_gaps_passes_the_blow_on(gap, dt):
    """Twenty balls, e = 1: some twenty impacts follow each other within a few steps, or in one; the
    last ball leaves with the speed of the first, and no energy is lost."""
    material, r = ds.Material(restitution=1.0, friction=0.0), 0.02
    world = ds.World(dt=dt, gravity=(0, 0, 0), sleeping=False)
    for k in range(20):
        world.add_body(ds.Sphere(r), material, position=(k * (2 * r + gap), 0, 0))
    first, last = world.bodies[0], world.bodies[-1]
    first.position, first.velocity = (-0.05, 0, 0), (1, 0, 0)
    energy = world.energy().kinetic
    world.run(0.15)
    assert world.energy().kinetic == pytest.approx(energy, rel=1e-9)
    assert last.velocity[0] == pytest.approx(1.0, rel=1e-9)
