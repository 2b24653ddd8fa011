"""Candidates of two surfaces: all that are near, the nearest alone, or those of what it kept.

A pair that touches and hardly moves remembers the triangles that were near, a little farther than
needed, and only these are looked at until it has moved by that much: see triangle_cache.py.
"""

from math import inf
from typing import NamedTuple

import numpy as np

from drystone.collision.narrowphase.axis_cache import moved_since, remember
from drystone.collision.narrowphase.mesh.bvh_traversal import find_all_leaves, walk_trees
from drystone.collision.narrowphase.mesh.constants import (
    ALL,
    BOUND,
    CLOSE,
    DEPTH,
    DISTANCE,
    FRONT,
    LEAST,
    MARGIN,
    NEAREST,
    REACH,
    SLACK,
    TOUCHING,
    WANTED,
)
from drystone.collision.narrowphase.mesh.motion_bound import set_motion
from drystone.collision.narrowphase.mesh.penetration_direction import (
    SHALLOW,
    drop_far_sides,
    some_way_out,
)
from drystone.collision.narrowphase.mesh.reduction import drop_hidden
from drystone.collision.narrowphase.mesh.triangle_cache import keep_triangles, try_kept
from drystone.collision.narrowphase.mesh.triangle_features import Surfaces
from drystone.jit import inner_kernel, kernel

# Triangles are kept as far beyond what is needed as a pair moves in so many steps, but at least and
# at most these parts of the smaller radius; pairs that move faster keep none.
STEPS, LEAST_SPARE, MOST_SPARE = 4.0, 1e-3, 2e-2
TOO_MANY = 3.0  # beside TOUCHING: there was no room for what is near


class Tools(NamedTuple):
    """What a search works on, and its scratch arrays."""

    surfaces: Surfaces
    rows: np.ndarray  # (MOST_CANDIDATES, COLUMNS)
    level: np.ndarray  # (LEVELS,)
    spot: np.ndarray  # (SPOTS, 4)
    gap: np.ndarray  # (LANES,)
    most: np.ndarray  # (LANES,)
    scratch: np.ndarray  # (MOST_CANDIDATES, 4)
    stack: np.ndarray  # (STACK, 2)
    far: np.ndarray  # (STACK, 2)
    leaf: np.ndarray  # (2 BATCH,)
    leaf_front: np.ndarray  # (BATCH,)
    nearest: np.ndarray  # (COLUMNS,) a row that is put aside


@inner_kernel
def start(level, reach, margin, close, wanted):
    """A search for candidates nearer than `margin`, see constants.py."""
    level[REACH], level[BOUND], level[MARGIN] = reach, reach, margin
    level[FRONT] = min(reach, margin) if wanted == ALL else reach
    level[CLOSE], level[WANTED] = close, wanted
    level[SLACK] = inf  # everything that is near counts, wherever it moves
    level[LEAST] = -inf


@inner_kernel
def deepest_seen(shapes, a, b, radius):
    """How deep one may be in the other and still be pushed out [m]: no deeper than it is thick."""
    thick = 2.0 * max(shapes.thickness[a], shapes.thickness[b])
    return min(DEPTH * radius, thick)


@kernel
def _walk(shapes, a, b, r, t, deep, tools):
    ka, kb = shapes.surface[a], shapes.surface[b]
    return walk_trees(
        tools.surfaces, shapes.lane_box, shapes.lane_link, shapes.lane_patch, shapes.block_patch,
        shapes.block[ka], shapes.terrain[ka, 0], shapes.terrain[ka, 1],
        shapes.block[kb], shapes.terrain[kb, 0], shapes.terrain[kb, 1],
        r, t, deep,
        tools.rows, tools.level, tools.spot, tools.gap, tools.most, tools.stack, tools.far,
        tools.leaf, tools.leaf_front,
    )  # fmt: skip


@kernel
def _true_ones(shapes, a, b, r, t, radius, count, tools):
    """Drop candidates that are no way out; how many are left, and how deep the deepest is."""
    ka, kb, rows = shapes.surface[a], shapes.surface[b], tools.rows
    count = drop_far_sides(
        tools.surfaces, shapes.lane_box, shapes.lane_link,
        shapes.block[ka], shapes.terrain[ka, 0], shapes.terrain[ka, 1],
        shapes.block[kb], shapes.terrain[kb, 0], shapes.terrain[kb, 1],
        r, t, SHALLOW * radius, rows, count, tools.stack,
    )  # fmt: skip
    depth = -inf
    for i in range(count):
        depth = max(depth, -rows[i, 6])
    return count, depth


@kernel
def _look_deeper(shapes, a, b, r, t, radius, margin, count, tools):
    """The candidates that are there, or all if there may be deeper ones; their number.

    Where one is in the other by more than triangles were looked for, there may be deeper: those
    at the edge of a plate, say, as deep again as it is thick.
    """
    reach, deep = tools.level[REACH], deepest_seen(shapes, a, b, radius)
    thick = 2.0 * min(shapes.thickness[a], shapes.thickness[b])
    count, depth = _true_ones(shapes, a, b, r, t, radius, count, tools)
    while depth >= 0.5 * reach and reach < deep:
        reach = min(max(4.0 * depth, depth + thick), deep)
        slack = tools.level[SLACK]
        start(tools.level, reach, margin, margin, ALL)
        tools.level[SLACK] = slack
        count = _walk(shapes, a, b, r, t, deep, tools)
        count, depth = _true_ones(shapes, a, b, r, t, radius, count, tools)
    return count


