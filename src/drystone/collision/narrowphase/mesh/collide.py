"""Narrow phase of meshes with meshes, planes and terrains, over all near pairs, on all cores.

FFD section 9 and CLINE 4.5: triangles that are near each other are found through BVHs
(candidates.py); the contacts are those of CLINE 4.5 (vertex and face, edge and edge), reduced to
few.

Contacts are speculative, and two distances count. Within the margin a pair may touch in this step
if one of the two is struck; it gets its nearest contact. Where the two come together by their own
motion it gets all that it has (motion_bound.py).

Row p of `axis` remembers of a pair that was apart (kind APART) a lower bound of its distance and
the relative pose at that time. As long as the two have not moved by as much, no
contact is possible. Of one with its nearest contact alone (NEARBY) it is the distance. It does not
change what is found. Of a pair that touches (TOUCHING) it is how far the two have moved since all
their overlaps were known to have contacts.

Contacts come from features, which need not be there where surfaces overlap. So whatever is not
known to be apart, and was not looked at since it has moved by more than UNSEEN, is searched for
overlaps that no feature holds (overlap.py). What was apart and has moved by less than its distance
is still apart: bodies at rest are not searched at all.

Pairs with a mesh of the other generator are those of collision/narrowphase/sdf/collide.py.
"""

from math import inf, sqrt

import numpy as np
from numba import prange
from numba.types import none

from drystone.collision.narrowphase.axis_cache import moved_since, remember
from drystone.collision.narrowphase.mesh.candidates import search, search_touching
from drystone.collision.narrowphase.mesh.constants import (
    ALL,
    APART,
    BOUND,
    DISTANCE,
    LOOKAHEAD,
    MAX_MARGIN,
    NEARBY,
    NEAREST,
    ROUNDING,
    TOUCHING,
    WANTED,
)
from drystone.collision.narrowphase.mesh.motion_bound import fall_of
from drystone.collision.narrowphase.mesh.overlap import add_overlaps
from drystone.collision.narrowphase.mesh.plane import plane_mesh
from drystone.collision.narrowphase.mesh.reduction import tilt_within, write_reduced
from drystone.collision.narrowphase.mesh.triangle_cache import cache_closest, cached_distance
from drystone.collision.narrowphase.mesh.triangle_features import COLUMNS
from drystone.collision.narrowphase.mesh.workspace import (
    make_workspace,
    mesh_pair,
    seen_from_larger,
)
from drystone.collision.narrowphase.sdf.collide import collide_sdfs, has_sdfs, uses_sdf
from drystone.jit import inner_kernel, kernel, parallel_kernel
from drystone.jit.stage import stage
from drystone.jit.vec import pose_position, pose_rotation, relative_pose
from drystone.model.arrays import MESH, PLANE

_CHUNK = 16  # pairs per task, taken from all over the list: costs differ widely, neighbours alike

NEAREST_ONLY = 3.0  # beside APART, TOUCHING: the nearest contact alone is wanted, the row stays
# Contacts count that are nearer than the two approach there by themselves and this share of the
# margin, for what others may do to them.
STRUCK = 0.05
# How far a pair that touches may move until it is searched for overlaps without contacts, as a
# share of the thinner one's half thickness: one that has come in by so little leaves where it
# came in.
UNSEEN = 0.05


@kernel
def _max_approach(a, b, swept, margin):
    """How far contacts of a pair are searched at most [m]: as far as the two can move."""
    x, y, z = swept[a, 0] - swept[b, 0], swept[a, 1] - swept[b, 1], swept[a, 2] - swept[b, 2]
    close = sqrt(x * x + y * y + z * z) + swept[a, 3] + swept[b, 3] + fall_of(swept, a, b)
    return min(close + STRUCK * margin, margin)


@kernel
def _candidates(
    # in
    shapes, boxes, pair, margin, close, moved,
    # in and out
    axis, p, near, work,
):  # fmt: skip
    """Candidates of a pair that may be near: all that may meet, or the nearest; their number.

    Also what the two are to each other.
    """
    kind, slack, query, rows = axis[p, 0], STRUCK * margin, work.query, work.rows
    if kind == TOUCHING:
        count = search_touching(
            shapes, boxes, pair, slack, -inf, close, close, moved, p, near, work
        )
        if count > 0:
            return count, TOUCHING
    farthest = margin + LOOKAHEAD * pair.radius
    reach = farthest
    if kind == NEARBY:
        known = min(axis[p, 1] + moved, cached_distance(near, p, pair))
        reach = min(farthest, known + ROUNDING * pair.radius)
    count = search(shapes, pair, reach, margin, 0.0, DISTANCE, work)
    if count == 0 and reach < margin:  # what was nearest is no contact any more
        count = search(shapes, pair, farthest, margin, 0.0, DISTANCE, work)
    if query[WANTED] == ALL:  # what overlaps by more than its boxes are apart
        count = search_touching(
            shapes, boxes, pair, slack, -inf, farthest, close, inf, p, near, work
        )
        return count, TOUCHING if count > 0 else APART
    if count == 0:
        return 0, APART
    if kind != TOUCHING and rows[0, 6] < close:
        for k in range(COLUMNS):
            work.nearest[k] = rows[0, k]
        bound = query[BOUND]
        count = search_touching(
            shapes, boxes, pair, slack, rows[0, 6], close, close, inf, p, near, work
        )
        if count > 0:
            return count, TOUCHING
        for k in range(COLUMNS):
            rows[0, k] = work.nearest[k]
        query[BOUND] = bound
    cache_closest(rows, pair, near, p)
    return 1, NEARBY


