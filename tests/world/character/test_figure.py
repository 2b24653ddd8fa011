"""Figures: their masses, sizes and joints."""

import numpy as np
import pytest

import drystone as ds
from drystone.world.character.segments import TABLES, masses


@pytest.mark.parametrize("table", TABLES)
def test_masses_add_up(walk, table):
    figure = ds.Figure.from_clip(walk, mass=60.0, table=table)
    # The tables themselves add up to 100 % within the rounding of their last digit.
    assert figure.mass == pytest.approx(60.0, rel=3e-3)
    for bone in figure.bones:
        low, middle, high = np.linalg.eigvalsh(bone.inertia)
        assert 0 < low and high <= low + middle + 1e-12


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_the_tables_are_whole(table):
    """What is printed adds up: parts of the trunk to the trunk, all segments to one body."""
    of = table.segments
    assert sum(table.trunk) == pytest.approx(of["trunk"].mass, abs=1e-9)
    pairs = sum(part.mass for role, part in of.items() if role not in ("head", "trunk"))
    assert of["head"].mass + of["trunk"].mass + 2 * pairs == pytest.approx(1.0, abs=2e-4)


def test_an_arm_weighs_what_arms_weigh(walk):
    arm = ds.Figure.from_clip(walk.branch("left_shoulder"), mass=75.0)
    assert arm.mass == pytest.approx(75 * (0.0271 + 0.0162 + 0.0061))


def test_trunks_of_any_number_of_parts_weigh_the_same():
    for count in range(1, 6):
        roles = ["pelvis"] + ["trunk"] * count
        assert sum(masses(roles, "de Leva men", 100.0)) == pytest.approx(43.46)


def test_a_captured_skeleton_has_54_degrees_of_freedom(captured):
    figure = ds.Figure.from_clip(captured)
    assert len(figure.bones) == 17 and figure.degrees_of_freedom == 54
    assert figure.mass == pytest.approx(75.0)
    assert figure.robot().nv == 54
    more = ds.Figure.from_clip(captured, merge=["LHipJoint", "RHipJoint"])
    assert more.degrees_of_freedom > 80


def test_soles_stand_on_the_ground(captured):
    clip = captured.smoothed()
    figure = ds.Figure.from_clip(clip)
    motion = ds.Motion(figure, clip)
    for times in (np.nan, "now", np.zeros((2, 2)), [None, "x"]):
        with pytest.raises(ds.InputError, match="times"):
            motion.at(times)
    sample = motion.at(clip.times)
    from drystone.world.character import quaternions

    for k in figure.feet:
        sole = quaternions.rotate(sample.rotation[:, k, None], figure.bones[k].sole)
        low = (sample.position[:, k, None] + sole)[..., 2].min(axis=1)
        assert np.percentile(low, 10) == pytest.approx(figure.ground, abs=0.02)


def test_a_taller_figure_is_as_much_larger(walk):
    from drystone.world.character.from_clip import stature

    tall = ds.Figure.from_clip(walk, height=2.0)
    factor = 2.0 / stature(walk)
    knee = ds.Figure.from_clip(walk).bone("left_knee").offset
    np.testing.assert_allclose(tall.bone("left_knee").offset, factor * knee)


def test_odd_figures_get_a_sentence():
    bone = ds.Bone("a", 1.0, inertia=(1, 1, 1))
    with pytest.raises(ds.InputError, match="two bones"):
        ds.Figure([bone, ds.Bone("a", 1.0, inertia=(1, 1, 1), parent="a")])
    with pytest.raises(ds.InputError, match="no other, has no parent"):
        ds.Figure([bone, ds.Bone("b", 1.0, inertia=(1, 1, 1))])
    with pytest.raises(ds.InputError, match="hangs on 'c'"):
        ds.Figure([bone, ds.Bone("b", 1.0, inertia=(1, 1, 1), parent="c")])
    with pytest.raises(ds.InputError, match="mass is"):
        ds.Bone("a", 0.0)


