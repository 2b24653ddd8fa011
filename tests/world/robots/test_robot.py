"""Reduced coordinates against MuJoCo, closed forms and conservation of energy."""

import importlib.util
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import drystone as ds


def pendulum(length=0.7, mass=1.3, armature=0.0):
    """A point mass on a rod without mass."""
    bob = ds.Link("bob", mass, (0, 0, -length), (0, 0, 0))
    return ds.Robot([bob], [ds.RobotJoint("pin", "revolute", "bob", axis=(0, 1, 0),
                                          armature=armature)])  # fmt: skip


def chain(kinds, rng):
    """Links of random inertia on joints of these kinds."""
    links, joints, parent = [], [], None
    for k, kind in enumerate(kinds):
        axes = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        inertia = (axes * rng.uniform(0.1, 0.15, 3)) @ axes.T
        links.append(ds.Link(f"l{k}", rng.uniform(0.5, 2), rng.normal(size=3) * 0.2, inertia))
        turned = rng.normal(size=4)
        joints.append(ds.RobotJoint(
            f"j{k}", kind, f"l{k}", parent, rng.normal(size=3) * 0.3,
            turned / np.linalg.norm(turned), rng.normal(size=3), armature=0.05 * (k % 2),
        ))  # fmt: skip
        parent = f"l{k}" if k != 2 else "l0"  # a branch
    return ds.Robot(links, joints)


def random_state(robot, rng):
    q = robot.zero()
    for joint in robot.joints:
        at = robot.index(joint.name)
        q[at] = rng.normal(size=at.stop - at.start)
        if joint.kind in ("ball", "free"):
            q[at.stop - 4 : at.stop] /= np.linalg.norm(q[at.stop - 4 : at.stop])
    return q, rng.normal(size=robot.nv)


ALL = ("free", "revolute", "ball", "prismatic", "planar", "fixed", "revolute")


def test_a_pendulum_has_the_closed_form():
    robot = pendulum(armature=0.2)
    mass = robot.mass_matrix([0.4])[0, 0]
    assert mass == pytest.approx(1.3 * 0.7**2 + 0.2, rel=1e-14)
    assert robot.bias_forces([0.4], [2.0])[0] == pytest.approx(1.3 * 9.81 * 0.7 * np.sin(0.4))
    assert robot.centre_of_mass([np.pi / 2]) == pytest.approx([-0.7, 0, 0], abs=1e-15)


def test_inverse_and_forward_dynamics_and_the_mass_matrix_agree():
    rng = np.random.default_rng(5)
    robot = chain(ALL, rng)
    q, v = random_state(robot, rng)
    a = rng.normal(size=robot.nv)
    tau = robot.inverse_dynamics(q, v, a)
    size = abs(tau).max()
    assert robot.forward_dynamics(q, v, tau) == pytest.approx(a, abs=1e-10 * abs(a).max())
    other = robot.mass_matrix(q) @ a + robot.bias_forces(q, v)
    assert other == pytest.approx(tau, abs=1e-12 * size)
    assert np.linalg.eigvalsh(robot.mass_matrix(q))[0] > 0


def test_jacobians_are_derivatives_of_positions():
    rng = np.random.default_rng(6)
    robot = chain(ALL, rng)
    q, v = random_state(robot, rng)
    h, point = 1e-6, (0.1, -0.2, 0.3)
    # At constant rates, without forces: one step of coordinates forth and back.
    from drystone.constraints.reduced.kinematics import step_coordinates

    ends = []
    for sign in (1, -1):
        out = q.copy()
        step_coordinates(robot.model, q, v, sign * h, out)
        pose = robot.forward_kinematics(out)["l6"]
        ends.append((pose[:3, :3] @ point + pose[:3, 3], robot.centre_of_mass(out)))
    moved = (ends[0][0] - ends[1][0]) / (2 * h)
    assert robot.jacobian(q, "l6", point)[:3] @ v == pytest.approx(moved, abs=1e-8)
    moved = (ends[0][1] - ends[1][1]) / (2 * h)
    assert robot.centre_of_mass_jacobian(q) @ v == pytest.approx(moved, abs=1e-8)


