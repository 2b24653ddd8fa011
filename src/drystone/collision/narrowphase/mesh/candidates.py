"""Candidates of two surfaces: all that are near, the nearest alone, or those of cached triangles.

A pair that touches and hardly moves caches the triangles that were near, a little farther than
needed, and only these are tested until it has moved by that much: see triangle_cache.py.
"""

from math import inf

from drystone.collision.narrowphase.axis_cache import moved_since, remember
from drystone.collision.narrowphase.mesh.bvh_traversal import find_all_leaves, traverse
from drystone.collision.narrowphase.mesh.constants import (
    ALL,
    BOUND,
    CLOSE,
    DISTANCE,
    FRONT,
    LEAST,
    MARGIN,
    NEAREST,
    REACH,
    ROUNDING,
    SLACK,
    TOUCHING,
    WANTED,
)
from drystone.collision.narrowphase.mesh.motion_bound import set_motion
from drystone.collision.narrowphase.mesh.overlap import overlap_depth, pierces
from drystone.collision.narrowphase.mesh.penetration_direction import drop_far_sides, has_exit
from drystone.collision.narrowphase.mesh.reduction import drop_hidden
from drystone.collision.narrowphase.mesh.triangle_cache import cache_triangles, collide_cached
from drystone.collision.narrowphase.mesh.workspace import seen_from_larger
from drystone.jit import inner_kernel, kernel

# Triangles are cached as far beyond what is needed as a pair moves in so many steps, but at least
# and at most these parts of the smaller radius; pairs that move faster cache none.
STEPS, LEAST_SPARE, MOST_SPARE = 4.0, 1e-3, 2e-2
TOO_MANY = 3.0  # beside TOUCHING: what is near did not fit into the cache


@inner_kernel
def start(query, reach, margin, close, wanted):
    """A search for candidates nearer than `margin`, see constants.py."""
    query[REACH], query[BOUND], query[MARGIN] = reach, reach, margin
    query[FRONT] = min(reach, margin) if wanted == ALL else reach
    query[CLOSE], query[WANTED] = close, wanted
    query[SLACK] = inf  # everything that is near counts, wherever it moves
    query[LEAST] = -inf


@kernel
def _drop_false(shapes, pair, count, work):
    """Drop candidates that are no exits; how many are left, and how deep the deepest is."""
    rows = work.rows
    count = drop_far_sides(shapes, pair, rows, count, work.stack)
    depth = -inf
    for i in range(count):
        depth = max(depth, -rows[i, 6])
    return count, depth


@kernel
def _search_deeper(shapes, pair, margin, count, work):
    """The candidates that are there, or all if there may be deeper ones; their number.

    Where one is in the other by more than triangles were searched, there may be deeper ones: those
    at the edge of a plate, say, as deep again as it is thick.
    """
    query, reach, deep = work.query, work.query[REACH], pair.depth
    thick = 2.0 * min(shapes.thickness[pair.a], shapes.thickness[pair.b])
    count, depth = _drop_false(shapes, pair, count, work)
    while depth >= 0.5 * reach and reach < deep:
        reach = min(max(4.0 * depth, depth + thick), deep)
        slack = query[SLACK]
        start(query, reach, margin, margin, ALL)
        query[SLACK] = slack
        count = traverse(shapes, pair, work)
        count, depth = _drop_false(shapes, pair, count, work)
    return count


@inner_kernel
def search(shapes, pair, reach, margin, close, wanted, work):
    """Candidates nearer than `margin`; their number.

    A search for the DISTANCE ends as soon as there is one nearer than `close`, with ALL in
    query[WANTED]. What is in no box within reach may be known to be much farther away.
    """
    start(work.query, reach, margin, close, wanted)
    work.query[BOUND] = reach + pair.radius
    count = traverse(shapes, pair, work)
    if wanted == DISTANCE:
        return count
    return _search_deeper(shapes, pair, margin, count, work)


@kernel
def _fill_cache(shapes, pair, far, p, near, work):
    """Cache the triangles of a pair that are nearer than `far`; whether they did fit."""
    of = near.cached_of
    found = find_all_leaves(shapes, pair, far, work)
    of[p, 0], of[p, 1] = pair.a, pair.b
    of[p, 2] = cache_triangles(shapes, pair, found, work, far, near, p)
    fits = found >= 0 and of[p, 2] >= 0
    rs, ts = seen_from_larger(shapes, pair.a, pair.b, pair.r, pair.t)
    remember(near.cached_axis, p, TOUCHING if fits else TOO_MANY, far, ts, rs)
    return fits


@inner_kernel
def search_touching(shapes, boxes, pair, slack, least, reach, close, moved, p, near, work):
    """All candidates nearer than `close` of a pair that touches, as far as the step may bring them
    together; their number.

    slack  those nearer than that count anyway [m]
    least  they are known to be no nearer than that [m]
    reach  how far to search for triangles, at least that [m]
    moved  how far it has moved since the last step [m], infinite if it did not touch then
    """
    query, of, axis = work.query, near.cached_of, near.cached_axis
    a, b, radius = pair.a, pair.b, pair.radius
    start(query, reach, close, close, ALL)
    set_motion(boxes.pose, boxes.swept, a, b, slack, query)
    query[LEAST] = least
    known, since = of[p, 0] == a and of[p, 1] == b, 0.0
    known = known and (axis[p, 0] == TOUCHING or axis[p, 0] == TOO_MANY)
    if known:
        rs, ts = seen_from_larger(shapes, a, b, pair.r, pair.t)
        since = moved_since(axis, p, ts, rs, radius)
        known = axis[p, 1] - since > reach
    cached = known and axis[p, 0] == TOUCHING
    if not known:
        axis[p, 0], since = 0.0, 0.0
        if STEPS * moved < MOST_SPARE * radius:
            far = reach + max(STEPS * moved, LEAST_SPARE * radius)
            cached = _fill_cache(shapes, pair, far, p, near, work)
    if cached:
        count, depth = collide_cached(shapes, pair, near, p, since, work)
        if depth < reach:
            return _search_deeper(shapes, pair, close, count, work)
        start(query, reach, close, close, ALL)
        set_motion(boxes.pose, boxes.swept, a, b, slack, query)
    count = traverse(shapes, pair, work)
    return _search_deeper(shapes, pair, close, count, work)


@inner_kernel
def penetrates_by(depth, shapes, pair, reach, work):
    """Whether two surfaces that overlap by about `reach` or less do so by `depth` at least [m]."""
    start(work.query, reach, -depth, -depth, ALL)
    count = traverse(shapes, pair, work)
    if count > 0:
        # The exits of what is less deep may hide some of these.
        start(work.query, reach, 0.0, 0.0, ALL)
        count = traverse(shapes, pair, work)
        if has_exit(shapes, pair, work.rows, count, depth, ROUNDING * pair.radius, work.stack):
            return True
    return overlap_depth(shapes, pair, work) >= depth  # where there are no features


@inner_kernel
def nearest_gap(shapes, pair, margin, reach, work):
    """Gap of two surfaces, that of the deepest where they overlap [m]; `margin` if it is larger."""
    count = search(shapes, pair, reach, margin, 0.0, NEAREST, work)
    count = drop_hidden(work.rows, count, ROUNDING * pair.radius)
    gap = margin
    for i in range(count):
        gap = min(gap, work.rows[i, 6])
    if gap > 0.0 and pierces(shapes, pair, work):  # where there are no features
        gap = -overlap_depth(shapes, pair, work)
    return gap
