"""Rolling and spinning friction against closed forms, and alone: each arm without the other."""

from math import atan, cos, sin

import numpy as np
import pytest

import drystone as ds

G = 9.81
R = 0.1


def stuff(rolling=0.0, spinning=0.0, friction=0.6):
    return ds.Material(friction=friction, rolling_friction=rolling, spinning_friction=spinning)


def on_plane(material, tilt=0.0, dt=1 / 240, **ball):
    """A ball on a slope that falls towards +x."""
    world = ds.World(dt=dt, gravity=(G * sin(tilt), 0, -G * cos(tilt)), sleeping=False)
    world.add_fixed(ds.Plane(), material)
    return world, world.add_body(ds.Sphere(R), material, position=(0, 0, R), **ball)


@pytest.mark.parametrize("dt", [1 / 60, 1 / 240])
@pytest.mark.parametrize("heading", [0.0, 0.7, 2.5])
def test_a_rolling_ball_stops_where_the_closed_form_says(dt, heading):
    """m v' = -F, I w' = F r - a N with v = w r: v' = -5 a g / (7 r), x = 7 r v² / (10 a g).

    It stops within a step: an error of order (dt v' / v)².
    """
    arm, speed = 0.005, 1.0
    way = np.array([np.cos(heading), np.sin(heading), 0.0])
    world, ball = on_plane(
        stuff(arm), dt=dt, velocity=speed * way, spin=np.cross((0, 0, 1), way) * speed / R
    )
    world.run(7 * R * speed / (5 * arm * G) + 5 * dt)
    exact = 7 * R * speed**2 / (10 * arm * G)
    assert ball.position[:2] == pytest.approx(exact * way[:2], rel=2e-4, abs=1e-9)
    assert np.abs(ball.velocity).max() < 1e-9 and np.abs(ball.spin).max() < 1e-8
    assert world.info.converged


@pytest.mark.parametrize("dt", [1 / 60, 1 / 240])
def test_a_spinning_top_stops_where_the_closed_form_says(dt):
    """I w' = -b m g: it stops after w² I / (2 b m g) radians."""
    arm, spin = 0.001, 10.0
    world, ball = on_plane(stuff(spinning=arm), dt=dt, spin=(0, 0, spin))
    slowing, angle = arm * G / (0.4 * R**2), 0.0
    for _ in range(int(spin / slowing / dt) + 5):
        before = ball.spin[2]
        world.step()
        angle += 0.5 * dt * (before + ball.spin[2])
    assert angle == pytest.approx(spin**2 / (2 * slowing), rel=1e-4)
    assert np.abs(ball.spin).max() < 1e-9


def test_each_arm_works_without_the_other():
    world, ball = on_plane(stuff(rolling=0.01), velocity=(1, 0, 0), spin=(0, 1 / R, 7.0))
    world.run(0.2)
    assert ball.spin[2] == pytest.approx(7.0, rel=1e-12) and ball.velocity[0] < 0.9
    world, ball = on_plane(stuff(spinning=0.01), velocity=(1, 0, 0), spin=(0, 1 / R, 7.0))
    world.run(0.05)
    assert ball.velocity[0] == pytest.approx(1.0, rel=1e-9)
    assert ball.spin[2] == pytest.approx(7.0 - 0.05 * 0.01 * G / (0.4 * R**2), rel=1e-6)


def test_a_ball_holds_on_gentle_slopes_and_rolls_on_steeper_ones():
    """It rolls where tan > a / r, with 5/7 g (sin - a / r cos)."""
    arm = 0.02
    for share in (0.95, 1.05):
        tilt = atan(share * arm / R)
        world, ball = on_plane(stuff(arm), tilt)
        world.run(1.0)
        pull = max(0.0, 5 / 7 * G * (sin(tilt) - arm / R * cos(tilt)))
        assert ball.position[0] == pytest.approx(0.5 * pull, rel=1e-6, abs=1e-6)
        assert world.info.converged
        torque = world.contacts().torque[0]
        most = arm * ball.mass * G * cos(tilt)
        held = ball.mass * G * sin(tilt) * R if share < 1 else most
        assert np.linalg.norm(torque) == pytest.approx(held, rel=1e-4)


def test_energy_falls_and_momentum_stays_between_free_bodies():
    """Two balls pulled together by a spring roll on each other: their torques are opposite."""
    soft = stuff(0.01, 0.01)
    world = ds.World(gravity=(0, 0, 0), sleeping=False)
    a = world.add_body(ds.Sphere(R), soft, position=(-R, 0, 0), spin=(3, 5, -2))
    b = world.add_body(ds.Sphere(R), soft, position=(R, 0, 0), spin=(-4, 5, 1))
    world.add_force(ds.Spring(a, b, 500.0, length=0.1))
    energy, angular = world.energy().total, world.momentum().angular
    for _ in range(120):
        world.step()
        # The force of a spring is that of the start of a step: 1e-4 of the energy goes to and fro.
        assert world.energy().total <= energy * (1 + 1e-3)
    assert world.energy().total < 0.99 * energy
    # Contacts of balls that go round each other lag by a step: 1.3e-3 without these torques too.
    assert world.momentum().angular == pytest.approx(angular, abs=5e-3 * np.abs(angular).max())
    assert np.linalg.norm(a.spin - b.spin) < 1e-6


