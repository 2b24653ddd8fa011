"""GJK and the contacts of any two convex shapes, against closed forms and dense sampling."""

import itertools

import numpy as np
import pytest

from drystone.collision.narrowphase.convex import convex_contacts
from drystone.collision.narrowphase.gjk import core_distance, separation
from drystone.model.arrays import CAPSULE, CONE, CYLINDER, SPHERE
from drystone.shapes import Box, Capsule, Cone, Cylinder, Sphere
from narrow_twin import (
    bare_shapes,
    collide,
    distance,
    pose_row,
    random_hull,
    random_rotation,
    turn,
    vertices_of,
)
from rounding import close

LYING = turn((0, 1, 0), np.pi / 2)  # local z -> world x
DIAGONAL = np.sqrt(0.5)


def core_gap(tables, pose, guess=(0.0, 0.0, 1.0)):
    """Distance, direction and closest points (relative to A) of the cores of shapes 0 and 1."""
    offset = tuple(pose[1, :3] - pose[0, :3])
    scratch = np.zeros((256, 4))
    found = core_distance(tables, pose, 0, 1, offset, guess, np.inf, scratch)
    return found[0], *(np.array(v) for v in found[1:])


def contacts(tables, pose, margin, axis=None):
    """Straight from convex_contacts(), also for pairs that have a method of their own."""
    axis = np.zeros((1, 8)) if axis is None else axis
    out = np.zeros((4, 7))
    count = convex_contacts(tables, pose, 0, 1, margin, axis, 0, out, 0, np.zeros((256, 4)))
    return out[:count]


def supports(tables, pose, s, d):
    """(k,) largest d.x over shape s, for directions d (k, 3): the obvious twin."""
    rotation, place = pose[s, 3:].reshape(3, 3), pose[s, :3]
    q = d @ rotation
    r, h = tables.size[s, 0], tables.size[s, 1]
    if tables.kind[s] == SPHERE:
        top = np.full(len(d), r)
    elif tables.kind[s] == CAPSULE:
        top = r + h * abs(q[:, 2])
    elif tables.kind[s] == CYLINDER:
        top = r * np.hypot(q[:, 0], q[:, 1]) + h * abs(q[:, 2])
    elif tables.kind[s] == CONE:
        top = np.maximum(r * np.hypot(q[:, 0], q[:, 1]) - h * q[:, 2], h * q[:, 2])
    else:
        return (vertices_of(tables, pose, s) @ d.T).max(axis=0)
    return top + d @ place


def separations(tables, pose, d):
    return -supports(tables, pose, 1, -d) - supports(tables, pose, 0, d)


def best_separation(tables, pose, rng):
    """Largest separation over all directions, by sampling ever more closely."""
    d = rng.normal(size=(4000, 3))
    width = 1.0
    best, n = -np.inf, None
    while width > 1e-9:
        d /= np.linalg.norm(d, axis=1, keepdims=True)
        s = separations(tables, pose, d)
        if s.max() > best:
            best, n = s.max(), d[s.argmax()]
        else:
            width *= 0.6
        d = n + width * rng.normal(size=(60, 3))
    return best


def random_shape(kind, rng):
    sizes = rng.uniform(0.2, 1.0, size=3)
    return {
        "sphere": lambda: Sphere(sizes[0]),
        "capsule": lambda: Capsule(sizes[0], 2 * sizes[1]),
        "cylinder": lambda: Cylinder(sizes[0], 2 * sizes[1]),
        "cone": lambda: Cone(sizes[0], 2 * sizes[1]),
        "box": lambda: Box(*(2 * sizes)),
        "hull": lambda: random_hull(rng, 20, 1.0),
    }[kind]()


KINDS = ["sphere", "capsule", "cylinder", "cone", "box", "hull"]
PAIRS = list(itertools.combinations_with_replacement(KINDS, 2))


def random_pair(kinds, rng, apart):
    """Two shapes anyhow, B moved along a random direction until that separation is `apart`."""
    tables = bare_shapes(*(random_shape(kind, rng) for kind in kinds))
    pose = np.array([pose_row((0.3, -0.2, 0.1), random_rotation(rng)) for _ in range(2)])
    d = rng.normal(size=(1, 3))
    d /= np.linalg.norm(d)
    pose[1, :3] += d[0] * (apart - separations(tables, pose, d)[0])
    return tables, pose


