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
DEEPEST = 8  # blocks within blocks
POINT, OPEN, CLOSED = range(3)


def main(path: str, out: str) -> None:
    """Write kind, number of corners and layer of every shape, all corners, and the layers."""
    layers: dict[str, int] = {}
    rows: list[tuple[int, int, int]] = []
    corners: list[tuple[float, float, float]] = []
    for entity, name in entities(ezdxf.readfile(path).modelspace()):
        layer = layers.setdefault(name, len(layers))
        kind, points = shape_of(entity)
        if len(corners) + len(points) > MOST_POINTS:
            raise ValueError(f"it has more than {MOST_POINTS:,} corners.")
        rows.append((kind, len(points), layer))
        corners += points
    with open(out, "wb") as stream:
        np.save(stream, np.array(rows, np.int64).reshape(-1, 3), allow_pickle=False)
        np.save(stream, np.array(corners, np.float64).reshape(-1, 3), allow_pickle=False)
        stream.write(json.dumps(list(layers)).encode())


def entities(space, around: str = "0", depth: int = 0):
    """(entity, layer) of all shapes, those of inserted blocks among them.

    What lies on layer 0 of a block is on the layer of its insert, `around`.
    """
    for entity in space:
        layer = entity.dxf.layer if depth == 0 or entity.dxf.layer != "0" else around
        if entity.dxftype() in (*LINES, "POINT"):
            yield entity, layer
        elif entity.dxftype() == "INSERT" and depth < DEEPEST:
            for one in entity.multi_insert() if entity.mcount > 1 else (entity,):
                yield from entities(one.virtual_entities(), layer, depth + 1)


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
