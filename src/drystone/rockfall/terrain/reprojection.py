"""Moving an elevation raster to another coordinate system when it is read, if the study asks.

Heights are interpolated bilinearly on a grid of the new system with cells of about the same size.
They keep their own reference: a change of the height system is not part of it.
"""

import numpy as np

from drystone.errors import InputError
from drystone.rockfall.optional_packages import load
from drystone.rockfall.terrain.crs import crs_name, read_crs
from drystone.rockfall.terrain.raster_files import Raster


def move_raster(name: str, raster: Raster, given: str | None, target: str) -> Raster:
    """The raster in the system `target`; `given` replaces what its file says of its own."""
    if raster.crs is None and given is None:
        raise InputError(
            f"{name} has no coordinate reference system to be moved from. Give it: crs = 'EPSG:...'"
        )
    source = read_crs(f"crs of {name}", raster.crs if given is None else given)
    wanted = read_crs("reproject", target)
    rasterio, warp = load("rasterio", "Reprojection"), load("rasterio.warp", "Reprojection")
    rows, columns = raster.values.shape
    west, south, east, north = raster.box
    box = (west - 0.5 * raster.dx, south - 0.5 * raster.dy,
           east + 0.5 * raster.dx, north + 0.5 * raster.dy)  # fmt: skip
    at = rasterio.Affine(raster.dx, 0.0, box[0], 0.0, -raster.dy, box[3])
    old, new = source.to_wkt(), wanted.to_wkt()
    try:
        to, width, height = warp.calculate_default_transform(old, new, columns, rows, *box)
        step = min(abs(to.a), abs(to.e))
        to = rasterio.Affine(step, 0.0, to.c, 0.0, -step, to.f)
        moved = np.full((height, width), np.nan)
        warp.reproject(
            np.ascontiguousarray(raster.values[::-1]), moved, src_transform=at, src_crs=old,
            dst_transform=to, dst_crs=new, src_nodata=np.nan, dst_nodata=np.nan,
            resampling=warp.Resampling.bilinear,
        )  # fmt: skip
    except Exception as error:  # PROJ's and GDAL's errors are of many kinds
        reason = " ".join(str(error).split()).rstrip(".")
        raise InputError(
            f"{name} cannot be moved from {crs_name(source)} to {crs_name(wanted)}: {reason}."
        ) from None
    if not np.isfinite(moved).any():
        raise InputError(
            f"{name} has no place in {crs_name(wanted)}: is {crs_name(source)} its system?"
        )
    south_row = to.f - (height - 0.5) * step
    return Raster(
        np.ascontiguousarray(moved[::-1]), to.c + 0.5 * step, south_row, step, step, new,
        raster.size,
    )  # fmt: skip