@kernel
def _path_unseen(axis, p, moved, kind):
    """How far a pair has moved since its overlaps were known [m]; 0 if it is apart for sure.

    kind  what the features say that it is now
    """
    before, known = axis[p, 0], axis[p, 1]
    if before == APART or before == NEARBY:
        return 0.0 if known > moved else inf
    if before == TOUCHING and kind == TOUCHING:
        return known + moved
    return inf


@kernel
def _surface_contacts(
    # in; sign: -1 if a is the second shape of the pair
    shapes, boxes, a, b, margin, close, sign,
    # in and out
    axis, near, k,
    # scratch
    work,
):  # fmt: skip
    """Contacts of mesh a with mesh or terrain b, in the slots of near pair k; their number."""
    pose, p = boxes.pose, near.pair[k]
    r, t = relative_pose(pose, a, b)
    pair = mesh_pair(shapes, a, b, r, t)
    radius = pair.radius
    small, kind = ROUNDING * radius, axis[p, 0]
    if kind == NEAREST_ONLY:
        count = search(shapes, pair, margin, margin, 0.0, NEAREST, work)
    else:
        rs, ts = seen_from_larger(shapes, a, b, r, t)
        moved = moved_since(axis, p, ts, rs, radius)
        if (kind == APART or kind == NEARBY) and axis[p, 1] - moved > margin + small:
            return 0
        count, kind = _candidates(shapes, boxes, pair, margin, close, moved, axis, p, near, work)
        path, bound = _path_unseen(axis, p, moved, kind), work.query[BOUND]
        if path > UNSEEN * min(shapes.thickness[a], shapes.thickness[b]):
            seen, path = count, 0.0
            count, near.unresolved[k] = add_overlaps(shapes, pair, count, close, work)
            if count > seen or near.unresolved[k] > 0:  # and again in the next step
                kind, path = TOUCHING, inf
        remember(axis, p, kind, path if kind == TOUCHING else bound, ts, rs)
    first, most = near.slot_first[k], near.slot_first[k + 1] - near.slot_first[k]
    return write_reduced(
        work.rows, count, pose_position(pose, a), pose_rotation(pose, a), sign, small,
        tilt_within(close, radius), near.slot, first, most, work.scratch,
    )  # fmt: skip


@stage(_nrt=True)  # else compiled again in the parallel loop: 40 s of 100
def collide_every(task, tasks, near_count, shapes, boxes, pair, axis, near):
    """Every `tasks`-th near pair from number `task` on."""
    spread, kind, work = boxes.spread, shapes.kind, make_workspace()
    for k in range(task, near_count, tasks):
        p = near.pair[k]
        a, b = pair[p, 0], pair[p, 1]
        margin, sign, near.unresolved[k] = spread[a] + spread[b], 1.0, 0
        if kind[a] != MESH:
            a, b, sign = b, a, -1.0
        if kind[a] != MESH:
            continue
        if kind[b] == PLANE:
            first, most = near.slot_first[k], near.slot_first[k + 1] - near.slot_first[k]
            near.slot_count[k] = plane_mesh(
                shapes, boxes.pose, b, a, margin, -sign,
                near.slot, first, most, work.scratch, work.stack,
            )  # fmt: skip
        elif shapes.surface[b] >= 0 and not uses_sdf(shapes, a, b):
            # What is farther away is left to collision/ccd.py: there would be hundreds of such
            # points.
            thin = min(shapes.thickness[a], shapes.thickness[b])
            margin = min(margin, MAX_MARGIN * thin)
            close = margin
            if axis[p, 0] != NEAREST_ONLY:
                close = _max_approach(a, b, boxes.swept, margin)
            near.slot_count[k] = _surface_contacts(
                shapes, boxes, a, b, margin, close, sign, axis, near, k, work
            )


@parallel_kernel
def _collide_parallel(tasks, near_count, shapes, boxes, pair, axis, near):
    """The chunked loop of jit/decorators.py."""
    for task in prange(tasks):
        collide_every(np.int64(task), tasks, near_count, shapes, boxes, pair, axis, near)


@inner_kernel
def has_meshes(shapes):
    return shapes.wide_box.shape[0] > 0


@stage(result=none)
def collide_meshes(shapes, boxes, pair, axis, near, near_count):
    """Points, normals and gaps of meshes with meshes, planes, terrains and polytopes.

    Rows as those of collide_pairs(), at most eleven a pair; other pairs are left alone.
    """
    if near_count <= 2 * _CHUNK:
        collide_every(0, 1, near_count, shapes, boxes, pair, axis, near)
    else:
        tasks = (near_count + _CHUNK - 1) // _CHUNK
        _collide_parallel(tasks, near_count, shapes, boxes, pair, axis, near)
    if has_sdfs(shapes):
        collide_sdfs(shapes, boxes, pair, axis, near, near_count)
