"""Walk down the box trees of two surfaces at once, to the triangles that are near each other.

Boxes are compared along the axes of both trees: the six face axes of the test of separating
axes [Gottschalk1996]; the nine crossed ones seldom decide and cost more than they save. Which
node is opened depends on sizes alone, so that triangles come in the same order in every step.
"""

from math import inf, sqrt

import numpy as np

from drystone.jit import inner_kernel, kernel
from drystone.narrowphase.mesh_features import (
    BOUND,
    CORNERS_A,
    CORNERS_B,
    NEAREST,
    NORMAL_A,
    NORMAL_B,
    REACH,
    WANTED,
    corner_and_triangle,
    ridge_and_ridge,
)
from drystone.shapes.lanes import BLOCK, LANES
from drystone.shapes.patch import NOT_A_PATCH
from drystone.shapes.tree import MOST_LEVELS, OWNS_EDGE
from drystone.vec import add, dot, load, mul, mul_t, scale, store, sub

# Pairs of lanes that wait: seven for each level of the two trees, and eight.
STACK = 14 * MOST_LEVELS + 8
# Patches are asked of leaves, and where the reach is more than this part of the smaller box:
# where it is less, boxes that are near mostly hold triangles that face each other.
PATCHY = 0.1
LANE_Y, LANE_Z = np.uint64(LANES), np.uint64(2 * LANES)
HALF_X, HALF_Y, HALF_Z = np.uint64(3 * LANES), np.uint64(4 * LANES), np.uint64(5 * LANES)


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
    reach = level[REACH]
    b0, b1, b2 = load(spot, CORNERS_B), load(spot, CORNERS_B + 1), load(spot, CORNERS_B + 2)
    n_a, a0 = load(surfaces.normal, row_a), _corner(surfaces, v_a, row_a, 0)
    hb = _heights(n_a, a0, b0, b1, b2)
    low = min(hb[0], hb[1], hb[2])
    if low >= reach:
        level[BOUND] = min(level[BOUND], low)
        return count
    a1, a2 = _corner(surfaces, v_a, row_a, 1), _corner(surfaces, v_a, row_a, 2)
    ha = _heights(load(spot, NORMAL_B), b0, a0, a1, a2)
    low = min(ha[0], ha[1], ha[2])
    if low >= reach:
        level[BOUND] = min(level[BOUND], low)
        return count
    high = min(max(ha[0], ha[1], ha[2]), max(hb[0], hb[1], hb[2]))
    if high <= -max(deep, reach):
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
        if corners & (1 << i) and spot[i, 3] < reach:
            count = corner_and_triangle(
                surfaces, spot, i, v_a, t_a, row_a, v_b, t_b, row_b, r, deep, rows, count, level,
            )  # fmt: skip
    for k in range(3):
        # What is in front of the other's plane by more than the reach is as far from it.
        if own_a & (OWNS_EDGE << k) and min(spot[k, 3], spot[(k + 1) % 3, 3]) < reach:
            e = sub(load(spot, (k + 1) % 3), load(spot, k))
            for i in range(3):
                j = CORNERS_B + (i + 1) % 3
                if own_b & (OWNS_EDGE << i) and min(spot[CORNERS_B + i, 3], spot[j, 3]) < reach:
                    count = ridge_and_ridge(
                        surfaces, spot, k, e, i, t_a, row_a, t_b, row_b,
                        r, deep, rows, count, level,
                    )  # fmt: skip
    return count


@kernel(forceinline=True)
def _size(lane_box, lane):
    """Half sizes of the box of a lane, added up."""
    at = lane // LANES * BLOCK + lane % LANES
    return lane_box[at + 3 * LANES] + lane_box[at + 4 * LANES] + lane_box[at + 5 * LANES]


