"""Stage 4: from touching points to contacts: which pairs are near, and what they remember."""

from numba import prange

from drystone.collision.broadphase import boxes_overlap
from drystone.collision.narrowphase.mesh.triangle_features import MOST_CANDIDATES
from drystone.jit import inner_kernel, kernel, parallel_kernel
from drystone.jit.stage import stage
from drystone.jit.vec import load, mul_t, sub
from drystone.model.arrays import (
    COUNTER_PAIRS,
    FIXED,
    KINEMATIC,
    MESH,
    TERRAIN,
)

PAIR_SLOTS = 4  # contacts of a pair at most, after reduction
TERRAIN_SLOTS = 16  # likewise of a body on terrain, which may touch several slopes at once
MESH_SLOTS = 12  # likewise of a mesh with anything

# A contact takes over the impulse of the nearest contact of the last step, measured on either
# body, if that is closer than this share of the smaller shape's radius. It only sets the guess
# from which the solver starts.
MATCH_SHARE = 0.2

_CHUNK = 64  # pairs per task


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
    pair, box, reach, spread = state.pair, boxes.box, boxes.reach, boxes.spread
    for s in range(shape_count):
        spread[s] = reach[s]
    for p in range(state.counter[COUNTER_PAIRS]):
        s, t = pair[p, 0], pair[p, 1]
        if reach[s] != reach[t] and boxes_overlap(box, s, t):
            spread[s] = max(spread[s], reach[t])
            spread[t] = max(spread[t], reach[s])


@kernel
def _overlap_spread(boxes, s, t):
    """Whether the tight boxes would overlap if grown by what being struck adds to the reach."""
    box = boxes.box
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
        return MOST_CANDIDATES if shapes.whole[s] == 1 or shapes.whole[t] == 1 else MESH_SLOTS
    return TERRAIN_SLOTS if one == TERRAIN or two == TERRAIN else PAIR_SLOTS


@stage
def select_near(shapes, kind, state, boxes, near):
    """List the pairs whose tight boxes overlap and that are awake; returns their number."""
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


@kernel
def number_contacts(slot_count, contact_first, near_count):
    """Place of the contacts of every near pair in the list of all; returns their number."""
    total = 0
    for k in range(near_count):
        contact_first[k] = total
        total += slot_count[k]
    return total


@kernel
def _local_point(b, point, position, turn):
    """World point in the axes of body `b`, or as it is for the fixed world."""
    if b == FIXED:
        return point
    r_wb = (
        turn[b, 0], turn[b, 1], turn[b, 2],
        turn[b, 3], turn[b, 4], turn[b, 5],
        turn[b, 6], turn[b, 7], turn[b, 8],
    )  # fmt: skip
    return mul_t(r_wb, sub(point, load(position, b)))


@kernel
def _match(
    first, count, old, old_count, reach, a, b,
    # in
    position, turn, kept_point, kept_impulse,
    # in and out
    touch,
):  # fmt: skip
    """Impulses of the last step for contacts first.. of one pair, each from its nearest."""
    taken = 0  # bit j: kept contact j has found its successor
    for c in range(first, first + count):
        point = load(touch.place, c)
        on_a, on_b = _local_point(a, point, position, turn), _local_point(b, point, position, turn)
        for j in range(3):
            touch.point[c, j] = on_a[j]
            touch.point[c, 3 + j] = on_b[j]
            touch.warm[c, j] = 0.0
        best, best_j = reach * reach, -1
        for j in range(old_count):
            if (taken >> j) & 1:
                continue
            da, db = 0.0, 0.0
            for m in range(3):
                da += (kept_point[old + j, m] - on_a[m]) ** 2
                db += (kept_point[old + j, 3 + m] - on_b[m]) ** 2
            if min(da, db) < best:
                best, best_j = min(da, db), j
        if best_j >= 0:
            taken |= 1 << best_j
            for j in range(3):
                touch.warm[c, j] = kept_impulse[old + best_j, j]


@kernel
def _gather_range(lo, hi, body, material, radius, state, turn, near, touch):
    """Contacts of near pairs lo..hi: copy them from the slots and look up their impulses."""
    for k in range(lo, hi):
        count = near.slot_count[k]
        if count == 0:
            continue
        p = near.pair[k]
        s, t = state.pair[p, 0], state.pair[p, 1]
        for i in range(count):
            c, slot = near.contact_first[k] + i, near.slot_first[k] + i
            for j in range(7):
                touch.place[c, j] = near.slot[slot, j]
            touch.body[c, 0], touch.body[c, 1] = body[s], body[t]
            touch.material[c, 0], touch.material[c, 1] = material[s], material[t]
        _match(
            near.contact_first[k], count, state.pair_kept[p, 0], state.pair_kept[p, 1],
            MATCH_SHARE * min(radius[s], radius[t]), body[s], body[t],
            state.position, turn, state.kept_point, state.kept_impulse, touch,
        )  # fmt: skip


@parallel_kernel
def _gather_parallel(chunks, near_count, body, material, radius, state, turn, near, touch):
    for chunk in prange(chunks):
        hi = min((chunk + 1) * _CHUNK, near_count)
        _gather_range(chunk * _CHUNK, hi, body, material, radius, state, turn, near, touch)


@stage
def gather_contacts(shapes, state, turn, near, touch, near_count):
    """Fill the list of contacts, in the order of the pairs, with the guess for each impulse."""
    body, material, radius = shapes.body, shapes.material, shapes.radius
    if near_count <= 4 * _CHUNK:
        _gather_range(0, near_count, body, material, radius, state, turn, near, touch)
    else:
        chunks = (near_count + _CHUNK - 1) // _CHUNK
        _gather_parallel(chunks, near_count, body, material, radius, state, turn, near, touch)
