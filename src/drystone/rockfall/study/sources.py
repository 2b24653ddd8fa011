"""Where rocks start: points, lines, and areas sampled by their true area in space.

An area is a list of triangles of the slope, clipped to a polygon of the map. They are drawn in
proportion to their area in space, not on the map: a steep face sends as many rocks per square
metre of rock as a gentle one. A line is drawn by its length in space.
"""

from typing import NamedTuple

import numpy as np

from drystone.errors import InputError
from drystone.rockfall.engine.barriers import drape
from drystone.rockfall.optional_packages import load

LOST = 0.01  # share of a source polygon that may lie over holes: rims of cells, not more


class Place(NamedTuple):
    """A point of a source, local coordinates."""

    point: np.ndarray  # (3,) on the ground, or the centre of mass itself if `exact`
    normal: np.ndarray  # (3,) outward from the ground
    exact: bool = False


class PointSource(NamedTuple):
    points: np.ndarray  # (n, 3)
    normals: np.ndarray  # (n, 3)
    exact: bool

    def place(self, u) -> Place:
        k = min(int(u[0] * len(self.points)), len(self.points) - 1)
        return Place(self.points[k], self.normals[k], self.exact)

    @property
    def size(self) -> str:
        return f"{len(self.points)} points"


class LineSource(NamedTuple):
    start: np.ndarray  # (n, 3) of each piece
    end: np.ndarray  # (n, 3)
    normals: np.ndarray  # (n, 3)
    upto: np.ndarray  # (n,) length in space up to the end of each piece [m]

    def place(self, u) -> Place:
        along = u[0] * self.upto[-1]
        k = min(int(np.searchsorted(self.upto, along, side="right")), len(self.upto) - 1)
        before = self.upto[k - 1] if k else 0.0
        share = (along - before) / (self.upto[k] - before)
        return Place(self.start[k] + share * (self.end[k] - self.start[k]), self.normals[k])

    @property
    def size(self) -> str:
        return f"{self.upto[-1]:.4g} m"


class AreaSource(NamedTuple):
    corners: np.ndarray  # (n, 3, 3) triangles
    normals: np.ndarray  # (n, 3)
    upto: np.ndarray  # (n,) area in space up to and with each [m²]

    def place(self, u) -> Place:
        k = np.searchsorted(self.upto, u[0] * self.upto[-1], side="right")
        k = min(int(k), len(self.upto) - 1)
        root = np.sqrt(u[1])  # even over a triangle
        a, b, c = self.corners[k]
        point = (1.0 - root) * a + root * (1.0 - u[2]) * b + root * u[2] * c
        return Place(point, self.normals[k])

    @property
    def size(self) -> str:
        return f"{self.upto[-1]:.4g} m²"


def point_source(slope, points: np.ndarray) -> PointSource:
    """Local points (n, 2), set on the ground, or (n, 3): where the centre of mass starts."""
    z = slope.height(points[:, 0], points[:, 1])
    lost = np.flatnonzero(np.isnan(z))
    if len(lost):
        x, y = points[lost[0], :2] + slope.origin[:2]
        raise InputError(
            f"there is no ground at x = {x:.10g}, y = {y:.10g}: a hole or the outside of "
            f"{slope.name}. Move the point or mend the terrain."
        )
    exact = points.shape[1] == 3
    if exact and (points[:, 2] <= z).any():
        k = int(np.argmax(points[:, 2] <= z))
        raise InputError(
            f"point {k} is at a height of {points[k, 2]:.7g} m, below the ground at {z[k]:.7g} m. "
            f"Raise it, or leave the height out to set it on the ground."
        )
    on_ground = points if exact else np.column_stack([points, z])
    return PointSource(on_ground, _normals(slope, points[:, :2]), exact)


def line_source(slope, lines: list[np.ndarray]) -> LineSource:
    """Local lines (n, 2), set on the ground."""
    draped = [drape(slope, line) for line in lines]
    start = np.concatenate([line[:-1] for line in draped])
    end = np.concatenate([line[1:] for line in draped])
    length = np.linalg.norm(end - start, axis=1)
    normals = _normals(slope, 0.5 * (start + end)[:, :2])
    return LineSource(start, end, normals, np.cumsum(length))


def area_source(slope, polygon=None, steeper_deg: float | None = None) -> AreaSource:
    """The slope within a local polygon, or where it is at least so steep, or both."""
    area = slope.area_vectors()
    keep = np.ones(len(area), dtype=bool)
    if steeper_deg is not None:
        with np.errstate(invalid="ignore", divide="ignore"):
            up = area[:, 2] / np.linalg.norm(area, axis=1)
        keep &= up <= np.cos(np.radians(steeper_deg))
    corners, owner = slope.vertices[slope.triangles[keep]], np.flatnonzero(keep)
    if polygon is not None:
        if steeper_deg is None:
            _require_ground(slope, polygon)
        corners, part = _clip(corners, polygon)
        owner = owner[part]
    a, b, c = (corners[:, k] for k in range(3))
    size = 0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1)
    there = size > 0.0
    if not there.any():
        steep = f" steeper than {steeper_deg:g} degrees" if steeper_deg is not None else ""
        where = " in its polygon" if polygon is not None else ""
        raise InputError(f"is empty: there is no ground{steep}{where}. Enlarge it.")
    normals = area[owner[there]]
    normals = normals / np.linalg.norm(normals, axis=1)[:, None]
    return AreaSource(corners[there], normals, np.cumsum(size[there]))


