"""Elevation grids (DEM): from heights on a raster to triangles, and the ESRI ASCII file of them."""

from pathlib import Path

import numpy as np

from drystone.errors import InputError
from drystone.model.checks import choice, float_array, integer, positive, read_number, vector
from drystone.model.files import read_file
from drystone.shapes.part import rounded_offset


def grid_triangles(heights, spacing, origin, first_row: str):
    """Vertices (n, 3) relative to a round base, triangles (m, 3), and that base (3,).

    See Terrain.from_grid for the arguments.
    """
    heights = _checked_heights(heights, first_row)
    dx, dy = _checked_spacing(spacing)
    x, y = vector("Terrain: origin", origin, 2)
    rows, columns = heights.shape
    extent = float(np.hypot(rows * dy, columns * dx))
    base = rounded_offset(np.array([x, y, 0.0]), extent)
    vertices = np.empty((rows * columns, 3))
    vertices[:, 0] = np.tile((x - base[0]) + dx * np.arange(columns), rows)
    vertices[:, 1] = np.repeat((y - base[1]) + dy * np.arange(rows), columns)
    vertices[:, 2] = heights.ravel()
    triangles = _split_cells(np.isfinite(heights))
    used = np.zeros(len(vertices), dtype=bool)
    used[triangles] = True
    renumber = np.cumsum(used) - 1
    return vertices[used], renumber[triangles], base


def _split_cells(there: np.ndarray) -> np.ndarray:
    """Two triangles for every cell whose four corners are there, west to east, then north."""
    rows, columns = there.shape
    full = there[:-1, :-1] & there[:-1, 1:] & there[1:, :-1] & there[1:, 1:]
    i, j = np.nonzero(full)
    if len(i) == 0:
        raise InputError("Terrain: no cell of the grid has heights at all four corners.")
    south_west = i * columns + j
    south_east, north_west = south_west + 1, south_west + columns
    north_east = north_west + 1
    triangles = np.empty((len(i), 2, 3), dtype=np.int64)
    triangles[:, 0] = np.stack([south_west, south_east, north_east], axis=1)
    triangles[:, 1] = np.stack([south_west, north_east, north_west], axis=1)
    return triangles.reshape(-1, 3)


def _checked_heights(heights, first_row: str) -> np.ndarray:
    """As float, southern row first."""
    array = float_array("Terrain: heights", heights, "an array of numbers (rows, columns)")
    if array.ndim != 2 or min(array.shape) < 2:
        raise InputError(
            f"Terrain: heights have shape {array.shape}, must be (rows, columns), 2 at least each."
        )
    if np.isinf(array).any():
        i, j = np.argwhere(np.isinf(array))[0]
        raise InputError(f"Terrain: height at row {i}, column {j} is infinite. Use NaN for a hole.")
    row = choice("Terrain: first_row", first_row, ("south", "north"))
    return array if row == "south" else array[::-1]


def _checked_spacing(spacing) -> tuple[float, float]:
    if not hasattr(spacing, "__len__"):
        both = positive("Terrain: spacing", spacing)
        return both, both
    dx, dy = vector("Terrain: spacing", spacing, 2)
    return positive("Terrain: spacing in x", dx), positive("Terrain: spacing in y", dy)


def read_ascii_grid(path: Path) -> tuple[np.ndarray, float, tuple[float, float]]:
    """Heights (rows, columns; north first, NaN for NODATA), spacing [m] and the x, y of the
    south-west height of an ESRI ASCII grid."""
    text = read_file(path, "Terrain").decode("utf-8-sig", "replace")
    if "," in text and "." not in text:  # as programs write it where the comma is the decimal mark
        text = text.replace(",", ".")
    words = text.split()
    header = {}
    k = 0
    while k + 1 < len(words) and words[k][0].isalpha() and words[k].lower() != "nan":
        key = words[k].lower()
        if key != "nodata_value" or words[k + 1].lower() != "nan":  # NaN is none without a word
            header[key] = read_number(f"{path.name}: {words[k]}", words[k + 1])
        k += 2
    if "cellsize" not in header and "dx" in header and "dy" in header:  # GDAL writes it so
        header["cellsize"] = header["dx"]
        if abs(header["dx"] - header["dy"]) > 1e-9 * abs(header["dx"]):
            raise InputError(
                f"{path.name}: its cells are {header['dx']:g} x {header['dy']:g} m, must be square "
                f"in an ESRI ASCII grid. Write a GeoTIFF: gdal_translate {path.name} terrain.tif"
            )
    missing = [key for key in ("ncols", "nrows", "cellsize") if key not in header]
    if missing:
        raise InputError(f"{path.name}: no {missing[0]} in its head; not an ESRI ASCII grid?")
    columns, rows = (
        integer(f"{path.name}: {key}", header[key], 1, len(words)) for key in ("ncols", "nrows")
    )
    if len(words) - k != rows * columns:
        raise InputError(
            f"{path.name}: holds {len(words) - k} heights, but nrows {rows} times ncols {columns} "
            f"is {rows * columns}. Is the file cut off?"
        )
    try:
        heights = np.array([float(word) for word in words[k:]]).reshape(rows, columns)
    except ValueError as error:
        raise InputError(f"{path.name}: a height is not a number: {str(error)[:100]}.") from None
    heights[heights == header.get("nodata_value", -9999.0)] = np.nan
    side = positive(f"{path.name}: cellsize", header["cellsize"])
    origin = tuple(_centre(path.name, header, axis, side) for axis in "xy")
    return heights, side, origin


def _centre(name: str, header: dict, axis: str, side: float) -> float:
    """Of the south-west cell; the head gives either that or the cell's corner."""
    if f"{axis}llcenter" in header:
        return header[f"{axis}llcenter"]
    if f"{axis}llcorner" in header:
        return header[f"{axis}llcorner"] + 0.5 * side
    raise InputError(f"{name}: no {axis}llcorner or {axis}llcenter in its head.")
