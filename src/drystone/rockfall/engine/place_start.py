"""Initial placement: a rock on the slope, near its source point, free of contact.

The rock's bounding sphere is put on the ground along the ground's normal and moved on along it
until no triangle is nearer than its radius. So a rock of any shape and orientation starts free of
the ground, at most its own size above it.
"""

from math import floor

import numpy as np

from drystone.jit import kernel
from drystone.jit.vec import load, mad
from drystone.shapes.sdf.point_triangle import triangle_distance

SPARE = 1e-3  # of the radius: how much farther out the sphere is moved than it must
FARTHEST = 4.0  # radii: beyond it the place is a slot that the rock does not fit in
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


def set_down(slope, point: np.ndarray, normal: np.ndarray, radius: float) -> np.ndarray | None:
    """Where the centre of a rock of that bounding radius starts, or None if it fits nowhere."""
    index = slope.plan_index
    centre = np.empty((1, 3))
    free = move_free(
        slope.vertices, slope.triangles, index.low, index.cell, index.shape, index.start,
        index.triangle, point.reshape(1, 3), normal.reshape(1, 3), float(radius), centre,
    )  # fmt: skip
    over = free and np.isfinite(slope.height(*centre[0, :2]))  # not over a hole or past the rim
    return centre[0] if over else None
