"""Clips: what is written is read again, edits do what they say, broken files get one sentence."""

import json

import numpy as np
import pytest

import drystone as ds
from drystone.world.character import quaternions

GOOD = """HIERARCHY
ROOT Hips
{
  OFFSET 0 0 0
  CHANNELS 6 Xposition Yposition Zposition Zrotation Yrotation Xrotation
  JOINT LeftLeg
  {
    OFFSET 10 -90 0
    CHANNELS 3 Xrotation Zrotation Yrotation
    End Site
    {
      OFFSET 0 -80 0
    }
  }
  JOINT RightLeg
  {
    OFFSET -10 -90 0
    CHANNELS 3 Zrotation Xrotation Yrotation
    End Site
    {
      OFFSET 0 -80 0
    }
  }
}
MOTION
Frames: 3
Frame Time: 0.01
1 170 2 10 20 30 40 0 0 0 0 0
2 171 3 11 21 31 41 5 0 0 -7 0
3 172 4 12 22 32 42 6 9 8 0 3
"""


def wrote(tmp_path, text, name="clip.bvh"):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_angles_are_applied_in_the_order_of_the_channels(tmp_path):
    """The joint below turns by X, then Z, then Y, each about axes that the ones before turned."""
    clip = ds.Clip.load(wrote(tmp_path, GOOD), unit="cm")

    def turn(axis, deg):
        a, (i, j) = np.radians(deg), ((1, 2), (2, 0), (0, 1))[axis]
        m = np.eye(3)
        m[i, i] = m[j, j] = np.cos(a)
        m[i, j], m[j, i] = -np.sin(a), np.sin(a)
        return m

    wanted = turn(0, 42) @ turn(2, 6) @ turn(1, 9)  # in the axes of the file, y up
    down = wanted @ (0, -80, 0)
    found = quaternions.rotate(clip.rotations[2, 1], clip.ends[0][1])
    np.testing.assert_allclose(found, 0.01 * down[[2, 0, 1]], atol=1e-12)
    np.testing.assert_allclose(clip.positions[0], (0.02, 0.01, 1.70))


def test_a_clip_in_centimetres_is_found_out_and_said(tmp_path):
    clip = ds.Clip.load(wrote(tmp_path, GOOD))
    assert clip.unit == 0.01 and clip.height == pytest.approx(1.7)
    assert any("cm" in finding.what for finding in clip.check())
    giant = ds.Clip.load(wrote(tmp_path, GOOD), unit="m")
    assert any("170 m high" in finding.what for finding in giant.check())


def test_feet_below_the_ground_are_said(walk):
    from drystone.world.character.clips.clip import Clip

    sunk = Clip(
        walk.names, walk.parents, walk.offsets, walk.positions - (0, 0, 0.4), walk.rotations,
        walk.dt, walk.ends,
    )  # fmt: skip
    assert any("below the ground" in finding.what for finding in sunk.check())
    assert not any("below the ground" in finding.what for finding in walk.check())


def test_joints_beyond_their_ranges_are_said(walk):
    rotations = walk.rotations.copy()
    knee = walk.index("left_knee")
    rotations[:, knee] = quaternions.about(1, np.full(len(walk), 3.1))
    bent = ds.Clip(
        walk.names, walk.parents, walk.offsets, walk.positions, rotations, walk.dt, walk.ends
    )
    found = [finding for finding in bent.check() if "left_knee" in finding.what]
    assert not found  # 178 degrees are within what knees and their twist allow together
    rotations[:, walk.index("left_ankle")] = quaternions.about(1, np.full(len(walk), 3.1))
    bent = ds.Clip(
        walk.names, walk.parents, walk.offsets, walk.positions, rotations, walk.dt, walk.ends
    )
    assert any("left_ankle (foot) is turned by 178 degrees" in f.what for f in bent.check())


def test_what_is_written_is_read_again(tmp_path, walk):
    for clip in (ds.Clip.load(wrote(tmp_path, GOOD)), walk):
        clip.save(tmp_path / "again.bvh")
        again = ds.Clip.load(tmp_path / "again.bvh", unit=clip.unit)
        at, turned = clip.poses()
        at2, turned2 = again.poses()
        order = [again.index(name) for name in clip.names]
        np.testing.assert_allclose(at2[:, order], at, atol=1e-8)
        np.testing.assert_allclose(np.abs((turned2[:, order] * turned).sum(-1)), 1.0, atol=1e-12)


def test_a_captured_clip_is_read_and_written(tmp_path, captured):
    captured.save(tmp_path / "again.bvh")
    again = ds.Clip.load(tmp_path / "again.bvh", unit="cmu")
    np.testing.assert_allclose(again.poses()[0], captured.poses()[0], atol=1e-7)
    assert len(captured.names) == 31 and 1 / captured.dt == pytest.approx(120, rel=1e-4)


