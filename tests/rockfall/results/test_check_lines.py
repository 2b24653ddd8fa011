"""Crossings of check lines on exact arcs, against closed forms and dense sampling."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arcs import cut, flat_ground, one_arc
from drystone.errors import InputError
from drystone.rockfall.results.cells import Raster
from drystone.rockfall.results.check_lines import CheckLine, LineFinder

GROUND = flat_ground(Raster(-50.0, -50.0, 1.0, 100, 100))


def find(points, arcs, mass=2.0):
    finder = LineFinder([CheckLine("road", np.array(points, float))], GROUND)
    return finder.find(7, arcs, mass)


def test_a_parabola_over_a_line():
    """From (0, 0, 10) at 5 m/s east, the line x = 4 is crossed after 0.8 s, 4.9 t² lower."""
    arc = one_arc((0, 1, 10), (5, 0, 0), duration=1.2, e_spin=(1.0, 25.0))
    found = find([[4, -3], [4, 3]], arc, 2.0)
    assert len(found) == 1 and found["run"][0] == 7 and found["line"][0] == 0
    z, vz = 10 - 0.5 * 9.81 * 0.64, -9.81 * 0.8
    np.testing.assert_allclose(found["t"], 0.8, rtol=1e-12)
    np.testing.assert_allclose(found["x"][0], [4, 1, z], rtol=1e-12)
    np.testing.assert_allclose(found["height"], z, rtol=1e-12)
    np.testing.assert_allclose(found["along"], 4.0, rtol=1e-12)
    np.testing.assert_allclose(found["energy"], 0.5 * 2 * (25 + vz**2) + (11 / 3) ** 2, rtol=1e-12)


def test_there_and_back_are_two_crossings():
    """Uphill and back over x = 1: 4 s - s² = 1 at 2 -+ sqrt(3)."""
    found = find([[1, -1], [1, 1]], one_arc((0, 0, 1), (4, 0, 0), (-2, 0, 0), duration=4.0))
    np.testing.assert_allclose(found["t"], 2 + np.array([-1, 1]) * np.sqrt(3), rtol=1e-12)


def test_beside_the_line_is_no_crossing():
    assert len(find([[4, 2], [4, 3]], one_arc((0, 1, 10), (5, 0, 0), duration=1.2))) == 0
    assert len(find([[4, -3], [4, 3]], one_arc((0, 1, 10), (5, 0, 0), duration=0.79))) == 0


def test_a_joint_of_arcs_on_the_line_is_one_crossing():
    """Cut so that one joint falls on the line, to the last bit or one beside it."""
    arc = one_arc((0, 1, 10), (5, 0, 0), duration=1.2)
    for pieces in (3, 6, 12, 24, 600):  # 0.8 s is a joint of all of these
        assert len(find([[4, -3], [4, 3]], cut(arc, pieces))) == 1


def test_a_corner_of_the_line_is_one_crossing():
    found = find([[4, -3], [4, 1], [5, 3]], one_arc((0, 1, 10), (5, 0, 0), duration=1.2))
    assert len(found) == 1
    np.testing.assert_allclose(found["along"], 4.0)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6))
def test_cutting_arcs_changes_nothing_and_sampling_agrees(seed):
    rng = np.random.default_rng(seed)
    line = rng.uniform(-4, 4, (4, 2))
    arc = one_arc(rng.uniform(-3, 3, 3), rng.normal(size=3) * 5, rng.normal(size=3) * 6, 1.5)
    whole, parts = find(line, arc), find(line, cut(arc, int(rng.integers(2, 40))))
    assert len(whole) == len(parts)
    np.testing.assert_allclose(whole["t"], parts["t"], atol=1e-9)
    for row in whole:  # every one lies on the line
        gaps = [distance(row["x"][:2], a, b) for a, b in zip(line[:-1], line[1:], strict=True)]
        assert min(gaps) < 1e-9


def distance(p, a, b):
    u = np.clip((p - a) @ (b - a) / ((b - a) @ (b - a)), 0, 1)
    return np.linalg.norm(p - a - u * (b - a))


def test_grows_when_there_are_many_crossings():
    zigzag = [[0.01 * k, (-1) ** k] for k in range(400)]
    found = find(zigzag, one_arc((0, 0, 1), (4, 0, 0), (0, 0, 0), duration=1.0))
    assert len(found) == 399 and np.all(np.diff(found["t"]) > 0)


def test_two_lines_are_told_apart():
    lines = [CheckLine("a", [[1, -1], [1, 1]]), CheckLine("b", [[2, -1], [2, 1]])]
    arc = one_arc((0, 0, 1), (4, 0, 0), (0, 0, 0), duration=1.0)
    found = LineFinder(lines, GROUND).find(0, arc, 1.0)
    assert list(found["line"]) == [0, 1]


@pytest.mark.parametrize("points", [[[1, 1]], [[1, 1], [1, 1]], [[1, 1], [np.nan, 2]]])
def test_lines_without_length_are_refused(points):
    with pytest.raises(InputError, match="'road'"):
        CheckLine("road", np.array(points, float))
