"""What a search for contacts of two meshes works on: the pair, and scratch arrays."""

from typing import NamedTuple

import numpy as np

from drystone.collision.narrowphase.mesh.bvh_traversal import BATCH, STACK
from drystone.collision.narrowphase.mesh.constants import DEPTH, QUERY_SIZE
from drystone.collision.narrowphase.mesh.intersection import (
    LOOP_COLUMNS,
    MOST_LOOPS,
    MOST_SEGMENTS,
    SEGMENT_COLUMNS,
)
from drystone.collision.narrowphase.mesh.triangle_features import COLUMNS, POINTS
from drystone.jit import inner_kernel
from drystone.jit.vec import mul_t, scale
from drystone.model.arrays import MOST_MESH_CANDIDATES
from drystone.shapes.bvh.wide import WIDTH


class MeshPair(NamedTuple):
    """Two surfaces, A and B, and where they are relative to each other."""

    a: int  # shapes
    b: int
    root_a: int  # first wide node of their BVHs
    root_b: int
    vertex_a: int  # first vertex and first triangle of each
    triangle_a: int
    vertex_b: int
    triangle_b: int
    r: tuple  # pose of B in the axes of A: rotation matrix, nine floats
    t: tuple  # and position [m]
    radius: float  # of the smaller one [m]
    depth: float  # how deep one may be in the other and still be pushed out [m]


class Workspace(NamedTuple):
    """Scratch arrays of a search; one serves many pairs."""

    rows: np.ndarray  # (MOST_MESH_CANDIDATES, COLUMNS) candidates, see triangle_features.py
    query: np.ndarray  # (QUERY_SIZE,) see constants.py
    points: np.ndarray  # (POINTS, 4) the two triangles at hand, see triangle_features.py
    gap: np.ndarray  # (WIDTH,) of the children of a wide node
    limit: np.ndarray  # (WIDTH,) how large these may be
    scratch: np.ndarray  # (MOST_MESH_CANDIDATES, 4)
    stack: np.ndarray  # (STACK, 2) nodes that wait
    stack_gap: np.ndarray  # (STACK, 2) their gaps and how large these may be
    leaf: np.ndarray  # (2 BATCH,) pairs of leaves
    leaf_front: np.ndarray  # (BATCH,) how near they must be if in front of each other
    nearest: np.ndarray  # (COLUMNS,) a row that is put aside
    contour: np.ndarray  # (MOST_SEGMENTS, SEGMENT_COLUMNS) see intersection.py
    loop: np.ndarray  # (MOST_LOOPS, LOOP_COLUMNS)
    queue: np.ndarray  # (MOST_SEGMENTS,)
    way: np.ndarray  # (MOST_LOOPS, 9) how overlaps are left, see overlap.py


@inner_kernel
def max_depth(shapes, a, b, radius):
    """How deep one may be in the other and still be pushed out [m]: no deeper than it is thick."""
    thick = 2.0 * max(shapes.thickness[a], shapes.thickness[b])
    return min(DEPTH * radius, thick)


@inner_kernel
def mesh_pair(shapes, a, b, r, t):
    """Surfaces of shapes a and b, with b at the pose r, t in the axes of a."""
    k_a, k_b = shapes.surface[a], shapes.surface[b]
    radius = min(shapes.radius[a], shapes.radius[b])
    return MeshPair(
        a, b, shapes.wide_root[k_a], shapes.wide_root[k_b],
        shapes.terrain[k_a, 0], shapes.terrain[k_a, 1],
        shapes.terrain[k_b, 0], shapes.terrain[k_b, 1],
        r, t, radius, max_depth(shapes, a, b, radius),
    )  # fmt: skip


@inner_kernel
def seen_from_larger(shapes, a, b, r, t):
    """The pose of the smaller in the axes of the larger: a rotation then moves it least."""
    if shapes.radius[a] < shapes.radius[b]:
        return (r[0], r[3], r[6], r[1], r[4], r[7], r[2], r[5], r[8]), mul_t(r, scale(t, -1.0))
    return r, t


@inner_kernel(_nrt=True)
def make_workspace():
    return Workspace(
        np.empty((MOST_MESH_CANDIDATES, COLUMNS)), np.empty(QUERY_SIZE), np.empty((POINTS, 4)),
        np.empty(WIDTH), np.empty(WIDTH),
        np.empty((MOST_MESH_CANDIDATES, 4)), np.empty((STACK, 2), np.int32), np.empty((STACK, 2)),
        np.empty(2 * BATCH, np.int32), np.empty(BATCH), np.empty(COLUMNS),
        np.empty((MOST_SEGMENTS, SEGMENT_COLUMNS)), np.empty((MOST_LOOPS, LOOP_COLUMNS)),
        np.empty(MOST_SEGMENTS, np.int32), np.empty((MOST_LOOPS, 9)),
    )  # fmt: skip
