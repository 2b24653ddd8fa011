"""Reverse Cuthill-McKee ordering [Cuthill1969] of one island of a block matrix.

Not scipy's: it must run inside compiled kernels without allocation. Layer by layer from a contact
at the rim, those with few neighbours first. For stacks and walls the bandwidth is then that of one
layer, and the factors of banded_lu.py cost in proportion to the height.
"""

from drystone.jit import inner_kernel, kernel


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
