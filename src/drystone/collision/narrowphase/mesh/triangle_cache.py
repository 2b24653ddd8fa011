"""Temporal coherence: triangle pairs that two touching meshes cache from step to step.

The traversal has found them a little farther than needed; of these, the pairs are cached whose
corners and ridges may touch by their normals. Until the two meshes have moved by that much no other
pair can be near, and most of the cached ones are known to be too far apart still. Whether a pair is
cached or found makes no difference: what is not near gives no candidate, and the rest come in the
same order. The exception is an overlap deeper than the search went; then all are found again.

Pairs of meshes that are near but do not touch cache their two closest points: the distance between
these is never shorter than that of the meshes, and nothing beyond it is tested.
"""

from math import inf, sqrt

from numba import float32

from drystone.collision.narrowphase.mesh.constants import FRONT, NEARBY
from drystone.collision.narrowphase.mesh.leaf_pairs import (
    corner_of,
    heights,
    place_a,
    place_b,
    triangle_pair,
)
from drystone.collision.narrowphase.mesh.triangle_features import (
    CORNERS_A,
    CORNERS_B,
    CROSSING,
    HOLLOW_REACH,
    LYING,
    NORMAL_A,
    NORMAL_B,
    crosses,
    in_normal_cone,
    normal_beyond,
)
from drystone.jit import inner_kernel, kernel
from drystone.jit.vec import add, cross, dot, load, mad, mul, mul_t, norm, scale, sub
from drystone.model.arrays import CACHED_TRIANGLES
from drystone.shapes.bvh.build import OWNS_CORNER, OWNS_EDGE

# A point of either moves over the planes of the other by no more than this times what the smaller
# one has moved: both are near it.
SIDES = 2.0
ROUNDED = 1e-6  # of a gap, as it is cached in single precision


@kernel
def _corner_may_touch(shapes, pair, points, at, row, limit, angle):
    """Whether a corner of one triangle may come to lie over or beside the other.

    row  number of the triangle that has the corner
    """
    is_b = at >= CORNERS_B
    v, t = (pair.vertex_b, pair.triangle_b) if is_b else (pair.vertex_a, pair.triangle_a)
    theirs, x, height = CORNERS_A if is_b else CORNERS_B, load(points, at), points[at, 3]
    n, outside = load(points, NORMAL_A if is_b else NORMAL_B), -inf
    for i in range(3):
        p = load(points, theirs + i)
        e = sub(load(points, theirs + (i + 1) % 3), p)
        outside = max(outside, -dot(cross(e, sub(x, p)), n) / sqrt(dot(e, e)))
    if height >= limit or outside > limit + HOLLOW_REACH * max(0.0, limit - height):
        return False
    if outside > -limit and height > -limit:
        return True
    down = scale(n, -1.0)
    own = mul_t(pair.r, down) if is_b else down
    return in_normal_cone(shapes, v, t, row, at % 3, own, LYING + angle)


@kernel
def _ridges_may_cross(shapes, pair, points, k_a, row_a, k_b, row_b, angle):
    """Whether edges k_a and k_b of the two triangles may touch, by the normals beside them."""
    e = sub(load(points, CORNERS_A + (k_a + 1) % 3), load(points, CORNERS_A + k_a))
    f = sub(load(points, CORNERS_B + (k_b + 1) % 3), load(points, CORNERS_B + k_b))
    n_a, n_b = load(points, NORMAL_A), load(points, NORMAL_B)
    m_a = normal_beyond(shapes, pair.triangle_a, row_a, k_a, e, n_a, False, pair.r)
    m_b = normal_beyond(shapes, pair.triangle_b, row_b, k_b, f, n_b, True, pair.r)
    tolerance2 = (CROSSING + angle) ** 2
    nf, mf, ne, me = dot(n_a, f), dot(m_a, f), dot(n_b, e), dot(m_b, e)
    for k in range(2):
        sign = 1.0 - 2.0 * k
        if crosses(nf, mf, sign, tolerance2 * dot(f, f)) and crosses(
            ne, me, sign, tolerance2 * dot(e, e)
        ):
            return True
    return False


@kernel
def _may_touch(shapes, pair, points, row_a, row_b, limit, angle):
    """Whether the triangles among the points may give candidates before they are found again."""
    own_a, own_b = shapes.owns[row_a], shapes.owns[row_b]
    for k in range(3):
        if own_a & (OWNS_CORNER << k) and _corner_may_touch(
            shapes, pair, points, CORNERS_A + k, row_a, limit, angle
        ):
            return True
        if own_b & (OWNS_CORNER << k) and _corner_may_touch(
            shapes, pair, points, CORNERS_B + k, row_b, limit, angle
        ):
            return True
    for k in range(3):
        if own_a & (OWNS_EDGE << k) == 0 or min(points[k, 3], points[(k + 1) % 3, 3]) >= limit:
            continue
        for i in range(3):
            low = min(points[CORNERS_B + i, 3], points[CORNERS_B + (i + 1) % 3, 3])
            if own_b & (OWNS_EDGE << i) and low < limit and _ridges_may_cross(
                shapes, pair, points, k, row_a, i, row_b, angle
            ):  # fmt: skip
                return True
    return False


