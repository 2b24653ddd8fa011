"""Which bodies are eliminated together: the plan of the factors of block_cholesky.py.

Bodies are numbered in the order of elimination, children of a node of the elimination tree before
it. Those that follow each other and are coupled with the same others form a *front*, which is
factored as one dense matrix [Duff1983]: six rows for each body to be eliminated (pivots) and for
each that these are coupled with. Fronts are joined where that adds little.
"""

from typing import NamedTuple

import numpy as np

from drystone.jit import kernel

# A front is joined to the next one if the zeros that this adds to its factors are no more than
# this share of them, or these have at most so many blocks.
ZEROS, FEW_BLOCKS = 0.25, 12


class Plan(NamedTuple):
    """n bodies in so many fronts."""

    fronts: np.ndarray  # (1,) how many
    pivot: np.ndarray  # (fronts + 1,) int32: first body that each eliminates
    first: np.ndarray  # (fronts + 1,) int32: its other bodies in `item`
    item: np.ndarray  # int32: numbers of bodies, rising within a front
    children: np.ndarray  # (fronts,) int32: fronts whose rest goes into it
    at: np.ndarray  # (fronts + 1,) int64: its factors in `factor`
    factor: np.ndarray  # pivot rows of all fronts
    stack: np.ndarray  # fronts that wait to be added to another
    place: np.ndarray  # (n,) int32 scratch: place of a body in a front
    waiting: np.ndarray  # (fronts,) int32 scratch: fronts on the stack
    low: np.ndarray  # (fronts,) int64 scratch: where each of them begins
    vector: np.ndarray  # (6 n,) scratch


@kernel
def _parents(n, rows, e, when, parent):
    """Of every step of the elimination the one in which its column is used first, -1 if none."""
    for step in range(n):
        when[e.order[step]] = step
    for step in range(n):
        p, least = e.order[step], n
        for m in range(e.start[p], e.start[p] + e.size[p]):
            least = min(least, when[rows[m]])
        parent[step] = least if least < n else -1


@kernel(_nrt=True)
def _postorder(n, e, parent, number):
    """Number the steps such that children come before a node, the largest of them last."""
    child, sibling = np.full(n, -1, np.int32), np.full(n, -1, np.int32)
    for step in range(n):  # the last one put in stands first: the walk below turns that round
        p = parent[step]
        if p >= 0:
            c = child[p]
            if c >= 0 and e.size[e.order[c]] > e.size[e.order[step]]:
                sibling[step], sibling[c] = sibling[c], step
            else:
                sibling[step], child[p] = c, step
    todo, count = np.empty(n, np.int32), n
    for root in range(n - 1, -1, -1):
        if parent[root] >= 0:
            continue
        depth, todo[0] = 1, root
        while depth > 0:  # a node before its children, numbered from the end
            depth -= 1
            step = todo[depth]
            count -= 1
            number[step] = count
            c, begin = child[step], depth
            while c >= 0:
                todo[depth] = c
                depth += 1
                c = sibling[c]
            for k in range((depth - begin) // 2):
                todo[begin + k], todo[depth - 1 - k] = todo[depth - 1 - k], todo[begin + k]


@kernel
def _find_fronts(n, above, size, pivot):
    """Cut the bodies 0 .. n into fronts; how many.

    above   the node of the elimination tree above each, -1 if none
    size    bodies that each is coupled with when it is eliminated
    """
    count, zeros = 0, 0
    pivot[0] = 0
    for j in range(n):
        width = j + 1 - pivot[count]
        joined = False
        if j + 1 < n and above[j] == j + 1:
            extra = width * (1 + size[j + 1] - size[j])
            blocks = (width + 1) * (width + 1 + size[j + 1])
            if zeros + extra <= ZEROS * blocks or blocks <= FEW_BLOCKS:
                joined, zeros = True, zeros + extra
        if not joined:
            count, zeros = count + 1, 0
            pivot[count] = j + 1
    return count


@kernel
def _sort(item, lo, hi):
    for k in range(lo + 1, hi):
        x, m = item[k], k
        while m > lo and item[m - 1] > x:
            item[m] = item[m - 1]
            m -= 1
        item[m] = x


@kernel(_nrt=True)
def make_plan(n, rows, e, order):
    """The plan for what eliminate() found; `order` gets the bodies as they are numbered in it."""
    when, parent, number = np.empty(n, np.int32), np.empty(n, np.int32), np.empty(n, np.int32)
    _parents(n, rows, e, when, parent)
    _postorder(n, e, parent, number)
    above, size = np.empty(n, np.int32), np.empty(n, np.int32)
    for step in range(n):
        j = number[step]
        order[j], size[j] = e.order[step], e.size[e.order[step]]
        above[j] = number[parent[step]] if parent[step] >= 0 else -1
    pivot = np.empty(n + 1, np.int32)
    fronts = _find_fronts(n, above, size, pivot)
    first, at = np.zeros(fronts + 1, np.int32), np.zeros(fronts + 1, np.int64)
    front_of, children = np.empty(n, np.int32), np.zeros(fronts, np.int32)
    for s in range(fronts):
        last = pivot[s + 1] - 1
        for j in range(pivot[s], pivot[s + 1]):
            front_of[j] = s
        first[s + 1] = first[s] + size[last]
        width = last + 1 - pivot[s]
        at[s + 1] = at[s] + 36 * width * (width + size[last])
    item = np.empty(first[fronts], np.int32)
    top, most, low = 0, 0, np.zeros(fronts, np.int64)
    waiting, depth = np.zeros(fronts, np.int32), 0
    for s in range(fronts):
        last = pivot[s + 1] - 1
        p = order[last]
        for m in range(size[last]):
            item[first[s] + m] = number[when[rows[e.start[p] + m]]]
        _sort(item, first[s], first[s + 1])
        if above[last] >= 0:
            children[front_of[above[last]]] += 1
    for s in range(fronts):  # as factor() will, for the height of the stack
        rest = 6 * (first[s + 1] - first[s])
        side = rest + 6 * (pivot[s + 1] - pivot[s])
        most = max(most, top + side * side)
        for _ in range(children[s]):
            depth -= 1
            top = low[waiting[depth]]
        if rest > 0:
            low[s], waiting[depth] = top, s
            depth, top = depth + 1, top + rest * rest
    return Plan(
        np.array([fronts]), pivot, first, item, children, at, np.empty(at[fronts]),
        np.empty(most), np.empty(n, np.int32), waiting, low, np.empty(6 * n),
    )  # fmt: skip
