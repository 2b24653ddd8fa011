"""Contacts of meshes with meshes, planes and terrains, over all near pairs, on all cores.

FFD section 9 and CLINE 4.5: triangles that are near each other are found through box trees; the
contacts are those of CLINE 4.5 (corner and face, ridge and ridge), reduced to few.

Row p of `axis` remembers of a pair that was apart (kind APART) a lower bound of its distance and
the relative pose at that time. As long as the two have not moved by as much, no
contact is possible. It never changes what is found. Who wants the nearest contact alone, and
soon, says so with the kind ONE: as long as nothing overlaps no other is written, and the row stays.

Pairs with a mesh of the other generator are those of field.py.
"""

from math import inf

import numpy as np
from numba import prange
from numba.types import none

from drystone.apart import stage
from drystone.arrays import MESH, PLANE
from drystone.jit import inner_kernel, kernel, parallel_kernel
from drystone.narrowphase.field import collide_fields, has_fields, is_fielded
from drystone.narrowphase.memory import moved_since, remember
from drystone.narrowphase.mesh_features import (
    ALL,
    BOUND,
    DISTANCE,
    LEVELS,
    MARGIN,
    MOST_CANDIDATES,
    NEAREST,
    REACH,
    SPOTS,
    WANTED,
    Surfaces,
)
from drystone.narrowphase.mesh_limits import APART, DEPTH, FAR, LOOK, ROUNDING, TOUCHING
from drystone.narrowphase.mesh_plane import plane_mesh
from drystone.narrowphase.mesh_reduce import tilt_within, write_reduced
from drystone.narrowphase.mesh_tree import STACK, walk_trees
from drystone.narrowphase.mesh_way import SHALLOW, drop_far_sides
from drystone.shapes.lanes import LANES
from drystone.vec import mul_t, pose_position, pose_rotation, relative_pose, scale

_CHUNK = 16  # pairs per task: their cost differs widely

ONE = 3.0  # beside APART and TOUCHING


@kernel
def _deepest(rows, count):
    gap = inf
    for i in range(count):
        gap = min(gap, rows[i, 6])
    return gap


@inner_kernel
def surface_contacts(
    # in
    shapes, surfaces, pose, a, b, margin, turn,
    # in and out
    axis, p,
    # out, scratch
    out, first, room, rows, level, spot, lane_gap, scratch, stack,
):  # fmt: skip
    """Contacts of mesh a with mesh or terrain b; their number."""
    r, t = relative_pose(pose, a, b)
    radius = min(shapes.radius[a], shapes.radius[b])
    small = ROUNDING * radius
    # The pose of the smaller in the axes of the larger: a turn then moves it least.
    rs, ts = r, t
    if shapes.radius[a] < shapes.radius[b]:
        rs, ts = (r[0], r[3], r[6], r[1], r[4], r[7], r[2], r[5], r[8]), mul_t(r, scale(t, -1.0))
    if axis[p, 0] == APART and axis[p, 1] - moved_since(axis, p, ts, rs, radius) > margin + small:
        return 0
    ka, kb = shapes.surface[a], shapes.surface[b]
    deep = DEPTH * radius
    look = axis[p, 0] != TOUCHING and axis[p, 0] != ONE
    reach = margin + LOOK * radius if look else margin
    level[MARGIN], level[WANTED] = margin, NEAREST if axis[p, 0] == ONE else DISTANCE
    count = 0
    while True:
        level[REACH], level[BOUND] = reach, reach
        count = walk_trees(
            surfaces, shapes.lane_box, shapes.lane_link, shapes.lane_patch,
            shapes.block[ka], shapes.terrain[ka, 0], shapes.terrain[ka, 1],
            shapes.block[kb], shapes.terrain[kb, 0], shapes.terrain[kb, 1],
            r, t, deep, rows, level, spot, lane_gap, stack,
        )  # fmt: skip
        count = drop_far_sides(
            surfaces, shapes.lane_box, shapes.lane_link,
            shapes.block[ka], shapes.terrain[ka, 0], shapes.block[kb], shapes.terrain[kb, 0],
            r, t, SHALLOW * radius, rows, count, stack,
        )  # fmt: skip
        # Where one is in the other by more than triangles were looked for, there may be deeper.
        depth = -_deepest(rows, count)
        if depth < 0.5 * level[REACH] or reach >= deep:
            break
        reach = min(4.0 * depth, deep)
        level[MARGIN], level[WANTED] = margin, ALL
    if count == 0 and axis[p, 0] != ONE:
        remember(axis, p, APART, level[BOUND], ts, rs)
    elif axis[p, 0] != ONE:
        axis[p, 0] = TOUCHING
    return write_reduced(
        rows, count, pose_position(pose, a), pose_rotation(pose, a), turn, small,
        tilt_within(margin, radius), out, first, room, scratch,
    )  # fmt: skip


@kernel(_nrt=True)
def _collide_range(lo, hi, shapes, pose, spread, pair, axis, near):
    rows, level = np.empty((MOST_CANDIDATES, 8)), np.empty(LEVELS)
    spot, lane_gap = np.empty((SPOTS, 4)), np.empty(LANES)
    scratch, stack = np.empty((MOST_CANDIDATES, 4)), np.empty((STACK, 2), np.int32)
    surfaces = Surfaces(
        shapes.terrain_vertex, shapes.triangle, shapes.triangle_normal, shapes.neighbour,
        shapes.owns,
    )  # fmt: skip
    kind = shapes.kind
    for k in range(lo, hi):
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
                shapes, surfaces, pose, b, a, margin, -turn,
                near.slot, first, room, scratch, stack,
            )  # fmt: skip
        elif shapes.surface[b] >= 0 and not is_fielded(shapes, a, b):
            # What is farther away is left to ccd.py: there would be hundreds of such points.
            margin = min(margin, FAR * min(shapes.thickness[a], shapes.thickness[b]))
            near.slot_count[k] = surface_contacts(
                shapes, surfaces, pose, a, b, margin, turn, axis, p,
                near.slot, first, room, rows, level, spot, lane_gap, scratch, stack,
            )  # fmt: skip


@parallel_kernel
def _collide_parallel(chunks, near_count, shapes, pose, spread, pair, axis, near):
    for chunk in prange(chunks):
        hi = min((chunk + 1) * _CHUNK, near_count)
        _collide_range(chunk * _CHUNK, hi, shapes, pose, spread, pair, axis, near)


@inner_kernel
def has_meshes(shapes):
    return shapes.lane_box.shape[0] > 0


@stage(result=none)
def collide_meshes(shapes, boxes, pair, axis, near, near_count):
    """Points, normals and gaps of meshes with meshes, planes, terrains and polytopes.

    Rows as those of collide_pairs(), at most eleven a pair; other pairs are left alone.
    """
    if near_count <= 2 * _CHUNK:
        _collide_range(0, near_count, shapes, boxes.pose, boxes.spread, pair, axis, near)
    else:
        chunks = (near_count + _CHUNK - 1) // _CHUNK
        _collide_parallel(
            chunks, near_count, shapes, boxes.pose, boxes.spread, pair, axis, near
        )
    if has_fields(shapes):
        collide_fields(shapes, boxes, pair, axis, near, near_count)
