"""Broad phase: hierarchical hashed grid over fat AABBs [Ericson2005, 7.2], linear in the shapes.

Every shape has an AABB, as large as the shape can reach within this step, and a fat AABB around
it. The list of pairs whose fat AABBs overlap stays valid until some AABB leaves its fat AABB, so a
pile at rest never searches. The grid has one level of cells for each power of two of size: a shape
stands in the one cell that holds the lower corner of its fat AABB, at the level whose cells are at
least as large as that.
"""

from math import floor, inf, sqrt

import numpy as np
from numba import prange

from drystone.collision.fat_aabbs import LEVELS, fatten_escaped, forget_escaped
from drystone.jit import inner_kernel, kernel, parallel_kernel
from drystone.jit.stage import stage
from drystone.jit.vec import (
    cross,
    load,
    mul,
    pose_position,
    pose_rotation,
    rotation_matrix,
    scale,
    sub,
)
from drystone.model.arrays import (
    COUNTER_BOXES_VALID,
    COUNTER_PAIRS,
    FIXED,
    FLAG_PLACED,
    HULL,
    KINEMATIC,
    PLANE,
    SWEPT_COLUMNS,
    TERRAIN,
)
from drystone.shapes.kinds import extent

# If more than that part of the shapes has left its fat AABB, the pairs of all are searched; else
# those of these alone (moved_pairs.py).
MOST_ESCAPED = 8

# A box reaches over three cells at most, unless it is so far out that the number of its cell is no
# integer any more: then all shapes of the level are tested.
_FEW_CELLS, FAR = 4.0, 2.0**62
_CHUNK = 256  # shapes per task


@inner_kernel
def place_shape(s, shapes, position, rotation, pose):
    """World pose of shape `s` from its body's pose."""
    b = shapes.body[s]
    if b == FIXED:
        for k in range(12):
            pose[s, k] = shapes.local[s, k]
        return
    q = (rotation[b, 0], rotation[b, 1], rotation[b, 2], rotation[b, 3])
    place_on(s, shapes.local, (position[b, 0], position[b, 1], position[b, 2]), q, pose, s)


@inner_kernel
def place_on(s, local, x, q, pose, row):
    """Row of `pose` of shape `s` on a body at x with the quaternion q."""
    r_wb = rotation_matrix(q[0], q[1], q[2], q[3])
    at = mul(r_wb, (local[s, 0], local[s, 1], local[s, 2]))
    a = mul(r_wb, (local[s, 3], local[s, 6], local[s, 9]))
    b = mul(r_wb, (local[s, 4], local[s, 7], local[s, 10]))
    c = mul(r_wb, (local[s, 5], local[s, 8], local[s, 11]))
    pose[row, 0], pose[row, 1], pose[row, 2] = x[0] + at[0], x[1] + at[1], x[2] + at[2]
    pose[row, 3], pose[row, 4], pose[row, 5] = a[0], b[0], c[0]
    pose[row, 6], pose[row, 7], pose[row, 8] = a[1], b[1], c[1]
    pose[row, 9], pose[row, 10], pose[row, 11] = a[2], b[2], c[2]


@inner_kernel
def fill_aabb(s, shapes, pose, grow, box):
    """AABB of shape `s`, grown by `grow` [m] on all sides."""
    kind = shapes.kind[s]
    r = pose_rotation(pose, s)
    if kind == PLANE:
        for k in range(3):
            box[s, k] = -inf
            box[s, 3 + k] = inf
        return
    if kind == HULL or kind == TERRAIN:
        _fill_vertex_aabb(s, shapes, pose, r, grow, box)
        return
    x0, x1 = extent(shapes, s, (r[0], r[1], r[2]))
    y0, y1 = extent(shapes, s, (r[3], r[4], r[5]))
    z0, z1 = extent(shapes, s, (r[6], r[7], r[8]))
    x, y, z = pose[s, 0], pose[s, 1], pose[s, 2]
    box[s, 0], box[s, 1], box[s, 2] = x + x0 - grow, y + y0 - grow, z + z0 - grow
    box[s, 3], box[s, 4], box[s, 5] = x + x1 + grow, y + y1 + grow, z + z1 + grow


