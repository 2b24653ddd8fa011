"""Binned SAH build of the BVH of one mesh or terrain [Wald2007]; features that each triangle owns.

Top down: a set of triangles is cut where the surface area heuristic over sixteen bins of their
centres is least, until at most LEAF are left. Where a set is both sides of a wall the two are
parted first, so that each has a narrow normal cone (normal_cones.py): boxes cannot tell the sides
of a thin shell apart. Nodes are numbered depth first, left before right, so a left child follows
its parent.
"""

from math import inf, sqrt

import numpy as np

from drystone.jit import kernel
from drystone.jit.vec import dot, load, norm

LEAF = 2  # triangles of a leaf at most
BINS = 16
# Cuts of a path by the heuristic; deeper sets are halved by number, which bounds the depth.
DEEP = 48
# Cuts of the deepest path, with halvings of up to 2**24 triangles.
MOST_LEVELS = DEEP + 24
# Triangles are the two sides of a wall if their area vectors, those of one side reversed, add
# up to this share of the area, and if each side has at least that share of it.
ALIGNED, SIDE = 0.8, 0.2
ITERATIONS = 4  # in which the direction across the wall is found
# Triangles bent by less than this [rad] are flat: rounding of coordinates, not a ridge.
FLAT_BEND = 1e-5
# A direction supports a corner if no edge rises above its plane by more than this [rad].
SUPPORT = 1e-9
MOST_AROUND = 64  # edges at a vertex that are tested; with more it counts as a corner

# Bits of `owns`: corner k, edge from corner k to k + 1.
OWNS_CORNER, OWNS_EDGE = 1, 8


def build_tree(vertex: np.ndarray, triangle: np.ndarray):
    """Order of the triangles (m,), node_box (nodes, 6), node_link (nodes, 2), see arrays.Shapes."""
    count = len(triangle)
    corners = vertex[triangle]
    box = np.concatenate([corners.min(axis=1), corners.max(axis=1)], axis=1)
    order = np.arange(count, dtype=np.int32)
    node_box = np.empty((2 * count, 6))
    node_link = np.empty((2 * count, 2), dtype=np.int32)
    area = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    nodes = fill_tree(
        np.ascontiguousarray(box), area, order, np.empty(count, np.bool_),
        np.empty(count, np.int32), np.empty((BINS, 8)), np.empty((BINS, 8)),
        np.empty((MOST_LEVELS + 8, 4), np.int32), node_box, node_link,
    )  # fmt: skip
    return order, node_box[:nodes].copy(), node_link[:nodes].copy()


@kernel
def _bound(box, order, first, last, node_box, node):
    """Write the box of the triangles order[first:last]; the axis along which centres spread."""
    axis, widest = 0, -1.0
    for k in range(3):
        lower, upper, low, high = inf, -inf, inf, -inf
        for i in range(first, last):
            t = order[i]
            lower, upper = min(lower, box[t, k]), max(upper, box[t, 3 + k])
            middle = box[t, k] + box[t, 3 + k]
            low, high = min(low, middle), max(high, middle)
        node_box[node, k], node_box[node, 3 + k] = lower, upper
        if high - low > widest:
            axis, widest = k, high - low
    return axis


@kernel
def _centre_range(box, order, first, last, axis):
    low, high = inf, -inf
    for i in range(first, last):
        middle = box[order[i], axis] + box[order[i], 3 + axis]
        low, high = min(low, middle), max(high, middle)
    return low, high


@kernel
def _bin(box, t, axis, low, high):
    share = (box[t, axis] + box[t, 3 + axis] - low) / (high - low)
    return min(int(BINS * share), BINS - 1)


@kernel
def _clear(bins):
    for b in range(BINS):
        bins[b, 6], bins[b, 7] = 0.0, 0.0
        for k in range(3):
            bins[b, k], bins[b, 3 + k] = inf, -inf


@kernel
def _grow(bins, b, other, row):
    for k in range(3):
        bins[b, k] = min(bins[b, k], other[row, k])
        bins[b, 3 + k] = max(bins[b, 3 + k], other[row, 3 + k])


@kernel
def _half_area(bins, b):
    x, y, z = bins[b, 3] - bins[b, 0], bins[b, 4] - bins[b, 1], bins[b, 5] - bins[b, 2]
    return x * y + y * z + z * x


