"""Faces over a hole of a mesh: of all triangulations of its border the one of least area.

W(i, j) is the least area over the part of the border from i to j, closed by the line j -> i:
W(i, j) = min over m of W(i, m) + W(m, j) + area(i, m, j) [Barequet1995, without its angle term].
"""

import numpy as np


def fill_loop(vertex: np.ndarray, loop: np.ndarray) -> np.ndarray:
    """(n - 2, 3) faces that fill the loop of n vertices, turned as the loop runs."""
    n = len(loop)
    points = vertex[loop]
    best = np.zeros((n, n))
    middle = np.zeros((n, n), dtype=np.int64)
    for span in range(2, n):
        i = np.arange(n - span)
        j = i + span
        m = i[:, None] + np.arange(1, span)
        sides = np.cross(points[m] - points[i][:, None], points[j][:, None] - points[i][:, None])
        total = best[i[:, None], m] + best[m, j[:, None]] + 0.5 * np.linalg.norm(sides, axis=2)
        choice = total.argmin(axis=1)
        best[i, j], middle[i, j] = total[i, choice], m[i, choice]
    faces, waiting = [], [(0, n - 1)]
    while waiting:
        i, j = waiting.pop()
        if j - i > 1:
            m = int(middle[i, j])
            faces.append((loop[i], loop[m], loop[j]))
            waiting += [(i, m), (m, j)]
    return np.array(faces, dtype=np.int64)
