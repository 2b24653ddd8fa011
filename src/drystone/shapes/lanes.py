"""The box tree again, eight children to a node, laid out so that one goes through them at once.

A node of the binary tree is opened, then the largest of its children and so on, until there are
eight: a block of eight lanes. Numbers of the same kind of all lanes of a block stand side by
side, which lets the compiler test eight boxes with the instructions for one.
"""

import numpy as np

from drystone.jit import kernel

LANES = 8
BLOCK = 6 * LANES  # floats of a block: middles x, y, z, then half sizes x, y, z, of all lanes
UNUSED = -1
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
    blocks = fill_lanes(node_box, node_link, lane_node, lane_link)
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
def _half_area(node_box, node):
    x = node_box[node, 3] - node_box[node, 0]
    y = node_box[node, 4] - node_box[node, 1]
    z = node_box[node, 5] - node_box[node, 2]
    return x * y + y * z + z * x


@kernel
def _open(node_box, node_link, node, lane_node, first):
    """List up to eight nodes under `node`, in the tree's order; how many."""
    lane_node[first], lane_node[first + 1] = node + 1, node_link[node, 0]
    count = 2
    while count < LANES:
        best, largest = -1, -1.0
        for k in range(first, first + count):
            inner = node_link[lane_node[k], 1] == 0
            if inner and _half_area(node_box, lane_node[k]) > largest:
                best, largest = k, _half_area(node_box, lane_node[k])
        if best < 0:
            break
        opened = lane_node[best]
        for k in range(first + count, best + 1, -1):
            lane_node[k] = lane_node[k - 1]
        lane_node[best], lane_node[best + 1] = opened + 1, node_link[opened, 0]
        count += 1
    return count


@kernel
def fill_lanes(node_box, node_link, lane_node, lane_link):
    """Fill the tables, block after block; number of blocks."""
    lane_node[0] = 0
    blocks, lane = 1, 0
    while lane < blocks * LANES:
        node = lane_node[lane]
        if node != UNUSED:
            lane_link[lane, 0], lane_link[lane, 1] = node_link[node, 0], node_link[node, 1]
            if node_link[node, 1] == 0:
                lane_link[lane, 0] = blocks
                _open(node_box, node_link, node, lane_node, blocks * LANES)
                blocks += 1
        lane += 1
    return blocks
