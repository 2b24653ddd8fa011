"""The surface from which heights above ground are measured: a regular grid of plane triangles.

A slope that came from an elevation grid keeps its own nodes and cuts, so that the ground is the
surface that the rocks touch. Any other mesh is sampled from above at its own spacing: over an
overhang, heights count from the top.
"""

from typing import NamedTuple

import numpy as np

LARGEST_GRID = 40_000_000  # nodes, 320 MB: finer sampling of a mesh serves no raster


class Ground(NamedTuple):
    """Heights at the nodes of a grid, each square cut from south-west to north-east."""

    x0: float  # westernmost node, local [m]
    y0: float  # southernmost node [m]
    dx: float  # between nodes [m]
    dy: float
    heights: np.ndarray  # (rows, columns) [m], row 0 the southernmost; NaN where there is none


def ground_of(slope) -> Ground:
    """The ground of a Slope, local coordinates."""
    if slope.grid is not None:
        grid = slope.grid
        spacing = (float(grid.x0), float(grid.y0), float(grid.dx), float(grid.dy))
        return Ground(*spacing, np.ascontiguousarray(grid.z, dtype=np.float64))
    low, high = slope.bounds
    coarsest = np.sqrt(np.prod(high[:2] - low[:2]) / LARGEST_GRID)
    asked = max(slope.spacing, coarsest)
    columns, rows = (max(int(np.ceil(side / asked)), 1) + 1 for side in high[:2] - low[:2])
    x, y = np.linspace(low[0], high[0], columns), np.linspace(low[1], high[1], rows)
    heights = np.empty((rows, columns))
    for row in range(rows):  # one row at a time: few points in memory at once
        heights[row] = slope.height(x, np.full(columns, y[row]))
    return Ground(float(x[0]), float(y[0]), float(x[1] - x[0]), float(y[1] - y[0]), heights)


def height_at(ground: Ground, x, y) -> np.ndarray:
    """Height of the ground at points [m]; NaN where there is none."""
    u = (np.asarray(x, float) - ground.x0) / ground.dx
    w = (np.asarray(y, float) - ground.y0) / ground.dy
    rows, columns = ground.heights.shape
    inside = (u >= 0) & (u <= columns - 1) & (w >= 0) & (w <= rows - 1)
    c = np.minimum(np.where(inside, u, 0).astype(int), columns - 2)
    r = np.minimum(np.where(inside, w, 0).astype(int), rows - 2)
    p, q, z = u - c, w - r, ground.heights
    sw, se, nw, ne = z[r, c], z[r, c + 1], z[r + 1, c], z[r + 1, c + 1]
    east = sw + p * (se - sw) + q * (ne - se)
    west = sw + q * (nw - sw) + p * (ne - nw)
    whole = inside & np.isfinite(sw + se + nw + ne)
    return np.where(whole, np.where(p >= q, east, west), np.nan)
