"""Triangles that two meshes which touch and hardly move keep from step to step.

The walk down the trees has found them a little farther than needed; of these are kept whose corners
and ridges may touch by their normals. Until the two have moved by that much no others can be near,
and most of these are known to be too far apart still. Whether they are kept or found makes no
difference: what is not near gives no candidate, and the rest come in the same order. Only what
overlaps by more than was looked for may, so then all are found again.

Pairs that are near but do not touch keep their two nearest points: the way between these is never
shorter than the distance, and nothing beyond it is looked at.
"""

from math import inf, sqrt

from numba import float32

from drystone.collision.narrowphase.mesh.constants import BESIDE, FRONT
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
    beyond_edge,
    crosses,
    falls_away,
)
from drystone.jit import inner_kernel, kernel
from drystone.jit.vec import add, cross, dot, load, mad, mul, mul_t, norm, scale, sub
from drystone.model.arrays import CACHED_TRIANGLES
from drystone.shapes.bvh.build import OWNS_CORNER, OWNS_EDGE

# A point of either moves over the planes of the other by no more than this times what the smaller
# one has moved: both are near it.
SIDES = 2.0
ROUNDED = 1e-6  # of a gap, as it is kept in single precision


@kernel
def _corner_may_touch(surfaces, spot, at, v, t, row, r, limit, turn):
    """Whether a corner of one triangle may come to lie over or beside the other.

    v, t, row  surface and number of the triangle that has the corner
    """
    is_b = at >= CORNERS_B
    theirs, x, height = CORNERS_A if is_b else CORNERS_B, load(spot, at), spot[at, 3]
    n, outside = load(spot, NORMAL_A if is_b else NORMAL_B), -inf
    for i in range(3):
        p = load(spot, theirs + i)
        e = sub(load(spot, theirs + (i + 1) % 3), p)
        outside = max(outside, -dot(cross(e, sub(x, p)), n) / sqrt(dot(e, e)))
    if height >= limit or outside > limit + HOLLOW_REACH * max(0.0, limit - height):
        return False
    if outside > -limit and height > -limit:
        return True
    down = scale(n, -1.0)
    return falls_away(surfaces, v, t, row, at % 3, mul_t(r, down) if is_b else down, LYING + turn)


@kernel
def _ridges_may_cross(surfaces, spot, k_a, t_a, row_a, k_b, t_b, row_b, r, turn):
    """Whether edges k_a and k_b of the two triangles may touch, by the normals beside them."""
    e = sub(load(spot, CORNERS_A + (k_a + 1) % 3), load(spot, CORNERS_A + k_a))
    f = sub(load(spot, CORNERS_B + (k_b + 1) % 3), load(spot, CORNERS_B + k_b))
    n_a, n_b = load(spot, NORMAL_A), load(spot, NORMAL_B)
    m_a = beyond_edge(surfaces, t_a, row_a, k_a, e, n_a, False, r)
    m_b = beyond_edge(surfaces, t_b, row_b, k_b, f, n_b, True, r)
    room = (CROSSING + turn) ** 2
    nf, mf, ne, me = dot(n_a, f), dot(m_a, f), dot(n_b, e), dot(m_b, e)
    for k in range(2):
        way = 1.0 - 2.0 * k
        if crosses(nf, mf, way, room * dot(f, f)) and crosses(ne, me, way, room * dot(e, e)):
            return True
    return False


@kernel
def _may_touch(surfaces, spot, v_a, t_a, row_a, v_b, t_b, row_b, r, limit, turn):
    """Whether the triangles among the spots may give candidates before they are found again."""
    own_a, own_b = surfaces.owns[row_a], surfaces.owns[row_b]
    for k in range(3):
        if own_a & (OWNS_CORNER << k) and _corner_may_touch(
            surfaces, spot, CORNERS_A + k, v_a, t_a, row_a, r, limit, turn
        ):
            return True
        if own_b & (OWNS_CORNER << k) and _corner_may_touch(
            surfaces, spot, CORNERS_B + k, v_b, t_b, row_b, r, limit, turn
        ):
            return True
    for k in range(3):
        if own_a & (OWNS_EDGE << k) == 0 or min(spot[k, 3], spot[(k + 1) % 3, 3]) >= limit:
            continue
        for i in range(3):
            low = min(spot[CORNERS_B + i, 3], spot[CORNERS_B + (i + 1) % 3, 3])
            if own_b & (OWNS_EDGE << i) and low < limit and _ridges_may_cross(
                surfaces, spot, k, t_a, row_a, i, t_b, row_b, r, turn
            ):  # fmt: skip
                return True
    return False