def test_mirrored_twice_is_the_clip(walk):
    once = walk.mirrored()
    left, right = walk.index("left_ankle"), walk.index("right_ankle")
    np.testing.assert_allclose(
        once.poses()[0][:, left, 2], walk.poses()[0][:, right, 2], atol=1e-12
    )
    np.testing.assert_allclose(once.mirrored().poses()[0], walk.poses()[0], atol=1e-12)


def test_resampled_smoothed_trimmed_repeated_branch(walk):
    finer = walk.resampled(480)
    np.testing.assert_allclose(finer.poses()[0][::4], walk.poses()[0], atol=1e-9)
    assert np.abs(walk.smoothed(12).poses()[0] - walk.poses()[0])[30:-30].max() < 2e-3
    part = walk.trimmed(0.25, 0.5)
    np.testing.assert_allclose(part.positions, walk.positions[30:61])
    assert len(walk.repeated(3)) == 3 * (len(walk) - 1) + 1
    arm = walk.branch("left_shoulder")
    assert arm.names == ("left_shoulder", "left_elbow")
    at = walk.poses()[0]
    np.testing.assert_allclose(arm.poses()[0][:, 1], at[:, walk.index("left_elbow")], atol=1e-12)


def test_a_cycle_that_does_not_quite_close_is_closed(walk):
    """Cut out of a longer clip it ends in another pose; the middle of the cycle stays."""
    from drystone.world.character import quaternions

    cut = walk.trimmed(0.0, 1.0)  # of 1.1 s
    turn = 0.4 * cut.times / cut.duration
    about = quaternions.product(quaternions.about(2, turn), cut.rotations[:, 0])
    rotations = np.concatenate((about[:, None], cut.rotations[:, 1:]), axis=1)
    way = np.stack((0.1 * cut.times, 1.2 * cut.times, 0.9 + 0.01 * cut.times), axis=-1)
    bent = cut._with(rotations=rotations, positions=way)
    n = len(bent)
    twice = bent.repeated(2)
    steps = quaternions.product(
        twice.rotations[1:], quaternions.conjugate(twice.rotations[:-1])
    )  # fmt: skip
    angles = np.linalg.norm(quaternions.vectors(steps), axis=-1)
    own = quaternions.product(bent.rotations[1:], quaternions.conjugate(bent.rotations[:-1]))
    usual = np.linalg.norm(quaternions.vectors(own), axis=-1).max()
    gap = quaternions.product(bent.rotations[-1, 1:], quaternions.conjugate(bent.rotations[0, 1:]))
    jump = np.linalg.norm(quaternions.vectors(gap), axis=-1).max()
    assert jump > 4 * usual and angles.max() < 1.6 * usual
    assert np.abs(np.diff(twice.positions, axis=0)).max() < 0.012
    middle = n // 2
    assert np.allclose(twice.rotations[middle], bent.rotations[middle], atol=1e-12)
    assert np.allclose(twice.positions[middle], bent.positions[middle], atol=1e-12)
    # The second cycle is the first, turned by 0.4 and put at its end.
    spin = quaternions.about(2, np.array(0.4))
    assert np.allclose(twice.rotations[n - 1 + middle, 1:], twice.rotations[middle, 1:])
    assert np.allclose(
        twice.rotations[n - 1 + middle, 0],
        quaternions.product(spin, twice.rotations[middle, 0]),
    )
    assert bent.repeated(1) is bent
    with pytest.raises(ds.InputError, match="no cycle"):
        bent.trimmed(0, 0.015).repeated(2)


def hopping(slope, stairs=0.0):
    """A rigid figure that hops along x, 0.6 m at a time, on a floor that rises by `slope`."""
    t = np.arange(0, 3.0, 0.01)
    k, s = np.divmod(t, 0.6)
    going = np.clip((s - 0.3) / 0.3, 0, 1)
    x = 0.6 * (k + going**2 * (3 - 2 * going))
    z = 0.9 + slope * x + stairs * np.round(x / 0.6) + 0.2 * np.sin(np.pi * going)
    at = np.stack((x, 0 * x, z), axis=-1)
    turned = np.zeros((len(t), 3, 4))
    turned[..., 0] = 1.0
    offsets = [(0, 0, 0), (0, 0.1, -0.8), (0, -0.1, -0.8)]
    return ds.Clip(["hips", "left_foot", "right_foot"], [-1, 0, 0], offsets, at, turned, 0.01)


