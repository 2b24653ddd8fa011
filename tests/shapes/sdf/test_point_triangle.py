"""Closest point of a triangle against dense sampling of its Voronoi regions."""

import numpy as np
import pytest

from drystone.shapes.sdf.point_triangle import foot_on, triangle_distance

TRIANGLE = np.array([[0.0, 0.0, 0.0], [3.0, 0.0, 1.0], [0.5, 2.0, 0.0]])


def sampled_distance(x, corners, steps=300):
    """The slow twin: least distance to a lattice of points on the triangle."""
    u, v = np.meshgrid(np.linspace(0, 1, steps), np.linspace(0, 1, steps))
    inside = u + v <= 1.0
    u, v = u[inside][:, None], v[inside][:, None]
    points = corners[0] + u * (corners[1] - corners[0]) + v * (corners[2] - corners[0])
    return np.linalg.norm(points - x, axis=1).min()


@pytest.mark.parametrize("seed", range(40))
def test_foot_and_distance_are_the_least(seed):
    """A lattice of 300 parts of 3 m misses the closest point by 1 cm at most."""
    x = np.random.default_rng(seed).normal(size=3) * 2.0
    corners = [tuple(c) for c in TRIANGLE]
    foot, _ = foot_on(*corners, tuple(x))
    distance = triangle_distance(tuple(x), *corners)
    assert distance == pytest.approx(np.linalg.norm(x - foot), abs=1e-14)
    assert distance == pytest.approx(sampled_distance(x, TRIANGLE), abs=0.01)


def test_every_feature_is_named():
    """0 the face, 1 to 3 the corners, 4 to 6 the edges ab, bc, ca."""
    a, b, c = TRIANGLE
    middle, normal = TRIANGLE.mean(axis=0), np.cross(b - a, c - a)
    corners = [tuple(p) for p in TRIANGLE]
    beyond = [middle + normal, *(2 * p - middle for p in TRIANGLE)]
    beyond += [p + q - middle for p, q in ((a, b), (b, c), (c, a))]
    assert [foot_on(*corners, tuple(x))[1] for x in beyond] == list(range(7))
