"""Minimum degree ordering [Amestoy1996] of the bodies of an island, and what their factors hold.

A body that is eliminated couples all those with which it was coupled: they become an element, which
takes the place of the elements that it came from. The next body is always one that is coupled with
few others; how many is bounded from above, since to count exactly costs more than the factors.
A brick wall of 2000 stones takes a tenth of the operations of a band after Cuthill-McKee, a heap
of 1000 cubes a fiftieth. No supervariables: islands are small enough without.
"""

from typing import NamedTuple

import numpy as np

from drystone.jit import kernel

LIVE, ELEMENT, GONE = 0, 1, 2
BLOCK_OPERATIONS = 216.0  # of a block of 6 x 6 for each entry of the square of a column


class Elimination(NamedTuple):
    """Scratch and result for n bodies."""

    order: np.ndarray  # (n,) int32: which body is eliminated when
    start: np.ndarray  # (n,) int32: its column of the factors in what eliminate() returns
    size: np.ndarray  # (n,) int32: how many bodies stand there
    state: np.ndarray  # (n,) int8
    degree: np.ndarray  # (n,) int32: how many bodies each is coupled with, at most
    head: np.ndarray  # (n,) int32: first body of every degree, -1 if none
    after: np.ndarray  # (n,) int32: the next of the same degree
    before: np.ndarray  # (n,) int32
    mark: np.ndarray  # (n,) int32: step in which a body was seen
    stamp: np.ndarray  # (n,) int32: step in which `outside` was set
    outside: np.ndarray  # (n,) int32: bodies of an element that the newest one lacks
    body: np.ndarray  # (links,) int32: bodies that each is coupled with, but by no element
    bodies: np.ndarray  # (n,) int32: how many
    element: np.ndarray  # (links,) int32: elements that each belongs to
    elements: np.ndarray  # (n,) int32: how many


@kernel(_nrt=True)
def new_elimination(n, links):
    i = np.int32
    return Elimination(
        np.zeros(n, i), np.zeros(n, i), np.zeros(n, i), np.zeros(n, np.int8), np.zeros(n, i),
        np.full(n, -1, i), np.full(n, -1, i), np.full(n, -1, i), np.full(n, -1, i),
        np.full(n, -1, i), np.zeros(n, i), np.zeros(links, i), np.zeros(n, i), np.zeros(links, i),
        np.zeros(n, i),
    )  # fmt: skip


@kernel
def _take_out(i, e):
    """Take body `i` out of the list of its degree."""
    before, after = e.before[i], e.after[i]
    if before >= 0:
        e.after[before] = after
    else:
        e.head[e.degree[i]] = after
    if after >= 0:
        e.before[after] = before


@kernel
def _put_in(i, degree, e):
    first = e.head[degree]
    e.degree[i], e.before[i], e.after[i], e.head[degree] = degree, -1, first, i
    if first >= 0:
        e.before[first] = i


@kernel
def _new_element(p, step, used, first, e, rows):
    """Bodies that `p` is coupled with, from rows[used] on; its elements are gone. How many."""
    count, e.mark[p] = 0, step
    for k in range(first[p], first[p] + e.bodies[p]):
        e.mark[e.body[k]] = step
        rows[used + count] = e.body[k]
        count += 1
    for k in range(first[p], first[p] + e.elements[p]):
        old = e.element[k]
        e.state[old] = GONE
        for m in range(e.start[old], e.start[old] + e.size[old]):
            j = rows[m]
            if e.mark[j] != step:
                e.mark[j] = step
                rows[used + count] = j
                count += 1
    e.state[p], e.start[p], e.size[p] = ELEMENT, used, count
    return count


@kernel
def _count_outside(p, step, first, e, rows):
    for m in range(e.start[p], e.start[p] + e.size[p]):
        i = rows[m]
        for k in range(first[i], first[i] + e.elements[i]):
            old = e.element[k]
            if e.state[old] == ELEMENT:
                if e.stamp[old] != step:
                    e.stamp[old], e.outside[old] = step, e.size[old]
                e.outside[old] -= 1


@kernel
def _renew_degree(i, p, step, first, e):
    """Body `i` of the new element `p`: forget what that covers. Returns its degree, at most."""
    degree, kept = e.size[p] - 1, 0
    for k in range(first[i], first[i] + e.elements[i]):
        old = e.element[k]
        if e.state[old] == ELEMENT:
            if e.outside[old] == 0:
                e.state[old] = GONE
                continue
            e.element[first[i] + kept] = old
            degree += e.outside[old]
            kept += 1
    e.element[first[i] + kept] = p
    e.elements[i] = kept + 1
    kept = 0
    for k in range(first[i], first[i] + e.bodies[i]):
        j = e.body[k]
        if e.mark[j] != step:
            e.body[first[i] + kept] = j
            kept += 1
    e.bodies[i] = kept
    return min(degree + kept, e.degree[i] + e.size[p] - 1)


@kernel(_nrt=True)
def eliminate(n, first, link, most, e):
    """Order the bodies 0 .. n, each coupled with link[first[i] : first[i + 1]].

    Returns the columns of the factors, bodies one after the other, and the operations that they
    take: more than `most` if it ended early.
    """
    rows = np.empty(2 * first[n] + 8 * n, np.int32)
    used, operations, low = 0, 0.0, 0
    for i in range(n):
        e.bodies[i] = first[i + 1] - first[i]
        for k in range(first[i], first[i + 1]):
            e.body[k] = link[k]
    for i in range(n - 1, -1, -1):
        _put_in(i, e.bodies[i], e)
    for step in range(n):
        while e.head[low] < 0:
            low += 1
        p = e.head[low]
        _take_out(p, e)
        e.order[step] = p
        if used + n - step > rows.shape[0]:
            wider = np.empty(2 * rows.shape[0] + n, np.int32)
            wider[:used] = rows[:used]
            rows = wider
        count = _new_element(p, step, used, first, e, rows)
        used += count
        operations += BLOCK_OPERATIONS * (count + 1.0) ** 2
        if operations > most:
            break
        _count_outside(p, step, first, e, rows)
        for m in range(used - count, used):
            i = rows[m]
            _take_out(i, e)
            degree = min(_renew_degree(i, p, step, first, e), n - step - 2)
            _put_in(i, degree, e)
            low = min(low, degree)
    return rows, operations
