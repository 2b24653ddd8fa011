"""Repair of triangle meshes: copies and flat faces removed, winding made consistent, holes filled.

Every step says what it did; what is still wrong afterwards is found by mesh_check.py.
"""

import numpy as np

from drystone.finding import Finding
from drystone.shapes.mesh_check import copies_of, nesting, signed_volume, welded_surface
from drystone.shapes.mesh_edges import edges_of, loops_of, shells_of
from drystone.shapes.mesh_fill import fill_loop
from drystone.shapes.terrain_table import flat_faces

# A hole is small if its longest extent is below this part of the mesh's, and its border has no
# more edges than this: what is larger is a missing part, not a defect of a part that is there.
SMALL_HOLE = 0.3
MOST_EDGES = 300


def repair_mesh(name: str, vertices, faces):
    """Repaired vertices and faces, and a finding for each thing that was done.

    Arrays that are no mesh at all are handed back as they are.
    """
    surface = welded_surface(name, vertices, faces)
    if not len(surface.face):
        return vertices, faces, []
    done: list[str] = []
    vertex, face = surface.vertex, surface.face
    face = _without_copies(vertex, face, done)
    face = _turned_alike(vertex, face, done)
    face = _closed(vertex, face, done)
    face = _turned_outward(vertex, face, done)
    said = [Finding("hint", name, f"was repaired: {what}", "Look at the result.") for what in done]
    return vertex + surface.offset, face, said


def _without_copies(vertex, face, done):
    flat = flat_faces(vertex, face)
    if flat.any():
        done.append(f"{int(flat.sum())} degenerate faces were removed, first face {_first(flat)}.")
    copy = copies_of(face)[0] & ~flat
    if copy.any():
        done.append(f"{int(copy.sum())} duplicate faces were removed, first face {_first(copy)}.")
    return face[~flat & ~copy]


def _first(mask) -> int:
    return int(np.flatnonzero(mask)[0])


def _turned_alike(vertex, face, done):
    """Faces of a shell turned as most of its area is; surfaces with one side stay as they are.

    Every face stands twice in a graph, as it is and turned: neighbours that agree are linked as
    they are, those that do not crosswise. Of the two copies of a shell one is what we want.
    """
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    edges = edges_of(face, len(vertex))
    if edges.turned or not len(face):
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
    turned = label[:m] != shell
    a, b, c = (vertex[face[:, k]] for k in range(3))
    area = np.linalg.norm(np.cross(b - a, c - a), axis=1)
    weight = np.bincount(shell, np.where(turned, area, -area), minlength=2 * m)
    turned ^= weight[shell] > 0.0
    done.append(f"{int(turned.sum())} faces were turned to agree with their neighbours.")
    return np.where(turned[:, None], face[:, ::-1], face)


def _closed(vertex, face, done):
    edges = edges_of(face, len(vertex))
    if not len(edges.open) or not edges.turned:
        return face
    size = float(np.ptp(vertex, axis=0).max())
    filled, new = 0, [face]
    for loop in loops_of(face, edges):
        extent = float(np.ptp(vertex[loop], axis=0).max())
        if 3 <= len(loop) <= MOST_EDGES and extent <= SMALL_HOLE * size:
            new.append(fill_loop(vertex, loop))
            filled += 1
    if filled:
        done.append(f"{filled} holes were filled with {sum(map(len, new[1:]))} faces.")
    return np.concatenate(new)


def _turned_outward(vertex, face, done):
    edges = edges_of(face, len(vertex))
    if not (edges.closed and edges.turned):
        return face
    label = shells_of(edges)
    shells = [face[label == k] for k in range(int(label.max()) + 1)]
    volumes = np.array([signed_volume(vertex, shell) for shell in shells])
    depth = nesting(vertex, shells, volumes)
    wrong = (volumes > 0.0) != (depth % 2 == 0)
    if wrong.any():
        done.append(f"{int(wrong.sum())} shells of {len(shells)} were inside-out and turned.")
    return np.where(wrong[label][:, None], face[:, ::-1], face)
