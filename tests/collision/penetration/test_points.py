"""Contact points and normals of bodies that overlap: PENALTY App. I and III A."""

import numpy as np
import pytest

import drystone as ds
from drystone.collision.penetration.bottom import keep_bottom
from drystone.collision.penetration.search import find_points
from drystone.collision.penetration.tables import build_tables, build_work
from drystone.jit import kernel
from drystone.model import capacity
from penetration_twin import bottom_points, contact_normal


@kernel
def bottom(n, count, most, work, slot):
    return keep_bottom(n, count, most, 1.0, work, slot, 0)


def rotation(seed):
    """A random rotation matrix; the identity for None."""
    if seed is None:
        return np.eye(3)
    q, _ = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))
    return q * np.sign(np.linalg.det(q))


def touch(one, two, place_one, place_two, most=24, triangles=100):
    """Slots (m, 7) of two shapes at poses (position, rotation), and whose facet it is."""
    parts = [*one.parts(), *two.parts()]
    tables = build_tables(parts, ["one", "two"], 1.0 / triangles)
    pose = np.array([[*x, *r.ravel()] for x, r in (place_one, place_two)], float)
    near = capacity._near_arrays(1, 200)
    owner = np.zeros(1, np.int32)
    radius = np.array([part.radius for part in parts])
    pair = np.array([[0, 1]], np.int32)
    find_points(tables, build_work(tables), pair, pose, radius, most, near, 1, owner)
    return near.slot[: near.slot_count[0]], int(owner[0])


GROUND = (np.zeros(3), np.eye(3))


def test_a_cube_flat_in_the_ground_rests_on_its_corners():
    slots, owner = touch(ds.Plane(), ds.Box(1, 1, 1), GROUND, ((0, 0, 0.49), np.eye(3)))
    assert owner == 0
    np.testing.assert_allclose(slots[:, 6], -0.01, atol=1e-12)
    np.testing.assert_allclose(slots[:, 3:6], np.tile([0, 0, 1.0], (len(slots), 1)))
    corners = {tuple(np.round(2 * x).astype(int)) for x in slots[:, :2]}
    assert corners == {(1, 1), (1, -1), (-1, 1), (-1, -1)} and len(slots) == 4


@pytest.mark.parametrize("seed", range(6))
def test_the_deepest_point_is_the_lowest_corner(seed):
    turn = rotation(seed)
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) / 2 @ turn.T
    height = 0.2 - corners[:, 2].min() - 0.4
    slots, _ = touch(ds.Plane(), ds.Box(1, 1, 1), GROUND, ((0, 0, height), turn), most=1)
    lowest = corners[corners[:, 2].argmin()] + [0, 0, height]
    assert len(slots) == 1
    np.testing.assert_allclose(slots[0, :3], lowest, atol=1e-12)
    assert slots[0, 6] == pytest.approx(lowest[2], rel=1e-9)


@pytest.mark.parametrize("seed", range(8))
def test_the_normal_is_that_of_equation_4(seed):
    """A small box pushed into a face of a large one, near its middle, tilted."""
    rng = np.random.default_rng(seed)
    tilt = rotation(seed)
    size = np.array([2.0, 1.5, 1.2])
    small = ds.Box(0.3, 0.4, 0.5)
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    corners = corners * [0.15, 0.2, 0.25] @ tilt.T
    depth = rng.uniform(0.01, 0.1)
    at = np.array([*rng.uniform(-0.3, 0.3, 2), 0.6 - corners[:, 2].min() - depth])
    slots, owner = touch(ds.Box(*size), small, GROUND, (at, tilt), triangles=400)
    planes = np.array([[*(s * np.eye(3)[k]), size[k] / 2] for k in range(3) for s in (1, -1)])
    inside = corners + at
    inside = inside[(np.abs(inside) < size / 2).all(axis=1)]
    assert owner == 0
    np.testing.assert_allclose(slots[0, 3:6], contact_normal(inside, planes)[:3], atol=1e-12)
    assert -slots[:, 6].min() == pytest.approx(depth, rel=1e-9)


