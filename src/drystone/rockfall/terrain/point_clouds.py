"""Point clouds, LAS and LAZ: the points of the ground as an elevation grid, or as triangles.

Points of class 2 (ground, ASPRS) count; where a file has none of them, it was never classified,
and is refused. Each node of the grid gets the height of the plane through the three ground points
around it (a TIN, Delaunay), so that gaps between points are bridged; nodes outside all triangles,
and those in triangles with a side longer than GAP cells, are holes. As a mesh the triangles
themselves are the ground, so that edges keep their form.
"""

from pathlib import Path

import numpy as np

from drystone.errors import InputError
from drystone.rockfall.terrain.raster_files import Raster
from drystone.rockfall.terrain.reading_apart import opened_apart

SUFFIXES = (".las", ".laz")
FARTHEST = 1e8  # [m] from the origin of a map: the Earth is 4e7 m around
GAP = 20.0  # cells: longer sides span what was not surveyed
MOST_TRIANGLES = 8_000_000  # of a mesh: rolling on 4 million takes 1.3 GB
POINTS_IN_CELL = 4.0  # a cell that is not given holds so many points on average
# A point has two triangles, and one as large as GAP allows covers 200 cells: a grid of more cells
# than that is holes for the most part.
FREE_CELLS, CELLS_OF_POINT = 1_000_000, 400


def read_point_cloud(path: Path, cell: float | None) -> Raster:
    """Heights at nodes every `cell` metres; None: about four points a cell."""
    x, y, z, crs = _ground_points(path)
    box = np.array([x.min(), y.min(), x.max(), y.max()])
    area = (box[2] - box[0]) * (box[3] - box[1])
    if not area > 0.0:
        raise InputError(f"{path.name}: its points of the ground lie on a line, not on an area.")
    step = cell or float(np.round(np.sqrt(POINTS_IN_CELL * area / len(x)), 2)) or 0.01
    first, last = np.ceil(box[:2] / step) * step, np.floor(box[2:] / step) * step
    columns, rows = (np.floor((last - first) / step + 1e-9).astype(int) + 1).tolist()
    if columns * rows > FREE_CELLS + CELLS_OF_POINT * len(x):
        raise InputError(
            f"{path.name}: cells of {step:g} m make a grid of {columns} x {rows}, too many for "
            f"{len(x):,} points of the ground. Set terrain.cell_m."
        )
    if min(columns, rows) < 2 or columns * rows > 50_000_000:
        raise InputError(
            f"{path.name}: cells of {step:g} m make a grid of {columns} x {rows}; must be 2 x 2 to "
            f"50,000,000 cells. Set terrain.cell_m."
        )
    local = x - box[0], y - box[1], z
    values = _interpolate(path.name, *local, first - box[:2], step, columns, rows)
    return Raster(values, float(first[0]), float(first[1]), step, step, crs)


def triangulate_cloud(path: Path, cell: float | None) -> tuple[np.ndarray, np.ndarray, str | None]:
    """Vertices (n, 3), triangles (m, 3) counter-clockwise from above, and the system of the file.

    cell   of the points in each cell of that size the one nearest to its middle is taken; None: all
    """
    x, y, z, crs = _ground_points(path)
    points = np.column_stack([x, y, z])
    if cell is not None:
        points = points[_one_in_each(points, cell)]
    if 2 * len(points) > MOST_TRIANGLES:
        raise InputError(
            f"{path.name}: {len(points):,} points make about {2 * len(points):,} triangles, must "
            f"be at most {MOST_TRIANGLES:,}. Thin them: terrain.cell_m takes one in each cell."
        )
    middle = np.round(points.mean(axis=0)) * (1.0, 1.0, 0.0)
    triangles = _delaunay(path.name, (points - middle)[:, :2]).simplices
    corners = points[triangles, :2]
    u, v = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    turned = u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0] < 0.0
    triangles[turned] = triangles[turned][:, ::-1]
    area = np.prod(np.ptp(points[:, :2], axis=0))
    sides = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).max(axis=1)
    triangles = triangles[sides <= GAP * (cell or np.sqrt(area / len(points)))]
    used = np.unique(triangles)  # of points at the same place one is
    number = np.zeros(len(points), np.int32)
    number[used] = np.arange(len(used))
    return points[used], number[triangles], crs


def _one_in_each(points: np.ndarray, cell: float) -> np.ndarray:
    """Rows of the points nearest to the middles of square cells."""
    place = (points[:, :2] - points[:, :2].min(axis=0)) / cell
    column, row = np.floor(place).astype(np.int64).T
    key = row * (column.max() + 1) + column
    away = np.abs(place - np.floor(place) - 0.5).max(axis=1)
    order = np.lexsort((away, key))
    first = np.append(True, np.diff(key[order]) != 0)
    return np.sort(order[first])


def _delaunay(name: str, points: np.ndarray):
    from scipy.spatial import Delaunay, QhullError

    try:
        return Delaunay(points)
    except QhullError:
        raise InputError(
            f"{name}: its points of the ground lie on a line, not on an area."
        ) from None


def _ground_points(path: Path):
    with opened_apart(path, "laspy", "las_process.py", "a point cloud") as stream:
        places, count, crs = (np.load(stream, allow_pickle=False) for _ in range(3))
    x, y, z = places
    if len(x) < 3:
        raise InputError(
            f"{path.name}: {len(x)} of {int(count):,} points are of the class ground (2). "
            f"Classify it first, for example with pdal's filters.smrf."
        )
    if not np.abs(places).max() < FARTHEST:
        raise InputError(
            f"{path.name}: a coordinate is not finite, or beyond {FARTHEST:g} m. Are the scales "
            f"and offsets of its header right?"
        )
    return x, y, z, str(crs) or None


def _interpolate(name, x, y, z, first, step, columns, rows) -> np.ndarray:
    points = np.column_stack([x, y])
    tin = _delaunay(name, points)
    corners = points[tin.simplices]
    sides = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).max(axis=1)
    values = np.full((rows, columns), np.nan)
    u = first[0] + step * np.arange(columns)
    for row in range(rows):
        at = np.column_stack([u, np.full(columns, first[1] + step * row)])
        which = tin.find_simplex(at)
        good = (which >= 0) & (sides[which] <= GAP * step)
        change = tin.transform[which[good]]
        share = np.einsum("ijk,ik->ij", change[:, :2], at[good] - change[:, 2])
        weights = np.column_stack([share, 1.0 - share.sum(axis=1)])
        values[row, good] = (weights * z[tin.simplices[which[good]]]).sum(axis=1)
    return values
