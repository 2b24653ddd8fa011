"""Orderings are permutations with a meaning; their table says what they cost."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drystone.bench.orderings import COLUMNS, PAPER, ordering_rows
from drystone.errors import UnsupportedFeature
from drystone.solvers.orderings import (
    AXES,
    ORDERINGS,
    STAGGERED,
    body_places,
    contact_places,
    visiting_order,
)
from hand_built import box_stack, random_problem


@pytest.mark.parametrize("ordering", ORDERINGS)
def test_every_row_once_and_normals_before_their_tangents(ordering):
    problem = box_stack([1.0, 2.0, 3.0], velocity=(0.3, 0.1, 0.0))
    rows = visiting_order(problem, np.zeros((12, 3)), ordering)
    assert rows.dtype == np.int32 and (np.sort(rows) == np.arange(36)).all()
    place = np.argsort(rows).reshape(-1, 3)
    assert (place[:, 0] < place[:, 1]).all() and (place[:, 1] < place[:, 2]).all()
    if ordering in STAGGERED:
        assert (rows[:12] % 3 == 0).all()
    else:
        assert (np.diff(place, axis=1) == 1).all()  # a contact's rows stay together


def test_impulse_propagation_begins_with_the_fastest_approach():
    problem = random_problem(1, 8)
    guess = np.abs(np.random.default_rng(2).normal(size=(8, 3)))
    rows = visiting_order(problem, guess, "impulse-propagation")
    speeds = problem.velocity(guess)[rows[::3] // 3, 0]
    assert (np.diff(speeds) >= 0.0).all() and not (rows == np.arange(24)).all()


@pytest.mark.parametrize("axis", AXES)
def test_coordinate_goes_along_its_axis(axis):
    """Corners of a stack of unit cubes: known by where they were put."""
    rows = visiting_order(box_stack([1.0, 1.0, 1.0]), np.zeros((12, 3)), "coordinate", axis)
    corners = np.array(
        [(x, y, z) for z in range(3) for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
    )
    along = corners[rows[::3] // 3, "xyz".index(axis[-1])]
    steps = np.diff(-along if axis[0] == "-" else along)
    assert (steps >= 0).all() and (steps > 0).any()


def test_a_matrix_has_no_coordinates():
    with pytest.raises(UnsupportedFeature, match="coordinate"):
        visiting_order(random_problem(1, 2), np.zeros((2, 3)), "coordinate")


@given(st.integers(0, 10_000), st.integers(1, 12), st.integers(0, 25))
@settings(max_examples=60, deadline=None)
def test_places_within_an_island_are_right_up_to_a_shift(seed, bodies, contacts):
    """Bodies and points at random, arms from them; only differences can be told from the arms."""
    rng = np.random.default_rng(seed)
    position, point = rng.normal(size=(bodies + 1, 3)), rng.normal(size=(contacts, 3))
    pairs = [rng.permutation(bodies + 1)[:2] for _ in range(contacts)]
    pairs = np.array(pairs, dtype=int).reshape(-1, 2)
    moving = np.arange(bodies + 1) < bodies
    arm = (point[:, None] - position[pairs]) * moving[pairs][:, :, None]
    problem = SimpleNamespace(body=pairs, arm=arm.reshape(-1, 6), mass=np.outer(moving, np.ones(7)))
    shift = contact_places(problem) - point
    island = islands(pairs, moving)
    for k in np.unique(island):
        assert np.ptp(shift[island == k], axis=0).max() < 1e-12


def islands(pairs, moving):
    """Number of the island of each contact, by relabelling until nothing changes."""
    label = np.arange(len(moving))
    for _ in moving:
        for a, b in pairs:
            if moving[a] and moving[b]:
                label[a] = label[b] = min(label[a], label[b])
    return np.array([label[a] if moving[a] else label[b] for a, b in pairs])


def test_bodies_that_only_share_the_ground_are_not_placed_against_each_other():
    pairs = np.array([[2, 0], [2, 1]])
    places = body_places(pairs, np.ones((2, 3)), np.array([True, True, False]))
    assert (places == 0.0).all()


def test_table_has_a_row_for_every_ordering():
    rows = list(ordering_rows({"box-stack": box_stack([1.0] * 4)}, iterations=10, repeats=2))
    assert [row["ordering"] for row in rows] == list(ORDERINGS)
    assert rows[0]["speedup"] == 1.0 and rows[0]["paper"] is None
    assert rows[3]["paper"] == PAPER["box-stack", "greedy-staggered"] == 2.7
    for row in rows:
        assert set(row) == {key for _, key, _ in COLUMNS}
        assert row["us_per_iteration"] > 0.0 and row["error_work"] >= 0.0
    # Equal work takes more iterations of a staggered ordering, or as many of another.
    assert rows[0]["error_work"] == rows[0]["error_iterations"]
    assert rows[4]["error_work"] < rows[4]["error_iterations"]
