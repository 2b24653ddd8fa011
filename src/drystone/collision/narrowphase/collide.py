"""Run the narrow phase over all near pairs, on all cores."""

import numpy as np
from numba import prange

from drystone.collision.narrowphase.dispatch import collide_pairs
from drystone.jit import kernel, parallel_kernel
from drystone.jit.stage import stage

_CHUNK = 64  # pairs per task


@kernel(_nrt=True)
def _collide_range(lo, hi, shapes, pose, reach, pair, axis, near):
    scratch = np.empty((256, 4))  # polygons being clipped; one for many pairs
    collide_pairs(
        shapes, pose, pair, near.pair, reach,
        axis,
        near.slot_first, near.slot_count, near.slot,
        lo, hi,
        scratch,
    )  # fmt: skip


@parallel_kernel
def _collide_parallel(chunks, near_count, shapes, pose, reach, pair, axis, near):
    for chunk in prange(chunks):
        hi = min((chunk + 1) * _CHUNK, near_count)
        _collide_range(chunk * _CHUNK, hi, shapes, pose, reach, pair, axis, near)


@stage
def collide_near(shapes, boxes, pair, axis, near, near_count):
    """Points, normals and gaps of every near pair, in its slots."""
    if near_count <= 2 * _CHUNK:
        _collide_range(0, near_count, shapes, boxes.pose, boxes.spread, pair, axis, near)
    else:
        chunks = (near_count + _CHUNK - 1) // _CHUNK
        _collide_parallel(chunks, near_count, shapes, boxes.pose, boxes.spread, pair, axis, near)