@kernel
def _fill_vertex_aabb(s, shapes, pose, r, grow, box):
    t = shapes.table[s]
    if shapes.kind[s] == HULL:
        first, count, vertex = shapes.polytope[t, 0], shapes.polytope[t, 1], shapes.vertex
    else:
        first = shapes.terrain[t, 0]
        last = shapes.terrain_vertex.shape[0]
        if t + 1 < shapes.terrain.shape[0]:
            last = shapes.terrain[t + 1, 0]
        count, vertex = last - first, shapes.terrain_vertex
    for k in range(3):
        lower, upper = inf, -inf
        for i in range(first, first + count):
            x = r[3 * k] * vertex[i, 0] + r[3 * k + 1] * vertex[i, 1] + r[3 * k + 2] * vertex[i, 2]
            lower = min(lower, x)
            upper = max(upper, x)
        box[s, k] = pose[s, k] + lower - grow
        box[s, 3 + k] = pose[s, k] + upper + grow


@inner_kernel
def _spin(twist, b):
    return twist[b, 3], twist[b, 4], twist[b, 5]


@inner_kernel
def _pushed(b, bodies, force):
    """Acceleration of the surface of body `b` by forces other than gravity, at most."""
    f0, f1, f2, m0, m1, m2 = (
        force[b, 0], force[b, 1], force[b, 2], force[b, 3], force[b, 4], force[b, 5],
    )  # fmt: skip
    if f0 == 0.0 and f1 == 0.0 and f2 == 0.0 and m0 == 0.0 and m1 == 0.0 and m2 == 0.0:
        return 0.0
    linear = sqrt(f0**2 + f1**2 + f2**2) * bodies.inv_mass[b]
    angular = sqrt(m0**2 + m1**2 + m2**2) * max(
        bodies.inv_inertia[b, 0], bodies.inv_inertia[b, 1], bodies.inv_inertia[b, 2]
    )
    return linear + bodies.radius[b] * angular


@inner_kernel
def bound_motion(s, b, bodies, state, force, fall, dt, pose, swept):
    """Fill row `s` of `swept`; returns how far the surface of body `b` can move in the step [m].

    fall   what gravity may add to that [m]
    """
    if b == FIXED:
        for k in range(SWEPT_COLUMNS):
            swept[s, k] = 0.0
        return 0.0
    v, omega = load(state.twist, b), _spin(state.twist, b)
    speed = sqrt(v[0] ** 2 + v[1] ** 2 + v[2] ** 2)
    spin = sqrt(omega[0] ** 2 + omega[1] ** 2 + omega[2] ** 2)
    radius, forced = bodies.radius[b], dt * dt * _pushed(b, bodies, force)
    if bodies.kind[b] == KINEMATIC:
        fall = 0.0
    turned = scale(omega, dt)
    at = cross(turned, sub(pose_position(pose, s), load(state.position, b)))
    for k in range(3):
        swept[s, k] = dt * v[k]
        swept[s, 4 + k] = turned[k]
        swept[s, 7 + k] = dt * v[k] + at[k]
    swept[s, 3] = dt * radius * spin + forced
    swept[s, 10] = forced + 0.5 * radius * (dt * spin) ** 2
    swept[s, 11] = fall
    return dt * speed + (dt * radius * spin + forced) + fall


