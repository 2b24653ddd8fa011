"""Terrain: fixed one-sided triangle mesh, from arrays, a mesh file or an elevation grid (DEM)."""

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from drystone.errors import InputError
from drystone.model.arrays import TERRAIN
from drystone.model.checks import existing_rows, point_array, vector
from drystone.model.files import existing_file
from drystone.shapes.elevation_grid import grid_triangles, read_ascii_grid
from drystone.shapes.mass_properties import MassProperties, massless
from drystone.shapes.mesh_repair.files import read_mesh
from drystone.shapes.part import NO_SIZE, Part, rounded_offset
from drystone.shapes.surface import Surface
from drystone.shapes.triangle_table import TerrainTable, build_table, flat_faces, weld

# [m] Beyond it areas and distances, products of two or four of them, come near the largest float.
ENDLESS = 1e50


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Terrain:
    """Triangles that bodies stand on; only as fixed.

    vertices  (n, 3) [m]; map coordinates cost no digits, for inside they are kept relative to
              a round number near their middle
    faces     (m, 3) integers, corners counter-clockwise seen from the side that carries

    Vertices at the same place, up to rounding, become one, so that neighbours know each other
    and inner edges are not felt. The order of the faces is kept.
    """

    table: TerrainTable  # vertices relative to `offset`
    offset: np.ndarray  # (3,) in the shape's frame [m]

    def __init__(self, vertices: ArrayLike, faces: ArrayLike) -> None:
        vertices = point_array("Terrain: vertices", vertices, 3)
        self._set(vertices, _face_array(faces, len(vertices)), np.zeros(3))

    def _set(self, vertices: np.ndarray, faces: np.ndarray, base: np.ndarray) -> None:
        """From vertices relative to `base`."""
        shift = rounded_offset(*_middle_and_size(vertices))
        object.__setattr__(self, "table", build_table(vertices - shift, faces))
        object.__setattr__(self, "offset", base + shift)

    def __repr__(self) -> str:
        lower, upper = self.bounds
        extent = " x ".join(f"{x:.4g}" for x in upper - lower)
        return f"Terrain({len(self.table.triangle)} triangles, {extent} m)"

    @property
    def vertices(self) -> np.ndarray:
        """(n, 3) welded vertices in the shape's frame [m]."""
        return self.table.vertex + self.offset

    @property
    def faces(self) -> np.ndarray:
        """(m, 3) corners of the triangles, rows of `vertices`."""
        return self.table.triangle

    @property
    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper corner of the box that holds it, in the shape's frame [m]."""
        vertex = self.table.vertex
        return vertex.min(axis=0) + self.offset, vertex.max(axis=0) + self.offset

    @classmethod
    def load(cls, path: str | Path) -> "Terrain":
        """From a file in metres: a mesh (STL, OBJ, PLY, ... whatever trimesh reads) or an
        elevation grid (ESRI ASCII, `.asc`).

        Faces without area, which mesh files often have, are left out. In a grid, cells with a
        NODATA value are holes, and heights stand at the centres of the raster's cells.
        """
        path = existing_file(path, "Terrain")
        if path.suffix.lower() == ".asc":
            heights, spacing, origin = read_ascii_grid(path)
            return cls.from_grid(heights, spacing, origin, first_row="north")
        vertices, faces = _read_mesh(path)
        return cls(vertices, faces)

    @classmethod
    def from_grid(
        cls,
        heights: ArrayLike,
        spacing: ArrayLike,
        origin: ArrayLike = (0.0, 0.0),
        first_row: str = "south",
    ) -> "Terrain":
        """From heights [m] at the points of a regular grid.

        heights    (rows, columns); columns run east (x); NaN where there is no ground
        spacing    between points [m], one number or (x, y)
        origin     x, y of the point in the south-west corner (first column, southern row) [m]
        first_row  "south": row i lies at y = origin_y + i spacing, as arrays are indexed;
                   "north": row 0 is the northern one, as in map rasters and pictures

        Each cell becomes two triangles, split along its diagonal from south-west to north-east.
        A cell with NaN at any corner is a hole.
        """
        vertices, faces, base = grid_triangles(heights, spacing, origin, first_row)
        terrain = cls.__new__(cls)
        terrain._set(vertices, faces, base)
        return terrain

    def mass_properties(self) -> MassProperties:
        raise massless(self)

    def parts(self) -> list[Part]:
        radius, table = self.table.radius, self.table
        return [Part(TERRAIN, NO_SIZE, radius, self.offset, geometry=table, thickness=inf)]

    def surfaces(self) -> list[Surface]:
        return [Surface(self.vertices, self.faces, smooth=False)]

    def describe(self, put: Callable) -> dict:
        """Plain values for a file; `put` stores an array and returns what stands for it."""
        tables = {"vertex": self.table.vertex, "triangle": self.table.triangle}
        return {key: put(array) for key, array in (*tables.items(), ("offset", self.offset))}

    @classmethod
    def restored(cls, value: dict, get: Callable) -> "Terrain":
        """The terrain that described itself so, bit for bit; `get` is the inverse of `put`."""
        vertex = point_array("Terrain: vertices", get(value["vertex"]), 3)
        offset = np.array(vector("Terrain: offset", get(value["offset"])))
        triangle = existing_rows("Terrain: faces", get(value["triangle"]), len(vertex))
        terrain = cls.__new__(cls)
        object.__setattr__(terrain, "table", build_table(vertex, triangle.reshape(-1, 3)))
        object.__setattr__(terrain, "offset", offset)
        return terrain


