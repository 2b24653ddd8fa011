"""Worlds with joints on disk: they go on bit for bit, replays do every edit, no file can hurt."""

import json
import os
import sys
from dataclasses import fields

import h5py
import numpy as np
import pytest

import drystone as ds
from checkpoint_edits import assert_same_arrays, described, edited, put, replace
from drystone import Ball, Fixed, Hinge, Motor, Servo, Slider, SwingTwist
from drystone.world.io.serialize_joints import describe_joint, restore_joint
from joint_rigs import RIGS, rig
from two_threads import printed_by

STONE = ds.Material(density=2600, friction=0.6)


def machine(**options):
    """A chain that falls on the ground, a driven flap against its limit, a kept-apart pair."""
    world = ds.World(**options)
    ground = world.add_fixed(ds.Plane(), STONE, name="ground")
    links = [
        world.add_body(ds.Box(0.3, 0.1, 0.1), STONE, (0.3 * k, 0, 0.6), name=f"link-{k}")
        for k in range(6)
    ]
    for k in range(5):
        limits = SwingTwist((1, 0, 0), swing=0.9, twist=(-0.4, 0.5))
        world.add_joint(Ball(links[k], links[k + 1], (0.3 * k + 0.15, 0, 0.6), limits))
    flap = world.add_body(ds.Box(0.5, 0.4, 0.05), STONE, (-1, 0, 1), name="flap")
    motor = Motor(2.0, max_torque=300.0)
    world.add_joint(Hinge(ground, flap, (-0.75, 0, 1), (0, 1, 1), (-0.2, 0.6), motor, 0.3))
    ram = world.add_body(ds.Box(0.2, 0.2, 0.2), STONE, (-1, 2, 0.3), name="ram")
    servo = Servo(0.3, stiffness=4000.0, damping=50.0, max_force=400.0)
    world.add_joint(Slider(None, ram, (1, 0, 0), motor=servo, friction=2.0))
    rider = world.add_body(ds.Box(0.1, 0.1, 0.1), STONE, (-1, 2, 0.45), name="rider")
    world.add_joint(Fixed(ram, rider), collide=True)
    return world


def load_again(world, path):
    world.save(path)
    return ds.World.load(path)


def same(a, b):
    """Whether two joints have the same fields to the last bit, bodies by their numbers."""
    return describe_joint(a) == describe_joint(b)


def test_a_machine_goes_on_bit_for_bit(tmp_path):
    """A chain with contacts, saved at half and more often, after an earlier restore."""
    plain, saved = machine(sleeping=False), machine(sleeping=False)
    plain.run(1.2)
    assert plain.info.contacts > 4
    for k in range(3):
        saved.run(0.4)
        saved = load_again(saved, tmp_path / f"{k}.h5")
    assert saved.hash() == plain.hash()
    assert_same_arrays(saved, plain)
    for world in (plain, saved):
        world.run(0.3)
    assert saved.hash() == plain.hash()
    for old, new in zip(plain.joints, saved.joints, strict=True):
        assert old.force.tobytes() == new.force.tobytes()


@pytest.mark.parametrize("name", RIGS)
def test_every_kind_comes_back_as_it_was(tmp_path, name, recwarn):
    made = rig(name, np.random.default_rng(3))
    joint, world = made.joint, made.bodies[0]._world
    world.add_joint(joint, collide=True)
    again = load_again(world, tmp_path / "new.h5")
    for _ in range(3):
        for each in (world, again):
            each.run(0.02)
        assert world.hash() == again.hash()
        again = load_again(again, tmp_path / "now.h5")
    assert not recwarn.list  # the constant arrays have the same bits
    (twin,) = again.joints
    assert same(joint, twin) and again._joints == {twin: True}
    for field in fields(joint):
        if field.name not in ("a", "b"):
            assert getattr(twin, field.name) == getattr(joint, field.name)
    assert [body.name for body in twin.bodies] == [body.name for body in joint.bodies]