def test_a_floor_that_leans_is_levelled():
    clip = hopping(np.tan(np.radians(1.2)))
    (found,) = [f for f in clip.check() if "slopes" in f.what]
    assert "1.2 degrees" in found.what and "levelled" in found.fix
    level = clip.levelled()
    stands = np.arange(len(clip)) * 0.01 % 0.6 < 0.28
    feet = level.poses()[0][stands, 1:, 2]
    assert np.ptp(feet) < 1e-4 < np.ptp(clip.poses()[0][stands, 1:, 2])
    assert not [f for f in level.check() if "slopes" in f.what]
    # The figure leans with the frame that it was measured in.
    turn = quaternions.vectors(level.rotations[:, 0])
    np.testing.assert_allclose(turn[0], (0, np.radians(1.2), 0), atol=2e-4)


@pytest.mark.parametrize("clip", [hopping(0.0), hopping(0.15), hopping(0.0, stairs=0.05)])
def test_a_level_floor_a_ramp_and_stairs_are_left_as_they_are(clip):
    assert clip.levelled() is clip


def test_a_captured_walk_is_levelled(captured):
    if captured.name != "02_01":
        assert captured.levelled() is captured
        return
    at = captured.levelled().poses()[0]
    for toe in ("LeftToeBase", "RightToeBase"):
        z = at[:, captured.index(toe)]
        still = np.linalg.norm(np.gradient(z, captured.dt, axis=0), axis=1) < 0.1
        assert np.ptp(z[still, 2]) < 0.02  # 0.05 m in the file


def test_a_motion_of_deepmimic_is_read(tmp_path):
    row = [0.0333, 0, 0.9, 0] + [1, 0, 0, 0] * 4 + [-0.5] + [1, 0, 0, 0] * 2 + [1.0]
    row += [1, 0, 0, 0] + [-0.5] + [1, 0, 0, 0] * 2 + [1.0]
    path = wrote(tmp_path, json.dumps({"Loop": "wrap", "Frames": [row] * 4}), "walk.txt")
    clip = ds.Clip.load(path)
    at = clip.poses()[0]
    assert at[0, clip.index("right_ankle"), 1] < -0.1  # a bent knee brings the foot backwards
    rows = [[0.02 if k != 2 else 0.04, 0.1 * k + 0.1 * (k > 2), *row[2:]] for k in range(8)]
    path.write_text(json.dumps({"Frames": rows}))
    clip = ds.Clip.load(path)  # a frame is missing: 5 m/s go on all the same
    assert len(clip) == 9 and clip.dt == 0.02
    np.testing.assert_allclose(np.diff(clip.positions[:, 1]), 0.1, atol=1e-12)
    rows[3][0] = -0.02
    path.write_text(json.dumps({"Frames": rows}))
    with pytest.raises(ds.InputError, match="duration"):
        ds.Clip.load(path)
    row[5] = float("nan")
    path.write_text(json.dumps({"Frames": [row]}))
    with pytest.raises(ds.InputError, match="finite"):
        ds.Clip.load(path)


