"""Adaptively sampled distance field [Frisken2000]: signed distance (SDF) on an octree.

As PENALTY Appendix I uses them, interpolated between the corners of cells. A cell is divided while
the interpolated distance differs from the true one, at the nineteen points that would become
corners of its children, by more than a tolerance. Away from the surface it may differ by a share of
the distance: there it only has to say that nothing is near.

Corner k of a cell is its lower corner, moved along x, y, z where bits 0, 1, 2 of k are set;
its children are numbered likewise.
"""

from math import sqrt

import numpy as np

from drystone.jit import inner_kernel, kernel
from drystone.shapes.sdf.closest_point import STACK, signed_distance

MOST_LEVELS = 8
MOST_CELLS = 1 << 18
# How much larger the root is than the mesh, so that what is near the mesh is in it.
ROOT_SIZE = 1.1
# Error of a cell: that at the nineteen points times this, as it is larger between them.
BETWEEN = 1.5
VALUES = 9  # of a cell: distances at its corners, and its error


@kernel
def _interpolate(value, cell, x, y, z):
    """Between the corners of a cell; x, y, z from 0 to 1."""
    c00 = value[cell, 0] + x * (value[cell, 1] - value[cell, 0])
    c10 = value[cell, 2] + x * (value[cell, 3] - value[cell, 2])
    c01 = value[cell, 4] + x * (value[cell, 5] - value[cell, 4])
    c11 = value[cell, 6] + x * (value[cell, 7] - value[cell, 6])
    c0, c1 = c00 + y * (c10 - c00), c01 + y * (c11 - c01)
    return c0 + z * (c1 - c0)


@inner_kernel
def interpolated_distance(solids, k, x):
    """Signed distance of x from mesh k, and its error [m], which is large outside the octree."""
    frame, side = solids.octree_frame, solids.octree_frame[k, 3]
    ux, uy = (x[0] - frame[k, 0]) / side, (x[1] - frame[k, 1]) / side
    uz = (x[2] - frame[k, 2]) / side
    vx, vy, vz = min(max(ux, 0.0), 1.0), min(max(uy, 0.0), 1.0), min(max(uz, 0.0), 1.0)
    away = side * sqrt((ux - vx) ** 2 + (uy - vy) ** 2 + (uz - vz) ** 2)
    cell = solids.octree[k]
    while solids.octree_child[cell] >= 0:
        vx, vy, vz = 2.0 * vx, 2.0 * vy, 2.0 * vz
        i, j, h = int(vx >= 1.0), int(vy >= 1.0), int(vz >= 1.0)
        vx, vy, vz = vx - i, vy - j, vz - h
        cell = solids.octree_child[cell] + i + 2 * j + 4 * h
    inside = _interpolate(solids.octree_value, cell, vx, vy, vz)
    error = solids.octree_value[cell, 8]
    if away == 0.0:
        return inside, error
    # All of the mesh is in the octree, and distances differ by no more than points do.
    low, high = max(away, inside - error - away), inside + error + away
    return 0.5 * (low + high), 0.5 * (high - low)


@kernel
def _fill_grid(solids, value, cell, x, y, z, half, grid, stack):
    """Distances at the 27 corners of the children of a cell; the corners of the cell are known."""
    for g in range(27):
        i, j, h = g % 3, g // 3 % 3, g // 9
        if i != 1 and j != 1 and h != 1:
            grid[g] = value[cell, i // 2 + j + 2 * h]
        else:
            at = (x + i * half, y + j * half, z + h * half)
            # Distances differ by no more than the points are apart.
            limit = 1.001 * (abs(value[cell, 0]) + half * sqrt(float(i * i + j * j + h * h)))
            grid[g] = signed_distance(solids, 0, at, limit, stack)[0]


@kernel
def _grid_error(value, cell, grid, share):
    """Error of interpolation: at most, and at most beyond its share of the distance."""
    error, excess = 0.0, 0.0
    for g in range(27):
        guess = _interpolate(value, cell, 0.5 * (g % 3), 0.5 * (g // 3 % 3), 0.5 * (g // 9))
        off = abs(guess - grid[g])
        error, excess = max(error, off), max(excess, off - share * abs(grid[g]))
    return error, excess


@kernel
def fill_octree(
    # in: one mesh, number 0 of `solids`; lower corner and side of the root [m]
    solids, lower, side, tolerance, share, most_levels,
    # scratch
    corner, grid, stack,
    # out
    child, value,
):  # fmt: skip
    """Fill the tables, cell after cell, the larger ones first; their number."""
    far = 4.0 * side
    for k in range(3):
        corner[0, k] = lower[k]
    corner[0, 3] = side
    for k in range(8):
        i, j, h = k & 1, k >> 1 & 1, k >> 2
        at = (lower[0] + i * side, lower[1] + j * side, lower[2] + h * side)
        value[0, k] = signed_distance(solids, 0, at, far, stack)[0]
    least = 0.75 * side / 2.0**most_levels
    count, cell = 1, 0
    while cell < count:
        x, y, z, half = corner[cell, 0], corner[cell, 1], corner[cell, 2], 0.5 * corner[cell, 3]
        _fill_grid(solids, value, cell, x, y, z, half, grid, stack)
        error, excess = _grid_error(value, cell, grid, share)
        child[cell], value[cell, 8] = -1, BETWEEN * error
        if excess > tolerance and half > least and count + 8 <= child.shape[0]:
            child[cell] = count
            for k in range(8):
                i, j, h = k & 1, k >> 1 & 1, k >> 2
                at = count + k
                corner[at, 0], corner[at, 1] = x + i * half, y + j * half
                corner[at, 2], corner[at, 3] = z + h * half, half
                for c in range(8):
                    g = i + (c & 1) + 3 * (j + (c >> 1 & 1)) + 9 * (h + (c >> 2))
                    value[at, c] = grid[g]
            count += 8
        cell += 1
    return count


def build_octree(solids, lower: np.ndarray, side: float, tolerance: float, share: float):
    """child (cells,) first child or -1; value (cells, 9), of mesh 0 of `solids`."""
    child, value = np.empty(MOST_CELLS, np.int32), np.empty((MOST_CELLS, VALUES))
    count = fill_octree(
        solids, np.asarray(lower, float), float(side), float(tolerance), float(share),
        MOST_LEVELS, np.empty((MOST_CELLS, 4)), np.empty(27), np.empty(STACK, np.int32),
        child, value,
    )  # fmt: skip
    return child[:count].copy(), value[:count].copy()
