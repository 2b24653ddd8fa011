"""Pairs of shapes that have left their fat AABBs, where most have not.

In a pile that falls some shape leaves its fat AABB in every step, but few do. Only these get a new
one, and only their pairs are searched; pairs of the others hold.
"""

from math import floor

import numpy as np

from drystone.collision.broadphase import (
    FAR,
    boxes_overlap,
    bucket_of,
    carry_over,
    emit,
    fill_buckets,
    keep_old_pairs,
    may_touch,
    sort_pairs,
    stands_on_plane,
)
from drystone.collision.fat_aabbs import LEVELS, fatten_escaped, forget_escaped
from drystone.jit import kernel
from drystone.jit.stage import stage
from drystone.model.arrays import COUNTER_PAIRS, PLANE

MOST_CELLS = 12.0  # along an axis: beyond, all shapes of a level are looked at


@kernel
def _first_finds(s, t, boxes):
    """Whether the pair of `s` and `t` is found by the search of `s`: if both have escaped, by that
    of the one with smaller cells, or the smaller number."""
    cell = boxes.cell
    if boxes.left[t] == 0:
        return True
    return cell[s, 0] < cell[t, 0] or (cell[s, 0] == cell[t, 0] and s < t)


@kernel
def _try(s, t, shapes, bodies, excluded, box, boxes, count):
    if s != t and _first_finds(s, t, boxes) and boxes_overlap(box, s, t):
        if may_touch(s, t, shapes, bodies, excluded):
            return emit(s, t, boxes.found, count)
    return count


@kernel
def _search_moved(s, level, shapes, bodies, excluded, box, boxes, count):
    """Pairs of shape `s`, which has escaped, with those of one level."""
    cell, first, item = boxes.cell, boxes.bucket_first, boxes.bucket_item
    mask, side = first.shape[0] - 2, 2.0 ** (level - LEVELS // 2)
    few = level < LEVELS - 1  # boxes of the last level may be larger than its cells
    for k in range(3):
        lower, upper = (box[s, k] - side) / side, box[s, 3 + k] / side
        few = few and upper - lower < MOST_CELLS and lower > -FAR and upper < FAR
    if not few:
        for t in range(shapes.kind.shape[0]):
            if cell[t, 0] == level:
                count = _try(s, t, shapes, bodies, excluded, box, boxes, count)
        return count
    x0, x1 = int(floor((box[s, 0] - side) / side)), int(floor(box[s, 3] / side))
    y0, y1 = int(floor((box[s, 1] - side) / side)), int(floor(box[s, 4] / side))
    z0, z1 = int(floor((box[s, 2] - side) / side)), int(floor(box[s, 5] / side))
    for x in range(x0, x1 + 1):
        for y in range(y0, y1 + 1):
            for z in range(z0, z1 + 1):
                h = bucket_of(level, x, y, z, mask)
                for i in range(first[h], first[h + 1]):
                    t = item[i]
                    if cell[t, 0] != level or cell[t, 1] != x:
                        continue
                    if cell[t, 2] == y and cell[t, 3] == z:
                        count = _try(s, t, shapes, bodies, excluded, box, boxes, count)
    return count


@kernel
def _search_all_moved(shapes, bodies, excluded, box, boxes, present, count):
    ns = shapes.kind.shape[0]
    for s in range(ns):
        if shapes.kind[s] == PLANE:
            for t in range(ns):
                if boxes.left[t] == 1 and stands_on_plane(
                    s, t, shapes, bodies, excluded, box, boxes
                ):
                    count = emit(s, t, boxes.found, count)
        elif boxes.cell[s, 0] >= 0:
            present[boxes.cell[s, 0]] = True
    for s in range(ns):
        if boxes.left[s] == 1 and boxes.cell[s, 0] >= 0:
            for level in range(LEVELS):
                if present[level]:
                    count = _search_moved(
                        s, level, shapes, bodies, excluded, box, boxes, count
                    )  # fmt: skip
    return count


@kernel
def _keep_others(pair, old_count, boxes):
    """Pairs of shapes that have not escaped; returns how many."""
    count = 0
    for i in range(old_count):
        s, t = pair[i, 0], pair[i, 1]
        if boxes.left[s] == 0 and boxes.left[t] == 0:
            count = emit(s, t, boxes.found, count)
    return count


@stage(_nrt=True)
def find_moved_pairs(model, state, boxes):
    """As find_pairs(), but only for the shapes that have escaped."""
    shapes, bodies, excluded = model.shapes, model.bodies, model.pairing.excluded
    old_count = state.counter[COUNTER_PAIRS]
    fatten_escaped(shapes, state, boxes)
    fill_buckets(boxes.cell, boxes.bucket_first, boxes.bucket_item)
    present = np.zeros(LEVELS, np.bool_)
    count = _keep_others(state.pair, old_count, boxes)
    count = _search_all_moved(shapes, bodies, excluded, state.fat_aabb, boxes, present, count)
    if count > boxes.found.shape[0] or count > state.pair.shape[0]:
        forget_escaped(shapes, state, boxes)
        return count
    keep_old_pairs(state, boxes, old_count)
    sort_pairs(boxes.found, count, boxes.pair_start, state.pair)
    carry_over(state, boxes, count, old_count)
    state.counter[COUNTER_PAIRS] = count
    return count
