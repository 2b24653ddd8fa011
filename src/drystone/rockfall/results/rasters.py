"""Rasters of results as GeoTIFF: north up, with nodata, unit and reference system.

Values are those of the runs that passed a cell: of each run its largest in that cell. The share
of runs that passed is conditional on a rock being released; it is not a frequency in time.
"""

import errno
import os
import zlib
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from drystone.errors import InputError
from drystone.rockfall.optional_packages import load
from drystone.rockfall.results.cell_statistics import PERCENTS, QUANTITIES, STATISTICS, Band
from drystone.rockfall.results.cells import Raster
from drystone.rockfall.results.summary_schema import LARGEST, damaged
from drystone.rockfall.terrain.ground_surface import Ground, height_at
from drystone.rockfall.terrain.raster_files import judge_cells

NODATA = -9999.0
TILE = 256  # cells along a side of a tile, as cloud-optimised GeoTIFF has them
TERRAIN_POINTS = 1_000_000  # heights computed at once, 100 MB with what they need
UNITS = {"speed": "m/s", "energy": "kJ", "height": "m"}
SCALE = {"speed": 1.0, "energy": 1e-3, "height": 1.0}  # from SI to UNITS
TITLES = {
    "speed": "velocity of the centre of mass",
    "energy": "kinetic energy, translation and rotation",
    "height": "height of the centre of mass above the ground",
}
FILE_STEMS = {"speed": "velocity", "energy": "kinetic_energy", "height": "jump_height"}
COUNTS = {  # name: (unit, description)
    "passages": ("runs", "number of runs whose rock passed the cell"),
    "reach_probability": (
        "1",
        "share of all runs whose rock passed the cell, given a release; no frequency in time",
    ),
    "deposition": ("runs", "number of runs whose rock came to rest in the cell"),
    "terrain": ("m", "height of the ground at the centre of the cell"),
}


def raster_names() -> dict[str, tuple[str, str]]:
    """{name of the raster: (unit, description)} of all that are written."""
    names = dict(COUNTS)
    for quantity in QUANTITIES:
        for statistic in STATISTICS:
            words = statistic
            if statistic in PERCENTS and statistic != "median":
                words = f"{100 * PERCENTS[statistic]:.0f} % percentile"
            text = f"{words}, over the runs that passed, of the {TITLES[quantity]}"
            names[f"{FILE_STEMS[quantity]}_{statistic}"] = (UNITS[quantity], text)
    return names


def cover_name(materials: list[str]) -> dict[str, tuple[str, str]]:
    """{name of the raster: (unit, description)} of the materials in cells."""
    words = ", ".join(f"{k} {name}" for k, name in enumerate(materials))
    return {"material": ("1", f"material of the ground at the centre of the cell: {words}")}


