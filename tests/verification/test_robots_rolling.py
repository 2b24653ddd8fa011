"""Rolling, spinning and elliptic friction under robots, against closed forms and bodies."""

from math import atan, cos, sin

import numpy as np
import pytest

import drystone as ds

G, R = 9.81, 0.1
BALL, AXLE = 0.8, 5.0  # [kg] of a wheel, of the trunk


def stuff(rolling=0.0, spinning=0.0, friction=0.8):
    return ds.Material(friction=friction, rolling_friction=rolling, spinning_friction=spinning)


def ball_link(name, friction=0.8):
    i = 0.4 * BALL * R**2
    shape = ds.LinkShape(ds.Sphere(R), friction=friction)
    return ds.Link(name, BALL, (0, 0, 0), (i, i, i), [shape])


def cart(**shape):
    """A trunk on four round wheels."""
    trunk = ds.Link("trunk", AXLE, (0, 0, 0), (0.1, 0.2, 0.25))
    links, joints = [trunk], [ds.RobotJoint("base", "free", "trunk")]
    for k, (x, y) in enumerate([(0.4, 0.3), (0.4, -0.3), (-0.4, 0.3), (-0.4, -0.3)]):
        links.append(ball_link(f"wheel{k}", **shape))
        joints.append(
            ds.RobotJoint(f"axle{k}", "revolute", f"wheel{k}", "trunk", (x, y, 0), axis=(0, 1, 0))
        )
    return ds.Robot(links, joints)


def rolling_world(robot, material, tilt=0.0, dt=1 / 240, speed=0.0):
    """On a slope that falls towards +x, rolling with `speed`."""
    world = ds.World(dt=dt, gravity=(G * sin(tilt), 0, -G * cos(tilt)), sleeping=False)
    world.add_fixed(ds.Plane(), material)
    placed = world.add_robot(robot, position=(0, 0, R), self_collide=False)
    qd = np.zeros(robot.nv)
    qd[0] = speed
    qd[6:] = speed / R
    placed.qd = qd
    return world, placed


TOTAL = AXLE + 4 * BALL
INERT = TOTAL + 4 * 0.4 * BALL  # what resists pushing: m + I / r² of each wheel


@pytest.mark.parametrize("dt", [1 / 60, 1 / 240])
def test_a_cart_stops_where_the_closed_form_says(dt):
    """(M + Σ I / r²) v' = -a M g / r: it stops after v² / (2 v').

    Coordinates of robots that touch follow the rates after the step: they lag by v dt / 2.
    """
    arm, speed = 0.005, 1.0
    world, placed = rolling_world(cart(), stuff(arm), dt=dt, speed=speed)
    slowing = arm / R * TOTAL * G / INERT
    world.run(0.5 * speed / slowing)
    assert placed.qd[0] == pytest.approx(0.5 * speed, rel=2e-4 + 2 * slowing * dt)
    torque = np.linalg.norm(world.contacts().torque, axis=1)
    assert torque.sum() == pytest.approx(arm * TOTAL * G, rel=1e-6)
    world.run(0.5 * speed / slowing + 5 * dt)
    assert placed.q[0] == pytest.approx(speed**2 / (2 * slowing) - 0.5 * speed * dt, rel=1e-3)
    assert np.abs(placed.qd).max() < 1e-9 and world.info.converged


@pytest.mark.parametrize("share", [0.95, 1.05])
def test_a_cart_holds_on_gentle_slopes_and_rolls_on_steeper_ones(share):
    """It rolls where tan > a / r; coordinates are sums of the rates after each of 120 steps."""
    arm = 0.02
    tilt = atan(share * arm / R)
    world, placed = rolling_world(cart(), stuff(arm), tilt)
    world.run(0.5)
    pull = TOTAL * G * max(0.0, sin(tilt) - arm / R * cos(tilt)) / INERT
    assert placed.q[0] == pytest.approx(0.125 * pull * (1 + 1 / 120), rel=1e-4, abs=1e-6)
    assert world.info.converged


def test_without_arms_a_cart_rolls_on():
    world, placed = rolling_world(cart(), stuff(), speed=1.0)
    world.run(0.5)
    assert placed.qd[0] == pytest.approx(1.0, rel=1e-9)


