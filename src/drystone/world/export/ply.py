"""PLY, binary: the triangles of all things at one frame, in world axes, coloured."""

from pathlib import Path

import numpy as np

from drystone.model.files import as_path, write_file
from drystone.model.rotation import matrix_from_quaternion
from drystone.world.export.drawing import FIXED, Drawing, rgb

CORNER = [("x", "<f8"), ("y", "<f8"), ("z", "<f8"), ("red", "u1"), ("green", "u1"), ("blue", "u1")]
TRIANGLE = [("count", "u1"), ("corner", "<i4", (3,))]


def write_ply(drawing: Drawing, path, frame: int = -1) -> Path:
    """Write frame `frame`; the last one if not told."""
    placed = [
        (int(shape), pose, colour)
        for shape, pose, colour in zip(
            drawing.shape, drawing.pose[frame], drawing.colour, strict=True
        )
        if not np.isnan(pose[0])
    ]
    placed += [(k, where, rgb(FIXED)) for k, where, _ in drawing.fixed]
    parts = [np.zeros(0, CORNER)]
    for k, pose, colour in placed:
        points = drawing.geometry[k].vertices @ matrix_from_quaternion(pose[3:]).T + pose[:3]
        rows = np.zeros(len(points), CORNER)
        for name, column in zip(("x", "y", "z"), points.T, strict=True):
            rows[name] = column
        for name, value in zip(("red", "green", "blue"), colour, strict=True):
            rows[name] = value
        parts.append(rows)
    corners = np.concatenate(parts)
    faces = np.zeros(len(corners) // 3, TRIANGLE)
    faces["count"] = 3
    faces["corner"] = np.arange(len(corners)).reshape(-1, 3)
    kinds = {"<f8": "double", "u1": "uchar"}
    head = ["ply", "format binary_little_endian 1.0", "comment Drystone: z up, metres"]
    head += [f"element vertex {len(corners)}"]
    head += [f"property {kinds[kind]} {name}" for name, kind in CORNER]
    head += [f"element face {len(faces)}", "property list uchar int vertex_indices", "end_header\n"]
    content = "\n".join(head).encode() + corners.tobytes() + faces.tobytes()
    return write_file(as_path(path), content, "the PLY file cannot be written there")
