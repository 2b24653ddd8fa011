"""Mesh files, read by trimesh: formats that are known, sizes that the file can hold.

A header of a few bytes can declare a billion vertices, and an archive can hold them; so only plain
formats are read, and what they declare is compared with the size of the file first. No other
file that a mesh names (materials, pictures, buffers) is opened: the shape is all we want.
"""

import json
import re
from pathlib import Path
from typing import Any

from drystone.errors import InputError
from drystone.rockfall.input_files import as_path, is_file

SUFFIXES = (".obj", ".stl", ".ply", ".off", ".glb", ".gltf")
HEAD = 65536  # bytes in which a PLY file must have told what it holds


def load_mesh(path: str | Path, what: str = "a mesh", **options) -> Any:
    """What trimesh makes of a file; `options` are those of trimesh.load."""
    path = as_path("file", path)
    if not is_file(path):
        raise InputError(f"There is no file {path}.")
    kind = path.suffix.lower()
    if kind not in SUFFIXES:
        raise InputError(
            f"{path.name} cannot be read as {what}: {kind or 'no suffix'} is not one of "
            f"{', '.join(SUFFIXES)}. Convert it to one of them."
        )
    import trimesh  # slow to import

    try:
        with open(path, "rb") as file:
            declared = _declared(file, kind)
            size = file.seek(0, 2)
            file.seek(0)
            if declared > size:
                raise InputError(
                    f"{path.name} declares {declared:,} vertices or faces, but has only {size:,} "
                    "bytes. Is the file cut off?"
                )
            return trimesh.load(file, file_type=kind[1:], **options)
    except InputError:
        raise
    except Exception as error:  # every format has errors of its own
        reason = " ".join(str(error).split()).rstrip(".")[:200] or type(error).__name__
        raise InputError(f"{path.name} cannot be read as {what}: {reason}.") from None


def _declared(file, kind: str) -> int:
    """The largest number of things that the file says it holds; each takes a byte at least."""
    if kind == ".ply":
        head = file.read(HEAD).partition(b"end_header")[0]
        return max(map(int, re.findall(rb"element\s+\w+\s+(\d{1,18})", head)), default=0)
    if kind in (".glb", ".gltf"):
        content = file.read()
        if content[:4] == b"glTF":
            content = content[20 : 20 + int.from_bytes(content[12:16], "little")]
        counts = [entry["count"] for entry in json.loads(content).get("accessors", ())]
        return max(counts, default=0)
    return 0