def test_a_heap_converges_and_stays_steeper():
    """Balls without rolling friction spread; with it they stay nearer, and hardly a step fails."""
    wide = []
    for arm in (0.0, 0.02):
        material, rng = stuff(arm, arm), np.random.default_rng(3)
        world = ds.World(sleeping=False)
        world.add_fixed(ds.Plane(), material)
        for k in range(40):
            at = (*rng.uniform(-0.2, 0.2, 2), R + 0.21 * (k // 3))
            world.add_body(ds.Sphere(R), material, position=at)
        world.run(0.2)
        failed = sum(not world.step().converged for _ in range(200))
        assert failed <= 10
        wide.append(float(np.linalg.norm(world.positions[:, :2], axis=1).mean()))
    assert wide[1] < 0.8 * wide[0]


def test_a_disc_in_two_dimensions_stops_too():
    """I = m r² / 2: v' = -2 a g / (3 r)."""
    arm = 0.01
    world = ds.World(dim=2, sleeping=False)
    world.add_fixed(ds.Plane(), stuff(arm))
    disc = world.add_body(ds.Disc(R), stuff(arm), position=(0, R), velocity=(1, 0), spin=1 / R)
    world.run(3 * R / (2 * arm * G) + 0.05)
    assert disc.position[0] == pytest.approx(3 * R / (4 * arm * G), rel=2e-4)
    assert np.abs(disc.velocity).max() < 1e-9


def test_a_wheel_on_an_axle_feels_it():
    """A cart of mass M on two wheels: M + 2 (m + I / r²) is slowed by a N / r."""
    arm, speed = 0.004, 1.0
    felt = stuff(arm, friction=1.0)
    world = ds.World(sleeping=False)
    world.add_fixed(ds.Plane(), felt)
    lying = (0.5**0.5, 0.5**0.5, 0, 0)
    cart = world.add_body(
        ds.Box(0.8, 0.2, 0.1), mass=5.0, position=(0, 0, R), velocity=(speed, 0, 0)
    )
    wheels = []
    for x in (-0.6, 0.6):
        wheel = world.add_body(
            ds.Cylinder(R, 0.3), felt, mass=1.0, position=(x, 0, R), orientation=lying,
            velocity=(speed, 0, 0), spin=(0, speed / R, 0),
        )  # fmt: skip
        world.add_joint(ds.Hinge(cart, wheel, (x, 0, R), (0, 1, 0)))
        wheels.append(wheel)
    world.run(0.5)
    slowing = arm * 7.0 * G / R / (7.0 + 2 * 0.5)
    assert cart.velocity[0] == pytest.approx(speed - 0.5 * slowing, rel=1e-3)
    assert world.info.converged


def test_files_replays_and_other_solvers(tmp_path):
    world, ball = on_plane(stuff(0.01, 0.002), velocity=(1, 0, 0), spin=(0, 1 / R, 5))
    world.run(0.1)
    world.save(tmp_path / "world.h5")
    other = ds.World.load(tmp_path / "world.h5")
    for one in (world, other):
        one.run(0.1)
    assert world.hash() == other.hash() and other.bodies[0].material == ball.material
    assert world.problem().contact_count == 1
    with pytest.raises(ds.UnsupportedFeature, match="rolling"):
        world.solver = "prox"
    with pytest.raises(ds.UnsupportedFeature, match="rolling"):
        ds.World(solver="ffd").add_fixed(ds.Plane(), stuff(0.1))
    with pytest.raises(ds.UnsupportedFeature, match="verlet"):
        ds.World(stepper="verlet").add_fixed(ds.Plane(), stuff(0.1))
    with pytest.raises(ds.InputError, match="rolling_friction"):
        stuff(-0.1)


def test_values_of_pairs_override_the_larger():
    one, two = stuff(0.01), ds.Material(friction=0.6, name="hard")
    world = ds.World(sleeping=False)
    world.add_fixed(ds.Plane(), two)
    ball = world.add_body(
        ds.Sphere(R), one, position=(0, 0, R), velocity=(1, 0, 0), spin=(0, 10, 0)
    )
    world.run(0.1)
    assert ball.velocity[0] == pytest.approx(1 - 0.1 * 5 * 0.01 * G / (7 * R), rel=1e-6)
    world.set_pair(one, two, rolling_friction=0.0)
    before = ball.velocity[0]
    world.run(0.1)
    assert ball.velocity[0] == pytest.approx(before, rel=1e-9)