BROKEN = {
    "empty": ("", "is empty"),
    "no-bvh": ("solid ascii\nfacet\n", "begins with 'solid'"),
    "no-motion": (GOOD.partition("MOTION")[0], "no line MOTION"),
    "too-few-rows": (GOOD.rpartition("3 172")[0], "has 3 frames, and has 2"),
    "short-row": (GOOD.replace("2 171 3", "2 171"), "has 11 numbers, the channels need 12"),
    "no-number": (GOOD.replace("171", "17l"), "has '17l', must be a number"),
    "not-finite": (GOOD.replace("171", "nan"), "not finite"),
    "unknown-channel": (GOOD.replace("Zrotation", "Zrot", 1), "Did you mean 'Zrotation'"),
    "open-brace": (GOOD.replace("  }\n}\nMOTION", "MOTION"), "ends too early"),
    "no-offset": (GOOD.replace("    OFFSET 10 -90 0\n", ""), "LeftLeg has no OFFSET"),
    "no-time": (GOOD.replace("Time: 0.01", "Time: 0"), "Frame Time is '0'"),
    "same-name": (GOOD.replace("RightLeg", "LeftLeg"), "second joint that is called 'LeftLeg'"),
    "two-roots": (GOOD.replace("MOTION", "ROOT B\n{\n}\nMOTION"), "a second ROOT"),
    "bomb": (GOOD.replace("Frames: 3", "Frames: 999999999999"), "does not hold"),
    "deep": ("HIERARCHY\nROOT a\n{\n" + "JOINT b{i}\n{\n" * 3, "must open the brace|second joint"),
    "channels": (GOOD.replace("CHANNELS 6", "CHANNELS 999999"), "must be 0 to 6"),
    "binary": (b"\x00\x01\x02" * 100, "is no text"),
    "twice": (GOOD.replace("Xposition Yposition", "Xposition Xposition"), "Xposition twice"),
    "negative": (GOOD.replace("Frames: 3", "Frames: -3"), "whole number of 1 or more"),
    "cut-line": (GOOD.rstrip()[:-3], "numbers, the channels need 12"),
    "huge": (GOOD.replace("171", "1e300"), "beyond 1e9"),
    "two-offsets": (
        GOOD.replace("OFFSET 10 -90 0", "OFFSET 10 -90 0 OFFSET 0 1 0"), "a second OFFSET"
    ),
    "name-lost": (GOOD.replace("JOINT LeftLeg", "JOINT"), "must open the brace"),
    "comma": (GOOD.replace("Time: 0.01", "Time: 0,01"), "Frame Time is '0,01'"),
    "backwards": (GOOD.replace("Time: 0.01", "Time: -0.01"), "Frame Time is '-0.01'"),
    "two-motions": (GOOD + GOOD[GOOD.index("MOTION"):], "has 3 frames, and has 9"),
    "utf-16": (GOOD.encode("utf-16"), "is no text"),
    "loose-bone": (
        GOOD.replace("Xrotation Zrotation Yrotation", "Xposition Yposition Zposition"),
        "bones must be rigid",
    ),
}  # fmt: skip


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.replace(" ", "\t"),
        lambda text: "\ufeff" + text,
        lambda text: "# made by hand\n" + text.replace("MOTION", "  # frames\nMOTION"),
        lambda text: text.replace("End Site", "End Site tip"),
        lambda text: text.lower(),
    ],
    ids=["crlf", "tabs", "byte-order-mark", "comments", "named-end", "lower-case"],
)
def test_what_other_programs_write_is_read(tmp_path, change):
    wanted = ds.Clip.load(wrote(tmp_path, GOOD))
    clip = ds.Clip.load(wrote(tmp_path, change(GOOD)))
    assert len(clip) == len(wanted) and len(clip.ends) == len(wanted.ends)
    assert np.array_equal(clip.rotations, wanted.rotations)


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_clip_gets_one_sentence(tmp_path, name):
    content, sentence = BROKEN[name]
    with pytest.raises(ds.InputError, match=sentence) as caught:
        ds.Clip.load(wrote(tmp_path, content))
    said = str(caught.value)
    assert "\n" not in said and said.startswith("clip.bvh: ") and len(said) < 300


def test_a_thousand_joints_within_each_other_need_no_stack(tmp_path):
    deep = "".join(f"JOINT j{k}\n{{\nOFFSET 0 -1 0\nCHANNELS 0\n" for k in range(998))
    text = f"HIERARCHY\nROOT r\n{{\nOFFSET 0 0 0\nCHANNELS 3 Xposition Yposition Zposition\n{deep}"
    text += "}" * 0 + "}\n" * 999 + "MOTION\nFrames: 1\nFrame Time: 0.1\n0 0 0\n"
    clip = ds.Clip.load(wrote(tmp_path, text), unit=0.001)
    assert len(clip.names) == 999
    with pytest.raises(ds.InputError, match="more than 1000 joints"):
        ds.Clip.load(
            wrote(
                tmp_path,
                text.replace(
                    "JOINT j0\n",
                    "JOINT x\n{\nOFFSET 0 0 0\n}\nJOINT y\n{\nOFFSET 0 0 0\n}\nJOINT j0\n",
                ),
            )
        )


def test_json_that_is_nested_without_end_is_refused(tmp_path):
    with pytest.raises(ds.InputError, match="no JSON"):
        ds.Clip.load(wrote(tmp_path, '{"Frames":' + "[" * 100_000, "bomb.txt"))


@pytest.mark.parametrize("frames", [1, 2, 3])
def test_too_few_frames_for_accelerations_get_a_sentence(walk, frames):
    few = walk._with(positions=walk.positions[:frames], rotations=walk.rotations[:frames])
    figure = ds.Figure.from_clip(few)
    with pytest.raises(ds.InputError, match="no motion: accelerations need 4"):
        ds.Motion(figure, few)
    with pytest.raises(ds.InputError, match="no motion: accelerations need 4"):
        ds.World().add_character(figure, few)


def test_a_skeleton_without_size_gets_a_sentence(walk):
    nothing = walk._with(offsets=0.0 * walk.offsets, ends=())
    with pytest.raises(ds.InputError, match="has no height"):
        ds.Figure.from_clip(nothing)
    with pytest.raises(ds.InputError, match="has no height"):
        ds.Figure.from_clip(nothing, height=1.8)