def test_free_motion_conserves_energy():
    rng = np.random.default_rng(8)
    robot = chain(ALL, rng)
    q, v = random_state(robot, rng)
    before = robot.energy(q, v)
    q, v = robot.integrate(q, v, 1e-3, 500)
    assert robot.energy(q, v) == pytest.approx(before, rel=1e-6)


def test_a_chain_that_cracks_like_a_whip_keeps_its_energy():
    """50 rods, let go level: their end turns at 500 rad/s within a few steps of 1 ms."""
    across, links, joints = 4.0 / 1200.0, [], []
    for k in range(50):
        links.append(ds.Link(f"l{k}", 1.0, (0.1, 0, 0), (1e-4, across, across)))
        at = (0.2, 0, 0) if k else (0, 0, 0)
        joints.append(
            ds.RobotJoint(
                f"j{k}", "revolute", f"l{k}", f"l{k - 1}" if k else None, at, axis=(0, 1, 0)
            )
        )
    robot, q, v, worst, fastest = ds.Robot(links, joints), np.zeros(50), np.zeros(50), 0.0, 0.0
    fallen = 9.81 * 50 * 5.0  # from level to hanging [J]
    start = robot.energy(q, v)
    for _ in range(100):
        q, v = robot.integrate(q, v, 1e-3, 60)
        worst = max(worst, abs(robot.energy(q, v) - start))
        fastest = max(fastest, abs(v).max())
    assert fastest > 50.0 and worst < 3e-6 * fallen


ARM = """<mujoco><option gravity="0 1 -9"/><worldbody><body pos="0.1 0 1"><joint type="free"/>
<geom type="box" size=".2 .1 .05"/><body pos=".3 0 0" quat=".9 .1 .3 .3">
<joint name="a" type="hinge" axis="0 1 1" pos=".02 .03 0" range="-60 60" armature=".1" damping="2"/>
<joint name="b" type="hinge" axis="1 0 0" pos="0 .01 0" ref="20" frictionloss=".3"/>
<geom name="g" type="capsule" size=".05 .2" pos="0 0 .2"/><body pos="0 0 .5"><joint type="ball"/>
<geom type="cylinder" size=".05 .1"/><body pos="0 0 .2"><joint name="s" type="slide" axis="0 1 0"
stiffness="40" springref=".1"/><geom type="sphere" size=".1" pos=".1 0 0"/></body></body></body>
</body>
<geom name="floor" type="plane" size="1 1 1"/></worldbody><actuator><motor joint="a" gear="3"/>
<position joint="s" kp="100" kv="3"/></actuator></mujoco>"""


def mujoco_state(mujoco, model, rng):
    data = mujoco.MjData(model)
    mujoco.mj_integratePos(model, data.qpos, 0.5 * rng.normal(size=model.nv), 1.0)
    data.qvel[:] = rng.normal(size=model.nv)
    mujoco.mj_forward(model, data)
    mass = np.zeros((model.nv, model.nv))
    try:
        mujoco.mj_fullM(model, data, mass)
    except TypeError:  # before MuJoCo 4
        mujoco.mj_fullM(model, mass, data.qM)
    return data, mass


def agrees(robot, mujoco, model, rng):
    data, mass = mujoco_state(mujoco, model, rng)
    gravity, q, v = model.opt.gravity, data.qpos.copy(), data.qvel.copy()
    size = abs(mass).max()
    assert robot.mass_matrix(q) == pytest.approx(mass, abs=1e-9 * size)
    bias = data.qfrc_bias
    weight = abs(bias).max() + robot.mass * 1e-6
    assert robot.bias_forces(q, v, gravity) == pytest.approx(bias, abs=1e-9 * weight)
    tau = rng.normal(size=model.nv)
    wanted = np.linalg.solve(mass, tau - bias)
    found = robot.forward_dynamics(q, v, tau, gravity)
    # As exact as a solve by the mass matrix is, whose condition the small links make large.
    limit = 1e-9 + 1e-14 * np.linalg.cond(mass)
    assert found == pytest.approx(wanted, abs=limit * abs(wanted).max())


