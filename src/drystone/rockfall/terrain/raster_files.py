"""Raster files: GeoTIFF and whatever GDAL reads, ESRI ASCII grids, and XYZ points of a grid.

Every reader gives the same thing: values at cell centres, southern row first, so that row i and
column j stand at (x0 + j dx, y0 + i dy). Where there is no value there is NaN.
"""

import os
import re
from contextlib import suppress
from math import isfinite
from pathlib import Path
from typing import NamedTuple

import numpy as np

from drystone.errors import InputError
from drystone.rockfall.input_files import as_path, beside, is_file, megabytes, read_utf8
from drystone.rockfall.optional_packages import load
from drystone.shapes.elevation_grid import read_ascii_grid

# Cells of a raster that a file of no bytes may declare, and for each of its bytes: deflate makes
# 8000 equal cells of 60 bytes, so that a file of 100 kB could declare gigabytes. Real heights take
# half a byte or more each. 8 bytes a cell are read, and 150 are needed where there is ground.
FREE_CELLS, CELLS_PER_BYTE = 30_000_000, 25
FREE_GROUND, GROUND_PER_BYTE = 4_000_000, 3
FARTHEST = 1e8  # [m] of a cell from the origin of its map: the Earth is 4e7 m around
DECIMAL = re.compile(r"[+-]?\d+,\d+([eE][+-]?\d+)?")
OFF_GRID = 0.01  # of a cell: how far a point of an XYZ file may lie from its place, for rounding
# Metres in a unit of height, as files name them.
UNITS = (
    (1.0, ("m", "metre", "metres", "meter", "meters")),
    (0.3048, ("ft", "foot", "feet", "international foot", "foot international")),
    (1200.0 / 3937.0, ("us ft", "ft us", "ftus", "us foot", "us feet", "usfeet", "us survey foot",
                       "us survey feet", "foot us", "foot us survey")),
    (0.9144, ("yd", "yard", "yards")),
    (1e-3, ("mm", "millimetre", "millimetres", "millimeter", "millimeters")),
    (1e-2, ("cm", "centimetre", "centimetres", "centimeter", "centimeters")),
    (1e-1, ("dm", "decimetre", "decimetres", "decimeter", "decimeters")),
    (1e3, ("km", "kilometre", "kilometres", "kilometer", "kilometers")),
)  # fmt: skip


class Raster(NamedTuple):
    values: np.ndarray  # (rows, columns) float64, southern row first, NaN where there is none
    x0: float  # centre of the south-western cell [m], world
    y0: float
    dx: float  # [m]
    dy: float
    crs: object  # as the file says it (text or WKT), or None
    size: int = 0  # of all its files [bytes]; 0: that of the one
    unit: str | None = None  # of the values, as the file names it

    @property
    def box(self) -> tuple[float, float, float, float]:
        """West, south, east and north of the cell centres."""
        rows, columns = self.values.shape
        east, north = self.x0 + (columns - 1) * self.dx, self.y0 + (rows - 1) * self.dy
        return self.x0, self.y0, east, north


def read_raster(path, nodata: float | None = None) -> Raster:
    """The first band of a raster file; `nodata` is one more value that means none."""
    path = as_path("file", path)
    if not is_file(path):
        raise InputError(f"There is no file {path}.")
    suffix = path.suffix.lower()
    readers = {".asc": _read_ascii, ".agr": _read_ascii, ".xyz": _read_xyz, ".txt": _read_xyz}
    raster = readers.get(suffix, _read_gdal)(path)
    values = raster.values
    _require_places(path.name, raster)
    if nodata is not None:
        values[values == nodata] = np.nan
    values[np.isinf(values)] = np.nan
    if not np.isfinite(values).any():
        raise InputError(f"{path.name}: no cell has a value, all are NoData.")
    return raster


def metres_in(unit: str | None) -> float | None:
    """Metres in a unit that a file names; None if it names none, or one that nobody knows."""
    words = " ".join("".join(c if c.isalnum() else " " for c in (unit or "").lower()).split())
    for name in (words, words.partition(" ")[0]):
        for size, names in UNITS:
            if name in names:
                return size
    return None


def grid_of(path) -> Raster:
    """Place and cells of a raster file, its values not read where GDAL tells them."""
    path = as_path("file", path)
    if path.suffix.lower() in (".asc", ".agr", ".xyz", ".txt"):
        found = read_raster(path)
    else:
        if not is_file(path):
            raise InputError(f"There is no file {path}.")
        rasterio = load("rasterio", f"Reading {path.name}")
        try:
            with rasterio.open(path) as file:
                shape, at, crs = file.shape, file.transform, file.crs
        except Exception as error:  # GDAL's drivers raise errors of many kinds
            reason = " ".join(str(error).split()).rstrip(".")
            raise InputError(f"{path.name} cannot be read as a raster: {reason}.") from None
        values = np.broadcast_to(np.nan, shape)
        found = _upright(path.name, values, at, crs.to_wkt() if crs else None)
    if abs(found.dx - found.dy) > 1e-9 * found.dx:
        raise InputError(
            f"{path.name}: its cells are {found.dx:g} x {found.dy:g} m, must be square."
        )
    return found


