"""A figure in a world: it follows its clip, is hit and recovers, and what it did is kept."""

import numpy as np
import pytest

import drystone as ds
from drystone.world.character.clips.walking import walk_on_the_spot

pytestmark = pytest.mark.slow  # every one runs a figure for seconds


def placed(clip, dt=1 / 240, **options):
    world = ds.World(dt=dt, sleeping=False)
    return world, world.add_character(ds.Figure.from_clip(clip), clip, **options)


def test_a_clip_is_followed(walk):
    world, character = placed(walk)
    world.run(walk.duration)
    error = np.degrees(character.error)
    assert error.mean() < 0.3 and error.max() < 3.0
    assert character.root_error.max() < 1e-9
    sample = character.motion.at(character.times)
    assert np.abs(character.positions() - sample.position).max() < 0.03


def test_captured_clips_are_followed(captured):
    clip = captured.smoothed()
    world, character = placed(clip)
    world.run(clip.duration)
    error = np.degrees(character.error)
    assert error.mean() < 1.0 and error.max() < 3.0


@pytest.mark.parametrize("side", ["LeftShoulder"])
def test_feedforward_alone_reproduces_an_arm(captured, side):
    """2 s at 1 kHz to 5 mm. An arm that is held up is an inverted pendulum: torques that are right
    for even time alone are lost in a second."""
    arm = captured.smoothed().branch(side).trimmed(0.3, 2.3)
    figure = ds.Figure.from_clip(arm)
    world = ds.World(dt=1e-3, sleeping=False)
    torques = ds.feedforward(figure, arm, 1e-3)
    character = world.add_character(figure, arm, feedback=False, torques=torques)
    world.run(2.0)
    wanted = character.motion.at(character.times).position
    assert np.linalg.norm(character.positions() - wanted, axis=-1).max() < 0.005


def test_without_muscles_the_arm_falls(walk):
    """What the other tests say would be empty if the arm followed by itself."""
    arm = walk.branch("left_shoulder")
    world, character = placed(arm, feedback=False, feedforward=False)
    world.run(0.8)
    assert np.degrees(character.error).max() > 10.0


@pytest.mark.parametrize("mass", [1.0, 5.0])
def test_a_ball_pushes_the_arm_off_and_it_comes_back(mass):
    clip = walk_on_the_spot(2.2)
    thrown = ds.Disturbance(0.3, "throw", "left_elbow", mass)
    run = ds.run_character(clip.branch("left_shoulder"), disturbances=(thrown,))
    off, back = run.recovered(run.disturbances[0])
    for after, within, word in ((7, 1.0, "after is 7"), (run.disturbances[0], -1, "within is -1")):
        with pytest.raises(ds.InputError, match=word):
            run.recovered(after, within)
    assert off > 10.0 and back is not None and back < 1.0
    assert run.worst_penetration < 0.005
    ball = run.balls[0]
    gained = 0.5 * mass * ball.velocity @ ball.velocity
    assert np.isfinite(gained) and run.character.summary()["muscles_took_J"] < 0.0


def test_muscles_give_what_the_arm_gains():
    """Kinetic and potential energy of a rod whose root is at rest change by what muscles give."""
    t = np.arange(0, 241) / 240
    rod = (0.01, 0.01, 0.001)
    figure = ds.Figure(
        [ds.Bone("root", 1.0, inertia=(1, 1, 1),
                 members=[(ds.Sphere(0.02), (0, 0, 0), (1, 0, 0, 0))]),
         ds.Bone("rod", 1.0, (0, 0, -0.3), rod, "root",
                 members=[(ds.Capsule(0.02, 0.5), (0, 0, -0.3), (1, 0, 0, 0))])]
    )  # fmt: skip
    from drystone.world.character import quaternions

    turned = np.zeros((241, 2, 4))
    turned[:, 0, 0] = 1
    turned[:, 1] = quaternions.about(1, 0.8 * (1 - np.cos(np.pi * t)))
    clip = ds.Clip(figure.names, [-1, 0], np.zeros((2, 3)), np.zeros((241, 3)), turned, 1 / 240)
    world = ds.World(dt=1 / 240, sleeping=False)
    character = world.add_character(figure, clip)
    start = world.energy()
    world.run(0.9)
    end = world.energy()
    gained = (
        character.bodies[1].mass
        * 9.81
        * 0.3
        * (np.cos(0) - np.cos(0.8 * (1 - np.cos(0.9 * np.pi))))
    )
    gave = float(character.power.sum() / 240)
    kinetic = end.kinetic - start.kinetic
    assert gave == pytest.approx(gained + kinetic, rel=0.02)


def test_a_weight_and_a_push_are_felt(walk):
    world, character = placed(walk)
    character.load("left_elbow", 3.0)
    world.run(0.5)
    loaded = np.degrees(character.error[-1]).max()
    assert loaded > 2.0
    world, character = placed(walk)
    world.run(0.2)
    character.body("left_elbow").push((3.0, 0, 0))
    world.run(0.1)
    assert np.degrees(character.error).max() > 5.0


