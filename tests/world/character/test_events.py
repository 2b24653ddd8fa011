"""What a run of a character says of itself: the end of a clip, falls, feet that slide, ranges."""

import numpy as np
import pytest

import drystone as ds

pytestmark = pytest.mark.slow  # every one runs a figure


def upright(walk, seconds=0.4):
    """Someone who stands still, knees straight."""
    n = round(seconds * 120) + 1
    turned = np.zeros((n, len(walk.names), 4))
    turned[..., 0] = 1.0
    at = np.tile((0.0, 0.0, 0.9), (n, 1))
    return ds.Clip(walk.names, walk.parents, walk.offsets, at, turned, 1 / 120, walk.ends)


def stands(walk, friction=0.8, floor_friction=0.8):
    """On a lift that can move."""
    clip = upright(walk)
    figure = ds.Figure.from_clip(clip)
    world = ds.World(dt=1 / 240, sleeping=False)
    lift = world.add_body(
        ds.Box(4, 4, 1), ds.Material(friction=floor_friction), (0, 0, figure.ground - 0.5),
        kinematic=True,
    )  # fmt: skip
    return world, lift, world.add_character(figure, clip, root="free", friction=friction)


@pytest.mark.parametrize("root", ["follow", "assisted"])
def test_after_its_clip_a_figure_holds_the_last_pose(walk, root):
    """Its last speeds and torques would hold it far from there, for ever."""
    clip = walk.trimmed(0.0, 0.4)
    gravity = (0, 0, -9.81 * (root == "follow"))  # nothing else carries it
    world = ds.World(dt=1 / 240, sleeping=False, gravity=gravity)
    character = world.add_character(ds.Figure.from_clip(clip), clip, root=root, ground=False)
    world.run(2.4)
    assert np.degrees(character.error[-1]).max() < 0.1
    assert character.root_error[-1, 0] < 1e-3


def test_who_stands_puts_its_weight_on_the_ground(walk):
    world, _, character = stands(walk)
    world.run(0.8)
    weight = character.figure.mass * 9.81
    assert character.ground_force.shape == (len(character.times), 2, 3)
    assert character.ground_force[24:, :, 2].sum(axis=1).mean() == pytest.approx(weight, rel=5e-3)
    assert np.abs(character.contact_force[-1].sum(axis=0)[:2]).max() < 0.01 * weight
    assert character.events() == [] and character.slip[24:].max() < 0.05


def test_a_lift_is_no_fall(walk):
    world, lift, character = stands(walk)
    for k in range(240):
        lift.velocity = (0, 0, -0.8 * min(k / 72, 1.0))
        world.step()
    assert lift.position[2] < -1.0 and character.fall() is None


def test_feet_that_slide_are_said(walk):
    world, lift, character = stands(walk, 0.02, 0.02)
    world.run(0.1)
    lift.velocity = (0.0, 0.4, 0.0)
    world.run(0.3)
    said = [line for line in character.events() if "slid by" in line]
    assert len(said) == 2 and "first at t = 0.1" in said[0]
    assert character.slip[-1, list(character.figure.feet)].max() == pytest.approx(0.4, rel=0.2)


def test_ends_of_ranges_and_torques_beyond_people_are_said(walk):
    world = ds.World(dt=1 / 240, sleeping=False)
    character = world.add_character(ds.Figure.from_clip(walk), walk)
    world.run(0.2)
    assert character.events() == []
    character.body("right_ankle").push((0.0, 40.0, 0.0))  # forwards: the knee is overstretched
    world.run(0.5)
    said = "\n".join(character.events())
    assert "was at the end of its range for" in said and "a kilogram of the figure" in said
    assert "\n\n" not in said


def test_two_figures_stand_beside_each_other(walk):
    clip = upright(walk, 0.3)
    world = ds.World(dt=1 / 240, sleeping=False)
    first = ds.Figure.from_clip(clip)
    world.add_fixed(ds.Plane(), ds.Material(friction=0.8), (0, 0, first.ground))
    beside = clip.moved((0.0, 0.9, 0.0), turn=np.pi)
    actors = [
        world.add_character(ds.Figure.from_clip(c), c, root="free", name=name)
        for c, name in ((clip, "one"), (beside, "two"))
    ]
    world.run(0.5)
    for actor, where in zip(actors, (0.0, 0.9), strict=True):
        assert actor.fall() is None and actor.positions()[-1, 0, 1] == pytest.approx(
            where, abs=0.02
        )
        total = actor.ground_force[24:, :, 2].sum(axis=1).mean()
        assert total == pytest.approx(actor.figure.mass * 9.81, rel=0.01)


def test_a_clip_is_moved_as_a_whole(walk):
    moved = walk.moved((1.0, 2.0, 0.5), turn=0.7)
    at, turned = walk.poses()
    at2, turned2 = moved.poses()
    c, s = np.cos(0.7), np.sin(0.7)
    turn = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    np.testing.assert_allclose(at2, (at - at[0, 0]) @ turn.T + at[0, 0] + (1, 2, 0.5), atol=1e-12)
    assert np.array_equal(moved.rotations[:, 1:], walk.rotations[:, 1:])


def test_a_figure_of_one_bone_is_noted_as_well():
    turned = np.zeros((40, 1, 4))
    turned[..., 0] = 1.0
    at = np.linspace((0, 0, 2.0), (1.0, 0, 2.0), 40)
    clip = ds.Clip(["a"], [-1], [(0, 0, 0)], at, turned, 1 / 40, [(0, (0, 0, 1.7))])
    world = ds.World(dt=1 / 240, sleeping=False)
    character = world.add_character(ds.Figure.from_clip(clip), clip)
    world.run(0.3)
    wanted = character.motion.at(character.times).position
    assert np.abs(character.positions() - wanted).max() < 1e-9
    assert character.error.shape == (72, 0) and character.events() == []
    run = ds.run_character(clip, cutoff=None, seconds=0.1)
    assert run.recovered(ds.Disturbance(0.05, "push", "a")) == (0.0, 0.0)
