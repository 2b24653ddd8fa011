"""Points and curves of a DXF drawing, in a process of its own (model/reading_apart.py)."""

import json

import ezdxf
import ezdxf.path
import numpy as np

# Units of the drawing that a chord of an arc may lie beside it; of a large one, a part of its size.
SAG, PART = 0.01, 1e-6
FARTHEST = 1e8  # units from the origin: more than once around the Earth
LINES = ("LINE", "LWPOLYLINE", "POLYLINE", "ARC", "CIRCLE", "SPLINE", "ELLIPSE")
MOST_POINTS = 2_000_000
POINT, OPEN, CLOSED = range(3)


def main(path: str, out: str) -> None:
    """Write kind, number of corners and layer of every shape, all corners, and the layers."""
    layers: dict[str, int] = {}
    rows: list[tuple[int, int, int]] = []
    corners: list[tuple[float, float, float]] = []
    for entity in ezdxf.readfile(path).modelspace():
        if entity.dxftype() not in (*LINES, "POINT"):
            continue
        layer = layers.setdefault(entity.dxf.layer, len(layers))
        kind, points = shape_of(entity)
        if len(corners) + len(points) > MOST_POINTS:
            raise ValueError(f"it has more than {MOST_POINTS:,} corners.")
        rows.append((kind, len(points), layer))
        corners += points
    with open(out, "wb") as stream:
        np.save(stream, np.array(rows, np.int64).reshape(-1, 3), allow_pickle=False)
        np.save(stream, np.array(corners, np.float64).reshape(-1, 3), allow_pickle=False)
        stream.write(json.dumps(list(layers)).encode())


def shape_of(entity) -> tuple[int, list[tuple[float, float, float]]]:
    """Its kind, and its corners; curves as chords."""
    if entity.dxftype() == "POINT":
        return POINT, [tuple(entity.dxf.location)]
    path = ezdxf.path.make_path(entity)
    ends = np.array([tuple(p) for p in path.control_vertices()]).reshape(-1, 3)
    if not np.abs(ends).max(initial=0.0) < FARTHEST:
        raise ValueError(f"a coordinate is not finite, or beyond {FARTHEST:g}.")
    size = float(np.ptp(ends, axis=0).max()) if len(ends) else 0.0
    points = [(p.x, p.y, p.z) for p in path.flattening(max(SAG, PART * size))]
    return CLOSED if path.is_closed else OPEN, points
