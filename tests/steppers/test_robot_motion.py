"""Robots in reduced coordinates under penalty forces."""

import numpy as np
import pytest

import drystone as ds
from drystone.scenes import SCENES


def pendulum(**options):
    links = [ds.Link(name, 1.0, (0, 0, -0.5), (0.08, 0.08, 0.01)) for name in "ab"]
    joints = [
        ds.RobotJoint("j", "revolute", "a", axis=(0, 1, 0)),
        ds.RobotJoint("k", "revolute", "b", "a", (0, 0, -1), axis=(0, 1, 0), **options),
    ]
    return ds.Robot(links, joints)


def test_a_pendulum_swings_as_the_robot_alone():
    """Nothing touches: the same Runge-Kutta as Robot.integrate()."""
    world = ds.World(dt=1e-3, solver="penalty", sleeping=False)
    placed = world.add_robot(pendulum(), position=(0, 0, 5), q=(1.0, 0.5))
    assert world.stepper == "rk4"
    other = ds.World(dt=1e-3, sleeping=False)
    twin = other.add_robot(pendulum(), position=(0, 0, 5), q=(1.0, 0.5))
    world.run(0.2)
    other.run(0.2)
    np.testing.assert_allclose(placed.q, twin.q, atol=1e-12)
    np.testing.assert_allclose(placed.qd, twin.qd, atol=1e-11)


def hopper():
    """A box on a rail, above the ground, with a servo-held arm."""
    box = ds.Link("box", 2.0, (0, 0, 0), (0.02, 0.02, 0.02), [ds.LinkShape(ds.Box(0.2, 0.2, 0.2))])
    arm = ds.Link("arm", 0.5, (0.1, 0, 0), (1e-3, 5e-3, 5e-3))
    joints = [
        ds.RobotJoint("f", "free", "box"),
        ds.RobotJoint("h", "revolute", "arm", "box", (0, 0, 0.2), axis=(0, 1, 0), armature=0.01),
    ]
    servo = ds.Actuator("s", "h", "position", stiffness=200, damping=2, max_force=20)
    return ds.Robot([box, arm], joints, [servo])


@pytest.mark.parametrize("friction", ["spring", "system"])
def test_a_robot_stands_and_its_servo_holds_the_arm_as_statics_say(friction):
    world = ds.World(dt=1e-3, solver=ds.Penalty(friction=friction), sleeping=False)
    ground = world.add_fixed(ds.Plane())
    placed = world.add_robot(hopper(), q=[0, 0, 0.0995, 1, 0, 0, 0, 0])
    world.run(0.8)
    assert placed.q[7] == pytest.approx(0.5 * 9.81 * 0.1 / 200, rel=0.05)
    assert world.contacts().on_fixed(ground)[2] == pytest.approx(-2.5 * 9.81, rel=0.05)
    assert np.abs(placed.q[:2]).max() < 2e-3


def test_an_impact_on_a_link_strikes_the_whole_robot():
    """Plastic impact of a box of 2 kg with an arm on it: the momentum goes into the ground."""
    world = ds.World(dt=1e-3, solver="penalty", sleeping=False)
    world.add_fixed(ds.Plane())
    placed = world.add_robot(hopper(), q=[0, 0, 0.1005, 1, 0, 0, 0, 0])
    placed.qd = [0, 0, -2, 0, 0, 0, 0]
    for _ in range(3):
        world.step()
    assert abs(placed.link("box").velocity[2]) < 0.1
    assert placed.qd[6] > 1.0  # the arm goes on down, about its joint


def test_a_wheeled_robot_drives_without_slipping():
    """Its speed is that of its wheels, which come near to torque over damping."""
    world = SCENES["diff-drive"].build(turn=0.0)
    robot = world.robots[0]
    for _ in range(400):
        world.step()
    wheels = robot.qd[6:8]
    assert robot.qd[0] == pytest.approx(0.1 * wheels.mean(), rel=0.05)
    # m v' = (torque - damping w) / r, with the inertia of the wheels: v = r w
    total = robot.robot.mass + 2 * (0.005 + 0.01) / 0.01
    rate = 2 * 0.1 / 0.01 / total
    expected = 0.5 / 0.1 * (1 - np.exp(-rate * world.time))
    assert wheels.mean() == pytest.approx(expected, rel=0.06)


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"limits": (-1, 1)}, "limits"),
        ({"friction": 0.5}, "dry friction"),
        ({"mimic": ("j", 1.0, 0.0)}, "mimic"),
    ],
)
def test_what_is_no_force_is_refused_by_name(options, word):
    world = ds.World(solver="penalty")
    world.add_robot(pendulum(**options))
    with pytest.raises(ds.UnsupportedFeature, match=f"robot: solver 'penalty'.*{word}"):
        world.step()
