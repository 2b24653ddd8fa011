"""Polytopes: boxes and hulls as faces, edges and loops."""

from math import pi

import numpy as np
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from drystone.errors import InputError
from drystone.shapes import (
    Box,
    ConvexHull,
    matrix_from_quaternion,
)
from drystone.shapes.polytope import polytope_from_loops

CUBE = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
seeds = st.integers(0, 2**32 - 1)


def random_rotation(rng) -> np.ndarray:
    q = rng.normal(size=4)
    return matrix_from_quaternion(q / np.linalg.norm(q))


def check_polytope(p, tolerance):
    """All that contact code relies on; `tolerance` [m] is how far corners may be off a plane."""
    faces = [p.loop[a : a + n].tolist() for a, n in p.face_loop]
    assert len(p.vertex) - len(p.edge) + len(p.face_plane) == 2  # Euler
    normal, offset = p.face_plane[:, :3], p.face_plane[:, 3]
    np.testing.assert_allclose(np.linalg.norm(normal, axis=1), 1, atol=1e-12)
    height = p.vertex @ normal.T - offset
    assert height.max() <= 1e-13 * p.radius  # planes hold all vertices
    directed = {}
    for f, corners in enumerate(faces):
        assert len(set(corners)) == len(corners) >= 3
        assert np.abs(height[corners, f]).max() <= tolerance
        polygon = p.vertex[corners]
        area = sum(np.cross(polygon[k - 1], polygon[k]) for k in range(len(polygon)))
        assert area @ normal[f] > 0  # counter-clockwise from outside
        for k in range(len(corners)):
            directed[corners[k - 1], corners[k]] = f
    assert len(directed) == 2 * len(p.edge)
    for start, end, left, right in p.edge.tolist():
        assert directed[start, end] == left and directed[end, start] == right
    for v, (first, count) in enumerate(p.vertex_star.tolist()):
        expected = np.flatnonzero((p.edge[:, :2] == v).any(axis=1))
        assert sorted(p.star[first : first + count].tolist()) == expected.tolist()
        assert count >= 3 or tolerance > 0
    assert p.radius == pytest.approx(np.linalg.norm(p.vertex, axis=1).max())


@pytest.mark.parametrize("sizes", [(1, 1, 1), (0.1, 2, 30)])
def test_box_polytope(sizes):
    part = Box(*sizes).parts()[0]
    check_polytope(part.geometry, 1e-14)
    assert len(part.geometry.face_plane) == 6 and len(part.geometry.edge) == 12
    np.testing.assert_array_equal(part.geometry.vertex.max(axis=0), part.size)
    for k, corner in enumerate(part.geometry.vertex):
        assert [int(c > 0) for c in corner] == [k >> axis & 1 for axis in range(3)]


@pytest.mark.parametrize("noise", [0, 1e-15, 1e-9, 1e-8])
@pytest.mark.parametrize("seed", range(3))
def test_cube_of_many_points_has_six_quads(noise, seed):
    """Corners, points on edges and faces and inside, turned anyhow, exact or a bit off."""
    rng = np.random.default_rng(seed)
    grid = np.stack(np.meshgrid(*[np.linspace(-0.5, 0.5, 5)] * 3), axis=-1).reshape(-1, 3)
    points = grid @ random_rotation(rng).T + noise * rng.normal(size=grid.shape)
    hull = ConvexHull(points)
    assert hull.polytope.face_loop[:, 1].tolist() == [4] * 6
    assert len(hull.polytope.vertex) == 8
    check_polytope(hull.polytope, 1e-13 + 20 * noise)
    assert hull.mass_properties().volume == pytest.approx(1, abs=1e-12 + 20 * noise)


def test_cube_read_from_float32_has_six_quads():
    turn = random_rotation(np.random.default_rng(5))
    points = (10 + CUBE @ turn.T).astype(np.float32)
    assert len(ConvexHull(points).polytope.face_plane) == 6


def test_prism_has_polygon_ends():
    angle = np.linspace(0, 2 * pi, 17)[:-1]
    ring = np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=1)
    p = ConvexHull(np.concatenate([ring, ring + [0, 0, 1]])).polytope
    assert sorted(p.face_loop[:, 1].tolist()) == [4] * 16 + [16, 16]
    check_polytope(p, 1e-13)


def test_hull_is_rebuilt_bit_for_bit_from_its_loops():
    """What saving and loading does."""
    p = ConvexHull(np.random.default_rng(2).normal(size=(20, 3))).polytope
    again = polytope_from_loops(p.vertex, [p.loop[a : a + n].tolist() for a, n in p.face_loop])
    for name in ("vertex", "face_plane", "face_loop", "loop", "edge", "vertex_star", "star"):
        np.testing.assert_array_equal(getattr(again, name), getattr(p, name))


@pytest.mark.parametrize("loops", [[[0, 1, 2], [0, 2, 3]], [[0, 1, 2], [0, 1, 3], [2, 1, 3]]])
def test_open_polytope_is_refused(loops):
    with pytest.raises(InputError, match="do not close"):
        polytope_from_loops(CUBE[:4], loops)


@settings(max_examples=60, deadline=None)
@given(seeds, st.sampled_from(["round", "lattice", "sphere", "slab"]), st.booleans())
def test_hull_invariants(seed, family, noisy):
    rng = np.random.default_rng(seed)
    count = rng.integers(8, 60)
    points = {
        "round": lambda: rng.normal(size=(count, 3)),
        "lattice": lambda: rng.integers(0, 4, size=(count, 3)) @ random_rotation(rng),
        "sphere": lambda: (lambda x: x / np.linalg.norm(x, axis=1)[:, None])(
            rng.normal(size=(count, 3))
        ),
        "slab": lambda: rng.integers(0, 3, size=(count, 3)) * [1, 1, 1e-3],
    }[family]()
    if noisy:
        points = points + 10.0 ** rng.uniform(-16, -5) * rng.normal(size=points.shape)
    size = np.linalg.norm(np.ptp(points, axis=0))
    try:
        hull = ConvexHull(points)
    except InputError:
        assert family in ("lattice", "slab")  # a few lattice points may lie in a plane
        reject()
    check_polytope(hull.polytope, 5e-6 * size)
    normal, offset = hull.polytope.face_plane[:, :3], hull.polytope.face_plane[:, 3]
    outside = ((points - hull.offset) @ normal.T - offset).max()
    assert outside <= 5e-6 * size  # a few times the merge tolerance
