"""GJK: distance between two convex cores by the algorithm of Gilbert, Johnson and Keerthi.

It walks through the Minkowski difference A - B by support points, with a simplex of up to four of
them whose point closest to the origin is found from signed volumes [Montanari2017]. A core is a
shape without its rounding radius, known by its support function (shapes/kinds.py). Directions
are world axes; points are relative to the position of shape A, so that nothing is lost far from
the origin. The simplex (reduce_simplex, weighted_point, is_known) knows nothing of shapes and
serves any two support functions.
"""

from math import inf, sqrt

from drystone.jit import inner_kernel, kernel
from drystone.jit.vec import add, cross, dot, load, mad, scale, store, sub
from drystone.shapes.kinds import core_support

# Rows of `scratch` where the simplex lives: vertices of A - B with their weight, then points of A.
SIMPLEX, OF_A = 240, 244

# The distance is accepted when its upper and lower bound differ by less than this part of it.
# The error of the direction is the square root, and that of the separation along it again
# of first power: 1e-13 keeps both far below what a step can feel.
CLOSE = 1e-13

# Rounding of a product of vertex and direction, as a part of the largest vertex.
ROUNDING = 4e-16

MAX_ITERATIONS = 128  # polytopes need 5 to 10, rims of cylinders up to 40


@kernel
def separation(shapes, pose, a, b, offset, n):
    """Gap between the cores along unit `n`: min over B of n.x less max over A of n.x [m].

    `offset` leads from the position of A to that of B.
    """
    pa = core_support(shapes, pose, a, n)
    pb = core_support(shapes, pose, b, (-n[0], -n[1], -n[2]))
    return dot(n, offset) + dot(n, pb) - dot(n, pa)


@kernel
def _segment_weights(a, b):
    """Weights of the point of segment ab closest to the origin, and its squared distance."""
    e = sub(b, a)
    ee = dot(e, e)
    t = min(max(-dot(a, e) / ee, 0.0), 1.0) if ee > 0.0 else 0.0
    v = mad(a, e, t)
    return 1.0 - t, t, dot(v, v)


@inner_kernel
def triangle_weights(a, b, c):
    """Weights of the point of triangle abc closest to the origin, and its squared distance.

    Signed areas as in [Montanari2017]: an edge is tested only if the origin lies beyond it.
    """
    n = cross(sub(b, a), sub(c, a))
    nn = dot(n, n)
    wa, wb, wc = -1.0, -1.0, -1.0
    if nn > 0.0:
        p = scale(n, dot(a, n) / nn)
        pa, pb, pc = sub(a, p), sub(b, p), sub(c, p)
        wa = dot(n, cross(pb, pc)) / nn
        wb = dot(n, cross(pc, pa)) / nn
        wc = 1.0 - wa - wb
        if wa > 0.0 and wb > 0.0 and wc > 0.0:
            v = add(add(scale(a, wa), scale(b, wb)), scale(c, wc))
            return wa, wb, wc, dot(v, v)
    best, la, lb, lc = inf, 0.0, 0.0, 0.0
    if wa <= 0.0:
        s, t, vv = _segment_weights(b, c)
        if vv < best:
            best, la, lb, lc = vv, 0.0, s, t
    if wb <= 0.0:
        s, t, vv = _segment_weights(c, a)
        if vv < best:
            best, la, lb, lc = vv, t, 0.0, s
    if wc <= 0.0:
        s, t, vv = _segment_weights(a, b)
        if vv < best:
            best, la, lb, lc = vv, s, t, 0.0
    return la, lb, lc, best


@kernel
def _tetrahedron_weights(a, b, c, d):
    """Weights of the point of tetrahedron abcd closest to the origin; signed volumes."""
    va, vb = -dot(b, cross(c, d)), dot(a, cross(c, d))
    vc, vd = -dot(a, cross(b, d)), dot(a, cross(b, c))
    total = dot(sub(b, a), cross(sub(c, a), sub(d, a)))
    sign = -1.0 if total > 0.0 else 1.0
    va, vb, vc, vd = sign * va, sign * vb, sign * vc, sign * vd
    if total != 0.0 and va > 0.0 and vb > 0.0 and vc > 0.0 and vd > 0.0:
        inv = 1.0 / abs(total)
        return va * inv, vb * inv, vc * inv, vd * inv
    best, la, lb, lc, ld = inf, 0.0, 0.0, 0.0, 0.0
    if va <= 0.0 or total == 0.0:
        p, q, r, vv = triangle_weights(b, c, d)
        if vv < best:
            best, la, lb, lc, ld = vv, 0.0, p, q, r
    if vb <= 0.0 or total == 0.0:
        p, q, r, vv = triangle_weights(a, c, d)
        if vv < best:
            best, la, lb, lc, ld = vv, p, 0.0, q, r
    if vc <= 0.0 or total == 0.0:
        p, q, r, vv = triangle_weights(a, b, d)
        if vv < best:
            best, la, lb, lc, ld = vv, p, q, 0.0, r
    if vd <= 0.0 or total == 0.0:
        p, q, r, vv = triangle_weights(a, b, c)
        if vv < best:
            best, la, lb, lc, ld = vv, p, q, r, 0.0
    return la, lb, lc, ld


