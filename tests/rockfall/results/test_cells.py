"""Cells of exact arcs, against dense sampling and closed forms."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arcs import G, cut, flat_ground, one_arc
from drystone.rockfall.results.cells import CellWalker, Raster
from drystone.rockfall.terrain.ground_surface import Ground, height_at


def rough_ground(raster, seed):
    ground = flat_ground(raster, step=0.7 * raster.cell)
    rough = np.random.default_rng(seed).normal(size=ground.heights.shape)
    return Ground(raster.x0 - 0.1, raster.y0 - 0.2, ground.dx, 1.1 * ground.dy, rough)


def sampled_height(ground, x, y):
    """Twin: height of the ground at one point, by barycentric coordinates of its triangle."""
    u, w = (x - ground.x0) / ground.dx, (y - ground.y0) / ground.dy
    c, r = int(np.floor(u)), int(np.floor(w))
    rows, columns = ground.heights.shape
    if not (0 <= c < columns - 1 and 0 <= r < rows - 1):
        return np.nan
    p, q = u - c, w - r
    triangle = [(0, 0), (1, 0), (1, 1)] if p >= q else [(0, 0), (1, 1), (0, 1)]
    corners = np.array([(i, j, 1.0) for i, j in triangle]).T
    weights = np.linalg.solve(corners, [p, q, 1.0])
    return sum(
        k * ground.heights[r + j, c + i] for k, (i, j) in zip(weights, triangle, strict=True)
    )


def sampled_cells(arcs, mass, raster, ground, count=4001):
    """Twin: {cell: (speed, energy, height)} from many points of each arc."""
    found = {}
    for arc in arcs:
        first, last = np.sqrt(arc["e_spin"])
        for share in np.linspace(0, 1, count):
            s, e = share * (arc["t1"] - arc["t0"]), (first + share * (last - first)) ** 2
            x = arc["x"] + s * (arc["v"] + 0.5 * arc["a"] * s)
            speed = np.linalg.norm(arc["v"] + s * arc["a"])
            c = int(np.floor((x[0] - raster.x0) / raster.cell))
            r = int(np.floor((x[1] - raster.y0) / raster.cell))
            if 0 <= c < raster.columns and 0 <= r < raster.rows:
                height = x[2] - sampled_height(ground, x[0], x[1])
                now = np.array([speed, 0.5 * mass * speed**2 + e, height])
                old = found.get(r * raster.columns + c, now)
                found[r * raster.columns + c] = np.fmax(old, now)
    return found


@pytest.mark.parametrize("seed", range(4))
def test_matches_dense_sampling(seed):
    rng = np.random.default_rng(seed)
    raster = Raster(-3.0, -2.0, 0.9, 8, 6)
    ground = rough_ground(raster, seed)
    arcs = np.concatenate(
        [
            one_arc(
                rng.uniform(-2, 2, 3), rng.normal(size=3) * 4, rng.normal(size=3) * 6, 1.3,
                e_spin=rng.uniform(0, 50, 2),
            )
            for _ in range(3)
        ]
    )  # fmt: skip
    table = CellWalker(raster, ground).walk(arcs, 2.5)
    twin = sampled_cells(arcs, 2.5, raster, ground)
    found = dict(zip(table.cell, np.array(table[1:4]).T, strict=True))
    # Sampling can only miss: a corner cut in less than 1.3 s / 4000 is not seen by it.
    assert set(twin) <= set(found)
    for cell, peaks in twin.items():
        assert np.all((found[cell] >= peaks - 1e-9) | np.isnan(peaks))
        # speed < 12 m/s, accelerations of 6 m/s²: between samples of 0.3 ms, less than this
        np.testing.assert_allclose(found[cell][0], peaks[0], atol=0.02)
        np.testing.assert_allclose(found[cell][1], peaks[1], atol=0.5)
        np.testing.assert_allclose(found[cell][2], peaks[2], atol=0.05)


def test_apex_of_a_parabola_is_found():
    """Thrown upwards at w from height 0 over flat ground: w²/2g above it, whatever the cells."""
    raster = Raster(0.0, 0.0, 100.0, 1, 1)
    table = CellWalker(raster, flat_ground(raster)).walk(
        one_arc((1, 50, 0), (20, 0, 15), duration=2 * 15 / G), 1.0
    )
    assert list(table.cell) == [0]
    np.testing.assert_allclose(table.height, 15**2 / (2 * G), rtol=1e-12)
    np.testing.assert_allclose(table.speed, np.hypot(20, 15), rtol=1e-12)


def test_turning_back_in_a_cell_visits_it_once():
    """A rock that rolls up to x = 2.5 and back down: v²/2a = 2.5."""
    raster = Raster(0.0, 0.0, 1.0, 10, 1)
    a, v = 3.0, np.sqrt(2 * 3.0 * 2.5)
    arc = one_arc((0.0, 0.5, 1.0), (v, 0, 0), (-a, 0, 0), duration=2 * v / a)
    table = CellWalker(raster, flat_ground(raster)).walk(arc, 1.0)
    assert sorted(table.cell) == [0, 1, 2]


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 30))
def test_cutting_arcs_changes_nothing(seed, pieces):
    rng = np.random.default_rng(seed)
    raster = Raster(-5.0, -4.0, 0.53, 20, 17)
    walker = CellWalker(raster, rough_ground(raster, seed))
    arc = one_arc(
        rng.uniform(-2, 2, 3), rng.normal(size=3) * 4, rng.normal(size=3) * 5,
        e_spin=rng.uniform(0, 50, 2),
    )  # fmt: skip
    whole = walker.walk(arc, 3.0)
    parts = walker.walk(cut(arc, pieces), 3.0)
    whole_rows = {c: row for c, *row in zip(*whole[:4], strict=True)}
    part_rows = {c: row for c, *row in zip(*parts[:4], strict=True)}
    for cell in set(whole_rows) ^ set(part_rows):  # a corner only touched, within round-off
        assert cell in whole_rows or cell in part_rows
    shared = set(whole_rows) & set(part_rows)
    assert len(shared) >= max(len(whole_rows), len(part_rows)) - 1
    for cell in shared:
        np.testing.assert_allclose(whole_rows[cell], part_rows[cell], rtol=1e-9, atol=1e-9)


def test_grows_when_a_run_passes_many_cells():
    raster = Raster(0.0, 0.0, 0.01, 3000, 1)
    table = CellWalker(raster, flat_ground(raster, step=10.0)).walk(
        one_arc((0.005, 0.005, 1.0), (29.98, 0, 0), (0, 0, 0)), 1.0
    )
    assert len(table.cell) == 2999 and len(set(table.cell)) == 2999


def test_no_ground_gives_no_height_and_outside_gives_no_cell():
    raster = Raster(0.0, 0.0, 1.0, 4, 1)
    ground = flat_ground(raster)
    ground.heights[:, 2] = np.nan
    walker = CellWalker(raster, ground)
    table = walker.walk(one_arc((-3.5, 0.5, 1), (8, 0, 0), (0, 0, 0)), 1.0)
    assert list(table.cell) == [0, 1, 2, 3]
    assert list(np.isnan(table.height)) == [False, True, True, False]
    assert len(walker.walk(one_arc((9, 9, 1), (1, 0, 0)), 1.0).cell) == 0


def test_height_at_matches_the_twin():
    raster = Raster(-3.0, -2.0, 0.9, 8, 6)
    ground = rough_ground(raster, 5)
    ground.heights[2, 3] = np.nan
    points = np.random.default_rng(1).uniform(-4, 5, (300, 2))
    twin = [sampled_height(ground, *p) for p in points]
    ours = height_at(ground, *points.T)
    known = np.isfinite(ours)
    np.testing.assert_allclose(ours[known], np.array(twin)[known], atol=1e-12)
    # A square without one of its corners is a hole as a whole; else both know the same points.
    assert known.sum() > 100 and np.all(np.isfinite(np.array(twin)[known]))