# distance


@pytest.mark.parametrize("kinds", PAIRS)
def test_gjk_proves_its_distance(kinds):
    """Closest points bound the distance from above, the separation along n from below."""
    rng = np.random.default_rng(3)
    for _ in range(20):
        tables, pose = random_pair(kinds, rng, rng.choice([1e-3, 0.1, 2.0]))
        length, n, pa, pb = core_gap(tables, pose)
        offset = tuple(pose[1, :3] - pose[0, :3])
        room = separation(tables, pose, 0, 1, offset, tuple(n))
        # GJK closes in on round rims only by and by
        assert length == pytest.approx(room, abs=1e-8 if {"cylinder", "cone"} & {*kinds} else 1e-12)
        np.testing.assert_allclose(pb - pa, length * n, atol=1e-12)


@pytest.mark.slow
def test_gjk_agrees_with_a_general_optimiser():
    rng = np.random.default_rng(4)
    for kinds in (("box", "box"), ("box", "hull"), ("hull", "hull")):
        for _ in range(5):
            tables, pose = random_pair(kinds, rng, 0.3)
            length = core_gap(tables, pose)[0]
            twin = distance(vertices_of(tables, pose, 0), vertices_of(tables, pose, 1))
            assert length == pytest.approx(twin, abs=1e-7)


@pytest.mark.parametrize("gap", [1.0, 1e-3, 1e-6, 1e-9])
def test_gjk_between_boxes_in_closed_form(gap):
    """Face to face, edge to edge and corner to corner, down to tiny gaps."""
    tables = bare_shapes(Box(2, 2, 2), Box(2, 2, 2))
    for d in ((1, 0, 0), (1, 1, 0), (1, -1, 1)):
        d = np.array(d, float)
        pose = np.array([pose_row(), pose_row(2 * d + gap * d / np.linalg.norm(d))])
        length, n, _, _ = core_gap(tables, pose, (0.6, 0.0, 0.8))
        assert close(length, gap, 4.0)
        np.testing.assert_allclose(n, d / np.linalg.norm(d), atol=1e-14 / gap)


def test_gjk_says_zero_when_cores_overlap():
    rng = np.random.default_rng(5)
    for kinds in itertools.combinations_with_replacement(KINDS[2:], 2):
        tables, pose = random_pair(kinds, rng, -0.05)
        pose[1, :3] = pose[0, :3]
        assert core_gap(tables, pose)[0] == 0.0


# sphere and box


def test_sphere_and_box_in_closed_form():
    rng = np.random.default_rng(6)
    tables = bare_shapes(Sphere(0.3), Box(1.0, 2.0, 3.0))
    half = np.array([0.5, 1.0, 1.5])
    for _ in range(100):
        rotation, c = random_rotation(rng), rng.uniform(-1.5, 1.5, size=3) * half
        pose = [pose_row(rotation @ c + 1), pose_row((1, 1, 1), rotation)]
        (found,) = collide(tables, pose, 10.0)
        outside = c - np.clip(c, -half, half)
        if (outside == 0).all():
            side = (half - abs(c)).argmin()
            d, depth = np.sign(c[side]) * np.eye(3)[side], (abs(c) - half).max()
        else:
            depth = np.linalg.norm(outside)
            d = outside / depth
        assert found.gap[0] == pytest.approx(depth - 0.3, abs=1e-12)
        np.testing.assert_allclose(found.normal[0], -rotation @ d, atol=1e-12)
        middle = rotation @ (c - d * (0.3 + 0.5 * found.gap[0])) + 1
        np.testing.assert_allclose(found.point[0], middle, atol=1e-12)


# any two shapes


