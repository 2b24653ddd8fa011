"""Triangle table of a terrain or mesh: welded triangles, normals, adjacency, a uniform grid."""

from dataclasses import dataclass, field, replace
from functools import cached_property
from math import sqrt

import numpy as np

from drystone.errors import InputError
from drystone.shapes.bvh.build import build_tree, find_owned
from drystone.shapes.bvh.normal_cones import CONE_COLUMNS, find_cones
from drystone.shapes.bvh.triangle_grid import cell_numbers, count_triangles, list_triangles
from drystone.shapes.bvh.wide import build_wide
from drystone.shapes.mass_properties import volume_over_area

# Vertices nearer than this part of the median edge are one: only rounding tells them apart.
WELD_TOLERANCE = 1e-6
# A triangle lower than this part of its longest side has no area: its normal would be noise.
FLAT_TOLERANCE = 1e-9
# Triangles per cell that we aim at, and entries per triangle at which we take larger cells.
CELL_TRIANGLES = 2
ENTRIES_PER_TRIANGLE = 12


@dataclass(frozen=True, eq=False)
class TerrainTable:
    """Arrays as in `arrays.Shapes`, numbered from zero; equal only to itself.

    Cell (i, j), i along x, has the number j * cells[0] + i.
    """

    vertex: np.ndarray  # (nv, 3)
    triangle: np.ndarray  # (nt, 3) corners, counter-clockwise seen from the front
    normal: np.ndarray  # (nt, 3) unit
    neighbour: np.ndarray  # (nt, 3) triangle across the edge from corner k to k+1, -1 at a border
    corner: tuple[float, float]  # lower x, y of the grid [m]
    side: float  # of its square cells [m]
    cells: tuple[int, int]  # in x, in y
    cell_first: np.ndarray  # (cells + 1,) first entry of each cell in `cell_triangle`
    cell_triangle: np.ndarray  # triangles whose box reaches into the cell, ascending
    radius: float  # of the sphere about the origin that holds it [m]
    # Made by with_tree(), as in `arrays.Shapes`; a terrain in a world without meshes has none.
    node_box: np.ndarray = field(default_factory=lambda: np.empty((0, 6)))
    node_link: np.ndarray = field(default_factory=lambda: np.empty((0, 2), np.int32))
    wide_box: np.ndarray = field(default_factory=lambda: np.empty(0))
    child_link: np.ndarray = field(default_factory=lambda: np.empty((0, 2), np.int32))
    child_cone: np.ndarray = field(default_factory=lambda: np.empty((0, CONE_COLUMNS)))
    owns: np.ndarray | None = None  # (nt,)
    uses_sdf: bool = False  # whether its contacts are found from its signed distance
    reduced: bool = True  # whether its contacts are reduced to few

    def __repr__(self) -> str:
        return f"TerrainTable({len(self.triangle)} triangles, {self.cells[0]} x {self.cells[1]})"

    @cached_property  # a thousand bodies may share one
    def half_thickness(self) -> float:
        """Of the mesh that it bounds, at least that [m]: see volume_over_area()."""
        return volume_over_area(self.vertex, self.triangle)


def build_table(vertices: np.ndarray, faces: np.ndarray) -> TerrainTable:
    """From vertices (n, 3) near the origin and faces (m, 3); raises InputError if they are bad."""
    vertices, number = weld(vertices, faces)
    triangle = number[faces].astype(np.int32)
    _check_area(vertices, triangle)
    spans = _area_vectors(vertices, triangle)
    normal = spans / np.linalg.norm(spans, axis=1, keepdims=True)
    if (normal[:, 2] < 0.0).all():
        raise InputError(
            "Terrain: all faces look down (clockwise seen from above), bodies would fall through. "
            "Turn them round with faces[:, ::-1]; for a ceiling use fixed boxes or hulls."
        )
    tables = {
        "vertex": vertices,
        "triangle": triangle,
        "normal": normal,
        "neighbour": _neighbours(triangle, len(vertices)),
        **_grid(vertices, triangle),
    }
    for table in tables.values():
        if isinstance(table, np.ndarray):
            table.flags.writeable = False
    radius = float(np.sqrt(np.einsum("ij,ij->i", vertices, vertices).max()))
    return TerrainTable(**tables, radius=radius)


