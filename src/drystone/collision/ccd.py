"""Continuous collision detection (CCD): time of impact by conservative advancement [Mirtich1996].

No body passes through another within a step, however fast it moves or rotates. A contact found at
the start of a step is a plane, and a body that moves far or rotates much in one step may come round
it. For pairs that move by more than a share of the thinner body the time of impact (TOI) is
therefore found: the gap g of two bodies shrinks at most as fast as the bound L on the motion of
their surfaces along the shortest distance, so that nothing can happen within the next g / L of the
step. Where the gap is used up, both bodies stop for the rest of the step; what a kinematic body
meets is moved along with it. Their velocities stay: the next step finds the contact and treats it
like any other. The TOI of pairs of meshes is found in ccd_mesh.py.

Near pairs are those that the velocities at the start of the step could bring together. A body that
is struck within the step may leave faster, past what strikes it by up to twice its speed, and
meet others; such an overrun is looked for among all shapes.
"""

from math import inf, sqrt

from drystone.collision.broadphase import may_touch
from drystone.collision.ccd_mesh import find_mesh_tois, has_mesh_toi
from drystone.collision.displaced_pair import collide_displaced
from drystone.collision.narrowphase.mesh.collide import has_meshes
from drystone.collision.narrowphase.mesh.constants import MAX_MARGIN
from drystone.collision.swept_motion import (
    DEEP,
    DEEP_FREE,
    DEEP_UNSEEN,
    FAST,
    FREE,
    MAX_ADVANCES,
    place_at,
    span_of,
)
from drystone.jit import inner_kernel, kernel
from drystone.jit.stage import stage
from drystone.jit.vec import cross, dot, load, sub
from drystone.model.arrays import (
    FIXED,
    INFO_GIVEN_UP,
    INFO_IMPACTS,
    INFO_NEAR,
    KINEMATIC,
    MESH,
    MIDPOINT,
    PLANE,
    TERRAIN,
)

PASSES = 4  # a body that was stopped may be hit by one behind it
OVERRUN = 0.05  # share of the radius that a shape may move beyond what near pairs were chosen for


@kernel
def _gap_at(share, a, b, margin, shapes, outlines, state, motion, ccd, dt):
    """Least gap of two shapes after this share of the step, and its normal; `margin` if larger."""
    pose, near, fraction = ccd.boxes.pose, ccd.near, ccd.fraction
    place_at(share, a, shapes, state, motion, fraction, dt, pose, a)
    place_at(share, b, shapes, state, motion, fraction, dt, pose, b)
    found = collide_displaced(a, b, margin, True, shapes, outlines, ccd)
    gap, nx, ny, nz = margin, 0.0, 0.0, 0.0
    for row in range(found):
        if near.slot[row, 6] < gap:
            gap = near.slot[row, 6]
            nx, ny, nz = near.slot[row, 3], near.slot[row, 4], near.slot[row, 5]
    return gap, nx, ny, nz


@kernel
def _time_of_impact(a, b, skin, deep, shapes, outlines, state, motion, ccd, dt):
    """Share of the step that shapes a and b can move before they meet, 1 if they do not.

    And whether it was given up, after MAX_ADVANCES.
    """
    ax, ay, az, swing_a = span_of(shapes.body[a], a, shapes, motion, ccd.fraction, dt)
    bx, by, bz, swing_b = span_of(shapes.body[b], b, shapes, motion, ccd.fraction, dt)
    x, y, z, swing = ax - bx, ay - by, az - bz, swing_a + swing_b
    most = sqrt(x * x + y * y + z * z) + swing
    thin = min(shapes.thickness[a], shapes.thickness[b])
    if most < FAST * thin:
        return 1.0, False
    convex = max(shapes.kind[a], shapes.kind[b]) < TERRAIN
    farthest = MAX_MARGIN * thin if max(shapes.kind[a], shapes.kind[b]) == MESH else inf
    share, deepest = 0.0, 0.0
    for advance in range(MAX_ADVANCES):
        margin = min(farthest, most * (1.0 - share) + skin)
        gap, nx, ny, nz = _gap_at(share, a, b, margin, shapes, outlines, state, motion, ccd, dt)
        if advance == 0:
            deepest = -max(skin, DEEP_UNSEEN * thin)
            if gap < margin:
                deepest = min(gap, 0.0) - deep * thin
        if gap <= deepest:
            return share, False
        # Convex shapes stay apart along the normal they have now, whatever else comes nearest.
        closing = min(most, nx * x + ny * y + nz * z + swing) if convex else most
        if closing * (1.0 - share) <= gap - deepest:
            return 1.0, False
        share += (gap - deepest) / closing
    return share, True


@kernel
def _hold_joined(joints, n, fraction, changed):
    """Bodies that joints hold together stop together."""
    again = True
    while again:
        again = False
        for j in range(joints.kind.shape[0]):
            a, b = joints.body[j, 0], joints.body[j, 1]
            if a < 0 or b < 0 or a >= n or b >= n or fraction[a] == fraction[b]:
                continue
            later = a if fraction[a] > fraction[b] else b
            fraction[later] = min(fraction[a], fraction[b])
            changed[later] = 1
            again = True