class RasterWriter:
    """Writes all rasters band by band, into a folder that has its name only when complete."""

    def __init__(self, folder: Path, raster: Raster, origin, crs: str | None, runs: int, more=None):
        """more   {name: (unit, description)} of rasters beside the usual ones"""
        rasterio = load("rasterio", "A GeoTIFF")
        self.folder, self.raster, self.runs = folder, raster, runs
        folder.mkdir(parents=True, exist_ok=True)
        north = raster.y0 + raster.rows * raster.cell + origin[1]
        west = raster.x0 + origin[0]
        profile = {
            "driver": "GTiff", "dtype": "float32", "count": 1, "nodata": NODATA,
            "width": raster.columns, "height": raster.rows, "crs": crs,
            "transform": rasterio.Affine(raster.cell, 0, west, 0, -raster.cell, north),
            "compress": "deflate", "predictor": 3,
        }  # fmt: skip
        self.files, self._written = {}, []
        for name, (unit, text) in (raster_names() | (more or {})).items():
            file = rasterio.open(folder / f"{name}.tif", "w", **profile)
            file.set_band_unit(1, unit)
            file.set_band_description(1, text)
            file.update_tags(unit=unit, description=text, runs=runs, source="Drystone rockfall")
            self.files[name] = file

    def write(self, band: Band, deposited: np.ndarray) -> None:
        """One band; `deposited` (rows, columns) counts the ends of runs in it."""
        counts = {
            "passages": band.passages,
            "reach_probability": band.passages / self.runs,
            "deposition": deposited,
        }
        for name, values in counts.items():
            self._write(
                name, band.first, band.last, np.where(band.passages + deposited > 0, values, np.nan)
            )
        for quantity in QUANTITIES:
            for statistic in STATISTICS:
                values = band.values[f"{quantity}_{statistic}"] * SCALE[quantity]
                self._write(f"{FILE_STEMS[quantity]}_{statistic}", band.first, band.last, values)
        for name, values in band.hazard.items():
            self._write(name, band.first, band.last, values)

    def write_terrain(self, ground: Ground) -> None:
        raster, rows = self.raster, max(TERRAIN_POINTS // self.raster.columns, 1)
        x = raster.x0 + raster.cell * (np.arange(raster.columns) + 0.5)
        for first in range(0, raster.rows, rows):
            last = min(first + rows, raster.rows)
            y = raster.y0 + raster.cell * (np.arange(first, last) + 0.5)
            self._write("terrain", first, last, height_at(ground, *np.meshgrid(x, y)))

    def write_cover(self, codes: np.ndarray) -> None:
        """Codes of materials (rows, columns), southern row first; below 0: no ground."""
        self._write("material", 0, len(codes), np.where(codes >= 0, codes, np.nan))

    def _write(self, name: str, first: int, last: int, values: np.ndarray) -> None:
        from rasterio.windows import Window

        filled = np.where(np.isfinite(values), values, NODATA)[::-1].astype(np.float32)
        window = Window(0, self.raster.rows - last, self.raster.columns, last - first)
        self.files[name].write(filled, 1, window=window)
        self._written.append((name, window, zlib.crc32(filled)))

    def close(self) -> None:
        """Close all files and read them back: GDAL does not tell when the disk was full."""
        self.abandon()
        rasterio = load("rasterio", "A GeoTIFF")
        for name in self.files:
            _optimise(self.folder / f"{name}.tif")
        for name, window, checksum in self._written:
            path = self.folder / f"{name}.tif"
            with rasterio.open(path) as file:
                if zlib.crc32(file.read(1, window=window)) != checksum:
                    raise OSError(errno.ENOSPC, "not all of it reached the disk", str(path))

    def abandon(self) -> None:
        for file in self.files.values():
            file.close()


def _optimise(path: Path) -> None:
    """The same as a cloud-optimised GeoTIFF: tiles, and overviews for maps that are zoomed out."""
    copy = load("rasterio.shutil", "A GeoTIFF").copy
    part = path.with_name(f".{path.stem}.tmp.tif")
    try:
        copy(path, part, driver="COG", compress="DEFLATE", predictor="FLOATING_POINT",
             blocksize=TILE, overview_resampling="NEAREST")  # fmt: skip
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


@contextmanager
def _opened(path: Path):
    """A raster of results; whatever is wrong with it is one sentence."""
    rasterio = load("rasterio", "A GeoTIFF")
    try:
        with rasterio.open(path) as file:
            if file.count != 1 or file.dtypes != ("float32",):
                raise damaged(path, "it is not one band of numbers")
            yield file
    except InputError:
        raise
    except Exception as error:  # GDAL's drivers raise errors of many kinds
        raise damaged(path, error) from None


def read_raster(path: Path, like: tuple[int, int] | None = None) -> np.ndarray:
    """(rows, columns) of a raster, northern row first; NaN where it has no data.

    like   (rows, columns) that it must have; without it they are judged by the size of the file
    """
    with _opened(path) as file:
        if like is None:
            judge_cells(path, file)
        elif like != (file.height, file.width):
            raise damaged(path, f"it has {file.height} x {file.width} cells, the terrain {like}")
        stored = file.read(1)
        values = stored.astype(np.float64)
        values[stored == np.float32(NODATA)] = np.nan
    if not _plausible(values):
        raise damaged(path, f"a value is beyond {LARGEST:g}")
    return values


def _plausible(values: np.ndarray) -> bool:
    largest, least = np.fmax.reduce(values, axis=None), np.fmin.reduce(values, axis=None)
    return not (largest > LARGEST or least < -LARGEST)


def raster_shape(path: Path) -> tuple[int, int]:
    """Rows and columns of the raster of the terrain."""
    with _opened(path) as file:
        judge_cells(path, file)
        return file.height, file.width


def raster_extent(path: Path) -> tuple[float, float, float, float]:
    """West, east, south, north of a raster [m]."""
    with _opened(path) as file:
        box = file.bounds
    if not all(np.isfinite(box)) or max(map(abs, box)) > LARGEST or box.left >= box.right:
        raise damaged(path, f"it lies at {tuple(box)}")
    if box.bottom >= box.top:
        raise damaged(path, f"it lies at {tuple(box)}")
    return box.left, box.right, box.bottom, box.top
