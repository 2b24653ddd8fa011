"""Hole filling [Liepa2003]: of all triangulations of the border of a hole the least bent one.

Over the part of the border from i to j, closed by the line j -> i, the best has the corner m
that makes the sharpest bend between neighbours least, those beside the hole included, and
among equals the least area: W(i, j) = min over m of W(i, m) + W(m, j) + triangle(i, m, j), where
+ takes the larger bend and the sum of areas (section 3 there).
"""

import numpy as np

# Bends (1 - cosine) this close are equal: rounding of flat holes.
SAME_BEND = 1e-9


def fill_loop(vertex: np.ndarray, loop: np.ndarray, beside: np.ndarray) -> np.ndarray:
    """(n - 2, 3) faces that fill the loop of n vertices, oriented as the loop runs.

    beside  (n, 3) unit normals of the faces there are along loop[k] -> loop[k + 1]
    """
    n = len(loop)
    points = vertex[loop]
    bend, area = np.zeros((n, n)), np.zeros((n, n))
    middle = np.zeros((n, n), dtype=np.int64)
    normal = np.zeros((n, n, 3))  # of the triangle of W(i, j) at the line j -> i
    k = np.arange(n - 1)
    normal[k, k + 1] = beside[:-1]
    for span in range(2, n):
        i = np.arange(n - span)
        j, m = i + span, i[:, None] + np.arange(1, span)
        first = i[:, None], m
        last = m, j[:, None]
        spans = np.cross(points[m] - points[i][:, None], points[j][:, None] - points[i][:, None])
        double = np.linalg.norm(spans, axis=2)
        across = spans / np.maximum(double, 1e-300)[:, :, None]
        bends = np.maximum(bend[first], bend[last])
        bends = np.maximum(bends, _bend(across, normal[first]))
        bends = np.maximum(bends, _bend(across, normal[last]))
        if span == n - 1:
            bends = np.maximum(bends, _bend(across, beside[-1]))
        areas = area[first] + area[last] + 0.5 * double
        least = bends.min(axis=1, keepdims=True)
        choice = np.where(bends <= least + SAME_BEND, areas, np.inf).argmin(axis=1)
        bend[i, j], area[i, j] = bends[i, choice], areas[i, choice]
        normal[i, j], middle[i, j] = across[i, choice], m[i, choice]
    return _faces(loop, middle)


def _bend(one: np.ndarray, two: np.ndarray) -> np.ndarray:
    return 1.0 - (one * two).sum(axis=-1)


def _faces(loop: np.ndarray, middle: np.ndarray) -> np.ndarray:
    faces, waiting = [], [(0, len(loop) - 1)]
    while waiting:
        i, j = waiting.pop()
        if j - i > 1:
            m = int(middle[i, j])
            faces.append((loop[i], loop[m], loop[j]))
            waiting += [(i, m), (m, j)]
    return np.array(faces, dtype=np.int64)
