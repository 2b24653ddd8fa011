"""Rasters once more as ESRI ASCII grids, for programs that read nothing else.

A .prj beside each says its reference system. Values have the digits of single precision.
"""

from pathlib import Path

from drystone.rockfall.optional_packages import load

ROWS = 256  # read and written at once


def write_ascii_grid(raster: Path) -> Path:
    """The .asc and .prj of a GeoTIFF, north up with square cells; the path of the grid."""
    rasterio = load("rasterio", "A GeoTIFF")
    path = raster.with_suffix(".asc")
    with rasterio.open(raster) as file, open(path, "w") as text:
        box = file.bounds
        head = {
            "ncols": file.width, "nrows": file.height, "xllcorner": repr(box.left),
            "yllcorner": repr(box.bottom), "cellsize": repr(file.transform.a),
            "NODATA_value": f"{file.nodata:g}",
        }  # fmt: skip
        text.writelines(f"{key} {value}\n" for key, value in head.items())
        for first in range(0, file.height, ROWS):
            rows = min(ROWS, file.height - first)
            window = rasterio.windows.Window(0, first, file.width, rows)
            for row in file.read(1, window=window):
                text.write(" ".join(f"{value:.9g}" for value in row.tolist()) + "\n")
        if file.crs is not None:
            raster.with_suffix(".prj").write_text(file.crs.to_wkt(version="WKT1_ESRI"))
    return path