@kernel
def _place_range(lo, hi, shapes, bodies, state, force, settings, fixed_too, boxes):
    """Place shapes lo..hi; return how many AABBs have left their fat AABBs. Those of what rests are
    not asked: they are the same in a world that was loaded."""
    reach, box, left, escaped, dt = boxes.reach, boxes.aabb, boxes.left, 0, settings.dt
    pose, swept, fat, body = boxes.pose, boxes.swept, state.fat_aabb, shapes.body
    position, rotation, asleep = state.position, state.rotation, state.asleep
    gravity = sqrt(settings.gravity_x**2 + settings.gravity_y**2 + settings.gravity_z**2)
    fall = dt * dt * gravity
    for s in range(lo, hi):
        b, left[s] = body[s], 0
        moves = b != FIXED and asleep[b] == 0
        if not moves and not fixed_too:
            continue
        place_shape(s, shapes, position, rotation, pose)
        reach[s] = bound_motion(s, b, bodies, state, force, fall, dt, pose, swept)
        fill_aabb(s, shapes, pose, reach[s], box)
        for k in range(3 if moves else 0):
            if box[s, k] < fat[s, k] or box[s, 3 + k] > fat[s, 3 + k]:
                escaped, left[s] = escaped + 1, 1
                break
    return escaped


@parallel_kernel
def _place_parallel(chunks, shapes, bodies, state, force, settings, fixed_too, boxes, escaped):
    """The chunked loop of jit/decorators.py."""
    for chunk in prange(chunks):
        hi = min((chunk + 1) * _CHUNK, shapes.kind.shape[0])
        escaped[chunk] = _place_range(
            chunk * _CHUNK, hi, shapes, bodies, state, force, settings, fixed_too, boxes
        )


@stage
def update_aabbs(shapes, bodies, state, force, settings, boxes, flag):
    """Poses, reaches and AABBs of all shapes that move; returns how many must be searched for
    pairs: 0, those that have escaped, which boxes.left marks, or all."""
    ns = shapes.kind.shape[0]
    fixed_too = flag[FLAG_PLACED] == 0
    flag[FLAG_PLACED] = 1
    if ns <= 2 * _CHUNK:
        escaped = _place_range(0, ns, shapes, bodies, state, force, settings, fixed_too, boxes)
    else:
        chunks = (ns + _CHUNK - 1) // _CHUNK
        _place_parallel(
            chunks, shapes, bodies, state, force, settings, fixed_too, boxes, boxes.escaped
        )
        escaped = 0
        for chunk in range(chunks):
            escaped += boxes.escaped[chunk]
    if state.counter[COUNTER_BOXES_VALID] == 0:
        return ns
    return ns if MOST_ESCAPED * escaped > ns else escaped


@inner_kernel
def bucket_of(level, x, y, z, mask):
    h = (x * 73856093) ^ (y * 19349663) ^ (z * 83492791) ^ (level * 2654435761)
    return (h ^ (h >> 17)) & mask


@inner_kernel
def fill_buckets(cell, first, item):
    mask = first.shape[0] - 2
    for i in range(first.shape[0]):
        first[i] = 0
    ns = cell.shape[0]
    for s in range(ns):
        if cell[s, 0] >= 0:
            first[bucket_of(cell[s, 0], cell[s, 1], cell[s, 2], cell[s, 3], mask) + 1] += 1
    for i in range(mask + 1):
        first[i + 1] += first[i]
    for s in range(ns - 1, -1, -1):  # backwards, so that a bucket lists its shapes in order
        if cell[s, 0] >= 0:
            h = bucket_of(cell[s, 0], cell[s, 1], cell[s, 2], cell[s, 3], mask)
            first[h + 1] -= 1
            item[first[h + 1]] = s
    # The loop above moved first[h + 1] from the end of bucket h to its start.
    for i in range(mask + 1):
        first[i] = first[i + 1]
    total = 0
    for s in range(ns):
        if cell[s, 0] >= 0:
            total += 1
    first[mask + 1] = total


@kernel
def may_touch(s, t, shapes, bodies, excluded):
    """Whether the filters let shapes `s` and `t` touch at all."""
    a, b = shapes.body[s], shapes.body[t]
    if a == b:
        return False
    if (a == FIXED or bodies.kind[a] == KINEMATIC) and (b == FIXED or bodies.kind[b] == KINEMATIC):
        return False
    if (shapes.group[s] & shapes.mask[t]) == 0 or (shapes.group[t] & shapes.mask[s]) == 0:
        return False
    if excluded.shape[0] > 0 and a != FIXED and b != FIXED:
        key = (np.int64(min(a, b)) << 32) | np.int64(max(a, b))
        at = np.searchsorted(excluded, key)
        return at == excluded.shape[0] or excluded[at] != key
    return True