def test_a_joint_to_a_fixed_thing_keeps_it(tmp_path):
    world = machine()
    again = load_again(world, tmp_path / "now.h5")
    assert again.joints[5].a is again["ground"] and again.joints[5].bodies[0] is None
    world.remove(world["ground"])
    again = load_again(world, tmp_path / "now.h5")
    assert again.joints[5].a is None


def test_a_loaded_machine_can_be_edited(tmp_path):
    plain, loaded = machine(), load_again(machine(), tmp_path / "now.h5")
    for world in (plain, loaded):
        world.run(0.3)
        world.remove(world.joints[2])
        world.joints[-3].set(motor=None)
        world.remove(world["rider"])
        world.add_joint(ds.Distance(world["link-0"], None, (0, 0, 0.6), (0, 0, 1.4)))
        world.run(0.3)
    assert plain.hash() == loaded.hash() and len(plain.joints) == len(loaded.joints) == 7


@pytest.mark.slow
def test_bits_do_not_depend_on_threads_or_checkpoints(tmp_path):
    """One hash: one thread and two, straight through and from a file at half."""
    here = os.path.dirname(__file__)
    script = (
        "import sys, numba, drystone as ds; numba.set_num_threads(int(sys.argv[1]))\n"
        f"sys.path[:0] = {[here, *sys.path]}\n"
        "from test_serialize_joints import machine\n"
        "world = machine(); world.run(0.6)\n"
        "if sys.argv[2] != '-': world.save(sys.argv[2]); world = ds.World.load(sys.argv[2])\n"
        "world.run(0.6); print(world.hash())\n"
    )
    hashes = set()
    for threads, path in ((1, "-"), (2, "-"), (2, tmp_path / "half.h5")):
        hashes.add(printed_by(script, threads, path).strip())
    assert len(hashes) == 1 and len(hashes.pop()) == 16


def test_edits_of_joints_are_run_again(tmp_path):
    world = machine()
    with ds.record(world, tmp_path / "run.h5", every=5):
        world.run(0.2)
        hinge = world.joints[5]
        hinge.set(motor=Motor(-1.0, max_torque=50.0), limits=(-0.1, None))
        world.run(0.1)
        world.remove(world.joints[0])
        assert hinge.angle != 0.0  # makes the arrays between two edits
        rod = ds.Distance(world["link-0"], world["link-5"], (0, 0, 0.6), (1.5, 0, 0.6), length=1.2)
        world.add_joint(rod, collide=True)
        world.run(0.1)
        world.joints[0].set(limits=SwingTwist((1, 0, 0), swing=0.4), friction=0.2)
        world.remove(world["rider"])
        world.run(0.2)
    result = ds.replay(tmp_path / "run.h5")
    assert result.verified, result.complaint
    assert result.world.hash() == world.hash()
    for old, new in zip(world.joints, result.world.joints, strict=True):
        assert same(old, new)
    assert list(world._joints.values()) == list(result.world._joints.values())


# Files made to hurt


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    path = tmp_path_factory.mktemp("good") / "good.h5"
    world = machine()
    world.run(0.1)
    world.save(path)
    return path.read_bytes()


def joint_said(k, **entries):
    """Change the description of joint `k`."""

    def change(file):
        said = json.loads(file["description"][()].tobytes())
        said["joints"][k] |= entries
        described(joints=said["joints"])(file)

    return change


NAN, TURN = float("nan"), [1.0, 0.0, 0.0, 0.0]
SIDES = [[0.0, 0.0, 0.0]] * 2


