"""ASF and AMC: a skeleton and its motion, in two files; broken ones get one sentence."""

import numpy as np
import pytest

import drystone as ds
from drystone.bench.fuzz.file_seeds import ASF
from drystone.world.character import quaternions

AMC = """#!OML:ASF 02.asf
:FULLY-SPECIFIED
:DEGREES
1
root 1 17 2 10 20 30
lfemur 40 -50 60
ltibia 25
2
root 1 17 2 0 0 0
lfemur 0 0 0
ltibia 0
"""


def wrote(folder, asf=ASF, amc=AMC):
    (folder / "02.asf").write_text(asf)
    path = folder / "02_01.amc"
    path.write_text(amc)
    return path


def turn(x, y, z):
    """About fixed axes, x first [degrees]."""
    a, b, c = np.radians((x, y, z))
    rx = np.array([[1, 0, 0], [0, np.cos(a), -np.sin(a)], [0, np.sin(a), np.cos(a)]])
    ry = np.array([[np.cos(b), 0, np.sin(b)], [0, 1, 0], [-np.sin(b), 0, np.cos(b)]])
    rz = np.array([[np.cos(c), -np.sin(c), 0], [np.sin(c), np.cos(c), 0], [0, 0, 1]])
    return rz @ ry @ rx


def test_bones_begin_where_their_parents_end_and_turn_about_their_own_axes(tmp_path):
    clip = ds.Clip.load(wrote(tmp_path))
    assert clip.unit == pytest.approx(0.0254 / 0.45) and clip.name == "02_01"
    at, turned = clip.poses()
    root, c, c2 = turn(10, 20, 30), turn(10, -30, 20), turn(0, 0, 20)
    thigh = root @ c @ turn(40, -50, 60) @ c.T
    shank = thigh @ c2 @ turn(25, 0, 0) @ c2.T
    down = np.array((0.34202, -0.939693, 0)) / np.hypot(0.34202, 0.939693)
    hip = np.array((1, 17, 2)) + root @ np.array((1, -1, 0)) * 3 / np.sqrt(2)
    knee = hip + thigh @ down * 15
    wanted = np.array([(1, 17, 2), (1, 17, 2), hip, knee, knee + shank @ down * 12])
    tip = at[0, 3] + quaternions.rotate(turned[0, 3], clip.ends[0][1])
    found = np.concatenate((at[0], tip[None]))
    np.testing.assert_allclose(found, clip.unit * wanted[:, [2, 0, 1]], atol=1e-12)
    # The second frame is the zero pose.
    assert np.abs(turned[1] - (1, 0, 0, 0)).max() < 1e-12


def test_what_the_files_do_not_say_is_said(tmp_path):
    path = wrote(tmp_path)
    clip = ds.Clip.load(path)
    assert clip.dt == pytest.approx(1 / 120)
    assert any("taken to be 120 frames a second" in f.what for f in clip.check())
    given = ds.Clip.load(path, rate=60, unit="cm")
    assert given.dt == pytest.approx(1 / 60) and given.unit == 0.01
    assert not any("frames a second" in f.what for f in given.check())
    own = ds.Clip.load(wrote(tmp_path, amc=AMC.replace(":DEG", ":SAMPLES-PER-SECOND 100\n:DEG")))
    assert own.dt == 0.01 and not own.notes
    assert clip.trimmed(0, 0.009).notes == clip.notes


def test_radians_other_orders_and_other_line_ends_are_read(tmp_path):
    wanted = ds.Clip.load(wrote(tmp_path))
    in_radians = AMC.replace(":DEGREES", ":RADIANS")
    for degrees in ("10 20 30", "40 -50 60", "25"):
        numbers = " ".join(str(np.radians(float(x))) for x in degrees.split())
        in_radians = in_radians.replace(f" {degrees}\n", f" {numbers}\n")
    moved = AMC.replace("root 1 17 2 10 20 30", "root 10 20 30 1 17 2")
    moved = moved.replace("root 1 17 2 0 0 0", "root 0 0 0 1 17 2")
    for asf, amc in (
        (ASF, in_radians),
        (ASF.replace("TX TY TZ RX RY RZ", "rx ry rz tx ty tz"), moved),
        (ASF.replace("\n", "\r\n"), AMC.replace("\n", "\r\n").replace(" ", "\t")),
    ):
        clip = ds.Clip.load(wrote(tmp_path, asf, amc))
        np.testing.assert_allclose(clip.poses()[0], wanted.poses()[0], atol=1e-12)


