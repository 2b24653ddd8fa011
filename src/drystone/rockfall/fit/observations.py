"""What was observed: where rocks came to rest, and how high they passed a line; as numbers to fit.

A deposit is described by its run-out u along the main direction (from the middle of the starts to
the middle of the deposits) and its distance w beside it, both in standard deviations of the
observed ones. Features of one deposit are u, u², u³ and w²: their means over the deposits are the
moments of run-out and the spread. Those of a passage height h are h and h² likewise.
"""

from typing import NamedTuple

import numpy as np

from drystone.errors import InputError
from drystone.rockfall.input_files import as_path, is_file
from drystone.rockfall.terrain.crs import to_slope
from drystone.rockfall.terrain.point_tables import read_point_table, read_points
from drystone.rockfall.terrain.vector_files import read_features

FEWEST = 10  # deposits: fewer have no third moment to speak of
FEWEST_HEIGHTS = 3  # of a line, for a mean and a spread
HIGHEST = 1e4  # heights of passage are below [m]
FARTHEST = 4.0  # standard deviations at which a feature is cut off, for rocks that went astray
TEXTS = (".csv", ".tsv", ".txt", ".xyz")


class Frame(NamedTuple):
    """How places in plan become run-outs."""

    start: np.ndarray  # (2,) middle of the starts [m]
    along: np.ndarray  # (2,) unit
    middle: float  # mean run-out [m]
    scale: float  # its standard deviation
    spread: float  # that of the distance beside [m]


def read_deposits(path, slope) -> np.ndarray:
    """(n, 2) local places in plan of a file of points, or of a text with x and y a line."""
    path = as_path("deposits", path)
    if not is_file(path):
        raise InputError(f"There is no file of deposits {path}.")
    from shapely import get_coordinates, get_parts

    if path.suffix.lower() in TEXTS:
        points, _, system = read_points(path, ("x", "y"))
        places = to_slope(path.name, get_coordinates(points), system, slope.crs)
        places = places - slope.origin[:2]
    else:
        features = read_features(path, slope, ("point",))
        places = get_coordinates(get_parts(features.shapes))
    if len(places) < FEWEST:
        raise InputError(f"{path.name} holds {len(places)} deposits, must hold {FEWEST} at least.")
    low, high = slope.bounds
    outside = ~((places >= low[:2]) & (places <= high[:2])).all(axis=1)  # NaN is nowhere
    if outside.any():
        x, y = places[np.argmax(outside)] + slope.origin[:2]
        raise InputError(
            f"{path.name}: {int(outside.sum())} deposits lie off the terrain, for example x = "
            f"{x:.10g}, y = {y:.10g}. Is the file in the right coordinate system?"
        )
    return places


def read_heights(path, lines: list[str]) -> dict[int, np.ndarray]:
    """{number of a check line: heights [m]} of a table with the columns line and height_m."""
    path = as_path("heights", path)
    if not is_file(path):
        raise InputError(f"There is no file of heights {path}.")
    table = read_point_table(path)
    if "line" not in table.head or "height_m" not in table.head:
        raise InputError(f"{path.name} must have the columns line and height_m.")
    names = [row[table.head.index("line")] for row in table.rows]
    heights = table.numbers(table.head.index("height_m"))
    found: dict[int, list[float]] = {}
    for row, name, height in zip(table.lines, names, heights.tolist(), strict=True):
        if name not in lines or not abs(height) < HIGHEST:
            raise InputError(
                f"{path.name}, row {row}: must name a check line ({', '.join(lines) or 'none'}) "
                f"and a height, which is below {HIGHEST:g} m."
            )
        found.setdefault(lines.index(name), []).append(height)
    for number, seen in found.items():
        if len(seen) < FEWEST_HEIGHTS:
            raise InputError(
                f"{path.name} holds {len(seen)} heights at {lines[number]}, must hold "
                f"{FEWEST_HEIGHTS} at least of each line that it names."
            )
    if not found:
        raise InputError(f"{path.name} holds no height.")
    return {number: np.array(seen) for number, seen in found.items()}


def frame_of(starts: np.ndarray, deposits: np.ndarray) -> Frame:
    """The frame of observed deposits (n, 2); `starts` (m, 2) are those of simulated rocks."""
    start, middle = starts.mean(axis=0), deposits.mean(axis=0)
    along = middle - start
    length = float(np.hypot(*along))
    along = along / length if length > 0.0 else np.array([1.0, 0.0])
    run, beside = in_frame(deposits, start, along)
    scale, spread = float(run.std()), float(beside.std())
    return Frame(start, along, float(run.mean()), scale or 1.0, spread or scale or 1.0)


def in_frame(places: np.ndarray, start, along) -> tuple[np.ndarray, np.ndarray]:
    away = places - start
    return away @ along, away @ np.array([-along[1], along[0]])


def deposit_features(places: np.ndarray, frame: Frame) -> np.ndarray:
    """(n, 4) features of deposits (n, 2)."""
    run, beside = in_frame(places, frame.start, frame.along)
    u = np.clip((run - frame.middle) / frame.scale, -FARTHEST, FARTHEST)
    w = np.clip(beside / frame.spread, -FARTHEST, FARTHEST)
    return np.column_stack([u, u**2, u**3, w**2])


def height_features(heights: np.ndarray, middle: float, scale: float) -> np.ndarray:
    """(n, 2) features of passage heights."""
    u = np.clip((heights - middle) / scale, -FARTHEST, FARTHEST)
    return np.column_stack([u, u**2])
