"""One island taken out of a block matrix, in an order that keeps its entries near the diagonal.

The order is that of [Cuthill1969], reversed: layer by layer from a contact at the rim, those with
few neighbours first. For stacks and walls the bandwidth is then that of one layer, and the factors
of dense.py cost in proportion to the height.
"""

from typing import NamedTuple

import numpy as np

from drystone.jit import inner_kernel, kernel
from drystone.newton import Island, NewtonRoom, newton_room
from drystone.packed import table

# What the step has room for.
MOST_CONTACTS = 512  # of an island; more than that have a band too wide to be worth it
MOST_BLOCKS = 24 * MOST_CONTACTS
MOST_NUMBERS = 1_000_000  # of the factors, 8 MB
# Chains and trees of joints have narrow bands, however long they are.
JOINT_BLOCKS = 32  # room for each block of rows of joints: neighbours
JOINT_NUMBERS = 300  # and numbers of the factors


@table
class Links(NamedTuple):
    """Who is coupled with whom among the contacts of a group."""

    pair: np.ndarray  # (contacts, 2) int32: their bodies
    slot: np.ndarray  # (n + 1,) int32: number of a body within the group, -1 elsewhere
    body_first: np.ndarray  # (2 contacts + 1,) int32
    body_item: np.ndarray  # (2 contacts,) int32: 2 * contact + side
    mark: np.ndarray  # (contacts,) int32
    first: np.ndarray  # (contacts + 1,) int32: coupled contacts, those of contact c
    column: np.ndarray  # (blocks,) int32
    order: np.ndarray  # (contacts,) int32: see gather.order_island
    place: np.ndarray  # (contacts,) int32
    impulse: np.ndarray  # (contacts, 3) in that order [N s]
    jacobian: np.ndarray  # (contacts, 36): for A and B, of three rows each, six numbers
    answer: np.ndarray  # (contacts, 36): inverse mass times those


@table
class IslandWork(NamedTuple):
    links: Links
    island: Island
    newton: NewtonRoom


def island_work(bodies: int, nodes: int = 0) -> IslandWork:
    """Scratch for islands of a world of so many bodies and blocks of three rows of joints."""
    n = min(MOST_CONTACTS, 64 * bodies) + nodes
    blocks = min(MOST_BLOCKS + JOINT_BLOCKS * nodes, n * n)

    def i(size):
        return np.zeros(size, np.int32)

    return IslandWork(
        Links(
            np.zeros((n, 2), np.int32), np.full(bodies + 1, -1, np.int32), i(2 * n + 1), i(2 * n),
            i(n), i(n + 1), i(blocks), i(n), i(n), np.zeros((n, 3)), np.zeros((n, 36)),
            np.zeros((n, 36)),
        ),
        island_room(n, blocks),
        newton_room(n, min(MOST_NUMBERS + JOINT_NUMBERS * nodes, 9 * n * (n + 1))),
    )  # fmt: skip


def island_room(n: int, blocks: int) -> Island:
    """Room for an island of up to `n` contacts and that many blocks."""
    return Island(
        first=np.zeros(n + 1, dtype=np.int32), column=np.zeros(blocks, dtype=np.int32),
        value=np.zeros((blocks, 9)), q=np.zeros((n, 3)), friction=np.zeros(n), scale=np.zeros(n),
        flat=np.zeros(n, dtype=np.bool_), joint=np.zeros(n, dtype=np.bool_),
        lower=np.zeros((n, 3)), upper=np.zeros((n, 3)), soft=np.zeros((n, 3)),
        own=np.ones((n, 3)), bounded=np.zeros(1, dtype=np.bool_),
    )  # fmt: skip


@kernel
def _walk(start, first, column, place, order):
    """Breadth-first order from contact `start`, few neighbours first; returns its length.

    `place` is -1 for contacts that were not seen yet, and their place in `order` afterwards.
    """
    order[0], place[start] = start, 0
    done, found = 0, 1
    while done < found:
        c = order[done]
        done += 1
        layer = found
        for k in range(first[c], first[c + 1]):
            j = column[k]
            if place[j] >= 0:
                continue
            degree = first[j + 1] - first[j]
            i = found
            while i > layer and first[order[i - 1] + 1] - first[order[i - 1]] > degree:
                order[i] = order[i - 1]
                i -= 1
            order[i], place[j] = j, 0
            found += 1
        for i in range(layer, found):
            place[order[i]] = i
    return found


@kernel
def order_island(start, first, column, place, order):
    """Reversed Cuthill-McKee order of the island of contact `start` in `order` and `place`."""
    for _ in range(2):  # the last one of a walk from the rim lies on the rim
        n = _walk(start, first, column, place, order)
        start = order[n - 1]
        for i in range(n):
            place[order[i]] = -1
    n = _walk(start, first, column, place, order)
    for i in range(n // 2):
        order[i], order[n - 1 - i] = order[n - 1 - i], order[i]
    for i in range(n):
        place[order[i]] = i
    return n


@kernel
def gather_island(n, order, place, blocks, q, friction, island):
    """Copy the contacts order[:n] and what couples them into `island`."""
    used = 0
    for i in range(n):
        c = order[i]
        island.first[i] = used
        flat = q[c, 2] == 0.0
        for k in range(blocks.first[c], blocks.first[c + 1]):
            island.column[used] = place[blocks.column[k]]
            for m in range(9):
                island.value[used, m] = blocks.value[k, m]
            off = blocks.column[k] != c
            for m in (2, 5, 6, 7, 8):
                if blocks.value[k, m] != 0.0 and (m != 8 or off):
                    flat = False
            used += 1
        for m in range(3):
            island.q[i, m] = q[c, m]
        island.friction[i], island.scale[i] = friction[c], blocks.scale[c]
        island.flat[i] = flat
    island.first[n] = used


@inner_kernel
def band_numbers(n, island, low, high):
    """Numbers to store and operations to factor the matrix, if no contact were open."""
    for i in range(n):
        low[i], high[i] = i, i
        for k in range(island.first[i], island.first[i + 1]):
            low[i] = min(low[i], island.column[k])
    for i in range(n):
        high[low[i]] = max(high[low[i]], i)
    stored, operations = 0.0, 0.0
    for i in range(n):
        high[i] = max(high[i], high[max(i - 1, 0)])
        width = 2.0 if island.flat[i] else 3.0
        reach = width * (high[i] - i + 1)
        stored += width * (reach + width * (i - low[i]) + 3.0)
        operations += 2.0 * width * reach * reach
    return stored, operations