@kernel(forceinline=True)
def _box_gaps(lane_box, block, lane, r, t, gap):
    """Largest gaps along their axes of the eight boxes of a block and that of another tree's lane.

    r, t  pose of the other tree in the axes of the block's
    gap   (8,) out

    The loop is written for the compiler to go through all lanes at once: unsigned indices, as
    signed ones are checked, one row of numbers, no branches.
    """
    at = np.uint64(lane // LANES * BLOCK + lane % LANES)
    x, y, z = lane_box[at], lane_box[at + LANE_Y], lane_box[at + LANE_Z]
    hx, hy, hz = lane_box[at + HALF_X], lane_box[at + HALF_Y], lane_box[at + HALF_Z]
    x, y, z = (
        r[0] * x + r[1] * y + r[2] * z + t[0],
        r[3] * x + r[4] * y + r[5] * z + t[1],
        r[6] * x + r[7] * y + r[8] * z + t[2],
    )
    q0, q1, q2, q3, q4 = abs(r[0]), abs(r[1]), abs(r[2]), abs(r[3]), abs(r[4])
    q5, q6, q7, q8 = abs(r[5]), abs(r[6]), abs(r[7]), abs(r[8])
    ex = q0 * hx + q1 * hy + q2 * hz
    ey = q3 * hx + q4 * hy + q5 * hz
    ez = q6 * hx + q7 * hy + q8 * hz
    first = np.uint64(block * BLOCK)
    for k in range(np.uint64(gap.shape[0])):
        i = first + k
        dx, dy, dz = x - lane_box[i], y - lane_box[i + LANE_Y], z - lane_box[i + LANE_Z]
        ax, ay, az = lane_box[i + HALF_X], lane_box[i + HALF_Y], lane_box[i + HALF_Z]
        g = max(abs(dx) - ax - ex, abs(dy) - ay - ey)
        g = max(g, abs(dz) - az - ez)
        g = max(
            g, abs(r[0] * dx + r[3] * dy + r[6] * dz) - hx - (q0 * ax + q3 * ay + q6 * az)
        )
        g = max(
            g, abs(r[1] * dx + r[4] * dy + r[7] * dz) - hy - (q1 * ax + q4 * ay + q7 * az)
        )
        g = max(
            g, abs(r[2] * dx + r[5] * dy + r[8] * dz) - hz - (q2 * ax + q5 * ay + q8 * az)
        )
        gap[k] = g


@kernel(forceinline=True)
def _patch_gap(patch, i, j, r, t):
    """How far two patches are apart at least, seen along the axis of either; inf if they cannot
    face each other."""
    u = load(patch, i)
    w = mul(r, load(patch, j))
    c = -dot(u, w)
    if c < patch[i, 8] * patch[j, 8] - patch[i, 9] * patch[j, 9]:
        return inf
    s = sqrt(max(0.0, 1.0 - c * c))
    m = (patch[j, 3], patch[j, 4], patch[j, 5])
    d = sub(add(mul(r, m), t), (patch[i, 3], patch[i, 4], patch[i, 5]))
    q = abs(c)
    return max(
        dot(u, d) - patch[i, 6] - q * patch[j, 6] - s * patch[j, 7],
        -dot(w, d) - patch[j, 6] - q * patch[i, 6] - s * patch[i, 7],
    )


@kernel
def _least_of(gap):
    least = 0
    for k in range(1, LANES):
        if gap[k] < gap[least]:
            least = k
    return least


@inner_kernel
def walk_trees(
    # trees of all surfaces, the two that meet: first block, vertex and triangle
    surfaces, lane_box, lane_link, patch, block_a, v_a, t_a, block_b, v_b, t_b,
    # in: pose of B in the axes of A, how deep one may be in the other
    r, t, deep,
    # in and out
    rows, level,
    # scratch
    spot, gap, stack,
):  # fmt: skip
    """Fill `rows` with the candidates of two surfaces; their number."""
    back, t_back = (r[0], r[3], r[6], r[1], r[4], r[7], r[2], r[5], r[8]), mul_t(r, scale(t, -1.0))
    count, top = 0, 1
    stack[0, 0], stack[0, 1] = LANES * block_a, LANES * block_b
    while top > 0:
        top -= 1
        i, j = stack[top, 0], stack[top, 1]
        count_a, count_b = lane_link[i, 1], lane_link[j, 1]
        if count_a > 0 and count_b > 0:
            for row_b in range(lane_link[j, 0], lane_link[j, 0] + count_b):
                _place_b(surfaces, v_b, row_b, r, t, spot)
                for row_a in range(lane_link[i, 0], lane_link[i, 0] + count_a):
                    count = _triangle_pair(
                        surfaces, spot, v_a, t_a, row_a, v_b, t_b, row_b,
                        r, deep, rows, count, level,
                    )  # fmt: skip
            continue
        size_a, size_b = _size(lane_box, i), _size(lane_box, j)
        open_a = count_b > 0 or (count_a == 0 and size_a >= size_b)
        patchy = level[REACH] > PATCHY * min(size_a, size_b)
        if open_a:
            block = lane_link[i, 0]
            _box_gaps(lane_box, block, j, r, t, gap)
        else:
            block = lane_link[j, 0]
            _box_gaps(lane_box, block, i, back, t_back, gap)
        # Backwards, as the last one is opened first; the nearest first where only that is wanted.
        last = _least_of(gap) if level[WANTED] == NEAREST else 0
        for i_lane in range(1, LANES + 1):
            k = (last - i_lane) % LANES
            if gap[k] < level[REACH]:
                lane_a, lane_b = (block * LANES + k, j) if open_a else (i, block * LANES + k)
                g = gap[k]
                ask = patchy or (lane_link[lane_a, 1] > 0 and lane_link[lane_b, 1] > 0)
                if ask and patch[lane_a, 8] != NOT_A_PATCH and patch[lane_b, 8] != NOT_A_PATCH:
                    g = _patch_gap(patch, lane_a, lane_b, r, t)
                if g < level[REACH]:
                    stack[top, 0], stack[top, 1] = lane_a, lane_b
                    top += 1
                else:
                    level[BOUND] = min(level[BOUND], g)
            else:
                level[BOUND] = min(level[BOUND], gap[k])
    return count


@inner_kernel
def lowest_corner(surfaces, node_box, node_link, root, v, n, stack):
    """Least n.x over all vertices of a surface."""
    lowest, top = inf, 1
    stack[0, 0] = root
    while top > 0:
        top -= 1
        i = stack[top, 0]
        if box_low(node_box, i, n) >= lowest:
            continue
        if node_link[i, 1] == 0:
            left, right = i + 1, node_link[i, 0]
            if box_low(node_box, right, n) < box_low(node_box, left, n):
                left, right = right, left
            stack[top, 0], stack[top + 1, 0] = right, left
            top += 2
            continue
        for row in range(node_link[i, 0], node_link[i, 0] + node_link[i, 1]):
            for k in range(3):
                x = load(surfaces.vertex, v + surfaces.triangle[row, k])
                lowest = min(lowest, dot(n, x))
    return lowest


@inner_kernel
def box_low(node_box, i, n):
    """Least n.x over the box of node i."""
    return (
        min(n[0] * node_box[i, 0], n[0] * node_box[i, 3])
        + min(n[1] * node_box[i, 1], n[1] * node_box[i, 4])
        + min(n[2] * node_box[i, 2], n[2] * node_box[i, 5])
    )
