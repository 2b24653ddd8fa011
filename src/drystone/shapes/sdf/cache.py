"""Disk cache of signed distance fields (SDF): tabled once for each mesh and settings.

The file is named by a hash of the mesh and of the settings; it is written beside the compiled
kernels, completely or not at all. One whose contents do not match its own hash is made again.
"""

import hashlib
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from drystone.jit import cache_root
from drystone.shapes.sdf.closest_point import Solids, vertex_normals
from drystone.shapes.sdf.octree import (
    BETWEEN,
    MOST_CELLS,
    MOST_LEVELS,
    ROOT_SIZE,
    VALUES,
    build_octree,
)

# Error of the interpolated distance at the surface, as a part of the mesh's radius, and how
# much more of the distance it may be away from it.
TOLERANCE = 0.005
SHARE = 0.1
FORMAT = 1  # of the file; another one when the method changes


@dataclass(frozen=True, eq=False)
class DistanceField:
    """An octree of distances, see octree.py."""

    lower: np.ndarray  # (3,) lower corner of the root, in the mesh's axes [m]
    side: float  # of the root [m]
    child: np.ndarray  # (cells,) int32, first of the eight children, -1: none
    value: np.ndarray  # (cells, 9) distances at the corners, error [m]


def find_sdf(table, tolerance: float = TOLERANCE, share: float = SHARE) -> DistanceField:
    """The SDF of a TerrainTable with a BVH: from its file, else made and put there.

    tolerance  error of the distance at the surface, as a part of the mesh's radius
    share      error elsewhere, as a part of the distance, on top of it
    """
    lower, upper = table.vertex.min(axis=0), table.vertex.max(axis=0)
    side = float(ROOT_SIZE * (upper - lower).max())
    corner = 0.5 * (lower + upper) - 0.5 * side
    path = _path(table, (tolerance, share))
    found = _read(path)
    if found is None:
        found = build_octree(_alone(table, corner), corner, side, tolerance * table.radius, share)
        _write(path, *found)
    child, value = found
    return DistanceField(corner, side, child, value)


def cache_folder() -> Path:
    """Where SDFs are stored: beside the folders of the compiled kernels."""
    return cache_root() / "fields"


def _alone(table, corner: np.ndarray) -> Solids:
    """A mesh as the only one of the tables, without an octree."""
    count = len(table.triangle)
    return Solids(
        terrain=np.array([[0, 0, count, 0, 0, 0]], np.int32),
        vertex=np.array(table.vertex),  # copies: kernels know arrays that cannot be written apart
        triangle=np.array(table.triangle),
        normal=np.array(table.normal),
        neighbour=np.array(table.neighbour),
        vertex_normal=vertex_normals(table.vertex, table.triangle, table.normal),
        tree=np.zeros(1, np.int32),
        node_box=np.array(table.node_box),
        node_link=np.array(table.node_link),
        octree=np.full(1, -1, np.int32),
        octree_frame=np.array([[*corner, 0.0]]),
        octree_child=np.empty(0, np.int32),
        octree_value=np.empty((0, VALUES)),
    )


def _path(table, settings) -> Path:
    digest = hashlib.blake2b(digest_size=16)
    constants = (FORMAT, BETWEEN, MOST_CELLS, MOST_LEVELS, ROOT_SIZE, *settings)
    digest.update(repr(constants).encode())
    digest.update(np.ascontiguousarray(table.vertex, np.float64).tobytes())
    digest.update(np.ascontiguousarray(table.triangle, np.int32).tobytes())
    return cache_folder() / f"{digest.hexdigest()}.npz"


def _digest(child: np.ndarray, value: np.ndarray) -> np.ndarray:
    return np.frombuffer(hashlib.blake2b(child.tobytes() + value.tobytes()).digest(), np.uint8)


def _read(path: Path):
    """child, value of a file that is there and sound, else None."""
    try:
        with np.load(path, allow_pickle=False) as file:
            child, value, digest = file["child"], file["value"], file["digest"]
        right = child.dtype == np.int32 and value.dtype == np.float64
        right = right and child.ndim == 1 and value.shape == (len(child), VALUES)
        return (child, value) if right and (digest == _digest(child, value)).all() else None
    except Exception:  # not there, or damaged: archives have errors of a dozen kinds
        return None


def _write(path: Path, child: np.ndarray, value: np.ndarray) -> None:
    part = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, suffix=".part", delete=False) as file:
            part = Path(file.name)
            np.savez(file, child=child, value=value, digest=_digest(child, value))
        os.replace(part, path)
    except OSError:  # a folder that cannot be written, a full disk: made again next time
        if part is not None:
            part.unlink(missing_ok=True)
