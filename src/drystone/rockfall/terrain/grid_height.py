"""Heights over a regular grid whose cells are two triangles each.

Compiled, for every start of a rock asks for a few points, where array code costs 0.1 ms a call.
"""

from math import floor, isfinite, nan

import numpy as np

from drystone.jit import kernel

ON_NODE = 1e-9  # of a cell: a point so near a node is on it, and gets its height to the last digit


def heights_on_grid(grid, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Height over points (any shape) of a HeightGrid; NaN in holes and outside."""
    found = np.empty(x.size)
    flat = np.ascontiguousarray(x).reshape(-1), np.ascontiguousarray(y).reshape(-1)
    spacing = float(grid.x0), float(grid.y0), float(grid.dx), float(grid.dy)
    z = np.ascontiguousarray(grid.z, dtype=np.float64)
    interpolate_heights(z, *spacing, *flat, found)
    return found.reshape(x.shape)


@kernel
def interpolate_heights(
    # in
    z, x0, y0, dx, dy, x, y,
    # out
    found,
):  # fmt: skip
    """Southern row of z first; each cell is cut from south-west to north-east."""
    rows, columns = z.shape
    for p in range(x.shape[0]):
        found[p] = nan
        u, v = _snapped((x[p] - x0) / dx), _snapped((y[p] - y0) / dy)
        if not (0.0 <= u <= columns - 1 and 0.0 <= v <= rows - 1):
            continue
        # A point on the edge of a cell may belong to the ground of the one before it.
        for back in range(4):
            j = min(max(floor(u) - back % 2, 0), columns - 2)
            i = min(max(floor(v) - back // 2, 0), rows - 2)
            a, b = u - j, v - i
            if a <= 1.0 and b <= 1.0:
                height = _height_in_cell(z, i, j, a, b)
                if isfinite(height):
                    found[p] = height
                    break


@kernel
def _height_in_cell(z, i, j, a, b):
    """Height in cell (i, j) at shares a, b of its sides; NaN if it is a hole."""
    south_west, south_east = z[i, j], z[i, j + 1]
    north_west, north_east = z[i + 1, j], z[i + 1, j + 1]
    if not isfinite(south_west + south_east + north_west + north_east):
        return nan
    # As weights, so that each corner has its own height to the last digit.
    if a >= b:
        return (1.0 - a) * south_west + (a - b) * south_east + b * north_east
    return (1.0 - b) * south_west + (b - a) * north_west + a * north_east


@kernel
def _snapped(u):
    nearest = floor(u + 0.5) * 1.0
    return nearest if abs(u - nearest) < ON_NODE else u
