"""The part of a surface under each node of its tree: where it lies and which way it looks.

A patch is bounded by a flat cylinder along its mean normal, which fits close surfaces far better
than a box does, and by the cone of the normals of all that its triangles own: its faces, both sides
of its ridges, all sides of its corners. Two patches can touch only where their cones
face each other, and where one sees the other within its cone [Johnson2001].
"""

from math import acos, asin, atan, cos, pi, sin, sqrt

import numpy as np

from drystone.jit import inner_kernel, kernel
from drystone.jit.vec import cross, dot, load, sub
from drystone.shapes.bvh.build import MOST_AROUND, OWNS_CORNER, OWNS_EDGE

# Columns: unit axis (3), middle (3), half height, radius [m], cosine and sine of the half angle
# of the cone (cosine NOT_A_PATCH: wider than a half space, the rest is of no use); radius of a
# ball about the middle [m], cosine and sine of the angle by which contacts of overlapping
# surfaces may lie beside the normal.
PATCH_COLUMNS = 13
NOT_A_PATCH = -2.0
# By how much contacts may miss the cone [rad]: half the slope LYING of mesh_features.py, as two
# cones meet.
CONE_ROOM = 0.5 * asin(0.2) + 0.01
# Overlapping ridges in a kink may be beside each other by this part of the overlap (SLANT of
# mesh_features.py), corners in a hollow by this many times the sine of its bend (HOLLOW_REACH
# there, at two edges at once).
SLANT, HOLLOW_REACH = 0.3, 2.0 * sqrt(2.0)


def find_patches(vertex, triangle, normal, neighbour, owns, node_link) -> np.ndarray:
    """(nodes, PATCH_COLUMNS) of a tree whose triangles lie in its order; see PATCH_COLUMNS."""
    patch = np.empty((len(node_link), PATCH_COLUMNS))
    last = np.empty(len(node_link), dtype=np.int32)
    fill_patches(vertex, triangle, normal, neighbour, owns, node_link, last, patch)
    return patch


@inner_kernel
def patch_middle(patch, i):
    return patch[i, 3], patch[i, 4], patch[i, 5]


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
def _bound(vertex, triangle, first, last, x, y, z, patch, node):
    """Middle, half height and radius of the cylinder along an axis."""
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
    patch[node, 3], patch[node, 4], patch[node, 5] = mx, my, mz
    half = 0.5 * (high - low)
    patch[node, 6], patch[node, 7], patch[node, 10] = half, sqrt(far2), sqrt(half * half + far2)


@kernel
def fill_patches(vertex, triangle, normal, neighbour, owns, node_link, last, patch):
    """Fill `patch`; `last` (nodes,) is scratch: the end of each node's triangles."""
    for node in range(node_link.shape[0] - 1, -1, -1):
        leaf = node_link[node, 1] > 0
        first = _first_triangle(node_link, node)
        last[node] = node_link[node, 0] + node_link[node, 1] if leaf else last[node_link[node, 0]]
        x, y, z, good = _mean_normal(vertex, triangle, first, last[node])
        patch[node, 0], patch[node, 1], patch[node, 2] = x, y, z
        for k in range(3, PATCH_COLUMNS):
            patch[node, k] = 0.0
        patch[node, 8] = NOT_A_PATCH
        if not good:
            continue
        least = _least_cosine(triangle, normal, neighbour, owns, first, last[node], x, y, z)
        angle = acos(min(max(least, -1.0), 1.0)) + CONE_ROOM
        if angle < 0.5 * pi:
            patch[node, 8], patch[node, 9] = cos(angle), sin(angle)
            _bound(vertex, triangle, first, last[node], x, y, z, patch, node)
            aside = atan(_most_beside(vertex, triangle, normal, neighbour, first, last[node]))
            patch[node, 11], patch[node, 12] = cos(aside), sin(aside)