def test_the_skeleton_is_found_beside_its_motion(tmp_path):
    path = wrote(tmp_path)
    (tmp_path / "other.asf").write_text(ASF.replace("length 15", "length 16"))
    assert np.linalg.norm(ds.Clip.load(path).offsets[3]) == pytest.approx(15 * 0.0254 / 0.45)
    taken = ds.Clip.load(path, skeleton=tmp_path / "other.asf")
    assert np.linalg.norm(taken.offsets[3]) == pytest.approx(16 * 0.0254 / 0.45)
    (tmp_path / "02.asf").rename(tmp_path / "third.asf")
    with pytest.raises(ds.InputError, match="beside it there are 2 ASF files"):
        ds.Clip.load(path)
    (tmp_path / "third.asf").unlink()
    assert len(ds.Clip.load(path)) == 2  # the only one there
    (tmp_path / "other.asf").unlink()
    with pytest.raises(ds.InputError, match="beside it there is no ASF file; give skeleton="):
        ds.Clip.load(path)
    with pytest.raises(ds.InputError, match="skeleton is for AMC files"):
        ds.Clip.load(__file__, skeleton=path)


SIDE = """hipjoint root {s} -1 0.5 2.5 -
femur hipjoint {t} -1 0 7 rx ry rz
tibia femur {t} -1 0 7.3 rx
foot tibia 0 -0.25 1 2 rx rz
toes foot 0 0 1 1 rx
clavicle thorax {s} 0.4 -0.1 3.5 ry rz
humerus clavicle {s} 0 0 4.8 rx ry rz
radius humerus {s} 0 0 3.5 rx
wrist radius {s} 0 0 1.7 ry
hand wrist {s} 0 0 0.7 rx rz
fingers hand {s} 0 0 0.5 rx
thumb wrist {s} 0 1 0.8 rx rz"""
MIDDLE = """lowerback root 0 1 -0.1 2.1 rx ry rz
upperback lowerback 0 1 0 2.1 rx ry rz
thorax upperback 0 1 0 2.2 rx ry rz
lowerneck thorax 0 1 0.1 1.8 rx ry rz
upperneck lowerneck 0 1 -0.2 1.8 rx ry rz
head upperneck 0 1 -0.1 1.8 rx ry rz"""


def person(frames=40):
    """ASF and AMC of a person with the bones of the CMU database, who moves all joints a bit."""
    rows = [line.split() for line in MIDDLE.splitlines()]
    for side, sign in (("l", 1), ("r", -1)):
        for line in SIDE.format(s=sign, t=0.34 * sign).splitlines():
            name, parent, *rest = line.split()
            own = parent if parent in ("root", "thorax") else side + parent
            rows.append([side + name, own, *rest])
    bones, tree, moved = [], [], []
    for name, parent, x, y, z, length, *dof in rows:
        bones.append(f"begin\n name {name}\n direction {x} {y} {z}\n length {length}\n")
        bones.append("" if dof == ["-"] else f" dof {' '.join(dof)}\n")
        bones.append("end\n")
        tree.append(f"{parent} {name}\n")
        moved += [] if dof == ["-"] else [(name, len(dof))]
    asf = ASF[: ASF.index("  begin")] + "".join(bones) + ":hierarchy\nbegin\n" + "".join(tree)
    amc = [":FULLY-SPECIFIED\n:DEGREES"]
    for k in range(frames):
        amc += [str(k + 1), "root 0 17.3 0 0 0 0"]
        for j, (name, count) in enumerate(moved):
            angle = 5.0 * np.sin(0.3 * k + j)
            amc.append(f"{name} {' '.join([f'{angle:.6f}'] * count)}")
    return asf + "end\n", "\n".join(amc) + "\n"


def test_a_person_of_the_cmu_database_becomes_the_figure_with_54_degrees_of_freedom(tmp_path):
    clip = ds.Clip.load(wrote(tmp_path, *person()))
    assert len(clip.names) == 31 and 1.4 < clip.height < 1.8
    figure = ds.Figure.from_clip(clip, mass=70)
    assert figure.degrees_of_freedom == 54 and figure.mass == pytest.approx(70)
    assert figure.bone("lhumerus").mass == pytest.approx(figure.bone("rhumerus").mass)
    clip.save(tmp_path / "again.bvh")
    again = ds.Clip.load(tmp_path / "again.bvh", unit="cmu")
    order = [again.index(name) for name in clip.names]
    np.testing.assert_allclose(again.poses()[0][:, order], clip.poses()[0], atol=1e-7)