@inner_kernel
def keep_triangles(
    # triangles of all surfaces, leaves, first vertices and triangles of the two that meet
    surfaces, lane_link, v_a, t_a, v_b, t_b,
    # in: pose of B in the axes of A, pairs of leaves and how many
    r, t, leaf, found,
    # in: how far the two may move [m] and turn [rad] until they are found again
    far, turn,
    # out: row p
    kept, cached_gap, p,
    # scratch
    spot,
):  # fmt: skip
    """Keep the pairs of triangles of these leaves that may give candidates; their number.

    -1 if there is no room for them.
    """
    count, limit = 0, SIDES * far
    for n in range(found):
        i, j = leaf[2 * n], leaf[2 * n + 1]
        for row_b in range(lane_link[j, 0], lane_link[j, 0] + lane_link[j, 1]):
            place_b(surfaces, v_b, row_b, r, t, spot)
            b0, b1, b2 = load(spot, CORNERS_B), load(spot, CORNERS_B + 1), load(spot, CORNERS_B + 2)
            for row_a in range(lane_link[i, 0], lane_link[i, 0] + lane_link[i, 1]):
                a0, a1 = corner_of(surfaces, v_a, row_a, 0), corner_of(surfaces, v_a, row_a, 1)
                a2, n_a = corner_of(surfaces, v_a, row_a, 2), load(surfaces.normal, row_a)
                hb = heights(n_a, a0, b0, b1, b2)
                ha = heights(load(spot, NORMAL_B), b0, a0, a1, a2)
                low = max(min(ha[0], ha[1], ha[2]), min(hb[0], hb[1], hb[2]))
                if low >= limit:
                    continue
                place_a(spot, n_a, a0, a1, a2, ha, hb)
                if not _may_touch(surfaces, spot, v_a, t_a, row_a, v_b, t_b, row_b, r, limit, turn):
                    continue
                if count == CACHED_TRIANGLES:
                    return -1
                kept[p, 2 * count], kept[p, 2 * count + 1] = row_a, row_b
                cached_gap[p, count] = float32(low - ROUNDED * abs(low))
                count += 1
    return count


@inner_kernel
def try_kept(
    # triangles of all surfaces, first vertex and triangle of the two that meet
    surfaces, v_a, t_a, v_b, t_b,
    # in: pose of B in the axes of A, how deep one may be in the other
    r, t, deep,
    # in: row p of what was kept, how many, how far they have moved since [m]
    kept, cached_gap, p, many, moved,
    # in and out
    rows, level,
    # scratch
    spot,
):  # fmt: skip
    """Candidates of triangles that were kept; their number, and how deep the deepest is [m]."""
    count, last = 0, -1
    for n in range(many):
        if cached_gap[p, n] - SIDES * moved >= level[FRONT]:
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


@inner_kernel
def mark_nearest(rows, a, b, r, t, near, p):
    """Keep the two points, each in the axes of its own shape, that are nearest to each other."""
    of, axis = near.cached_of, near.cached_axis
    x, n = load(rows, 0), (rows[0, 3], rows[0, 4], rows[0, 5])
    y = mul_t(r, sub(mad(x, n, 0.5 * rows[0, 6]), t))
    x = mad(x, n, -0.5 * rows[0, 6])
    of[p, 0], of[p, 1], of[p, 2], axis[p, 0] = a, b, 0, BESIDE
    axis[p, 2], axis[p, 3], axis[p, 4] = x
    axis[p, 5], axis[p, 6], axis[p, 7] = y


@inner_kernel
def marked_distance(near, p, a, b, r, t):
    """How far apart they are now [m]: the shapes are no farther from each other."""
    of, axis = near.cached_of, near.cached_axis
    if of[p, 0] != a or of[p, 1] != b or axis[p, 0] != BESIDE:
        return inf
    y = add(mul(r, (axis[p, 5], axis[p, 6], axis[p, 7])), t)
    return norm(sub(y, (axis[p, 2], axis[p, 3], axis[p, 4])))
