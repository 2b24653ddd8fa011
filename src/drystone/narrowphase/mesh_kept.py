"""Triangles that two meshes which touch and hardly move keep from step to step.

The walk down the trees has found them a little farther than needed. Until the two have moved by
that much no others can be near, and most of these are known to be too far apart still. Whether they
are kept or found makes no difference: what is not near gives no candidate, and the rest come in
the same order. Only what overlaps by more than was looked for may, so then all are found again.
"""

from math import inf

from numba import float32

from drystone.arrays import KEPT
from drystone.jit import inner_kernel, kernel
from drystone.narrowphase.mesh_features import CORNERS_B, NORMAL_B
from drystone.narrowphase.mesh_leaves import corner_of, heights, place_b, triangle_pair
from drystone.narrowphase.mesh_limits import FRONT
from drystone.shapes.tree import OWNS_CORNER, OWNS_EDGE
from drystone.vec import load

# A point of either moves over the planes of the other by no more than this times what the smaller
# one has moved: both are near it.
SIDES = 2.0
ROUNDED = 1e-6  # of a gap, as it is kept in single precision


@kernel(forceinline=True)
def _some_within(own, h, limit):
    """Whether some corner that is owned, and some edge, is nearer than `limit`."""
    corner, edge = False, False
    for k in range(3):
        corner |= (own & (OWNS_CORNER << k)) != 0 and h[k] < limit
        edge |= (own & (OWNS_EDGE << k)) != 0 and min(h[k], h[(k + 1) % 3]) < limit
    return corner, edge


@inner_kernel
def keep_triangles(
    # triangles of all surfaces, leaves, first vertices of the two that meet
    surfaces, lane_link, v_a, v_b,
    # in: pose of B in the axes of A, pairs of leaves and how many, how near triangles must be [m]
    r, t, leaf, found, limit,
    # out: row p
    kept, kept_gap, p,
    # scratch
    spot,
):  # fmt: skip
    """Keep the pairs of triangles of these leaves that may give candidates; their number.

    -1 if there is no room for them.
    """
    count = 0
    for n in range(found):
        i, j = leaf[2 * n], leaf[2 * n + 1]
        for row_b in range(lane_link[j, 0], lane_link[j, 0] + lane_link[j, 1]):
            place_b(surfaces, v_b, row_b, r, t, spot)
            b0, b1, b2 = load(spot, CORNERS_B), load(spot, CORNERS_B + 1), load(spot, CORNERS_B + 2)
            for row_a in range(lane_link[i, 0], lane_link[i, 0] + lane_link[i, 1]):
                a0, a1 = corner_of(surfaces, v_a, row_a, 0), corner_of(surfaces, v_a, row_a, 1)
                hb = heights(load(surfaces.normal, row_a), a0, b0, b1, b2)
                a2 = corner_of(surfaces, v_a, row_a, 2)
                ha = heights(load(spot, NORMAL_B), b0, a0, a1, a2)
                low = max(min(ha[0], ha[1], ha[2]), min(hb[0], hb[1], hb[2]))
                corner_a, edge_a = _some_within(surfaces.owns[row_a], ha, limit)
                corner_b, edge_b = _some_within(surfaces.owns[row_b], hb, limit)
                if low >= limit or not (corner_a or corner_b or (edge_a and edge_b)):
                    continue
                if count == KEPT:
                    return -1
                kept[p, 2 * count], kept[p, 2 * count + 1] = row_a, row_b
                kept_gap[p, count] = float32(low - ROUNDED * abs(low))
                count += 1
    return count


@inner_kernel
def try_kept(
    # triangles of all surfaces, first vertex and triangle of the two that meet
    surfaces, v_a, t_a, v_b, t_b,
    # in: pose of B in the axes of A, how deep one may be in the other
    r, t, deep,
    # in: row p of what was kept, how many, how far they have moved since [m]
    kept, kept_gap, p, many, moved,
    # in and out
    rows, level,
    # scratch
    spot,
):  # fmt: skip
    """Candidates of triangles that were kept; their number, and how deep the deepest is [m]."""
    count, last = 0, -1
    for n in range(many):
        if kept_gap[p, n] - SIDES * moved >= level[FRONT]:
            continue
        row_a, row_b = kept[p, 2 * n], kept[p, 2 * n + 1]
        if row_b != last:
            place_b(surfaces, v_b, row_b, r, t, spot)
            last = row_b
        count = triangle_pair(
            surfaces, spot, v_a, t_a, row_a, v_b, t_b, row_b, r, deep, level[FRONT],
            rows, count, level,
        )  # fmt: skip
    depth = -inf
    for i in range(count):
        depth = max(depth, -rows[i, 6])
    return count, depth
