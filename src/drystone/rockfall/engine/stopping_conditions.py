"""Stopping conditions: when a trajectory ends (ROCFALL 5.2)."""

from math import sqrt

import numpy as np

from drystone.jit import kernel
from drystone.jit.vec import add, dot, load, mul, norm, scale, sub
from drystone.rockfall.engine.records import LEFT, POSITION

NOT_YET = -1


@kernel
def outside(grid, x, over_ground):
    """POSITION out of the box of the slope (5.2.1; not through its top), LEFT off its triangles."""
    if (
        x[0] < grid.low[0] or x[1] < grid.low[1] or x[2] < grid.low[2]
        or x[0] > grid.high[0] or x[1] > grid.high[1]
    ):  # fmt: skip
        return POSITION
    return NOT_YET if over_ground else LEFT


@kernel
def is_still(v, w, radius, speed):
    """Whether nothing moves as fast as `speed`; never for 0."""
    return norm(v) < speed and norm(w) * radius < speed


@kernel
def is_balanced(v0, w0, v1, w1, radius, h, limit):
    """Whether forces over a step of `h` seconds cancel up to `limit` [m/s²] (5.2.2)."""
    dv, dw = sub(v1, v0), sub(w1, w0)
    return norm(dv) <= limit * h and sqrt(dot(dw, dw)) * radius <= limit * h


@kernel
def clear_boxes(boxes):
    """Empty the boxes of the three points (5.2.3): rows 0 to 2 lower, 3 to 5 upper corners."""
    for i in range(3):
        for k in range(3):
            boxes[i, k], boxes[3 + i, k] = np.inf, -np.inf


@kernel
def grow_boxes(boxes, x, m, radius):
    """Take in the centre of mass and the points at one radius on the rock's x and y axes."""
    for i in range(3):
        p = x
        if i > 0:
            p = add(x, scale(mul(m, (1.0 if i == 1 else 0.0, 1.0 if i == 2 else 0.0, 0.0)), radius))
        for k in range(3):
            boxes[i, k] = min(boxes[i, k], p[k])
            boxes[3 + i, k] = max(boxes[3 + i, k], p[k])


@kernel
def are_small(boxes, size):
    """Whether all boxes are shorter than `size` [m] along all axes; never for 0."""
    for i in range(3):
        d = sub(load(boxes, 3 + i), load(boxes, i))
        if max(d[0], max(d[1], d[2])) >= size:
            return False
    return True
