"""Lines, points and areas of a DXF drawing, in its coordinates; a drawing says no system."""

import json
from pathlib import Path

import numpy as np

from drystone.errors import InputError
from drystone.model.checks import did_you_mean
from drystone.rockfall.optional_packages import load
from drystone.rockfall.terrain.reading_apart import opened_apart

_POINT, _OPEN, _CLOSED = range(3)  # as in dxf_process.py


def read_dxf(path: Path, kinds, layer: str | None) -> tuple:
    """(n,) shapes, their layer as a column, and None for the system.

    kinds   "line" takes lines and polylines, "polygon" closed ones, "point" points
    """
    with opened_apart(path, "ezdxf", "dxf_process.py", "a DXF drawing") as stream:
        rows, corners = (np.load(stream, allow_pickle=False) for _ in range(2))
        layers = json.loads(stream.read())
    if layer is not None and layer not in layers:
        raise InputError(
            f"{path.name} has no layer {layer!r}. {did_you_mean(layer, sorted(layers))}"
        )
    found, last = [], np.cumsum(rows[:, 1])
    for (kind, count, number), end in zip(rows.tolist(), last.tolist(), strict=True):
        if layer is None or layers[number] == layer:
            found += [
                (shape, layers[number])
                for shape in _shapes(kind, corners[end - count : end], kinds)
            ]
    shapes = np.array([shape for shape, _ in found], dtype=object)
    return shapes, {"layer": np.array([name for _, name in found], dtype=object)}, None


def _shapes(kind: int, points: np.ndarray, kinds) -> list:
    shapely = load("shapely", "Geometry")
    if kind == _POINT:
        return [shapely.Point(points[0])] if "point" in kinds else []
    if kind == _CLOSED and "polygon" in kinds and len(points) > 3:
        return [shapely.Polygon(points[:, :2])]
    if "line" in kinds and len(points) > 1:
        return [shapely.LineString(points[:, :2])]
    return []
