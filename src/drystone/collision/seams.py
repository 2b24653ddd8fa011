"""Seams: contacts at inner edges between shapes that are laid edge to edge are left out.

What slides over a floor of boxes meets the side of the next box, which another one covers: the
narrow phase sees pairs of shapes, not the floor that they form. Such a contact would trip it, at
any step size. As on a terrain, an edge carries only where the ground falls away on both sides.

A contact of a moving shape with shape k is left out if another contact of it, with shape j of the
same ground, has a plane that the point lies in, if j reaches as far as that point, and if k does
not rise above that plane behind it: there is then nothing of k to run into. The base of a wall, a
step and a ramp rise, and keep their contacts. A ground is what no contact moves, fixed or
kinematic, or one body: the parts of a Compound.

It holds for planes, boxes, cylinders, hulls, terrains and meshes. The last two know their own inner
edges; those between two of them, and between one of them and a solid, are found here.
"""

from math import inf, sqrt

import numpy as np
from numba import float64

from drystone.collision.narrowphase.candidates import GROUP
from drystone.collision.narrowphase.terrain.point import signed_distance
from drystone.collision.narrowphase.terrain.query import STACK_ROWS
from drystone.jit import kernel
from drystone.jit.stage import stage
from drystone.jit.vec import dot, load, mad, scale, sub, to_local
from drystone.model.arrays import (
    BOX,
    CYLINDER,
    DYNAMIC,
    FIXED,
    HULL,
    MESH,
    PLANE,
    TERRAIN,
)

FLUSH_SKINS = 2.0  # shapes whose faces differ by no more than so many skins are level
PARALLEL = 1e-10  # 1 - cosine: normals that are the same, 0.001 degrees
NEAR_SHARE, FAR_SHARE = 0.02, 0.2  # of the smaller radius: where k is looked at behind its edge


@kernel
def _is_ground(s, shapes, kind):
    """Whether a shape may be one of several that form a ground."""
    if shapes.kind[s] not in (PLANE, BOX, CYLINDER, HULL, TERRAIN, MESH):
        return False
    b = shapes.body[s]
    if b == FIXED or kind[b] != DYNAMIC:
        return True
    alone = (s == 0 or shapes.body[s - 1] != b) and (
        s + 1 == shapes.body.shape[0] or shapes.body[s + 1] != b
    )
    return not alone


@kernel
def _moves(s, shapes, kind):
    return shapes.body[s] != FIXED and kind[shapes.body[s]] == DYNAMIC


@kernel
def _one_ground(s, t, shapes, kind):
    return shapes.body[s] == shapes.body[t] or not (
        _moves(s, shapes, kind) or _moves(t, shapes, kind)
    )


# By its address, and only in worlds with terrain or meshes, as their contacts.
@stage(result=float64, _nrt=True)
def surface_height(shapes, pose, s, x, reach):
    """Distance of point `x` from terrain or mesh `s` [m], below zero behind it; `reach` if nothing
    of it is that near."""
    scratch = np.empty((GROUP + 2 * STACK_ROWS, 4))
    distance, _ = signed_distance(shapes, pose, s, (0.0, 0.0, 0.0), x, reach, scratch)
    return distance if abs(distance) < reach else reach


@kernel
def _is_surface(shapes, s):
    return shapes.kind[s] == TERRAIN or shapes.kind[s] == MESH


@kernel
def _reaches(shapes, pose, s, x, flush):
    """Whether shape `s` is where point `x` is, which lies in the plane of a contact with it."""
    if _is_surface(shapes, s):
        return abs(surface_height(shapes, pose, s, x, 4.0 * flush)) <= flush
    return _height_over(shapes, pose, s, x, inf) <= flush


@kernel
def _height_over(shapes, pose, s, x, reach):
    """How far point `x` stands over that face of the shape that it is farthest over [m]; below
    zero inside. Along edges that is less than the distance. Terrains and meshes are looked for
    within `reach`."""
    if _is_surface(shapes, s):
        return surface_height(shapes, pose, s, x, reach)
    x = to_local(pose, s, x)
    kind = shapes.kind[s]
    if kind == PLANE:
        return x[2]
    if kind == CYLINDER:
        return max(
            sqrt(x[0] * x[0] + x[1] * x[1]) - shapes.size[s, 0], abs(x[2]) - shapes.size[s, 1]
        )
    if kind == BOX:
        size = load(shapes.size, s)
        return max(abs(x[0]) - size[0], abs(x[1]) - size[1], abs(x[2]) - size[2])
    highest, first = -inf, shapes.polytope[shapes.table[s], 2]
    for f in range(first, first + shapes.polytope[shapes.table[s], 3]):
        highest = max(highest, dot(load(shapes.face_plane, f), x) - shapes.face_plane[f, 3])
    return highest


