"""Islands of bodies: who touches whom, an order of the bodies, and the scratch of one island.

The equations of body_system.py couple bodies that touch, six unknowns each. Reversed Cuthill-McKee
(ordering.py) keeps the band that of one layer: a tower, a wall or a row of dominoes is factored in
time proportional to its length.
"""

from typing import NamedTuple

import numpy as np

from drystone.jit import inner_kernel, kernel


class BodyGraph(NamedTuple):
    """Bodies that move and the contacts of each, of one group of rows."""

    slot: np.ndarray  # (n + 1,) int32: number of a body within the group, -1 elsewhere
    body: np.ndarray  # (bodies,) int32
    first: np.ndarray  # (bodies + 1,) int32: rows of the contacts of each
    item: np.ndarray  # (2 contacts,) int32
    link_first: np.ndarray  # (bodies + 1,) int32: bodies that each touches
    link: np.ndarray  # (2 contacts,) int32
    place: np.ndarray  # (bodies,) int32: see ordering.py
    order: np.ndarray  # (bodies,) int32
    mark: np.ndarray  # (bodies,) int32
    seen: np.ndarray  # (contacts,) int32


class BodyWork(NamedTuple):
    """Scratch of one island of some bodies and m contacts."""

    body: np.ndarray  # (bodies,) int32, in their order
    place: np.ndarray  # (n + 1,) int32: place of a body in that order
    row: np.ndarray  # (m,) int32: rows of the contacts
    low: np.ndarray  # (6 bodies,) int32, and the next two: see banded_lu.py
    high: np.ndarray
    at: np.ndarray
    inertia: np.ndarray  # (bodies, 7) mass, and the inertia about world axes xx xy xz yy yz zz
    added: np.ndarray  # (6 bodies,) velocities less the free ones
    y: np.ndarray  # (6 bodies,) right side, then the change of the velocities
    force: np.ndarray  # (6 bodies,) scratch
    centre: np.ndarray  # (m, 3) centre of the proximal point method [N s]
    impulse: np.ndarray  # (m, 3) [N s]
    best: np.ndarray  # (m, 3)
    velocity: np.ndarray  # (m, 3) at the contacts, bias included [m/s]
    change: np.ndarray  # (m, 3) of these in a Newton step
    shift: np.ndarray  # (m,) mu |u_t|, what makes the law that of a convex cone [m/s]
    jacobian: np.ndarray  # (2, 3, 6) of one contact, for A and B
    stiff: np.ndarray  # (2, 3, 6) its stiffness times that


@kernel(_nrt=True)
def new_graph(bodies, contacts):
    """Room for `contacts` rows between that many bodies of the world."""
    most = min(bodies, 2 * contacts)
    return BodyGraph(
        np.full(bodies + 1, -1, np.int32), np.zeros(most, np.int32), np.zeros(most + 1, np.int32),
        np.zeros(2 * contacts, np.int32), np.zeros(most + 1, np.int32),
        np.zeros(2 * contacts, np.int32), np.full(most, -1, np.int32), np.zeros(most, np.int32),
        np.zeros(most, np.int32), np.zeros(contacts, np.int32),
    )  # fmt: skip


@kernel(_nrt=True)
def new_body_work(graph, count, contacts):
    """Scratch for the bodies graph.order[:count] with so many contacts."""
    m, n = contacts, 6 * count
    return BodyWork(
        np.zeros(count, np.int32), np.zeros(graph.slot.shape[0], np.int32), np.zeros(m, np.int32),
        np.zeros(n, np.int32), np.zeros(n, np.int32), np.zeros(n, np.int32),
        np.zeros((count, 7)), np.zeros(n), np.zeros(n), np.zeros(n),
        np.zeros((m, 3)), np.zeros((m, 3)), np.zeros((m, 3)), np.zeros((m, 3)), np.zeros((m, 3)),
        np.zeros(m), np.zeros((2, 3, 6)), np.zeros((2, 3, 6)),
    )  # fmt: skip


@inner_kernel
def list_contacts(lo, n, chosen, rows, mass, graph):
    """Bodies that move among the chosen ones of the rows lo .. lo + n, and the rows of each; how
    many bodies."""
    slot, first, item = graph.slot, graph.first, graph.item
    count = 0
    for r in range(lo, lo + n):
        if chosen[r - lo] == 0:
            continue
        for side in range(2):
            b = rows.body[r, side]
            if mass[b, 0] > 0.0:
                if slot[b] < 0:
                    slot[b] = count
                    graph.body[count] = b
                    first[count] = 0
                    count += 1
                first[slot[b]] += 1
    total = 0
    for k in range(count):
        total += first[k]
        first[k] = total
    first[count] = total
    for r in range(lo + n - 1, lo - 1, -1):
        if chosen[r - lo] == 0:
            continue
        for side in range(2):
            b = rows.body[r, side]
            if mass[b, 0] > 0.0:
                first[slot[b]] -= 1
                item[first[slot[b]]] = r
    return count


@inner_kernel
def link_bodies(count, rows, mass, graph):
    """Which bodies touch each other."""
    used = 0
    for k in range(count):
        graph.mark[k] = -1
    for k in range(count):
        graph.link_first[k] = used
        graph.mark[k] = k
        for m in range(graph.first[k], graph.first[k + 1]):
            for side in range(2):
                b = rows.body[graph.item[m], side]
                if mass[b, 0] > 0.0 and graph.mark[graph.slot[b]] != k:
                    graph.mark[graph.slot[b]] = k
                    graph.link[used] = graph.slot[b]
                    used += 1
    graph.link_first[count] = used


@inner_kernel
def count_contacts(lo, size, graph):
    """Contacts of the island graph.order[:size]; they are marked as seen."""
    count = 0
    for i in range(size):
        c = graph.order[i]
        for m in range(graph.first[c], graph.first[c + 1]):
            if graph.seen[graph.item[m] - lo] == 0:
                graph.seen[graph.item[m] - lo] = 1
                count += 1
    return count


@inner_kernel
def take_island(lo, size, graph, work):
    """Bodies, contacts and the first column of every row of the island graph.order[:size]."""
    m = 0
    for i in range(size):
        c = graph.order[i]
        work.body[i] = graph.body[c]
        work.place[graph.body[c]] = i
        left = i
        for k in range(graph.link_first[c], graph.link_first[c + 1]):
            left = min(left, graph.place[graph.link[k]])
        for k in range(6):
            work.low[6 * i + k] = 6 * left
        for k in range(graph.first[c], graph.first[c + 1]):
            r = graph.item[k]
            if graph.seen[r - lo] == 1:
                graph.seen[r - lo] = 2
                work.row[m] = r
                m += 1


@inner_kernel
def factor_operations(size, high):
    """Multiplications and additions that lu_factor() takes."""
    total = 0.0
    for i in range(size):
        width = float(high[i] - i + 1)
        total += 2.0 * width * width
    return total
