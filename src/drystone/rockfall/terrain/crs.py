"""Coordinate reference systems: metres or nothing, and how coordinates come into the slope's.

A study computes in one projected system (or the engineering one of a site) with metres on all three
axes. Degrees, feet, and systems that are no map (geocentric ones, heights alone) are refused, for a
rock does not fall in them; "local" says that the coordinates are plain metres of a survey that
belongs to no map. Where a metre of the map is not a metre of the ground, `check` says so.
"""

import numpy as np

from drystone.errors import InputError
from drystone.model.checks import shown
from drystone.rockfall.optional_packages import load

LOCAL = "local"
DEGREES = 400.0  # no longitude or latitude is larger; a coordinate that is was not in degrees
METRE = 1e-9  # how far a unit may be from the metre: 0.3048 and 0.3048006 are not


def choose_crs(name: str, found, given: str | None, box) -> "object | None":
    """The system of a terrain: `given` by the study, else `found` in the file; None if local.

    box  (west, south, east, north) of the file's coordinates, for the message
    """
    if isinstance(given, str) and given == LOCAL:
        return None
    if given is None and found is None:
        raise InputError(
            f"{name} has no coordinate reference system. Give it, such as crs = 'EPSG:2056', or "
            f"crs = 'local' if its coordinates are plain metres."
        )
    crs = read_crs(f"crs of {name}", found if given is None else given)
    _require_metres(name, crs, given is not None, box)
    return crs


def read_crs(what: str, text):
    """A pyproj CRS from a code such as 'EPSG:2056', or from WKT."""
    pyproj = load("pyproj", "A coordinate reference system")
    try:
        return pyproj.CRS.from_user_input(text)
    except Exception:  # CRSError, and those of texts that are no WKT at all
        raise InputError(
            f"{what} is {shown(text)}, which is unknown. Give a code such as 'EPSG:2056'."
        ) from None


def crs_name(crs) -> str:
    """In the words of the user: the code where there is one, else the name."""
    if crs is None:
        return LOCAL
    authority = crs.to_authority()
    return ":".join(authority) if authority else crs.name


def to_slope(name: str, xy: np.ndarray, found, crs) -> np.ndarray:
    """World coordinates (n, 2) of a vector file in the slope's system.

    A file without a system, and all files of a local study, are taken as they are.
    """
    if crs is None or found is None or len(xy) == 0:
        return xy
    pyproj = load("pyproj", "A coordinate reference system")
    source = read_crs(f"crs of {name}", found)
    if source.is_geographic and np.abs(xy).max() > DEGREES:
        raise InputError(
            f"{name} says that it is in degrees ({crs_name(source)}), but its coordinates reach "
            f"{np.abs(xy).max():.7g}. GeoJSON without a crs member means degrees: write the system "
            f"({crs_name(crs)}) into the file, or use a GeoPackage."
        )
    if source.equals(crs, ignore_axis_order=True):
        return xy
    try:
        change = pyproj.Transformer.from_crs(source, crs, always_xy=True)
        moved = np.stack(change.transform(xy[:, 0], xy[:, 1]), axis=1)
    except pyproj.exceptions.ProjError as error:  # a system that is read, but makes no sense
        reason = str(error).partition(":")[0].rstrip(".")
        raise InputError(
            f"{name}: PROJ cannot move its coordinates ({crs_name(source)}) to {crs_name(crs)}: "
            f"{reason}. Is its system the right one?"
        ) from None
    if not np.isfinite(moved).all():
        raise InputError(
            f"{name}: its coordinates ({crs_name(source)}) have no place in {crs_name(crs)}. "
            f"Is its system the right one?"
        )
    return moved


def require_same_map(name: str, found, crs) -> None:
    """InputError for a raster in another plan than that of the slope; heights may differ."""
    if found is None or crs is None:
        return
    own, wanted = (_plan(x) for x in (read_crs(f"crs of {name}", found), crs))
    if not own.equals(wanted, ignore_axis_order=True):
        raise InputError(
            f"{name} is in another coordinate system ({crs_name(own)}) than the terrain "
            f"({crs_name(wanted)}). Warp it, for example: gdalwarp -r near -t_srs "
            f"{crs_name(wanted)} {name} moved.tif"
        )


def _plan(crs):
    return crs.sub_crs_list[0] if crs.is_compound else crs


def scale_at(crs, x: float, y: float) -> float:
    """Metres of the map for a metre of the ground at a point; 1 if unknown."""
    if crs is None or not crs.is_projected:
        return 1.0
    pyproj = load("pyproj", "A coordinate reference system")
    try:
        flat = _plan(crs)
        to_degrees = pyproj.Transformer.from_crs(flat, flat.geodetic_crs, always_xy=True)
        factors = pyproj.Proj(flat).get_factors(*to_degrees.transform(x, y))
    except Exception:  # of systems that PROJ cannot differentiate
        return 1.0
    scale = float(np.sqrt(abs(factors.areal_scale)))
    return scale if np.isfinite(scale) and scale > 0.0 else 1.0


def _require_map(name: str, crs) -> None:
    """Neither the centre of the Earth nor a height alone is a map."""
    if not (crs.is_projected or crs.is_engineering):
        kind = crs.type_name.removesuffix(" CRS").lower()
        raise InputError(
            f"{name}: its system ({crs_name(crs)}) is {kind}, must be projected, or crs = 'local' "
            f"for plain metres. Give one such as crs = 'EPSG:2056', or project it (gdalwarp)."
        )


def _require_metres(name: str, crs, overridden: bool, box) -> None:
    west, south, east, north = box
    if crs.is_geographic:
        if max(map(abs, box)) > DEGREES:
            raise InputError(
                f"{name}: its system ({crs_name(crs)}) is in degrees, but its coordinates reach "
                f"{max(box, key=abs):.7g}: the label is wrong. Give the true system, such as "
                f"crs = 'EPSG:2056'."
            )
        raise InputError(
            f"{name} is in degrees ({crs_name(crs)}); rocks fall in metres. Project it first, for "
            f"example: gdalwarp -t_srs {_utm(0.5 * (west + east), 0.5 * (south + north))} "
            f"-r bilinear {name} projected.tif"
        )
    _require_map(name, crs)
    for axis in crs.axis_info:
        if abs(axis.unit_conversion_factor - 1.0) > METRE:
            where = "The given crs" if overridden else "It"
            raise InputError(
                f"{name}: the {axis.name.lower()} axis of {crs_name(crs)} is in {axis.unit_name}. "
                f"{where} must be in metres: reproject the terrain to a metric system."
            )


def _utm(longitude: float, latitude: float) -> str:
    """Code of the UTM zone around a point."""
    zone = int((longitude + 180.0) // 6.0) % 60 + 1
    return f"EPSG:{(32600 if latitude >= 0.0 else 32700) + zone}"
