"""Triangle meshes as slopes: OBJ, STL, PLY and whatever else trimesh reads, overhangs included."""

from pathlib import Path

import numpy as np

from drystone.errors import InputError
from drystone.model.checks import point_array
from drystone.rockfall.mesh_files import SUFFIXES as SUFFIXES
from drystone.rockfall.mesh_files import load_mesh
from drystone.shapes.triangle_table import flat_faces, weld

FARTHEST = 1e8  # [m] of a vertex from the origin of its map: the Earth is 4e7 m around


def read_mesh(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Vertices (n, 3) in world coordinates, welded, and triangles (m, 3) seen counter-clockwise
    from outside.

    Triangles without area are left out. A terrain whose triangles all face down is reversed;
    one whose neighbours disagree is refused, for which of the two is wrong only the user can say.
    """
    points, faces, middle = _welded(path)
    if _plan_area(points, faces) < 0.0:
        faces = faces[:, ::-1]
    return points + middle, np.ascontiguousarray(faces, dtype=np.int32)


def read_closed_mesh(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Vertices (n, 3) in world coordinates and triangles (m, 3) of a mesh without a gap."""
    points, faces, middle = _welded(path)
    edges = np.sort(np.vstack([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]]), axis=1)
    _, counts = np.unique(edges, axis=0, return_counts=True)
    if (counts != 2).any():
        raise InputError(
            f"{path.name} is not closed: {int((counts != 2).sum())} edges have not exactly two "
            f"triangles. Close it, for example in MeshLab or Blender."
        )
    return points + middle, np.ascontiguousarray(faces, dtype=np.int32)


def _welded(path: Path) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Points about a middle, triangles that have an area, and the middle."""
    vertices, faces = _load(path)
    middle = np.round(0.5 * (vertices.min(axis=0) + vertices.max(axis=0)))
    points, number = weld(vertices - middle, faces)
    faces = number[faces]
    faces = faces[~flat_faces(points, faces)]
    if len(faces) == 0:
        raise InputError(f"{path.name} holds no triangle with an area.")
    _require_one_side(path.name, faces, len(points))
    return points, faces, middle


def _load(path: Path) -> tuple[np.ndarray, np.ndarray]:
    mesh = load_mesh(path, force="mesh", process=False)
    faces = np.asarray(getattr(mesh, "faces", ()), dtype=np.int64)
    if len(faces) == 0:
        raise InputError(f"{path.name} holds no triangles.")
    vertices = point_array(f"Vertices of {path.name}", mesh.vertices, 3)
    if faces.min() < 0 or faces.max() >= len(vertices):
        worst = faces.max() if faces.min() >= 0 else faces.min()
        raise InputError(
            f"{path.name}: a triangle names vertex {worst}, but there are {len(vertices)}, from 0."
        )
    if np.abs(vertices).max() > FARTHEST:
        raise InputError(
            f"{path.name}: a coordinate is {np.abs(vertices).max():.3g} m, must be below "
            f"{FARTHEST:g} m. Is it in metres?"
        )
    if not np.ptp(vertices, axis=0).any():
        raise InputError(f"{path.name}: all {len(vertices)} vertices are the same point.")
    return vertices, faces


def _require_one_side(name: str, faces: np.ndarray, count: int) -> None:
    """Along a shared edge the two neighbours must run in opposite directions."""
    start, end = faces.ravel(), np.roll(faces, -1, axis=1).ravel()
    directed = np.sort(start * np.int64(count) + end)
    twice = int((np.diff(directed) == 0).sum())
    if twice:
        raise InputError(
            f"{name}: at {twice} edges the neighbouring triangles face opposite sides. Orient the "
            f"faces coherently first, for example in MeshLab or Blender."
        )


def _plan_area(points: np.ndarray, faces: np.ndarray) -> float:
    """Area that faces up minus area that faces down, in the x-y plane."""
    a, b, c = (points[faces[:, k], :2] for k in range(3))
    u, v = b - a, c - a
    return 0.5 * float((u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0]).sum())
