"""The grid against looking at every triangle."""

import numpy as np
import pytest

from drystone.errors import InputError
from drystone.rockfall.engine.triangle_grid import Grid, find_triangles, ground_below
from drystone.rockfall.terrain.slope import Slope


def bumpy(rng, nodes=12):
    """A height field with random heights, two triangles a cell."""
    x, y = np.meshgrid(np.arange(nodes, dtype=float), np.arange(nodes, dtype=float))
    vertices = np.column_stack([x.ravel(), y.ravel(), rng.uniform(0, 2, nodes * nodes)])
    first = (np.arange(nodes - 1)[:, None] * nodes + np.arange(nodes - 1)).ravel()
    lower = np.column_stack([first, first + 1, first + nodes + 1])
    upper = np.column_stack([first, first + nodes + 1, first + nodes])
    return vertices, np.vstack([lower, upper])


@pytest.mark.parametrize("cell", [None, 0.37, 5.0])
def test_a_box_finds_exactly_the_triangles_whose_boxes_it_meets(cell):
    rng = np.random.default_rng(1)
    vertices, triangles = bumpy(rng)
    grid = Grid.build(vertices, triangles, cell)
    corner = vertices[triangles]
    lowest, highest = corner.min(axis=1), corner.max(axis=1)
    found = np.zeros(400, dtype=np.int32)
    for _ in range(200):
        low = rng.uniform(-1, 11, 3) * [1, 1, 0.2]
        high = low + rng.uniform(0, 3, 3)
        count = find_triangles(grid, tuple(low), tuple(high), found)
        wanted = np.flatnonzero(((lowest <= high) & (highest >= low)).all(axis=1))
        assert sorted(found[:count]) == list(wanted)


def test_missing_capacity_is_said():
    grid = Grid.build(*bumpy(np.random.default_rng(2)))
    few = np.zeros(3, dtype=np.int32)
    assert find_triangles(grid, (0.0, 0.0, 0.0), (9.0, 9.0, 9.0), few) == -1


def test_ground_below_is_the_highest_surface_under_the_point():
    rng = np.random.default_rng(3)
    vertices, triangles = bumpy(rng)
    roof = np.array([[2, 2, 5.0], [8, 2, 5.0], [8, 8, 5.0]])
    grid = Grid.build(np.vstack([vertices, roof]), np.vstack([triangles, [[144, 145, 146]]]))
    t, z = ground_below(grid, 7.0, 3.0, 9.0)
    assert (t, z) == (len(triangles), pytest.approx(5.0))
    t, z = ground_below(grid, 7.0, 3.0, 4.0)  # under the roof
    assert t < len(triangles) and z < 2.0
    assert ground_below(grid, -0.1, 3.0, 9.0)[0] == -1
    for i, j in rng.integers(0, 12, (20, 2)):
        height = vertices[j * 12 + i, 2]
        assert ground_below(grid, float(i), float(j), 4.0)[1] == pytest.approx(height)


@pytest.mark.parametrize("cell", [1.0 / 3.0, 0.7, 4.997688906601])
def test_there_is_ground_under_every_point_of_a_line_between_cells(cell):
    """On the lines of an elevation grid, and next to them by the least number there is."""
    rng = np.random.default_rng(4)
    slope = Slope.from_grid(rng.uniform(0, 3, (27, 33)), cell, origin=(123456.789, 987654.321))
    grid = Grid.build(slope.vertices, slope.triangles)
    x, y = np.unique(slope.vertices[:, 0]), np.unique(slope.vertices[:, 1])
    for _ in range(500):
        point = np.array([rng.choice(x), rng.choice(y)])
        off = rng.integers(0, 3)
        if off < 2:  # anywhere along a line of the other family
            point[off] = rng.uniform(*((x[0], x[-1]), (y[0], y[-1]))[off])
        side = np.nextafter(point, rng.choice([-np.inf, 0.0, np.inf], 2))
        for p in np.clip([point, side], [x[0], y[0]], [x[-1], y[-1]]):
            t, height = ground_below(grid, *p, 9.0)
            assert t >= 0, p
            assert height == pytest.approx(float(slope.height(*p)), abs=1e-9)


def test_neighbours_and_ridges_of_a_roof():
    """Two planes over a common edge: high in the middle it stands out, low it does not."""
    for top, stands_out in ((1.0, True), (-1.0, False), (0.0, False)):
        vertices = [[-1, 0, 0], [0, 0, top], [0, 1, top], [1, 0, 0]]
        grid = Grid.build(vertices, [[0, 1, 2], [1, 3, 2]])
        assert grid.across.tolist() == [[-1, 1, -1], [-1, -1, 0]]
        assert bool(grid.ridge[0] & 2) == stands_out
        assert grid.ridge[1] & 4 == 0  # the same edge, looked at once
        assert grid.ridge[0] & 5 == 5 and grid.ridge[1] & 3 == 3  # the rim


def test_wrong_triangles_are_named():
    with pytest.raises(InputError, match="but there are only 4"):
        Grid.build(np.eye(4, 3), [[0, 1, 7]])
    with pytest.raises(InputError, match="shape"):
        Grid.build(np.eye(4, 3), [[0, 1]])
