"""Robot files: URDF and MJCF are read as MuJoCo reads them; broken ones get one sentence each."""

import importlib.util
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import drystone as ds

GOOD = """<robot name="r"><link name="a"><inertial><mass value="2"/>
<origin xyz="0 0 .1" rpy="0 0 1"/>
<inertia ixx="1" iyy="2" izz="2.5" ixy=".1"/></inertial>
<collision><geometry><box size="1 2 3"/></geometry></collision></link>
<link name="b"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>
<link name="c"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>
<joint name="j" type="revolute"><parent link="a"/><child link="b"/><origin xyz="0 0 1" rpy="1 0 0"/>
<axis xyz="0 0 2"/><limit lower="-1" upper="2" effort="5" velocity="3"/>
<dynamics damping=".1"/></joint>
<joint name="k" type="prismatic"><parent link="b"/><child link="c"/><limit lower="0" upper="1"/>
<mimic joint="j" multiplier="-2" offset=".5"/></joint>
<transmission name="t"/></robot>"""

BROKEN = {
    "empty": ("", "is empty"),
    "no xml": ("robot", "no XML"),
    "cut off": (GOOD[:400], "broken"),
    "other root": ("<sdf/>", "first element"),
    "no links": ("<robot name='r'/>", "no <link>"),
    "unnamed link": (GOOD.replace('<link name="b">', "<link>"), "no name"),
    "unknown type": (GOOD.replace('"revolute"', '"screw"'), "type is"),
    "no child": (GOOD.replace('<child link="b"/>', ""), "no <child"),
    "unknown parent": (GOOD.replace('<parent link="a"/>', '<parent link="x"/>'), "is no link"),
    "two roots": (
        GOOD.replace(
            '"j" type="revolute"><parent link="a"/><child link="b"/>',
            '"j" type="revolute"><parent link="c"/><child link="b"/>',
        ).replace('<parent link="b"/><child link="c"/>', '<parent link="b"/><child link="c"/>'),
        "loop|roots|hang",
    ),  # fmt: skip
    "loop": (
        GOOD.replace(
            '<joint name="k"',
            '<joint name="m" type="fixed"><parent link="c"/>'
            '<child link="a"/></joint><joint name="k"',
        ),
        "loop",
    ),  # fmt: skip
    "two parents": (
        GOOD.replace(
            '<joint name="k"',
            '<joint name="m" type="fixed">'
            '<parent link="a"/><child link="c"/></joint><joint name="k"',
        ),
        "two joints",
    ),  # fmt: skip
    "negative mass": (GOOD.replace('value="2"', 'value="-2"'), "mass is -2"),
    "words": (GOOD.replace('ixx="1" iyy="2"', 'ixx="big" iyy="2"'), "must be numbers"),
    "nan": (GOOD.replace('value="2"', 'value="nan"'), "finite"),
    "two numbers": (GOOD.replace('xyz="0 0 1"', 'xyz="0 1"'), "must be 3 number"),
    "zero axis": (GOOD.replace('xyz="0 0 2"', 'xyz="0 0 0"'), "axis"),
    "limits reversed": (GOOD.replace('lower="-1"', 'lower="3"'), "lower must come first"),
    "no limit": (GOOD.replace('<limit lower="0" upper="1"/>', ""), "needs a <limit>"),
    "mimics nothing": (GOOD.replace('mimic joint="j"', 'mimic joint="x"'), "is no joint"),
    "lost mesh": (
        GOOD.replace('<box size="1 2 3"/>', '<mesh filename="package://p/x.stl"/>'),
        "was not found",
    ),  # fmt: skip
    "flat box": (GOOD.replace('size="1 2 3"', 'size="1 0 3"'), "must be > 0"),
    "bad inertia": (GOOD.replace('ixx="1" iyy="2"', 'ixx="-1" iyy="2"'), "negative moment"),
    "no inertia": (
        GOOD.replace('<inertia ixx="1" iyy="2" izz="2.5" ixy=".1"/>', ""),
        "no <inertia",
    ),
    "bad mjcf": (
        "<mujoco><worldbody><body><joint type='screw'/></body></worldbody></mujoco>",
        "MuJoCo",
    ),  # fmt: skip
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_gets_one_sentence(name, tmp_path):
    text, word = BROKEN[name]
    assert text != GOOD
    path = tmp_path / "robot.urdf"
    path.write_text(text)
    with pytest.raises(ds.InputError, match=word) as told:
        ds.Robot.load(path)
    assert "robot.urdf" in str(told.value) and "\n" not in str(told.value)


def test_a_file_that_is_not_there_gets_one_sentence(tmp_path):
    with pytest.raises(ds.InputError, match="no such file"):
        ds.Robot.load(tmp_path / "none.urdf")
    with pytest.raises(ds.InputError, match="folder"):
        ds.Robot.load(tmp_path)


def test_a_urdf_is_read_and_what_is_not_honoured_is_named(tmp_path):
    path = tmp_path / "r.urdf"
    path.write_text(GOOD)
    robot = ds.Robot.load(path, base="free")
    assert robot.nv == 8 and robot.mass == 4.0
    joint = robot.joints[1]
    assert joint.axis == (0, 0, 1) and joint.limits == (-1, 2) and joint.damping == 0.1
    assert robot.joints[2].mimic == ("j", -2.0, 0.5)
    c, s = np.cos(1), np.sin(1)
    turn = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    given = np.array([[1, 0.1, 0], [0.1, 2, 0], [0, 0, 2.5]])
    assert robot.links[0].inertia == pytest.approx(turn @ given @ turn.T, rel=1e-14, abs=1e-15)
    assert [a.max_force for a in robot.actuators] == [5.0]
    told = " ".join(robot.ignored)
    assert "<transmission> t" in told and "velocity limit" in told


def test_a_spherical_joint_of_pybullet_is_a_ball(tmp_path):
    ball = GOOD.replace('"j" type="revolute"', '"j" type="spherical"')
    (tmp_path / "r.urdf").write_text(
        ball.replace('<mimic joint="j" multiplier="-2" offset=".5"/>', "")
    )
    robot = ds.Robot.load(tmp_path / "r.urdf")
    assert robot.joints[1].kind == "ball" and robot.joints[1].damping == 0.1 and robot.nv == 4
    assert "joint j: the limit of a ball joint" in " ".join(robot.ignored)


def test_scratch_that_mjcf_asks_for_is_not_taken(tmp_path):
    """MuJoCo would take 800 MB for a thousand contacts of which a compiler needs none."""
    pytest.importorskip("mujoco")
    body = '<body><freejoint/><geom size="0.1"/></body>'
    for size in ('njmax="8000" nconmax="4000"', 'memory="900G"'):
        text = f"<mujoco><size {size}/><worldbody>{body}</worldbody></mujoco>"
        (tmp_path / "r.xml").write_text(text)
        assert ds.Robot.load(tmp_path / "r.xml").nv == 6


def urdf_files():
    found = importlib.util.find_spec("pybullet_data")
    folder = Path(found.origin).parent if found else Path("absent")
    names = ("kuka_iiwa/model.urdf a1/a1.urdf r2d2.urdf franka_panda/panda.urdf cartpole.urdf "
             "racecar/racecar.urdf quadruped/minitaur.urdf pr2_gripper.urdf aliengo/aliengo.urdf "
             "pendulum5.urdf TwoJointRobot_w_fixedJoints.urdf")  # fmt: skip
    return [folder / name for name in names.split()]


@pytest.mark.parametrize("path", urdf_files(), ids=lambda path: path.stem)
def test_urdf_files_are_read_as_mujoco_reads_them(path):
    mujoco = pytest.importorskip("mujoco")
    if not path.exists():
        pytest.skip("pybullet_data is not installed, or has no such file")
    robot = ds.Robot.load(path)
    root = ElementTree.parse(path).getroot()
    for link in root.findall("link"):
        for part in (*link.findall("visual"), *link.findall("collision")):
            link.remove(part)
    options = dict(fusestatic="false", boundmass="0", boundinertia="0", balanceinertia="false")
    ElementTree.SubElement(ElementTree.SubElement(root, "mujoco"), "compiler", **options)
    try:
        model = mujoco.MjModel.from_xml_string(ElementTree.tostring(root, encoding="unicode"))
    except ValueError as error:
        pytest.skip(f"MuJoCo refuses it: {' '.join(str(error).split())[:80]}")
    for b in range(1, model.nbody):
        name = mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_BODY, b)
        link, axes = robot.links[robot._link_row[name]], np.zeros(9)
        mujoco.mju_quat2Mat(axes, model.body_iquat[b])
        axes = axes.reshape(3, 3)
        inertia = (axes * model.body_inertia[b]) @ axes.T
        assert link.mass == pytest.approx(model.body_mass[b], rel=1e-9)
        if link.mass > 0.0:
            assert link.centre == pytest.approx(model.body_ipos[b], abs=1e-9)
        size = abs(inertia).max()
        assert link.inertia == pytest.approx(inertia, abs=1e-9 * size + 1e-15)
    for j in range(model.njnt):
        name = mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_JOINT, j)
        joint = robot.joints[robot._joint_row[name]]
        assert joint.axis == pytest.approx(model.jnt_axis[j], abs=1e-9)
        if model.jnt_limited[j]:
            assert joint.limits == pytest.approx(model.jnt_range[j], rel=1e-9, abs=1e-12)


