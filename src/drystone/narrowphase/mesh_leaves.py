"""Leaves of two box trees that are near each other: their triangles, one against the other.

The walk down the trees (mesh_tree.py) finds pairs of leaves. A pair of meshes that touches and
hardly moves keeps them from step to step, found a little farther than needed, and asks the
trees again only after it has moved by that much. Whether they are kept or found makes no
difference: here each is tested as the walk would, and they come in the same order.
"""

from math import inf, sqrt

from drystone.jit import inner_kernel, kernel
from drystone.narrowphase.mesh_features import (
    BOUND,
    CORNERS_A,
    CORNERS_B,
    FRONT,
    NORMAL_A,
    NORMAL_B,
    REACH,
    corner_and_triangle,
    ridge_and_ridge,
)
from drystone.shapes.lanes import BLOCK, LANES
from drystone.shapes.patch import NOT_A_PATCH
from drystone.shapes.tree import OWNS_EDGE
from drystone.vec import add, dot, load, mul, store, sub


@kernel(forceinline=True)
def _corner(surfaces, v, row, k):
    return load(surfaces.vertex, v + surfaces.triangle[row, k])


@kernel(forceinline=True)
def _place_b(surfaces, v_b, row_b, r, t, spot):
    """Put the corners and the normal of a triangle of B among the spots, in the axes of A."""
    store(spot, NORMAL_B, mul(r, load(surfaces.normal, row_b)))
    for k in range(3):
        store(spot, CORNERS_B + k, add(mul(r, _corner(surfaces, v_b, row_b, k)), t))


@kernel(forceinline=True)
def _heights(n, base, x, y, z):
    """Heights of three points over the plane through `base` with normal n."""
    offset = dot(n, base)
    return dot(n, x) - offset, dot(n, y) - offset, dot(n, z) - offset


@kernel(forceinline=True)
def _triangle_pair(
    surfaces, spot, v_a, t_a, row_a, v_b, t_b, row_b, r, deep, rows, count, level,
):  # fmt: skip
    """Candidates of a triangle of A and the one of B among the spots; the new count."""
    front = level[FRONT]
    b0, b1, b2 = load(spot, CORNERS_B), load(spot, CORNERS_B + 1), load(spot, CORNERS_B + 2)
    n_a, a0 = load(surfaces.normal, row_a), _corner(surfaces, v_a, row_a, 0)
    hb = _heights(n_a, a0, b0, b1, b2)
    low = min(hb[0], hb[1], hb[2])
    if low >= front:
        level[BOUND] = min(level[BOUND], low)
        return count
    a1, a2 = _corner(surfaces, v_a, row_a, 1), _corner(surfaces, v_a, row_a, 2)
    ha = _heights(load(spot, NORMAL_B), b0, a0, a1, a2)
    low = min(ha[0], ha[1], ha[2])
    if low >= front:
        level[BOUND] = min(level[BOUND], low)
        return count
    high = min(max(ha[0], ha[1], ha[2]), max(hb[0], hb[1], hb[2]))
    if high <= -max(deep, level[REACH]):
        level[BOUND] = min(level[BOUND], -high)
        return count
    store(spot, NORMAL_A, n_a)
    store(spot, CORNERS_A, a0)
    store(spot, CORNERS_A + 1, a1)
    store(spot, CORNERS_A + 2, a2)
    for k in range(3):
        spot[CORNERS_A + k, 3], spot[CORNERS_B + k, 3] = ha[k], hb[k]
    own_a, own_b = surfaces.owns[row_a], surfaces.owns[row_b]
    corners = own_a % OWNS_EDGE + OWNS_EDGE * (own_b % OWNS_EDGE)
    for i in range(6):
        if corners & (1 << i) and spot[i, 3] < front:
            count = corner_and_triangle(
                surfaces, spot, i, v_a, t_a, row_a, v_b, t_b, row_b, r, deep, rows, count, level,
            )  # fmt: skip
    for k in range(3):
        # What is in front of the other's plane by more than that is as far from it.
        if own_a & (OWNS_EDGE << k) and min(spot[k, 3], spot[(k + 1) % 3, 3]) < front:
            e = sub(load(spot, (k + 1) % 3), load(spot, k))
            for i in range(3):
                j = CORNERS_B + (i + 1) % 3
                if own_b & (OWNS_EDGE << i) and min(spot[CORNERS_B + i, 3], spot[j, 3]) < front:
                    count = ridge_and_ridge(
                        surfaces, spot, k, e, i, t_a, row_a, t_b, row_b,
                        r, deep, rows, count, level,
                    )  # fmt: skip
    return count


@kernel(forceinline=True)
def _looks_past(patch, i, cosine, wide_cos, wide_sin):
    """Whether patch i cannot touch what it sees at an angle to its axis [cosine].

    wide_cos, wide_sin  of the angle over which that is seen

    What is in front must be seen within the cone; what overlaps, within the cone at the back,
    or a little beside it.
    """
    c = patch[i, 8] * wide_cos - patch[i, 9] * wide_sin
    s = patch[i, 9] * wide_cos + patch[i, 8] * wide_sin
    if s <= 0.0 or cosine >= c:  # half a turn or more; in front
        return False
    back_c, back_s = c * patch[i, 11] - s * patch[i, 12], s * patch[i, 11] + c * patch[i, 12]
    return back_s > 0.0 and -cosine < back_c