@kernel
def _stop(body, other, share, of, kind, position, move, ccd):
    """Let a body move no farther than this share of what `of` says.

    Before a kinematic one, which nothing stops, it is moved along for the rest of the step.
    """
    if body == FIXED or kind[body] == KINEMATIC:
        return
    ccd.changed[body] = 1
    if other == FIXED or kind[other] != KINEMATIC or ccd.fraction[body] == 0.0:
        ccd.fraction[body] = min(ccd.fraction[body], share * of[body])
        return
    rest = (1.0 - share) / ccd.fraction[body]
    spin = (move[other, 3], move[other, 4], move[other, 5])
    orbit = cross(spin, sub(load(position, body), load(position, other)))
    for k in range(3):
        move[body, k] = share * move[body, k] + rest * (move[other, k] + orbit[k])
        move[body, 3 + k] = share * move[body, 3 + k] + rest * spin[k]


@kernel
def _was_changed(body, changed_before):
    return body != FIXED and changed_before[body] == 1


@kernel
def _stop_pairs(shapes, outlines, bodies, state, settings, work, first_pass):
    """One pass over all fast pairs; returns how many were stopped."""
    near, ccd = work.near, work.ccd
    kind, reach, stopped = bodies.kind, work.boxes.reach, 0
    deep = DEEP_FREE if settings.ccd == FREE else DEEP
    for k in range(int(work.log.info[INFO_NEAR])):
        a, b = state.pair[near.pair[k], 0], state.pair[near.pair[k], 1]
        thin = min(shapes.thickness[a], shapes.thickness[b])
        if reach[a] + reach[b] <= FAST * thin:
            continue
        i, j = shapes.body[a], shapes.body[b]
        before = ccd.changed_before
        if not (first_pass or _was_changed(i, before) or _was_changed(j, before)):
            continue
        of = ccd.fraction
        if has_mesh_toi(shapes, a, b):
            share, of = near.toi[k], ccd.fraction_before
        else:
            skin = settings.skin * min(shapes.radius[a], shapes.radius[b])
            share, given_up = _time_of_impact(
                a, b, skin, deep, shapes, outlines, state, work.motion, ccd, settings.dt
            )
            near.given_up[k] = max(near.given_up[k], 1 if given_up else 0)
        if share < 1.0:
            _stop(i, j, share, of, kind, state.position, work.motion.move, ccd)
            _stop(j, i, share, of, kind, state.position, work.motion.move, ccd)
            stopped += 1
    return stopped


@kernel
def _overrun(s, fraction, shapes, motion, boxes, dt):
    """How much farther [m] a shape moves than its AABB reaches, and than its neighbours'."""
    x, y, z, swing = span_of(shapes.body[s], s, shapes, motion, fraction, dt)
    path = sqrt(x * x + y * y + z * z) + swing
    return path - boxes.reach[s], path - boxes.spread[s]


@kernel
def _boxes_meet(box, s, t, grow):
    """Whether the AABBs overlap if they are grown by so much [m]."""
    for k in range(3):
        if box[s, k] > box[t, 3 + k] + grow or box[t, k] > box[s, 3 + k] + grow:
            return False
    return True


@kernel
def _overlaps(a, b, state, near, near_count):
    """Whether shapes a and b had contacts that overlapped when the step began."""
    for k in range(near_count):
        p = near.pair[k]
        if state.pair[p, 0] == a and state.pair[p, 1] == b:
            first = near.slot_first[k]
            for c in range(first, first + near.slot_count[k]):
                if near.slot[c, 6] < 0.0:
                    return True
    return False


@kernel
def _stop_overruns(shapes, outlines, bodies, pairing, state, settings, work):
    """Stop bodies that were struck before what lies beyond their near pairs; how many pairs."""
    boxes, ccd = work.boxes, work.ccd
    motion, fraction, dt, stopped = work.motion, work.ccd.fraction, settings.dt, 0
    for s in range(shapes.kind.shape[0]):
        i = shapes.body[s]
        if i == FIXED or state.asleep[i] == 1:
            continue
        beyond, unseen = _overrun(s, fraction, shapes, motion, boxes, dt)
        if unseen <= OVERRUN * shapes.radius[s]:
            continue
        for t in range(shapes.kind.shape[0]):
            if not may_touch(s, t, shapes, bodies, pairing.excluded):
                continue
            other, _ = _overrun(t, fraction, shapes, motion, boxes, dt)
            grow = beyond + max(other, 0.0)
            if shapes.kind[t] != PLANE and not _boxes_meet(boxes.aabb, s, t, grow):
                continue
            a, b, j = min(s, t), max(s, t), shapes.body[t]
            if has_mesh_toi(shapes, a, b):  # as far as was looked at
                # What overlaps is pushed out, by the way that its contacts know.
                if _overlaps(a, b, state, work.near, int(work.log.info[INFO_NEAR])):
                    continue
                share = max(0.0, 1.0 - beyond / (beyond + boxes.reach[s]))
            else:
                skin = settings.skin * min(shapes.radius[a], shapes.radius[b])
                thin = min(shapes.thickness[a], shapes.thickness[b])
                gap, _, _, _ = _gap_at(0.0, a, b, thin, shapes, outlines, state, motion, ccd, dt)
                touching = DEEP_FREE if settings.ccd == FREE else DEEP
                deep = DEEP_UNSEEN if gap > OVERRUN * thin else touching
                share, given_up = _time_of_impact(
                    a, b, skin, deep, shapes, outlines, state, motion, ccd, dt
                )
                work.log.info[INFO_GIVEN_UP] += 1 if given_up else 0
            if share < 1.0:
                _stop(i, j, share, fraction, bodies.kind, state.position, motion.move, ccd)
                _stop(j, i, share, fraction, bodies.kind, state.position, motion.move, ccd)
                stopped += 1
    return stopped