def _clip(corners: np.ndarray, polygon) -> tuple[np.ndarray, np.ndarray]:
    """Triangles within the polygon, those on its rim cut into smaller ones, and of which each is.

    Upright triangles are lines on the map: they count as a whole where their middle does.
    """
    shapely = load("shapely", "Geometry")
    low, high = corners[:, :, :2].min(axis=1), corners[:, :, :2].max(axis=1)
    west, south, east, north = polygon.bounds
    near = (high >= (west, south)).all(axis=1) & (low <= (east, north)).all(axis=1)
    rows = np.flatnonzero(near)
    flat = corners[rows, :, :2]
    shapely.prepare(polygon)
    u, v = flat[:, 1] - flat[:, 0], flat[:, 2] - flat[:, 0]
    upright = np.abs(u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0]) < 1e-12
    middle = flat.mean(axis=1)
    shapes = shapely.polygons(flat)
    whole = np.where(
        upright, shapely.contains_xy(polygon, middle[:, 0], middle[:, 1]),
        shapely.contains(polygon, shapes),
    )  # fmt: skip
    cut = np.flatnonzero(~upright & ~whole & shapely.intersects(polygon, shapes))
    pieces, owner = [corners[rows[whole]]], [rows[whole]]
    for k in cut:
        part = _pieces(shapely.intersection(shapes[k], polygon))
        pieces.append(_lift(part, corners[rows[k]]))
        owner.append(np.full(len(part), rows[k]))
    return np.concatenate(pieces), np.concatenate(owner).astype(np.int64)


def _pieces(shape) -> np.ndarray:
    """(n, 3, 2) triangles that fill a polygon; none for a line or point."""
    shapely = load("shapely", "Geometry")
    parts = [p for p in shapely.get_parts(shape) if p.geom_type == "Polygon" and p.area > 0.0]
    triangles = [
        shapely.get_coordinates(t)[:3]
        for part in parts
        for t in shapely.get_parts(shapely.constrained_delaunay_triangles(part))
    ]
    return np.array(triangles).reshape(-1, 3, 2)


def _lift(flat: np.ndarray, triangle: np.ndarray) -> np.ndarray:
    """Points of the map (n, 3, 2) on the plane of a triangle (3, 3)."""
    a, b, c = triangle
    frame = np.column_stack([b[:2] - a[:2], c[:2] - a[:2]])
    share = np.linalg.solve(frame, (flat - a[:2]).reshape(-1, 2).T)
    z = a[2] + share[0] * (b[2] - a[2]) + share[1] * (c[2] - a[2])
    return np.concatenate([flat, z.reshape(len(flat), 3, 1)], axis=2)


def _require_ground(slope, polygon) -> None:
    """A source must not silently lose a part of itself to a hole."""
    shapely = load("shapely", "Geometry")
    west, south, east, north = polygon.bounds
    step = max(slope.spacing, np.sqrt(polygon.area / 20_000.0))
    x, y = np.meshgrid(np.arange(west, east, step), np.arange(south, north, step))
    inside = shapely.contains_xy(polygon, x.ravel(), y.ravel())
    x, y = x.ravel()[inside], y.ravel()[inside]
    lost = np.isnan(slope.height(x, y))
    if len(x) and lost.mean() > LOST:
        k = int(np.argmax(lost))
        raise InputError(
            f"{100 * lost.mean():.2g} % of its polygon has no ground below it, for example at x = "
            f"{x[k] + slope.origin[0]:.10g}, y = {y[k] + slope.origin[1]:.10g}: a hole or the "
            f"outside of {slope.name}. Cut the polygon back or mend the terrain."
        )


def _normals(slope, xy: np.ndarray) -> np.ndarray:
    """Of the ground at local points, by differences; upright where a neighbour is missing."""
    step = 0.25 * slope.spacing
    x, y = xy[:, 0], xy[:, 1]
    east = slope.height(x + step, y) - slope.height(x - step, y)
    north = slope.height(x, y + step) - slope.height(x, y - step)
    normal = np.column_stack([-east, -north, np.full(len(xy), 2.0 * step)])
    normal[np.isnan(normal).any(axis=1)] = (0.0, 0.0, 1.0)
    return normal / np.linalg.norm(normal, axis=1)[:, None]
