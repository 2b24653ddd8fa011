"""The slope: triangles in local coordinates, from an elevation grid or a mesh.

World coordinates are local + origin, x east, y north, z up, in metres. The origin is a whole
number of metres near the middle, so that nothing is lost by it; heights are not shifted.
"""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from drystone.errors import InputError
from drystone.model.checks import as_float, float_array, index_rows, point_array, positive, vector
from drystone.model.signatures import public
from drystone.rockfall.input_files import as_path, is_file
from drystone.rockfall.terrain.crs import LOCAL, choose_crs
from drystone.rockfall.terrain.grid_height import heights_on_grid
from drystone.rockfall.terrain.mesh_slope import SUFFIXES, read_mesh
from drystone.rockfall.terrain.plan_index import PlanIndex, build_plan_index, highest_over
from drystone.rockfall.terrain.point_clouds import SUFFIXES as CLOUDS
from drystone.rockfall.terrain.point_clouds import read_point_cloud, triangulate_cloud
from drystone.rockfall.terrain.raster_files import Raster, read_raster, require_ground
from drystone.rockfall.terrain.reprojection import in_metres, move_raster

HEIGHTS = (-1000.0, 9000.0)  # [m] deepest mine and highest mountain; beyond is undeclared NoData


class HeightGrid(NamedTuple):
    """Heights at the nodes of a regular grid, in local coordinates."""

    z: np.ndarray  # (rows, columns), southern row first, NaN in holes [m]
    x0: float  # south-western node [m]
    y0: float
    dx: float
    dy: float


