"""The tables of one convex polytope: polygons, their planes, edges and vertex stars."""

from dataclasses import dataclass

import numpy as np

from drystone.errors import InputError
from drystone.shapes.mass_properties import MassProperties, polyhedron_mass


@dataclass(frozen=True, eq=False)
class Polytope:
    """Arrays as in `arrays.Shapes`, numbered from zero; equal only to itself."""

    vertex: np.ndarray  # (nv, 3)
    face_plane: np.ndarray  # (nf, 4) outward unit normal and offset: inside is n.x <= offset
    face_loop: np.ndarray  # (nf, 2) first entry in `loop`, number of corners
    loop: np.ndarray  # corners, counter-clockwise seen from outside
    edge: np.ndarray  # (ne, 4) vertices from, to; face on the left (runs from, to), on the right
    vertex_star: np.ndarray  # (nv, 2) first entry in `star`, number of edges at the vertex
    star: np.ndarray  # the edges at each vertex
    radius: float  # of the sphere about the origin that holds it [m]

    def __repr__(self) -> str:
        return f"Polytope({len(self.vertex)} vertices, {len(self.face_plane)} faces)"

    @property
    def triangles(self) -> np.ndarray:
        """(n, 3) outward triangles: every polygon as a fan from its first corner."""
        first, count = self.face_loop[:, 0], self.face_loop[:, 1]
        fans = np.repeat(np.arange(len(count)), count - 2)
        step = np.arange(len(fans)) - np.repeat(np.cumsum(count - 2) - (count - 2), count - 2)
        start = first[fans]
        corners = np.stack([start, start + step + 1, start + step + 2], axis=1)
        return self.loop[corners]

    def mass_properties(self) -> MassProperties:
        return polyhedron_mass(self.vertex, self.triangles)


def polytope_from_loops(vertices: np.ndarray, loops: list[list[int]]) -> Polytope:
    """From vertices (nv, 3) and one counter-clockwise loop of vertices for each face.

    Every edge must run once each way, so that the surface is closed; InputError if not.
    """
    count = np.array([len(corners) for corners in loops], dtype=np.int32)
    first = (np.cumsum(count) - count).astype(np.int32)
    loop = np.array([v for corners in loops for v in corners], dtype=np.int32)
    following = np.arange(1, len(loop) + 1)
    following[first + count - 1] = first
    edge = _edges(loop, loop[following], np.repeat(np.arange(len(count)), count))
    vertex_star, star = _stars(edge, len(vertices))
    vertices = np.ascontiguousarray(vertices, dtype=np.float64)
    return frozen_polytope(
        vertex=vertices,
        face_plane=_planes(vertices, loop, following, first, count),
        face_loop=np.stack([first, count], axis=1),
        loop=loop,
        edge=edge,
        vertex_star=vertex_star,
        star=star,
    )


def frozen_polytope(**tables: np.ndarray) -> Polytope:
    """A Polytope with read-only tables, since many bodies may share it."""
    for table in tables.values():
        table.flags.writeable = False
    vertex = tables["vertex"]
    radius = float(np.sqrt(np.einsum("ij,ij->i", vertex, vertex).max()))
    return Polytope(**tables, radius=radius)


def _planes(vertices, loop, following, first, count) -> np.ndarray:
    """Normal from the polygon's area vector; the offset makes the plane hold every vertex."""
    base = np.repeat(vertices[loop[first]], count, axis=0)
    spans = np.cross(vertices[loop] - base, vertices[loop[following]] - base)
    normal = np.add.reduceat(spans, first, axis=0)
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    offset = (normal @ vertices.T).max(axis=1)
    return np.concatenate([normal, offset[:, None]], axis=1)


def _edges(start: np.ndarray, end: np.ndarray, face: np.ndarray) -> np.ndarray:
    """Pair the two ways of every edge; sorted by vertices, from < to."""
    order = np.lexsort((start, np.maximum(start, end), np.minimum(start, end)))
    start, end, face = start[order], end[order], face[order]
    paired = (
        len(start) % 2 == 0 and (start[::2] == end[1::2]).all() and (end[::2] == start[1::2]).all()
    )
    if not paired:  # never from our own hulls, but loops may come from a file
        raise InputError("polytope: its faces do not close; each edge must run once each way.")
    return np.stack([start[::2], end[::2], face[::2], face[1::2]], axis=1).astype(np.int32)


def _stars(edge: np.ndarray, vertex_count: int) -> tuple[np.ndarray, np.ndarray]:
    ends = edge[:, :2].ravel()
    star = (np.argsort(ends, kind="stable") // 2).astype(np.int32)
    count = np.bincount(ends, minlength=vertex_count)
    first = np.cumsum(count) - count
    return np.stack([first, count], axis=1).astype(np.int32), star