@kernel
def _on_ground(slot, row, side):
    """Point of a contact on the ground, which is this side of its pair, and normal away from it."""
    sign = 1.0 if side == 0 else -1.0
    normal = (sign * slot[row, 3], sign * slot[row, 4], sign * slot[row, 5])
    return mad(load(slot, row), normal, -0.5 * slot[row, 6]), normal


@kernel
def _is_level(shapes, pose, k, point, normal, up, flush, size):
    """Whether shape `k` does not rise over the plane through `point` with the normal `up`, behind
    the side that it shows along `normal`."""
    along = mad(scale(up, dot(normal, up)), normal, -1.0)
    length = sqrt(dot(along, along))
    for share in (NEAR_SHARE, FAR_SHARE):
        x = mad(mad(point, along, share * size / length), up, 2.0 * flush)
        # Behind its side: nothing of k that is farther away than that can be it.
        if _height_over(shapes, pose, k, x, 2.0 * FAR_SHARE * size) < 0.5 * flush:
            return False
    return True


@kernel
def _is_covered(row, side, k, other, other_side, j, shapes, pose, near, flush, size):
    """Whether a contact with shape `k` is at a seam: below the plane of one with shape `j`."""
    slot = near.slot
    point, normal = _on_ground(slot, row, side)
    for other_row in range(near.slot_first[other], near.slot_first[other] + near.slot_count[other]):
        gap = slot[other_row, 6]
        if gap == inf:  # that is at a seam itself
            continue
        level, up = _on_ground(slot, other_row, other_side)
        height = dot(sub(point, level), up)
        if height > flush or height < -flush + 2.0 * min(gap, 0.0):
            continue
        if dot(normal, up) > 1.0 - PARALLEL or dot(normal, up) < PARALLEL - 1.0:
            continue
        point = mad(point, up, -height)
        if _reaches(shapes, pose, j, point, flush) and _is_level(
            shapes, pose, k, point, normal, up, flush, size
        ):
            return True
    return False


@kernel
def _mark_covered(entry, newest, shapes, kind, pose, pair, near, skin):
    """Give the contacts of one entry that are at seams with others an infinite gap; whether any."""
    k, side, some = entry // 2, entry % 2, False
    s, m = pair[near.pair[k], side], pair[near.pair[k], 1 - side]
    size = min(shapes.radius[m], shapes.radius[s])
    for row in range(near.slot_first[k], near.slot_first[k] + near.slot_count[k]):
        other = newest
        while other >= 0:
            t = pair[near.pair[other // 2], other % 2]
            if other != entry and _one_ground(s, t, shapes, kind):
                flush = FLUSH_SKINS * skin * min(size, shapes.radius[t])
                if _is_covered(
                    row, side, s, other // 2, other % 2, t, shapes, pose, near, flush, size
                ):
                    near.slot[row, 6], some = inf, True
                    break
            other = near.seam_next[other]
    return some


@kernel
def _close_ranks(k, near):
    """Move the contacts of a pair that are left to its first slots."""
    first, left = near.slot_first[k], near.slot_first[k]
    for row in range(first, first + near.slot_count[k]):
        if near.slot[row, 6] < inf:
            for column in range(7):
                near.slot[left, column] = near.slot[row, column]
            left += 1
    near.slot_count[k] = left - first


@stage
def leave_out_seams(shapes, kind, boxes, pair, near, near_count, skin):
    """Leave out the contacts at seams. Entries 2 k + side: the pair k with the ground that is on
    this side; those of a moving shape are a list."""
    newest, following, several = boxes.seam_last, near.seam_next, False
    for k in range(near_count):
        if near.slot_count[k] == 0:
            continue
        for side in range(2):
            s, m = pair[near.pair[k], side], pair[near.pair[k], 1 - side]
            if _moves(m, shapes, kind) and _is_ground(s, shapes, kind):
                following[2 * k + side] = newest[m] - 1
                several = several or newest[m] > 0
                newest[m] = 2 * k + side + 1
    for m in range(newest.shape[0]):
        entry, some = newest[m] - 1, False
        newest[m] = 0
        if not several or entry < 0 or following[entry] < 0:
            continue
        first = entry
        while entry >= 0:
            marked = _mark_covered(entry, first, shapes, kind, boxes.pose, pair, near, skin)
            some, entry = some or marked, following[entry]
        entry = first
        while some and entry >= 0:
            _close_ranks(entry // 2, near)
            entry = following[entry]
