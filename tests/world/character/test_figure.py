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
