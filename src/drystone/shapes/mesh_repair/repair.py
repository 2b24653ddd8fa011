"""Mesh repair: cracks closed, degenerate faces and copies removed, faces oriented, holes filled.

Every step says what it did; what is still wrong afterwards is found by check.py.
"""

import numpy as np

from drystone.model.finding import Finding
from drystone.shapes.mesh_repair.check import copies_of, nesting, signed_volume, welded_surface
from drystone.shapes.mesh_repair.hole_filling import fill_loop
from drystone.shapes.mesh_repair.topology import edges_of, loops_of, shells_of
from drystone.shapes.triangle_table import flat_faces

# A hole is small if its longest extent is below this part of the mesh's, and its border has no
# more edges than this: what is larger is a missing part, not a defect of a part that is there. A
# hole of three edges is a missing face, of whatever size.
SMALL_HOLE = 0.3
# Vertices at open edges that are nearer than this part of the median open edge were one.
CRACK = 0.02
MOST_EDGES = 300


def repair_mesh(name: str, vertices, faces):
    """Repaired vertices and faces, and a finding for each thing that was done.

    Arrays that are no mesh at all, or have no face with an area, are handed back as they are.
    """
    surface = welded_surface(name, vertices, faces)
    if not len(surface.face):
        return vertices, faces, []
    done: list[str] = []
    vertex, face = surface.vertex, surface.face
    face = _merged_at_borders(vertex, face, done)
    face = _without_flat(vertex, face, done)
    if not len(face):
        return vertices, faces, []
    face = _without_copies(face, done)
    face = _oriented_alike(vertex, face, done)
    face = _closed(vertex, face, done)
    face = _oriented_outward(vertex, face, done)
    said = [Finding("hint", name, f"was repaired: {what}", "Look at the result.") for what in done]
    return vertex + surface.offset, face, said


def oriented_faces(vertex, face):
    """Faces that agree with their neighbours, and look outward where a shell is closed."""
    return _oriented_outward(vertex, _oriented_alike(vertex, face, []), [])


