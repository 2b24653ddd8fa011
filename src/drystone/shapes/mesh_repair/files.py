"""Mesh files (STL, PLY, OBJ). What is cut off or does not fit its own header is refused by name.

trimesh reads most formats. OBJ is read here: trimesh cuts a face of many corners as a fan, which
leaves a face that is not convex crossing itself.
"""

import io
import re
from pathlib import Path

import numpy as np

from drystone.errors import InputError
from drystone.model.files import existing_file, reason
from drystone.shapes.mesh_repair.ear_clipping import convex_polygons, cut_ears
from drystone.shapes.mesh_repair.foreign import read_foreign

STL_HEADER, STL_FACE = 84, 50  # bytes of a binary STL: 80 of text and a count; each triangle
PLY_BYTES = {
    "char": 1, "uchar": 1, "int8": 1, "uint8": 1, "short": 2, "ushort": 2, "int16": 2, "uint16": 2,
    "int": 4, "uint": 4, "int32": 4, "uint32": 4, "float": 4, "float32": 4,
    "double": 8, "float64": 8,
}  # fmt: skip
# Corners of a face of an OBJ. Ears are cut in the square of their number: 2000 take seconds.
MOST_CORNERS = 2000


def read_mesh(path, who: str = "Mesh") -> tuple[np.ndarray, np.ndarray]:
    """Vertices (n, 3) in units of the file and faces (m, 3), rows of them; `who` begins errors."""
    path = existing_file(path, who)
    kind = path.suffix.lower()
    try:
        if kind == ".obj":
            vertices, faces = _read_obj(path, who)
        elif kind in (".stl", ".ply"):
            vertices, faces = _read_by_trimesh(path, kind, who)
        else:
            vertices, faces = read_foreign(path, who)
    except OSError as error:
        raise InputError(f"{who}: {path}: cannot be read: {reason(error)}.") from None
    if vertices.ndim != 2 or faces.ndim != 2 or vertices.shape[1:] != (3,) != faces.shape[1:]:
        raise InputError(f"{who}: {path.name} holds no triangles in space.")
    if len(faces) and (faces.min() < 0 or faces.max() >= len(vertices)):
        worst = faces.max() if faces.max() >= len(vertices) else faces.min()
        raise InputError(
            f"{who}: {path.name} has a face with vertex {worst}, but there are {len(vertices)}, "
            f"from 0."
        )
    return vertices, faces


def _read_by_trimesh(path: Path, kind: str, who: str) -> tuple[np.ndarray, np.ndarray]:
    import trimesh  # slow to import

    data = path.read_bytes()
    if kind == ".stl":
        _check_stl(path.name, data, who)
    count = _check_ply(path.name, data, who) if kind == ".ply" else 0
    try:
        mesh = trimesh.load(io.BytesIO(data), file_type=kind[1:], force="mesh", process=False)
    except Exception as error:  # every format has errors of its own
        raise InputError(
            f"{who}: cannot read {path.name} as a mesh: {_reason(path, error)}"
        ) from None
    if not isinstance(mesh, trimesh.Trimesh) or len(mesh.faces) == 0:
        raise InputError(f"{who}: {path.name} holds no triangles.")
    vertices, faces = np.asarray(mesh.vertices, np.float64), np.asarray(mesh.faces, np.int64)
    if len(faces) < count:  # trimesh leaves out a line that is cut short
        raise InputError(
            f"{who}: {path.name} is truncated: its header says {count} faces, "
            f"{len(faces)} are whole."
        )
    return vertices, faces


def _reason(path: Path, error: Exception) -> str:
    if path.suffix.lower() == ".ply":  # trimesh says only at which line of its own it stumbled
        return (
            "it does not hold what its header says, or is binary with faces of different numbers "
            "of corners; save it with triangles alone."
        )
    return str(error)


# STL


def _check_stl(name: str, data: bytes, who: str) -> None:
    count = int.from_bytes(data[80:STL_HEADER], "little")
    if len(data) >= STL_HEADER and len(data) == STL_HEADER + STL_FACE * count:
        return
    if _is_text(data):
        _check_stl_text(name, data.decode("utf-8-sig", errors="replace").lower(), who)
    elif len(data) < STL_HEADER:
        raise InputError(
            f"{who}: {name} is truncated: it has {len(data)} bytes, the header of a binary STL "
            f"alone has {STL_HEADER}."
        )
    else:
        raise InputError(
            f"{who}: {name} is truncated or damaged: its header says {count} triangles, which "
            f"take {STL_HEADER + STL_FACE * count} bytes, but the file has {len(data)}, room for "
            f"{(len(data) - STL_HEADER) / STL_FACE:g}."
        )


def _is_text(data: bytes) -> bool:
    """Binary files too may begin with "solid", but numbers in them have bytes of zero."""
    return b"\0" not in data


