"""The bottom of the intersection of two bodies: which of its points get a force (PENALTY III A).

Points are taken in the order of their depth, the deepest first. Seen along the normal, those so far
are a polygon, a fan about the first of them; a point is kept if it lies outside, and is dropped if
deeper points surround it (PENALTY Fig. 5). Points of equal depth are taken from the outside
inwards, so that a face that lies flat keeps its corners and not what lies between them.
"""

from math import atan2, floor, inf, pi, sqrt

from drystone.jit import inner_kernel, kernel
from drystone.jit.vec import dot, load, tangents

# Depths that differ by less than this share of the extent of the points are equal, and points
# nearer than that to the polygon inside it.
EQUAL = 1e-6


@kernel
def _project(n, count, work):
    """Points on the contact plane; their extent [m]."""
    t1, t2 = tangents(n)
    low, high, left, right = inf, -inf, inf, -inf
    for c in range(count):
        x = load(work.point, c)
        work.flat[c, 0], work.flat[c, 1] = dot(t1, x), dot(t2, x)
        left, right = min(left, work.flat[c, 0]), max(right, work.flat[c, 0])
        low, high = min(low, work.flat[c, 1]), max(high, work.flat[c, 1])
    return max(right - left, high - low)


@kernel
def _comparator(count, unit, work):
    """The deepest point; among equals the lowest, then the one farthest to the right."""
    best = 0
    for c in range(1, count):
        deeper = floor(work.depth[c] / unit) - floor(work.depth[best] / unit)
        lower = work.flat[best, 1] - work.flat[c, 1]
        if deeper > 0.0 or (
            deeper == 0.0
            and (lower > unit or (lower >= -unit and work.flat[c, 0] > work.flat[best, 0]))
        ):
            best = c
    return best


@kernel
def _before(a, b, top, unit, work):
    """Whether point `a` comes before point `b`: it is deeper, or as deep and farther outside."""
    deep_a, deep_b = floor(work.depth[a] / unit), floor(work.depth[b] / unit)
    if deep_a != deep_b:
        return deep_a > deep_b
    far_a = (work.flat[a, 0] - work.flat[top, 0]) ** 2 + (work.flat[a, 1] - work.flat[top, 1]) ** 2
    far_b = (work.flat[b, 0] - work.flat[top, 0]) ** 2 + (work.flat[b, 1] - work.flat[top, 1]) ** 2
    if far_a != far_b:
        return far_a > far_b
    return a < b


@kernel
def _sink(root, end, top, unit, work):
    """Heap sort: let the point at `root` sink to its place."""
    order = work.order
    while 2 * root + 1 < end:
        child = 2 * root + 1
        if child + 1 < end and _before(order[child], order[child + 1], top, unit, work):
            child += 1
        if not _before(order[root], order[child], top, unit, work):
            return
        order[root], order[child] = order[child], order[root]
        root = child


@kernel
def _sort(count, top, unit, work):
    for c in range(count):
        work.order[c] = c
    for root in range(count // 2 - 1, -1, -1):
        _sink(root, count, top, unit, work)
    for end in range(count - 1, 0, -1):
        work.order[0], work.order[end] = work.order[end], work.order[0]
        _sink(0, end, top, unit, work)


@kernel
def _between(c, top, a, unit, work):
    """Whether point `c` lies on the way from the first point to point `a`."""
    x, y = work.flat[a, 0] - work.flat[top, 0], work.flat[a, 1] - work.flat[top, 1]
    u, v = work.flat[c, 0] - work.flat[top, 0], work.flat[c, 1] - work.flat[top, 1]
    size = sqrt(x * x + y * y)
    along, aside = (x * u + y * v) / size, (x * v - y * u) / size
    return abs(aside) <= unit and 0.0 <= along <= size + unit


@kernel
def _surrounded(c, top, place, size, unit, work):
    """Whether point `c`, which would be number `place` of the fan, is inside the polygon."""
    a, b = work.polygon[(place - 1) % size], work.polygon[place % size]
    gap = work.angle[b] - work.angle[a]
    if place == 0 or place == size:
        gap += 2.0 * pi
    if _between(c, top, a, unit, work) or _between(c, top, b, unit, work):
        return True
    if size < 2 or gap >= pi:
        return False
    x, y = work.flat[b, 0] - work.flat[a, 0], work.flat[b, 1] - work.flat[a, 1]
    u, v = work.flat[c, 0] - work.flat[a, 0], work.flat[c, 1] - work.flat[a, 1]
    return x * v - y * u >= -unit * sqrt(x * x + y * y)


@kernel
def _wrap(top, count, unit, work):
    """The points of the polygon without its first, by their angle about it; their number."""
    size = 0
    for i in range(count):
        c = work.order[i]
        x, y = work.flat[c, 0] - work.flat[top, 0], work.flat[c, 1] - work.flat[top, 1]
        if c == top or x * x + y * y <= unit * unit:
            continue
        work.angle[c] = atan2(y, x)
        low, high = 0, size
        while low < high:
            middle = (low + high) // 2
            if work.angle[work.polygon[middle]] <= work.angle[c]:
                low = middle + 1
            else:
                high = middle
        if size > 0 and _surrounded(c, top, low, size, unit, work):
            continue
        for k in range(size, low, -1):
            work.polygon[k] = work.polygon[k - 1]
        work.polygon[low] = c
        size += 1
    return size


@kernel
def _straighten(size, unit, work):
    """Drop points on a straight side of the polygon that are no deeper than its ends; how many are
    left. They came before a corner that is nearer to the first point."""
    kept = min(size, 1)
    for i in range(1, size):
        a, b = work.polygon[kept - 1], work.polygon[i]
        c = work.polygon[i + 1] if i + 1 < size else b
        x, y = work.flat[c, 0] - work.flat[a, 0], work.flat[c, 1] - work.flat[a, 1]
        u, v = work.flat[b, 0] - work.flat[a, 0], work.flat[b, 1] - work.flat[a, 1]
        length, along = sqrt(x * x + y * y), x * u + y * v
        straight = abs(x * v - y * u) <= unit * length and 0.0 <= along <= length * length
        shallow = work.depth[b] <= max(work.depth[a], work.depth[c]) + unit
        if b != c and straight and shallow:
            continue
        work.polygon[kept] = b
        kept += 1
    return kept


@inner_kernel
def keep_bottom(n, count, most, sign, work, slot, first):
    """Slots of the points on the bottom from row `first`, at most `most`; their number.

    n      outward normal of the contact plane
    sign   by which it becomes the normal of the contact, from A to B

    With `most` = 1 it is the point of deepest penetration. If there are too many of them the
    deepest is kept, and others evenly about it.
    """
    if count == 0:
        return 0
    extent = _project(n, count, work)
    deepest = 0.0
    for c in range(count):
        deepest = max(deepest, work.depth[c])
    unit = EQUAL * max(extent, deepest)
    top = _comparator(count, unit, work)
    size = 0
    if most > 1:
        _sort(count, top, unit, work)
        size = _straighten(_wrap(top, count, unit, work), unit, work)
    kept = min(size, most - 1)
    for i in range(kept + 1):
        c = top if i == 0 else work.polygon[(i - 1) * size // kept]
        row = first + i
        for k in range(3):
            slot[row, k], slot[row, 3 + k] = work.point[c, k], sign * n[k]
        slot[row, 6] = -work.depth[c]
    return kept + 1