def test_a_model_of_all_joints_agrees_with_mujoco(tmp_path):
    mujoco = pytest.importorskip("mujoco")
    path = tmp_path / "arm.xml"
    path.write_text(ARM)
    robot = ds.Robot.load(path)
    model = mujoco.MjModel.from_xml_path(str(path))
    agrees(robot, mujoco, model, np.random.default_rng(2))
    assert robot.limits[6].tolist() == pytest.approx([-np.pi / 3, np.pi / 3])
    data, _ = mujoco_state(mujoco, model, np.random.default_rng(4))
    passive = robot.passive_forces(data.qpos, data.qvel)
    damped = np.append(np.arange(model.nv - 1), model.nv - 1)
    assert passive[damped] == pytest.approx(data.qfrc_passive[damped], abs=1e-9)
    assert any("floor" in line for line in robot.ignored)
    assert [a.kind for a in robot.actuators] == ["torque", "position"]


def pybullet_models():
    found = importlib.util.find_spec("pybullet_data")
    folder = Path(found.origin).parent / "mjcf" if found else Path("absent")
    names = ("ant humanoid humanoid_symmetric_no_ground inverted_double_pendulum pusher reacher "
             "striker thrower capsule inverted_pendulum")  # fmt: skip
    return [folder / f"{name}.xml" for name in names.split()]


@pytest.mark.parametrize("path", pybullet_models(), ids=lambda path: path.stem)
def test_ten_models_agree_with_mujoco(path):
    mujoco = pytest.importorskip("mujoco")
    if not path.exists():
        pytest.skip("pybullet_data is not installed: pip install 'drystone[bench]'")
    model = mujoco.MjModel.from_xml_path(str(path))
    agrees(ds.Robot.load(path), mujoco, model, np.random.default_rng(3))


def test_wrong_robots_get_a_sentence():
    link, joint = ds.Link("a", 1.0, (0, 0, 0), (1, 1, 1)), ds.RobotJoint("j", "revolute", "a")
    robot = ds.Robot([link], [joint])
    for call, word in (
        (lambda: ds.Robot([], []), "no links"),
        (lambda: ds.Robot([link, link], [joint]), "two links"),
        (lambda: ds.Robot([link], []), "hangs on no joint"),
        (lambda: ds.Robot([link], [joint, ds.RobotJoint("k", "fixed", "a")]), "two joints"),
        (lambda: ds.Robot([link], [ds.RobotJoint("j", "fixed", "b")]), "which there is not"),
        (lambda: ds.RobotJoint("j", "screw", "a"), "kind"),
        (lambda: ds.RobotJoint("j", "revolute", "a", axis=(0, 0, 0)), "axis"),
        (lambda: ds.RobotJoint("j", "revolute", "a", limits=(1, -1)), "lower must come first"),
        (lambda: ds.Link("a", -1.0), "mass"),
        (lambda: ds.Link("a", 1.0, inertia=(-1, 1, 1)), "negative moment"),
        (lambda: ds.Link("a", 1.0, inertia=(1, 1e308, 1)), "must be at most 1e.100"),
        (lambda: ds.Link("a", 1.0, inertia=[[1, 1e308, 0], [1e308, 1, 0], [0, 0, 1]]), "at most"),
        (lambda: ds.Robot([link], [joint], [ds.Actuator("m", "x")]), "no joint is called"),
        (lambda: ds.Robot([link], [joint], keyframes=(1, 2)), "keyframes is"),
        (lambda: ds.RobotJoint("j", "revolute", "a", mimic=np.zeros((2, 3))), "mimic is"),
        (lambda: ds.RobotJoint("j", "revolute", "a", mimic=("k", 1, None)), "mimic is None"),
        (lambda: ds.Robot([link], [replace(joint, mimic=("k", 1, 0))]), "j mimics 'k'"),
        (lambda: ds.Robot([link], [replace(joint, mimic=("j", 1, 0))]), "j mimics 'j'"),
        (lambda: ds.Robot.load("a.urdf", packagesx={}), "no argument 'packagesx'"),
        (lambda: robot.mass_matrix([0.0, 1.0]), "shape"),
        (lambda: robot.mass_matrix([np.nan]), "finite"),
        (lambda: robot.jacobian([0.0], "b"), "no link"),
    ):
        with pytest.raises(ds.DrystoneError, match=word):
            call()
