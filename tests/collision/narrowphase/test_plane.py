"""A plane against every convex shape: closed forms."""

import numpy as np
import pytest

from drystone.shapes import Box, Capsule, ConvexHull, Cylinder, Plane, Sphere
from narrow_twin import (
    bare_shapes,
    collide,
    pose_row,
    random_hull,
    random_rotation,
    turn,
    vertices_of,
)

MARGIN = 1e-3
UP = np.array([0.0, 0.0, 1.0])


def on_plane(shape, position, rotation=None, margin=MARGIN, plane=None):
    """Contacts of `shape` with the plane z = 0, or with a plane of that pose."""
    plane = pose_row() if plane is None else plane
    poses = [plane, pose_row(position, rotation)]
    return collide(bare_shapes(Plane(), shape), poses, margin)[0]


def sorted_rows(points):
    return points[np.lexsort(np.round(points, 9).T)]


def test_sphere():
    c = on_plane(Sphere(0.5), (1.0, 2.0, 0.4999))
    np.testing.assert_allclose(c.point, [[1.0, 2.0, -0.5e-4]], atol=1e-12)
    np.testing.assert_allclose(c.normal, [UP])
    np.testing.assert_allclose(c.gap, [-1e-4], atol=1e-12)
    assert len(on_plane(Sphere(0.5), (0, 0, 0.5 + 2 * MARGIN)).gap) == 0


def test_contacts_end_at_the_margin():
    assert len(on_plane(Sphere(0.5), (0, 0, 0.5 + 0.99 * MARGIN)).gap) == 1
    assert len(on_plane(Sphere(0.5), (0, 0, 0.5 + 1.01 * MARGIN)).gap) == 0


def test_normal_goes_from_first_to_second_whatever_the_order():
    shapes = bare_shapes(Box(1, 1, 1), Plane())
    (c,) = collide(shapes, [pose_row((0, 0, 0.5)), pose_row()], MARGIN)
    assert len(c.gap) == 4
    np.testing.assert_allclose(c.normal, [-UP] * 4)


@pytest.mark.parametrize("seed", range(5))
def test_tilted_plane_is_the_same_scene_turned(seed):
    rng = np.random.default_rng(seed)
    shape, rotation = random_hull(rng), random_rotation(rng)
    flat = on_plane(shape, (0, 0, 0.05), rotation, margin=0.02)
    frame, shift = random_rotation(rng), rng.normal(size=3)
    plane = pose_row(shift, frame)
    turned = on_plane(shape, frame @ (0, 0, 0.05) + shift, frame @ rotation, 0.02, plane)
    np.testing.assert_allclose(turned.gap, flat.gap, atol=1e-12)
    np.testing.assert_allclose(turned.point, flat.point @ frame.T + shift, atol=1e-12)
    np.testing.assert_allclose(turned.normal, flat.normal @ frame.T, atol=1e-12)


def test_capsule_lying_and_standing():
    lying = turn((0, 1, 0), np.pi / 2)
    c = on_plane(Capsule(0.1, 0.6), (0, 0, 0.1), lying)
    np.testing.assert_allclose(sorted_rows(np.abs(c.point)), [[0.3, 0, 0], [0.3, 0, 0]], atol=1e-12)
    assert len(on_plane(Capsule(0.1, 0.6), (0, 0, 0.4)).gap) == 1


def test_cylinder_rolls_on_two_points():
    """Its count must not change while it rolls, and the gaps are those of the lowest line."""
    lying = turn((0, 1, 0), np.pi / 2)
    for k, angle in enumerate(np.linspace(0, 2 * np.pi, 37)):
        wobble = turn((0, 1, 0), 1e-5 * (-1) ** k)
        c = on_plane(Cylinder(0.1, 0.6), (0, 0, 0.1), wobble @ turn((1, 0, 0), angle) @ lying)
        assert len(c.gap) == 2
        np.testing.assert_allclose(np.sort(c.point[:, 0]), [-0.3, 0.3], atol=1e-5)
        np.testing.assert_allclose(c.point[:, 1], 0, atol=1e-9)
        np.testing.assert_allclose(np.sort(c.gap), [-3e-6, 3e-6], atol=1e-9)


@pytest.mark.parametrize("tilt", [0, 1e-9, 1e-5, 3e-4, 1e-3])
@pytest.mark.parametrize("way", [0.0, 1.0, 4.0])
def test_cylinder_stands_on_four_spread_points(tilt, way):
    """A right square on the rim; lowest gap h cos - r sin less the height of the centre."""
    rotation = turn((np.cos(way), np.sin(way), 0), tilt)
    c = on_plane(Cylinder(0.1, 0.6), (0, 0, 0.3), rotation)
    assert len(c.gap) == 4
    lowest = 0.3 - 0.3 * np.cos(tilt) - 0.1 * np.sin(tilt)
    assert c.gap.min() == pytest.approx(lowest, abs=0.1 * 3e-5)
    spread = np.linalg.norm(c.point - c.point.mean(axis=0), axis=1)
    np.testing.assert_allclose(spread, 0.1, rtol=1e-5)