def test_what_a_link_of_a_urdf_says_about_contact_is_honoured_or_named(tmp_path):
    text = GOOD.replace(
        "<collision>",
        '<contact><lateral_friction value="0.9"/><rolling_friction value="0.01"/>'
        '<spinning_friction value="0.02"/><contact_erp value="1"/></contact><visual/><odd/>'
        "<collision>",
    ).replace('<dynamics damping=".1"/>', '<dynamics damping=".1"/><joint_properties/>')
    (tmp_path / "r.urdf").write_text(text)
    robot = ds.Robot.load(tmp_path / "r.urdf", base="free")
    shape = robot.links[0].shapes[0]
    assert (shape.friction, shape.rolling_friction, shape.spinning_friction) == (0.9, 0.01, 0.02)
    told = "\n".join(robot.ignored)
    for word in ("<contact_erp>", "link a: <odd>", "joint j: <joint_properties>", "<visual> of 1"):
        assert word in told
    world = ds.World()
    world.add_robot(robot)
    assert world["r/a"]._material.rolling_friction == 0.01
    (tmp_path / "r.urdf").write_text(text.replace('"0.9"', '"-1"'))
    with pytest.raises(ds.InputError, match=r"^r.urdf: link a: collision 0: friction is -1"):
        ds.Robot.load(tmp_path / "r.urdf")


def test_rolling_and_spinning_friction_of_mjcf_are_read_where_condim_asks_for_them(tmp_path):
    pytest.importorskip("mujoco")
    geom = '<geom type="sphere" size="0.1" friction="0.7 0.02 0.003" condim="{}"/>'
    wanted = {1: (0.0, 0.0, 0.0), 3: (0.7, 0.0, 0.0), 4: (0.7, 0.0, 0.02), 6: (0.7, 0.003, 0.02)}
    for condim, given in wanted.items():
        body = f"<body><freejoint/>{geom.format(condim)}</body>"
        (tmp_path / "r.xml").write_text(f"<mujoco><worldbody>{body}</worldbody></mujoco>")
        shape = ds.Robot.load(tmp_path / "r.xml").links[0].shapes[0]
        assert (shape.friction, shape.rolling_friction, shape.spinning_friction) == given
    two = geom.format(3) + geom.format(1)
    (tmp_path / "r.xml").write_text(
        f'<mujoco><worldbody><body name="b"><freejoint/>{two}</body></worldbody></mujoco>'
    )
    assert "geoms of body b differ" in " ".join(ds.Robot.load(tmp_path / "r.xml").ignored)
