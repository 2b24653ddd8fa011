"""From points to the outward triangles of their hull, and from triangles to polygon faces."""

import numpy as np

from drystone.errors import InputError
from drystone.shapes.mass_properties import cross_rows


def hull_triangles(points: np.ndarray, tolerance: float) -> tuple[np.ndarray, np.ndarray]:
    """Vertices (n, 3) and outward triangles (m, 3) of the hull; vertices nearer than
    `tolerance` [m] to an earlier one are left out."""
    from scipy.spatial import QhullError, cKDTree

    try:
        hull = _quickhull(points)
        corners = points[hull.vertices]
        close = cKDTree(corners).query_pairs(tolerance, output_type="ndarray")
        if len(close):
            keep = np.ones(len(corners), dtype=bool)
            keep[close.max(axis=1)] = False
            hull = _quickhull(corners[keep])
            corners = corners[keep][hull.vertices]
    except QhullError as error:
        reason = str(error).strip().splitlines()[0]
        raise InputError(
            f"ConvexHull: the {len(points)} points span no volume ({reason}). "
            f"Give at least 4 that do not lie in a plane."
        ) from None
    number = np.full(len(hull.points), -1)
    number[hull.vertices] = np.arange(len(hull.vertices))
    return corners, _orient(corners, number[hull.simplices], hull.neighbors)


def _quickhull(points: np.ndarray):
    from scipy.spatial import ConvexHull as QuickHull

    return QuickHull(points)


def _orient(vertices: np.ndarray, triangles: np.ndarray, neighbours: np.ndarray) -> np.ndarray:
    """Turn all triangles outward: the largest by its normal, the others by their neighbours,
    since the normal of a sliver is noise."""
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    area = cross_rows(b - a, c - a)
    outside = np.einsum("ij,ij->i", area, a - vertices.mean(axis=0))
    seed = int(np.argmax(np.einsum("ij,ij->i", area, area)))
    turned = triangles.tolist()
    if outside[seed] < 0.0:
        turned[seed].reverse()
    across = neighbours.tolist()
    done = [False] * len(turned)
    done[seed] = True
    stack = [seed]
    while stack:
        t = stack.pop()
        p, q, r = turned[t]
        ways = {(p, q), (q, r), (r, p)}
        for other in across[t]:
            if done[other]:
                continue
            x, y, z = turned[other]
            if (x, y) in ways or (y, z) in ways or (z, x) in ways:
                turned[other].reverse()
            done[other] = True
            stack.append(other)
    return np.array(turned)


def merge_faces(
    vertices: np.ndarray, triangles: np.ndarray, tolerance: float
) -> tuple[np.ndarray, list[list[int]]]:
    """Join triangles that lie within `tolerance` [m] of a plane to polygons.

    Faces are grown from the largest triangles first, so that slivers join a face whose
    plane is well known. Returns the vertices still in use and one loop for each face.
    """
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    area = np.cross(b - a, c - a)
    size = np.linalg.norm(area, axis=1)
    normal = (area / np.maximum(size, np.finfo(float).tiny)[:, None]).tolist()
    corners, points = triangles.tolist(), vertices.tolist()
    owner = {}
    for t, (p, q, r) in enumerate(corners):
        owner[p, q] = owner[q, r] = owner[r, p] = t
    taken = [False] * len(corners)
    loops = []
    for seed in np.argsort(-size, kind="stable").tolist():
        if not taken[seed]:
            loops.append(_grow(seed, corners, points, normal[seed], owner, taken, tolerance))
    _straighten(loops, points, tolerance)
    used = sorted({v for loop in loops for v in loop})
    number = {v: k for k, v in enumerate(used)}
    return vertices[used], [[number[v] for v in loop] for loop in loops]


def _grow(seed, corners, points, normal, owner, taken, tolerance) -> list[int]:
    """The boundary of the patch about `seed`, which stays one simple loop all the time."""
    nx, ny, nz = normal
    p, q, r = corners[seed]
    x, y, z = points[p]
    height = nx * x + ny * y + nz * z
    taken[seed] = True
    after = {p: q, q: r, r: p}
    stack = [(p, q), (q, r), (r, p)]
    while stack:
        start, end = stack.pop()
        if after.get(start) != end:
            continue  # this edge is inside the patch by now
        t = owner[end, start]
        if taken[t]:
            continue
        apex = sum(corners[t]) - start - end
        x, y, z = points[apex]
        if abs(nx * x + ny * y + nz * z - height) > tolerance:
            continue
        if apex not in after:
            after[start], after[apex] = apex, end
            stack += [(start, apex), (apex, end)]
        elif after[end] == apex:  # two edges of t lie on the boundary: `end` goes inside
            after[start] = apex
            del after[end]
            stack.append((start, apex))
        elif after[apex] == start:
            after[apex] = end
            del after[start]
            stack.append((apex, end))
        else:
            continue  # t would pinch off a hole; it comes back when the hole is filled
        taken[t] = True
    loop = [next(iter(after))]
    while after[loop[-1]] != loop[0]:
        loop.append(after[loop[-1]])
    return loop


def _straighten(loops: list[list[int]], points, tolerance: float) -> None:
    """Take out, in place, vertices that lie on the edge between just two faces."""
    faces = {}
    for f, loop in enumerate(loops):
        for v in loop:
            faces.setdefault(v, []).append(f)
    for v, around in faces.items():
        if len(around) != 2 or min(len(loops[f]) for f in around) <= 3:
            continue
        loop = loops[around[0]]
        k = loop.index(v)
        if _line_distance(points[v], points[loop[k - 1]], points[loop[k + 1 - len(loop)]]) <= (
            tolerance
        ):
            for f in around:
                loops[f].remove(v)


def _line_distance(point, start, end) -> float:
    along = np.subtract(end, start)
    return float(np.linalg.norm(np.cross(np.subtract(point, start), along)) / np.linalg.norm(along))
