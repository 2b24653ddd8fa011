"""Initial placement: a rock on the slope, near its source point, free of contact.

The rock's bounding sphere is put on the ground along the ground's normal and moved on along it
until no triangle is nearer than its radius. So a rock of any shape and orientation starts free of
the ground, at most its own size above it.
"""

from math import floor

import numpy as np

from drystone.jit import kernel
from drystone.jit.vec import cross, dot, load, mad, sub
from drystone.shapes.sdf.point_triangle import triangle_distance

SPARE = 1e-3  # of the radius: how much farther out the sphere is moved than it must
FARTHEST = 4.0  # radii: beyond it the place is a slot that the rock does not fit in
ON_SLOPE = 1e-9  # of the way to the centre: nearer to the point it is the slope there
UP = np.array([0.0, 0.0, 1.0])
TRIES = 200  # moves; each closes the gap to FARTHEST or to freedom


@kernel
def _clearance(p, reach, vertices, triangles, low, cell, shape, start, listed):
    """Distance of point p to the nearest triangle, or `reach` if none is so near."""
    j0 = max(floor((p[0] - reach - low[0]) / cell), 0)
    j1 = min(floor((p[0] + reach - low[0]) / cell), shape[0] - 1)
    i0 = max(floor((p[1] - reach - low[1]) / cell), 0)
    i1 = min(floor((p[1] + reach - low[1]) / cell), shape[1] - 1)
    least = reach
    for i in range(i0, i1 + 1):
        for j in range(j0, j1 + 1):
            k = i * shape[0] + j
            for q in range(start[k], start[k + 1]):
                t = listed[q]
                a, b = load(vertices, triangles[t, 0]), load(vertices, triangles[t, 1])
                c = load(vertices, triangles[t, 2])
                least = min(least, triangle_distance(p, a, b, c))
    return least


@kernel
def move_free(
    # slope and its plan index
    vertices, triangles, low, cell, shape, start, listed,
    # in
    point, normal, radius,
    # out
    centre,
):  # fmt: skip
    """Centre of a sphere on the ground at `point` that touches nothing; False if there is none."""
    p, n = load(point, 0), load(normal, 0)
    out, target = radius * (1.0 + SPARE), radius * (1.0 + SPARE)
    for _ in range(TRIES):
        c = mad(p, n, out)
        gap = _clearance(c, target, vertices, triangles, low, cell, shape, start, listed)
        if gap >= radius:
            centre[0, 0], centre[0, 1], centre[0, 2] = c
            return True
        out += target - gap
        if out > FARTHEST * radius:
            return False
    return False


@kernel
def passages(p, c, vertices, triangles, low, cell, shape, start, listed):
    """How often the way from p, on the slope, to c passes through it elsewhere."""
    j0 = max(floor((min(p[0], c[0]) - low[0]) / cell), 0)
    j1 = min(floor((max(p[0], c[0]) - low[0]) / cell), shape[0] - 1)
    i0 = max(floor((min(p[1], c[1]) - low[1]) / cell), 0)
    i1 = min(floor((max(p[1], c[1]) - low[1]) / cell), shape[1] - 1)
    way, count = sub(c, p), 0
    for i in range(i0, i1 + 1):
        for j in range(j0, j1 + 1):
            k = i * shape[0] + j
            for q in range(start[k], start[k + 1]):
                t = listed[q]
                a = load(vertices, triangles[t, 0])
                u, v = (
                    sub(load(vertices, triangles[t, 1]), a),
                    sub(load(vertices, triangles[t, 2]), a),
                )
                normal = cross(u, v)
                rate = dot(normal, way)
                if rate == 0.0:
                    continue
                s = -dot(normal, sub(p, a)) / rate
                if not ON_SLOPE < s <= 1.0:
                    continue
                x = sub(mad(p, way, s), a)
                size = dot(normal, normal)
                b, d = dot(cross(x, v), normal) / size, dot(cross(u, x), normal) / size
                # A triangle is listed in all cells that it touches: it counts in that of the place.
                here = floor((x[0] + a[0] - low[0]) / cell) == j
                if b >= 0.0 and d >= 0.0 and b + d < 1.0 and here:
                    count += floor((x[1] + a[1] - low[1]) / cell) == i
    return count


def set_down(slope, point: np.ndarray, normal: np.ndarray, radius: float) -> np.ndarray | None:
    """Where the centre of a rock of that bounding radius starts, or None if it fits nowhere.

    In a gully the way along the normal may end at its other wall, or lead through it into the
    ground: from there a rock starts straight above the point, if there is room.
    """
    for way in (normal, UP):
        centre = _moved_free(slope, point, way, radius)
        if centre is not None and not _is_buried(slope, point, centre):
            return centre
    return None


def _moved_free(slope, point, normal, radius: float) -> np.ndarray | None:
    centre = np.empty((1, 3))
    free = move_free(
        *_index(slope), point.reshape(1, 3), normal.reshape(1, 3), float(radius), centre
    )
    over = free and np.isfinite(slope.height(*centre[0, :2]))  # not over a hole or past the rim
    return centre[0] if over else None


def _is_buried(slope, point, centre) -> bool:
    """Whether it lies on the other side of the slope than where the way from the point began."""
    if centre[2] >= slope.height(*centre[:2]):
        return False
    if slope.grid is not None:  # which has no overhangs
        return True
    return passages(tuple(point.tolist()), tuple(centre.tolist()), *_index(slope)) % 2 == 1


def _index(slope) -> tuple:
    index = slope.plan_index
    grid = (index.low, index.cell, index.shape, index.start, index.triangle)
    return slope.vertices, slope.triangles, *grid
