"""The process in which trimesh reads a file (foreign.py): path, bytes of memory, seconds.

Writes vertices and faces to the standard output. It imports nothing of Drystone, which takes
longer to start than trimesh.
"""

import sys
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


def limit(memory: int, seconds: int) -> None:
    """From now on; systems without these limits go without."""
    try:
        import resource

        pages = int(Path("/proc/self/statm").read_text().split()[0])
        most = pages * resource.getpagesize() + memory
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 2))
    except (ImportError, OSError, ValueError):
        pass


def main(path: str, memory: int, seconds: int) -> None:
    limit(memory, seconds)
    kind = Path(path).suffix.lower().lstrip(".")
    with open(path, "rb") as file:
        mesh = trimesh.load(
            file, file_type=kind, resolver=Beside(path), force="mesh", process=False
        )
    if not isinstance(mesh, trimesh.Trimesh) or len(mesh.faces) == 0:
        raise ValueError("it holds no triangles.")
    for array, dtype in ((mesh.vertices, np.float64), (mesh.faces, np.int64)):
        np.save(sys.stdout.buffer, np.asarray(array, dtype=dtype), allow_pickle=False)


if __name__ == "__main__":
    try:
        main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
    except MemoryError:
        sys.exit(2)
    except Exception as error:  # every format has errors of its own
        text = " ".join(str(error).split()) or type(error).__name__
        sys.exit(text if text.endswith(".") else f"{text}.")