@kernel
def _best_cut(box, order, first, last, axis, low, high, bins, left):
    """Number of bins to the left of the cheapest cut."""
    _clear(bins)
    _clear(left)
    for i in range(first, last):
        b = _bin(box, order[i], axis, low, high)
        _grow(bins, b, box, order[i])
        bins[b, 6] += 1.0
    for b in range(BINS):  # left[b]: all of the bins 0 ... b
        if b > 0:
            _grow(left, b, left, b - 1)
            left[b, 6] = left[b - 1, 6]
        _grow(left, b, bins, b)
        left[b, 6] += bins[b, 6]
    best, least = BINS // 2, inf
    for b in range(BINS - 1, 0, -1):  # bins[b]: all of the bins b ... BINS - 1
        if b < BINS - 1:
            _grow(bins, b, bins, b + 1)
            bins[b, 6] += bins[b + 1, 6]
        if bins[b, 6] > 0.0 and left[b - 1, 6] > 0.0:
            cost = bins[b, 6] * _half_area(bins, b) + left[b - 1, 6] * _half_area(left, b - 1)
            if cost < least:
                best, least = b, cost
    return best


@kernel
def _partition(order, in_left, spare, first, last):
    """Bring the triangles that are `in_left` to the front, in their order; where they end."""
    at, others = first, 0
    for i in range(first, last):
        t = order[i]
        if in_left[t]:
            order[at] = t
            at += 1
        else:
            spare[others] = t
            others += 1
    for i in range(others):
        order[at + i] = spare[i]
    return at


@kernel
def _across(area, order, first, last):
    """Direction across the wall whose two sides some triangles are; 0, 0, 0 if they are none.

    area  (m, 3) area vectors of all triangles
    """
    largest, size, total = first, 0.0, 0.0
    for i in range(first, last):
        length = norm(load(area, order[i]))
        total += length
        if length > size:
            largest, size = i, length
    d, along, against = load(area, order[largest]), 0.0, 0.0
    for _ in range(ITERATIONS):
        x, y, z, along, against = 0.0, 0.0, 0.0, 0.0, 0.0
        for i in range(first, last):
            n = load(area, order[i])
            if dot(n, d) >= 0.0:
                x, y, z, along = x + n[0], y + n[1], z + n[2], along + norm(n)
            else:
                x, y, z, against = x - n[0], y - n[1], z - n[2], against + norm(n)
        d = x, y, z
    if norm(d) < ALIGNED * total or min(along, against) <= SIDE * total:
        return 0.0, 0.0, 0.0
    return d


@kernel
def fill_tree(
    # in: boxes of the triangles, and their area vectors
    box, area,
    # in and out
    order,
    # scratch
    in_left, spare, bins, left, stack,
    # out
    node_box, node_link,
):  # fmt: skip
    """Fill the node tables and bring `order` into the order of the leaves; number of nodes."""
    nodes, top = 0, 1
    # A set that waits: its first and last triangle, its level, the parent whose right child it is.
    stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3] = 0, order.shape[0], 0, -1
    while top > 0:
        top -= 1
        first, last = stack[top, 0], stack[top, 1]
        level, parent = stack[top, 2], stack[top, 3]
        node = nodes
        nodes += 1
        if parent >= 0:
            node_link[parent, 0] = node
        axis = _bound(box, order, first, last, node_box, node)
        if last - first <= LEAF:
            node_link[node, 0], node_link[node, 1] = first, last - first
            continue
        low, high = _centre_range(box, order, first, last, axis)
        middle = first
        across = _across(area, order, first, last)
        if level < DEEP and norm(across) > 0.0:
            for i in range(first, last):
                in_left[order[i]] = dot(load(area, order[i]), across) >= 0.0
            middle = _partition(order, in_left, spare, first, last)
        elif level < DEEP and high > low:
            cut = _best_cut(box, order, first, last, axis, low, high, bins, left)
            for i in range(first, last):
                in_left[order[i]] = _bin(box, order[i], axis, low, high) < cut
            middle = _partition(order, in_left, spare, first, last)
        if middle == first or middle == last:
            middle = (first + last) // 2
        node_link[node, 0], node_link[node, 1] = 0, 0
        stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3] = middle, last, level + 1, node
        top += 1
        stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3] = first, middle, level + 1, -1
        top += 1
    return nodes


def find_owned(vertex, triangle, normal, neighbour) -> np.ndarray:
    """(m,) bits of the corners and edges for which each triangle stands; each has one owner.

    Edges are owned if they are ridges (convex) or the border, vertices if they are corners: if
    their normal cone has an inside, so that a flat body can touch the surface there and nowhere
    nearby.
    """
    owns = np.zeros(len(triangle), dtype=np.int32)
    done = np.zeros(len(vertex), dtype=np.uint8)
    mark_owned(vertex, triangle, normal, neighbour, done, np.empty((MOST_AROUND, 3)), owns)
    return owns


