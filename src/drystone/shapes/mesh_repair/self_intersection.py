"""Self-intersection of a mesh: which faces pass through each other, found through a linear BVH.

Pairs of faces whose AABBs overlap come from a binary tree over the faces in Morton order, traversed
level by level with NumPy arrays. Two triangles cross if an edge of one pierces the other, or if
they lie in one plane and overlap; faces that share corners are asked about the rest of them only.
"""

import numpy as np

# Part of the mesh's size below which a distance is rounding: faces that touch do not cross.
TOUCH = 1e-9
# Pairs of faces that are tested together, to bound the memory: about 100 MB.
CHUNK = 200_000


def crossing_faces(vertex: np.ndarray, face: np.ndarray) -> np.ndarray:
    """(k, 2) pairs of faces that cross, the lower number first."""
    pairs = near_pairs(vertex[face])
    small = TOUCH * float(np.ptp(vertex, axis=0).max())
    found = [np.zeros((0, 2), dtype=np.int64)]
    for k in range(0, len(pairs), CHUNK):
        some = pairs[k : k + CHUNK]
        shared = (face[some[:, 0]][:, :, None] == face[some[:, 1]][:, None, :]).sum(axis=(1, 2))
        for common, cross in ((0, _cross_apart), (1, _cross_at_corner), (2, _fold)):
            group = some[shared == common]
            found.append(group[cross(vertex, face, group, small)])
    crossing = np.concatenate(found)
    return crossing[np.lexsort((crossing[:, 1], crossing[:, 0]))]


# Pairs whose AABBs overlap


def near_pairs(corners: np.ndarray) -> np.ndarray:
    """(k, 2) all pairs of triangles (m, 3, 3) whose AABBs overlap, the lower number first."""
    order = np.argsort(_morton(corners.mean(axis=1)), kind="stable")
    lower, upper = corners[order].min(axis=1), corners[order].max(axis=1)
    boxes = [(lower, upper)]
    while len(boxes[-1][0]) > 1:
        boxes.append(_parents(*boxes[-1]))
    a = b = np.zeros(1, dtype=np.int64)
    for lower, upper in boxes[-2::-1]:
        a, b = _children(a, b, len(lower))
        meet = ((lower[a] <= upper[b]) & (lower[b] <= upper[a])).all(axis=1)
        a, b = a[meet], b[meet]
    apart = a != b
    return np.sort(np.stack([order[a[apart]], order[b[apart]]], axis=1), axis=1)


def _parents(lower: np.ndarray, upper: np.ndarray):
    """Boxes around two boxes each; a last one without partner goes up alone."""
    starts = np.arange(0, len(lower), 2)
    return np.minimum.reduceat(lower, starts), np.maximum.reduceat(upper, starts)


def _children(a: np.ndarray, b: np.ndarray, count: int):
    """Pairs of the children of nodes a <= b, each pair once."""
    pairs = [(2 * a, 2 * b), (2 * a, 2 * b + 1), (2 * a + 1, 2 * b + 1)]
    other = a != b
    pairs.append((2 * a[other] + 1, 2 * b[other]))
    a, b = (np.concatenate(side) for side in zip(*pairs, strict=True))
    real = (a < count) & (b < count)
    return a[real], b[real]


def _morton(points: np.ndarray) -> np.ndarray:
    """Place of each point on a curve that keeps neighbours together; 21 bits of x, y and z."""
    lower = points.min(axis=0)
    extent = max(float(np.ptp(points, axis=0).max()), 1e-300)
    cell = ((points - lower) * ((2.0**21 - 1.0) / extent)).astype(np.uint64)
    for shift, mask in (
        (32, 0x1F00000000FFFF),
        (16, 0x1F0000FF0000FF),
        (8, 0x100F00F00F00F00F),
        (4, 0x10C30C30C30C30C3),
        (2, 0x1249249249249249),
    ):
        cell = (cell | (cell << np.uint64(shift))) & np.uint64(mask)
    return cell[:, 0] | (cell[:, 1] << np.uint64(1)) | (cell[:, 2] << np.uint64(2))


# Pairs of triangles