# Of one side: collar, upper arm, forearm, hand, finger, thigh, shank, foot, toe; {} is the side.
SKELETONS = {
    "mixamo": (
        "m:Hips", "m:Spine m:Spine1 m:Spine2", "m:Neck m:Head",
        "m:{}Shoulder m:{}Arm m:{}ForeArm m:{}Hand m:{}HandMiddle1 m:{}UpLeg m:{}Leg m:{}Foot "
        "m:{}ToeBase", ("Left", "Right"), 17,
    ),
    "smpl": (
        "Pelvis", "Spine1 Spine2 Spine3", "Neck Head",
        "{}_Collar {}_Shoulder {}_Elbow {}_Wrist {}_Hand {}_Hip {}_Knee {}_Ankle {}_Foot",
        ("L", "R"), 17,
    ),
    "unreal": (
        "pelvis", "spine_01 spine_02 spine_03", "neck_01 head",
        "clavicle_{} upperarm_{} lowerarm_{} hand_{} middle_01_{} thigh_{} calf_{} foot_{} ball_{}",
        ("l", "r"), 17,
    ),
    "rigify": (
        "spine", "spine.001 spine.002 spine.003", "spine.004 spine.005",
        "shoulder.{} upper_arm.{} forearm.{} hand.{} palm.01.{} thigh.{} shin.{} foot.{} toe.{}",
        ("L", "R"), 17,
    ),
    "xsens": (
        "Pelvis", "L5 L3 T12 T8", "Neck Head",
        "{}Shoulder {}UpperArm {}ForeArm {}Hand - {}UpperLeg {}LowerLeg {}Foot {}Toe",
        ("Left", "Right"), 18,
    ),
    "motive": (
        "Hip", "Ab Chest", "Neck Head",
        "{}Shoulder {}UArm {}FArm {}Hand - {}Thigh {}Shin {}Foot {}Toe", ("L", "R"), 16,
    ),
    "poser": (
        "hip", "abdomen chest", "neck head",
        "{}Collar {}Shldr {}ForeArm {}Hand {}Mid1 {}Thigh {}Shin {}Foot {}Toe", ("l", "r"), 16,
    ),
    "anatomy": (
        "pelvis", "lumbar thorax", "skull",
        "{}_scapula {}_humerus {}_ulna {}_hand - {}_femur {}_tibia {}_calcaneus {}_toes",
        ("L", "R"), 16,
    ),
    "nameless middle": (
        "root", "a b", "c head", "{}d {}e {}f {}hand - {}thigh {}g {}h {}toe", ("lt", "rt"), 16,
    ),
}  # fmt: skip
PLACES = (
    (0, 0.03, 0.4), (0, 0.15, 0), (0, 0.28, 0), (0, 0.25, 0), (0, 0.08, 0),
    (0, 0.09, -0.05), (0, 0, -0.42), (0, 0, -0.41), (0.14, 0, -0.06),
)  # fmt: skip


def person(root, spine, neck, limbs, sides, twist=""):
    """A clip whose joints all move a little."""
    names, parents, offsets = [root], [-1], [(0.0, 0.0, 0.0)]

    def hang(name, parent, at):
        names.append(name)
        parents.append(parent)
        offsets.append(at)
        return len(names) - 1

    top = 0
    for k, name in enumerate(spine.split()):
        top = hang(name, top, (0, 0, 0.12 * (k > 0)))
    last = top
    for name in neck.split():
        last = hang(name, last, (0, 0, 0.1))
    ends = [(last, (0, 0, 0.2))]
    for side, sign in zip(sides, (1, -1), strict=True):
        last = top
        for k, (name, at) in enumerate(zip(limbs.format(*[side] * 9).split(), PLACES, strict=True)):
            last = 0 if k == 5 else last
            if name != "-":
                last = hang(name, last, (at[0], at[1] * sign, at[2]))
            if twist and k == 2:
                hang(name + twist, last, (0, 0.1 * sign, 0))
        ends.append((last, (0.07, 0, 0)))
    t = np.arange(40)[:, None] / 40
    angle = 0.1 * np.sin(2 * np.pi * t + np.arange(len(names)))
    turned = np.stack((np.cos(angle / 2), np.sin(angle / 2), 0 * angle, 0 * angle), axis=-1)
    at = np.tile((0.0, 0.0, 0.96), (40, 1))
    return ds.Clip(names, parents, offsets, at, turned, 1 / 60, ends)


@pytest.mark.parametrize("skeleton", SKELETONS)
def test_people_of_many_skeletons_weigh_alike(skeleton):
    *names, bones = SKELETONS[skeleton]
    for twist in ("", "Twist"):
        clip = person(*names, twist=twist)
        figure = ds.Figure.from_clip(clip, mass=70)
        assert len(figure.bones) == bones and figure.mass == pytest.approx(70)
        assert len(figure.feet) == 2
        at = [PLACES.index(p) for p in PLACES]
        limbs = names[3].format(*[names[4][0]] * 9).split()
        for k, share in (
            (1, 0.0271),
            (2, 0.0162),
            (3, 0.0061),
            (5, 0.1416),
            (6, 0.0433),
            (7, 0.0137),
        ):
            assert figure.bone(limbs[at[k]]).mass == pytest.approx(70 * share, rel=0.01)
        assert not any("known" in finding.what for finding in clip.check())


def test_joints_that_no_name_tells_can_be_told():
    clip = person("j0", "j1 j2", "j3 j4", "{}a {}b {}c {}d - {}e {}f {}g {}h", ("l", "r"))
    assert any("known as a foot" in finding.what for finding in clip.check())
    unknown = ds.Figure.from_clip(clip, mass=70)
    assert unknown.mass == pytest.approx(70) and not unknown.feet
    roles = {"j4": "head", "j3": "neck"}
    for side in "lr":
        words = ("clavicle", "upper arm", "forearm", "hand", "thigh", "shank", "foot", "toe")
        roles |= {side + joint: word for joint, word in zip("abcdefgh", words, strict=True)}
    told = ds.Figure.from_clip(clip, mass=70, roles=roles)
    assert told.mass == pytest.approx(70) and len(told.feet) == 2
    assert told.bone("le").mass == pytest.approx(70 * 0.1416, rel=0.01)
    with pytest.raises(ds.InputError, match="the role of j4 is 'had'"):
        ds.Figure.from_clip(clip, roles={"j4": "had"})
    with pytest.raises(ds.InputError, match="a joint is 'tail'"):
        ds.Figure.from_clip(clip, roles={"tail": "head"})
