"""Feature samples of a surface, to be tested against the SDF of another: its corners and ridges.

Only there can a surface be nearest to, or deepest in, another one whose own corners are tested
in turn; concave vertices and edges never are. PENALTY Appendix I divides coarse meshes by more
points (Steiner points); here long ridges are divided into pieces, of which each is searched, so
that what is nearest may lie between the points. No points are needed on faces.
"""

from dataclasses import dataclass

import numpy as np

from drystone.shapes.bvh.build import OWNS_CORNER, OWNS_EDGE, build_tree

# Longest piece of a ridge as a part of the mesh's radius: over a piece the distance of another
# body is taken to fall and rise once.
SPACING = 0.1


@dataclass(frozen=True, eq=False)
class Samples:
    """Corners and pieces of ridges of one surface, in a tree of spheres; numbered from zero."""

    sphere: np.ndarray  # (nodes, 4) centre and radius of what is under a node [m]
    link: np.ndarray  # (nodes, 2) as arrays.Shapes.node_link: second child and 0, or first, count
    segment: np.ndarray  # (samples, 6) ends of a piece; of a corner twice the same
    tangent_first: np.ndarray  # (samples + 1,) first row in `tangent`
    tangent: np.ndarray  # (n, 3) unit vectors along the surface: edges of a corner, and of a ridge
    #                      into the faces beside it, at right angles to it


def find_samples(table) -> Samples:
    """Of a TerrainTable with a BVH."""
    corner, corner_count, corner_around = _corners(table)
    piece, piece_count, piece_around = _pieces(table)
    segment = np.concatenate([np.concatenate([corner, corner], axis=1), piece])
    count = np.concatenate([corner_count, piece_count])
    around = np.concatenate([corner_around, piece_around])
    number = np.arange(len(segment))
    ends = np.concatenate([segment[:, :3], segment[:, 3:]])
    order, box, link = build_tree(ends, np.stack([number, number + len(number), number], axis=1))
    first = np.cumsum(count) - count
    rows = np.repeat(first[order] - (np.cumsum(count[order]) - count[order]), count[order])
    middle, half = 0.5 * (box[:, :3] + box[:, 3:]), 0.5 * (box[:, 3:] - box[:, :3])
    radius = np.linalg.norm(half, axis=1, keepdims=True)
    return Samples(
        np.ascontiguousarray(np.concatenate([middle, radius], axis=1)),
        link,
        np.ascontiguousarray(segment[order]),
        np.concatenate([[0], np.cumsum(count[order])]).astype(np.int32),
        np.ascontiguousarray(around[rows + np.arange(len(rows))]),
    )


def _owned(table, bit: int) -> tuple[np.ndarray, np.ndarray]:
    """Triangles and which of their three corners or edges they stand for."""
    return np.nonzero(table.owns[:, None] & (bit << np.arange(3)))


def _corners(table):
    t, k = _owned(table, OWNS_CORNER)
    vertex = table.triangle[t, k]
    start = table.triangle.ravel()
    ends = [np.roll(table.triangle, shift, axis=1).ravel() for shift in (-1, 1)]
    both = np.stack([np.concatenate([start, start]), np.concatenate(ends)], axis=1)
    both = np.unique(both, axis=0)  # sorted by the first
    first = np.searchsorted(both[:, 0], vertex)
    count = np.searchsorted(both[:, 0], vertex, side="right") - first
    rows = np.repeat(first - (np.cumsum(count) - count), count) + np.arange(count.sum())
    along = table.vertex[both[rows, 1]] - table.vertex[both[rows, 0]]
    return table.vertex[vertex], count, along / np.linalg.norm(along, axis=1, keepdims=True)


def _pieces(table):
    t, k = _owned(table, OWNS_EDGE)
    p = table.vertex[table.triangle[t, k]]
    q = table.vertex[table.triangle[t, (k + 1) % 3]]
    along = q - p
    length = np.linalg.norm(along, axis=1)
    inner = np.cross(table.normal[t], along) / length[:, None]
    other = table.neighbour[t, k]
    outer = np.cross(table.normal[other], -along) / length[:, None]
    outer[other < 0] = inner[other < 0]  # at a border there is one face
    pieces = np.maximum(np.ceil(length / (SPACING * table.radius)), 1.0).astype(np.int64)
    edge = np.repeat(np.arange(len(t)), pieces)
    rank = np.arange(len(edge)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    low, high = (rank / pieces[edge])[:, None], ((rank + 1) / pieces[edge])[:, None]
    ends = [p[edge] + share * along[edge] for share in (low, high)]
    ends[1] = np.where(high == 1.0, q[edge], ends[1])
    around = np.stack([inner[edge], outer[edge]], axis=1).reshape(-1, 3)
    return np.concatenate(ends, axis=1), np.full(len(edge), 2), around
