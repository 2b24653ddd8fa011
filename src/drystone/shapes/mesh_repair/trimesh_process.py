"""What trimesh makes of a file, in a process of its own (model/reading_apart.py)."""

from pathlib import Path

import numpy as np
import trimesh
from trimesh.resolvers import FilePathResolver


class Beside(FilePathResolver):
    """Files in the folder of the mesh, such as the buffers of a glTF, and none elsewhere."""

    def get(self, name):
        folder = Path(self.parent).resolve()
        if not (folder / name).resolve().is_relative_to(folder):
            raise ValueError(f"it refers to {name!r}, which is not beside it.")
        return super().get(name)


def main(path: str, out: str) -> None:
    """Write vertices and faces."""
    kind = Path(path).suffix.lower().lstrip(".")
    with open(path, "rb") as file:
        mesh = trimesh.load(
            file, file_type=kind, resolver=Beside(path), force="mesh", process=False
        )
    if not isinstance(mesh, trimesh.Trimesh) or len(mesh.faces) == 0:
        raise ValueError("it holds no triangles.")
    with open(out, "wb") as stream:
        for array, dtype in ((mesh.vertices, np.float64), (mesh.faces, np.int64)):
            np.save(stream, np.asarray(array, dtype=dtype), allow_pickle=False)
