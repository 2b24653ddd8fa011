"""Mesh files of other formats (glTF, 3MF, archives ...), read by trimesh in a process apart, and
with no other files than those beside them."""

from pathlib import Path

import numpy as np

from drystone.model.reading_apart import Limits, limits_of, read_apart

SPARE = Limits(memory=256 << 20, seconds=4)  # beyond what the size of a file gives


def read_foreign(path: Path, who: str) -> tuple[np.ndarray, np.ndarray]:
    """Vertices (n, 3) in units of the file and faces (m, 3)."""
    script = Path(__file__).with_name("trimesh_process.py")
    limits = limits_of(SPARE, path.stat().st_size)
    start = f"{who}: cannot read {path.name} as a mesh"
    with read_apart(script, path, limits, start) as out, open(out, "rb") as stream:
        vertices, faces = (np.load(stream, allow_pickle=False) for _ in range(2))
    return vertices, faces