@inner_kernel
def search(shapes, a, b, r, t, radius, reach, margin, close, wanted, tools):
    """Candidates nearer than `margin`; their number.

    A search for the DISTANCE ends as soon as there is one nearer than `close`, with ALL in
    level[WANTED]. What is in no box within reach may be known to be much farther away.
    """
    start(tools.level, reach, margin, close, wanted)
    tools.level[BOUND] = reach + radius
    count = _walk(shapes, a, b, r, t, deepest_seen(shapes, a, b, radius), tools)
    if wanted == DISTANCE:
        return count
    return _look_deeper(shapes, a, b, r, t, radius, margin, count, tools)


@kernel
def _keep(shapes, a, b, r, t, rs, ts, radius, far, p, near, tools):
    """Keep the triangles of a pair that are nearer than `far`; whether there was room for them."""
    of, ka, kb = near.cached_of, shapes.surface[a], shapes.surface[b]
    found = find_all_leaves(
        shapes.lane_box, shapes.lane_link, shapes.lane_patch, shapes.block_patch,
        shapes.block[ka], shapes.block[kb], r, t, far, tools.level,
        tools.gap, tools.most, tools.stack, tools.far, tools.leaf, tools.leaf_front,
    )  # fmt: skip
    of[p, 0], of[p, 1], of[p, 2] = a, b, keep_triangles(
        tools.surfaces, shapes.lane_link, shapes.terrain[ka, 0], shapes.terrain[ka, 1],
        shapes.terrain[kb, 0], shapes.terrain[kb, 1], r, t, tools.leaf, found,
        far, far / radius, near.kept, near.cached_gap, p, tools.spot,
    )  # fmt: skip
    kept = found >= 0 and of[p, 2] >= 0
    remember(near.cached_axis, p, TOUCHING if kept else TOO_MANY, far, ts, rs)
    return kept


@inner_kernel
def touch(
    shapes, pose, way, slack, a, b, r, t, rs, ts, radius, least, reach, close, moved, p, near, tools
):  # fmt: skip
    """All candidates nearer than `close` of a pair that touches, as far as the step may bring them
    together; their number.

    slack  those nearer than that count anyway [m]
    least  they are known to be no nearer than that [m]
    reach  how far to look for triangles, at least that [m]
    moved  how far it has moved since the last step [m], infinite if it did not touch then
    """
    level, of, axis = tools.level, near.cached_of, near.cached_axis
    deep, ka, kb = deepest_seen(shapes, a, b, radius), shapes.surface[a], shapes.surface[b]
    start(level, reach, close, close, ALL)
    set_motion(pose, way, a, b, slack, level)
    level[LEAST] = least
    known, since = of[p, 0] == a and of[p, 1] == b, 0.0
    known = known and (axis[p, 0] == TOUCHING or axis[p, 0] == TOO_MANY)
    if known:
        since = moved_since(axis, p, ts, rs, radius)
        known = axis[p, 1] - since > reach
    kept = known and axis[p, 0] == TOUCHING
    if not known:
        axis[p, 0], since = 0.0, 0.0
        if STEPS * moved < MOST_SPARE * radius:
            far = reach + max(STEPS * moved, LEAST_SPARE * radius)
            kept = _keep(shapes, a, b, r, t, rs, ts, radius, far, p, near, tools)
    if kept:
        count, depth = try_kept(
            tools.surfaces, shapes.terrain[ka, 0], shapes.terrain[ka, 1],
            shapes.terrain[kb, 0], shapes.terrain[kb, 1], r, t, deep,
            near.kept, near.cached_gap, p, of[p, 2], since, tools.rows, level, tools.spot,
        )  # fmt: skip
        if depth < reach:
            return _look_deeper(shapes, a, b, r, t, radius, close, count, tools)
        start(level, reach, close, close, ALL)
        set_motion(pose, way, a, b, slack, level)
    count = _walk(shapes, a, b, r, t, deep, tools)
    return _look_deeper(shapes, a, b, r, t, radius, close, count, tools)


@inner_kernel
def overlap_by(depth, shapes, a, b, r, t, radius, reach, small, tools):
    """Whether two surfaces that overlap by about `reach` or less do so by `depth` at least [m]."""
    start(tools.level, reach, -depth, -depth, ALL)
    count = _walk(shapes, a, b, r, t, deepest_seen(shapes, a, b, radius), tools)
    if count == 0:
        return False
    # The ways out of what is less deep may hide some of these.
    start(tools.level, reach, 0.0, 0.0, ALL)
    count = _walk(shapes, a, b, r, t, deepest_seen(shapes, a, b, radius), tools)
    ka, kb = shapes.surface[a], shapes.surface[b]
    return some_way_out(
        tools.surfaces, shapes.lane_box, shapes.lane_link,
        shapes.block[ka], shapes.terrain[ka, 0], shapes.terrain[ka, 1],
        shapes.block[kb], shapes.terrain[kb, 0], shapes.terrain[kb, 1],
        r, t, SHALLOW * radius, tools.rows, count, depth, small, tools.stack,
    )  # fmt: skip


@inner_kernel
def nearest_gap(shapes, a, b, r, t, radius, margin, reach, small, tools):
    """Gap of two surfaces, that of the deepest where they overlap [m]; `margin` if it is larger."""
    count = search(shapes, a, b, r, t, radius, reach, margin, 0.0, NEAREST, tools)
    count = drop_hidden(tools.rows, count, small)
    gap = margin
    for i in range(count):
        gap = min(gap, tools.rows[i, 6])
    return gap