def _check_stl_text(name: str, text: str, who: str) -> None:
    begun, ended = len(re.findall(r"\bfacet\s+normal\b", text)), text.count("endfacet")
    if not text.lstrip().startswith("solid"):
        raise InputError(f"{who}: {name} is no STL: a text that does not begin with solid.")
    if begun != ended:
        raise InputError(
            f"{who}: {name} is truncated or damaged: there is a facet without its endfacet "
            f"({begun} begin, {ended} end)."
        )
    if "endsolid" not in text:
        raise InputError(f"{who}: {name} is truncated: {ended} facets, then no endsolid.")


# PLY


def _check_ply(name: str, data: bytes, who: str) -> int:
    """Faces that its header counts; raises InputError if it is too short for what that counts."""
    header, mark, rest = data.partition(b"end_header")
    if not header.startswith(b"ply"):
        raise InputError(f"{who}: {name} is no PLY: it does not begin with ply.")
    if not mark:
        raise InputError(f"{who}: {name} is truncated: its header has no end_header.")
    lines = [line.split() for line in header.decode("utf-8", errors="replace").splitlines()]
    body = rest.partition(b"\n")[2]
    try:
        faces, rows, least = _ply_extent(lines)
    except (ValueError, KeyError, IndexError):
        raise InputError(f"{who}: {name} has a header that is no PLY header.") from None
    if ["format", "ascii"] in (line[:2] for line in lines):
        needed, there, unit = rows, sum(bool(line.strip()) for line in body.splitlines()), "lines"
    else:
        needed, there, unit = least, len(body), "bytes"
    if there < needed:
        raise InputError(
            f"{who}: {name} is truncated: what its header counts takes {needed} {unit} or "
            f"more, but {there} follow."
        )
    return faces


def _ply_extent(lines: list[list[str]]) -> tuple[int, int, int]:
    """How many faces and elements the header counts, and how many bytes they take at least."""
    faces, rows, least, count = 0, 0, 0, 0
    for at, line in enumerate(lines):
        if line[:1] == ["element"]:
            count = int(line[2])
            if count < 0 or count and "property" not in (k[0] for k in lines[at + 1 : at + 2] if k):
                raise ValueError
            rows += count
            faces += count * (line[1] == "face")
        elif line[:2] == ["property", "list"]:
            corners = 3 if line[4] in ("vertex_indices", "vertex_index") else 0
            least += count * (PLY_BYTES[line[2]] + corners * PLY_BYTES[line[3]])
        elif line[:1] == ["property"]:
            least += count * PLY_BYTES[line[1]]
    return faces, rows, least


# OBJ


def _read_obj(path: Path, who: str) -> tuple[np.ndarray, np.ndarray]:
    points, polygons = [], []
    text = path.read_text(encoding="utf-8", errors="replace").replace("\\\n", " ")
    for number, line in enumerate(text.splitlines(), start=1):
        key, *words = line.split("#", 1)[0].split() or [""]
        try:
            if key == "v":
                points.append(tuple(map(float, words[:3])))
            elif key == "f":
                corners = [int(word.split("/", 1)[0]) for word in words]
                # Negative ones count back from the last vertex so far.
                rows = [c - 1 if c > 0 else len(points) + c for c in corners]
                polygons.append((number, corners, rows))
        except ValueError:
            raise InputError(
                f"{who}: line {number} of {path.name} must hold numbers: {line.strip()[:100]!r}."
            ) from None
    return _obj_arrays(path.name, who, points, polygons)


def _obj_arrays(name: str, who: str, points, polygons) -> tuple[np.ndarray, np.ndarray]:
    if any(len(point) != 3 for point in points):
        raise InputError(f"{who}: {name} has a vertex of fewer than 3 numbers; is it cut off?")
    for number, corners, rows in polygons:
        where = f"{who}: the face on line {number} of {name}"
        for corner, row in zip(corners, rows, strict=True):
            if corner == 0 or not 0 <= row < len(points):
                raise InputError(f"{where} has vertex {corner}; there are {len(points)}, from 1.")
        if not 3 <= len(rows) <= MOST_CORNERS:
            raise InputError(f"{where} has {len(rows)} corners, must have 3 to {MOST_CORNERS}.")
    if not polygons:
        raise InputError(f"{who}: {name} holds no triangles.")
    vertices = np.array(points, dtype=np.float64)
    return vertices, _cut_polygons(vertices, [rows for _, _, rows in polygons])


def _cut_polygons(vertices: np.ndarray, polygons: list[list[int]]) -> np.ndarray:
    """(m, 3) triangles of all polygons, in their order."""
    size = np.array([len(rows) for rows in polygons])
    fan = size == 3
    for n in np.unique(size[size > 3]):
        alike = np.flatnonzero(size == n)
        fan[alike] = convex_polygons(vertices[[polygons[k] for k in alike]])
    faces = []
    for rows, as_fan in zip(polygons, fan, strict=True):
        if as_fan:
            faces.extend((rows[0], rows[k], rows[k + 1]) for k in range(1, len(rows) - 1))
        else:
            faces.extend((rows[a], rows[b], rows[c]) for a, b, c in cut_ears(vertices[rows]))
    return np.array(faces, dtype=np.int64)
