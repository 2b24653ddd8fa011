"""Slow, obvious twins of PENALTY III A and (4), for convex polyhedra on a half-space."""

import numpy as np


def contact_normal(points, planes):
    """The plane (normal, offset) with the least greatest distance of the points, eq. 4."""
    worst = [np.abs(points @ plane[:3] - plane[3]).max() for plane in planes]
    return planes[int(np.argmin(worst))]


def bottom_points(points, depth):
    """Rows of the points (n, 2) on the bottom, the deepest first; depths must differ.

    A point is dropped if those kept before it surround it: if it is in the fan about the first.
    """
    order = np.argsort(-depth)
    kept = [order[0]]
    for c in order[1:]:
        first, rest = (
            points[kept[0]],
            sorted(kept[1:], key=lambda k: np.arctan2(*(points[k] - points[kept[0]])[::-1])),
        )
        inside = False
        for i in range(len(rest)):
            a, b = points[rest[i]] - first, points[rest[(i + 1) % len(rest)]] - first
            turn = (np.arctan2(b[1], b[0]) - np.arctan2(a[1], a[0])) % (2 * np.pi)
            if len(rest) > 1 and 0.0 < turn < np.pi:
                share = np.linalg.solve(np.column_stack([a, b]), points[c] - first)
                inside |= bool((share >= 0).all() and share.sum() <= 1.0)
        if not inside:
            kept.append(c)
    return kept