def test_a_lasting_push_of_the_user_stays(walk):
    """State.force holds the torques of the muscles too; what the user sets is not lost."""
    world, character = placed(walk)
    elbow = character.body("left_elbow")
    elbow.force = (0, 0, 40.0)
    world.run(0.4)
    pushed = np.degrees(character.error[-1]).max()
    assert pushed > 2.0
    elbow.force = (0, 0, 0)
    world.run(0.5)
    assert np.degrees(character.error[-1]).max() < 0.5 * pushed


def test_the_standing_part_stands_on_its_own_feet(captured):
    if captured.name != "16_01":
        pytest.skip("does not stand")
    clip = captured.smoothed().trimmed(0.0, 0.4)
    run = ds.run_character(clip, root="free", cutoff=None)
    assert run.character.fall() is None
    assert np.abs(run.character.root_force).max() == 0.0
    assert run.character.root_error[:, 0].max() < 0.05


def test_who_falls_says_when_and_why(walk):
    pose = walk.rotations * 0
    pose[..., 0] = 1.0
    at = np.tile((0.0, 0.0, 0.9), (200, 1))
    pose = np.resize(pose, (200, *pose.shape[1:]))
    lean = ds.Clip(walk.names, walk.parents, walk.offsets, at, pose, 1 / 120, walk.ends)
    figure = ds.Figure.from_clip(lean)
    world = ds.World(sleeping=False)
    world.add_fixed(ds.Plane(), ds.Material(friction=0.8), position=(0, 0, figure.ground))
    character = world.add_character(figure, lean, root="free")
    character.body("chest").push((0.0, -120.0, 0.0))
    world.run(1.5)
    fall = character.fall()
    assert fall is not None and 0.2 < fall.time < 1.5 and fall.lost < fall.time
    assert "outside of the feet" in str(fall)


def test_a_recording_is_replayed_bit_for_bit(tmp_path, walk):
    path = tmp_path / "walk.h5"
    disturbance = ds.Disturbance(0.05, "throw", "left_shoulder", 2.0, 8.0)
    ds.run_character(walk, disturbances=(disturbance,), seconds=0.4, record=path)
    again = ds.replay(path)
    assert again and again.verified, again.complaint


def test_a_snapshot_brings_the_muscles_back(walk):
    world, character = placed(walk)
    world.run(0.2)
    kept = world.snapshot()
    world.run(0.2)
    first = world.hash()
    world.restore(kept)
    world.run(0.2)
    assert world.hash() == first


def test_results_are_written(tmp_path, walk):
    pytest.importorskip("pyarrow")
    pytest.importorskip("pyvista")
    run = ds.run_character(walk, seconds=0.3)
    names = {path.name for path in run.write(tmp_path)}
    assert {"clip.csv", "run.parquet", "torques.h5", "ground.png", "strip.png"} <= names
    lines = (tmp_path / "run.csv").read_text().splitlines()
    assert len(lines) == 73 and lines[0].startswith("time_s,chest_error_deg,chest_torque_x_Nm")
    assert ds.Torques.load(tmp_path / "torques.h5").names == run.character.figure.joints


def test_odd_arguments_get_a_sentence(walk):
    world = ds.World()
    figure = ds.Figure.from_clip(walk)
    for options, said in (
        ({"root": "fly"}, "Known"), ({"gains": 3}, "Gains"), ({"root_limit": (1,)}, "root_limit"),
        ({"gains": ds.Gains(joints={"tail": (1, 1)})}, "no joint 'tail'"),
    ):  # fmt: skip
        with pytest.raises(ds.InputError, match=said):
            world.add_character(figure, walk, **options)
    with pytest.raises(ds.InputError, match="kind is .* Known: throw, push"):
        ds.Disturbance(1.0, "kick")
    with pytest.raises(ds.InputError, match="has no joint"):
        ds.Motion(figure, walk.branch("left_hip"))


@pytest.mark.parametrize("first", ["robot", "character"])
def test_a_robot_beside_it_changes_nothing(first):
    clip = walk_on_the_spot(0.2)

    def positions(order):
        world = ds.World(dt=1 / 240, sleeping=False)
        for what in order:
            if what == "robot":
                joint = ds.RobotJoint("hinge", "revolute", "arm", None, (3, 0, 2), axis=(0, 1, 0))
                world.add_robot(ds.Robot([ds.Link("arm", 1.0, (0, 0, -0.5))], [joint]))
            else:
                character = world.add_character(ds.Figure.from_clip(clip), clip)
        world.run(clip.duration)
        return character.positions()

    other = {"robot": "character", "character": "robot"}[first]
    alone, beside = positions(["character"]), positions([first, other])
    assert np.abs(alone - beside).max() < 1e-9
