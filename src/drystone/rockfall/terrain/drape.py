"""Lines of the map laid on the ground: a point wherever the ground bends below them.

Between two such points the ground below the line is one plane, so that the line follows it exactly:
no gully is bridged. On a grid the ground bends where the line crosses a row, a column or a diagonal
of its cells, on a mesh where it crosses an edge.
"""

import numpy as np

from drystone.errors import InputError
from drystone.rockfall.optional_packages import load

APART = 1e-9  # parts of a piece of line: bends nearer to each other are one
BESIDE = 1e-7  # parts of a piece: how far left and right of an edge of a mesh its height is taken


def drape(slope, line: np.ndarray) -> np.ndarray:
    """(n, 3) points along a local line, on the ground, which is straight between them."""
    shapely = load("shapely", "Geometry")
    dense = shapely.get_coordinates(
        shapely.segmentize(shapely.LineString(line[:, :2]), slope.spacing)
    )
    pieces = [dense[:1]]
    for start, end in zip(dense[:-1], dense[1:], strict=True):
        share = _bends(slope, start, end)
        points = start + share[:, None] * (end - start)
        pieces += [points, end[None]]
    points = np.concatenate(pieces)
    z = slope.height(points[:, 0], points[:, 1])
    lost = np.flatnonzero(np.isnan(z))
    if len(lost):
        x, y = points[lost[0]] + slope.origin[:2]
        raise InputError(
            f"the line leaves the ground at x = {x:.10g}, y = {y:.10g}: there is a hole or the end "
            f"of {slope.name}. Shorten the line or mend the terrain."
        )
    return np.column_stack([points, z])


def _bends(slope, start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Shares of the way from start to end at which the ground bends, in their order."""
    if slope.grid is not None:
        share = _grid_bends(slope.grid, start, end)
    else:
        share = _mesh_bends(slope, start, end)
        # Over an overhang the highest surface jumps at its rim: take the height on both sides.
        share = np.concatenate([share - BESIDE, share + BESIDE])
    share = np.sort(share[(share > APART) & (share < 1.0 - APART)])
    return share[np.diff(share, prepend=-1.0) > APART]


def _grid_bends(grid, start, end) -> np.ndarray:
    u = (np.array([start[0], end[0]]) - grid.x0) / grid.dx
    v = (np.array([start[1], end[1]]) - grid.y0) / grid.dy
    found = []
    for first, last in (u, v, u - v):  # columns, rows, diagonals
        low, high = sorted((first, last))
        lines = np.arange(np.ceil(low), np.floor(high) + 1.0)
        if last != first:
            found.append((lines - first) / (last - first))
    return np.concatenate([np.empty(0), *found])


def _mesh_bends(slope, start, end) -> np.ndarray:
    """Where the piece crosses edges of triangles in plan."""
    plan = slope.vertices[:, :2]
    low, high = np.minimum(start, end), np.maximum(start, end)
    left, right = slope.plan_box
    near = np.flatnonzero((left <= high).all(axis=1) & (right >= low).all(axis=1))
    along = end - start
    found = []
    for k in range(3):
        a = plan[slope.triangles[near, k]]
        edge = plan[slope.triangles[near, (k + 1) % 3]] - a
        side = along[0] * edge[:, 1] - along[1] * edge[:, 0]
        away = a - start
        with np.errstate(divide="ignore", invalid="ignore"):
            share = (away[:, 0] * edge[:, 1] - away[:, 1] * edge[:, 0]) / side
            place = (away[:, 0] * along[1] - away[:, 1] * along[0]) / side
            found.append(share[(place >= -APART) & (place <= 1.0 + APART)])
    return np.concatenate(found)