def require_ground(path: Path, raster: Raster) -> None:
    """Ground takes memory cell by cell: as much as the file may well hold, and not more."""
    there = int(np.isfinite(raster.values).sum())
    if there > FREE_GROUND + GROUND_PER_BYTE * (raster.size or _size([path])):
        raise _too_large(path, f"{there:,} cells with ground")


def judge_cells(path: Path, file) -> None:
    """InputError, before anything is read, if an open raster declares more than it can hold."""
    blocks = max(rows * columns for rows, columns in file.block_shapes)
    cells = max(file.width * file.height, blocks)
    if cells > FREE_CELLS + CELLS_PER_BYTE * _size(file.files):  # a VRT names its files
        raise _too_large(path, f"{file.width:,} x {file.height:,} cells")


def _size(files) -> int:
    sizes = 0
    for file in files:
        with suppress(OSError):
            sizes += os.path.getsize(file)
    return sizes


def _too_large(path: Path, what: str) -> InputError:
    return InputError(
        f"{path.name} declares {what} in a file of {megabytes(_size([path]))}, more than heights "
        f"can be packed. If it is right, write it uncompressed: gdal_translate -co COMPRESS=NONE "
        f"{path.name} plain.tif"
    )


def _require_places(name: str, raster: Raster) -> None:
    places = (*raster.box, raster.dx, raster.dy)
    if not all(map(isfinite, places)) or max(map(abs, places)) > FARTHEST:
        raise InputError(
            f"{name}: its cells reach from {raster.box[:2]} to {raster.box[2:]} m, must be finite "
            f"and below {FARTHEST:g} m. Is its place in metres?"
        )
    if not (raster.dx > 0.0 and raster.dy > 0.0):
        raise InputError(f"{name}: its cells are {raster.dx:g} x {raster.dy:g} m, must be > 0.")


def _read_ascii(path: Path) -> Raster:
    """ESRI ASCII grid. GDAL would round its heights to float32; we keep every digit."""
    heights, side, (x, y) = read_ascii_grid(path)
    sidecar = beside(path, ".prj")
    crs = None if sidecar is None else read_utf8(sidecar)
    return Raster(np.ascontiguousarray(heights[::-1]), x, y, side, side, crs)


def _read_gdal(path: Path) -> Raster:
    rasterio = load("rasterio", f"Reading {path.name}")
    try:
        with rasterio.open(path) as file:
            transform, count = file.transform, file.count
            if count < 1:
                raise InputError(f"{path.name} holds no band of heights.")
            if file.dtypes[0].startswith("complex"):
                raise InputError(f"{path.name}: its heights are complex numbers, must be real.")
            _require_heights_band(path, file)
            judge_cells(path, file)
            size = _size(file.files)
            values = file.read(1, masked=True).astype(np.float64)
            values = values.filled(np.nan) * file.scales[0] + file.offsets[0]
            unit, crs = file.units[0], file.crs
    except InputError:
        raise
    except Exception as error:  # GDAL's drivers raise errors of many kinds
        reason = " ".join(str(error).split()).rstrip(".")
        raise InputError(f"{path.name} cannot be read as a raster: {reason}.") from None
    if transform.is_identity:
        raise InputError(
            f"{path.name} says nothing about where it lies (no geotransform). Georeference it, for "
            f"example with gdal_translate -a_ullr."
        )
    raster = _upright(path.name, values, transform, crs.to_wkt() if crs else None)
    return raster._replace(size=size, unit=unit or None)


def _require_heights_band(path: Path, file) -> None:
    """A picture has bands of colours, or one that names them."""
    colours = {colour.name for colour in file.colorinterp} & {"red", "green", "blue", "palette"}
    if colours or (file.count >= 3 and set(file.dtypes) == {"uint8"}):
        what = " and ".join(sorted(colours)) or f"{file.count} bands of bytes"
        raise InputError(
            f"{path.name} is a picture ({what}), must be one band of numbers. Give the raster of "
            f"heights or codes, not the orthophoto."
        )