@kernel
def _bend(vertex, triangle, normal, neighbour, t, k):
    """Sine of the bend at edge k, positive on a ridge; 1 at the border."""
    other = neighbour[t, k]
    if other < 0:
        return 1.0
    p, q = triangle[t, k], triangle[t, (k + 1) % 3]
    x, y, z = vertex[q, 0] - vertex[p, 0], vertex[q, 1] - vertex[p, 1], vertex[q, 2] - vertex[p, 2]
    cx = normal[t, 1] * normal[other, 2] - normal[t, 2] * normal[other, 1]
    cy = normal[t, 2] * normal[other, 0] - normal[t, 0] * normal[other, 2]
    cz = normal[t, 0] * normal[other, 1] - normal[t, 1] * normal[other, 0]
    return (cx * x + cy * y + cz * z) / sqrt(x * x + y * y + z * z)


@kernel
def _add_edge(vertex, v, w, around, count):
    """Unit vector from vertex v to w, in row `count`; the new count."""
    if count < MOST_AROUND:
        x, y = vertex[w, 0] - vertex[v, 0], vertex[w, 1] - vertex[v, 1]
        z = vertex[w, 2] - vertex[v, 2]
        length = sqrt(x * x + y * y + z * z)
        around[count, 0], around[count, 1], around[count, 2] = x / length, y / length, z / length
    return count + 1


@kernel
def _edges_around(vertex, triangle, normal, neighbour, t, corner, around):
    """Unit vectors of the edges at a corner of triangle t, in one direction, then the other."""
    v = triangle[t, corner]
    count = 0
    for direction in range(2):
        now, k = t, corner
        for _ in range(MOST_AROUND):
            count = _add_edge(vertex, v, triangle[now, (k + 1) % 3], around, count)
            nearby = neighbour[now, (k + 2) % 3 if direction == 0 else k]
            if nearby == t:
                return count
            if nearby < 0:
                if direction == 0:
                    count = _add_edge(vertex, v, triangle[now, (k + 2) % 3], around, count)
                if count < MOST_AROUND:  # the border is that of solid ground
                    for i in range(3):
                        around[count, i] = -normal[now, i]
                    count += 1
                break
            now = nearby
            for i in range(3):
                if triangle[now, i] == v:
                    k = i
    return count


@kernel
def _highest(around, count, x, y, z):
    """How far the edges rise along a direction, at most."""
    highest = -inf
    for i in range(count):
        highest = max(highest, around[i, 0] * x + around[i, 1] * y + around[i, 2] * z)
    return highest


@kernel
def _is_corner(around, count):
    """Whether the normal cone of a vertex has an inside: all edges fall away from it.

    The rays of that cone are normals of planes through two edges; their sum lies inside it.
    """
    sx, sy, sz = 0.0, 0.0, 0.0
    for i in range(count):
        for j in range(i):
            x = around[i, 1] * around[j, 2] - around[i, 2] * around[j, 1]
            y = around[i, 2] * around[j, 0] - around[i, 0] * around[j, 2]
            z = around[i, 0] * around[j, 1] - around[i, 1] * around[j, 0]
            length = sqrt(x * x + y * y + z * z)
            if length < FLAT_BEND:
                continue
            x, y, z = x / length, y / length, z / length
            for _ in range(2):
                x, y, z = -x, -y, -z
                if _highest(around, count, x, y, z) <= SUPPORT:
                    sx, sy, sz = sx + x, sy + y, sz + z
    length = sqrt(sx * sx + sy * sy + sz * sz)
    if length == 0.0:
        return False
    return _highest(around, count, sx / length, sy / length, sz / length) < -FLAT_BEND


@kernel
def mark_owned(vertex, triangle, normal, neighbour, done, around, owns):
    """Fill `owns`; `done` (vertices,) and `around` are scratch."""
    for t in range(triangle.shape[0]):
        for k in range(3):
            other = neighbour[t, k]
            if (other < 0 or other > t) and _bend(
                vertex, triangle, normal, neighbour, t, k
            ) > FLAT_BEND:
                owns[t] |= OWNS_EDGE << k
            v = triangle[t, k]
            if done[v] == 0:
                done[v] = 1
                count = _edges_around(vertex, triangle, normal, neighbour, t, k, around)
                if count > MOST_AROUND or _is_corner(around, count):
                    owns[t] |= OWNS_CORNER << k
