"""Walk down the box trees of two surfaces at once, to the leaves that are near each other.

Boxes are compared along the axes of both trees: the six face axes of the test of separating
axes [Gottschalk1996]; the nine crossed ones seldom decide and cost more than they save. Which
node is opened depends on sizes alone, so that leaves come in the same order in every step; only
where the nearest is wanted are nearer ones opened first.
"""

from math import inf

from drystone.collision.narrowphase.mesh.constants import (
    ALL,
    BOUND,
    DISTANCE,
    FRONT,
    LEAST,
    REACH,
    SLACK,
    WANTED,
)
from drystone.collision.narrowphase.mesh.leaf_pairs import try_leaves
from drystone.collision.narrowphase.mesh.motion_bound import motions
from drystone.collision.narrowphase.mesh.node_test import test_block
from drystone.jit import inner_kernel, kernel
from drystone.jit.vec import dot, load, mul_t, scale
from drystone.shapes.bvh.build import MOST_LEVELS
from drystone.shapes.bvh.wide import BLOCK, LANES

# Pairs of lanes that wait: seven for each level of the two trees, and eight, and one to be tried.
STACK = 14 * MOST_LEVELS + 9
# Pairs of leaves that are found before their triangles are looked at.
BATCH = 512

# Patches are opened by their size times this less the cosine of their half angle.
FLAT = 1.2


@kernel(forceinline=True)
def _size(lane_box, patch, lane):
    """Half sizes of the box of a lane, added up, and more where its surface is bent."""
    at = lane // LANES * BLOCK + lane % LANES
    size = lane_box[at + 3 * LANES] + lane_box[at + 4 * LANES] + lane_box[at + 5 * LANES]
    return size * (FLAT - patch[lane, 8])


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
    lane_box, lane_link, patch, block_patch,
    # in: pose of B in the axes of A, how far to look, how many to find
    r, t, reach, room,
    # in and out: pairs of lanes that wait, their gaps and how large these may be, how many
    stack, far, top, level,
    # out: two and two; how near their triangles must be if they are in front of each other
    leaf, leaf_front,
    # scratch
    gap, most,
):  # fmt: skip
    """Pairs of leaves nearer than `reach`, until there are `room`; their number, what waits."""
    back, t_back = (r[0], r[3], r[6], r[1], r[4], r[7], r[2], r[5], r[8]), mul_t(r, scale(t, -1.0))
    found, bound, nearest_first = 0, level[BOUND], level[WANTED] != ALL
    front, least = level[FRONT] + reach - level[REACH], level[LEAST]
    slack = level[SLACK] if reach <= level[REACH] else inf  # kept leaves may move any way
    motion_a, motion_b = motions(level, r, t)
    while top > 0 and found < room:
        top -= 1
        if far[top, 0] >= reach:  # a nearer one was found meanwhile
            bound = min(bound, far[top, 0])
            continue
        i, j = stack[top, 0], stack[top, 1]
        count_a, count_b = lane_link[i, 1], lane_link[j, 1]
        if count_a > 0 and count_b > 0:
            leaf[2 * found], leaf[2 * found + 1] = i, j
            leaf_front[found] = far[top, 1]
            found += 1
            continue
        limit = min(front, far[top, 1])  # what holds for the two holds for their parts
        larger_a = _size(lane_box, patch, i) >= _size(lane_box, patch, j)
        open_a = count_b > 0 or (count_a == 0 and larger_a)
        if open_a:
            block = lane_link[i, 0]
            test_block(
                lane_box, block_patch, patch, block, j, r, t, motion_a, slack, reach, limit,
                gap, most,
            )  # fmt: skip
        else:
            block = lane_link[j, 0]
            test_block(
                lane_box, block_patch, patch, block, i, back, t_back, motion_b, slack, reach, limit,
                gap, most,
            )  # fmt: skip
        # Backwards, as the last one is opened first. Each is put on top, and stays if it is near.
        last = _least_of(gap) if nearest_first else 0
        for i_lane in range(1, LANES + 1):
            k = (last + LANES - i_lane) & (LANES - 1)
            lane, stays = block * LANES + k, max(gap[k], least) < most[k]
            stack[top, 0], stack[top, 1] = (lane, j) if open_a else (i, lane)
            far[top, 0], far[top, 1] = gap[k], most[k]
            bound = bound if stays else min(bound, gap[k])
            top += 1 if stays else 0
    level[BOUND] = bound
    return found, top


@inner_kernel
def find_all_leaves(
    lane_box, lane_link, patch, block_patch, block_a, block_b, r, t, reach, level,
    gap, most, stack, far, leaf, leaf_front,
):  # fmt: skip
    """All pairs of leaves nearer than `reach`; their number, -1 if there is no room for them."""
    stack[0, 0], stack[0, 1], far[0, 0], far[0, 1] = LANES * block_a, LANES * block_b, -inf, inf
    found, waiting = find_leaves(
        lane_box, lane_link, patch, block_patch, r, t, reach, BATCH, stack, far, 1, level,
        leaf, leaf_front, gap, most,
    )  # fmt: skip
    return found if waiting == 0 else -1


@inner_kernel
def walk_trees(
    # trees of all surfaces, the two that meet: first block, vertex and triangle
    surfaces, lane_box, lane_link, patch, block_patch, block_a, v_a, t_a, block_b, v_b, t_b,
    # in: pose of B in the axes of A, how deep one may be in the other
    r, t, deep,
    # in and out
    rows, level,
    # scratch
    spot, gap, most, stack, far, leaf, leaf_front,
):  # fmt: skip
    """Fill `rows` with the candidates of two surfaces; their number.

    A search for the distance ends when all is wanted instead.
    """
    count, top, distance = 0, 1, level[WANTED] == DISTANCE
    stack[0, 0], stack[0, 1], far[0, 0], far[0, 1] = LANES * block_a, LANES * block_b, -inf, inf
    while top > 0 and not (distance and level[WANTED] == ALL):
        # Where the nearest is wanted each one found shortens the reach.
        found, top = find_leaves(
            lane_box, lane_link, patch, block_patch, r, t, level[REACH],
            BATCH if level[WANTED] == ALL else 1, stack, far, top, level, leaf, leaf_front,
            gap, most,
        )  # fmt: skip
        count = try_leaves(
            surfaces, lane_link, v_a, t_a, v_b, t_b, r, t, deep, leaf, leaf_front, found,
            rows, count, level, spot,
        )  # fmt: skip
        if found > 0:  # what none of their triangles have within reach
            level[BOUND] = min(level[BOUND], level[FRONT])
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
