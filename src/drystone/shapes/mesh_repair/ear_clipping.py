"""Ear clipping [Meisters1975]: polygons in space cut into triangles, where a fan would leave them.

An ear is a corner that bulges, with no other corner in the triangle it makes with its neighbours.
Every polygon that does not cross itself has two.
"""

import numpy as np

# Of the polygon's size squared: below it three corners are in line.
IN_LINE = 1e-12


def convex_polygons(corners: np.ndarray) -> np.ndarray:
    """(k,) which of the polygons (k, n, 3) bulge at every corner, seen along their mean normal."""
    before, after = np.roll(corners, 1, axis=1), np.roll(corners, -1, axis=1)
    bend = np.cross(corners - before, after - corners)
    return (np.einsum("kni,ki->kn", bend, _mean_normals(corners)) > 0.0).all(axis=1)


def _mean_normals(corners: np.ndarray) -> np.ndarray:
    """(k, 3) twice the area of the polygons (k, n, 3) along their normals (Newell's)."""
    corners = corners - corners.mean(axis=1, keepdims=True)
    return np.cross(corners, np.roll(corners, -1, axis=1)).sum(axis=1)


def cut_ears(corners: np.ndarray) -> list[tuple[int, int, int]]:
    """Triangles, as rows of the polygon `corners` (n, 3), in its orientation.

    It need not be quite flat. Where no ear is left, as in one that crosses itself, the rest is
    cut as a fan, and who checks the mesh finds what is wrong with it.
    """
    flat = _seen_along_normal(corners)
    tolerance = IN_LINE * float(np.ptp(flat, axis=0).max()) ** 2
    p, left, cut = flat.tolist(), list(range(len(flat))), []
    while len(left) > 3:
        k = next((k for k in range(len(left)) if _is_ear(p, left, k, tolerance)), None)
        if k is None:
            break
        cut.append((left[k - 1], left[k], left[(k + 1) % len(left)]))
        del left[k]
    return cut + [(left[0], left[k], left[k + 1]) for k in range(1, len(left) - 1)]


def _seen_along_normal(corners: np.ndarray) -> np.ndarray:
    """(n, 2) in axes in which the polygon runs counter-clockwise."""
    normal = _mean_normals(corners[None])[0]
    if not np.linalg.norm(normal) > 0.0:
        return corners[:, :2]
    normal = normal / np.linalg.norm(normal)
    across = np.cross(np.eye(3)[np.abs(normal).argmin()], normal)
    across /= np.linalg.norm(across)
    return np.column_stack((corners @ across, corners @ np.cross(normal, across)))


def _is_ear(p: list, left: list[int], k: int, tolerance: float) -> bool:
    a, b, c = p[left[k - 1]], p[left[k]], p[left[(k + 1) % len(left)]]
    if _double_area(a, b, c) <= tolerance:
        return False
    others = (p[i] for i in left if p[i] not in (a, b, c))
    return not any(
        _double_area(a, b, x) >= -tolerance
        and _double_area(b, c, x) >= -tolerance
        and _double_area(c, a, x) >= -tolerance
        for x in others
    )


def _double_area(a, b, c) -> float:
    """Twice the area of the triangle, > 0 if it is counter-clockwise."""
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
