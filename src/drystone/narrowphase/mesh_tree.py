"""Walk down the box trees of two surfaces at once, to the leaves that are near each other.

Boxes are compared along the axes of both trees: the six face axes of the test of separating
axes [Gottschalk1996]; the nine crossed ones seldom decide and cost more than they save. Which
node is opened depends on sizes alone, so that leaves come in the same order in every step; only
where the nearest is wanted are nearer ones opened first.
"""

from math import inf, sqrt

import numpy as np

from drystone.jit import inner_kernel, kernel
from drystone.narrowphase.mesh_features import ALL, BOUND, DISTANCE, FRONT, REACH, WANTED
from drystone.narrowphase.mesh_leaves import patch_gap, try_leaves
from drystone.shapes.lanes import BLOCK, LANES
from drystone.shapes.patch import NOT_A_PATCH
from drystone.shapes.tree import MOST_LEVELS
from drystone.vec import add, dot, load, mul, mul_t, scale, sub

# Pairs of lanes that wait: seven for each level of the two trees, and eight.
STACK = 14 * MOST_LEVELS + 8
# Pairs of leaves that are found before their triangles are looked at.
BATCH = 512
LANE_Y, LANE_Z = np.uint64(LANES), np.uint64(2 * LANES)
HALF_X, HALF_Y, HALF_Z = np.uint64(3 * LANES), np.uint64(4 * LANES), np.uint64(5 * LANES)


@kernel(forceinline=True)
def _size(lane_box, lane):
    """Half sizes of the box of a lane, added up."""
    at = lane // LANES * BLOCK + lane % LANES
    return lane_box[at + 3 * LANES] + lane_box[at + 4 * LANES] + lane_box[at + 5 * LANES]


