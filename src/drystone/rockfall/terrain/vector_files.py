"""Points, lines and polygons in local coordinates, from GIS files or from the study itself."""

import warnings
from typing import NamedTuple

import numpy as np

from drystone.errors import InputError
from drystone.model.checks import did_you_mean
from drystone.rockfall.input_files import as_path, is_file
from drystone.rockfall.optional_packages import load
from drystone.rockfall.terrain.crs import to_slope
from drystone.rockfall.terrain.dxf_files import read_dxf
from drystone.rockfall.terrain.point_tables import SUFFIXES as TABLES
from drystone.rockfall.terrain.point_tables import read_points

FARTHEST = 1e8  # [m] from the origin of a map: the Earth is 4e7 m around
KINDS = {
    "point": ("Point", "MultiPoint"),
    "line": ("LineString", "MultiLineString"),
    "polygon": ("Polygon", "MultiPolygon"),
}


class Features(NamedTuple):
    """Geometries of one file, and what its table says about each."""

    name: str  # of the file
    shapes: np.ndarray  # (n,) shapely geometries, local x, y (and world z where given)
    table: dict[str, np.ndarray]  # (n,) a column

    def column(self, key: str) -> np.ndarray:
        if key in self.table:
            return self.table[key]
        raise InputError(f"{self.name} has no column {key!r}. {did_you_mean(key, self.table)}")


def read_features(path, slope, kinds, layer: str | None = None) -> Features:
    """All geometries of a GeoPackage, GeoJSON, shapefile, DXF or CSV, moved to the slope's system.

    kinds  which may be in it, of "point", "line" and "polygon"
    layer  which of the file; None where it has one only
    """
    path = as_path("file", path)
    if not is_file(path):
        raise InputError(f"There is no file {path}.")
    shapely = load("shapely", "Geometry")
    if path.suffix.lower() == ".dxf":
        shapes, table, crs = read_dxf(path, kinds, layer)
    elif path.suffix.lower() in TABLES:
        shapes, table, crs = read_points(path)
    else:
        with warnings.catch_warnings():  # what is wrong with a file is said once, in an error
            warnings.simplefilter("ignore")
            shapes, table, crs = _read_layer(path, layer)
    there = ~(shapely.is_missing(shapes) | shapely.is_empty(shapes))
    shapes = shapes[there]
    if len(shapes) == 0:
        raise InputError(f"{path.name} holds no geometry.")
    _require_kind(path.name, shapes, kinds)
    places = shapely.get_coordinates(shapes)
    if not (np.isfinite(places).all() and np.abs(places).max() < FARTHEST):
        raise InputError(
            f"{path.name}: a coordinate is {_worst(places):g}, must be finite and below "
            f"{FARTHEST:g} m."
        )
    table = {key: values[there] for key, values in table.items()}
    return Features(path.name, _to_local(path.name, shapes, crs, slope), table)


def _read_layer(path, layer: str | None) -> tuple:
    """Geometries, columns and system of a layer of a file that GDAL reads."""
    shapely, pyogrio = load("shapely", "Geometry"), load("pyogrio", f"Reading {path.name}")
    try:
        layers = [str(name) for name, kind in pyogrio.list_layers(path) if kind is not None]
        _require_layer(path.name, layers, layer)
        info, _, geometry, fields = pyogrio.raw.read(path, layer=layer)
    except InputError:
        raise
    except Exception as error:  # GDAL's drivers raise errors of many kinds
        reason = " ".join(str(error).split()).partition(";")[0].rstrip(".")
        raise InputError(f"{path.name} cannot be read as a vector file: {reason}.") from None
    try:
        shapes = shapely.from_wkb(geometry if geometry is not None else [])
    except shapely.errors.ShapelyError as error:
        raise InputError(f"{path.name}: a geometry is damaged ({error}).") from None
    table = {str(key): values for key, values in zip(info["fields"], fields, strict=True)}
    return shapes, table, info["crs"]


def _require_layer(name: str, layers: list[str], layer: str | None) -> None:
    if layer is None and len(layers) > 1:
        raise InputError(
            f"{name} has {len(layers)} layers: {', '.join(layers)}. Say which: layer = '...'."
        )
    if layer is not None and layer not in layers:
        raise InputError(f"{name} has no layer {layer!r}. {did_you_mean(layer, layers)}")


def points_of(what: str, rows, slope) -> np.ndarray:
    """(n, 2 or 3) local, from world coordinates that the user wrote."""
    if not rows:
        raise InputError(f"{what}: holds no point.")
    widths = {len(row) for row in rows}
    if widths - {2, 3} or len(widths) != 1:
        raise InputError(f"{what}: every point must be [x, y], or every one [x, y, z].")
    array = np.array(rows, dtype=np.float64)
    if not np.isfinite(array).all():
        raise InputError(f"{what}: all its numbers must be finite.")
    if np.abs(array).max() > FARTHEST:
        raise InputError(f"{what}: a coordinate is {_worst(array):g}, beyond {FARTHEST:g} m.")
    return array - slope.origin[: array.shape[1]]


def _worst(places: np.ndarray) -> float:
    return float(places.flat[np.argmax(np.where(np.isfinite(places), np.abs(places), np.inf))])


def polygon_of(what: str, rows, slope):
    """A shapely polygon, local, from the world coordinates of its rim."""
    shapely = load("shapely", "Geometry")
    corners = points_of(what, rows, slope)[:, :2]
    if len(corners) < 3:
        raise InputError(f"{what}: has {len(corners)} corners, must have at least 3.")
    return require_area(what, shapely.Polygon(corners))


def require_area(what: str, polygon):
    """The polygon itself, if it is a proper one."""
    shapely = load("shapely", "Geometry")
    if not shapely.is_valid(polygon):
        reason = shapely.is_valid_reason(polygon).partition("[")[0]
        raise InputError(f"{what}: the polygon is not valid ({reason.lower()}). Redraw its rim.")
    if not polygon.area > 0.0:
        raise InputError(f"{what}: the polygon has no area.")
    return polygon


def _require_kind(name: str, shapes, kinds) -> None:
    allowed = {kind for key in kinds for kind in KINDS[key]}
    for shape in shapes:
        if shape.geom_type not in allowed:
            raise InputError(
                f"{name} holds a {shape.geom_type}, must hold {' or '.join(kinds)} geometries."
            )


def _to_local(name: str, shapes, found, slope) -> np.ndarray:
    shapely = load("shapely", "Geometry")
    deep = bool(shapely.has_z(shapes).all())

    def move(coordinates):
        moved = to_slope(name, coordinates[:, :2], found, slope.crs) - slope.origin[:2]
        return np.hstack([moved, coordinates[:, 2:]])

    return np.asarray(shapely.transform(shapes, move, include_z=deep))