@pytest.mark.parametrize("kinds", PAIRS)
@pytest.mark.parametrize("apart", [0.02, -0.02])
def test_gap_is_the_largest_separation(kinds, apart):
    """It is a separation, so never too large; seldom smaller, as a local maximum may win."""
    rng = np.random.default_rng(7)
    worse = 0
    for _ in range(8):
        tables, pose = random_pair(kinds, rng, apart)
        found = contacts(tables, pose, 5.0)
        best = best_separation(tables, pose, rng)
        n = found[:1, 3:6]
        np.testing.assert_allclose(np.linalg.norm(found[:, 3:6], axis=1), 1.0, atol=1e-12)
        room = separations(tables, pose, n)[0]
        # the points kept may miss the deepest by 1e-5 of the extent of the face
        assert found[:, 6].min() == pytest.approx(room, abs=3e-5)
        worse += room < best - 1e-6
    assert worse <= 1


@pytest.mark.parametrize("kinds", PAIRS)
def test_a_remembered_direction_changes_nothing(kinds):
    rng = np.random.default_rng(8)
    for apart in (0.01, -0.01):
        tables, pose = random_pair(kinds, rng, apart)
        axis = np.zeros((1, 8))
        once, again = contacts(tables, pose, 0.5, axis), contacts(tables, pose, 0.5, axis)
        assert len(once) == len(again)
        np.testing.assert_allclose(once, again, atol=2e-6)


@pytest.mark.parametrize("kind", KINDS[1:])
def test_swapping_the_sides_turns_the_normal(kind):
    rng = np.random.default_rng(9)
    for apart in (0.01, -0.01):
        tables, pose = random_pair((kind, kind), rng, apart)
        order = [1, 0]
        swapped = tables._replace(
            kind=tables.kind[order], size=tables.size[order], table=tables.table[order]
        )
        found, other = contacts(tables, pose, 1.0), contacts(swapped, pose[order], 1.0)
        assert found[:, 6].min() == pytest.approx(other[:, 6].min(), abs=2e-5)
        np.testing.assert_allclose(found[0, 3:6], -other[0, 3:6], atol=1e-5)


def test_apart_by_more_than_the_margin_is_no_contact():
    rng = np.random.default_rng(10)
    for kinds in PAIRS:
        tables, pose = random_pair(kinds, rng, 0.2)
        axis = np.zeros((1, 8))
        for _ in range(2):
            assert len(contacts(tables, pose, 0.19, axis)) == 0


# features that meet


def rows(found):
    return np.column_stack([found.point, found.normal, found.gap])


@pytest.mark.parametrize("gap", [1e-3, 0.0, -1e-6, -1e-3])
def test_capsule_on_a_box(gap):
    tables = bare_shapes(Capsule(0.2, 1.0), Box(4, 4, 1))
    on_face = [pose_row((0.1, 0, 0.7 + gap), LYING), pose_row()]
    (c,) = collide(tables, on_face, 0.01)
    np.testing.assert_allclose(c.gap, [gap, gap], atol=1e-12)
    np.testing.assert_allclose(c.normal, [[0, 0, -1]] * 2, atol=1e-12)
    np.testing.assert_allclose(sorted(c.point[:, 0]), [-0.4, 0.6], atol=1e-12)
    over_the_rim = [pose_row((2.1, 0, 0.7 + gap), LYING), pose_row()]
    (c,) = collide(tables, over_the_rim, 0.01)
    np.testing.assert_allclose(sorted(c.point[:, 0]), [1.6, 2.0], atol=1e-12)
    across_an_edge = [
        pose_row((0, 2 + (0.2 + gap) * DIAGONAL, 0.5 + (0.2 + gap) * DIAGONAL),
                 turn((1, 0, 0), np.pi / 4)),
        pose_row(),
    ]  # fmt: skip
    (c,) = collide(tables, across_an_edge, 0.01)
    assert len(c.gap) == 1
    assert c.gap[0] == pytest.approx(gap, abs=1e-12)


@pytest.mark.parametrize("tilt", [0.0, 1e-15, -1e-15, 1e-9, -1e-9, 1e-6, -1e-6])
def test_a_capsule_over_a_rim_does_not_flicker(tilt):
    """Tilted up or down by rounding the closest feature changes, the two contacts do not."""
    tables = bare_shapes(Capsule(0.2, 1.0), Box(4, 4, 1))
    tilted = pose_row((2.1, 0, 0.7), turn((0, 1, 0), tilt) @ LYING)
    (c,) = collide(tables, [tilted, pose_row()], 0.01)
    assert len(c.gap) == 2
    np.testing.assert_allclose(sorted(c.point[:, 0]), [1.6, 2.0], atol=1e-5)


