"""Distances and sweeps against dense sampling: never late, never through."""

import numpy as np
import pytest
from scipy.optimize import minimize

from drystone.rockfall.engine.ccd import Path, sweep
from drystone.rockfall.engine.distance import piece_distance
from drystone.rockfall.engine.flight import rotated
from drystone.rockfall.engine.rock import Rock, pack_rocks
from drystone.rockfall.engine.triangle_grid import Grid
from rock_scenes import ell, matrix


def distance_by_descent(points, triangle):
    """The slow twin: least |rock - triangle| over convex weights of both."""
    n = len(points)

    def gap(w):
        return np.sum((w[:n] @ points - w[n:] @ triangle) ** 2)

    sums = [
        {"type": "eq", "fun": lambda w: w[:n].sum() - 1},
        {"type": "eq", "fun": lambda w: w[n:].sum() - 1},
    ]
    start = np.concatenate([np.full(n, 1 / n), np.full(3, 1 / 3)])
    result = minimize(gap, start, bounds=[(0, 1)] * (n + 3), constraints=sums, tol=1e-14)
    return np.sqrt(result.fun)


def gjk(points, triangle):
    guess = points.mean(axis=0) - triangle.mean(axis=0)
    corners = (tuple(c) for c in triangle)
    return piece_distance(points, 0, len(points), *corners, tuple(guess), np.zeros((8, 4)))


def test_distance_is_the_least_over_both_bodies():
    rng = np.random.default_rng(0)
    for _ in range(60):
        points = rng.normal(size=(rng.integers(1, 9), 3))
        triangle = rng.normal(size=(3, 3)) + rng.normal(size=3) * 2.0
        d, n, spot = gjk(points, triangle)
        slow = distance_by_descent(points, triangle)
        assert d == pytest.approx(slow, abs=2e-6)
        if d > 0.0:  # n separates by exactly d: a proof that d is right
            n, spot = np.array(n), np.array(spot)
            assert (points @ n).min() - (triangle @ n).max() == pytest.approx(d, abs=1e-12)
            assert (triangle @ n).max() == pytest.approx(spot @ n, abs=1e-12)


def test_a_gap_of_a_millionth_between_parallel_faces():
    box = Rock.block(1, 1, 1).vertices
    triangle = np.array([[-2, -2, -0.5 - 1e-6], [2, -2, -0.5 - 1e-6], [0, 3, -0.5 - 1e-6]])
    d, n, _ = gjk(box, triangle)
    assert d == pytest.approx(1e-6, rel=1e-8)
    assert n == pytest.approx((0, 0, 1), abs=1e-8)


def clearance(rock, x, q, triangle):
    """Distance of all pieces of a rock in a pose to a triangle."""
    m = matrix(q)
    corners = (triangle - x) @ m
    if rock.convex:
        return gjk(rock.vertices, corners)[0] - rock.rounding
    return min(gjk(rock.vertices[face], corners)[0] for face in rock.faces)


@pytest.mark.parametrize("kind", ["block", "hull", "ell", "sphere"])
def test_a_sweep_stops_before_the_first_touch_and_not_much_earlier(kind):
    rng = np.random.default_rng(1)
    rock = {
        "block": Rock.block(1.0, 0.6, 0.4),
        "hull": Rock.hull(rng.normal(size=(30, 3)) * 0.3),
        "ell": Rock.mesh(*ell()).scaled(0.4),
        "sphere": Rock.sphere(0.9),
    }[kind]
    packed, threshold, span = pack_rocks([rock]), 1e-3, 0.2
    hits = 0
    for _ in range(12 if kind == "ell" else 25):
        triangle = rng.normal(size=(3, 3)) * [1, 1, 0.3]
        grid = Grid.build(triangle, [[0, 1, 2]])
        x = np.array([0, 0, 1.6]) + rng.normal(size=3) * 0.2
        q = rng.normal(size=4)
        q /= np.linalg.norm(q)
        v, a, w = (
            rng.normal(size=3) * 3 - [0, 0, 8.0],
            np.array([0, 0, -9.81]),
            rng.normal(size=3) * 10,
        )
        if clearance(rock, x, q, triangle) <= 2 * threshold:
            continue
        path = Path(*map(tuple, (x, v, a, q, w)))
        time, which = sweep(
            packed, 0, path, span, threshold, grid, np.zeros(1, np.int32), 1, np.zeros((8, 4))
        )
        end = min(time, span)
        for s in np.linspace(0.0, end, 60):
            at = x + v * s + 0.5 * a * s * s
            assert clearance(rock, at, rotated(tuple(q), tuple(w), s), triangle) > 0.99 * threshold
        if time <= span:
            hits += 1
            at = x + v * time + 0.5 * a * time * time
            d = clearance(rock, at, rotated(tuple(q), tuple(w), time), triangle)
            assert d < 1.3 * threshold and which == 0
    assert hits > 3


def test_a_fast_needle_does_not_pass_a_thin_wall():
    """60 m/s and a step of 20 ms: 1.2 m, thirty times the needle's thickness."""
    needle = Rock.block(0.04, 0.04, 1.0)
    wall = np.array([[0.6, -5, -5], [0.6, 5, -5], [0.6, 0, 8.0]])
    grid = Grid.build(wall, [[0, 1, 2]])
    path = Path(
        x=(0.0, 0.0, 0.0),
        v=(60.0, 0.0, 0.0),
        a=(0.0, 0.0, -9.81),
        q=(1.0, 0.0, 0.0, 0.0),
        w=(0.0, 0.0, 3.0),
    )
    found, simplex = np.zeros(1, np.int32), np.zeros((8, 4))
    time, _ = sweep(pack_rocks([needle]), 0, path, 0.02, 1e-4, grid, found, 1, simplex)
    assert time == pytest.approx((0.6 - 0.02) / 60.0, abs=2e-5)
