"""Uniform grid over x, y: of each square cell the triangles whose AABB reaches into it, ascending.

Shared by terrains (shapes/triangle_table.py) and by the slopes of rockfall studies, which choose
the size of the cells and make the queries.
"""

import numpy as np

from drystone.jit import kernel

# Part of a cell by which a triangle must reach into it to be listed there: a triangle that ends
# on a cell's border, as all do on a raster, is not listed beyond. Above the rounding of
# a cell number (1e-12 at 10,000 cells), a nanometre on cells of a metre.
CELL_TOLERANCE = 1e-9


def cell_numbers(extent, side: float) -> tuple[int, int]:
    """Cells along x and y that cover `extent` (2,) [m]."""
    columns, rows = (max(int(np.ceil(e / side - CELL_TOLERANCE)), 1) for e in extent)
    return columns, rows


def count_triangles(vertex, triangle, low, side: float, columns: int, rows: int) -> np.ndarray:
    """(cells,) int64 triangles of each cell; cell (i, j), i along x, is j * columns + i."""
    count = np.zeros(columns * rows, dtype=np.int64)
    add_counts(vertex, triangle, low[0], low[1], side, columns, rows, count)
    return count


def list_triangles(vertex, triangle, low, side: float, columns: int, rows: int):
    """(cells + 1,) int64 where the list of each cell begins, and the lists, int32."""
    count = count_triangles(vertex, triangle, low, side, columns, rows)
    first = np.concatenate(([0], np.cumsum(count)))
    listed = np.empty(first[-1], dtype=np.int32)
    fill_lists(vertex, triangle, low[0], low[1], side, columns, rows, first[:-1].copy(), listed)
    return first, listed


@kernel
def cell_span(vertex, triangle, t, axis, low, side, count):
    """First and last cell of triangle `t` along an axis."""
    a, b, c = (
        vertex[triangle[t, 0], axis],
        vertex[triangle[t, 1], axis],
        vertex[triangle[t, 2], axis],
    )
    lower, upper = min(a, min(b, c)), max(a, max(b, c))
    first = int(np.floor((lower - low) / side + CELL_TOLERANCE))
    last = int(np.ceil((upper - low) / side - CELL_TOLERANCE)) - 1
    first = min(max(first, 0), count - 1)
    return first, min(max(last, first), count - 1)


@kernel
def cell_of(x, low, side, count):
    """Cell of a coordinate along an axis; those outside belong to the first and last."""
    return min(max(int(np.floor((x - low) / side)), 0), count - 1)


@kernel
def add_counts(vertex, triangle, x0, y0, side, columns, rows, count):
    for t in range(triangle.shape[0]):
        i0, i1 = cell_span(vertex, triangle, t, 0, x0, side, columns)
        j0, j1 = cell_span(vertex, triangle, t, 1, y0, side, rows)
        for j in range(j0, j1 + 1):
            for i in range(i0, i1 + 1):
                count[j * columns + i] += 1


@kernel
def fill_lists(vertex, triangle, x0, y0, side, columns, rows, place, listed):
    """Write each triangle in the lists of its cells; `place` is where the next one goes."""
    for t in range(triangle.shape[0]):
        i0, i1 = cell_span(vertex, triangle, t, 0, x0, side, columns)
        j0, j1 = cell_span(vertex, triangle, t, 1, y0, side, rows)
        for j in range(j0, j1 + 1):
            for i in range(i0, i1 + 1):
                listed[place[j * columns + i]] = t
                place[j * columns + i] += 1
