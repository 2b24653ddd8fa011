"""Closest point of a triangle mesh through its BVH, and its signed distance [Baerentzen2005].

The BVH is searched nearest box first. The sign is that of the pseudo-normal of the
feature that holds the closest point: of a face its normal, of an edge the sum
of the two beside it, of a vertex the sum of all around it, weighted by their angles.
"""

from math import inf, sqrt
from typing import NamedTuple

import numpy as np

from drystone.jit import inner_kernel, kernel
from drystone.jit.vec import add, dot, load, mad, normalize, scale, sub
from drystone.shapes.bvh.build import MOST_LEVELS
from drystone.shapes.sdf.point_triangle import foot_on

# Nodes that wait: one for each level, and two.
STACK = MOST_LEVELS + 8
# Closest points nearer than this part of the triangle's side leave no direction between: the
# pseudo-normal is taken. Above the rounding of coordinates, 1e-16, of a mesh a thousand sides
# large.
TOUCHING = 1e-11


class Solids(NamedTuple):
    """The tables of `arrays.Shapes` that distances are found from."""

    terrain: np.ndarray
    vertex: np.ndarray
    triangle: np.ndarray
    normal: np.ndarray
    neighbour: np.ndarray
    vertex_normal: np.ndarray
    tree: np.ndarray
    node_box: np.ndarray
    node_link: np.ndarray
    octree: np.ndarray
    octree_frame: np.ndarray
    octree_child: np.ndarray
    octree_value: np.ndarray


def vertex_normals(vertex: np.ndarray, triangle: np.ndarray, normal: np.ndarray) -> np.ndarray:
    """(nv, 3) normals of the faces at each vertex, weighted by their angles there."""
    total = np.zeros((len(vertex), 3))
    for k in range(3):
        x, y, z = (vertex[triangle[:, (k + i) % 3]] for i in range(3))
        a, b = y - x, z - x
        angle = np.arctan2(np.linalg.norm(np.cross(a, b), axis=1), np.einsum("ij,ij->i", a, b))
        np.add.at(total, triangle[:, k], angle[:, None] * normal)
    length = np.linalg.norm(total, axis=1, keepdims=True)
    return total / np.where(length > 0.0, length, 1.0)


@kernel
def box_distance2(node_box, i, x):
    dx = max(node_box[i, 0] - x[0], 0.0, x[0] - node_box[i, 3])
    dy = max(node_box[i, 1] - x[1], 0.0, x[1] - node_box[i, 4])
    dz = max(node_box[i, 2] - x[2], 0.0, x[2] - node_box[i, 5])
    return dx * dx + dy * dy + dz * dz


@kernel
def corners_of(solids, first, row):
    return (
        load(solids.vertex, first + solids.triangle[row, 0]),
        load(solids.vertex, first + solids.triangle[row, 1]),
        load(solids.vertex, first + solids.triangle[row, 2]),
    )


@kernel
def _pseudo_normal(solids, k, row, feature):
    n = load(solids.normal, row)
    if feature == 0:
        return n
    if feature <= 3:
        corner = solids.triangle[row, feature - 1]
        return load(solids.vertex_normal, solids.terrain[k, 0] + corner)
    other = solids.neighbour[row, feature - 4]
    if other < 0:
        return n
    return normalize(add(n, load(solids.normal, solids.terrain[k, 1] + other)))


@inner_kernel
def signed_distance(solids, k, x, limit, stack):
    """Distance [m] of x from mesh k, negative inside, and its gradient; inf if beyond `limit`.

    x      in the axes of the mesh
    stack  (STACK,) scratch
    """
    root, first = solids.tree[k], solids.terrain[k, 0]
    best2, best_row, best_feature, best = limit * limit, -1, 0, x
    top = 1
    stack[0] = root
    while top > 0:
        top -= 1
        i = stack[top]
        if box_distance2(solids.node_box, i, x) >= best2:
            continue
        link, count = solids.node_link[i, 0], solids.node_link[i, 1]
        if count == 0:
            near, far = i + 1, link
            near2 = box_distance2(solids.node_box, near, x)
            far2 = box_distance2(solids.node_box, far, x)
            if far2 < near2:
                near, far, near2, far2 = far, near, far2, near2
            if far2 < best2:
                stack[top] = far
                top += 1
            if near2 < best2:
                stack[top] = near
                top += 1
            continue
        for row in range(link, link + count):
            a, b, c = corners_of(solids, first, row)
            y, feature = foot_on(a, b, c, x)
            d = sub(x, y)
            distance2 = dot(d, d)
            if distance2 < best2:
                best2, best_row, best_feature, best = distance2, row, feature, y
    if best_row < 0:
        return inf, (0.0, 0.0, 1.0)
    return _with_sign(solids, k, best_row, best_feature, x, best)


@kernel
def _with_sign(solids, k, row, feature, x, y):
    """Signed distance of x from its closest point y, and the gradient."""
    n = _pseudo_normal(solids, k, row, feature)
    d = sub(x, y)
    a, b, _ = corners_of(solids, solids.terrain[k, 0], row)
    if feature == 0:
        return dot(n, sub(x, a)), n
    distance, e = sqrt(dot(d, d)), sub(b, a)
    side = 1.0 if dot(n, d) >= 0.0 else -1.0
    if distance <= TOUCHING * sqrt(dot(e, e)):
        return side * distance, n
    return side * distance, scale(d, side / distance)


@inner_kernel
def other_face(solids, k, x, limit, n, m, alike, foot, small, stack):
    """Height of x over, and normal of, the nearest face that holds it besides those along n, m.

    It must be within `limit` and straight over or under x to `small`, its normal not `alike`
    [cosine] n or m, and `foot`, the nearest point of all, in front of it: in a hollow the feet on
    its sides are in front of each other, on a ridge they are not.
    """
    first = solids.terrain[k, 0]
    best, best_height, found = limit, inf, n
    top = 1
    stack[0] = solids.tree[k]
    while top > 0:
        top -= 1
        i = stack[top]
        if box_distance2(solids.node_box, i, x) >= best * best:
            continue
        link, count = solids.node_link[i, 0], solids.node_link[i, 1]
        if count == 0:
            stack[top], stack[top + 1] = link, i + 1
            top += 2
            continue
        for row in range(link, link + count):
            face = load(solids.normal, row)
            if max(dot(face, n), dot(face, m)) > alike:
                continue
            a, b, c = corners_of(solids, first, row)
            height = dot(face, sub(x, a))
            if abs(height) >= best or dot(face, sub(foot, a)) <= small:
                continue
            aside = mad(sub(x, foot_on(a, b, c, x)[0]), face, -height)
            if dot(aside, aside) <= small * small:
                best, best_height, found = abs(height), height, face
    return best_height, found
