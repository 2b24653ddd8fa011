"""Leaves of two BVHs that are near each other: their triangles, one against the other.

The traversal (bvh_traversal.py) finds pairs of leaves.
"""

from drystone.collision.narrowphase.mesh.constants import BOUND, FRONT, REACH
from drystone.collision.narrowphase.mesh.triangle_features import (
    CORNERS_A,
    CORNERS_B,
    NORMAL_A,
    NORMAL_B,
    edge_edge,
    vertex_triangle,
)
from drystone.jit import inner_kernel
from drystone.jit.vec import add, dot, load, mul, store, sub
from drystone.shapes.bvh.build import OWNS_EDGE


@inner_kernel(forceinline=True)
def corner_of(shapes, first_vertex, row, k):
    return load(shapes.terrain_vertex, first_vertex + shapes.triangle[row, k])


@inner_kernel(forceinline=True)
def place_b(shapes, pair, row_b, points):
    """Put the corners and the normal of a triangle of B among the points, in the axes of A."""
    r, t = pair.r, pair.t
    store(points, NORMAL_B, mul(r, load(shapes.triangle_normal, row_b)))
    for k in range(3):
        x = corner_of(shapes, pair.vertex_b, row_b, k)
        store(points, CORNERS_B + k, add(mul(r, x), t))


@inner_kernel(forceinline=True)
def place_a(points, n, a0, a1, a2, ha, hb):
    """Put those of a triangle of A there, and how high the corners of both are over the other."""
    store(points, NORMAL_A, n)
    store(points, CORNERS_A, a0)
    store(points, CORNERS_A + 1, a1)
    store(points, CORNERS_A + 2, a2)
    for k in range(3):
        points[CORNERS_A + k, 3], points[CORNERS_B + k, 3] = ha[k], hb[k]


@inner_kernel(forceinline=True)
def heights(n, base, x, y, z):
    """Heights of three points over the plane through `base` with normal n."""
    offset = dot(n, base)
    return dot(n, x) - offset, dot(n, y) - offset, dot(n, z) - offset


@inner_kernel(forceinline=True)
def triangle_pair(shapes, pair, points, row_a, row_b, front, rows, count, query):
    """Candidates of a triangle of A and the one of B among the points; the new count.

    front  how near they must be where they are in front of each other [m]
    """
    b0, b1, b2 = load(points, CORNERS_B), load(points, CORNERS_B + 1), load(points, CORNERS_B + 2)
    n_a, a0 = load(shapes.triangle_normal, row_a), corner_of(shapes, pair.vertex_a, row_a, 0)
    hb = heights(n_a, a0, b0, b1, b2)
    low = min(hb[0], hb[1], hb[2])
    if low >= front:
        query[BOUND] = min(query[BOUND], low)
        return count
    a1 = corner_of(shapes, pair.vertex_a, row_a, 1)
    a2 = corner_of(shapes, pair.vertex_a, row_a, 2)
    ha = heights(load(points, NORMAL_B), b0, a0, a1, a2)
    low = min(ha[0], ha[1], ha[2])
    if low >= front:
        query[BOUND] = min(query[BOUND], low)
        return count
    high = min(max(ha[0], ha[1], ha[2]), max(hb[0], hb[1], hb[2]))
    if high <= -max(pair.depth, query[REACH]):
        query[BOUND] = min(query[BOUND], -high)
        return count
    place_a(points, n_a, a0, a1, a2, ha, hb)
    own_a, own_b = shapes.owns[row_a], shapes.owns[row_b]
    corners = own_a % OWNS_EDGE + OWNS_EDGE * (own_b % OWNS_EDGE)
    for i in range(6):
        if corners & (1 << i) and points[i, 3] < front:
            count = vertex_triangle(
                shapes, pair, points, i, row_a, row_b, front, rows, count, query
            )
    for k in range(3):
        # What is in front of the other's plane by more than that is as far from it.
        if own_a & (OWNS_EDGE << k) and min(points[k, 3], points[(k + 1) % 3, 3]) < front:
            e = sub(load(points, (k + 1) % 3), load(points, k))
            for i in range(3):
                j = CORNERS_B + (i + 1) % 3
                low = min(points[CORNERS_B + i, 3], points[j, 3])
                if own_b & (OWNS_EDGE << i) and low < front:
                    count = edge_edge(
                        shapes, pair, points, k, e, i, row_a, row_b, rows, count, query
                    )
    return count


@inner_kernel
def collide_leaves(shapes, pair, found, work, count):
    """Candidates of the `found` pairs of leaves in work.leaf; the new count."""
    child_link, leaf, query, points = shapes.child_link, work.leaf, work.query, work.points
    for k in range(found):
        i, j = leaf[2 * k], leaf[2 * k + 1]
        for row_b in range(child_link[j, 0], child_link[j, 0] + child_link[j, 1]):
            place_b(shapes, pair, row_b, points)
            for row_a in range(child_link[i, 0], child_link[i, 0] + child_link[i, 1]):
                front = min(work.leaf_front[k], query[FRONT])
                count = triangle_pair(
                    shapes, pair, points, row_a, row_b, front, work.rows, count, query
                )
    return count
