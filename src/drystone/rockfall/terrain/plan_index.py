"""Which triangles lie over a point of the map: a uniform grid of triangle lists in the x-y plane.

For meshes; an elevation grid knows its cells without one.
"""

from math import ceil, sqrt
from typing import NamedTuple

import numpy as np

from drystone.jit import kernel

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
    shape = np.array([max(1, ceil(extent[0] / cell)), max(1, ceil(extent[1] / cell))])
    count = np.zeros(shape[0] * shape[1], dtype=np.int64)
    count_cells(vertices, triangles, low, cell, shape, count)
    start = np.concatenate([[0], np.cumsum(count)])
    listed = np.empty(start[-1], dtype=np.int32)
    fill_cells(vertices, triangles, low, cell, shape, start[:-1].copy(), listed)
    return PlanIndex(low, cell, shape, start, listed)


@kernel
def _span(a, b, c, low, cell, count):
    """First and last cell of three coordinates along one axis."""
    first = int((min(a, b, c) - low) / cell)
    last = int((max(a, b, c) - low) / cell)
    return min(max(first, 0), count - 1), min(max(last, 0), count - 1)


@kernel
def _cells_of(t, vertices, triangles, low, cell, shape):
    a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
    j0, j1 = _span(vertices[a, 0], vertices[b, 0], vertices[c, 0], low[0], cell, shape[0])
    i0, i1 = _span(vertices[a, 1], vertices[b, 1], vertices[c, 1], low[1], cell, shape[1])
    return i0, i1, j0, j1


@kernel
def count_cells(vertices, triangles, low, cell, shape, count):
    for t in range(triangles.shape[0]):
        i0, i1, j0, j1 = _cells_of(t, vertices, triangles, low, cell, shape)
        for i in range(i0, i1 + 1):
            for j in range(j0, j1 + 1):
                count[i * shape[0] + j] += 1


@kernel
def fill_cells(vertices, triangles, low, cell, shape, place, listed):
    for t in range(triangles.shape[0]):
        i0, i1, j0, j1 = _cells_of(t, vertices, triangles, low, cell, shape)
        for i in range(i0, i1 + 1):
            for j in range(j0, j1 + 1):
                k = i * shape[0] + j
                listed[place[k]] = t
                place[k] += 1


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
def highest_over(x, y, vertices, triangles, low, cell, shape, start, listed, height):
    """The highest surface over each point, NaN where there is none."""
    for p in range(x.shape[0]):
        height[p] = np.nan
        j = int(np.floor((x[p] - low[0]) / cell))
        i = int(np.floor((y[p] - low[1]) / cell))
        # The far rim of the box belongs to the last cell.
        j = j - 1 if j == shape[0] else j
        i = i - 1 if i == shape[1] else i
        if j < 0 or i < 0 or j >= shape[0] or i >= shape[1]:
            continue
        best = -np.inf
        k = i * shape[0] + j
        for q in range(start[k], start[k + 1]):
            best = max(best, _height_on(listed[q], x[p], y[p], vertices, triangles))
        if best > -np.inf:
            height[p] = best
