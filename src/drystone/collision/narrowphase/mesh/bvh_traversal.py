"""Simultaneous traversal of two BVHs, down to the leaves that are near each other.

Boxes are compared along the axes of both BVHs: the six face axes of the separating axis test (SAT)
[Gottschalk1996]; the nine edge axes seldom decide and cost more than they save. Which node is
opened depends on sizes alone, so that leaves come in the same order in every step; only where the
nearest is wanted are nearer ones opened first.
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
from drystone.collision.narrowphase.mesh.leaf_pairs import collide_leaves
from drystone.collision.narrowphase.mesh.motion_bound import relative_motions
from drystone.collision.narrowphase.mesh.node_test import test_wide_node
from drystone.jit import inner_kernel, kernel
from drystone.jit.vec import dot, load, mul_t, scale
from drystone.shapes.bvh.build import MOST_LEVELS
from drystone.shapes.bvh.wide import BOX_FLOATS, WIDTH

# Pairs of nodes that wait: seven for each level of the two BVHs, and eight, and one to be tried.
STACK = 14 * MOST_LEVELS + 9
# Pairs of leaves that are found before their triangles are tested.
BATCH = 512

# Nodes are opened by the size of their box times this less the cosine of their cone's half angle.
FLAT = 1.2


@kernel(forceinline=True)
def _size(wide_box, child_cone, child):
    """Half sizes of the box of a child, added up, and more where its surface is bent."""
    at = child // WIDTH * BOX_FLOATS + child % WIDTH
    size = wide_box[at + 3 * WIDTH] + wide_box[at + 4 * WIDTH] + wide_box[at + 5 * WIDTH]
    return size * (FLAT - child_cone[child, 8])


@kernel
def _least_of(gap):
    least = 0
    for k in range(1, WIDTH):
        if gap[k] < gap[least]:
            least = k
    return least


@inner_kernel
def find_leaves(
    # BVHs of all surfaces, the two that meet, how far to search, how many pairs to find
    shapes, pair, reach, most,
    # in and out: pairs of nodes that wait, their number
    work, waiting,
):  # fmt: skip
    """Pairs of leaves nearer than `reach`, until there are `most`; their number, and what waits.

    They are written to work.leaf, two and two, and to work.leaf_front.
    """
    wide_box, child_link, child_cone = shapes.wide_box, shapes.child_link, shapes.child_cone
    query, stack, far, gap, limit = work.query, work.stack, work.stack_gap, work.gap, work.limit
    leaf, leaf_front, r, t = work.leaf, work.leaf_front, pair.r, pair.t
    back, t_back = (r[0], r[3], r[6], r[1], r[4], r[7], r[2], r[5], r[8]), mul_t(r, scale(t, -1.0))
    found, bound, nearest_first = 0, query[BOUND], query[WANTED] != ALL
    front, least = query[FRONT] + reach - query[REACH], query[LEAST]
    slack = query[SLACK] if reach <= query[REACH] else inf  # what is cached may move anywhere
    motion_a, motion_b = relative_motions(query, r, t)
    while waiting > 0 and found < most:
        waiting -= 1
        if far[waiting, 0] >= reach:  # a nearer one was found meanwhile
            bound = min(bound, far[waiting, 0])
            continue
        i, j = stack[waiting, 0], stack[waiting, 1]
        count_a, count_b = child_link[i, 1], child_link[j, 1]
        if count_a > 0 and count_b > 0:
            leaf[2 * found], leaf[2 * found + 1] = i, j
            leaf_front[found] = far[waiting, 1]
            found += 1
            continue
        near = min(front, far[waiting, 1])  # what holds for the two holds for their parts
        larger_a = _size(wide_box, child_cone, i) >= _size(wide_box, child_cone, j)
        open_a = count_b > 0 or (count_a == 0 and larger_a)
        if open_a:
            node = child_link[i, 0]
            test_wide_node(shapes, node, j, r, t, motion_a, slack, reach, near, gap, limit)
        else:
            node = child_link[j, 0]
            test_wide_node(shapes, node, i, back, t_back, motion_b, slack, reach, near, gap, limit)
        # Backwards, as the last one is opened first. Each is put on top, and stays if it is near.
        last = _least_of(gap) if nearest_first else 0
        for n in range(1, WIDTH + 1):
            k = (last + WIDTH - n) & (WIDTH - 1)
            child, stays = node * WIDTH + k, max(gap[k], least) < limit[k]
            stack[waiting, 0], stack[waiting, 1] = (child, j) if open_a else (i, child)
            far[waiting, 0], far[waiting, 1] = gap[k], limit[k]
            bound = bound if stays else min(bound, gap[k])
            waiting += 1 if stays else 0
    query[BOUND] = bound
    return found, waiting


@kernel
def _push_roots(pair, work):
    """Let the pair of root nodes wait alone; how many wait."""
    work.stack[0, 0], work.stack[0, 1] = WIDTH * pair.root_a, WIDTH * pair.root_b
    work.stack_gap[0, 0], work.stack_gap[0, 1] = -inf, inf
    return 1


@inner_kernel
def find_all_leaves(shapes, pair, reach, work):
    """All pairs of leaves nearer than `reach`; their number, -1 if they are more than BATCH."""
    waiting = _push_roots(pair, work)
    found, waiting = find_leaves(shapes, pair, reach, BATCH, work, waiting)
    return found if waiting == 0 else -1


@inner_kernel
def traverse(shapes, pair, work):
    """Fill work.rows with the candidates of two surfaces; their number.

    A search for the distance ends when all is wanted instead.
    """
    query = work.query
    count, waiting, distance = 0, _push_roots(pair, work), query[WANTED] == DISTANCE
    while waiting > 0 and not (distance and query[WANTED] == ALL):
        # Where the nearest is wanted each one found shortens the reach.
        most = BATCH if query[WANTED] == ALL else 1
        found, waiting = find_leaves(shapes, pair, query[REACH], most, work, waiting)
        count = collide_leaves(shapes, pair, found, work, count)
        if found > 0:  # what none of their triangles have within reach
            query[BOUND] = min(query[BOUND], query[FRONT])
    return count


@inner_kernel
def lowest_corner(shapes, root, first_vertex, n, stack):
    """Least n.x over all vertices of a surface."""
    node_box, node_link = shapes.node_box, shapes.node_link
    vertex, triangle = shapes.terrain_vertex, shapes.triangle
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
                x = load(vertex, first_vertex + triangle[row, k])
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
