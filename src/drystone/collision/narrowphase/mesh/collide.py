"""Contacts of meshes with meshes, planes and terrains, over all near pairs, on all cores.

FFD section 9 and CLINE 4.5: triangles that are near each other are found through box trees
(candidates.py); the contacts are those of CLINE 4.5 (corner and face, ridge and ridge), reduced
to few.

Two distances count. Within the margin a pair may touch in this step if one of the two is
struck; it gets its nearest contact. Where the two come together by their own motion it gets all
that it has (motion_bound.py).

Row p of `axis` remembers of a pair that was apart (kind APART) a lower bound of its distance and
the relative pose at that time. As long as the two have not moved by as much, no
contact is possible. Of one with its nearest contact alone (BESIDE) it is the distance. It does not
change what is found, but for pairs that overlap by more than can be pushed out (DEPTH): they have
no contacts, and count as apart until they have moved.

Pairs with a mesh of the other generator are those of collision/narrowphase/sdf/collide.py.
"""

from math import inf, sqrt

import numpy as np
from numba import prange
from numba.types import none

from drystone.collision.narrowphase.axis_cache import moved_since, remember
from drystone.collision.narrowphase.mesh.bvh_traversal import BATCH, STACK
from drystone.collision.narrowphase.mesh.candidates import Tools, search, touch
from drystone.collision.narrowphase.mesh.constants import (
    ALL,
    APART,
    BESIDE,
    BOUND,
    DISTANCE,
    FAR,
    LEVELS,
    LOOK,
    NEAREST,
    ROUNDING,
    TOUCHING,
    WANTED,
)
from drystone.collision.narrowphase.mesh.motion_bound import falls
from drystone.collision.narrowphase.mesh.plane import plane_mesh
from drystone.collision.narrowphase.mesh.reduction import tilt_within, write_reduced
from drystone.collision.narrowphase.mesh.triangle_cache import mark_nearest, marked_distance
from drystone.collision.narrowphase.mesh.triangle_features import (
    COLUMNS,
    MOST_CANDIDATES,
    SPOTS,
    Surfaces,
)
from drystone.collision.narrowphase.sdf.collide import collide_fields, has_fields, is_fielded
from drystone.jit import inner_kernel, kernel, parallel_kernel
from drystone.jit.stage import stage
from drystone.jit.vec import mul_t, pose_position, pose_rotation, relative_pose, scale
from drystone.model.arrays import MESH, PLANE
from drystone.shapes.bvh.wide import LANES

_CHUNK = 16  # pairs per task, taken from all over the list: costs differ widely, neighbours alike

ONE = 3.0  # beside APART and TOUCHING: the nearest contact alone is wanted, and the row stays
# Contacts count that are nearer than the two approach there by themselves and this share of the
# margin, for what others may do to them.
STRUCK = 0.05


@inner_kernel(_nrt=True)
def make_tools(shapes):
    """What a search needs; one serves many pairs."""
    return Tools(
        Surfaces(
            shapes.terrain_vertex, shapes.triangle, shapes.triangle_normal, shapes.neighbour,
            shapes.owns,
        ),
        np.empty((MOST_CANDIDATES, COLUMNS)), np.empty(LEVELS), np.empty((SPOTS, 4)),
        np.empty(LANES), np.empty(LANES),
        np.empty((MOST_CANDIDATES, 4)), np.empty((STACK, 2), np.int32), np.empty((STACK, 2)),
        np.empty(2 * BATCH, np.int32), np.empty(BATCH), np.empty(COLUMNS),
    )  # fmt: skip


@kernel
def _closeness(a, b, way, margin):
    """How far contacts of a pair are looked for at most [m]: as far as the two can move."""
    x, y, z = way[a, 0] - way[b, 0], way[a, 1] - way[b, 1], way[a, 2] - way[b, 2]
    close = sqrt(x * x + y * y + z * z) + way[a, 3] + way[b, 3] + falls(way, a, b)
    return min(close + STRUCK * margin, margin)


@inner_kernel
def seen_from_larger(shapes, a, b, r, t):
    """The pose of the smaller in the axes of the larger: a turn then moves it least."""
    if shapes.radius[a] < shapes.radius[b]:
        return (r[0], r[3], r[6], r[1], r[4], r[7], r[2], r[5], r[8]), mul_t(r, scale(t, -1.0))
    return r, t


