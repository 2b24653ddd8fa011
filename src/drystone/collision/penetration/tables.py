"""What overlapping shapes are examined by: vertices, facets and distance fields (PENALTY App. I).

Every closed part has a triangle mesh with Steiner points (shapes/sdf/steiner.py) and an adaptively
sampled distance field of it (shapes/sdf/octree.py); a plane has neither, its distance is its z.
"""

from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from drystone.errors import UnsupportedFeature
from drystone.jit.table import table
from drystone.model.arrays import PLANE, TERRAIN
from drystone.shapes.sdf.cache import find_sdf
from drystone.shapes.sdf.octree import VALUES
from drystone.shapes.sdf.steiner import part_triangles, surface_area, with_steiner_points
from drystone.shapes.triangle_table import build_table, flat_faces, with_tree

TOLERANCE = 0.002  # error of the distance at the surface, as a share of the part's radius
SAME_PLANE = 1e-9  # normals, and offsets as a share of the radius, that are one plane


@table
class PenetrationTables(NamedTuple):
    """ns shapes, which share ng meshes. In the axes of the shapes [m]."""

    mesh: np.ndarray  # (ns,) int32, -1: a plane
    vertex_first: np.ndarray  # (ng + 1,) int32
    vertex: np.ndarray  # (nv, 3)
    triangle_first: np.ndarray  # (ng + 1,) int32
    triangle_ball: np.ndarray  # (nt, 4) centroid, and the radius about it that holds the triangle
    triangle_plane: np.ndarray  # (nt,) int32 row of `plane`
    plane_first: np.ndarray  # (ng + 1,) int32
    plane: np.ndarray  # (np, 4) outward unit normal and offset of each facet
    # as arrays.Shapes has them, a row a mesh
    octree: np.ndarray
    octree_frame: np.ndarray
    octree_child: np.ndarray
    octree_value: np.ndarray


@table
class PenetrationWork(NamedTuple):
    """Scratch for one pair of shapes: up to m points of the two, np planes."""

    point: np.ndarray  # (m, 3) vertices of the one within the other, world axes
    depth: np.ndarray  # (m,) [m]
    flat: np.ndarray  # (m, 2) on the contact plane
    order: np.ndarray  # (m,) int32
    angle: np.ndarray  # (m,)
    polygon: np.ndarray  # (m,) int32
    marked: np.ndarray  # (2, np) int32: 1 if the facet of that body reaches into the other


class _Mesh(NamedTuple):
    vertex: np.ndarray
    ball: np.ndarray
    triangle_plane: np.ndarray
    plane: np.ndarray
    lower: np.ndarray
    side: float
    child: np.ndarray
    value: np.ndarray


_meshes: WeakKeyDictionary = WeakKeyDictionary()  # geometry -> {share: _Mesh}
_round: dict = {}  # (kind, size, share) -> _Mesh, of parts without a geometry


def build_tables(parts: list, names: list[str], share: float) -> PenetrationTables:
    """Of the parts of a world, in the order of its shapes, and whose they are.

    share   largest triangle, as a share of the surface of its part; larger ones get Steiner points
    """
    numbers: dict = {}
    meshes: list[_Mesh] = []
    mesh = np.full(len(parts), -1, np.int32)
    for s, part in enumerate(parts):
        if part.kind == PLANE:
            continue
        if part.kind == TERRAIN:
            raise UnsupportedFeature(
                f"{names[s]}: solver 'penalty' asks what is inside a body, and a Terrain is an "
                f"open surface. Make it a closed ds.Mesh, or use solver 'auto'."
            )
        key = _key(part)
        if key not in numbers:
            numbers[key] = len(meshes)
            meshes.append(_mesh_of(part, share))
        mesh[s] = numbers[key]
    planes = _first([m.plane for m in meshes])
    cells = _first([m.child for m in meshes])
    child = [
        np.where(m.child >= 0, m.child + c, m.child)
        for m, c in zip(meshes, cells[:-1], strict=True)
    ]
    frames = [np.array([[*m.lower, m.side]]) for m in meshes]
    shifted = [m.triangle_plane + p for m, p in zip(meshes, planes[:-1], strict=True)]
    return PenetrationTables(
        mesh=mesh, vertex_first=_first([m.vertex for m in meshes]),
        vertex=_stack([m.vertex for m in meshes], (3,)),
        triangle_first=_first([m.ball for m in meshes]),
        triangle_ball=_stack([m.ball for m in meshes], (4,)),
        triangle_plane=_stack(shifted, (), np.int32), plane_first=planes,
        plane=_stack([m.plane for m in meshes], (4,)), octree=cells[:-1].copy(),
        octree_frame=_stack(frames, (4,)), octree_child=_stack(child, (), np.int32),
        octree_value=_stack([m.value for m in meshes], (VALUES,)),
    )  # fmt: skip


def build_work(tables: PenetrationTables) -> PenetrationWork:
    """Scratch that suffices for any two of the shapes."""
    counts = np.diff(tables.vertex_first)
    m = 2 * int(counts.max(initial=0)) + 1
    return PenetrationWork(
        point=np.zeros((m, 3)), depth=np.zeros(m), flat=np.zeros((m, 2)),
        order=np.zeros(m, np.int32), angle=np.zeros(m), polygon=np.zeros(m, np.int32),
        marked=np.zeros((2, len(tables.plane) + 1), np.int32),
    )  # fmt: skip


def _first(arrays: list) -> np.ndarray:
    return np.concatenate([[0], np.cumsum([len(a) for a in arrays])]).astype(np.int32)


def _stack(arrays: list, shape: tuple, kind=np.float64) -> np.ndarray:
    return np.ascontiguousarray(np.concatenate([np.empty((0, *shape), kind), *arrays]), dtype=kind)


def _key(part):
    size = tuple(np.asarray(part.size).tolist())
    return part.geometry if part.geometry is not None else (part.kind, size)


def _mesh_of(part, share: float) -> _Mesh:
    if part.geometry is None:
        key = (*_key(part), share)
        if key not in _round:
            _round[key] = _build_mesh(part, share)
        return _round[key]
    known = _meshes.setdefault(part.geometry, {})
    if share not in known:
        known[share] = _build_mesh(part, share)
    return known[share]


def _build_mesh(part, share: float) -> _Mesh:
    vertices, faces = part_triangles(part)
    faces = faces[~flat_faces(vertices, faces)]
    area = surface_area(vertices, faces)
    base = with_tree(build_table(vertices, faces))
    field = find_sdf(base, TOLERANCE)
    plane, number = _planes(vertices, faces)
    fine, triangles, origin = with_steiner_points(vertices, faces, share * float(area.sum()))
    corners = fine[triangles]
    centre = corners.mean(axis=1)
    radius = np.linalg.norm(corners - centre[:, None], axis=2).max(axis=1)
    return _Mesh(
        np.ascontiguousarray(fine), np.column_stack([centre, radius]),
        number[origin].astype(np.int32), plane, field.lower, field.side, field.child, field.value,
    )  # fmt: skip


def _planes(vertices, faces) -> tuple[np.ndarray, np.ndarray]:
    """(k, 4) planes of the triangles without repetition, and the plane of each."""
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    normal = np.cross(b - a, c - a)
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    offset = np.einsum("ij,ij->i", normal, (a + b + c) / 3.0)
    size = float(np.abs(vertices).max())
    key = np.round(np.column_stack([normal, offset / size]) / SAME_PLANE)
    _, first, number = np.unique(key, axis=0, return_index=True, return_inverse=True)
    return np.column_stack([normal, offset])[first], number.ravel()
