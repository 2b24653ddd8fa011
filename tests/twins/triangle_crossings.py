"""Slow and obvious checks of triangle meshes, for tests."""

import numpy as np


def crossing_pairs(vertices, faces):
    """Pairs of triangles without a common vertex of which one's edge pierces the other."""
    corner = vertices[faces]
    lower, upper = corner.min(axis=1), corner.max(axis=1)
    order = np.argsort(lower[:, 0])
    found = []
    for n, i in enumerate(order):
        # Those that begin, in x, before i ends; each pair is met once.
        rest = order[n + 1 :]
        rest = rest[: np.searchsorted(lower[rest, 0], upper[i, 0], side="right")]
        near = (lower[rest, 1:] <= upper[i, 1:]).all(1) & (upper[rest, 1:] >= lower[i, 1:]).all(1)
        rest = rest[near]
        apart = ~(faces[rest][:, :, None] == faces[i]).any(axis=(1, 2))
        found += [(i, j) for j in rest[apart]]
    if not found:
        return np.empty((0, 2), int)
    pairs = np.array(found)
    hit = np.zeros(len(pairs), bool)
    for one, other in ((0, 1), (1, 0)):
        edges, triangle = corner[pairs[:, one]], corner[pairs[:, other]]
        for k in range(3):
            hit |= _pierces(edges[:, k], edges[:, (k + 1) % 3], triangle)
    return pairs[hit]


def _pierces(p, q, triangle):
    """Whether segments p-q cross triangles, all (n, 3) and (n, 3, 3); touching does not count."""
    a, b, c = (triangle[:, k] for k in range(3))

    def side(u, v, w, x):
        return np.einsum("ni,ni->n", np.cross(v - u, w - u), x - u)

    through = side(a, b, c, p) * side(a, b, c, q) < 0
    turns = np.stack([side(p, q, *edge) for edge in ((a, b), (b, c), (c, a))])
    return through & ((turns > 0).all(axis=0) | (turns < 0).all(axis=0))


def volume_of(vertices, faces):
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    return np.einsum("ni,ni->n", a, np.cross(b, c)).sum() / 6
