"""CCD of meshes: time of impact (TOI) of every fast pair, for all pairs on all cores.

The method is conservative advancement as in ccd.py. Two things are known that spare most of the
searches: how far apart the pair was at the start of the step, from its contacts or from what it
cached of the last search; and that after each advance the gap has grown by no more than the
advance.

A pair with contacts is held apart by them: its depth is only sampled, whenever it may have moved by
half the thickness. If it moves by less it cannot have come through at all. The same holds for a
pair that has come near and goes on beside the other, where advances are short.
"""

from math import ceil, inf, sqrt
from typing import NamedTuple

import numpy as np
from numba import prange
from numba.types import none

from drystone.collision.narrowphase.axis_cache import moved_since
from drystone.collision.narrowphase.mesh.candidates import nearest_gap, penetrates_by
from drystone.collision.narrowphase.mesh.constants import APART, NEARBY
from drystone.collision.narrowphase.mesh.workspace import (
    Workspace,
    make_workspace,
    max_depth,
    mesh_pair,
    seen_from_larger,
)
from drystone.collision.narrowphase.sdf.collide import uses_sdf
from drystone.collision.swept_motion import DEEP, DEEP_UNSEEN, FAST, place_at, span_of
from drystone.jit import inner_kernel, kernel, parallel_kernel
from drystone.jit.stage import stage
from drystone.jit.vec import relative_pose
from drystone.model.arrays import MESH, Motion, Shapes, State

_CHUNK = 64  # pairs per task, taken from all over the list as in mesh/collide.py
# A pair with contacts is sampled whenever it may have moved by this share of the half thickness:
# what goes through is deeper than DEEP, from either side, at one of two samples at least. So many
# times at most.
SAMPLE, MOST_SAMPLES = 1.0, 16
MOST_DEEP, LITTLE = 0.5, 0.05  # see _depth_allowed()
ADVANCES = 8  # of a pair, then it is sampled likewise
# Samples of a pair, and of all fast pairs of a pass together, of which each gets its part: some
# tenths of a second. A pair that needs more is stopped where the last one was, and said to be given
# up: at 1e8 m/s it would need millions, and the step would not come back.
PAIR_SAMPLES, STEP_SAMPLES, LEAST_SAMPLES = 256, 8192, 16
MOST_PIECES = 1e15  # that a path is thought to be divided into: an integer
SKIPPED = 2.0  # TOI of a pair that is none of meshes, or slow


class Sweep(NamedTuple):
    """What the motion of two meshes within the step is found from."""

    shapes: Shapes
    state: State
    motion: Motion
    fraction: np.ndarray  # (n,) share of the step that each body moves
    dt: float  # [s]
    samples: int  # that a pair may take
    pose: np.ndarray  # (2, 12) scratch
    work: Workspace


@inner_kernel
def has_mesh_toi(shapes, a, b):
    """Whether the TOI of a pair is found here: both are surfaces, with contacts from triangles."""
    meshes = shapes.kind[a] == MESH or shapes.kind[b] == MESH
    both = shapes.surface[a] >= 0 and shapes.surface[b] >= 0
    return meshes and both and not uses_sdf(shapes, a, b)


@kernel
def _known_gap(k, a, b, shapes, boxes, axis, near):
    """Gap at the start of the step, or less [m], and whether there are contacts."""
    gap = inf
    for row in range(near.slot_first[k], near.slot_first[k] + near.slot_count[k]):
        gap = min(gap, near.slot[row, 6])
    if gap < inf:
        return gap, True
    p = near.pair[k]
    if axis[p, 0] != APART and axis[p, 0] != NEARBY:
        return 0.0, False
    r, t = relative_pose(boxes.pose, a, b)
    rs, ts = seen_from_larger(shapes, a, b, r, t)
    radius = min(shapes.radius[a], shapes.radius[b])
    return max(0.0, axis[p, 1] - moved_since(axis, p, ts, rs, radius)), False


@kernel
def _pair_after(share, a, b, sweep):
    """The two meshes, where they are after this share of the step."""
    shapes, state, motion, pose = sweep.shapes, sweep.state, sweep.motion, sweep.pose
    place_at(share, a, shapes, state, motion, sweep.fraction, sweep.dt, pose, 0)
    place_at(share, b, shapes, state, motion, sweep.fraction, sweep.dt, pose, 1)
    r, t = relative_pose(pose, 0, 1)
    return mesh_pair(shapes, a, b, r, t)


@kernel
def _sampled_toi(begin, a, b, most, thin, depth, tolerance, sweep):
    """Share of the step that meshes a and b can move before they are deeper than `depth`.

    And whether that is all that was looked at.

    begin      share that they have moved
    most       how far their surfaces can move in the step [m]
    tolerance  how near to that depth they are stopped, along their path [m]
    """
    shapes, work = sweep.shapes, sweep.work
    radius, path = min(shapes.radius[a], shapes.radius[b]), most * (1.0 - begin)
    # What is deeper than can be pushed out is not seen, so that none may pass between two samples.
    seen = max_depth(shapes, a, b, radius) - depth
    if seen < (thin if depth > thin else LITTLE * thin):
        # It is beyond the middle, or nearly as deep as is seen: no sample would help.
        return 1.0, False
    pieces = ceil(min(path / min(SAMPLE * thin, seen), MOST_PIECES))
    taken = min(pieces, sweep.samples)
    # What was less deep in the last sample is not deeper than that now: a plate may lie flat there.
    reach = depth + path / pieces
    last, share = begin, begin
    for i in range(taken):
        last, share = share, begin + (1.0 - begin) * (i + 1) / pieces
        if penetrates_by(depth, shapes, _pair_after(share, a, b, sweep), reach, work):
            break
    else:
        return (share, True) if taken < pieces else (1.0, False)
    while (share - last) * most > tolerance:
        middle = 0.5 * (last + share)
        if penetrates_by(depth, shapes, _pair_after(middle, a, b, sweep), reach, work):
            share = middle
        else:
            last = middle
    # Never nothing: bodies that stand still stay there.
    return (last if last > begin else share), False


