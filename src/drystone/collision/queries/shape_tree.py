"""A BVH over the shapes of a world as they are now, for queries; planes stand beside it.

Split at the median of the centres along the widest axis, so that it is a complete binary tree in
one array: node i has the children 2 i + 1 and 2 i + 2, and the last `leaves` nodes are the shapes.
"""

from math import inf
from typing import NamedTuple

import numpy as np

from drystone.collision.broadphase import fill_aabb, place_shape
from drystone.jit import kernel
from drystone.jit.table import table
from drystone.model.arrays import PLANE


@table
class ShapeTree(NamedTuple):
    """Poses and AABBs of the shapes of a world, and the tree over them."""

    pose: np.ndarray  # (ns, 12)
    box: np.ndarray  # (ns, 6)
    order: np.ndarray  # (leaves,) shape of each leaf, -1: none
    node: np.ndarray  # (2 leaves - 1, 6) AABBs
    planes: np.ndarray  # (np,) shapes that have no AABB


def plant_tree(shapes, state) -> ShapeTree:
    """The tree of all shapes at the poses of `state`."""
    count = len(shapes.kind)
    bounded = np.flatnonzero(shapes.kind != PLANE).astype(np.int32)
    leaves = 1 << max(len(bounded) - 1, 0).bit_length()
    order = np.full(leaves, -1, np.int32)
    order[: len(bounded)] = bounded
    tree = ShapeTree(
        np.empty((count, 12)), np.empty((count, 6)), order, np.empty((2 * leaves - 1, 6)),
        np.flatnonzero(shapes.kind == PLANE).astype(np.int32),
    )  # fmt: skip
    fill_tree(shapes, state, len(bounded), tree)
    return tree


@kernel
def fill_tree(shapes, state, count, tree):
    """Poses, AABBs and nodes; `order` holds the first `count` shapes on entry."""
    for s in range(shapes.kind.shape[0]):
        place_shape(s, shapes, state.position, state.rotation, tree.pose)
        fill_aabb(s, shapes, tree.pose, 0.0, tree.box)
    _sort(tree.order, tree.box, count)
    leaves, node = tree.order.shape[0], tree.node
    for i in range(leaves):
        s = tree.order[i]
        for k in range(6):
            empty = inf if k < 3 else -inf
            node[leaves - 1 + i, k] = tree.box[s, k] if s >= 0 else empty
    for i in range(leaves - 2, -1, -1):
        for k in range(3):
            node[i, k] = min(node[2 * i + 1, k], node[2 * i + 2, k])
            node[i, 3 + k] = max(node[2 * i + 1, 3 + k], node[2 * i + 2, 3 + k])


@kernel
def _widest(order, box, lo, hi):
    """Axis along which the centres of order[lo:hi] spread most."""
    axis, widest = 0, -1.0
    for k in range(3):
        low, high = inf, -inf
        for i in range(lo, hi):
            x = box[order[i], k] + box[order[i], 3 + k]
            low, high = min(low, x), max(high, x)
        if high - low > widest:
            axis, widest = k, high - low
    return axis


@kernel
def _select(order, box, lo, hi, middle, axis):
    """Quickselect [Hoare1961]: those before `middle` have no larger centres than those after."""
    while hi - lo > 1:
        s = order[(lo + hi) // 2]
        pivot = box[s, axis] + box[s, 3 + axis]
        i, j = lo, hi - 1
        while i <= j:
            while box[order[i], axis] + box[order[i], 3 + axis] < pivot:
                i += 1
            while box[order[j], axis] + box[order[j], 3 + axis] > pivot:
                j -= 1
            if i <= j:
                order[i], order[j] = order[j], order[i]
                i += 1
                j -= 1
        if middle <= j:
            hi = j + 1
        elif middle >= i:
            lo = i
        else:
            return


@kernel
def _sort(order, box, count):
    """Halve ranges of a power of two at their median; a range beyond `count` is empty."""
    size = order.shape[0]
    while size > 1:
        for lo in range(0, count, size):
            hi, middle = min(lo + size, count), lo + size // 2
            if hi > middle:
                _select(order, box, lo, hi, middle, _widest(order, box, lo, hi))
        size //= 2
