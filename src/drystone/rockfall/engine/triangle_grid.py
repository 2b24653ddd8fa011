"""Broad phase: a uniform grid over the triangles of the slope (ROCFALL 1.1.2, 1.4).

The lists of the cells are those of shapes/bvh/triangle_grid.py; overhangs are simply more triangles
in a cell. Beside the lists the grid knows which triangle lies across each edge, and which edges are
convex or on the rim: only those can touch an edge or a
face of the rock; anything that reaches a concave edge has touched a triangle before.
"""

from typing import NamedTuple

import numpy as np

from drystone.errors import InputError
from drystone.jit import kernel
from drystone.model.checks import index_rows, point_array, positive
from drystone.shapes.bvh.triangle_grid import cell_numbers, cell_of, cell_span, list_triangles

# Share of a cell, and of a triangle's area. A point so near to a cell's border may be over a
# triangle listed beyond it (shapes/bvh/triangle_grid.py); a point so near to a triangle
# is over it: of two triangles that share an edge, but not its corners, rounding might miss both.
RIM = 1e-9

# A grid of twice as many cells as triangles serves best; this many take a gigabyte.
MOST_CELLS = 50_000_000

# Share of the longer side. An edge whose far corner lies lower by less than this is flat.
FLAT = 1e-12


class Grid(NamedTuple):
    """The slope as kernels see it."""

    vertex: np.ndarray  # (n, 3) [m], local
    triangle: np.ndarray  # (m, 3) int32
    across: np.ndarray  # (m, 3) int32: triangle beyond the edge from corner k to k + 1; -1: rim
    ridge: np.ndarray  # (m,) uint8: bit k says that edge k is convex and tested with this triangle
    cell_first: np.ndarray  # (cells + 1,) int64 into cell_triangle
    cell_triangle: np.ndarray  # int32
    cell_top: np.ndarray  # (cells,) highest point of a cell's triangles [m]; -inf: none
    low: np.ndarray  # (3,) lower corner of the box of all triangles [m]
    high: np.ndarray  # (3,)
    cell: float  # side of a cell [m]
    columns: int  # cells along x
    rows: int  # cells along y

    @classmethod
    def build(cls, vertices, triangles, cell: float | None = None) -> "Grid":
        """Grid over `triangles` (m, 3) of `vertices` (n, 3); `cell` [m] else holds about two."""
        vertex = point_array("Grid: vertices", vertices, 3)
        triangle = _check_triangles(triangles, len(vertex))
        used = vertex[np.unique(triangle)]
        low, high = used.min(axis=0), used.max(axis=0)
        span = np.maximum(high - low, 1e-9 * np.abs(high - low).max())
        if cell is None:
            cell = float(np.sqrt(2.0 * span[0] * span[1] / len(triangle)))
        cell = positive("Grid: cell", cell)
        if not float(np.prod(np.ceil(span[:2] / cell))) <= MOST_CELLS:
            raise InputError(
                f"Grid: cell is {cell:g} m, of which the slope takes more than {MOST_CELLS:,}."
            )
        columns, rows = cell_numbers(span[:2], cell)
        first, listed = list_triangles(vertex, triangle, low, cell, columns, rows)
        top = np.empty(columns * rows)
        find_tops(vertex, triangle, first, listed, top)
        across = find_neighbours(triangle)
        ridge = find_ridges(vertex, triangle, across)
        return cls(
            vertex, triangle, across, ridge, first, listed, top, low, high, cell, columns, rows
        )


def _check_triangles(triangles, count: int) -> np.ndarray:
    return index_rows("Grid: triangles", triangles, count).astype(np.int32)


def find_neighbours(triangle: np.ndarray) -> np.ndarray:
    """(m, 3) int32: the triangle across each edge, -1 where none or more than one is."""
    start = triangle.astype(np.int64).ravel()
    end = np.roll(triangle, -1, axis=1).astype(np.int64).ravel()
    key = np.minimum(start, end) * (int(triangle.max()) + 1) + np.maximum(start, end)
    order = np.argsort(key, kind="stable")
    key = key[order]
    same = key[1:] == key[:-1]
    alone = np.concatenate(([True], ~same)) & np.concatenate((~same[1:], [True, True]))
    first = np.flatnonzero(same & alone[:-1])  # exactly two triangles share this edge
    across = np.full(3 * len(triangle), -1, dtype=np.int32)
    across[order[first]] = order[first + 1] // 3
    across[order[first + 1]] = order[first] // 3
    return across.reshape(-1, 3)


def find_ridges(vertex, triangle, across) -> np.ndarray:
    """(m,) uint8 with bit k for each edge k that stands out; an edge is the lower triangle's."""
    a, b, c = (vertex[triangle[:, k]] for k in range(3))
    normal = np.cross(b - a, c - a)
    size = np.linalg.norm(normal, axis=1)
    normal /= np.maximum(size, np.finfo(float).tiny)[:, None]
    flat = FLAT * np.sqrt(size)
    ridge = np.zeros(len(triangle), dtype=np.uint8)
    for k in range(3):
        other = across[:, k]
        beyond = triangle[other].sum(axis=1) - triangle[:, k] - triangle[:, (k + 1) % 3]
        height = np.einsum("ij,ij->i", normal, vertex[beyond % len(vertex)] - a)
        mine = (other < 0) | ((np.arange(len(triangle)) < other) & (height < -flat))
        ridge |= (mine << k).astype(np.uint8)
    return ridge