@public
@dataclass(frozen=True, eq=False)
class Slope:
    """Ground that rocks fall on.

    vertices   (n, 3) float64, local [m]
    triangles  (m, 3) int32, counter-clockwise seen from above or outside
    origin     (3,) world = local + origin [m]
    crs        pyproj CRS, or None for a local system in metres
    grid       the heights it was made of, None for a mesh
    name       of its file
    """

    vertices: np.ndarray
    triangles: np.ndarray
    origin: np.ndarray
    crs: object = None
    grid: HeightGrid | None = None
    name: str = "slope"

    @classmethod
    def from_file(
        cls,
        path: str | Path,
        crs: str | None = None,
        nodata: float | None = None,
        reproject: str | None = None,
        cell: float | None = None,
        tin: bool | None = False,
    ) -> "Slope":
        """From a GeoTIFF, ESRI ASCII grid or XYZ file, a point cloud (LAS, LAZ), or a triangle
        mesh (OBJ, STL, PLY).

        crs        replaces what the file says; "local" for plain metres. Without it the file must
                   say in which system it is, which meshes, XYZ and ASCII grids without .prj do not
        nodata     one more height that means none, where the file does not declare it
        reproject  system to which a raster is moved, such as "EPSG:2056"
        cell       of the grid that is made of a point cloud [m]
        tin        the points of the cloud as corners of triangles instead, one in each `cell`
        """
        path = as_path("terrain", path)
        if not is_file(path):
            raise InputError(f"There is no terrain file {path}.")
        if path.suffix.lower() in SUFFIXES:
            vertices, triangles = read_mesh(path)
            if reproject is not None:
                raise InputError(f"{path.name} is a mesh; reproject moves rasters only.")
            box = (*vertices[:, :2].min(axis=0), *vertices[:, :2].max(axis=0))
            system = choose_crs(path.name, None, crs, box)
            return cls.from_mesh(vertices, triangles, system, path.name)
        if tin:
            return cls._from_points(path, crs, reproject, cell)
        if path.suffix.lower() in CLOUDS:
            raster = read_point_cloud(path, cell)
        else:
            none = None if nodata is None else as_float("nodata", nodata, "a height, or None")
            raster = read_raster(path, none)
            require_ground(path, raster)
        raster = in_metres(path.name, raster, crs, reproject is not None)
        _require_heights(path.name, raster.values)
        if reproject is not None:
            raster, crs = move_raster(path.name, raster, crs, reproject), None
        system = choose_crs(path.name, raster.crs, crs, raster.box)
        return _from_raster(raster, system, path.name)

    @classmethod
    def _from_points(cls, path: Path, crs, reproject, cell) -> "Slope":
        if path.suffix.lower() not in CLOUDS:
            raise InputError(
                f"{path.name} is no point cloud (LAS, LAZ), of which tin makes a mesh."
            )
        if reproject is not None:
            raise InputError(f"{path.name} becomes a mesh; reproject moves rasters only.")
        vertices, triangles, found = triangulate_cloud(path, cell)
        box = (*vertices[:, :2].min(axis=0), *vertices[:, :2].max(axis=0))
        return cls.from_mesh(vertices, triangles, choose_crs(path.name, found, crs, box), path.name)

    @classmethod
    def from_grid(
        cls,
        z: ArrayLike,
        cell: ArrayLike,
        origin: ArrayLike = (0.0, 0.0),
        crs: Any = None,
        name: str = "grid",
    ) -> "Slope":
        """From heights z (rows, columns), southern row first, NaN in holes.

        cell    spacing [m], one number or (x, y)
        origin  world x, y of the south-western node z[0, 0]
        crs     code, pyproj CRS, or None for local metres
        """
        z = float_array("z", z, "an array of heights (rows, columns)")
        if z.ndim != 2 or min(z.shape) < 2:
            raise InputError(f"z has shape {z.shape}, must be (rows, columns), 2 at least each.")
        dx, dy = vector("cell", cell, 2) if hasattr(cell, "__len__") else (cell, cell)
        x, y = vector("origin", origin, 2)
        dx, dy = positive("cell in x", dx), positive("cell in y", dy)
        raster = Raster(z, x, y, dx, dy, None)
        _require_heights(name, z)
        system = choose_crs(name, None, LOCAL if crs is None else crs, raster.box)
        return _from_raster(raster, system, name)

    @classmethod
    def from_mesh(
        cls, vertices: ArrayLike, triangles: ArrayLike, crs: Any = None, name: str = "mesh"
    ) -> "Slope":
        """From world vertices (n, 3) and triangles (m, 3), counter-clockwise from outside.

        crs  code, pyproj CRS, or None for local metres
        """
        vertices = point_array(f"{name}: vertices", vertices, 3)
        _require_heights(name, vertices[:, 2])
        low, high = vertices[:, :2].min(axis=0), vertices[:, :2].max(axis=0)
        system = choose_crs(name, None, LOCAL if crs is None else crs, (*low, *high))
        origin = _round_origin(low, high)
        vertices -= origin
        triangles = index_rows(f"{name}: triangles", triangles, len(vertices)).astype(np.int32)
        return cls(vertices, triangles, origin, system, None, name)

    def __repr__(self) -> str:
        low, high = self.bounds
        extent = " x ".join(f"{x:.4g}" for x in high - low)
        return f"Slope({self.name}, {len(self.triangles)} triangles, {extent} m)"

    @cached_property
    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper corner of the box that holds it, local [m]."""
        return self.vertices.min(axis=0), self.vertices.max(axis=0)

    @cached_property
    def spacing(self) -> float:
        """Typical distance of neighbouring vertices in plan [m]."""
        if self.grid is not None:
            return min(self.grid.dx, self.grid.dy)
        low, high = self.bounds
        return float(np.sqrt(2.0 * np.prod(high[:2] - low[:2]) / len(self.triangles)))

    @cached_property
    def plan_box(self) -> tuple[np.ndarray, np.ndarray]:
        """(m, 2) lower and upper corners of all triangles in plan [m]."""
        corners = self.vertices[:, :2][self.triangles]
        return corners.min(axis=1), corners.max(axis=1)

    @cached_property
    def plan_index(self) -> PlanIndex:
        """Triangles by the cells of a map grid; built when first asked for."""
        return build_plan_index(self.vertices, self.triangles)

    def height(self, x: ArrayLike, y: ArrayLike) -> np.ndarray:
        """Height of the highest surface over local x, y [m]; NaN in holes and outside."""
        x, y = float_array("x", x), float_array("y", y)
        if x.shape != y.shape and x.ndim and y.ndim:
            raise InputError(f"x has shape {x.shape} and y {y.shape}, must be the same.")
        x, y = np.broadcast_arrays(x, y)
        if self.grid is not None:
            return heights_on_grid(self.grid, x, y)
        height = np.empty(x.size)
        index = self.plan_index
        highest_over(
            np.ascontiguousarray(x.ravel()), np.ascontiguousarray(y.ravel()), self.vertices,
            self.triangles, index.low, index.cell, index.shape, index.start, index.triangle, height,
        )  # fmt: skip
        return height.reshape(x.shape)

    def area_vectors(self) -> np.ndarray:
        """(m, 3) outward normal of every triangle times its area [m²]."""
        a, b, c = (self.vertices[self.triangles[:, k]] for k in range(3))
        return 0.5 * np.cross(b - a, c - a)


def _from_raster(raster: Raster, crs, name: str) -> Slope:
    z, (west, south, east, north) = raster.values, raster.box
    origin = _round_origin(np.array([west, south]), np.array([east, north]))
    grid = HeightGrid(z, raster.x0 - origin[0], raster.y0 - origin[1], raster.dx, raster.dy)
    triangles = _split_cells(name, np.isfinite(z))
    used = np.zeros(z.size, dtype=bool)
    used[triangles] = True
    row, column = np.divmod(np.flatnonzero(used), z.shape[1])
    vertices = np.empty((len(row), 3))
    vertices[:, 0] = grid.x0 + grid.dx * column
    vertices[:, 1] = grid.y0 + grid.dy * row
    vertices[:, 2] = z[row, column]
    number = (np.cumsum(used) - 1).astype(np.int32)
    return Slope(vertices, number[triangles], origin, crs, grid, name)


def _split_cells(name: str, there: np.ndarray) -> np.ndarray:
    """Two triangles a cell, split from south-west to north-east; a cell without one of its
    corners is a hole."""
    columns = there.shape[1]
    i, j = np.nonzero(there[:-1, :-1] & there[:-1, 1:] & there[1:, :-1] & there[1:, 1:])
    if len(i) == 0:
        raise InputError(f"{name}: no cell of the grid has heights at all four corners.")
    corner = i * columns + j
    triangles = np.empty((len(i), 6), dtype=np.int64)
    for k, step in enumerate((0, 1, columns + 1, 0, columns + 1, columns)):
        triangles[:, k] = corner + step
    return triangles.reshape(-1, 3)


def _round_origin(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Whole metres near the middle of the map; 0 for the height."""
    return np.append(np.round(0.5 * (low + high)), 0.0) + 0.0  # -0 -> 0


def _require_heights(name: str, z: np.ndarray) -> None:
    if not np.isfinite(z).any():
        raise InputError(f"{name}: no height is a number.")
    low, high = float(np.nanmin(z)), float(np.nanmax(z))
    if low < HEIGHTS[0] or high > HEIGHTS[1]:
        value = low if low < HEIGHTS[0] else high
        raise InputError(
            f"{name}: a height is {value:.6g} m, no ground of this Earth. If that means NoData, "
            f"set nodata = {value:.6g}; if heights are not in metres, convert them."
        )
