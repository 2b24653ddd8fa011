"""Boxes and hulls against each other: brute-force separating axes, distances, memory."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drystone.shapes import Box, ConvexHull, Sphere
from narrow_twin import (
    bare_shapes,
    brought_to,
    collide,
    distance,
    largest_separation,
    pose_row,
    random_hull,
    random_rotation,
    turn,
    vertices_of,
)

MARGIN = 1e-3
# Faces of A are preferred by 1e-4 of the smaller size to those of B, those to edges: the
# largest of the tests' shapes is 0.3 m.
PREFERENCE = 3.1e-5


def random_pair(rng, kinds):
    """Two shapes, both near the origin and turned at random; kinds as in "box hull"."""
    made = [
        Box(*rng.uniform(0.1, 0.3, size=3)) if kind == "box" else random_hull(rng)
        for kind in kinds.split()
    ]
    poses = [pose_row((0, 0, 0), random_rotation(rng))]
    poses.append(pose_row(0.1 * rng.normal(size=3), random_rotation(rng)))
    return bare_shapes(*made), np.array(poses)


def outside(tables, pose, s, point):
    """How far a point is outside shape s, at most; negative inside."""
    first, count = tables.polytope[tables.table[s], 2:4]
    local = (point - pose[s, :3]) @ pose[s, 3:].reshape(3, 3)
    plane = tables.face_plane[first : first + count]
    return (local @ plane[:, :3].T - plane[:, 3]).max(axis=1)


@pytest.mark.parametrize("kinds", ["box box", "box hull", "hull box", "hull hull"])
@pytest.mark.parametrize("gap", [-1e-2, -1e-3, -1e-5, 0.0])
@pytest.mark.parametrize("seed", range(12))
def test_overlap_is_that_of_brute_force(kinds, gap, seed):
    """The least gap is the largest separation over all axes, and its axis is as good."""
    rng = np.random.default_rng([seed, len(kinds), round(1e5 * -gap)])
    tables, pose = random_pair(rng, kinds)
    pose = brought_to(tables, pose, gap)
    (c,) = collide(tables, pose, MARGIN)
    share = 0.02 * abs(gap)  # boxes prefer faces by this much more
    assert 1 <= len(c.gap) <= 4
    assert c.gap.min() == pytest.approx(gap, abs=2 * (PREFERENCE + share))
    va, vb = vertices_of(tables, pose, 0), vertices_of(tables, pose, 1)
    for normal in c.normal:
        assert np.linalg.norm(normal) == pytest.approx(1, abs=1e-12)
        along = (vb @ normal).min() - (va @ normal).max()
        assert along >= gap - 2 * (PREFERENCE + share) - 1e-12
    # Midway between the surfaces: half the overlap inside both, but for the preference.
    assert (outside(tables, pose, 0, c.point) <= np.abs(c.gap) / 2 + 1e-6).all()
    assert (outside(tables, pose, 1, c.point) <= np.abs(c.gap) / 2 + 1e-6).all()
    assert (c.gap < MARGIN).all()


@pytest.mark.parametrize("kinds", ["box box", "box hull", "hull hull"])
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.slow
def test_gap_of_a_pair_apart_is_its_distance(kinds, seed):
    """Moved apart along the normal of first touch, by less than the margin.

    The optimiser finds distances to about 1e-6; a gap may be larger than the distance only
    where the closest points are over no face, which moving along the normal excludes.
    """
    rng = np.random.default_rng([seed, len(kinds), 7])
    tables, pose = random_pair(rng, kinds)
    pose = brought_to(tables, pose, 0.0)
    _, axis = largest_separation(tables, pose)
    pose[1, :3] += 0.8 * MARGIN * axis
    expected = distance(vertices_of(tables, pose, 0), vertices_of(tables, pose, 1))
    (c,) = collide(tables, pose, MARGIN)
    assert c.gap.min() == pytest.approx(expected, abs=2 * PREFERENCE)


@pytest.mark.parametrize("kinds", ["box box", "box hull", "hull hull"])
@pytest.mark.parametrize("seed", range(12))
def test_corner_against_corner(kinds, seed):
    """The closest points are two corners: no axis of faces or edges has the distance."""
    rng = np.random.default_rng([seed, len(kinds), 8])
    tables, pose = random_pair(rng, kinds)
    n = rng.normal(size=3)
    n /= np.linalg.norm(n)
    va, vb = vertices_of(tables, pose, 0), vertices_of(tables, pose, 1)
    p, q = va[(va @ n).argmax()], vb[(vb @ n).argmin()]
    pose[1, :3] += p + 0.01 * n - q
    axis = np.zeros((1, 8))
    for _ in range(2):  # the second time from memory
        (c,) = collide(tables, pose, 0.02, axis=axis)
        k = c.gap.argmin()
        if c.normal[k] @ n < 1 - 1e-9:  # a face that has the distance but for the preference
            assert c.gap[k] == pytest.approx(0.01, abs=PREFERENCE)
        else:
            assert c.gap[k] == pytest.approx(0.01, abs=1e-9)
            np.testing.assert_allclose(c.point[k], p + 0.005 * n, atol=1e-9)
        assert len(collide(tables, pose, 0.0099, axis=axis)[0].gap) == 0


@pytest.mark.parametrize("kinds", ["box box", "box hull", "hull hull"])
@pytest.mark.parametrize("seed", range(8))
def test_swapped_and_moved(kinds, seed):
    """Swapping turns the normal; moving the world moves the contacts along."""
    rng = np.random.default_rng([seed, len(kinds), 9])
    tables, pose = random_pair(rng, kinds)
    pose = brought_to(tables, pose, -1e-3)
    (c,) = collide(tables, pose, MARGIN)
    (swapped,) = collide(tables, pose, MARGIN, pairs=((1, 0),))
    k, j = c.gap.argmin(), swapped.gap.argmin()
    assert swapped.gap[j] == pytest.approx(c.gap[k], abs=2 * PREFERENCE)
    va, vb = vertices_of(tables, pose, 0), vertices_of(tables, pose, 1)
    along = (va @ swapped.normal[j]).min() - (vb @ swapped.normal[j]).max()
    assert along == pytest.approx(c.gap[k], abs=2 * PREFERENCE)  # the same axis, or one as good
    frame, shift = random_rotation(rng), rng.normal(size=3)
    moved = np.array([pose_row(frame @ p[:3] + shift, frame @ p[3:].reshape(3, 3)) for p in pose])
    (m,) = collide(tables, moved, MARGIN)
    np.testing.assert_allclose(m.gap, c.gap, atol=1e-12)
    np.testing.assert_allclose(m.normal, c.normal @ frame.T, atol=1e-9)
    np.testing.assert_allclose(m.point, c.point @ frame.T + shift, atol=1e-9)


def stacked(upper, lower, position, rotation=None, margin=MARGIN):
    tables = bare_shapes(lower, upper)
    (c,) = collide(tables, [pose_row(), pose_row(position, rotation)], margin)
    return c


def as_hull(box):
    half = 0.5 * np.array(box)
    signs = np.array(np.meshgrid([-1, 1], [-1, 1], [-1, 1])).reshape(3, 8).T
    return ConvexHull(signs * half)


@pytest.mark.parametrize("make", [lambda *s: Box(*s), lambda *s: as_hull(s)])
def test_shifted_stack_has_the_corners_of_the_overlap(make):
    c = stacked(make(1, 1, 1), make(2, 1, 1), (0.8, 0.3, 1 - 1e-5))
    assert len(c.gap) == 4
    corners = {tuple(p) for p in np.round(c.point, 9)}
    z = round(0.5 - 0.5e-5, 9)
    assert corners == {(x, y, z) for x in (0.3, 1.0) for y in (-0.2, 0.5)}
    np.testing.assert_allclose(c.gap, -1e-5, atol=1e-12)
    np.testing.assert_allclose(c.normal, [[0, 0, 1]] * 4, atol=1e-12)


@pytest.mark.parametrize("make", [lambda *s: Box(*s), lambda *s: as_hull(s)])
def test_flat_edge_and_corner_contacts(make):
    """Four contacts on a face, two on an edge, one on a corner."""
    assert len(stacked(make(1, 1, 1), make(3, 3, 1), (0, 0, 1)).gap) == 4
    edge = turn((0, 1, 0), np.pi / 4)
    c = stacked(make(1, 1, 1), make(3, 3, 1), (0, 0, 0.5 + np.sqrt(0.5)), edge)
    np.testing.assert_allclose(np.sort(c.point[:, 1]), [-0.5, 0.5], atol=1e-9)
    np.testing.assert_allclose(c.gap, 0, atol=1e-12)
    corner = turn((0, 1, 0), np.arctan(np.sqrt(0.5))) @ turn((1, 0, 0), np.pi / 4)
    c = stacked(make(1, 1, 1), make(3, 3, 1), (0.1, 0.2, 0.5 + np.sqrt(0.75)), corner)
    np.testing.assert_allclose(c.point, [[0.1, 0.2, 0.5]], atol=1e-9)


@pytest.mark.parametrize("make", [lambda *s: Box(*s), lambda *s: as_hull(s)])
def test_crossed_edges(make):
    """Two bars on edge, at right angles: one contact where the edges cross."""
    lower, upper = turn((1, 0, 0), np.pi / 4), turn((0, 1, 0), np.pi / 4)
    tables = bare_shapes(make(2, 1, 1), make(1, 2, 1))
    height = 2 * np.sqrt(0.5) - 1e-3
    (c,) = collide(tables, [pose_row((0, 0, 0), lower), pose_row((0, 0, height), upper)], MARGIN)
    np.testing.assert_allclose(c.normal, [[0, 0, 1]], atol=1e-9)
    np.testing.assert_allclose(c.gap, [-1e-3], atol=1e-12)
    np.testing.assert_allclose(c.point, [[0, 0, height / 2]], atol=1e-9)


@pytest.mark.parametrize("make", [lambda *s: Box(*s), lambda *s: as_hull(s)])
@pytest.mark.parametrize("angle", [0.0, 1e-12, 1e-9, 1e-7, 0.3, np.pi / 4])
def test_stack_does_not_flicker(make, angle):
    """Rounding and settling leave count and places of the contacts of a stack alone."""
    rng = np.random.default_rng(0)
    tables = bare_shapes(make(1, 1, 1), make(1, 1, 1))
    seen = None
    for _ in range(20):
        tilt = turn(rng.normal(size=3), 1e-7) @ turn((0, 0, 1), angle)
        position = (1e-8 * rng.normal(), 1e-8 * rng.normal(), 1 + 1e-7 * rng.normal())
        (c,) = collide(tables, [pose_row(), pose_row(position, tilt)], MARGIN)
        assert len(c.gap) == 4
        points = c.point[np.lexsort(np.round(c.point, 3).T)]
        seen = points if seen is None else seen
        np.testing.assert_allclose(points, seen, atol=2e-3 if angle else 1e-6)


@pytest.mark.parametrize("kinds", ["box hull", "hull box", "hull hull"])
@given(seed=st.integers(0, 2**32 - 1), gap=st.sampled_from([-1e-2, -1e-3, -1e-5, 0.0, 5e-4]),
       step=st.floats(-8, -2))  # fmt: skip
@settings(max_examples=60, deadline=None)
def test_cached_axis_changes_nothing(kinds, seed, gap, step):
    """Ten small motions with a remembered row give what a fresh row gives each time.

    Equal to rounding, or two axes that are equally good to within the preference.
    """
    rng = np.random.default_rng(seed)
    tables, pose = random_pair(rng, kinds)
    pose = brought_to(tables, pose, gap)
    axis = np.zeros((1, 8))
    for _ in range(10):
        (kept,), (fresh,) = collide(tables, pose, MARGIN, axis=axis), collide(tables, pose, MARGIN)
        if len(fresh.gap) and len(kept.gap) and np.abs(kept.normal[0] - fresh.normal[0]).max() == 0:
            np.testing.assert_array_equal(kept.gap, fresh.gap)
            np.testing.assert_array_equal(kept.point, fresh.point)
        elif len(fresh.gap) or len(kept.gap):
            s, _ = largest_separation(tables, pose)
            for c in (kept, fresh):
                assert min(c.gap, default=MARGIN) == pytest.approx(max(s, -1), abs=1e-4)
        pose[1, :3] += 10**step * 0.1 * rng.normal(size=3)
        pose[1, 3:] = (turn(rng.normal(size=3), 10**step) @ pose[1, 3:].reshape(3, 3)).ravel()


def test_cached_axis_survives_far_pairs_and_their_return():
    rng = np.random.default_rng(3)
    tables, pose = random_pair(rng, "hull hull")
    pose = brought_to(tables, pose, -1e-4)
    axis, away = np.zeros((1, 8)), pose.copy()
    away[1, :3] += 0.05 * (pose[1, :3] - pose[0, :3]) / np.linalg.norm(pose[1, :3] - pose[0, :3])
    (before,) = collide(tables, pose, MARGIN, axis=axis)
    assert len(collide(tables, away, MARGIN, axis=axis)[0].gap) == 0
    (after,) = collide(tables, pose, MARGIN, axis=axis)
    np.testing.assert_array_equal(before.point, after.point)


def test_every_pair_of_a_list_has_its_own_rows():
    tables = bare_shapes(Box(1, 1, 1), Box(1, 1, 1), Sphere(0.5), as_hull((1, 1, 1)))
    pose = [pose_row((x, 0, 0)) for x in (0, 1, 2, 3)]
    found = collide(tables, pose, MARGIN, pairs=((0, 1), (0, 2), (1, 2), (2, 3), (3, 0)))
    assert [len(c.gap) for c in found] == [4, 0, 1, 1, 0]
    for c in found:
        np.testing.assert_allclose(c.normal - [1, 0, 0], 0, atol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_hulls_with_many_faces(seed):
    """More faces and edges than the scratch lists hold at once, and deep, so that few are passed
    over: still what brute force finds."""
    rng = np.random.default_rng([seed, 11])
    tables = bare_shapes(random_hull(rng, points=90), random_hull(rng, points=90))
    assert tables.polytope[:, 3].min() > 128
    pose = np.array([pose_row(), pose_row(0.02 * rng.normal(size=3), random_rotation(rng))])
    s, _ = largest_separation(tables, pose)
    assert s < -0.05
    (c,) = collide(tables, pose, MARGIN)
    assert c.gap.min() == pytest.approx(s, abs=PREFERENCE)


def test_faces_with_many_corners():
    """Prisms of 150 sides on each other: four contacts near the rim of the smaller one."""
    angles = np.linspace(0, 2 * np.pi, 150, endpoint=False)
    ring = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    points = np.concatenate([np.c_[ring, np.zeros(150)], np.c_[ring, np.ones(150)]])
    for radius in (0.5, 1.0, 2.0):
        upper = ConvexHull(points * (radius, radius, 1))
        c = stacked(upper, ConvexHull(points), (0, 0, 1 - 1e-5), turn((0, 0, 1), 0.02))
        assert len(c.gap) == 4
        np.testing.assert_allclose(c.gap, -1e-5, atol=1e-12)
        place = c.point[:, :2] / min(radius, 1.0)
        np.testing.assert_allclose(np.linalg.norm(place, axis=1), 1, atol=5e-3)
        assert np.linalg.norm(place.mean(axis=0)) < 0.1
