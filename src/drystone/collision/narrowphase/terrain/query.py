"""The triangles of a terrain or mesh near a box, one after the other.

Those of a terrain come from its grid (point.py), those of a mesh from its tree of boxes
(shapes/bvh/build.py). Nodes that wait to be looked at lie in rows of the caller's scratch array.
"""

import numpy as np

from drystone.collision.narrowphase.candidates import GROUP
from drystone.collision.narrowphase.terrain.grid import next_in_grid
from drystone.jit import inner_kernel, kernel

STACK_ROWS = 24  # of four nodes: more than the deepest tree has levels
LEAF_ROOM = 8  # a place within a leaf is this times a row, plus the triangles still to come

# Two searches may go on at a time; a mesh has no other use for these rows until it is done.
OUTER, INNER = GROUP, GROUP + STACK_ROWS

NOWHERE = (0.0, 0.0, 0.0)
NO_TURN = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


@kernel
def _is_met(box, i, lower, upper, turn, place, half):
    """Whether node i meets the box lower ... upper, and another one in axes of its own.

    The other has half sizes `half` about the origin of the frame in which ours stands at `turn`
    and `place`; with zeros for all three it is met by everything.
    """
    for k in range(3):
        if box[i, k] > upper[k] or box[i, 3 + k] < lower[k]:
            return False
    x, y, z = box[i, 0] + box[i, 3], box[i, 1] + box[i, 4], box[i, 2] + box[i, 5]
    u, v, w = box[i, 3] - box[i, 0], box[i, 4] - box[i, 1], box[i, 5] - box[i, 2]
    for k in range(3):
        a, b, c = turn[3 * k], turn[3 * k + 1], turn[3 * k + 2]
        middle = 0.5 * (a * x + b * y + c * z) + place[k]
        if abs(middle) > half[k] + 0.5 * (abs(a) * u + abs(b) * v + abs(c) * w):
            return False
    return True


@kernel
def _next_in_tree(
    node_box, node_link, lower, upper, turn, place, half, waiting, entry, scratch, at
):  # fmt: skip
    if entry % LEAF_ROOM > 0:
        return entry // LEAF_ROOM, waiting, entry + LEAF_ROOM - 1
    while waiting > 0:
        waiting -= 1
        node = int(scratch[at + waiting // 4, waiting % 4])
        if not _is_met(node_box, node, lower, upper, turn, place, half):
            continue
        link, count = np.int64(node_link[node, 0]), node_link[node, 1]
        if count > 0:
            return link, waiting, (link + 1) * LEAF_ROOM + count - 1
        scratch[at + waiting // 4, waiting % 4] = link
        waiting += 1
        scratch[at + waiting // 4, waiting % 4] = node + 1
        waiting += 1
    return -1, waiting, entry


@inner_kernel
def begin_search(on_mesh, tree, k, scratch, at):
    """The first of the two numbers that say where a search stands; the other begins with 0."""
    if not on_mesh:
        return 0
    scratch[at, 0] = tree[k]
    return 1


@inner_kernel
def next_triangle(
    # terrain or mesh
    on_mesh, terrain, grid, k, ground, triangle, cell_first, cell_triangle, node_box, node_link,
    # in: box in its axes, its cells; another box in other axes, see _is_met()
    lower, upper, span, turn, place, half,
    # in: where the search stands
    cell, entry,
    # scratch: STACK_ROWS rows from `at` that nobody else uses until the search ends
    scratch, at,
):  # fmt: skip
    """Row of the next triangle whose box may meet the given ones (-1: no more), new state."""
    if on_mesh:
        return _next_in_tree(
            node_box, node_link, lower, upper, turn, place, half, cell, entry, scratch, at
        )
    return next_in_grid(
        terrain, grid, k, ground, triangle, cell_first, cell_triangle,
        lower, upper, span, cell, entry,
    )  # fmt: skip
