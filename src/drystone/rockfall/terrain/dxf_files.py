"""Lines, points and areas of a DXF drawing, in its coordinates; a drawing says no system."""

from pathlib import Path

import numpy as np

from drystone.errors import InputError
from drystone.model.checks import did_you_mean
from drystone.rockfall.optional_packages import load

SAG = 0.01  # units of the drawing that a chord of an arc may lie beside it
LINES = ("LINE", "LWPOLYLINE", "POLYLINE", "ARC", "SPLINE", "ELLIPSE")


def read_dxf(path: Path, kinds, layer: str | None) -> tuple:
    """(n,) shapes, their layer as a column, and None for the system.

    kinds   "line" takes lines and polylines, "polygon" closed ones, "point" points
    """
    ezdxf = load("ezdxf", f"Reading {path.name}")
    try:
        drawing = ezdxf.readfile(path)
        entities = [e for e in drawing.modelspace() if e.dxftype() in (*LINES, "POINT")]
        layers = sorted({e.dxf.layer for e in entities})
        if layer is not None and layer not in layers:
            raise InputError(f"{path.name} has no layer {layer!r}. {did_you_mean(layer, layers)}")
        chosen = [e for e in entities if layer is None or e.dxf.layer == layer]
        found = [(shape, e.dxf.layer) for e in chosen for shape in _shapes(ezdxf, e, kinds)]
    except InputError:
        raise
    except Exception as error:  # ezdxf's own errors, and those of broken files
        raise InputError(f"{path.name} cannot be read as a DXF drawing: {error}.") from None
    shapes = np.array([shape for shape, _ in found], dtype=object)
    return shapes, {"layer": np.array([name for _, name in found], dtype=object)}, None


def _shapes(ezdxf, entity, kinds) -> list:
    shapely = load("shapely", "Geometry")
    if entity.dxftype() == "POINT":
        return [shapely.Point(entity.dxf.location)] if "point" in kinds else []
    path = ezdxf.path.make_path(entity)
    points = np.array([[p.x, p.y, p.z] for p in path.flattening(SAG)])
    if path.is_closed and "polygon" in kinds and len(points) > 3:
        return [shapely.Polygon(points[:, :2])]
    if "line" in kinds and len(points) > 1:
        return [shapely.LineString(points[:, :2])]
    return []
