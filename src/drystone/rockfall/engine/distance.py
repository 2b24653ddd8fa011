"""GJK: distance between a convex piece of a rock and a triangle or segment of the slope.

The algorithm of Gilbert, Johnson and Keerthi, in the axes of the rock, where its corners do not
move. The simplex lies in the Minkowski difference rock - slope; `simplex` is scratch of shape
(8, 4): rows 0 to 3 are corners of the difference with their weight, rows 4 to 7 the corner of the
slope that each came from. Closest points of triangles are those of the engine's GJK
(collision/narrowphase/gjk.py). The loop is our own, in rounding alone: one for both would change
the last digits of every trajectory (docs/rockfall.md, "Why there are two engines").
"""

from math import inf, sqrt

from drystone.collision.narrowphase.gjk import triangle_weights
from drystone.jit import kernel
from drystone.jit.vec import cross, dot, load, mad, store, sub

# The distance is accepted when upper and lower bound differ by less than this part of it.
CLOSE = 1e-12

# Rounding of a product of corner and direction, as a part of the largest corner.
ROUNDING = 4e-16

MAX_ITERATIONS = 64  # polytopes need 5 to 10


@kernel
def lowest(vertex, first, last, d):
    """Corner of a piece that is lowest along `d` (rock axes), and its height."""
    best, height = first, inf
    for i in range(first, last):
        h = d[0] * vertex[i, 0] + d[1] * vertex[i, 1] + d[2] * vertex[i, 2]
        if h < height:
            best, height = i, h
    return best, height


@kernel
def _highest_of(a, b, c, d):
    """Of three points the one that is highest along `d`."""
    ha, hb, hc = dot(a, d), dot(b, d), dot(c, d)
    if ha >= hb:
        return a if ha >= hc else c
    return b if hb >= hc else c


@kernel
def _spread_weights(simplex, i, j, k, la, lb, lc):
    for row in range(4):
        simplex[row, 3] = 0.0
    simplex[i, 3], simplex[j, 3], simplex[k, 3] = la, lb, lc


@kernel
def _weigh(simplex, count):
    """Weights of the point of the simplex closest to the origin; False if the origin is inside."""
    if count < 4:
        # A missing corner repeats the last one: triangle_weights knows flat triangles.
        a, b = load(simplex, 0), load(simplex, min(count - 1, 1))
        c = load(simplex, count - 1)
        la, lb, lc, _ = triangle_weights(a, b, c)
        if count == 2:
            lb, lc = lb + lc, 0.0
        _spread_weights(simplex, 0, 1, 2, la, lb, lc)
        return True
    best, inside = inf, True
    for skip in range(4):
        i, j, k = (skip + 1) % 4, (skip + 2) % 4, (skip + 3) % 4
        a, b, c = load(simplex, i), load(simplex, j), load(simplex, k)
        n = cross(sub(b, a), sub(c, a))
        # The origin is inside if it lies on the same side of each face as the corner across.
        if not dot(n, a) * dot(n, sub(a, load(simplex, skip))) > 0.0:
            inside = False
        la, lb, lc, vv = triangle_weights(a, b, c)
        if vv < best:
            best = vv
            _spread_weights(simplex, i, j, k, la, lb, lc)
    return not inside


@kernel
def _drop_unused(simplex, count):
    """Keep the corners with weight; how many."""
    kept = 0
    for i in range(count):
        if simplex[i, 3] > 0.0:
            if i > kept:
                for k in range(4):
                    simplex[kept, k] = simplex[i, k]
                    simplex[kept + 4, k] = simplex[i + 4, k]
            kept += 1
    return kept


@kernel
def _weighted(simplex, first, count):
    v = (0.0, 0.0, 0.0)
    for i in range(count):
        v = mad(v, load(simplex, first + i), simplex[i, 3])
    return v


@kernel
def piece_distance(vertex, first, last, a, b, c, guess, simplex):
    """Distance [m] of the corners first..last of a rock to the triangle a, b, c.

    All in rock axes; a segment repeats one end. `guess` points from the slope to the rock. Also
    returns the unit vector from the slope to the rock and the closest point of the slope.
    The distance is 0, and the vector meaningless, when they overlap.
    """
    v, vv, largest = guess, inf, 0.0
    spot, count, apart = a, 0, False
    for _ in range(MAX_ITERATIONS):
        i, _ = lowest(vertex, first, last, v)
        corner = _highest_of(a, b, c, v)
        w = sub(load(vertex, i), corner)
        largest = max(largest, dot(w, w))
        # A direction that separates them: then a flat simplex about the origin is rounding.
        apart = apart or dot(v, w) > ROUNDING * sqrt(largest * dot(v, v))
        if count > 0 and vv - dot(v, w) <= CLOSE * vv + ROUNDING * sqrt(largest * vv):
            break
        store(simplex, count, w)
        store(simplex, count + 4, corner)
        simplex[count, 3] = 1.0
        if count > 0 and not _weigh(simplex, count + 1) and not apart:
            return 0.0, guess, spot
        kept = _drop_unused(simplex, count + 1)
        new = _weighted(simplex, 0, kept)
        new_vv = dot(new, new)
        if count > 0 and new_vv >= vv:  # rounding: no descent left, the last point stands
            break
        v, vv, count = new, new_vv, kept
        spot = _weighted(simplex, 4, count)
        if vv <= ROUNDING * ROUNDING * largest:
            return 0.0, guess, spot
    length = sqrt(vv)
    return length, (v[0] / length, v[1] / length, v[2] / length), spot
