"""Uniform grid over a terrain [Ericson2005, 7.1]: the triangles in the cells of an AABB."""

from math import floor

from drystone.jit import inner_kernel, kernel
from drystone.shapes.bvh.triangle_grid import CELL_TOLERANCE


@kernel
def _cell(x, corner, side, cells):
    """Column or row of the grid that holds coordinate x, the nearest one if x is outside."""
    number = floor((x - corner) / side + CELL_TOLERANCE)
    if not number > 0.0:  # so that a NaN stays inside the grid
        return 0
    return int(min(number, cells - 1.0))


@inner_kernel
def cell_range(shapes, k, lower, upper):
    """First column, row and last column, row of the cells over a box in the terrain's axes."""
    terrain, grid = shapes.terrain, shapes.terrain_grid
    nx, ny, side = terrain[k, 4], terrain[k, 5], grid[k, 2]
    return (
        _cell(lower[0], grid[k, 0], side, nx), _cell(lower[1], grid[k, 1], side, ny),
        _cell(upper[0], grid[k, 0], side, nx), _cell(upper[1], grid[k, 1], side, ny),
    )  # fmt: skip


@kernel
def _is_met(shapes, k, row, lower, upper, i, j, i0, j0):
    """Whether the triangle's AABB meets the query's and cell (i, j) is the first to say so.

    A triangle may stand in several cells; it counts in the first of those of the query, which
    run from (i0, j0). Boxes are in the terrain's axes.
    """
    terrain, grid = shapes.terrain, shapes.terrain_grid
    vertex, triangle = shapes.terrain_vertex, shapes.triangle
    base = terrain[k, 0]
    a, b, c = base + triangle[row, 0], base + triangle[row, 1], base + triangle[row, 2]
    for d in range(3):
        if max(vertex[a, d], vertex[b, d], vertex[c, d]) < lower[d]:
            return False
        if min(vertex[a, d], vertex[b, d], vertex[c, d]) > upper[d]:
            return False
    x = min(vertex[a, 0], vertex[b, 0], vertex[c, 0])
    y = min(vertex[a, 1], vertex[b, 1], vertex[c, 1])
    return (
        max(i0, _cell(x, grid[k, 0], grid[k, 2], terrain[k, 4])) == i
        and max(j0, _cell(y, grid[k, 1], grid[k, 2], terrain[k, 5])) == j
    )


@inner_kernel
def next_in_grid(
    # in: terrain k, AABB in its axes, its cells
    shapes, k, lower, upper, span,
    # in: where the search stands; begins with 0, 0
    cell, entry,
):  # fmt: skip
    """Row of the next triangle whose box meets the given one (-1: no more), new cell and entry."""
    terrain, cell_first, cell_triangle = shapes.terrain, shapes.cell_first, shapes.cell_triangle
    i0, j0, i1, j1 = span
    width = i1 - i0 + 1
    while cell < width * (j1 - j0 + 1):
        i, j = i0 + cell % width, j0 + cell // width
        at = terrain[k, 3] + j * terrain[k, 4] + i
        entry = max(entry, cell_first[at])
        while entry < cell_first[at + 1]:
            row = terrain[k, 1] + cell_triangle[entry]
            entry += 1
            if _is_met(shapes, k, row, lower, upper, i, j, i0, j0):
                return row, cell, entry
        cell += 1
    return -1, cell, entry
