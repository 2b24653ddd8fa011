"""Reduced coordinates against our own maximal ones: bodies held together by joints."""

import numpy as np
import pytest

import drystone as ds
from drystone.bench.robot_models import MODELS


def rods(count, length=0.5):
    """A chain of rods on hinges whose axes turn from link to link, as robot and as bodies."""
    across, links, joints = length**2 / 12, [], []
    for k in range(count):
        shape = ds.LinkShape(ds.Box(0.04, 0.04, length), (0, 0, -length / 2))
        moments = (across + 1e-3, across + 2e-3, 2e-3)
        links.append(ds.Link(f"l{k}", 1.0, (0, 0, -length / 2), moments, [shape]))
        parent, at = (None, (0, 0, 0)) if k == 0 else (f"l{k - 1}", (0, 0, -length))
        axis = (0, 1, 0) if k % 2 == 0 else (1, 0, 0)
        joints.append(ds.RobotJoint(f"j{k}", "revolute", f"l{k}", parent, at, axis=axis))
    return ds.Robot(links, joints)


def test_a_chain_swings_as_it_does_with_joints_between_bodies():
    robot, dt, top = rods(3), 2e-4, (0, 0, 3)
    q = [0.7, -0.4, 0.9]
    reduced = ds.World(dt=dt, sleeping=False)
    placed = reduced.add_robot(robot, position=top, q=q)
    maximal, last = ds.World(dt=dt, sleeping=False), None
    poses = ds.Robot(robot.links, robot.joints, position=top).forward_kinematics(q)
    for link, joint in zip(robot.links, robot.joints, strict=True):
        pose = poses[link.name]
        axes = np.array(pose[:3, :3])
        w = np.sqrt(max(1.0 + np.trace(axes), 0.0)) / 2
        turned = [w, *(np.array([axes[2, 1] - axes[1, 2], axes[0, 2] - axes[2, 0],
                                 axes[1, 0] - axes[0, 1]]) / (4 * w))]  # fmt: skip
        shape = ds.Compound((ds.Box(0.04, 0.04, 0.5), (0, 0, -0.25)))
        body = maximal.add_body(
            shape, mass=link.mass, inertia=link.inertia, centre=link.centre,
            position=pose[:3, 3], orientation=turned, group=0, mask=0,
        )  # fmt: skip
        axis = axes @ np.array(joint.axis)
        maximal.add_joint(ds.Hinge(last, body, pose[:3, 3], axis))
        last = body
    for _ in range(4):
        reduced.run(0.1)
        maximal.run(0.1)
        for name, body in zip(("l0", "l1", "l2"), maximal.bodies, strict=True):
            own = placed.link(name)
            assert own.centre == pytest.approx(body.centre, abs=2e-6)
            assert own.velocity == pytest.approx(body.velocity, abs=2e-5)


@pytest.mark.parametrize("name", [*MODELS, "rods"])
def test_the_mass_matrix_is_that_of_all_bodies_seen_through_jacobians(name, tmp_path):
    if name == "rods":
        robot = rods(5)
    else:
        pytest.importorskip("mujoco")
        (tmp_path / "r.xml").write_text(MODELS[name]())
        robot = ds.Robot.load(tmp_path / "r.xml")
    q = robot.zero() + 0.4 * np.sin(np.arange(robot.nq))
    for joint in robot.joints:
        if joint.kind == "free":
            at = robot.index(joint.name)
            q[at.stop - 4 : at.stop] /= np.linalg.norm(q[at.stop - 4 : at.stop])
    total = np.diag(robot.model.armature)
    for link in robot.links:
        jacobian = robot.jacobian(q, link.name, link.centre)
        axes = robot.forward_kinematics(q)[link.name][:3, :3]
        inertia = axes @ link.inertia @ axes.T
        total += link.mass * jacobian[:3].T @ jacobian[:3] + jacobian[3:].T @ inertia @ jacobian[3:]
    mass = robot.mass_matrix(q)
    assert mass == pytest.approx(total, abs=1e-12 * abs(total).max())
