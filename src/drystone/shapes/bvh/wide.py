"""The box tree again, eight children to a node, laid out so that one goes through them at once.

A node of the binary tree takes up to eight nodes below it for its children: a block of eight lanes.
They are chosen so that few blocks are opened, each with a chance like the surface of its box, which
fills most lanes [Ylitie2017]. Numbers of the same kind of all lanes of a block stand side by side,
which lets the compiler test eight boxes with the instructions for one.
"""

from math import inf, sqrt

import numpy as np

from drystone.jit import kernel

LANES = 8
BLOCK = 6 * LANES  # floats of a block: middles x, y, z, then half sizes x, y, z, of all lanes
UNUSED = -1
# What is near a box counts as well: its sides are longer by this part of those of the whole.
ROOM = 0.03
FAR = -1e300  # half size of an unused lane: nothing is near it


def build_lanes(node_box: np.ndarray, node_link: np.ndarray):
    """lane_box (blocks * BLOCK,), lane_link (lanes, 2) and the node of every lane (lanes,).

    lane_link: block of its children and 0; or first triangle and count of a leaf; or UNUSED, 0.
    The first lane of the first block is the root.
    """
    most = len(node_link) // 2 + 2  # every block but the first stands for an inner node
    lane_node = np.full(most * LANES, UNUSED, dtype=np.int32)
    lane_link = np.zeros((most * LANES, 2), dtype=np.int32)
    lane_link[:, 0] = UNUSED
    blocks = fill_lanes(
        node_box, node_link, lane_node, lane_link,
        np.empty((len(node_link), LANES + 1), dtype=np.float32),
        np.zeros((len(node_link), LANES + 1), dtype=np.int8),
        np.empty((LANES, 2), dtype=np.int32),
    )  # fmt: skip
    lane_node, lane_link = lane_node[: blocks * LANES].copy(), lane_link[: blocks * LANES].copy()
    box = node_box[lane_node]
    middle, half = 0.5 * (box[:, :3] + box[:, 3:]), 0.5 * (box[:, 3:] - box[:, :3])
    middle[lane_node == UNUSED], half[lane_node == UNUSED] = 0.0, FAR
    return side_by_side(np.concatenate([middle, half], axis=1)), lane_link, lane_node


def side_by_side(rows: np.ndarray) -> np.ndarray:
    """One row of numbers from those of all lanes, block by block and column by column."""
    blocks = rows.reshape(-1, LANES, rows.shape[1])
    return np.ascontiguousarray(blocks.transpose(0, 2, 1)).reshape(-1)


@kernel
def _half_area(node_box, node, grow):
    x = node_box[node, 3] - node_box[node, 0] + grow
    y = node_box[node, 4] - node_box[node, 1] + grow
    z = node_box[node, 5] - node_box[node, 2] + grow
    return x * y + y * z + z * x


@kernel
def _choose(node_box, node_link, cost, share):
    """Which nodes become lanes: those with which blocks have the least surface.

    cost   (nodes, LANES + 1) out: of a node that takes so many lanes of a block at most
    share  (nodes, LANES + 1) out: how many of them its left part takes; 0 if it is one lane
    """
    grow = ROOM * sqrt(_half_area(node_box, 0, 0.0))
    for node in range(len(node_link) - 1, -1, -1):
        if node_link[node, 1] > 0:
            cost[node], share[node] = 0.0, 0
            continue
        left, right = node + 1, node_link[node, 0]
        for room in range(2, LANES + 1):
            cost[node, room] = inf
            for k in range(1, room):
                both = cost[left, k] + cost[right, room - k]
                if both < cost[node, room]:
                    cost[node, room], share[node, room] = both, k
        cost[node, 1], share[node, 1] = _half_area(node_box, node, grow) + cost[node, LANES], 0
        for room in range(2, LANES):
            if cost[node, 1] <= cost[node, room]:
                cost[node, room], share[node, room] = cost[node, 1], 0


@kernel
def _open(node_link, share, node, lane_node, first, waiting):
    """List the nodes under `node` that are lanes of its block, in the tree's order."""
    waiting[0, 0], waiting[0, 1], top, count = node, LANES, 1, 0
    while top > 0:
        top -= 1
        now, room = waiting[top, 0], waiting[top, 1]
        left = share[now, room]
        if left == 0:
            lane_node[first + count] = now
            count += 1
            continue
        waiting[top, 0], waiting[top, 1] = node_link[now, 0], room - left
        waiting[top + 1, 0], waiting[top + 1, 1] = now + 1, left
        top += 2


@kernel
def fill_lanes(node_box, node_link, lane_node, lane_link, cost, share, waiting):
    """Fill the tables, block after block; number of blocks. The last three are scratch."""
    _choose(node_box, node_link, cost, share)
    lane_node[0] = 0
    blocks, lane = 1, 0
    while lane < blocks * LANES:
        node = lane_node[lane]
        if node != UNUSED:
            lane_link[lane, 0], lane_link[lane, 1] = node_link[node, 0], node_link[node, 1]
            if node_link[node, 1] == 0:
                lane_link[lane, 0] = blocks
                _open(node_link, share, node, lane_node, blocks * LANES, waiting)
                blocks += 1
        lane += 1
    return blocks