@kernel
def _flies(b, motion, impacts):
    """Whether nothing touched a body in this step."""
    free = motion.scheme[b] == MIDPOINT and not (impacts > 0 and motion.impact_time[b] >= 0.0)
    for k in range(6):
        free = free and motion.twist[b, k] == motion.free[b, k]
    return free


@kernel
def _shorten(b, old, motion, impacts, share, settings):
    """Let body `b` move this share of its displacement only.

    It would else gain the energy of a fall that it has not done. So a body in flight gets that
    share of its change of velocity, and one that falls among others loses what gravity gave it over
    the rest of the step.
    """
    twist = motion.twist
    for k in range(6):
        motion.move[b, k] *= share
    if _flies(b, motion, impacts):
        for k in range(3):
            twist[b, k] = old[b, k] + share * (twist[b, k] - old[b, k])
        return
    if settings.ccd == FREE:
        return  # verlet.py does it for both halves of the step
    g = (settings.gravity_x, settings.gravity_y, settings.gravity_z)
    size, fall = dot(g, g), dot(g, load(twist, b))
    if fall > 0.0:
        less = min((1.0 - share) * settings.dt, fall / size)
        for k in range(3):
            twist[b, k] -= less * g[k]


@inner_kernel
def some_fast(shapes, state, settings, work):
    """Whether any near pair may move so far that it needs CCD, or a shape has overrun its own."""
    near, reach, thickness = work.near, work.boxes.reach, shapes.thickness
    for k in range(int(work.log.info[INFO_NEAR])):
        a, b = state.pair[near.pair[k], 0], state.pair[near.pair[k], 1]
        if reach[a] + reach[b] > FAST * min(thickness[a], thickness[b]):
            return True
    for b in range(state.position.shape[0]):
        work.ccd.fraction[b] = 1.0
    for s in range(shapes.kind.shape[0]):
        if shapes.body[s] != FIXED and state.asleep[shapes.body[s]] == 0:
            _, unseen = _overrun(s, work.ccd.fraction, shapes, work.motion, work.boxes, settings.dt)
            if unseen > OVERRUN * shapes.radius[s]:
                return True
    return False


@inner_kernel
def stop_fast(shapes, outlines, bodies, joints, pairing, state, settings, work):
    """Shorten the displacements of bodies that would meet within this step to their TOI.

    Returns how many pairs did.
    """
    ccd, near, info = work.ccd, work.near, work.log.info
    n, total, near_count = state.position.shape[0], 0, int(work.log.info[INFO_NEAR])
    for b in range(n):
        ccd.fraction[b], ccd.changed[b] = 1.0, 0
    for k in range(near_count):
        near.given_up[k] = 0
    for number in range(PASSES):
        for b in range(n):
            ccd.changed_before[b], ccd.changed[b] = ccd.changed[b], 0
            ccd.fraction_before[b] = ccd.fraction[b]
        if outlines is None and has_meshes(shapes):
            find_mesh_tois(
                shapes, work.boxes, state, settings, work.motion, ccd.fraction,
                ccd.changed_before, near, near_count, number == 0,
            )  # fmt: skip
        stopped = _stop_pairs(shapes, outlines, bodies, state, settings, work, number == 0)
        stopped += _stop_overruns(shapes, outlines, bodies, pairing, state, settings, work)
        if stopped == 0:
            break
        total += stopped
        _hold_joined(joints, n, ccd.fraction, ccd.changed)
    for k in range(near_count):
        info[INFO_GIVEN_UP] += near.given_up[k]
    if total > 0:
        impacts = int(info[INFO_IMPACTS])
        for b in range(n):
            if ccd.fraction[b] < 1.0:
                _shorten(b, state.twist, work.motion, impacts, ccd.fraction[b], settings)
    return total


@stage
def stop_fast_solids(shapes, bodies, joints, pairing, state, settings, work):
    """The same in three dimensions, compiled once for all that call it."""
    return stop_fast(shapes, None, bodies, joints, pairing, state, settings, work)
