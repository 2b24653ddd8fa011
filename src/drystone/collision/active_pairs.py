"""Active pairs: end of the broad phase, the pairs of this step's narrow phase and their slots.

Pairs that sleep are passed over. A body that is struck may move as fast as the one that strikes it,
so the speculative margin (reach) of a shape spreads to its neighbours before pairs are selected.
"""

from drystone.collision.broadphase import boxes_overlap
from drystone.jit import inner_kernel, kernel
from drystone.jit.stage import stage
from drystone.model.arrays import (
    COUNTER_PAIRS,
    FIXED,
    HULL,
    KINEMATIC,
    MESH,
    MOST_MESH_CANDIDATES,
    PLANE,
    TERRAIN,
)

PAIR_SLOTS = 4  # contacts of a pair at most, after reduction

PLANE_SLOTS = 8  # likewise of a hull on a plane, see narrowphase/plane.py
TERRAIN_SLOTS = 16  # likewise of a body on terrain, which may touch several slopes at once

MESH_SLOTS = 12  # likewise of a mesh with anything


@kernel
def _still(b, asleep, kind, twist):
    """Whether body `b` neither moves nor can be moved in this step."""
    if b == FIXED:
        return True
    if kind[b] == KINEMATIC:
        for k in range(6):
            if twist[b, k] != 0.0:
                return False
        return True
    return asleep[b] == 1


@inner_kernel
def pair_sleeps(a, b, asleep, kind, twist):
    """Whether nothing can change between bodies `a` and `b`."""
    return _still(a, asleep, kind, twist) and _still(b, asleep, kind, twist)


@kernel
def _spread_reach(state, boxes, shape_count):
    """A shape that is struck within the step may move as fast as the one that strikes it."""
    pair, box, reach, spread = state.pair, boxes.aabb, boxes.reach, boxes.spread
    for s in range(shape_count):
        spread[s] = reach[s]
    for p in range(state.counter[COUNTER_PAIRS]):
        s, t = pair[p, 0], pair[p, 1]
        if reach[s] != reach[t] and boxes_overlap(box, s, t):
            spread[s] = max(spread[s], reach[t])
            spread[t] = max(spread[t], reach[s])


@kernel
def _overlap_spread(boxes, s, t):
    """Whether the AABBs would overlap if grown by what being struck adds to the reach."""
    box = boxes.aabb
    grow = boxes.spread[s] - boxes.reach[s] + boxes.spread[t] - boxes.reach[t]
    return (
        box[s, 0] <= box[t, 3] + grow
        and box[t, 0] <= box[s, 3] + grow
        and box[s, 1] <= box[t, 4] + grow
        and box[t, 1] <= box[s, 4] + grow
        and box[s, 2] <= box[t, 5] + grow
        and box[t, 2] <= box[s, 5] + grow
    )


@kernel
def _slots_of(s, t, shapes):
    """Rows that a pair of shapes may need."""
    one, two = shapes.kind[s], shapes.kind[t]
    if one == MESH or two == MESH:
        unreduced = shapes.unreduced[s] == 1 or shapes.unreduced[t] == 1
        return MOST_MESH_CANDIDATES if unreduced else MESH_SLOTS
    if (one == PLANE and two == HULL) or (one == HULL and two == PLANE):
        return PLANE_SLOTS
    return TERRAIN_SLOTS if one == TERRAIN or two == TERRAIN else PAIR_SLOTS


@stage
def select_near(shapes, kind, state, boxes, near):
    """List the pairs whose AABBs overlap and that are awake; returns their number."""
    pair, body = state.pair, shapes.body
    _spread_reach(state, boxes, body.shape[0])
    count, slots = 0, 0
    for p in range(state.counter[COUNTER_PAIRS]):
        s, t = pair[p, 0], pair[p, 1]
        if not _overlap_spread(boxes, s, t):
            continue
        if pair_sleeps(body[s], body[t], state.asleep, kind, state.twist):
            continue
        near.pair[count] = p
        near.slot_first[count] = slots
        slots += _slots_of(s, t, shapes)
        count += 1
    near.slot_first[count] = slots
    return count