@inner_kernel(forceinline=True)
def patch_gap(patch, i, j, r, t):
    """How far two patches are apart at least, seen along the axis of either; inf if they cannot
    touch, as they do not face each other or are beside each other."""
    u = load(patch, i)
    w = mul(r, load(patch, j))
    c = -dot(u, w)
    if c < patch[i, 8] * patch[j, 8] - patch[i, 9] * patch[j, 9]:
        return inf
    s = sqrt(max(0.0, 1.0 - c * c))
    m = (patch[j, 3], patch[j, 4], patch[j, 5])
    d = sub(add(mul(r, m), t), (patch[i, 3], patch[i, 4], patch[i, 5]))
    ud, wd = dot(u, d), -dot(w, d)
    balls, dd = patch[i, 10] + patch[j, 10], dot(d, d)
    if dd > balls * balls:
        far = sqrt(dd)
        wide_sin = balls / far
        wide_cos = sqrt(1.0 - wide_sin * wide_sin)
        if _looks_past(patch, i, ud / far, wide_cos, wide_sin):
            return inf
        if _looks_past(patch, j, wd / far, wide_cos, wide_sin):
            return inf
    q = abs(c)
    return max(
        ud - patch[i, 6] - q * patch[j, 6] - s * patch[j, 7],
        wd - patch[j, 6] - q * patch[i, 6] - s * patch[i, 7],
    )


@kernel(forceinline=True)
def _lane_gap(lane_box, i, j, r, t):
    """How far two boxes are apart at least, as mesh_tree.py has it for eight."""
    i, j = i // LANES * BLOCK + i % LANES, j // LANES * BLOCK + j % LANES
    x, y, z = lane_box[j], lane_box[j + LANES], lane_box[j + 2 * LANES]
    hx, hy, hz = lane_box[j + 3 * LANES], lane_box[j + 4 * LANES], lane_box[j + 5 * LANES]
    ax, ay, az = lane_box[i + 3 * LANES], lane_box[i + 4 * LANES], lane_box[i + 5 * LANES]
    dx = r[0] * x + r[1] * y + r[2] * z + t[0] - lane_box[i]
    dy = r[3] * x + r[4] * y + r[5] * z + t[1] - lane_box[i + LANES]
    dz = r[6] * x + r[7] * y + r[8] * z + t[2] - lane_box[i + 2 * LANES]
    q0, q1, q2, q3, q4 = abs(r[0]), abs(r[1]), abs(r[2]), abs(r[3]), abs(r[4])
    q5, q6, q7, q8 = abs(r[5]), abs(r[6]), abs(r[7]), abs(r[8])
    gx = abs(dx) - ax - (q0 * hx + q1 * hy + q2 * hz)
    gy = abs(dy) - ay - (q3 * hx + q4 * hy + q5 * hz)
    gz = abs(dz) - az - (q6 * hx + q7 * hy + q8 * hz)
    fx = abs(r[0] * dx + r[3] * dy + r[6] * dz) - hx - (q0 * ax + q3 * ay + q6 * az)
    fy = abs(r[1] * dx + r[4] * dy + r[7] * dz) - hy - (q1 * ax + q4 * ay + q7 * az)
    fz = abs(r[2] * dx + r[5] * dy + r[8] * dz) - hz - (q2 * ax + q5 * ay + q8 * az)
    g = max(max(gx, gy, gz), max(fx, fy, fz))
    gx, gy, gz = max(gx, 0.0), max(gy, 0.0), max(gz, 0.0)
    fx, fy, fz = max(fx, 0.0), max(fy, 0.0), max(fz, 0.0)
    return max(g, sqrt(max(gx * gx + gy * gy + gz * gz, fx * fx + fy * fy + fz * fz)))


@inner_kernel
def try_leaves(
    # trees of all surfaces, first vertex and triangle of the two that meet
    surfaces, lane_box, lane_link, patch, v_a, t_a, v_b, t_b,
    # in: pose of B in the axes of A, how deep one may be in the other
    r, t, deep,
    # in: pairs of lanes, in row `at` of an array, and how many
    leaf, at, found,
    # in and out
    rows, count, level,
    # scratch
    spot,
):  # fmt: skip
    """Candidates of pairs of leaves; the new count."""
    for k in range(found):
        i, j = leaf[at, 2 * k], leaf[at, 2 * k + 1]
        gap = _lane_gap(lane_box, i, j, r, t)
        near = gap < level[REACH]
        if near and patch[i, 8] != NOT_A_PATCH and patch[j, 8] != NOT_A_PATCH:
            gap = patch_gap(patch, i, j, r, t)
            near = gap < level[FRONT]
        if not near:
            level[BOUND] = min(level[BOUND], gap)
            continue
        for row_b in range(lane_link[j, 0], lane_link[j, 0] + lane_link[j, 1]):
            _place_b(surfaces, v_b, row_b, r, t, spot)
            for row_a in range(lane_link[i, 0], lane_link[i, 0] + lane_link[i, 1]):
                count = _triangle_pair(
                    surfaces, spot, v_a, t_a, row_a, v_b, t_b, row_b,
                    r, deep, rows, count, level,
                )  # fmt: skip
    return count