def test_cylinder_tilted_touches_with_its_lowest_rim_point():
    tilt = 0.3
    height = 0.3 * np.cos(tilt) + 0.1 * np.sin(tilt)
    c = on_plane(Cylinder(0.1, 0.6), (0, 0, height), turn((0, 1, 0), tilt))
    assert len(c.gap) == 1
    assert c.gap[0] == pytest.approx(0, abs=1e-12)
    assert c.point[0, 0] == pytest.approx(-0.3 * np.sin(tilt) + 0.1 * np.cos(tilt), abs=1e-12)


def test_box_flat_on_edge_on_corner():
    c = on_plane(Box(1, 2, 3), (0, 0, 1.5))
    np.testing.assert_allclose(sorted_rows(np.abs(c.point)), [[0.5, 1, 0]] * 4, atol=1e-12)
    edge = turn((0, 1, 0), np.pi / 4)
    assert len(on_plane(Box(1, 1, 1), (0, 0, np.sqrt(0.5)), edge).gap) == 2
    corner = turn((0, 1, 0), np.arctan(np.sqrt(0.5))) @ turn((1, 0, 0), np.pi / 4)
    c = on_plane(Box(1, 1, 1), (0, 0, np.sqrt(0.75)), corner)
    np.testing.assert_allclose(c.point, [[0, 0, 0]], atol=1e-12)


@pytest.mark.parametrize("seed", range(20))
def test_hull_holds_its_lowest_corner(seed):
    """Every contact is a corner with its own height; the lowest is among them."""
    rng = np.random.default_rng(seed)
    tables = bare_shapes(Plane(), random_hull(rng))
    pose = np.array([pose_row(), pose_row((0, 0, 0), random_rotation(rng))])
    z = vertices_of(tables, pose, 1)[:, 2]
    pose[1, 2] = -z.min() - 1e-4
    (c,) = collide(tables, pose, 0.02)
    corners = vertices_of(tables, pose, 1)
    assert 1 <= len(c.gap) <= 8  # the margin is that of a body in motion
    assert c.gap.min() == pytest.approx(-1e-4, abs=1e-6)
    for point, gap in zip(c.point, c.gap, strict=True):
        far = np.abs(corners - (point + [0, 0, 0.5 * gap])).max(axis=1)
        assert far.min() < 1e-12
        assert gap < 0.02


def test_flat_hull_keeps_four_of_eight_corners():
    """An octagonal prism: the four kept hold more than half of the octagon."""
    angles = np.arange(8) * np.pi / 4
    ring = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    points = np.concatenate([np.c_[ring, np.zeros(8)], np.c_[ring, np.ones(8)]])
    c = on_plane(ConvexHull(points), (0, 0, 0.5 - 1e-5))
    assert len(c.gap) == 4
    d = c.point[:, :2] - c.point[:, :2].mean(axis=0)
    d = d[np.argsort(np.arctan2(d[:, 1], d[:, 0]))]
    e = np.roll(d, -1, axis=0)
    area = 0.5 * np.abs((d[:, 0] * e[:, 1] - d[:, 1] * e[:, 0]).sum())
    assert area > 1.9  # a square in the unit circle has 2, the octagon 2.83


@pytest.mark.parametrize("corners", [60, 130, 300, 700])
def test_a_face_of_very_many_corners_keeps_its_deepest(corners):
    """A prism tilted by a hair, on a plane and on a box: more corners than the scratch has rows."""
    angle = 2 * np.pi * np.arange(corners) / corners
    rim = np.column_stack([np.cos(angle), np.sin(angle)])
    prism = ConvexHull(np.vstack([np.column_stack([rim, np.full(corners, z)]) for z in (-1, 1)]))
    for where in np.linspace(0.1, 6.0, 5):
        rotation = turn((np.cos(where), np.sin(where), 0), 0.01)
        lowest = (prism.polytope.vertex @ rotation.T)[:, 2].min()
        for ground, top in ((Plane(), 0.0), (Box(9, 9, 1), 0.5)):
            pose = pose_row((0, 0, top - lowest - 1e-3), rotation)
            (c,) = collide(bare_shapes(prism, ground), [pose, pose_row()], 0.05)
            assert len(c.gap) >= 3
            assert c.gap.min() == pytest.approx(-1e-3, abs=1e-4)


def test_a_hull_in_motion_keeps_corners_between_the_four():
    """A prism of eight sides: all corners of its bed where it moves, four where it rests."""
    turns = np.arange(8) * np.pi / 4
    ring = np.column_stack([np.cos(turns), np.sin(turns)]) * 0.2
    corners = np.vstack([np.column_stack([ring, np.full(8, z)]) for z in (-0.1, 0.1)])
    prism, tilt = ConvexHull(corners), turn((0.3, 1.0, 0.0), 0.01)
    height = 0.1 * np.cos(0.01)
    resting = on_plane(prism, (0, 0, height), tilt, margin=1e-3)
    moving = on_plane(prism, (0, 0, height), tilt, margin=0.01)
    bed = np.sort((corners @ tilt.T)[:, 2] + height)[:8]
    assert len(resting.gap) <= 4
    np.testing.assert_allclose(np.sort(moving.gap), bed[bed < 0.01], atol=1e-12)
    assert len(moving.gap) == 8