@kernel
def find_tops(vertex, triangle, first, listed, top):
    """Highest point of the triangles of each cell [m]; -inf without any."""
    for k in range(top.shape[0]):
        top[k] = -np.inf
        for e in range(first[k], first[k + 1]):
            t = listed[e]
            for c in range(3):
                top[k] = max(top[k], vertex[triangle[t, c], 2])


@kernel
def _first_cell(grid, t):
    """First cell of triangle `t` along x and y."""
    i, _ = cell_span(grid.vertex, grid.triangle, t, 0, grid.low[0], grid.cell, grid.columns)
    j, _ = cell_span(grid.vertex, grid.triangle, t, 1, grid.low[1], grid.cell, grid.rows)
    return i, j


@kernel
def find_triangles(grid, low, high, found):
    """Triangles whose AABB overlaps the box from `low` to `high`, into `found`.

    Returns their number, or -1 if `found` is too small.
    """
    i0 = cell_of(low[0], grid.low[0], grid.cell, grid.columns)
    i1 = cell_of(high[0], grid.low[0], grid.cell, grid.columns)
    j0 = cell_of(low[1], grid.low[1], grid.cell, grid.rows)
    j1 = cell_of(high[1], grid.low[1], grid.cell, grid.rows)
    count = 0
    for j in range(j0, j1 + 1):
        for i in range(i0, i1 + 1):
            k = j * grid.columns + i
            if grid.cell_top[k] < low[2]:
                continue
            for e in range(grid.cell_first[k], grid.cell_first[k + 1]):
                t = grid.cell_triangle[e]
                if not _boxes_overlap(grid, t, low, high):
                    continue
                # A triangle in several cells is taken in the first that the query sees.
                first_i, first_j = _first_cell(grid, t)
                if i != max(first_i, i0) or j != max(first_j, j0):
                    continue
                if count == found.shape[0]:
                    return -1
                found[count] = t
                count += 1
    return count


@kernel
def _boxes_overlap(grid, t, low, high):
    """Whether the AABB of triangle `t` overlaps the box from `low` to `high`."""
    a, b, c = grid.triangle[t, 0], grid.triangle[t, 1], grid.triangle[t, 2]
    for k in range(3):
        p, q, r = grid.vertex[a, k], grid.vertex[b, k], grid.vertex[c, k]
        if min(p, min(q, r)) > high[k] or max(p, max(q, r)) < low[k]:
            return False
    return True


@kernel
def ground_below(grid, x, y, z):
    """Highest triangle under the point, and its height there [m]; -1 if there is none."""
    best, height = -1, -np.inf
    if x < grid.low[0] or y < grid.low[1] or x > grid.high[0] or y > grid.high[1]:
        return best, height
    # On a line between cells rounding decides which of them it falls to, and its triangles need
    # not be listed there: all cells within the rim are searched, nearly always one.
    rim = RIM * grid.cell
    i0 = cell_of(x - rim, grid.low[0], grid.cell, grid.columns)
    i1 = cell_of(x + rim, grid.low[0], grid.cell, grid.columns)
    j0 = cell_of(y - rim, grid.low[1], grid.cell, grid.rows)
    j1 = cell_of(y + rim, grid.low[1], grid.cell, grid.rows)
    for j in range(j0, j1 + 1):
        for i in range(i0, i1 + 1):
            k = j * grid.columns + i
            for e in range(grid.cell_first[k], grid.cell_first[k + 1]):
                level = _height_in(grid, grid.cell_triangle[e], x, y)
                if level > height and level <= z:
                    best, height = grid.cell_triangle[e], level
    return best, height


@kernel
def _height_in(grid, t, x, y):
    """Height of triangle `t` over (x, y) [m]; -inf outside it, and for upright triangles."""
    a, b, c = grid.triangle[t, 0], grid.triangle[t, 1], grid.triangle[t, 2]
    ax, ay = grid.vertex[a, 0] - x, grid.vertex[a, 1] - y
    bx, by = grid.vertex[b, 0] - x, grid.vertex[b, 1] - y
    cx, cy = grid.vertex[c, 0] - x, grid.vertex[c, 1] - y
    u, v, w = bx * cy - by * cx, cx * ay - cy * ax, ax * by - ay * bx
    area = u + v + w
    # Overhanging triangles are seen from behind, with all signs reversed.
    inside = min(u, min(v, w)) >= -RIM * area if area > 0.0 else max(u, max(v, w)) <= -RIM * area
    if area == 0.0 or not inside:
        return -np.inf
    return (u * grid.vertex[a, 2] + v * grid.vertex[b, 2] + w * grid.vertex[c, 2]) / area