@inner_kernel
def reduce_simplex(scratch, count):
    """Set the weights of the closest point, drop vertices without weight; how many stay."""
    a, b = load(scratch, SIMPLEX), load(scratch, SIMPLEX + 1)
    c, d = load(scratch, SIMPLEX + 2), load(scratch, SIMPLEX + 3)
    lc, ld = 0.0, 0.0
    if count == 2:
        la, lb, _ = _segment_weights(a, b)
    elif count == 3:
        la, lb, lc, _ = triangle_weights(a, b, c)
    else:
        la, lb, lc, ld = _tetrahedron_weights(a, b, c, d)
    scratch[SIMPLEX, 3], scratch[SIMPLEX + 1, 3] = la, lb
    scratch[SIMPLEX + 2, 3], scratch[SIMPLEX + 3, 3] = lc, ld
    kept = 0
    for i in range(count):
        if scratch[SIMPLEX + i, 3] > 0.0:
            if i > kept:
                for k in range(4):
                    scratch[SIMPLEX + kept, k] = scratch[SIMPLEX + i, k]
                    scratch[OF_A + kept, k] = scratch[OF_A + i, k]
            kept += 1
    return kept


@inner_kernel
def weighted_point(scratch, first, count):
    """Sum of `count` rows from `first`, with the weights of the simplex."""
    v = (0.0, 0.0, 0.0)
    for i in range(count):
        v = mad(v, load(scratch, first + i), scratch[SIMPLEX + i, 3])
    return v


@inner_kernel
def is_known(scratch, count, w):
    """Whether `w` is a vertex of the simplex already."""
    for i in range(count):
        k = SIMPLEX + i
        if scratch[k, 0] == w[0] and scratch[k, 1] == w[1] and scratch[k, 2] == w[2]:
            return True
    return False


@kernel
def core_distance(
    # in
    shapes, pose, a, b, offset, guess, limit,
    # scratch
    scratch,
):  # fmt: skip
    """Distance of the cores of `a` and `b` [m], direction from A to B, closest points of both.

    `offset` leads from A to B (their positions, or moved apart), `guess` is a first direction
    from A to B. Points are relative to A, that of B where it was moved to. Stops early with a lower
    bound once that exceeds `limit`. The distance is 0, and the direction meaningless,
    when the cores overlap.
    """
    v = scale(guess, -1.0)
    count, vv, largest = 0, inf, 0.0
    pa, bound = (0.0, 0.0, 0.0), 0.0
    for _ in range(MAX_ITERATIONS):
        sa = core_support(shapes, pose, a, (-v[0], -v[1], -v[2]))
        sb = core_support(shapes, pose, b, v)
        w = sub(sub(sa, sb), offset)
        largest = max(largest, dot(w, w))
        if count > 0:
            vw, length = dot(v, w), sqrt(vv)
            bound = max(bound, vw / length)
            if bound > limit:
                n = (-v[0] / length, -v[1] / length, -v[2] / length)
                return bound, n, pa, sub(pa, v)
            tolerance = CLOSE * vv + ROUNDING * sqrt(largest) * length
            if vv - vw <= tolerance or is_known(scratch, count, w):
                break
        store(scratch, SIMPLEX + count, w)
        store(scratch, OF_A + count, sa)
        kept = 1
        if count == 0:
            scratch[SIMPLEX, 3] = 1.0
        else:
            kept = reduce_simplex(scratch, count + 1)
        new = weighted_point(scratch, SIMPLEX, kept)
        new_vv = dot(new, new)
        if count > 0 and new_vv >= vv:  # rounding: no descent left, the last point stands
            break
        v, vv, count = new, new_vv, kept
        pa = weighted_point(scratch, OF_A, count)
        # Closer than the rounding of the vertices: the cores touch, as far as can be told.
        if count == 4 or vv <= ROUNDING * ROUNDING * largest:
            return 0.0, guess, pa, sub(pa, v)
    length = sqrt(vv)
    return length, (-v[0] / length, -v[1] / length, -v[2] / length), pa, sub(pa, v)
