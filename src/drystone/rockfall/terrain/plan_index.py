"""Height of a mesh over points of the map, by the uniform grid of shapes/bvh/triangle_grid.py.

An elevation grid knows its cells without one.
"""

from math import sqrt
from typing import NamedTuple

import numpy as np

from drystone.jit import kernel
from drystone.shapes.bvh.triangle_grid import CELL_TOLERANCE, cell_numbers, cell_of, list_triangles

PER_CELL = 2.0  # triangles a cell should hold: more makes queries slow, fewer the lists long
RIM = 1e-12  # of a triangle's plan area: how far a point on an edge may lie outside by rounding


class PlanIndex(NamedTuple):
    low: np.ndarray  # (2,) x, y of the south-western corner [m]
    cell: float  # side of a cell [m]
    shape: np.ndarray  # (2,) int64 columns, rows
    start: np.ndarray  # (cells + 1,) int64 where the list of each cell begins
    triangle: np.ndarray  # (k,) int32


def build_plan_index(vertices: np.ndarray, triangles: np.ndarray) -> PlanIndex:
    low, high = vertices[:, :2].min(axis=0), vertices[:, :2].max(axis=0)
    extent = high - low
    cell = sqrt(max(extent[0] * extent[1], 1e-12) * PER_CELL / len(triangles))
    cell = max(cell, float(extent.max()) / 8192.0, 1e-9)  # never more than 8192 cells across
    cells = cell_numbers(extent, cell)
    start, listed = list_triangles(vertices, triangles, low, cell, *cells)
    return PlanIndex(low, cell, np.array(cells), start, listed)


@kernel
def _height_on(t, x, y, vertices, triangles):
    """Height of a triangle over (x, y), or -inf beside it; vertical ones have none."""
    a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
    ux, uy = vertices[b, 0] - vertices[a, 0], vertices[b, 1] - vertices[a, 1]
    vx, vy = vertices[c, 0] - vertices[a, 0], vertices[c, 1] - vertices[a, 1]
    area = ux * vy - uy * vx
    if area == 0.0:
        return -np.inf
    px, py = x - vertices[a, 0], y - vertices[a, 1]
    s = (px * vy - py * vx) / area
    r = (ux * py - uy * px) / area
    if s < -RIM or r < -RIM or s + r > 1.0 + RIM:
        return -np.inf
    z = vertices[a, 2]
    return z + s * (vertices[b, 2] - z) + r * (vertices[c, 2] - z)


@kernel
def _highest_in(x, y, i, j, surface):
    """The highest surface over a point among the triangles of one cell; -inf without any."""
    vertices, triangles, shape, start, listed = surface
    best = -np.inf
    k = j * shape[0] + i
    for q in range(start[k], start[k + 1]):
        best = max(best, _height_on(listed[q], x, y, vertices, triangles))
    return best


@kernel
def highest_over(x, y, vertices, triangles, low, cell, shape, start, listed, height):
    """The highest surface over each point, NaN where there is none."""
    border = 2.0 * CELL_TOLERANCE  # of a cell
    surface = (vertices, triangles, shape, start, listed)
    for p in range(x.shape[0]):
        height[p] = np.nan
        u, w = (x[p] - low[0]) / cell, (y[p] - low[1]) / cell
        if u < 0.0 or w < 0.0 or u > shape[0] + border or w > shape[1] + border:
            continue
        # Within the tolerance of a border a triangle may be listed on its other side alone.
        best = -np.inf
        for j in range(
            cell_of(y[p] - border * cell, low[1], cell, shape[1]),
            cell_of(y[p] + border * cell, low[1], cell, shape[1]) + 1,
        ):
            for i in range(
                cell_of(x[p] - border * cell, low[0], cell, shape[0]),
                cell_of(x[p] + border * cell, low[0], cell, shape[0]) + 1,
            ):
                best = max(best, _highest_in(x[p], y[p], i, j, surface))
        if best > -np.inf:
            height[p] = best