@inner_kernel
def boxes_overlap(box, s, t):
    return (
        box[s, 0] <= box[t, 3]
        and box[t, 0] <= box[s, 3]
        and box[s, 1] <= box[t, 4]
        and box[t, 1] <= box[s, 4]
        and box[s, 2] <= box[t, 5]
        and box[t, 2] <= box[s, 5]
    )


@inner_kernel
def emit(s, t, found, count):
    if count < found.shape[0]:
        found[count, 0] = min(s, t)
        found[count, 1] = max(s, t)
    return count + 1


@inner_kernel
def stands_on_plane(s, t, shapes, bodies, excluded, box, boxes):
    """Whether shape `t` pairs with the plane `s`: it may touch it, and is not wholly above it."""
    pose = boxes.pose
    if shapes.kind[t] == PLANE or not may_touch(s, t, shapes, bodies, excluded):
        return False
    if shapes.body[s] != FIXED:
        return True
    lowest = 0.0
    for k in range(3):
        n = pose[s, 5 + 3 * k]
        lowest += n * ((box[t, k] if n > 0.0 else box[t, 3 + k]) - pose[s, k])
    return lowest <= 0.0


@kernel
def _search_planes(shapes, bodies, excluded, box, boxes, count):
    """Every shape that is not wholly above a plane pairs with it."""
    ns = shapes.kind.shape[0]
    for s in range(ns):
        if shapes.kind[s] == PLANE:
            for t in range(ns):
                if stands_on_plane(s, t, shapes, bodies, excluded, box, boxes):
                    count = emit(s, t, boxes.found, count)
    return count


@kernel
def _search_cells(s, level, cells, shapes, bodies, excluded, box, boxes, count):
    """Pairs of shape `s` in the given cells of one level."""
    cell, first, item = boxes.cell, boxes.bucket_first, boxes.bucket_item
    mask = first.shape[0] - 2
    x0, x1, y0, y1, z0, z1 = cells
    for x in range(x0, x1 + 1):
        for y in range(y0, y1 + 1):
            for z in range(z0, z1 + 1):
                h = bucket_of(level, x, y, z, mask)
                for i in range(first[h], first[h + 1]):
                    t = item[i]
                    if level == cell[s, 0] and t <= s:
                        continue
                    if cell[t, 0] != level or cell[t, 1] != x:
                        continue
                    if cell[t, 2] != y or cell[t, 3] != z:
                        continue
                    if boxes_overlap(box, s, t) and may_touch(s, t, shapes, bodies, excluded):
                        count = emit(s, t, boxes.found, count)
    return count


@kernel
def _search_level(s, level, shapes, bodies, excluded, box, boxes, count):
    """Pairs of shape `s` with all of one level."""
    cell = boxes.cell
    for t in range(shapes.kind.shape[0]):
        if cell[t, 0] != level or (level == cell[s, 0] and t <= s):
            continue
        if boxes_overlap(box, s, t) and may_touch(s, t, shapes, bodies, excluded):
            count = emit(s, t, boxes.found, count)
    return count


