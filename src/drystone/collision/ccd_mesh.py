"""Stage 7b for meshes: how far each fast pair can go along its way, for all pairs on all cores.

The method is that of ccd.py. Two things are known that spare most of the searches: how far
apart the pair was at the start of the step, from its contacts or from what it remembers of the
last search; and that after each advance the gap has grown by no more than the advance.

A pair with contacts is held apart by them: it is only asked now and then how deep it is, whenever
it may have moved by half the thickness. If it moves by less it cannot have come through at all. The
same is asked of a pair that has come near and goes on beside the other, where advances are short.
"""

from math import ceil, inf, sqrt

import numpy as np
from numba import prange
from numba.types import none

from drystone.collision.narrowphase.axis_cache import moved_since
from drystone.collision.narrowphase.mesh.candidates import deepest_seen, nearest_gap, overlap_by
from drystone.collision.narrowphase.mesh.collide import make_tools, seen_from_larger
from drystone.collision.narrowphase.mesh.constants import APART, BESIDE, ROUNDING
from drystone.collision.narrowphase.sdf.collide import is_fielded
from drystone.collision.swept_motion import DEEP, DEEP_UNSEEN, FAST, place_at, span_of
from drystone.jit import inner_kernel, kernel, parallel_kernel
from drystone.jit.stage import stage
from drystone.jit.vec import relative_pose
from drystone.model.arrays import MESH

_CHUNK = 64  # pairs per task, taken from all over the list as in mesh.py
# A pair with contacts is looked at whenever it may have moved by this share of the half thickness:
# what goes through is deeper than DEEP, from either side, at one of two looks at least. So many
# times at most.
SAMPLE, MOST_SAMPLES = 1.0, 16
MOST_DEEP, LITTLE = 0.5, 0.05  # see _depth_allowed()
ADVANCES = 8  # of a pair, then it is asked the same
SKIPPED = 2.0  # share of a pair that is none of meshes, or slow


@inner_kernel
def is_followed_here(shapes, a, b):
    """Whether both are surfaces whose contacts come from triangles."""
    meshes = shapes.kind[a] == MESH or shapes.kind[b] == MESH
    both = shapes.surface[a] >= 0 and shapes.surface[b] >= 0
    return meshes and both and not is_fielded(shapes, a, b)


@kernel
def _known_gap(k, a, b, shapes, boxes, axis, near):
    """Gap at the start of the step, or less [m], and whether there are contacts."""
    gap = inf
    for row in range(near.slot_first[k], near.slot_first[k] + near.slot_count[k]):
        gap = min(gap, near.slot[row, 6])
    if gap < inf:
        return gap, True
    p = near.pair[k]
    if axis[p, 0] != APART and axis[p, 0] != BESIDE:
        return 0.0, False
    r, t = relative_pose(boxes.pose, a, b)
    rs, ts = seen_from_larger(shapes, a, b, r, t)
    radius = min(shapes.radius[a], shapes.radius[b])
    return max(0.0, axis[p, 1] - moved_since(axis, p, ts, rs, radius)), False


@kernel
def _pose_after(share, a, b, shapes, state, motion, fraction, dt, pose):
    """Rotation and position of b in the axes of a after this share of the step."""
    place_at(share, a, shapes, state, motion, fraction, dt, pose, 0)
    place_at(share, b, shapes, state, motion, fraction, dt, pose, 1)
    return relative_pose(pose, 0, 1)


@kernel
def _sampled_share(
    begin, a, b, most, thin, depth, room, shapes, state, motion, fraction, dt, pose, tools
):  # fmt: skip
    """Share of the step that meshes a and b can go before they are deeper than `depth`.

    begin  share that they have gone
    room   how near to that depth they are stopped, along their way [m]
    """
    radius, way = min(shapes.radius[a], shapes.radius[b]), most * (1.0 - begin)
    # What is deeper than can be pushed out is not seen, so that none may pass between two looks.
    seen = deepest_seen(shapes, a, b, radius) - depth
    if seen < (thin if depth > thin else LITTLE * thin):
        return 1.0  # it is beyond the middle, or nearly as deep as is seen: no look would help
    pieces, small = ceil(way / min(SAMPLE * thin, seen)), ROUNDING * radius
    # What was less deep at the last look is not deeper than that now: a plate may lie flat there.
    look = depth + way / pieces
    last, share = begin, begin
    for i in range(pieces):
        last, share = share, begin + (1.0 - begin) * (i + 1) / pieces
        r, t = _pose_after(share, a, b, shapes, state, motion, fraction, dt, pose)
        if overlap_by(depth, shapes, a, b, r, t, radius, look, small, tools):
            break
    else:
        return 1.0
    while (share - last) * most > room:
        middle = 0.5 * (last + share)
        r, t = _pose_after(middle, a, b, shapes, state, motion, fraction, dt, pose)
        if overlap_by(depth, shapes, a, b, r, t, radius, look, small, tools):
            share = middle
        else:
            last = middle
    return last if last > begin else share  # never nothing: bodies that stand still stay there


