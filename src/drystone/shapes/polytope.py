"""The tables of one convex polytope: polygons, their planes, edges and vertex stars.

The kernels below are what the narrow phase asks of boxes and hulls (shapes/kinds.py); points and
directions are in the shape's own axes.
"""

from dataclasses import dataclass
from functools import cached_property
from math import inf

import numpy as np

from drystone.errors import InputError
from drystone.jit import inner_kernel
from drystone.jit.vec import dot, load, mad
from drystone.shapes.mass_properties import MassProperties, polyhedron_mass, volume_over_area
from drystone.shapes.surface import Surface


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

    @cached_property  # a thousand bodies may share one
    def half_thickness(self) -> float:
        """At least that, where it is thinnest [m]: see volume_over_area()."""
        return volume_over_area(self.vertex, self.triangles)


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


def polytope_surface(polytope: Polytope) -> Surface:
    """For drawing, in the axes of the polytope."""
    loops = [polytope.loop[first : first + count] for first, count in polytope.face_loop]
    return Surface(polytope.vertex.copy(), loops, smooth=False)


@inner_kernel(forceinline=True)
def hull_support(shapes, s, q):
    """The vertex of hull `s` farthest along `q`."""
    polytope, table, vertex = shapes.polytope, shapes.table, shapes.vertex
    first = polytope[table[s], 0]
    best, best_height = first, -inf
    for i in range(first, first + polytope[table[s], 1]):
        height = q[0] * vertex[i, 0] + q[1] * vertex[i, 1] + q[2] * vertex[i, 2]
        if height > best_height:
            best, best_height = i, height
    return load(vertex, best)


@inner_kernel
def hull_vertex(shapes, s, i):
    return load(shapes.vertex, shapes.polytope[shapes.table[s], 0] + i)


@inner_kernel
def facing_face(shapes, s, q):
    """The face of polytope `s` whose normal is nearest to `q`, and its number of corners."""
    polytope, table, face_plane = shapes.polytope, shapes.table, shapes.face_plane
    best, best_along = -1, -2.0
    first = polytope[table[s], 2]
    for f in range(first, first + polytope[table[s], 3]):
        along = q[0] * face_plane[f, 0] + q[1] * face_plane[f, 1] + q[2] * face_plane[f, 2]
        if along > best_along:
            best, best_along = f, along
    return best, shapes.face_loop[best, 1]


@inner_kernel
def face_corner(shapes, s, face, i):
    return hull_vertex(shapes, s, shapes.loop[shapes.face_loop[face, 0] + i])


@inner_kernel
def polytope_height(shapes, s, v):
    """Outward normal of the face that `v` is farthest out of, height over it, and whether `v` is
    over that face, or no farther beside it than away from it.
    """
    polytope, table, face_plane = shapes.polytope, shapes.table, shapes.face_plane
    first = polytope[table[s], 2]
    last = first + polytope[table[s], 3]
    best, height = first, -1e300
    for f in range(first, last):
        h = dot(v, load(face_plane, f)) - face_plane[f, 3]
        if h > height:
            best, height = f, h
    foot, inside = mad(v, load(face_plane, best), -height), True
    for f in range(first, last):
        over = dot(foot, load(face_plane, f)) - face_plane[f, 3]
        inside = inside and (f == best or over <= height or height <= 0.0)
    return load(face_plane, best), height, inside