def with_tree(table: TerrainTable) -> TerrainTable:
    """The same surface with a tree, its triangles in the order of the tree's leaves."""
    if table.owns is not None:
        return table
    order, node_box, node_link = build_tree(table.vertex, table.triangle)
    place = np.empty(len(order), dtype=np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    triangle, normal = table.triangle[order], table.normal[order]
    neighbour = np.where(table.neighbour[order] < 0, np.int32(-1), place[table.neighbour[order]])
    cell = np.repeat(np.arange(len(table.cell_first) - 1), np.diff(table.cell_first))
    cell_triangle = place[table.cell_triangle]
    owns = find_owned(table.vertex, triangle, normal, neighbour)
    cone = find_cones(table.vertex, triangle, normal, neighbour, owns, node_link)
    wide_box, child_link, child_node = build_wide(node_box, node_link)
    tables = {
        "triangle": triangle,
        "normal": normal,
        "neighbour": neighbour,
        "cell_triangle": cell_triangle[np.lexsort((cell_triangle, cell))],
        "node_box": node_box,
        "node_link": node_link,
        "wide_box": wide_box,
        "child_link": child_link,
        "child_cone": cone[child_node],
        "owns": owns,
    }
    for array in tables.values():
        array.flags.writeable = False
    return replace(table, **tables)


def weld(vertices: np.ndarray, faces: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The vertices in use without repetition, and the number of each old one among them."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components
    from scipy.spatial import cKDTree

    used = np.zeros(len(vertices), dtype=bool)
    used[faces] = True
    in_use = np.flatnonzero(used)
    edge = np.linalg.norm(vertices[faces[:, 0]] - vertices[faces[:, 1]], axis=1)
    tolerance = WELD_TOLERANCE * float(np.median(edge))
    first = _first_alike(vertices[in_use])
    alone = np.flatnonzero(first == np.arange(len(in_use)))
    points = vertices[in_use[alone]]
    pairs = cKDTree(points, balanced_tree=False).query_pairs(tolerance, output_type="ndarray")
    label = np.arange(len(points))
    if len(pairs):
        graph = coo_matrix((np.ones(len(pairs)), pairs.T), shape=(len(points),) * 2)
        _, component = connected_components(graph, directed=False)
        _, keep, label = np.unique(component, return_index=True, return_inverse=True)
        points = points[keep]
    place = np.empty(len(in_use), dtype=np.int64)
    place[alone] = label
    number = np.full(len(vertices), -1, dtype=np.int64)
    number[in_use] = place[first]
    return np.ascontiguousarray(points), number


def _first_alike(points: np.ndarray) -> np.ndarray:
    """For every point the first one with exactly the same coordinates."""
    order = np.lexsort((points[:, 2], points[:, 1], points[:, 0]))
    ranked = points[order]
    fresh = np.ones(len(points), dtype=bool)
    fresh[1:] = (ranked[1:] != ranked[:-1]).any(axis=1)
    leader = order[np.flatnonzero(fresh)]  # lexsort is stable, so the first of its kind leads
    first = np.empty(len(points), dtype=np.int64)
    first[order] = leader[np.cumsum(fresh) - 1]
    return first


def _area_vectors(vertices: np.ndarray, triangle: np.ndarray) -> np.ndarray:
    a, b, c = (vertices[triangle[:, k]] for k in range(3))
    return np.cross(b - a, c - a)


def flat_faces(vertices: np.ndarray, triangle: np.ndarray) -> np.ndarray:
    """(m,) which triangles have no area."""
    corners = vertices[triangle]
    sides = corners - np.roll(corners, 1, axis=1)
    longest = np.einsum("ijk,ijk->ij", sides, sides).max(axis=1)
    return np.linalg.norm(np.cross(sides[:, 0], sides[:, 1]), axis=1) <= FLAT_TOLERANCE * longest


def _check_area(vertices: np.ndarray, triangle: np.ndarray) -> None:
    flat = np.flatnonzero(flat_faces(vertices, triangle))
    if len(flat):
        raise InputError(
            f"Terrain: face {flat[0]} has no area ({len(flat)} such faces): two of its corners are "
            f"the same or all lie on a line. Remove them; Terrain.load() does so."
        )


def _neighbours(triangle: np.ndarray, vertex_count: int) -> np.ndarray:
    """Where just two triangles share an edge, they are neighbours; three or more are left as
    borders, for none of them continues the surface of another."""
    start, end = triangle.ravel(), np.roll(triangle, -1, axis=1).ravel()
    key = np.minimum(start, end) * np.int64(vertex_count) + np.maximum(start, end)
    order = np.argsort(key, kind="stable")
    key = key[order]
    change = np.flatnonzero(np.diff(key)) + 1
    first = np.concatenate([[0], change])
    pair = first[np.diff(np.concatenate([first, [len(key)]])) == 2]
    one, two = order[pair], order[pair + 1]
    same = np.flatnonzero(start[one] == start[two])
    if len(same):
        raise InputError(
            f"Terrain: faces {one[same[0]] // 3} and {two[same[0]] // 3} run along their common "
            f"edge the same way, so one of them is turned over or a copy ({len(same)} such "
            f"edges). Turn all faces counter-clockwise seen from above."
        )
    neighbour = np.full(len(start), -1, dtype=np.int32)
    neighbour[one], neighbour[two] = two // 3, one // 3
    return neighbour.reshape(-1, 3)


def _grid(vertices: np.ndarray, triangle: np.ndarray) -> dict:
    """Square cells over x, y and for each the triangles whose box reaches into it."""
    flat = vertices[:, :2]
    corner, extent = flat.min(axis=0), np.ptp(flat, axis=0)
    count = len(triangle)
    side = max(sqrt(CELL_TRIANGLES * extent[0] * extent[1] / count), float(extent.max()) / count)
    while True:
        cells = cell_numbers(extent, side)
        entries = count_triangles(vertices, triangle, corner, side, *cells).sum()
        if entries <= ENTRIES_PER_TRIANGLE * count:
            break
        side *= 2.0  # a few huge triangles among small ones would fill the memory
    first, listed = list_triangles(vertices, triangle, corner, side, *cells)
    return {
        "corner": (float(corner[0]), float(corner[1])),
        "side": float(side),
        "cells": cells,
        "cell_first": first.astype(np.int32),
        "cell_triangle": listed,
    }