LEG, FEMUR = ASF[ASF.index("  begin\n     id 3") : ASF.index(":hier")], "     name lfemur\n"
BROKEN = {
    "empty-skeleton": (ASF.replace(ASF, ""), AMC, "02.asf: is empty"),
    "no-skeleton": ("solid ascii\n", AMC, "02.asf: begins with 'solid'"),
    "no-hierarchy": (ASF[: ASF.index(":hier")], AMC, "has no part :hierarchy"),
    "no-root": (ASF.replace(":root", ":rot"), AMC, "has no part :root"),
    "cut-off": (ASF[: ASF.index("     axis 0 0 20")] + ":hierarchy\n", AMC, "has no end; the file"),
    "no-length": (ASF.replace("     length 15\n", ""), AMC, "has no length"),
    "no-way": (ASF.replace("direction 1 -1 0", "direction 0 0 0"), AMC, "has no direction"),
    "two-numbers": (ASF.replace("direction 1 -1 0", "direction 1 -1"), AMC, "must have 3"),
    "nan": (ASF.replace("length 15", "length nan"), AMC, "'nan', must be a number"),
    "twice": (ASF.replace("name ltibia", "name lfemur"), AMC, "second bone"),
    "odd-axis": (ASF.replace("0 0 20   XYZ", "0 0 20 XXZ"), AMC, "must be like XYZ"),
    "odd-dof": (ASF.replace("dof rx ry rz", "dof rx ry rw"), AMC, "'rw'. Known: rx"),
    "lost": (ASF.replace("    lfemur ltibia\n", ""), AMC, "ltibia does not hang on the root"),
    "cycle": (
        ASF.replace("root lhipjoint", "ltibia lhipjoint"), AMC, "does not hang on the root"
    ),
    "two-parents": (ASF.replace("  lfemur ltibia", "  root lfemur"), AMC, "a second time"),
    "unknown-child": (ASF.replace("    lfemur ltibia", "    lfemur tail"), AMC, "bone 'tail'"),
    "turned-root": (ASF.replace("orientation 0 0 0", "orientation 0 90 0"), AMC, "different ways"),
    "angle": (ASF.replace("angle deg", "angle grad"), AMC, "must be deg or rad"),
    "binary": ("\0\1" * 40, AMC, "is no text"),
    "no-frames": (ASF, ":FULLY-SPECIFIED\n", "has no frames"),
    "empty-motion": (ASF, "", "has no frames"),
    "unknown-bone": (ASF, AMC.replace("ltibia 25", "ltibja 25"), "moves 'ltibja'"),
    "lacks": (ASF, AMC.replace("ltibia 25\n", ""), "line 7 lacks bone ltibia"),
    "last-lacks": (ASF, AMC.replace("ltibia 0\n", ""), "lacks bone ltibia"),
    "two-in-frame": (ASF, AMC.replace("ltibia 25", "ltibia 25\nltibia 25"), "twice in a frame"),
    "before": (ASF, AMC.replace("1\nroot", "root", 1), "before the first frame"),
    "numbers": (ASF, AMC.replace("40 -50 60", "40 -50"), "has 2 numbers, must have 3"),
    "word": (ASF, AMC.replace("-50", "5O"), "'5O', must be a number"),
    "huge": (ASF, AMC.replace("-50", "1e300"), "'1e300', must be a number"),
    "jump": (ASF, AMC.replace("\n2\n", "\n7\n"), "frame 7 after frame 1"),
    "loose": (
        ASF.replace("dof rx\n", "dof rx tx\n"),
        AMC.replace("ltibia 25", "ltibia 25 4").replace("ltibia 0", "ltibia 0 0"),
        "bones must be rigid",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_gets_one_sentence(tmp_path, name):
    asf, amc, sentence = BROKEN[name]
    with pytest.raises(ds.InputError) as caught:
        ds.Clip.load(wrote(tmp_path, asf, amc))
    said = str(caught.value)
    assert sentence in said
    assert "\n" not in said and said.startswith(("02.asf: ", "02_01.amc: ")) and len(said) < 300
