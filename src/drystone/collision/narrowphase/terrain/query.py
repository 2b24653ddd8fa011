"""The triangles of a terrain or mesh near an AABB, one after the other.

Those of a terrain come from its grid (grid.py), those of a mesh from its BVH (shapes/bvh/build.py).
Nodes still to be visited lie on a stack in rows of the caller's scratch array.
"""

import numpy as np

from drystone.collision.narrowphase.candidates import GROUP
from drystone.collision.narrowphase.terrain.grid import next_in_grid
from drystone.jit import inner_kernel, kernel
from drystone.model.arrays import MESH

STACK_ROWS = 24  # of four nodes: more than the deepest tree has levels
LEAF_CAPACITY = 8  # a place within a leaf is this times a row, plus the triangles still to come

# Two queries may go on at a time; a mesh has no other use for these rows until it is done.
OUTER, INNER = GROUP, GROUP + STACK_ROWS

NOWHERE = (0.0, 0.0, 0.0)
NO_ROTATION = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
# The box in other axes that is met by everything, see _is_met().
EVERYWHERE = (NO_ROTATION, NOWHERE, NOWHERE)


@kernel
def _is_met(box, i, lower, upper, other):
    """Whether node i meets the AABB lower ... upper, and another box in axes of its own.

    `other` is (rotation, position, half): half sizes about the origin of the frame in which ours
    stands at that rotation and position; with zeros for all three it is met by everything.
    """
    r, position, half = other
    for k in range(3):
        if box[i, k] > upper[k] or box[i, 3 + k] < lower[k]:
            return False
    x, y, z = box[i, 0] + box[i, 3], box[i, 1] + box[i, 4], box[i, 2] + box[i, 5]
    u, v, w = box[i, 3] - box[i, 0], box[i, 4] - box[i, 1], box[i, 5] - box[i, 2]
    for k in range(3):
        a, b, c = r[3 * k], r[3 * k + 1], r[3 * k + 2]
        middle = 0.5 * (a * x + b * y + c * z) + position[k]
        if abs(middle) > half[k] + 0.5 * (abs(a) * u + abs(b) * v + abs(c) * w):
            return False
    return True


@kernel
def _next_in_tree(shapes, lower, upper, other, waiting, entry, scratch, at):
    node_box, node_link = shapes.node_box, shapes.node_link
    if entry % LEAF_CAPACITY > 0:
        return entry // LEAF_CAPACITY, waiting, entry + LEAF_CAPACITY - 1
    while waiting > 0:
        waiting -= 1
        node = int(scratch[at + waiting // 4, waiting % 4])
        if not _is_met(node_box, node, lower, upper, other):
            continue
        link, count = np.int64(node_link[node, 0]), node_link[node, 1]
        if count > 0:
            return link, waiting, (link + 1) * LEAF_CAPACITY + count - 1
        scratch[at + waiting // 4, waiting % 4] = link
        waiting += 1
        scratch[at + waiting // 4, waiting % 4] = node + 1
        waiting += 1
    return -1, waiting, entry


@inner_kernel
def begin_query(shapes, t, scratch, at):
    """The first of the two numbers that say where a query stands; the other begins with 0."""
    if shapes.kind[t] != MESH:
        return 0
    scratch[at, 0] = shapes.tree[shapes.table[t]]
    return 1


@inner_kernel
def next_triangle(
    # in: terrain or mesh t; AABB in its axes, its cells; another box, see _is_met()
    shapes, t, lower, upper, span, other,
    # in: where the query stands
    cell, entry,
    # scratch: STACK_ROWS rows from `at` that nobody else uses until the query ends
    scratch, at,
):  # fmt: skip
    """Row of the next triangle whose AABB may meet the given ones (-1: no more), new state."""
    if shapes.kind[t] == MESH:
        return _next_in_tree(shapes, lower, upper, other, cell, entry, scratch, at)
    return next_in_grid(shapes, shapes.table[t], lower, upper, span, cell, entry)