@inner_kernel
def cache_triangles(
    # the two that meet, number of the pairs of leaves in work.leaf
    shapes, pair, found, work,
    # in: how far the two may move until the triangles are found again [m]
    far,
    # out: row p
    near, p,
):  # fmt: skip
    """Cache the pairs of triangles of these leaves that may give candidates; their number.

    -1 if they are too many.
    """
    child_link, leaf, points = shapes.child_link, work.leaf, work.points
    count, limit, angle = 0, SIDES * far, far / pair.radius
    for n in range(found):
        i, j = leaf[2 * n], leaf[2 * n + 1]
        for row_b in range(child_link[j, 0], child_link[j, 0] + child_link[j, 1]):
            place_b(shapes, pair, row_b, points)
            b0, b1 = load(points, CORNERS_B), load(points, CORNERS_B + 1)
            b2, n_b = load(points, CORNERS_B + 2), load(points, NORMAL_B)
            for row_a in range(child_link[i, 0], child_link[i, 0] + child_link[i, 1]):
                a0 = corner_of(shapes, pair.vertex_a, row_a, 0)
                a1 = corner_of(shapes, pair.vertex_a, row_a, 1)
                a2 = corner_of(shapes, pair.vertex_a, row_a, 2)
                n_a = load(shapes.triangle_normal, row_a)
                hb = heights(n_a, a0, b0, b1, b2)
                ha = heights(n_b, b0, a0, a1, a2)
                low = max(min(ha[0], ha[1], ha[2]), min(hb[0], hb[1], hb[2]))
                if low >= limit:
                    continue
                place_a(points, n_a, a0, a1, a2, ha, hb)
                if not _may_touch(shapes, pair, points, row_a, row_b, limit, angle):
                    continue
                if count == CACHED_TRIANGLES:
                    return -1
                near.cached_triangle[p, 2 * count] = row_a
                near.cached_triangle[p, 2 * count + 1] = row_b
                near.cached_gap[p, count] = float32(low - ROUNDED * abs(low))
                count += 1
    return count


@inner_kernel
def collide_cached(shapes, pair, near, p, moved, work):
    """Candidates of cached triangles; their number, and how deep the deepest is [m].

    moved  how far the two have moved since these were cached [m]
    """
    cached, cached_gap, query = near.cached_triangle, near.cached_gap, work.query
    rows, points, count, last = work.rows, work.points, 0, -1
    for n in range(near.cached_of[p, 2]):
        if cached_gap[p, n] - SIDES * moved >= query[FRONT]:
            continue
        row_a, row_b = cached[p, 2 * n], cached[p, 2 * n + 1]
        if row_b != last:
            place_b(shapes, pair, row_b, points)
            last = row_b
        count = triangle_pair(shapes, pair, points, row_a, row_b, query[FRONT], rows, count, query)
    depth = -inf
    for i in range(count):
        depth = max(depth, -rows[i, 6])
    return count, depth


@inner_kernel
def cache_closest(rows, pair, near, p):
    """Cache the two closest points, each in the axes of its own shape."""
    of, axis = near.cached_of, near.cached_axis
    x, n = load(rows, 0), (rows[0, 3], rows[0, 4], rows[0, 5])
    y = mul_t(pair.r, sub(mad(x, n, 0.5 * rows[0, 6]), pair.t))
    x = mad(x, n, -0.5 * rows[0, 6])
    of[p, 0], of[p, 1], of[p, 2], axis[p, 0] = pair.a, pair.b, 0, NEARBY
    axis[p, 2], axis[p, 3], axis[p, 4] = x
    axis[p, 5], axis[p, 6], axis[p, 7] = y


@inner_kernel
def cached_distance(near, p, pair):
    """How far apart these are now [m]: the shapes are no farther from each other."""
    of, axis = near.cached_of, near.cached_axis
    if of[p, 0] != pair.a or of[p, 1] != pair.b or axis[p, 0] != NEARBY:
        return inf
    y = add(mul(pair.r, (axis[p, 5], axis[p, 6], axis[p, 7])), pair.t)
    return norm(sub(y, (axis[p, 2], axis[p, 3], axis[p, 4])))