@pytest.mark.parametrize(
    "change",
    [
        described(joints=None),
        described(joints=[{}]),
        described(joints=[]),
        joint_said(0, a=99),
        joint_said(0, a=-1),
        joint_said(0, a="link-0"),
        joint_said(0, a=True),
        joint_said(0, a=2, b=2),
        joint_said(0, a=None, b=0),
        joint_said(0, collide="no"),
        joint_said(0, point=[NAN, 0, 0]),
        joint_said(0, point=[0, 0]),
        joint_said(0, limits={"is": "SwingTwist", "axis": [2, 0, 0]}),
        joint_said(0, limits={"is": "Motor", "speed": 1.0}),
        joint_said(0, limits=[0, 1]),
        joint_said(0, limits=None),
        joint_said(0, motor={"is": "World"}),
        joint_said(0, attachment=None),
        joint_said(0, attachment=[SIDES, [TURN] * 2]),
        joint_said(0, attachment=[SIDES[:1], [TURN] * 2, [TURN] * 2]),
        joint_said(0, attachment=[SIDES, [[NAN, 0, 0, 0]] * 2, [TURN] * 2]),
        joint_said(0, attachment=[SIDES, [[3, 0, 0, 0]] * 2, [TURN] * 2]),
        joint_said(0, attachment=[[[NAN, 0, 0]] * 2, [TURN] * 2, [TURN] * 2]),
        joint_said(0, _world=3),
        joint_said(5, **{"is": "Wire"}),
        joint_said(5, **{"is": "Fixed"}),
        joint_said(5, axis=[0, 0, 0]),
        joint_said(5, axis=[0, 3, 4]),
        joint_said(5, limits=[1, -1]),
        joint_said(5, limits=[NAN, 1]),
        joint_said(5, limits=[0, 1, 2]),
        joint_said(5, friction=-1.0),
        joint_said(5, motor={"is": "Motor", "speed": NAN}),
        joint_said(5, motor={"is": "Motor", "speed": 1.0, "max_torque": -1.0}),
        joint_said(5, motor=None),
        put("state/joint_value", 0, NAN),
        put("state/joint_impulse", 0, np.inf),
        put("state/joint_curve", 0, NAN),
        replace("state/joint_impulse", np.zeros(4)),
        replace("state/joint_impulse", np.zeros(10_000)),
        replace("state/joint_curve", np.zeros((3, 2))),
        replace("state/joint_value", np.zeros((8, 3), np.float32)),
        lambda file: file.__delitem__("state/joint_value"),
    ],
)
def test_hostile_files_get_a_sentence(tmp_path, good, change):
    path = edited(tmp_path / "hostile.h5", good, change)
    with pytest.raises(ds.InputError, match="hostile.h5"):
        ds.World.load(path)


def test_joints_that_the_solver_cannot_do_get_a_sentence(tmp_path, good):
    path = edited(tmp_path / "hostile.h5", good, described(solver=["pgs", {}]))
    with pytest.raises(ds.UnsupportedFeature, match="pgs does not support joints"):
        ds.World.load(path)


@pytest.mark.parametrize("edit, value", [
    ("add_joint", [{"is": "Ball"}, False]),
    ("add_joint", [{"is": "Ball", "a": 99, "b": 1, "attachment": None}, False]),
    ("add_joint", 3),
    ("remove_joint", 8),
    ("remove_joint", -1),
    ("remove_joint", "first"),
    ("set_joint", [0, {}]),
    ("set_joint", [7, "itself"]),
    ("set_joint", [99, "itself"]),
])  # fmt: skip
def test_a_damaged_journal_gets_a_sentence(tmp_path, edit, value):
    path, world = tmp_path / "run.h5", machine()
    with ds.record(world, path):
        world.step()
    if edit == "set_joint" and value[1] == "itself":  # joint 0 as something else
        value = [value[0], describe_joint(world.joints[0])]
    line = json.dumps({"step": 0, "edit": edit, "value": value}).encode() + b"\n"
    with h5py.File(path, "r+") as file:
        file["journal"].resize(len(line), axis=0)
        file["journal"][:] = np.frombuffer(line, np.uint8)
    with pytest.raises(ds.InputError):
        ds.replay(path)


def test_a_description_without_a_pose_needs_none():
    """Restoring asks nothing of where the bodies are: they may have moved since."""
    world = machine()
    things = {thing.number: thing for thing in (*world.bodies, *world.fixed)}
    said = [describe_joint(joint) for joint in world.joints]
    for body in world.bodies:
        body.position = body.position + (5, 0, 3)
    for text, joint in zip(said, world.joints, strict=True):
        twin = restore_joint(json.loads(json.dumps(text)), things)
        assert same(twin, joint) and twin.attachment == joint.attachment
