"""Moving an elevation raster to another coordinate system when it is read, if the study asks.

Heights are interpolated bilinearly on a grid of the new system with cells of about the same size.
They keep their own reference: a change of the height system is not part of it. Heights in feet
become metres.
"""

import re

import numpy as np

from drystone.errors import InputError
from drystone.rockfall.optional_packages import load
from drystone.rockfall.terrain.crs import LOCAL, crs_name, read_crs
from drystone.rockfall.terrain.raster_files import Raster, metres_in


def in_metres(name: str, raster: Raster, given: str | None, moved: bool) -> Raster:
    """The raster with heights in metres: converted if it is `moved` anyway, else refused.

    `given` replaces what its file says of its system; an axis of heights there says their unit.
    """
    text = raster.crs if given is None else given
    local = text is None or (isinstance(text, str) and text == LOCAL)
    system = None if local else read_crs(f"crs of {name}", text)
    height = None if system is None else _height_axis(system)
    if given is not None and height is not None:
        size, unit = height.unit_conversion_factor, height.unit_name
    elif metres_in(raster.unit) is not None:
        size, unit = metres_in(raster.unit), raster.unit
    elif height is not None:
        size, unit = height.unit_conversion_factor, height.unit_name
    elif moved and system is not None and _plan_unit(system) != 1.0:
        raise InputError(
            f"{name}: {crs_name(system)} is in {system.axis_info[0].unit_name}, and nothing says "
            f"whether its heights are. Say it by a system of heights after a +, such as crs = "
            f"'{_code(system)}+5703' (metres) or '{_code(system)}+6360' (US survey feet)."
        )
    else:
        return raster
    if size == 1.0:
        return raster
    if not moved:
        raise InputError(
            f"{name}: its heights are in {unit}, must be in metres. Convert them, or let the study "
            f"do it: reproject = 'EPSG:...', a system in metres."
        )
    return raster._replace(values=raster.values * size, unit="metre")


def _height_axis(system):
    return next((a for a in system.axis_info if a.direction.lower() == "up"), None)


def _plan_unit(system) -> float:
    return system.axis_info[0].unit_conversion_factor if system.is_projected else 1.0


def _code(system) -> str:
    found = re.fullmatch(r"EPSG:\d+", crs_name(system))
    return found.group() if found else "EPSG:..."


def _flat(system):
    """Without its heights, which are not moved."""
    return system.sub_crs_list[0] if system.is_compound else system


def move_raster(name: str, raster: Raster, given: str | None, target: str) -> Raster:
    """The raster in the system `target`; `given` replaces what its file says of its own."""
    if raster.crs is None and given is None:
        raise InputError(
            f"{name} has no coordinate reference system to be moved from. Give it: crs = 'EPSG:...'"
        )
    if given == LOCAL:
        raise InputError(
            f"{name}: reproject needs to know where the file lies, but crs = 'local' says that it "
            f"is on no map. Give its system, such as crs = 'EPSG:2056', or leave reproject out."
        )
    source = read_crs(f"crs of {name}", raster.crs if given is None else given)
    wanted = read_crs("reproject", target)
    rasterio, warp = load("rasterio", "Reprojection"), load("rasterio.warp", "Reprojection")
    rows, columns = raster.values.shape
    west, south, east, north = raster.box
    box = (west - 0.5 * raster.dx, south - 0.5 * raster.dy,
           east + 0.5 * raster.dx, north + 0.5 * raster.dy)  # fmt: skip
    at = rasterio.Affine(raster.dx, 0.0, box[0], 0.0, -raster.dy, box[3])
    old, new = _flat(source).to_wkt(), _flat(wanted).to_wkt()
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
        np.ascontiguousarray(moved[::-1]), to.c + 0.5 * step, south_row, step, step,
        wanted.to_wkt(), raster.size,
    )  # fmt: skip
