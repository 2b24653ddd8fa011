"""Wide BVH: the binary BVH collapsed to eight children a node, laid out for SIMD [Ylitie2017].

A node of the binary BVH takes up to eight nodes below it for the children of a wide node. They are
chosen so that few wide nodes are opened, each with a probability like the surface of its box, which
fills most of the eight slots. Numbers of the same kind of all children of a wide node stand side by
side, which lets the compiler test eight boxes with the instructions for one. Child k of wide node i
has the number WIDTH i + k.
"""

from math import inf, sqrt

import numpy as np

from drystone.jit import kernel

WIDTH = 8  # children of a wide node
BOX_FLOATS = 6 * WIDTH  # of a wide node: centres x, y, z, then half sizes x, y, z, of all children
UNUSED = -1
# What is near a box counts as well: its sides are longer by this part of those of the root.
GROWTH = 0.03
FAR = -1e300  # half size of an unused child: nothing is near it


def build_wide(node_box: np.ndarray, node_link: np.ndarray):
    """wide_box (wide nodes * BOX_FLOATS,), child_link (children, 2), child_node (children,).

    child_link: wide node of its children and 0; or first triangle and count of a leaf; or UNUSED,
    0. The first child of the first wide node is the root.
    """
    most = len(node_link) // 2 + 2  # every wide node but the first stands for an inner node
    child_node = np.full(most * WIDTH, UNUSED, dtype=np.int32)
    child_link = np.zeros((most * WIDTH, 2), dtype=np.int32)
    child_link[:, 0] = UNUSED
    count = fill_wide(
        node_box, node_link, child_node, child_link,
        np.empty((len(node_link), WIDTH + 1), dtype=np.float32),
        np.zeros((len(node_link), WIDTH + 1), dtype=np.int8),
        np.empty((WIDTH, 2), dtype=np.int32),
    )  # fmt: skip
    child_node, child_link = child_node[: count * WIDTH].copy(), child_link[: count * WIDTH].copy()
    box = node_box[child_node]
    centre, half = 0.5 * (box[:, :3] + box[:, 3:]), 0.5 * (box[:, 3:] - box[:, :3])
    centre[child_node == UNUSED], half[child_node == UNUSED] = 0.0, FAR
    return side_by_side(np.concatenate([centre, half], axis=1)), child_link, child_node


def side_by_side(rows: np.ndarray) -> np.ndarray:
    """One row of numbers from those of all children, by wide node, then by column."""
    nodes = rows.reshape(-1, WIDTH, rows.shape[1])
    return np.ascontiguousarray(nodes.transpose(0, 2, 1)).reshape(-1)


@kernel
def _half_area(node_box, node, grow):
    x = node_box[node, 3] - node_box[node, 0] + grow
    y = node_box[node, 4] - node_box[node, 1] + grow
    z = node_box[node, 5] - node_box[node, 2] + grow
    return x * y + y * z + z * x


@kernel
def _choose(node_box, node_link, cost, share):
    """Which nodes become children: those with which wide nodes have the least surface.

    cost   (nodes, WIDTH + 1) out: of a node that takes so many slots of a wide node at most
    share  (nodes, WIDTH + 1) out: how many of them its left part takes; 0 if it is one child
    """
    grow = GROWTH * sqrt(_half_area(node_box, 0, 0.0))
    for node in range(len(node_link) - 1, -1, -1):
        if node_link[node, 1] > 0:
            cost[node], share[node] = 0.0, 0
            continue
        left, right = node + 1, node_link[node, 0]
        for slots in range(2, WIDTH + 1):
            cost[node, slots] = inf
            for k in range(1, slots):
                both = cost[left, k] + cost[right, slots - k]
                if both < cost[node, slots]:
                    cost[node, slots], share[node, slots] = both, k
        cost[node, 1], share[node, 1] = _half_area(node_box, node, grow) + cost[node, WIDTH], 0
        for slots in range(2, WIDTH):
            if cost[node, 1] <= cost[node, slots]:
                cost[node, slots], share[node, slots] = cost[node, 1], 0


@kernel
def _open(node_link, share, node, child_node, first, waiting):
    """List the nodes under `node` that are children of its wide node, in the BVH's order."""
    waiting[0, 0], waiting[0, 1], top, count = node, WIDTH, 1, 0
    while top > 0:
        top -= 1
        now, slots = waiting[top, 0], waiting[top, 1]
        left = share[now, slots]
        if left == 0:
            child_node[first + count] = now
            count += 1
            continue
        waiting[top, 0], waiting[top, 1] = node_link[now, 0], slots - left
        waiting[top + 1, 0], waiting[top + 1, 1] = now + 1, left
        top += 2


@kernel
def fill_wide(node_box, node_link, child_node, child_link, cost, share, waiting):
    """Fill the tables, wide node after wide node; their number. The last three are scratch."""
    _choose(node_box, node_link, cost, share)
    child_node[0] = 0
    count, child = 1, 0
    while child < count * WIDTH:
        node = child_node[child]
        if node != UNUSED:
            child_link[child, 0], child_link[child, 1] = node_link[node, 0], node_link[node, 1]
            if node_link[node, 1] == 0:
                child_link[child, 0] = count
                _open(node_link, share, node, child_node, count * WIDTH, waiting)
                count += 1
        child += 1
    return count
