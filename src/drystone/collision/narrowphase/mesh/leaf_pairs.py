"""Leaves of two box trees that are near each other: their triangles, one against the other.

The walk down the trees (bvh_traversal.py) finds pairs of leaves.
"""

from drystone.collision.narrowphase.mesh.constants import BOUND, FRONT, REACH
from drystone.collision.narrowphase.mesh.triangle_features import (
    CORNERS_A,
    CORNERS_B,
    NORMAL_A,
    NORMAL_B,
    corner_and_triangle,
    ridge_and_ridge,
)
from drystone.jit import inner_kernel
from drystone.jit.vec import add, dot, load, mul, store, sub
from drystone.shapes.bvh.build import OWNS_EDGE


@inner_kernel(forceinline=True)
def corner_of(surfaces, v, row, k):
    return load(surfaces.vertex, v + surfaces.triangle[row, k])


@inner_kernel(forceinline=True)
def place_b(surfaces, v_b, row_b, r, t, spot):
    """Put the corners and the normal of a triangle of B among the spots, in the axes of A."""
    store(spot, NORMAL_B, mul(r, load(surfaces.normal, row_b)))
    for k in range(3):
        store(spot, CORNERS_B + k, add(mul(r, corner_of(surfaces, v_b, row_b, k)), t))


@inner_kernel(forceinline=True)
def place_a(spot, n, a0, a1, a2, ha, hb):
    """Put those of a triangle of A there, and how high the corners of both are over the other."""
    store(spot, NORMAL_A, n)
    store(spot, CORNERS_A, a0)
    store(spot, CORNERS_A + 1, a1)
    store(spot, CORNERS_A + 2, a2)
    for k in range(3):
        spot[CORNERS_A + k, 3], spot[CORNERS_B + k, 3] = ha[k], hb[k]


@inner_kernel(forceinline=True)
def heights(n, base, x, y, z):
    """Heights of three points over the plane through `base` with normal n."""
    offset = dot(n, base)
    return dot(n, x) - offset, dot(n, y) - offset, dot(n, z) - offset


@inner_kernel(forceinline=True)
def triangle_pair(
    surfaces, spot, v_a, t_a, row_a, v_b, t_b, row_b, r, deep, front, rows, count, level,
):  # fmt: skip
    """Candidates of a triangle of A and the one of B among the spots; the new count.

    front  how near they must be where they are in front of each other [m]
    """
    b0, b1, b2 = load(spot, CORNERS_B), load(spot, CORNERS_B + 1), load(spot, CORNERS_B + 2)
    n_a, a0 = load(surfaces.normal, row_a), corner_of(surfaces, v_a, row_a, 0)
    hb = heights(n_a, a0, b0, b1, b2)
    low = min(hb[0], hb[1], hb[2])
    if low >= front:
        level[BOUND] = min(level[BOUND], low)
        return count
    a1, a2 = corner_of(surfaces, v_a, row_a, 1), corner_of(surfaces, v_a, row_a, 2)
    ha = heights(load(spot, NORMAL_B), b0, a0, a1, a2)
    low = min(ha[0], ha[1], ha[2])
    if low >= front:
        level[BOUND] = min(level[BOUND], low)
        return count
    high = min(max(ha[0], ha[1], ha[2]), max(hb[0], hb[1], hb[2]))
    if high <= -max(deep, level[REACH]):
        level[BOUND] = min(level[BOUND], -high)
        return count
    place_a(spot, n_a, a0, a1, a2, ha, hb)
    own_a, own_b = surfaces.owns[row_a], surfaces.owns[row_b]
    corners = own_a % OWNS_EDGE + OWNS_EDGE * (own_b % OWNS_EDGE)
    for i in range(6):
        if corners & (1 << i) and spot[i, 3] < front:
            count = corner_and_triangle(
                surfaces, spot, i, v_a, t_a, row_a, v_b, t_b, row_b, r, deep, front, rows, count,
                level,
            )  # fmt: skip
    for k in range(3):
        # What is in front of the other's plane by more than that is as far from it.
        if own_a & (OWNS_EDGE << k) and min(spot[k, 3], spot[(k + 1) % 3, 3]) < front:
            e = sub(load(spot, (k + 1) % 3), load(spot, k))
            for i in range(3):
                j = CORNERS_B + (i + 1) % 3
                if own_b & (OWNS_EDGE << i) and min(spot[CORNERS_B + i, 3], spot[j, 3]) < front:
                    count = ridge_and_ridge(
                        surfaces, spot, k, e, i, v_a, t_a, row_a, v_b, t_b, row_b,
                        r, deep, rows, count, level,
                    )  # fmt: skip
    return count


@inner_kernel
def try_leaves(
    # triangles of all surfaces, leaves, first vertex and triangle of the two that meet
    surfaces, lane_link, v_a, t_a, v_b, t_b,
    # in: pose of B in the axes of A, how deep one may be in the other
    r, t, deep,
    # in: pairs of lanes, how near they must be in front of each other, how many
    leaf, leaf_front, found,
    # in and out
    rows, count, level,
    # scratch
    spot,
):  # fmt: skip
    """Candidates of pairs of leaves; the new count."""
    for k in range(found):
        i, j = leaf[2 * k], leaf[2 * k + 1]
        for row_b in range(lane_link[j, 0], lane_link[j, 0] + lane_link[j, 1]):
            place_b(surfaces, v_b, row_b, r, t, spot)
            for row_a in range(lane_link[i, 0], lane_link[i, 0] + lane_link[i, 1]):
                count = triangle_pair(
                    surfaces, spot, v_a, t_a, row_a, v_b, t_b, row_b,
                    r, deep, min(leaf_front[k], level[FRONT]), rows, count, level,
                )  # fmt: skip
    return count
