"""Initial overlap: a rock that overlaps the slope at its start is lifted until it touches it.

A rock that overlaps at its start has no contact that could carry it. Lifting is the least that
frees it: by bisection, so that it ends free and within TOUCH of touching. One without ground below
its centre stays where it is; its path ends there, as one that left the slope.
"""

import numpy as np

from drystone.jit import kernel
from drystone.jit.vec import load, mul_t, rotation_matrix, sub
from drystone.rockfall.engine.distance import piece_distance
from drystone.rockfall.engine.triangle_grid import find_triangles, ground_below

TOUCH = 1e-3  # parts of the radius: how much farther than needed a rock may be lifted
DOUBLINGS = 40  # from TOUCH on: beyond any terrain
TOO_MANY = -1.0


@kernel
def _overlaps(rocks, k, x, m, grid, found, simplex):
    """1 if rock k at x overlaps a triangle, 0 if not, -1 if too many are near it."""
    radius, rounding = rocks.body[k, 4], rocks.body[k, 5]
    low = (x[0] - radius, x[1] - radius, x[2] - radius)
    high = (x[0] + radius, x[1] + radius, x[2] + radius)
    near = find_triangles(grid, low, high, found)
    if near < 0:
        return -1
    for f in range(near):
        t = found[f]
        a = mul_t(m, sub(load(grid.vertex, grid.triangle[t, 0]), x))
        b = mul_t(m, sub(load(grid.vertex, grid.triangle[t, 1]), x))
        c = mul_t(m, sub(load(grid.vertex, grid.triangle[t, 2]), x))
        for piece in range(rocks.pieces[k, 0], rocks.pieces[k, 1]):
            d, _, _ = piece_distance(
                rocks.vertex, rocks.piece_vertex[piece], rocks.piece_vertex[piece + 1], a, b, c,
                (0.0, 0.0, 1.0), simplex,
            )  # fmt: skip
            if d <= rounding:
                return 1
    return 0


@kernel
def _least_lift(rocks, k, start, grid, found, simplex):
    """How far rock k has to go up to be free [m]; TOO_MANY if too many triangles are near."""
    x, z = start[k, 0], start[k, 2]
    y = start[k, 1]
    m = rotation_matrix(start[k, 3], start[k, 4], start[k, 5], start[k, 6])
    below, _ = ground_below(grid, x, y, z)
    state = _overlaps(rocks, k, (x, y, z), m, grid, found, simplex) if below >= 0 else 0
    low, high = 0.0, TOUCH * rocks.body[k, 4]
    if state == 0:
        return 0.0
    for _ in range(DOUBLINGS):
        if state < 1:
            break
        state = _overlaps(rocks, k, (x, y, z + high), m, grid, found, simplex)
        if state == 1:
            low, high = high, 2.0 * high
    while state >= 0 and high - low > TOUCH * rocks.body[k, 4]:
        middle = 0.5 * (low + high)
        state = _overlaps(rocks, k, (x, y, z + middle), m, grid, found, simplex)
        low, high = (middle, high) if state == 1 else (low, middle)
    return high if state >= 0 else TOO_MANY


@kernel
def find_lifts(rocks, start, grid, first, found, simplex, lifts):
    """Lifts of the rocks from `first` on; the first that could not be computed, or their number."""
    for k in range(first, start.shape[0]):
        lifts[k] = _least_lift(rocks, k, start, grid, found, simplex)
        if lifts[k] < 0.0:
            return k
    return start.shape[0]


def lift_starts(packed, table: np.ndarray, grid, capacity: int) -> np.ndarray:
    """(rocks,) how far each start of `table` (rocks, 13) has to be lifted to overlap nothing [m].

    capacity   triangles near a rock, at first
    """
    found, simplex, lifts = np.zeros(capacity, np.int32), np.zeros((8, 4)), np.zeros(len(table))
    k = find_lifts(packed, table, grid, 0, found, simplex, lifts)
    while k < len(table):
        found = np.zeros(4 * len(found), np.int32)
        k = find_lifts(packed, table, grid, k, found, simplex, lifts)
    return lifts
