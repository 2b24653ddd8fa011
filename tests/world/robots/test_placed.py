"""Robots in worlds: statics, limits, loops, drives, and one contact problem with free bodies."""

import numpy as np
import pytest

import drystone as ds


def rod(name, length=1.0, mass=1.0):
    """A thin rod that hangs down from its joint."""
    across = mass * length**2 / 12
    return ds.Link(name, mass, (0, 0, -length / 2), (across, across, 0.01 * across))


def turning(name, child, parent=None, position=(0, 0, 0), **options):
    return ds.RobotJoint(name, "revolute", child, parent, position, axis=(0, 1, 0), **options)


def test_a_double_pendulum_conserves_energy_and_its_links_follow():
    robot = ds.Robot([rod("a"), rod("b")], [turning("j", "a"), turning("k", "b", "a", (0, 0, -1))])
    world = ds.World(dt=1e-3, sleeping=False)
    placed = world.add_robot(robot, position=(0, 0, 3), q=(1.0, 0.5))
    before, scale = placed.energy(), 2 * 9.81
    world.run(0.3)
    assert placed.energy() == pytest.approx(before, abs=1e-9 * scale)
    pose = placed.robot.forward_kinematics(placed.q)["b"]
    assert placed.link("b").position == pytest.approx(pose[:3, 3], abs=1e-12)
    assert placed.jacobian("b")[3:] @ placed.qd == pytest.approx(placed.link("b").spin, abs=1e-12)


def standing():
    """A box on the ground with an arm on it, a servo that holds the arm, a free cube beside."""
    box = ds.Link("box", 2.0, (0, 0, 0), (0.02, 0.02, 0.02), [ds.LinkShape(ds.Box(0.2, 0.2, 0.2))])
    arm = ds.Link("arm", 0.5, (0.1, 0, 0), (1e-3, 5e-3, 5e-3))
    joints = [ds.RobotJoint("f", "free", "box"), turning("h", "arm", "box", (0, 0, 0.2))]
    servo = ds.Actuator("s", "h", "position", stiffness=200, damping=2, max_force=20)
    robot = ds.Robot([box, arm], joints, [servo])
    world = ds.World(dt=2e-3, sleeping=False)
    ground = world.add_fixed(ds.Plane())
    placed = world.add_robot(robot, q=[0, 0, 0.1, 1, 0, 0, 0, 0])
    cube = world.add_body(ds.Box(0.1, 0.1, 0.1), position=(0.3, 0, 0.05))
    return world, placed, cube, ground


def test_a_robot_stands_and_its_servo_holds_the_arm_as_statics_say():
    world, placed, cube, ground = standing()
    for _ in range(150):
        assert world.step().converged
    torque = 0.5 * 9.81 * 0.1  # about the joint, against which the servo is turned by torque / k
    assert placed.q[7] == pytest.approx(torque / 200, rel=1e-2)
    assert placed.q[:3] == pytest.approx([0, 0, 0.1], abs=2e-6)
    assert world.contacts().on(placed.link("box"))[2] == pytest.approx(2.5 * 9.81, rel=1e-3)
    total = 2.5 * 9.81 + cube.mass * 9.81
    assert world.contacts().on_fixed(ground)[2] == pytest.approx(-total, rel=1e-3)


def test_a_snapshot_of_a_world_with_robots_leads_to_the_same_bits():
    world, placed, _, _ = standing()
    world.run(0.02)
    kept, ends = world.snapshot(), []
    for _ in range(2):
        placed.control = [0.3]
        world.run(0.02)
        ends.append((world.hash(), placed.q.tolist()))
        world.restore(kept)
    assert ends[0] == ends[1]


def test_limits_stop_and_dry_friction_holds():
    limited = ds.Robot([rod("a")], [turning("j", "a", limits=(-0.2, 0.2))])
    world = ds.World(dt=1e-3, sleeping=False)
    placed = world.add_robot(limited, orientation=(2**-0.5, 0, 2**-0.5, 0))  # gravity across
    world.run(0.5)
    assert abs(placed.q[0]) == pytest.approx(0.2, abs=1e-9)
    assert abs(placed.qd[0]) < 1e-9
    for friction, moves in ((5.0, False), (4.8, True)):  # the weight has a torque of 4.905 N m
        robot = ds.Robot([rod("a")], [turning("j", "a", friction=friction)])
        world = ds.World(dt=1e-3, sleeping=False)
        placed = world.add_robot(robot, orientation=(2**-0.5, 0, 2**-0.5, 0))
        world.run(0.1)
        assert (abs(placed.q[0]) > 1e-9) == moves


def test_a_four_bar_turns_with_its_loop_closed():
    crank, coupler, rocker = rod("crank", 0.2), rod("coupler", 0.8), rod("rocker", 0.6)
    joints = [turning("c", "crank"), turning("k", "coupler", "crank", (0, 0, -0.2)),
              turning("r", "rocker", None, (0.7, 0, 0))]  # fmt: skip
    loop = ds.Loop("pin", "coupler", "rocker", (0, 0, -0.8), (0, 0, -0.6))
    motor = ds.Actuator("m", "c", "velocity")
    robot = ds.Robot([crank, coupler, rocker], joints, [motor], [loop])
    # Crank down: the coupler from (0, -0.2) meets the rocker from (0.7, 0).
    apart = np.hypot(0.7, 0.2)
    to_rocker = np.arctan2(0.2, 0.7)
    inner = np.arccos((0.8**2 + apart**2 - 0.6**2) / (2 * 0.8 * apart))
    x, z = 0.8 * np.cos(to_rocker - inner), -0.2 + 0.8 * np.sin(to_rocker - inner)
    down = np.arctan2(-x, -(z + 0.2))
    at_rocker = np.arctan2(-(x - 0.7), -z)
    world = ds.World(dt=2e-3, sleeping=False)
    placed = world.add_robot(robot, q=[0.0, down, at_rocker])
    assert placed.gap < 1e-9
    placed.control = [10.0]
    widest = 0.0
    for _ in range(320):
        world.step()
        widest = max(widest, placed.gap)
    assert widest < 1e-8
    # Closing the loop moves the crank too, by an error of first order in dt.
    assert placed.q[0] == pytest.approx(6.4, rel=5e-3)


def test_coupled_joints_follow():
    joints = [turning("j", "a"), turning("k", "b", None, (1, 0, 0), mimic=("j", -2.0, 0.1))]
    robot = ds.Robot([rod("a"), rod("b")], joints)
    world = ds.World(dt=1e-3, sleeping=False)
    placed = world.add_robot(robot, q=(0.5, -0.9))
    world.run(0.1)
    q = placed.q
    assert q[0] != 0.5
    assert q[1] == pytest.approx(-2 * q[0] + 0.1, abs=1e-11)


def test_what_a_world_with_robots_cannot_do_is_said():
    robot = ds.Robot([rod("a")], [turning("j", "a")])
    world = ds.World()
    placed = world.add_robot(robot)
    with pytest.raises(ds.UnsupportedFeature, match="three dimensions"):
        ds.World(dim=2).add_robot(robot)
    with pytest.raises(ds.InputError, match="no link"):
        placed.link("hand")
    with pytest.raises(ds.InputError, match="is no Robot"):
        world.add_robot("arm.urdf")