def _upright(name: str, values: np.ndarray, transform, crs) -> Raster:
    """South first, west first, whatever the order in the file."""
    if transform.b != 0.0 or transform.d != 0.0:
        raise InputError(
            f"{name} is rotated against its coordinate axes. Make it north up, for example: "
            f"gdalwarp {name} north-up.tif"
        )
    rows, columns = values.shape
    dx, dy = transform.a, transform.e
    x = transform.c + 0.5 * dx
    y = transform.f + 0.5 * dy
    if dy < 0.0:  # as nearly all are: row 0 is north
        values, y, dy = values[::-1], y + (rows - 1) * dy, -dy
    if dx < 0.0:
        values, x, dx = values[:, ::-1], x + (columns - 1) * dx, -dx
    return Raster(np.ascontiguousarray(values), x, y, dx, dy, crs)


def _read_xyz(path: Path) -> Raster:
    """Rows of x, y, height: points of a regular grid in any order, gaps allowed."""
    x, y, z = _xyz_columns(path).T
    x0, dx, j = _axis(path.name, "x", x)
    y0, dy, i = _axis(path.name, "y", y)
    rows, columns = int(i.max()) + 1, int(j.max()) + 1
    if rows * columns > 50 * len(x) + 1000:
        raise InputError(
            f"{path.name}: {len(x)} points on a grid of {rows} x {columns}: they are not a grid. "
            f"Make a raster or a triangle mesh of them first."
        )
    place = i * columns + j
    if len(np.unique(place)) < len(place):
        twice = np.flatnonzero(np.bincount(place) > 1)[0]
        at = x0 + dx * (twice % columns), y0 + dy * (twice // columns)
        raise InputError(f"{path.name}: more than one point at x = {at[0]:.10g}, y = {at[1]:.10g}.")
    values = np.full(rows * columns, np.nan)
    values[place] = z
    return Raster(values.reshape(rows, columns), x0, y0, dx, dy, None)


def _xyz_columns(path: Path) -> np.ndarray:
    lines = path.read_text("utf-8-sig", errors="replace").splitlines()
    lines = [line for line in lines if line.strip()]
    decimal = any(map(_decimal_commas, lines[:2]))  # of a head and the line below it
    clean = str.maketrans({",": "." if decimal else " ", ";": " "})
    lines = [line.translate(clean) for line in lines]
    if lines and not _numeric(lines[0]):
        lines = lines[1:]  # a head that names the columns
    width = len(lines[0].split()) if lines else 3
    if width != 3 and _numeric(lines[0]):
        raise InputError(
            f"{path.name}: its lines hold {width} numbers, must hold three: x, y, height."
        )
    try:
        columns = np.array(" ".join(lines).split(), dtype=np.float64).reshape(-1, 3)
    except (ValueError, OverflowError):
        raise InputError(
            f"{path.name}: must be three numbers a line: x, y, height. Other files are named "
            f".tif, .asc, .obj, .stl or .ply."
        ) from None
    if np.abs(columns[np.isfinite(columns[:, :2]).all(axis=1), :2]).max(initial=0.0) > FARTHEST:
        raise InputError(
            f"{path.name}: a coordinate is beyond {FARTHEST:g} m. Are its columns x, y, height?"
        )
    if len(columns) < 4 or not np.isfinite(columns[:, :2]).all():
        raise InputError(f"{path.name}: holds {len(columns)} points; at least 4 finite are needed.")
    return columns


def _decimal_commas(line: str) -> bool:
    """Whether three numbers are parted by blanks or semicolons, and one has a comma in it."""
    words = line.replace(";", " ").split()
    return len(words) == 3 and any(DECIMAL.fullmatch(word) for word in words)


def _numeric(line: str) -> bool:
    try:
        return len([float(word) for word in line.split()]) > 0
    except (ValueError, OverflowError):
        return False


def _axis(name: str, axis: str, values: np.ndarray) -> tuple[float, float, np.ndarray]:
    """First coordinate, spacing, and the number of every point along one axis."""
    places = np.unique(values)
    steps = np.diff(places)
    steps = steps[steps > 1e-6 * np.ptp(places)]  # the same place, written differently
    if len(steps) == 0:
        raise InputError(f"{name}: all points have the same {axis}: not a grid.")
    step = float(np.median(steps))
    if len(places) > len(steps) + 1 and np.ptp(places) / step > 1e9:
        raise InputError(f"{name}: its points are not on a regular grid in {axis}.")
    number = np.rint((values - places[0]) / step).astype(np.int64)
    step = (places[-1] - places[0]) / number.max()  # not of the rounding of one pair
    off = np.abs(values - (places[0] + number * step)).max()
    if off > OFF_GRID * step:
        raise InputError(
            f"{name}: its points are not on a regular grid ({axis} is off by {off:.3g} m at a "
            f"spacing of {step:.6g} m). Make a raster or a triangle mesh of them first."
        )
    return float(places[0]), step, number
