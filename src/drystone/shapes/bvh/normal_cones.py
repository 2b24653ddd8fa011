"""Spatialized normal cones of the nodes of a BVH [Johnson2001]: where a surface is and faces.

The triangles under a node are bounded by a flat cylinder along their mean normal, which fits close
surfaces far better than a box does, and by the cone of the normals of all that they own: faces,
both sides of ridges, all sides of corners. Two nodes can touch only where their cones face each
other, and where one sees the other within its cone.
"""

from math import acos, asin, atan, cos, pi, sin, sqrt

import numpy as np

from drystone.jit import inner_kernel, kernel
from drystone.jit.vec import cross, dot, load, sub
from drystone.shapes.bvh.build import MOST_AROUND, OWNS_CORNER, OWNS_EDGE

# Columns: unit axis (3), centre (3), half height, radius [m], cosine and sine of the half angle
# of the cone (cosine NO_CONE: wider than a half space, the rest is of no use); radius of a
# sphere about the centre [m], cosine and sine of the angle by which contacts of overlapping
# surfaces may lie beside the normal.
CONE_COLUMNS = 13
NO_CONE = -2.0
# By how much contacts may miss the cone [rad]: half the slope LYING of triangle_features.py, as two
# cones meet.
CONE_MARGIN = 0.5 * asin(0.2) + 0.01
# Overlapping ridges in a kink may be beside each other by this part of the overlap (SLANT of
# triangle_features.py), corners in a hollow by this many times the sine of its bend (HOLLOW_REACH
# there, at two edges at once).
SLANT, HOLLOW_REACH = 0.3, 2.0 * sqrt(2.0)


def find_cones(vertex, triangle, normal, neighbour, owns, node_link) -> np.ndarray:
    """(nodes, CONE_COLUMNS) of a BVH whose triangles lie in its order; see CONE_COLUMNS."""
    cone = np.empty((len(node_link), CONE_COLUMNS))
    last = np.empty(len(node_link), dtype=np.int32)
    fill_cones(vertex, triangle, normal, neighbour, owns, node_link, last, cone)
    return cone


@inner_kernel
def cone_centre(cone, i):
    return cone[i, 3], cone[i, 4], cone[i, 5]


@kernel
def _first_triangle(node_link, node):
    while node_link[node, 1] == 0:
        node += 1
    return node_link[node, 0]


@kernel
def _mean_normal(vertex, triangle, first, last):
    """Unit vector along the sum of the area vectors, and whether there is one."""
    x, y, z = 0.0, 0.0, 0.0
    for t in range(first, last):
        a, b, c = triangle[t, 0], triangle[t, 1], triangle[t, 2]
        at = load(vertex, a)
        area = cross(sub(load(vertex, b), at), sub(load(vertex, c), at))
        x, y, z = x + area[0], y + area[1], z + area[2]
    length = sqrt(x * x + y * y + z * z)
    if length == 0.0:
        return 0.0, 0.0, 1.0, False
    return x / length, y / length, z / length, True


@kernel
def _least_around(triangle, normal, neighbour, t, corner, x, y, z):
    """Least cosine of an axis with the normals around a corner; -1 at the border."""
    v = triangle[t, corner]
    least = 1.0
    now, k = t, corner
    for _ in range(MOST_AROUND):
        least = min(least, dot(load(normal, now), (x, y, z)))
        now = neighbour[now, (k + 2) % 3]
        if now < 0:
            return -1.0
        if now == t:
            return least
        for i in range(3):
            if triangle[now, i] == v:
                k = i
    return -1.0


@kernel
def _least_cosine(triangle, normal, neighbour, owns, first, last, x, y, z):
    """Least cosine of an axis with the normals of all that triangles first ... last - 1 own."""
    least = 1.0
    for t in range(first, last):
        least = min(least, dot(load(normal, t), (x, y, z)))
        for k in range(3):
            if owns[t] & (OWNS_EDGE << k):
                other = neighbour[t, k]
                if other < 0:
                    return -1.0
                least = min(least, dot(load(normal, other), (x, y, z)))
            if owns[t] & (OWNS_CORNER << k):
                least = min(least, _least_around(triangle, normal, neighbour, t, k, x, y, z))
        if least < 0.0:
            return least
    return least


@kernel
def _most_beside(vertex, triangle, normal, neighbour, first, last):
    """How far contacts in the hollows of triangles first ... last - 1 lie aside, over the depth."""
    most = SLANT
    for t in range(first, last):
        for k in range(3):
            if neighbour[t, k] < 0:
                continue
            e = sub(load(vertex, triangle[t, (k + 1) % 3]), load(vertex, triangle[t, k]))
            bend = -dot(cross(load(normal, t), load(normal, neighbour[t, k])), e) / sqrt(dot(e, e))
            most = max(most, HOLLOW_REACH * bend)
    return most


@kernel
def _bound(vertex, triangle, first, last, x, y, z, cone, node):
    """Centre, half height and radius of the cylinder along an axis."""
    low, high = 1e300, -1e300
    mx, my, mz, count = 0.0, 0.0, 0.0, 0
    for t in range(first, last):
        for k in range(3):
            v = triangle[t, k]
            height = vertex[v, 0] * x + vertex[v, 1] * y + vertex[v, 2] * z
            low, high = min(low, height), max(high, height)
            mx, my, mz = mx + vertex[v, 0], my + vertex[v, 1], mz + vertex[v, 2]
            count += 1
    mx, my, mz = mx / count, my / count, mz / count
    lift = 0.5 * (low + high) - (mx * x + my * y + mz * z)
    mx, my, mz = mx + lift * x, my + lift * y, mz + lift * z
    far2 = 0.0
    for t in range(first, last):
        for k in range(3):
            v = triangle[t, k]
            dx, dy, dz = vertex[v, 0] - mx, vertex[v, 1] - my, vertex[v, 2] - mz
            height = dx * x + dy * y + dz * z
            far2 = max(far2, dx * dx + dy * dy + dz * dz - height * height)
    cone[node, 3], cone[node, 4], cone[node, 5] = mx, my, mz
    half = 0.5 * (high - low)
    cone[node, 6], cone[node, 7], cone[node, 10] = half, sqrt(far2), sqrt(half * half + far2)


@kernel
def fill_cones(vertex, triangle, normal, neighbour, owns, node_link, last, cone):
    """Fill `cone`; `last` (nodes,) is scratch: the end of each node's triangles."""
    for node in range(node_link.shape[0] - 1, -1, -1):
        leaf = node_link[node, 1] > 0
        first = _first_triangle(node_link, node)
        last[node] = node_link[node, 0] + node_link[node, 1] if leaf else last[node_link[node, 0]]
        x, y, z, good = _mean_normal(vertex, triangle, first, last[node])
        cone[node, 0], cone[node, 1], cone[node, 2] = x, y, z
        for k in range(3, CONE_COLUMNS):
            cone[node, k] = 0.0
        cone[node, 8] = NO_CONE
        if not good:
            continue
        least = _least_cosine(triangle, normal, neighbour, owns, first, last[node], x, y, z)
        angle = acos(min(max(least, -1.0), 1.0)) + CONE_MARGIN
        if angle < 0.5 * pi:
            cone[node, 8], cone[node, 9] = cos(angle), sin(angle)
            _bound(vertex, triangle, first, last[node], x, y, z, cone, node)
            aside = atan(_most_beside(vertex, triangle, normal, neighbour, first, last[node]))
            cone[node, 11], cone[node, 12] = cos(aside), sin(aside)