@kernel
def _candidates(
    # in
    shapes, pose, way, a, b, r, t, rs, ts, radius, margin, close, moved,
    # in and out
    axis, p, near, tools,
):  # fmt: skip
    """Candidates of a pair that may be near: all that may meet, or the nearest; their number.

    Also what the two are to each other.
    """
    kind, slack, level, rows = axis[p, 0], STRUCK * margin, tools.level, tools.rows
    if kind == TOUCHING:
        count = touch(
            shapes, pose, way, slack, a, b, r, t, rs, ts, radius, -inf, close, close, moved, p,
            near, tools,
        )  # fmt: skip
        if count > 0:
            return count, TOUCHING
    look = margin + LOOK * radius
    reach = look
    if kind == BESIDE:
        farthest = min(axis[p, 1] + moved, marked_distance(near, p, a, b, r, t))
        reach = min(look, farthest + ROUNDING * radius)
    count = search(shapes, a, b, r, t, radius, reach, margin, 0.0, DISTANCE, tools)
    if count == 0 and reach < margin:  # what was nearest is no contact any more
        count = search(shapes, a, b, r, t, radius, look, margin, 0.0, DISTANCE, tools)
    if level[WANTED] == ALL:  # what overlaps by more than its boxes are apart
        count = touch(
            shapes, pose, way, slack, a, b, r, t, rs, ts, radius, -inf, look, close, inf, p, near,
            tools,
        )  # fmt: skip
        return count, TOUCHING if count > 0 else APART
    if count == 0:
        return 0, APART
    if kind != TOUCHING and rows[0, 6] < close:
        for k in range(COLUMNS):
            tools.nearest[k] = rows[0, k]
        bound = level[BOUND]
        count = touch(
            shapes, pose, way, slack, a, b, r, t, rs, ts, radius, rows[0, 6], close, close, inf,
            p, near, tools,
        )  # fmt: skip
        if count > 0:
            return count, TOUCHING
        for k in range(COLUMNS):
            rows[0, k] = tools.nearest[k]
        level[BOUND] = bound
    mark_nearest(rows, a, b, r, t, near, p)
    return 1, BESIDE


@kernel
def _surface_contacts(
    # in
    shapes, pose, way, a, b, margin, close, turn,
    # in and out
    axis, p, near,
    # out: rows of near.slot
    first, room,
    # scratch
    tools,
):  # fmt: skip
    """Contacts of mesh a with mesh or terrain b; their number."""
    r, t = relative_pose(pose, a, b)
    radius = min(shapes.radius[a], shapes.radius[b])
    small, kind = ROUNDING * radius, axis[p, 0]
    if kind == ONE:
        count = search(shapes, a, b, r, t, radius, margin, margin, 0.0, NEAREST, tools)
    else:
        rs, ts = seen_from_larger(shapes, a, b, r, t)
        moved = moved_since(axis, p, ts, rs, radius)
        if (kind == APART or kind == BESIDE) and axis[p, 1] - moved > margin + small:
            return 0
        count, kind = _candidates(
            shapes, pose, way, a, b, r, t, rs, ts, radius, margin, close, moved, axis, p, near,
            tools,
        )  # fmt: skip
        remember(axis, p, kind, tools.level[BOUND], ts, rs)
    return write_reduced(
        tools.rows, count, pose_position(pose, a), pose_rotation(pose, a), turn, small,
        tilt_within(close, radius), near.slot, first, room, tools.scratch,
    )  # fmt: skip


@kernel(_nrt=True)
def _collide_every(task, tasks, near_count, shapes, boxes, pair, axis, near):
    pose, spread, kind, tools = boxes.pose, boxes.spread, shapes.kind, make_tools(shapes)
    for k in range(task, near_count, tasks):
        p = near.pair[k]
        a, b = pair[p, 0], pair[p, 1]
        margin, turn = spread[a] + spread[b], 1.0
        first, room = near.slot_first[k], near.slot_first[k + 1] - near.slot_first[k]
        if kind[a] != MESH:
            a, b, turn = b, a, -1.0
        if kind[a] != MESH:
            continue
        if kind[b] == PLANE:
            near.slot_count[k] = plane_mesh(
                shapes, tools.surfaces, pose, b, a, margin, -turn,
                near.slot, first, room, tools.scratch, tools.stack,
            )  # fmt: skip
        elif shapes.surface[b] >= 0 and not is_fielded(shapes, a, b):
            # What is farther away is left to collision/ccd.py: there would be hundreds of such
            # points.
            thin = min(shapes.thickness[a], shapes.thickness[b])
            margin = min(margin, FAR * thin)
            close = margin
            if axis[p, 0] != ONE:
                close = _closeness(a, b, boxes.swept, margin)
            near.slot_count[k] = _surface_contacts(
                shapes, pose, boxes.swept, a, b, margin, close, turn, axis, p, near, first, room,
                tools,
            )  # fmt: skip


@parallel_kernel
def _collide_parallel(tasks, near_count, shapes, boxes, pair, axis, near):
    for task in prange(tasks):
        _collide_every(task, tasks, near_count, shapes, boxes, pair, axis, near)


@inner_kernel
def has_meshes(shapes):
    return shapes.lane_box.shape[0] > 0


@stage(result=none)
def collide_meshes(shapes, boxes, pair, axis, near, near_count):
    """Points, normals and gaps of meshes with meshes, planes, terrains and polytopes.

    Rows as those of collide_pairs(), at most eleven a pair; other pairs are left alone.
    """
    if near_count <= 2 * _CHUNK:
        _collide_every(0, 1, near_count, shapes, boxes, pair, axis, near)
    else:
        tasks = (near_count + _CHUNK - 1) // _CHUNK
        _collide_parallel(tasks, near_count, shapes, boxes, pair, axis, near)
    if has_fields(shapes):
        collide_fields(shapes, boxes, pair, axis, near, near_count)
