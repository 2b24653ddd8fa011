"""A long-eared animal of our own making: bumpy, not convex, closed.

Its skin is a radius over every direction from one point, a flattened ball with smooth bumps for
head, ears, feet and tail. Such a skin cannot cut itself, however high the bumps.
"""

import numpy as np

# Direction, height [of the body's radius] and sharpness of each bump.
BUMPS = (
    ((0.80, 0.0, 0.60), 0.75, 7.0),  # head
    ((0.34, 0.30, 0.90), 1.10, 60.0),  # ears
    ((0.34, -0.30, 0.90), 1.10, 60.0),
    ((0.55, 0.60, -0.58), 0.35, 25.0),  # feet
    ((0.55, -0.60, -0.58), 0.35, 25.0),
    ((-0.60, 0.62, -0.50), 0.45, 16.0),
    ((-0.60, -0.62, -0.50), 0.45, 16.0),
    ((-0.97, 0.0, 0.25), 0.30, 40.0),  # tail
)


def creature(size: float = 0.1, subdivisions: int = 4):
    """`size` is the radius of the body [m]; 20 x 4^subdivisions triangles (5120)."""
    direction, faces = ball(subdivisions)
    body = 1 / np.sqrt((direction**2 / np.array([1.25, 0.9, 0.85]) ** 2).sum(axis=1))
    reach = body
    for towards, height, sharpness in BUMPS:
        towards = np.array(towards) / np.linalg.norm(towards)
        reach = reach + height * np.exp(sharpness * (direction @ towards - 1.0))
    return size * reach[:, None] * direction, faces


def ball(subdivisions: int):
    """A sphere of radius 1: an icosahedron whose triangles are cut in four again and again."""
    g = (1 + 5**0.5) / 2
    corner = [(-1, g, 0), (1, g, 0), (-1, -g, 0), (1, -g, 0)]
    vertices = np.array([np.roll(p, k) for k in (0, 1, 2) for p in corner], float)
    faces = _nearest_faces(vertices)
    for _ in range(subdivisions):
        vertices, faces = _quarter(vertices, faces)
    return vertices / np.linalg.norm(vertices, axis=1)[:, None], faces


def _nearest_faces(vertices):
    """The triangles of an icosahedron of edge 2, outward."""
    edge = np.abs(np.linalg.norm(vertices[:, None] - vertices, axis=2) - 2.0) < 1e-9
    n = range(len(vertices))
    faces = [
        (i, j, k) for i in n for j in n for k in n
        if i < j and i < k and edge[i, j] and edge[j, k] and edge[k, i]
        and np.linalg.det(vertices[[i, j, k]]) > 0
    ]  # fmt: skip
    return np.array(faces)


def _quarter(vertices, faces):
    edges = np.sort(faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
    unique, number = np.unique(edges, axis=0, return_inverse=True)
    middle = vertices[unique].mean(axis=1)
    middle *= (np.linalg.norm(vertices[0]) / np.linalg.norm(middle, axis=1))[:, None]
    a, b, c = faces.T
    ab, bc, ca = (len(vertices) + number.reshape(-1, 3)).T
    parts = [(a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca)]
    return np.concatenate([vertices, middle]), np.concatenate([np.stack(p, axis=1) for p in parts])