@pytest.mark.parametrize("gap", [1e-3, 0.0, -1e-6, -1e-3])
def test_cylinder_standing_on_a_box(gap):
    tables = bare_shapes(Cylinder(0.5, 2.0), Box(4, 4, 1))
    (c,) = collide(tables, [pose_row((0.2, 0.1, 1.5 + gap)), pose_row()], 0.01)
    np.testing.assert_allclose(c.gap, [gap] * 4, atol=1e-12)
    np.testing.assert_allclose(c.point[:, 2], 0.5 + gap / 2, atol=1e-12)
    d = c.point[:, :2] - (0.2, 0.1)
    np.testing.assert_allclose(np.hypot(d[:, 0], d[:, 1]), 0.5, atol=1e-12)
    np.testing.assert_allclose(c.point[:, :2].mean(axis=0), (0.2, 0.1), atol=1e-12)


def test_the_deepest_point_of_a_tilted_rim_is_a_contact():
    tables = bare_shapes(Cylinder(0.5, 2.0), Box(4, 4, 1))
    for angle in (1e-3, 0.1, 0.5, 0.9, 1.2):
        rotation = turn((0.3, 1.0, 0.0), angle)
        height = 0.5 * np.sin(angle) + np.cos(angle)
        (c,) = collide(tables, [pose_row((0, 0, 0.5 + height - 1e-3), rotation), pose_row()], 0.01)
        assert c.gap.min() == pytest.approx(-1e-3, abs=1e-12)


@pytest.mark.parametrize("gap", [1e-3, -1e-3])
def test_cylinders_side_by_side_and_on_top_of_each_other(gap):
    tables = bare_shapes(Cylinder(0.5, 2.0), Cylinder(0.3, 1.0))
    (c,) = collide(tables, [pose_row((0, 0, 0), LYING), pose_row((0.8, 0, 0.8 + gap), LYING)], 0.01)
    np.testing.assert_allclose(c.gap, [gap] * 2, atol=1e-12)
    np.testing.assert_allclose(sorted(c.point[:, 0]), [0.3, 1.0], atol=1e-12)
    (c,) = collide(tables, [pose_row(), pose_row((0.1, 0, 1.5 + gap))], 0.01)
    np.testing.assert_allclose(c.gap, [gap] * 4, atol=1e-12)


def test_a_rolling_cylinder_keeps_height_and_contacts():
    """100 turns on a box: two contacts at the ends of the line below the axis, in every step."""
    tables = bare_shapes(Cylinder(0.3, 1.0), Box(400, 4, 1))
    axis = np.zeros((1, 8))
    forward = turn((0, 0, 1), np.pi / 2) @ LYING  # local z -> world y
    for angle in np.linspace(0.0, 200 * np.pi, 1013):
        rolled = turn((0, 1, 0), angle) @ forward
        pose = [pose_row((0.3 * angle - 90, 0.2, 0.8 - 1e-7), rolled), pose_row()]
        (c,) = collide(tables, pose, 0.005, axis=axis)
        assert len(c.gap) == 2
        np.testing.assert_allclose(c.gap, -1e-7, atol=1e-12)
        np.testing.assert_allclose(c.normal, [[0, 0, -1]] * 2, atol=1e-12)
        np.testing.assert_allclose(sorted(c.point[:, 1]), [-0.3, 0.7], atol=1e-12)
        np.testing.assert_allclose(c.point[:, 0], 0.3 * angle - 90, atol=1e-9)


def test_far_from_the_origin_is_as_good():
    rng = np.random.default_rng(11)
    for kinds in PAIRS:
        tables, pose = random_pair(kinds, rng, -0.01)
        far = pose.copy()
        far[:, :3] += (512.0, -1024.0, 256.0)
        near, found = contacts(tables, pose, 0.5), contacts(tables, far, 0.5)
        assert len(found) == len(near)
        np.testing.assert_allclose(found[:, 3:], near[:, 3:], atol=1e-5)