@kernel(forceinline=True)
def _box_gaps(lane_box, block, lane, r, t, gap):
    """How far the eight boxes of a block are from that of another tree's lane, at least.

    Largest gap along their axes, or distance of the one from a box around the other.

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
        gx, gy, gz = abs(dx) - ax - ex, abs(dy) - ay - ey, abs(dz) - az - ez
        fx = abs(r[0] * dx + r[3] * dy + r[6] * dz) - hx - (q0 * ax + q3 * ay + q6 * az)
        fy = abs(r[1] * dx + r[4] * dy + r[7] * dz) - hy - (q1 * ax + q4 * ay + q7 * az)
        fz = abs(r[2] * dx + r[5] * dy + r[8] * dz) - hz - (q2 * ax + q5 * ay + q8 * az)
        g = max(max(max(gx, gy), gz), max(max(fx, fy), fz))
        gx, gy, gz = max(gx, 0.0), max(gy, 0.0), max(gz, 0.0)
        fx, fy, fz = max(fx, 0.0), max(fy, 0.0), max(fz, 0.0)
        gap[k] = max(g, sqrt(max(gx * gx + gy * gy + gz * gz, fx * fx + fy * fy + fz * fz)))


@kernel(forceinline=True)
def _side_gap(patch, i, lane_box, lane, r, t):
    """How far the box of another tree's lane is from patch i, along the axis of the patch.

    r, t  pose of the patch in the axes of the box
    """
    u = mul(r, load(patch, i))
    m = add(mul(r, (patch[i, 3], patch[i, 4], patch[i, 5])), t)
    at = lane // LANES * BLOCK + lane % LANES
    d = sub((lane_box[at], lane_box[at + LANES], lane_box[at + 2 * LANES]), m)
    half = abs(u[0]) * lane_box[at + 3 * LANES] + abs(u[1]) * lane_box[at + 4 * LANES]
    half += abs(u[2]) * lane_box[at + 5 * LANES]
    return abs(dot(u, d)) - half - patch[i, 6]


@kernel
def _least_of(gap):
    least = 0
    for k in range(1, LANES):
        if gap[k] < gap[least]:
            least = k
    return least


@inner_kernel
def find_leaves(
    # trees of all surfaces
    lane_box, lane_link, patch,
    # in: pose of B in the axes of A, how far to look, how many to find
    r, t, reach, room,
    # in and out: pairs of lanes that wait, their gaps, how many
    stack, far, top, level,
    # out: row 0
    leaf,
    # scratch
    gap,
):  # fmt: skip
    """Pairs of leaves nearer than `reach`, until there are `room`; their number, what waits."""
    back, t_back = (r[0], r[3], r[6], r[1], r[4], r[7], r[2], r[5], r[8]), mul_t(r, scale(t, -1.0))
    found, bound, nearest_first = 0, level[BOUND], level[WANTED] != ALL
    front = level[FRONT] + reach - level[REACH]
    while top > 0 and found < room:
        top -= 1
        if far[top] >= reach:  # a nearer one was found meanwhile
            bound = min(bound, far[top])
            continue
        i, j = stack[top, 0], stack[top, 1]
        count_a, count_b = lane_link[i, 1], lane_link[j, 1]
        if count_a > 0 and count_b > 0:
            leaf[0, 2 * found], leaf[0, 2 * found + 1] = i, j
            found += 1
            continue
        larger_a = _size(lane_box, i) >= _size(lane_box, j)
        open_a = count_b > 0 or (count_a == 0 and larger_a)
        if open_a:
            block = lane_link[i, 0]
            _box_gaps(lane_box, block, j, r, t, gap)
        else:
            block = lane_link[j, 0]
            _box_gaps(lane_box, block, i, back, t_back, gap)
        # Backwards, as the last one is opened first.
        last = _least_of(gap) if nearest_first else 0
        for i_lane in range(1, LANES + 1):
            k = (last - i_lane) % LANES
            g, most = gap[k], reach
            if g < reach:
                lane_a, lane_b = (block * LANES + k, j) if open_a else (i, block * LANES + k)
                flat_a, flat_b = patch[lane_a, 8] != NOT_A_PATCH, patch[lane_b, 8] != NOT_A_PATCH
                if flat_a and flat_b:
                    g, most = patch_gap(patch, lane_a, lane_b, r, t), front
                elif flat_a:
                    g = max(g, _side_gap(patch, lane_a, lane_box, lane_b, back, t_back))
                elif flat_b:
                    g = max(g, _side_gap(patch, lane_b, lane_box, lane_a, r, t))
                if g < most:
                    stack[top, 0], stack[top, 1], far[top] = lane_a, lane_b, g
                    top += 1
            if g >= most:
                bound = min(bound, g)
    level[BOUND] = bound
    return found, top


@inner_kernel
def walk_trees(
    # trees of all surfaces, the two that meet: first block, vertex and triangle
    surfaces, lane_box, lane_link, patch, block_a, v_a, t_a, block_b, v_b, t_b,
    # in: pose of B in the axes of A, how deep one may be in the other
    r, t, deep,
    # in: how far to look for leaves, at least level[REACH]
    reach,
    # in and out
    rows, level,
    # scratch; `leaf` holds the last leaves that were found
    spot, gap, stack, far, leaf,
):  # fmt: skip
    """Fill `rows` with the candidates of two surfaces; their number.

    Also how many pairs of leaves there were, if all of them are in `leaf`, else -1. A search for
    the distance ends when all is wanted instead.
    """
    count, top, found, rounds, distance = 0, 1, 0, 0, level[WANTED] == DISTANCE
    stack[0, 0], stack[0, 1], far[0] = LANES * block_a, LANES * block_b, -inf
    while top > 0 and not (distance and level[WANTED] == ALL):
        # Where the nearest is wanted each one found shortens the reach.
        wanted_all = level[WANTED] == ALL
        found, top = find_leaves(
            lane_box, lane_link, patch, r, t, max(reach, level[REACH]) if wanted_all else
            level[REACH], BATCH if wanted_all else 1, stack, far, top, level, leaf, gap,
        )  # fmt: skip
        count = try_leaves(
            surfaces, lane_box, lane_link, patch, v_a, t_a, v_b, t_b, r, t, deep,
            leaf, 0, found, rows, count, level, spot,
        )  # fmt: skip
        rounds += 1
    return count, found if rounds == 1 else -1


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