def test_a_ball_that_is_a_robot_does_what_a_body_does():
    """It slides for 20 steps, then rolls, and spins all the time.

    Forces on a body that is alone act against its mean velocity in the step, those on a robot
    against the velocity after it: where the ball slides directions differ by half of what turns in
    a step; where it begins to roll, speeds by part of what friction takes in a step, mu g dt.
    """
    i = 0.4 * BALL * R**2
    material = stuff(0.004, 0.002, friction=0.3)
    alone = ds.Robot([ball_link("ball", 0.3)], [ds.RobotJoint("free", "free", "ball")])
    world = ds.World(dt=1 / 240, sleeping=False)
    world.add_fixed(ds.Plane(), material)
    placed = world.add_robot(alone, position=(0, 0, R))
    body = world.add_body(
        ds.Sphere(R), ds.Material(friction=0.3), mass=BALL, inertia=(i, i, i),
        position=(0, 3, R), velocity=(1, 0.2, 0), spin=(0, 2, 9),
    )  # fmt: skip
    placed.qd = (1, 0.2, 0, 0, 2, 9)
    for k in range(150):
        assert world.step().converged
        link, near = placed.link("ball"), 1e-4 if k < 20 else 0.3 * G / 240
        assert link.velocity == pytest.approx(body.velocity, abs=near)
        assert link.spin == pytest.approx(body.spin, abs=20 * near)
        assert link.spin[2] == pytest.approx(body.spin[2], rel=1e-9)
    assert np.cross(link.spin, (0, 0, R))[:2] == pytest.approx(link.velocity[:2], abs=1e-9)


def test_a_turntable_on_a_floor_is_stopped_by_spinning_friction():
    """A ball on a slider that spins about it: I w' = -b N."""
    arm, spin = 0.002, 10.0
    i = 0.4 * BALL * R**2
    links = [ds.Link("rod"), ball_link("ball")]
    joints = [
        ds.RobotJoint("slide", "prismatic", "rod", position=(0, 0, R), axis=(0, 0, 1)),
        ds.RobotJoint("spin", "revolute", "ball", "rod", axis=(0, 0, 1)),
    ]
    world = ds.World(dt=1 / 240, sleeping=False)
    world.add_fixed(ds.Plane(), stuff(spinning=arm))
    placed = world.add_robot(ds.Robot(links, joints))
    placed.qd = (0.0, spin)
    slowing = arm * BALL * G / i
    world.run(0.5 * spin / slowing)
    assert placed.qd[1] == pytest.approx(0.5 * spin, rel=1e-3 + slowing / 240 / spin)
    world.run(0.5 * spin / slowing + 0.05)
    assert placed.q[1] == pytest.approx(spin**2 / (2 * slowing), rel=1e-2)
    assert abs(placed.qd[1]) < 1e-9


def test_a_cart_with_rolling_friction_is_saved_copied_and_batched(tmp_path):
    world, _ = rolling_world(cart(), stuff(0.005, 0.001), speed=1.0)
    world.run(0.1)
    world.save(tmp_path / "cart.h5")
    others = [ds.World.load(tmp_path / "cart.h5"), world.copy()]
    batch = ds.Batch(world, 2)
    batch.step(24)
    for other in (world, *others):
        other.run(0.1)
        assert other.hash() == world.hash()
    assert (batch.q == world.robots[0].q).all()


def test_friction_on_an_ellipse_acts_on_a_link_as_on_a_body():
    """p_1 / p_2 = mu_1² u_1 / (mu_2² u_2) while it slides."""
    mu, m = (0.1, 0.4), 2.0  # of the pair: the root of the product with the link's 0.4
    grooved = ds.Material(friction=(mu[0] ** 2 / 0.4, mu[1]), friction_direction=(1, 0, 0))
    inertia = tuple(m / 12 * (a * a + b * b) for a, b in ((0.4, 0.2), (0.4, 0.2), (0.4, 0.4)))
    shape = ds.LinkShape(ds.Box(0.4, 0.4, 0.2), friction=0.4)
    links = [ds.Link("block", m, (0, 0, 0), inertia, [shape])]
    joints = [
        ds.RobotJoint("x", "prismatic", "sledge", axis=(1, 0, 0)),
        ds.RobotJoint("y", "prismatic", "lift", "sledge", axis=(0, 1, 0)),
        ds.RobotJoint("z", "prismatic", "block", "lift", position=(0, 0, 0.1), axis=(0, 0, 1)),
    ]
    robot = ds.Robot([ds.Link("sledge"), ds.Link("lift"), *links], joints)
    world = ds.World(dt=1 / 240, solver="prox", sleeping=False)
    world.add_fixed(ds.Plane(), grooved)
    placed = world.add_robot(robot)
    placed.qd = (1.0, 1.0, 0.0)
    for _ in range(20):
        before = placed.qd.copy()
        assert world.step().converged
        u, change = placed.qd[:2], (placed.qd - before)[:2]
        force = np.array(mu) ** 2 * u / np.linalg.norm(np.array(mu) * u)
        assert change == pytest.approx(-G * world.dt * force, rel=1e-3)