def test_a_thin_plate_is_not_pushed_out_at_its_back():
    """The back is nearer to the point than the front, but no part of it is in the other body."""
    plate, ball = ds.Box(1, 1, 0.1), ds.Box(0.2, 0.2, 0.2)
    slots, _ = touch(plate, ball, GROUND, ((0, 0, 0.05 - 0.07 + 0.1), np.eye(3)))
    np.testing.assert_allclose(slots[:, 3:6], np.tile([0, 0, 1.0], (len(slots), 1)), atol=1e-12)
    np.testing.assert_allclose(slots[:, 6], -0.07, rtol=1e-9)


def test_faces_that_overlap_in_part_bear_where_they_do():
    """A box that hangs over the edge of another: points reach up to that edge."""
    slots, _ = touch(ds.Box(1, 1, 1), ds.Box(1, 1, 1), GROUND, ((0.3, 0.2, 0.999), np.eye(3)))
    low, high = slots[:, :2].min(axis=0), slots[:, :2].max(axis=0)
    np.testing.assert_allclose(low, (-0.2, -0.3), atol=0.01)
    np.testing.assert_allclose(high, (0.5, 0.5), atol=0.01)
    np.testing.assert_allclose(slots[:, 6], -0.001, atol=1e-9)


def test_order_of_the_bodies_only_turns_the_normal():
    turn = rotation(3)
    a, b = ds.Box(1, 1, 1), ds.Cylinder(0.2, 0.6)
    place = ((0.1, 0.0, 0.6), turn)
    one, _ = touch(a, b, GROUND, place)
    two, _ = touch(b, a, place, GROUND)
    order = np.lexsort(one[:, :3].T), np.lexsort(two[:, :3].T)
    np.testing.assert_allclose(one[order[0], :3], two[order[1], :3], atol=1e-12)
    np.testing.assert_allclose(one[:, 3:6], -two[:, 3:6], atol=1e-12)


def test_bodies_apart_have_no_points():
    slots, _ = touch(ds.Box(1, 1, 1), ds.Sphere(0.5), GROUND, ((0, 0, 1.01), np.eye(3)))
    assert len(slots) == 0


def test_points_above_the_deepest_triangle_are_dropped_as_in_figure_5():
    """What deeper points surround gets no force; what lies outside of them does."""
    parts = [ds.Box(1, 1, 1).parts()[0]]
    work = build_work(build_tables(parts, ["box"], 0.01))
    flat = np.array([(0, 0), (1, 0), (0, 1), (0.2, 0.2), (1, 1), (0.9, 0.05)])
    depth = np.array([0.9, 0.8, 0.7, 0.6, 0.5, 0.4])
    work.point[:6, :2], work.point[:6, 2], work.depth[:6] = flat, -depth, depth
    slot = np.zeros((10, 7))
    count = bottom((0.0, 0.0, 1.0), 6, 10, work, slot)
    kept = {tuple(x) for x in slot[:count, :2]}
    assert kept == {(0, 0), (1, 0), (0, 1), (1, 1)}


@pytest.mark.parametrize("seed", range(10))
def test_the_bottom_is_that_of_the_twin(seed):
    rng = np.random.default_rng(seed)
    count = int(rng.integers(3, 60))
    flat, depth = rng.normal(size=(count, 2)), rng.uniform(0.1, 1.0, count)
    work = build_work(build_tables([ds.Sphere(1).parts()[0]], ["ball"], 0.01))
    work.point[:count, :2], work.point[:count, 2], work.depth[:count] = flat, 0.0, depth
    slot = np.zeros((200, 7))
    found = bottom((0.0, 0.0, 1.0), count, 100, work, slot)
    kept = bottom_points(flat, depth)
    assert found == len(kept)
    np.testing.assert_allclose(np.sort(slot[:found, 6]), np.sort(-depth[kept]))
    few = bottom((0.0, 0.0, 1.0), count, 3, work, slot)
    assert few == min(3, len(kept)) and slot[0, 6] == -depth.max()
