"""Robots that stand, hold and turn for a long time: nothing creeps, nothing opens."""

import numpy as np
import pytest

import drystone as ds
from drystone.bench.robot_models import MODELS


def loaded(name, tmp_path, dt=2e-3):
    pytest.importorskip("mujoco")
    path = tmp_path / f"{name}.xml"
    path.write_text(MODELS[name](dt=dt))
    return ds.Robot.load(path)


def standing(robot, dt=2e-3):
    world = ds.World(dt=dt, sleeping=False)
    world.add_fixed(ds.Plane(), ds.Material(friction=0.8))
    return world, world.add_robot(robot)


@pytest.mark.slow
def test_a_quadruped_with_servos_stands_for_a_minute_and_its_feet_do_not_creep(tmp_path):
    robot = loaded("quadruped", tmp_path)
    world, placed = standing(robot)
    world.run(3.0)

    def feet():
        shins = [f"{leg}_shin" for leg in ("fl", "fr", "hl", "hr")]
        poses = {name: placed.link(name) for name in shins}
        foot = np.array([0.1, 0.0, -0.15])
        axes = {n: placed._standing.forward_kinematics(placed.q)[n] for n in poses}
        return np.array([axes[n][:3, :3] @ foot + axes[n][:3, 3] for n in shins])

    before = feet()
    world.run(60.0)
    assert world.info.converged
    assert abs(feet() - before).max() < 1e-6
    assert placed.q[2] > 0.3


def gripper():
    """A palm that goes up and down, two fingers that close, a cube between them."""
    pad = ds.LinkShape(ds.Box(0.02, 0.04, 0.06), (0, 0, -0.07), friction=0.6)
    palm = ds.Link("palm", 1.0, (0, 0, 0), (0.01, 0.01, 0.01))
    fingers = [ds.Link(n, 0.1, (0, 0, -0.07), (1e-4, 1e-4, 1e-4), [pad]) for n in ("left", "right")]
    joints = [
        ds.RobotJoint("lift", "prismatic", "palm", axis=(0, 0, 1)),
        ds.RobotJoint("l", "prismatic", "left", "palm", (-0.06, 0, 0), axis=(1, 0, 0)),
        ds.RobotJoint("r", "prismatic", "right", "palm", (0.06, 0, 0), axis=(-1, 0, 0)),
    ]
    motors = [
        ds.Actuator("lift", "lift", "position", stiffness=2000, damping=200),
        ds.Actuator("l", "l", max_force=8.0), ds.Actuator("r", "r", max_force=8.0),
    ]  # fmt: skip
    return ds.Robot([palm, *fingers], joints, motors)


@pytest.mark.slow
def test_a_gripper_lifts_a_cube_and_holds_it_for_a_minute():
    world = ds.World(dt=2e-3, sleeping=False)
    world.add_fixed(ds.Plane())
    cube = world.add_body(ds.Box(0.05, 0.05, 0.05), ds.Material(friction=0.6), (0, 0, 0.025),
                          mass=0.3)  # fmt: skip
    hand = world.add_robot(gripper(), position=(0, 0, 0.1))
    hand.control = [0.0, 5.0, 5.0]
    world.run(1.0)
    for step in range(100):
        hand.control = [0.002 * (step + 1), 5.0, 5.0]
        world.run(0.01)
    world.run(1.0)
    assert cube.position[2] > 0.19
    before = cube.position - hand.link("left").position
    world.run(60.0)
    assert world.info.converged
    assert abs(cube.position - hand.link("left").position - before).max() < 1e-6


@pytest.mark.slow
def test_a_four_bar_turns_a_hundred_rounds_and_stays_closed():
    def bar(name, length):
        across = length**2 / 12
        return ds.Link(name, 1.0, (length / 2, 0, 0), (1e-3, across, across))

    def turning(name, child, parent=None, position=(0, 0, 0)):
        return ds.RobotJoint(name, "revolute", child, parent, position, axis=(0, 1, 0))

    crank, coupler, rocker = 0.3, 0.9, 0.8
    joints = [
        turning("crank", "crank"), turning("coupler", "coupler", "crank", (crank, 0, 0)),
        turning("rocker", "rocker", None, (1.0, 0, 0)),
    ]  # fmt: skip
    loop = ds.Loop("loop", "coupler", "rocker", (coupler, 0, 0), (rocker, 0, 0))
    motor = ds.Actuator("motor", "crank", "velocity")
    robot = ds.Robot([bar("crank", crank), bar("coupler", coupler), bar("rocker", rocker)], joints,
                     [motor], [loop])  # fmt: skip
    # Where the ends meet, crank along x: a triangle with the sides 0.7, 0.9 and 0.8.
    at_a = np.arccos((0.7**2 + coupler**2 - rocker**2) / (2 * 0.7 * coupler))
    at_b = np.pi - np.arccos((0.7**2 + rocker**2 - coupler**2) / (2 * 0.7 * rocker))
    world = ds.World(dt=1e-3, sleeping=False)
    placed = world.add_robot(robot, q=[0.0, -at_a, -at_b])
    placed.control = [10.0]
    worst = 0.0
    while abs(placed.q[0]) < 100 * 2 * np.pi:
        world.run(0.5)
        worst = max(worst, placed.gap)
    assert worst < 1e-8
    assert abs(placed.qd[0]) == pytest.approx(10.0, rel=1e-6)


def undamped(robot):
    """The same masses and joints, without dampers, springs, limits and actuators."""
    joints = [
        ds.RobotJoint(j.name, j.kind, j.child, j.parent, j.position, j.orientation, j.axis,
                      armature=j.armature)
        for j in robot.joints
    ]  # fmt: skip
    links = [ds.Link(link.name, link.mass, link.centre, link.inertia) for link in robot.links]
    return ds.Robot(links, joints, name=robot.name)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["arm", "quadruped", "humanoid"])
def test_a_free_swing_of_ten_seconds_keeps_its_energy(name, tmp_path):
    robot = undamped(loaded(name, tmp_path))
    world = ds.World(dt=1e-3, sleeping=False)
    q = robot.zero() + 0.3 * np.cos(np.arange(robot.nq))
    for joint in robot.joints:
        if joint.kind == "free":
            at = robot.index(joint.name)
            q[at.stop - 4 : at.stop] /= np.linalg.norm(q[at.stop - 4 : at.stop])
    placed = world.add_robot(robot, q=q)
    start = placed.energy()
    low = placed.centre_of_mass[2]
    world.run(10.0)
    fallen = robot.mass * 9.81 * max(abs(placed.centre_of_mass[2] - low), 0.1)
    assert abs(placed.energy() - start) < 1e-6 * max(abs(start), fallen)
