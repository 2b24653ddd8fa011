"""Islands of bodies: who touches whom, and the scratch of one island.

The equations of body_system.py couple bodies that touch, six unknowns each. An island is found by a
walk over bodies that touch (ordering.py), and numbered for sparse factors (min_degree.py).
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
    first: np.ndarray  # (bodies + 1,) int32: bodies of higher place that each touches
    column: np.ndarray  # (pairs of bodies,) int32
    pair: np.ndarray  # (m,) int32: block of the two bodies of a contact, -1 if one does not move
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
def new_body_work(graph, row, count, pairs):
    """Scratch for so many bodies, of which so many pairs touch, with the contacts `row`."""
    m, n = row.shape[0], 6 * count
    return BodyWork(
        np.zeros(count, np.int32), np.zeros(graph.slot.shape[0], np.int32), row,
        np.zeros(count + 1, np.int32), np.zeros(pairs, np.int32), np.zeros(m, np.int32),
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


@kernel(_nrt=True)
def rows_of_island(lo, size, graph):
    """Contacts of the island graph.order[:size]; they are marked as seen."""
    most = 0
    for i in range(size):
        c = graph.order[i]
        most += graph.first[c + 1] - graph.first[c]
    row, count = np.empty(most, np.int32), 0
    for i in range(size):
        c = graph.order[i]
        for m in range(graph.first[c], graph.first[c + 1]):
            r = graph.item[m]
            if graph.seen[r - lo] == 0:
                graph.seen[r - lo] = 1
                row[count] = r
                count += 1
    return row[:count].copy()


@kernel(_nrt=True)
def links_of_island(size, graph):
    """Bodies that each body of the island graph.order[:size] touches, by their place in it."""
    first, total = np.zeros(size + 1, np.int32), 0
    for i in range(size):
        c = graph.order[i]
        total += graph.link_first[c + 1] - graph.link_first[c]
        first[i + 1] = total
    link, used = np.empty(total, np.int32), 0
    for i in range(size):
        c = graph.order[i]
        for k in range(graph.link_first[c], graph.link_first[c + 1]):
            link[used] = graph.place[graph.link[k]]
            used += 1
    return first, link


@kernel(_nrt=True)
def number_island(order, first, link, graph, rows, mass, work):
    """Fill what `work` says about bodies and pairs, for bodies graph.order[order]."""
    size, used = order.shape[0], 0
    number = np.empty(size, np.int32)
    for i in range(size):
        b = graph.body[graph.order[order[i]]]
        work.body[i], work.place[b], number[order[i]] = b, i, i
    for i in range(size):
        for k in range(first[order[i]], first[order[i] + 1]):
            if number[link[k]] > i:
                work.column[used] = number[link[k]]
                used += 1
        work.first[i + 1] = used
    for i in range(work.row.shape[0]):
        a, b = rows.body[work.row[i], 0], rows.body[work.row[i], 1]
        work.pair[i] = -1
        if mass[a, 0] > 0.0 and mass[b, 0] > 0.0:
            p, q = work.place[a], work.place[b]
            low, high = min(p, q), max(p, q)
            for k in range(work.first[low], work.first[low + 1]):
                if work.column[k] == high:
                    work.pair[i] = size + k
