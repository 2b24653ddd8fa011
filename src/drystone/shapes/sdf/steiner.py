"""Closed surfaces of parts as triangles with Steiner points (PENALTY App. I A).

Vertices of one body inside another are where the penalty method applies its forces, and long
cylinders or large boxes have few. So triangles are divided at the middle of their longest side
until none is larger than a given area; a side is divided for both triangles that have it, so that
the surface stays closed.
"""

from math import cos, pi, sin

import numpy as np

from drystone.model.arrays import BOX, CAPSULE, CONE, CYLINDER, HULL, MESH, SPHERE

AROUND = 48  # corners of a rim: the deepest point of a wheel is missed by 0.2 % of its radius
ARC = 6  # rings between a pole and the equator of a capsule's end
SPHERE_PASSES = 3  # an icosahedron divided so often: 642 vertices
MOST_PASSES = 40


def part_triangles(part) -> tuple[np.ndarray, np.ndarray] | None:
    """Vertices (n, 3) in the part's axes and outward triangles (m, 3); None: it is not closed."""
    r, half = part.size[0], part.size[1]
    if part.kind in (BOX, HULL):
        return np.array(part.geometry.vertex), np.array(part.geometry.triangles, np.int64)
    if part.kind == MESH:
        return np.array(part.geometry.vertex), np.array(part.geometry.triangle, np.int64)
    if part.kind == SPHERE:
        return _icosphere(r)
    if part.kind == CYLINDER:
        return _revolved([(0.0, -half), (r, -half), (r, half), (0.0, half)])
    if part.kind == CONE:
        return _revolved([(0.0, -half), (r, -half), (0.0, half)])
    if part.kind == CAPSULE:
        bend = [0.5 * pi * k / ARC for k in range(ARC + 1)]
        low = [(r * sin(a), -half - r * cos(a)) for a in bend]
        return _revolved([(0.0, low[0][1]), *low[1:], *[(x, -z) for x, z in low[:0:-1]],
                          (0.0, -low[0][1])])  # fmt: skip
    return None


def surface_area(vertices: np.ndarray, faces: np.ndarray) -> np.ndarray:
    """(m,) of the triangles [m²]."""
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    return 0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1)


def with_steiner_points(
    vertices: np.ndarray, faces: np.ndarray, most_area: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The same surface in triangles of at most `most_area` [m²]; of which old face each is."""
    origin = np.arange(len(faces))
    for _ in range(MOST_PASSES):
        large = surface_area(vertices, faces) > most_area
        if not large.any():
            break
        vertices, faces, parent = _divide(vertices, faces, large)
        origin = origin[parent]
    return vertices, faces, origin


def _divide(vertices, faces, large):
    """The longest side of every large triangle, divided for all that have it."""
    sides = np.stack([faces, np.roll(faces, -1, axis=1)], axis=2)  # (m, 3, 2)
    length = np.linalg.norm(vertices[sides[..., 0]] - vertices[sides[..., 1]], axis=2)
    longest = np.argmax(np.round(length / length.max(), 9), axis=1)
    key = np.sort(sides, axis=2)
    key = key[..., 0] * len(vertices) + key[..., 1]
    chosen = np.unique(key[np.flatnonzero(large), longest[large]])
    place = np.minimum(np.searchsorted(chosen, key), len(chosen) - 1)
    cut = chosen[place] == key  # (m, 3)
    middle = np.where(cut, len(vertices) + place, -1)
    ends = np.stack([chosen // len(vertices), chosen % len(vertices)], axis=1)
    new, parent = [], []
    for f, (corner, mid, first) in enumerate(zip(faces, middle, longest, strict=True)):
        pieces = _pieces(corner.tolist(), mid.tolist(), int(first))
        new += pieces
        parent += [f] * len(pieces)
    return np.vstack([vertices, vertices[ends].mean(axis=1)]), np.array(new), np.array(parent)


def _pieces(corner: list, middle: list, longest: int) -> list:
    """A triangle cut at the middles of its sides (-1: not cut), the longest first."""
    cut = [k for k in range(3) if middle[k] >= 0]
    if not cut:
        return [corner]
    k = longest if longest in cut else cut[0]
    a, b, c = corner[k], corner[(k + 1) % 3], corner[(k + 2) % 3]
    m, bc, ca = middle[k], middle[(k + 1) % 3], middle[(k + 2) % 3]
    one = [[m, b, c]] if bc < 0 else [[m, b, bc], [m, bc, c]]
    two = [[a, m, c]] if ca < 0 else [[a, m, ca], [m, c, ca]]
    return one + two


def _revolved(profile) -> tuple[np.ndarray, np.ndarray]:
    """About z, from points (radius, height) from the lower pole to the upper one."""
    angle = 2.0 * pi * np.arange(AROUND) / AROUND
    rings = [
        np.column_stack([r * np.cos(angle), r * np.sin(angle), np.full(AROUND, z)])
        for r, z in profile[1:-1]
    ]
    poles = np.array([[0.0, 0.0, profile[0][1]], [0.0, 0.0, profile[-1][1]]])
    last = AROUND * len(rings)
    faces = []
    for j in range(AROUND):
        after = (j + 1) % AROUND
        faces += [[last, after, j], [last + 1, last - AROUND + j, last - AROUND + after]]
        for k in range(len(rings) - 1):
            low, high = k * AROUND, (k + 1) * AROUND
            faces += [[low + j, low + after, high + after], [low + j, high + after, high + j]]
    return np.vstack([*rings, poles]), np.array(faces)


def _icosphere(r: float) -> tuple[np.ndarray, np.ndarray]:
    t = 0.5 * (1.0 + 5.0**0.5)
    flat = np.array([(-1, t), (1, t), (-1, -t), (1, -t)])
    none = np.zeros(4)
    vertices = np.vstack([
        np.column_stack([flat[:, 0], flat[:, 1], none]),
        np.column_stack([none, flat[:, 0], flat[:, 1]]),
        np.column_stack([flat[:, 1], none, flat[:, 0]]),
    ])  # fmt: skip
    faces = np.array([
        (0, 11, 5), (0, 5, 1), (0, 1, 7), (0, 7, 10), (0, 10, 11), (1, 5, 9), (5, 11, 4),
        (11, 10, 2), (10, 7, 6), (7, 1, 8), (3, 9, 4), (3, 4, 2), (3, 2, 6), (3, 6, 8), (3, 8, 9),
        (4, 9, 5), (2, 4, 11), (6, 2, 10), (8, 6, 7), (9, 8, 1),
    ])  # fmt: skip
    for _ in range(SPHERE_PASSES):
        vertices, faces = _quartered(vertices, faces)
    return r * vertices / np.linalg.norm(vertices, axis=1, keepdims=True), faces


def _quartered(vertices, faces):
    side = np.sort(np.stack([faces, np.roll(faces, -1, axis=1)], axis=2), axis=2)
    ends, number = np.unique(side.reshape(-1, 2), axis=0, return_inverse=True)
    a, b, c = faces.T
    ab, bc, ca = (number.reshape(-1, 3) + len(vertices)).T
    middle = vertices[ends].mean(axis=1)
    middle *= np.linalg.norm(vertices[0]) / np.linalg.norm(middle, axis=1, keepdims=True)
    new = np.concatenate(
        [np.column_stack(x) for x in ((a, ab, ca), (b, bc, ab), (c, ca, bc), (ab, bc, ca))]
    )
    return np.vstack([vertices, middle]), new