def _merged_at_borders(vertex, face, done):
    """Cracks: vertices of open edges that nearly meet become one."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components
    from scipy.spatial import cKDTree

    edges = edges_of(face, len(vertex))
    if not len(edges.open):
        return face
    start, end = face.ravel()[edges.open], np.roll(face, -1, axis=1).ravel()[edges.open]
    border = np.unique([start, end])
    length = np.median(np.linalg.norm(vertex[start] - vertex[end], axis=1))
    pairs = cKDTree(vertex[border]).query_pairs(CRACK * length, output_type="ndarray")
    if not len(pairs):
        return face
    graph = coo_matrix((np.ones(len(pairs)), border[pairs].T), shape=(len(vertex),) * 2)
    _, label = connected_components(graph, directed=False)
    _, first = np.unique(label, return_index=True)
    number = first[label]
    widest = np.linalg.norm(vertex - vertex[number], axis=1).max()
    done.append(
        f"{int((number != np.arange(len(vertex))).sum())} vertices at open edges were merged with "
        f"others at most {widest:.2g} m away."
    )
    return number[face]


def _without_flat(vertex, face, done):
    flat = flat_faces(vertex, face)
    if not flat.any():
        return face
    done.append(f"{int(flat.sum())} degenerate faces were removed, first face {_first(flat)}.")
    return _handed_over(vertex, face, flat)


def _handed_over(vertex, face, flat):
    """Faces without area go; one with a corner on its longest side hands that to its neighbour.

    Face (p, q, b) with b on the side p -> q and its neighbour (q, p, d) become (b, p, d) and
    (d, q, b): dropping it would leave b on the side of a face that does not know it.
    """
    face = face.copy()
    gone = (face == np.roll(face, -1, axis=1)).any(axis=1)  # two corners are one vertex
    at = {}
    for row in np.flatnonzero(~gone):
        at.update({(face[row, k], face[row, (k + 1) % 3]): row for k in range(3)})
    waiting = np.flatnonzero(flat & ~gone).tolist()
    for _ in range(4 * len(waiting)):  # a neighbour may become flat then; not for ever
        if not waiting:
            break
        row = waiting.pop()
        p, q, b = _longest_first(vertex, face[row])
        other = at.get((q, p), -1)
        if other < 0 or gone[other] or other == row:
            gone[row] = True
            continue
        d = int(face[other].sum() - p - q)
        face[row], face[other] = (b, p, d), (d, q, b)
        for now in (row, other):
            at.update({(face[now, k], face[now, (k + 1) % 3]): now for k in range(3)})
            if flat_faces(vertex, face[now][None])[0]:
                waiting.append(now)
    gone[waiting] = True
    return face[~gone]


def _longest_first(vertex, corners) -> tuple[int, int, int]:
    """The corners rolled so that the longest side comes first."""
    sides = np.linalg.norm(vertex[np.roll(corners, -1)] - vertex[corners], axis=1)
    return tuple(np.roll(corners, -int(sides.argmax())).tolist())


def _without_copies(face, done):
    copy, _ = copies_of(face)
    if copy.any():
        done.append(f"{int(copy.sum())} duplicate faces were removed, first face {_first(copy)}.")
    return face[~copy]


def _first(mask) -> int:
    return int(np.flatnonzero(mask)[0])


def _oriented_alike(vertex, face, done):
    """Faces of a shell oriented as most of its area is; one-sided surfaces stay as they are.

    Every face stands twice in a graph, as it is and flipped: neighbours that agree are linked as
    they are, those that do not crosswise. Of the two copies of a shell one is what we want.
    """
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    edges = edges_of(face, len(vertex))
    if edges.oriented or not len(face):
        return face
    m = len(face)
    one, two = edges.pair.T // 3
    start = face.ravel()
    cross = (start[edges.pair[:, 0]] == start[edges.pair[:, 1]]) * m
    rows, columns = np.concatenate([one, one + m]), np.concatenate([two + cross, two + m - cross])
    graph = coo_matrix((np.ones(len(rows)), (rows, columns)), shape=(2 * m, 2 * m))
    label = connected_components(graph, directed=False)[1]
    one_sided = label[:m] == label[m:]
    if one_sided.any():
        return face
    shell = np.minimum(label[:m], label[m:])
    flipped = label[:m] != shell
    a, b, c = (vertex[face[:, k]] for k in range(3))
    area = np.linalg.norm(np.cross(b - a, c - a), axis=1)
    weight = np.bincount(shell, np.where(flipped, area, -area), minlength=2 * m)
    flipped ^= weight[shell] > 0.0
    done.append(f"{int(flipped.sum())} faces were turned to agree with their neighbours.")
    return np.where(flipped[:, None], face[:, ::-1], face)


def _closed(vertex, face, done):
    """Small holes are filled, and slits, which lie on a line, of whatever size.

    A slit is a corner on the side of a face that does not know it: the faces without area that
    fill it hand the corner to that face.
    """
    edges = edges_of(face, len(vertex))
    if not len(edges.open) or not edges.oriented:
        return face
    size = float(np.ptp(vertex, axis=0).max())
    holes, slits = [], []
    beside = _normals_at_borders(vertex, face, edges)
    known = _corner_sets(face[edges.open // 3])
    for loop in loops_of(face, edges):
        slit = _on_a_line(vertex[loop])
        if not (slit or _is_small(vertex[loop], size)):
            continue
        filling = fill_loop(vertex, loop, _normals_beside(loop, beside))
        if known & _corner_sets(filling):
            continue  # the border of a loose face: its back would enclose nothing
        (slits if slit else holes).append(filling)
    if holes:
        done.append(f"{len(holes)} holes were filled with {sum(map(len, holes))} faces.")
    if slits:
        done.append(f"{len(slits)} slits were closed: corners on the side of a face became its.")
    face = np.concatenate([face, *holes, *slits])
    flat = flat_faces(vertex, face)
    return _handed_over(vertex, face, flat) if flat.any() else face


def _corner_sets(face) -> set:
    return set(map(tuple, np.sort(face, axis=1).tolist()))


def _is_small(border, size: float) -> bool:
    extent = float(np.ptp(border, axis=0).max())
    return len(border) == 3 or (3 < len(border) <= MOST_EDGES and extent <= SMALL_HOLE * size)


def _on_a_line(border) -> bool:
    """Whether every corner is on the line through the first and the one farthest from it."""
    if not 3 <= len(border) <= MOST_EDGES:
        return False
    away = border - border[0]
    end = int(np.linalg.norm(away, axis=1).argmax())
    rows = np.array([(0, end, k) for k in range(1, len(border)) if k != end])
    return bool(flat_faces(border, rows).all())


def _normals_at_borders(vertex, face, edges) -> dict:
    """Unit normal of the face at each open edge, by the ends of the edge as the hole runs."""
    row, k = np.divmod(edges.open, 3)
    a, b, c = (vertex[face[row, i]] for i in range(3))
    normal = np.cross(b - a, c - a)
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    start, end = face[row, (k + 1) % 3].tolist(), face[row, k].tolist()
    return dict(zip(zip(start, end, strict=True), normal, strict=True))


def _normals_beside(loop, beside: dict) -> np.ndarray:
    start, end = loop.tolist(), np.roll(loop, -1).tolist()
    return np.array([beside[edge] for edge in zip(start, end, strict=True)])


def _oriented_outward(vertex, face, done):
    edges = edges_of(face, len(vertex))
    if not (edges.closed and edges.oriented):
        return face
    label = shells_of(edges)
    shells = [face[label == k] for k in range(int(label.max()) + 1)]
    volumes = np.array([signed_volume(vertex, shell) for shell in shells])
    depth = nesting(vertex, shells, volumes)
    wrong = (volumes > 0.0) != (depth % 2 == 0)
    if wrong.any():
        done.append(f"{int(wrong.sum())} shells of {len(shells)} were inside-out and turned.")
    return np.where(wrong[label][:, None], face[:, ::-1], face)
