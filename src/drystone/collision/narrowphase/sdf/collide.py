"""Contacts of meshes from signed distances, for pairs in which a mesh was given that generator.

PENALTY Appendix I: the corners of one body are held against the distance of the other, and the
other way round. Ridges that cross are found likewise, along the ridges of one of the two. A tree of
balls over corners and ridges leaves out what the octree of distances says is far; the rest is
measured to the nearest triangle, so gaps and normals of contacts are exact.

A mesh of the other generator and a terrain have no octree; their distance is that to the nearest
triangle throughout, which takes longer. Planes need neither, see
collision/narrowphase/mesh/plane.py.
"""

from math import inf
from typing import NamedTuple

import numpy as np
from numba import prange
from numba.types import none

from drystone.collision.narrowphase.axis_cache import moved_since, remember
from drystone.collision.narrowphase.mesh.constants import (
    APART,
    BOUND,
    CLOSE,
    DISTANCE,
    FAR,
    LEVELS,
    LOOK,
    MARGIN,
    REACH,
    ROUNDING,
    SLACK,
    TOUCHING,
    WANTED,
)
from drystone.collision.narrowphase.mesh.reduction import tilt_within, write_reduced
from drystone.collision.narrowphase.mesh.triangle_features import COLUMNS, MOST_CANDIDATES
from drystone.collision.narrowphase.sdf.deep_normal import turn_deep
from drystone.collision.narrowphase.sdf.edge import ridge_contacts
from drystone.collision.narrowphase.sdf.vertex import (
    CORNER_OF_A,
    CORNER_OF_B,
    RIDGES,
    Meeting,
    corner_contacts,
)
from drystone.jit import inner_kernel, kernel, parallel_kernel
from drystone.jit.stage import stage
from drystone.jit.vec import (
    add,
    load,
    mul,
    mul_t,
    pose_position,
    pose_rotation,
    relative_pose,
    scale,
)
from drystone.model.arrays import MESH
from drystone.shapes.sdf.closest_point import STACK, Solids, signed_distance
from drystone.shapes.sdf.octree import interpolated_distance

_CHUNK = 16  # pairs per task
# How deep one may be in the other and still be pushed out, as a part of the smaller radius: deeper,
# the nearest face need not be the one that it came in through.
DEEP = 0.25


class Samples(NamedTuple):
    """The tables of `arrays.Shapes` that hold the corners and ridges of all surfaces."""

    ball: np.ndarray
    link: np.ndarray
    segment: np.ndarray
    around_first: np.ndarray
    around: np.ndarray


@inner_kernel
def has_fields(shapes):
    return shapes.octree_child.shape[0] > 0


@inner_kernel
def is_fielded(shapes, a, b):
    """Whether the distance of one of two meshes or terrains is tabled."""
    octree = shapes.octree
    if octree.shape[0] == 0:
        return False
    return octree[shapes.surface[a]] >= 0 or octree[shapes.surface[b]] >= 0


@kernel
def _lower_bound(solids, meeting, x, radius, level, stack):
    """Lower bound of a ball's distance [m], and whether anything in it can be in contact."""
    reach = level[REACH] + radius
    if solids.octree[meeting.solid] < 0:
        limit = max(reach, meeting.deep + radius)
        f, error = signed_distance(solids, meeting.solid, x, limit, stack)[0], 0.0
    else:
        f, error = interpolated_distance(solids, meeting.solid, x)
    return f - error - radius, f - error < reach and f + error > -meeting.deep - radius


@kernel
def _walk_samples(
    # in: tables, the two, first node of the samples, whether their ridges count, the solid's radius
    samples, solids, meeting, root, ridges, radius,
    # in and out
    rows, count, level,
    # scratch
    waiting, stack,
):  # fmt: skip
    """Candidates of the corners, and ridges, of one body with the other; the new count."""
    r, t = meeting.to_solid, meeting.offset
    top = 1
    waiting[0] = root
    while top > 0:
        top -= 1
        i = waiting[top]
        middle = add(mul(r, load(samples.ball, i)), t)
        bound, near = _lower_bound(solids, meeting, middle, samples.ball[i, 3], level, stack)
        if not near:
            level[BOUND] = min(level[BOUND], max(bound, 0.0))
            continue
        link, number = samples.link[i, 0], samples.link[i, 1]
        if number == 0:
            waiting[top], waiting[top + 1] = link, i + 1
            top += 2
            continue
        for row in range(link, link + number):
            p = load(samples.segment, row)
            q = (samples.segment[row, 3], samples.segment[row, 4], samples.segment[row, 5])
            first, last = samples.around_first[row], samples.around_first[row + 1]
            x = add(mul(r, p), t)
            if p == q:
                count = corner_contacts(
                    solids, meeting, x, samples.around, first, last, rows, count, level, stack
                )
            elif ridges:
                count = ridge_contacts(
                    solids, meeting, x, add(mul(r, q), t), radius + level[REACH],
                    samples.around, first, last, rows, count, level, stack,
                )  # fmt: skip
    return count