@kernel
def _depth_allowed(now):
    """How deep a pair may come that is as deep as `now`, both as shares of the half thickness.

    What is beyond the middle of the thinner one is seen from its other side, so less than half of
    it must be enough; a little more than now it must be, or bodies that stand still stay there.
    """
    return max(min(now + DEEP, MOST_DEEP), now + LITTLE)


@kernel
def _time_of_impact(k, a, b, skin, boxes, near, sweep):
    """Share of the step that meshes a and b can move before they meet, 1 if they do not.

    And whether it was given up: they can move no farther than was looked at.
    """
    shapes, motion, fraction, dt = sweep.shapes, sweep.motion, sweep.fraction, sweep.dt
    ax, ay, az, swing_a = span_of(shapes.body[a], a, shapes, motion, fraction, dt)
    bx, by, bz, swing_b = span_of(shapes.body[b], b, shapes, motion, fraction, dt)
    x, y, z = ax - bx, ay - by, az - bz
    most = sqrt(x * x + y * y + z * z) + swing_a + swing_b
    thin = min(shapes.thickness[a], shapes.thickness[b])
    if most < FAST * thin:
        return 1.0, False
    gap, seen = _known_gap(k, a, b, shapes, boxes, sweep.state.pair_axis, near)
    deepest = -max(skin, DEEP_UNSEEN * thin)
    if seen:
        deepest = -_depth_allowed(-min(gap, 0.0) / thin) * thin
        if most <= thin + min(gap, 0.0):
            return 1.0, False
        if most <= MOST_SAMPLES * SAMPLE * thin:
            return _sampled_toi(0.0, a, b, most, thin, -deepest, DEEP * thin, sweep)
    share, known = 0.0, seen
    for _ in range(ADVANCES):
        advance = gap - deepest
        if most * (1.0 - share) <= advance:
            return 1.0, False
        share += advance / most
        margin = most * (1.0 - share) + skin
        # Where they overlap, triangles are behind each other by as much.
        reach = min(margin, abs(gap) + advance + DEEP * thin) if known else margin
        pair = _pair_after(share, a, b, sweep)
        gap = nearest_gap(shapes, pair, margin, reach, sweep.work)
        known = gap < margin
        if gap <= deepest:
            return share, False
    return _sampled_toi(share, a, b, most, thin, -deepest, DEEP_UNSEEN * thin, sweep)


@kernel
def _is_fast(a, b, shapes, boxes):
    """Whether a pair of meshes may move so far in this step that its TOI is needed."""
    thin = min(shapes.thickness[a], shapes.thickness[b])
    return has_mesh_toi(shapes, a, b) and boxes.reach[a] + boxes.reach[b] > FAST * thin


@kernel
def _samples_of_each(near_count, shapes, boxes, pair, near):
    """How many samples a fast pair may take, by their number."""
    fast = 1
    for k in range(near_count):
        fast += 1 if _is_fast(pair[near.pair[k], 0], pair[near.pair[k], 1], shapes, boxes) else 0
    return max(LEAST_SAMPLES, min(PAIR_SAMPLES, STEP_SAMPLES // fast))


@stage(_nrt=True)  # else compiled again in the parallel loop: 20 s
def find_every_toi(
    task, tasks, near_count, shapes, boxes, state, settings, motion, fraction, changed, near,
    first_pass,
):  # fmt: skip
    """Every `tasks`-th near pair from number `task` on."""
    samples = _samples_of_each(near_count, shapes, boxes, state.pair, near)
    sweep = Sweep(
        shapes, state, motion, fraction, settings.dt, samples, np.empty((2, 12)), make_workspace()
    )
    for k in range(task, near_count, tasks):
        near.toi[k] = SKIPPED
        a, b = state.pair[near.pair[k], 0], state.pair[near.pair[k], 1]
        if not _is_fast(a, b, shapes, boxes):
            continue
        i, j = shapes.body[a], shapes.body[b]
        anew = (i >= 0 and changed[i] == 1) or (j >= 0 and changed[j] == 1)
        if not (first_pass or anew):
            continue
        if shapes.kind[a] != MESH:
            a, b = b, a
        skin = settings.skin * min(shapes.radius[a], shapes.radius[b])
        near.toi[k], given_up = _time_of_impact(k, a, b, skin, boxes, near, sweep)
        near.given_up[k] = max(near.given_up[k], 1 if given_up else 0)


@parallel_kernel
def _find_parallel(
    tasks, near_count, shapes, boxes, state, settings, motion, fraction, changed, near, first_pass
):  # fmt: skip
    """The chunked loop of jit/decorators.py."""
    for task in prange(tasks):
        find_every_toi(
            np.int64(task), tasks, near_count, shapes, boxes, state, settings, motion, fraction,
            changed, near, first_pass,
        )  # fmt: skip


@stage(result=none)
def find_mesh_tois(
    shapes, boxes, state, settings, motion, fraction, changed, near, near_count, first_pass
):  # fmt: skip
    """Fill near.toi of all fast pairs of meshes; after the first pass, of those that changed."""
    tasks = (near_count + _CHUNK - 1) // _CHUNK
    _find_parallel(
        tasks, near_count, shapes, boxes, state, settings, motion, fraction, changed, near,
        first_pass,
    )  # fmt: skip