def _cross_apart(vertex, face, pairs, small) -> np.ndarray:
    """Of triangles without a common corner: any of the six edges through the other triangle."""
    a, b = vertex[face[pairs[:, 0]]], vertex[face[pairs[:, 1]]]
    cross = np.zeros(len(pairs), dtype=bool)
    for one, two in ((a, b), (b, a)):
        height = _heights(one, two)
        cross |= _pierce(one, two, height, small).any(axis=1)
    level = (np.abs(height) <= small).all(axis=1)
    cross[level] |= _overlap(a[level], b[level], small)
    return cross


def _cross_at_corner(vertex, face, pairs, small) -> np.ndarray:
    """Of triangles with one common corner: the side of each opposite to it."""
    a, b = face[pairs[:, 0]], face[pairs[:, 1]]
    rows = np.arange(len(pairs))
    same = a[:, :, None] == b[:, None, :]
    i, j = same.any(axis=2).argmax(axis=1), same.any(axis=1).argmax(axis=1)
    # Rolled so that the common corner comes first: the opposite side is edge 1.
    a = vertex[np.stack([a[rows, (i + k) % 3] for k in range(3)], axis=1)]
    b = vertex[np.stack([b[rows, (j + k) % 3] for k in range(3)], axis=1)]
    cross = np.zeros(len(pairs), dtype=bool)
    for one, two in ((a, b), (b, a)):
        height = _heights(one, two)
        cross |= _pierce(one, two, height, small)[:, 1]
    level = (np.abs(height) <= small).all(axis=1)
    cross[level] |= _overlap(a[level], b[level], small)
    return cross


def _fold(vertex, face, pairs, small) -> np.ndarray:
    """Of neighbours: whether one is folded onto the other."""
    a, b = vertex[face[pairs[:, 0]]], vertex[face[pairs[:, 1]]]
    level = np.flatnonzero((np.abs(_heights(b, a)) <= small).all(axis=1))
    fold = np.zeros(len(pairs), dtype=bool)
    fold[level] = _overlap(a[level], b[level], small)
    return fold


def _heights(one, two) -> np.ndarray:
    """(n, 3) of the corners of `one` above the planes of `two`."""
    normal = np.cross(two[:, 1] - two[:, 0], two[:, 2] - two[:, 0])
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    return np.einsum("nij,nj->ni", one - two[:, :1], normal)


def _pierce(one, two, height, small) -> np.ndarray:
    """(n, 3) whether edge k -> k + 1 of `one` passes through the inside of `two`."""
    through = np.zeros(height.shape, dtype=bool)
    following = np.roll(height, -1, axis=1)
    n, k = np.nonzero(
        (np.minimum(height, following) < -small) & (np.maximum(height, following) > small)
    )
    if not len(n):
        return through
    p, q = one[n, k], one[n, (k + 1) % 3]
    h, g = height[n, k], following[n, k]
    x = p + (q - p) * (h / (h - g))[:, None]
    through[n, k] = _inside(x, two[n], small)
    return through


def _inside(x, triangle, small) -> np.ndarray:
    """(n,) whether points in the planes of the triangles are inside, by more than rounding."""
    normal = np.cross(triangle[:, 1] - triangle[:, 0], triangle[:, 2] - triangle[:, 0])
    inside = np.ones(len(x), dtype=bool)
    for k in range(3):
        p, side = triangle[:, k], triangle[:, (k + 1) % 3] - triangle[:, k]
        inward = np.cross(normal, side)
        depth = np.einsum("ni,ni->n", x - p, inward) / np.linalg.norm(inward, axis=1)
        inside &= depth > small
    return inside


def _overlap(a, b, small) -> np.ndarray:
    """(n,) whether triangles in one plane overlap: no side of either separates them."""
    apart = np.zeros(len(a), dtype=bool)
    for one, two in ((a, b), (b, a)):
        normal = np.cross(one[:, 1] - one[:, 0], one[:, 2] - one[:, 0])
        for k in range(3):
            p, side = one[:, k], one[:, (k + 1) % 3] - one[:, k]
            inward = np.cross(normal, side)
            inward /= np.linalg.norm(inward, axis=1, keepdims=True)
            depth = np.einsum("nij,nj->ni", two - p[:, None], inward)
            apart |= (depth <= small).all(axis=1)
    return ~apart