@kernel
def _search_grid(shapes, bodies, excluded, box, boxes, present, count):
    """Pairs of overlapping fat AABBs, each found once, from the smaller level."""
    cell = boxes.cell
    ns = shapes.kind.shape[0]
    for s in range(ns):
        if cell[s, 0] >= 0:
            present[cell[s, 0]] = True
    for s in range(ns):
        if cell[s, 0] < 0:
            continue
        for level in range(cell[s, 0], LEVELS):
            if not present[level]:
                continue
            side = 2.0 ** (level - LEVELS // 2)
            few = level < LEVELS - 1  # boxes of the last level may be larger than its cells
            for k in range(3):
                lower, upper = (box[s, k] - side) / side, box[s, 3 + k] / side
                few = few and upper - lower < _FEW_CELLS and lower > -FAR and upper < FAR
            if few:
                cells = (
                    int(floor((box[s, 0] - side) / side)), int(floor(box[s, 3] / side)),
                    int(floor((box[s, 1] - side) / side)), int(floor(box[s, 4] / side)),
                    int(floor((box[s, 2] - side) / side)), int(floor(box[s, 5] / side)),
                )  # fmt: skip
                count = _search_cells(s, level, cells, shapes, bodies, excluded, box, boxes, count)
            else:
                count = _search_level(s, level, shapes, bodies, excluded, box, boxes, count)
    return count


@inner_kernel
def sort_pairs(found, count, start, pair):
    """Sort by first shape (counting), then by second (insertion: the rows are short)."""
    for i in range(start.shape[0]):
        start[i] = 0
    for i in range(count):
        start[found[i, 0] + 1] += 1
    for s in range(start.shape[0] - 1):
        start[s + 1] += start[s]
    for i in range(count):
        a, b = found[i, 0], found[i, 1]
        at = start[a]
        start[a] += 1
        pair[at, 0] = a
        pair[at, 1] = b
    for i in range(1, count):
        a, b = pair[i, 0], pair[i, 1]
        j = i - 1
        while j >= 0 and pair[j, 0] == a and pair[j, 1] > b:
            pair[j + 1, 1] = pair[j, 1]
            j -= 1
        pair[j + 1, 0] = a
        pair[j + 1, 1] = b


@inner_kernel
def keep_old_pairs(state, boxes, old_count):
    """Set aside the list as it is, and what it cached."""
    for i in range(old_count):
        for k in range(2):
            boxes.old_pair[i, k] = state.pair[i, k]
            boxes.old_cached[i, k] = state.pair_cached[i, k]
        for k in range(8):
            boxes.old_axis[i, k] = state.pair_axis[i, k]


@inner_kernel
def carry_over(state, boxes, count, old_count):
    """What the last list cached of a pair goes to its row in the new list."""
    pair, old = state.pair, boxes.old_pair
    j = 0
    for i in range(count):
        while j < old_count and (
            old[j, 0] < pair[i, 0] or (old[j, 0] == pair[i, 0] and old[j, 1] < pair[i, 1])
        ):
            j += 1
        known = j < old_count and old[j, 0] == pair[i, 0] and old[j, 1] == pair[i, 1]
        for k in range(2):
            state.pair_cached[i, k] = boxes.old_cached[j, k] if known else 0
        for k in range(8):
            state.pair_axis[i, k] = boxes.old_axis[j, k] if known else 0.0


@stage(_nrt=True)
def find_pairs(model, state, boxes):
    """Search all pairs anew. Returns their number; if it exceeds the capacity, nothing changes."""
    shapes, bodies, excluded = model.shapes, model.bodies, model.pairing.excluded
    fatten_escaped(shapes, state, boxes)
    fill_buckets(boxes.cell, boxes.bucket_first, boxes.bucket_item)
    present = np.zeros(LEVELS, np.bool_)
    count = _search_planes(shapes, bodies, excluded, state.fat_aabb, boxes, 0)
    count = _search_grid(shapes, bodies, excluded, state.fat_aabb, boxes, present, count)
    if count > boxes.found.shape[0] or count > state.pair.shape[0]:
        forget_escaped(shapes, state, boxes)
        return count
    old_count = state.counter[COUNTER_PAIRS]
    keep_old_pairs(state, boxes, old_count)
    sort_pairs(boxes.found, count, boxes.pair_start, state.pair)
    carry_over(state, boxes, count, old_count)
    state.counter[COUNTER_PAIRS] = count
    state.counter[COUNTER_BOXES_VALID] = 1
    return count