def _middle_and_size(vertices: np.ndarray) -> tuple[np.ndarray, float]:
    lower, upper = vertices.min(axis=0), vertices.max(axis=0)
    far = max(np.abs(lower).max(), np.abs(upper).max())
    if far > ENDLESS:
        raise InputError(f"Terrain: a coordinate is {far:g} m, must be at most {ENDLESS:g} m.")
    size = float(np.linalg.norm(upper - lower))
    if not size > 0.0:
        raise InputError(f"Terrain: all {len(vertices)} vertices are the same point.")
    return 0.5 * (lower + upper), size


def _face_array(faces, vertex_count: int) -> np.ndarray:
    """`faces` as a (m, 3) int64 array of existing vertices."""
    try:
        array = np.asarray(faces)
    except Exception:  # rows of different lengths, objects that raise what they like
        raise InputError("Terrain: faces must be an array of shape (m, 3).") from None
    if array.ndim != 2 or array.shape[1] != 3:
        raise InputError(f"Terrain: faces have shape {array.shape}, must be (m, 3): triangles.")
    if len(array) == 0:
        raise InputError("Terrain: has no faces, needs at least one triangle.")
    if array.dtype.kind not in "iu":
        raise InputError(f"Terrain: faces are {array.dtype}, must be integers (vertices).")
    array = array.astype(np.int64)
    bad = np.flatnonzero(((array < 0) | (array >= vertex_count)).any(axis=1))
    if len(bad):
        raise InputError(
            f"Terrain: face {bad[0]} is {array[bad[0]].tolist()}, but vertices go from 0 to "
            f"{vertex_count - 1} ({len(bad)} such faces)."
        )
    return array


def _read_mesh(path: Path) -> tuple[np.ndarray, np.ndarray]:
    vertices, faces = read_mesh(path, "Terrain")
    vertices = point_array(f"Terrain: vertices of {path.name}", vertices, 3)
    if not len(faces):
        raise InputError(f"Terrain: {path.name} holds no triangles.")
    welded, number = weld(vertices - rounded_offset(*_middle_and_size(vertices)), faces)
    faces = faces[~flat_faces(welded, number[faces])]
    if len(faces) == 0:
        raise InputError(f"Terrain: {path.name} holds no triangle with an area.")
    return vertices, faces
