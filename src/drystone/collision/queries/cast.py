"""Ray casts against all shapes of a world, through the BVH of shape_tree.py."""

from math import inf

import numpy as np
from numba import prange

from drystone.collision.queries.ray_shapes import misses_sphere, ray_convex
from drystone.collision.queries.ray_surfaces import STACK, ray_box, ray_surface
from drystone.jit import inner_kernel, kernel, parallel_kernel
from drystone.jit.vec import (
    load,
    pose_position,
    sub,
    to_local,
    to_local_direction,
    to_world_direction,
)
from drystone.model.arrays import MESH, TERRAIN

_CHUNK = 256  # rays per task
# Levels of the tree over shapes, at most 2**31 of them; then the stack of a mesh.
_LEVELS = 64


@inner_kernel
def ray_shape(shapes, pose, s, o, d, far, stack):
    """Ray in world axes against shape `s`: t and the normal in world axes."""
    if misses_sphere(sub(o, pose_position(pose, s)), d, shapes.radius[s]):
        return inf, d
    p, q = to_local(pose, s, o), to_local_direction(pose, s, d)
    if shapes.kind[s] == MESH or shapes.kind[s] == TERRAIN:
        t, n = ray_surface(shapes, s, p, q, far, stack, _LEVELS)
    else:
        t, n = ray_convex(shapes, s, p, q)
    return t, to_world_direction(pose, s, n)


@inner_kernel
def cast(shapes, tree, o, d, far, mask, skipped, stack, enter):
    """First shape that the ray meets within `far`, t and the normal; -1 and inf if none.

    Of equal distances the lower number wins, so that the answer does not depend on the tree.
    """
    best, normal, hit = far, (0.0, 0.0, 0.0), -1
    for k in range(tree.planes.shape[0]):
        s = tree.planes[k]
        if shapes.group[s] & mask != 0 and not skipped[s]:
            t, n = ray_shape(shapes, tree.pose, s, o, d, best, stack)
            if t < best or (t == best and t < inf and hit < 0):
                best, normal, hit = t, n, s
    inv = (1.0 / d[0], 1.0 / d[1], 1.0 / d[2])
    leaves, node, top = tree.order.shape[0], tree.node, 1
    stack[0], enter[0] = 0, ray_box(node, 0, o, inv, best)
    while top > 0:
        top -= 1
        i = stack[top]
        if not enter[top] <= best:
            continue
        if i >= leaves - 1:
            s = tree.order[i - leaves + 1]
            if s >= 0 and shapes.group[s] & mask != 0 and not skipped[s]:
                t, n = ray_shape(shapes, tree.pose, s, o, d, best, stack)
                if t < best or (t == best and t < inf and (hit < 0 or s < hit)):
                    best, normal, hit = t, n, s
            continue
        left, right = 2 * i + 1, 2 * i + 2
        near, away = ray_box(node, left, o, inv, best), ray_box(node, right, o, inv, best)
        if near > away:  # the nearer child is opened first
            left, right, near, away = right, left, away, near
        if away < inf:
            stack[top], enter[top] = right, away
            top += 1
        if near < inf:
            stack[top], enter[top] = left, near
            top += 1
    return hit, (best if hit >= 0 else inf), normal


@kernel(_nrt=True)
def _cast_range(lo, hi, shapes, tree, origin, direction, far, mask, skipped, hit, place):
    stack, enter = np.empty(_LEVELS + STACK, np.int32), np.empty(_LEVELS)
    for i in range(lo, hi):
        s, t, n = cast(
            shapes, tree, load(origin, i), load(direction, i), far[i], mask, skipped, stack, enter
        )
        hit[i], place[i, 0] = s, t
        place[i, 1], place[i, 2], place[i, 3] = n


@parallel_kernel
def _cast_parallel(
    chunks, count, shapes, tree, origin, direction, far, mask, skipped, hit, place
):  # fmt: skip
    for chunk in prange(chunks):
        lo = chunk * _CHUNK
        _cast_range(
            lo, min(lo + _CHUNK, count), shapes, tree, origin, direction, far, mask, skipped, hit,
            place,
        )  # fmt: skip


@kernel
def cast_rays(shapes, tree, origin, direction, far, mask, skipped, hit, place):
    """First shape (-1: none), and distance and normal, of every ray."""
    count = origin.shape[0]
    if count <= 2 * _CHUNK:
        _cast_range(0, count, shapes, tree, origin, direction, far, mask, skipped, hit, place)
    else:
        chunks = (count + _CHUNK - 1) // _CHUNK
        _cast_parallel(
            chunks, count, shapes, tree, origin, direction, far, mask, skipped, hit, place
        )