@inner_kernel
def field_contacts(
    # in
    shapes, samples, solids, pose, a, b, margin, turn,
    # in and out
    axis, p,
    # out, scratch
    out, first, room, rows, level, scratch, waiting, stack,
):  # fmt: skip
    """Contacts of mesh a with mesh or terrain b; their number."""
    r, t = relative_pose(pose, a, b)
    back = (r[0], r[3], r[6], r[1], r[4], r[7], r[2], r[5], r[8])
    t_back = mul_t(r, scale(t, -1.0))
    radius = min(shapes.radius[a], shapes.radius[b])
    small = ROUNDING * radius
    rs, ts = (r, t) if shapes.radius[a] >= shapes.radius[b] else (back, t_back)
    if axis[p, 0] == APART and axis[p, 1] - moved_since(axis, p, ts, rs, radius) > margin + small:
        return 0
    ka, kb = shapes.surface[a], shapes.surface[b]
    reach = margin if axis[p, 0] == TOUCHING else margin + LOOK * radius
    level[MARGIN], level[REACH], level[BOUND] = margin, reach, reach
    level[WANTED], level[CLOSE], level[SLACK] = DISTANCE, margin, inf
    here, nowhere = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0), (0.0, 0.0, 0.0)
    # Ridges of the one against the octree of the other: all crossings are found from one side.
    ridges_of_b = solids.octree[ka] >= 0
    count = 0
    for side in range(2):
        if side == 0:
            meeting = Meeting(ka, r, t, here, nowhere, CORNER_OF_B, radius, DEEP * radius)
        else:
            meeting = Meeting(kb, back, t_back, r, t, CORNER_OF_A, radius, DEEP * radius)
        count = _walk_samples(
            samples, solids, meeting, shapes.sample_root[kb if side == 0 else ka],
            ridges_of_b == (side == 0), shapes.radius[a if side == 0 else b],
            rows, count, level, waiting, stack,
        )  # fmt: skip
        if side == 0:
            count = turn_deep(solids, meeting, rows, count, here, nowhere, stack)
        else:
            count = turn_deep(solids, meeting, rows, count, back, t_back, stack)
    if count == 0:
        remember(axis, p, APART, level[BOUND], ts, rs)
        return 0
    axis[p, 0] = TOUCHING
    for i in range(count):
        rows[i, 7] = RIDGES  # nothing is hidden
    return write_reduced(
        rows, count, pose_position(pose, a), pose_rotation(pose, a), turn, small,
        tilt_within(margin, radius), out, first, room, scratch,
    )  # fmt: skip


@kernel(_nrt=True)
def _collide_range(lo, hi, shapes, pose, spread, pair, axis, near):
    rows, level = np.empty((MOST_CANDIDATES, COLUMNS)), np.empty(LEVELS)
    scratch = np.empty((MOST_CANDIDATES, 4))
    waiting, stack = np.empty(STACK, np.int32), np.empty(STACK, np.int32)
    samples = Samples(
        shapes.sample_ball, shapes.sample_link, shapes.segment, shapes.around_first, shapes.around
    )
    solids = Solids(
        shapes.terrain, shapes.terrain_vertex, shapes.triangle, shapes.triangle_normal,
        shapes.neighbour, shapes.vertex_normal, shapes.tree, shapes.node_box, shapes.node_link,
        shapes.octree, shapes.octree_frame, shapes.octree_child, shapes.octree_value,
    )  # fmt: skip
    kind = shapes.kind
    for k in range(lo, hi):
        p = near.pair[k]
        a, b = pair[p, 0], pair[p, 1]
        margin, turn = spread[a] + spread[b], 1.0
        if kind[a] != MESH:
            a, b, turn = b, a, -1.0
        if kind[a] != MESH or shapes.surface[b] < 0:
            continue
        if is_fielded(shapes, a, b):
            margin = min(margin, FAR * min(shapes.thickness[a], shapes.thickness[b]))
            first, room = near.slot_first[k], near.slot_first[k + 1] - near.slot_first[k]
            near.slot_count[k] = field_contacts(
                shapes, samples, solids, pose, a, b, margin, turn, axis, p,
                near.slot, first, room, rows, level, scratch, waiting, stack,
            )  # fmt: skip


@parallel_kernel
def _collide_parallel(chunks, near_count, shapes, pose, spread, pair, axis, near):
    for chunk in prange(chunks):
        hi = min((chunk + 1) * _CHUNK, near_count)
        _collide_range(chunk * _CHUNK, hi, shapes, pose, spread, pair, axis, near)


@stage(result=none)
def collide_fields(shapes, boxes, pair, axis, near, near_count):
    """As collide_meshes(), of the pairs that is_fielded()."""
    if near_count <= 2 * _CHUNK:
        _collide_range(0, near_count, shapes, boxes.pose, boxes.spread, pair, axis, near)
    else:
        chunks = (near_count + _CHUNK - 1) // _CHUNK
        _collide_parallel(chunks, near_count, shapes, boxes.pose, boxes.spread, pair, axis, near)