@kernel
def _depth_allowed(now):
    """How deep a pair may come that is as deep as `now`, both as shares of the half thickness.

    What is beyond the middle of the thinner one is seen from its other side, so less than half of
    it must be enough; a little more than now it must be, or bodies that stand still stay there.
    """
    return max(min(now + DEEP, MOST_DEEP), now + LITTLE)


@kernel
def _safe_share(k, a, b, skin, shapes, boxes, axis, near, state, motion, fraction, dt, pose, tools):
    """Share of the step that meshes a and b can go before they meet, 1 if they do not."""
    ax, ay, az, turn_a = span_of(shapes.body[a], a, shapes, motion, fraction, dt)
    bx, by, bz, turn_b = span_of(shapes.body[b], b, shapes, motion, fraction, dt)
    x, y, z = ax - bx, ay - by, az - bz
    most = sqrt(x * x + y * y + z * z) + turn_a + turn_b
    thin = min(shapes.thickness[a], shapes.thickness[b])
    if most < FAST * thin:
        return 1.0
    gap, seen = _known_gap(k, a, b, shapes, boxes, axis, near)
    deepest = -max(skin, DEEP_UNSEEN * thin)
    if seen:
        deepest = -_depth_allowed(-min(gap, 0.0) / thin) * thin
        if most <= thin + min(gap, 0.0):
            return 1.0
        if most <= MOST_SAMPLES * SAMPLE * thin:
            return _sampled_share(
                0.0, a, b, most, thin, -deepest, DEEP * thin, shapes, state, motion, fraction, dt,
                pose, tools,
            )  # fmt: skip
    radius, share, known = min(shapes.radius[a], shapes.radius[b]), 0.0, seen
    for _ in range(ADVANCES):
        advance = gap - deepest
        if most * (1.0 - share) <= advance:
            return 1.0
        share += advance / most
        r, t = _pose_after(share, a, b, shapes, state, motion, fraction, dt, pose)
        margin = most * (1.0 - share) + skin
        # Where they overlap, triangles are behind each other by as much.
        reach = min(margin, abs(gap) + advance + DEEP * thin) if known else margin
        gap = nearest_gap(shapes, a, b, r, t, radius, margin, reach, ROUNDING * radius, tools)
        known = gap < margin
        if gap <= deepest:
            return share
    return _sampled_share(
        share, a, b, most, thin, -deepest, DEEP_UNSEEN * thin, shapes, state, motion, fraction, dt,
        pose, tools,
    )  # fmt: skip


@kernel(_nrt=True)
def _follow_every(
    task, tasks, near_count, shapes, boxes, state, settings, motion, fraction, before, near,
    all_of_them,
):  # fmt: skip
    pose, tools = np.empty((2, 12)), make_tools(shapes)
    for k in range(task, near_count, tasks):
        near.share[k] = SKIPPED
        a, b = state.pair[near.pair[k], 0], state.pair[near.pair[k], 1]
        if not is_followed_here(shapes, a, b):
            continue
        thin = min(shapes.thickness[a], shapes.thickness[b])
        if boxes.reach[a] + boxes.reach[b] <= FAST * thin:
            continue
        i, j = shapes.body[a], shapes.body[b]
        anew = (i >= 0 and before[i] == 1) or (j >= 0 and before[j] == 1)
        if not (all_of_them or anew):
            continue
        if shapes.kind[a] != MESH:
            a, b = b, a
        skin = settings.skin * min(shapes.radius[a], shapes.radius[b])
        near.share[k] = _safe_share(
            k, a, b, skin, shapes, boxes, state.pair_axis, near, state, motion, fraction,
            settings.dt, pose, tools,
        )  # fmt: skip


@parallel_kernel
def _follow_parallel(
    tasks, near_count, shapes, boxes, state, settings, motion, fraction, before, near, all_of_them
):  # fmt: skip
    for task in prange(tasks):
        _follow_every(
            task, tasks, near_count, shapes, boxes, state, settings, motion, fraction, before, near,
            all_of_them,
        )  # fmt: skip


@stage(result=none)
def follow_meshes(
    shapes, boxes, state, settings, motion, fraction, before, near, near_count, all_of_them
):  # fmt: skip
    """Fill near.share of all fast pairs of meshes, or of those that were stopped before."""
    tasks = (near_count + _CHUNK - 1) // _CHUNK
    _follow_parallel(
        tasks, near_count, shapes, boxes, state, settings, motion, fraction, before, near,
        all_of_them,
    )  # fmt: skip
