"""Contact points and contact normal of two bodies that overlap (PENALTY App. I, III A).

Vertices of each that are inside the other, by its distance field, are the points of contact. The
deepest of them says which body penetrates. The normal is that of the facet of the other one for
which the deepest point is least deep (4); only facets that reach into the body that penetrates are
considered. Forces act on the bottom of the intersection alone: see
bottom.py.

Where the source asks which triangles intersect, we ask the distance field whether the ball about a
triangle reaches into the other body: at worst a facet is considered that only nearly touches it.
"""

from math import inf

from drystone.collision.penetration.bottom import keep_bottom
from drystone.jit import inner_kernel, kernel
from drystone.jit.vec import (
    dot,
    load,
    mad,
    norm,
    sub,
    to_local,
    to_local_direction,
    to_world,
    to_world_direction,
)
from drystone.shapes.sdf.octree import interpolated_distance

# The body with fewer points inside the other one penetrates only if its deepest is deeper by this:
# else rounding would choose where two faces lie on each other.
DEEPER = 1.1
# A face of the body that penetrates is flat on the contact plane if its normal is opposite to the
# plane's up to this cosine, ten degrees. Then corners of the other body bear on it too.
FACING = 0.985


@kernel
def _distance(tables, s, x):
    """Signed distance of the point x, in the axes of shape `s`, and its error."""
    k = tables.mesh[s]
    if k < 0:
        return x[2], 0.0
    return interpolated_distance(tables, k, x)


@kernel
def _collect(tables, s, t, pose, radius, first, work):
    """Vertices of shape `s` inside shape `t`, into rows `first` ...; the row after the last."""
    k, count = tables.mesh[s], first
    if k < 0:
        return count
    for v in range(tables.vertex_first[k], tables.vertex_first[k + 1]):
        x = to_world(pose, s, load(tables.vertex, v))
        y = to_local(pose, t, x)
        if dot(y, y) > radius[t] * radius[t]:
            continue
        distance, error = _distance(tables, t, y)
        if distance < error:
            work.point[count, 0], work.point[count, 1], work.point[count, 2] = x
            work.depth[count] = -distance
            count += 1
    return count


@kernel
def _mark(tables, s, t, side, pose, work):
    """Mark, in row `side`, the facets of shape `t` that reach into shape `s`."""
    k, some = tables.mesh[t], False
    if k < 0:
        return
    for p in range(tables.plane_first[k], tables.plane_first[k + 1]):
        work.marked[side, p] = 0
    for i in range(tables.triangle_first[k], tables.triangle_first[k + 1]):
        if work.marked[side, tables.triangle_plane[i]] == 1:
            continue
        ball = tables.triangle_ball
        x = to_local(pose, s, to_world(pose, t, (ball[i, 0], ball[i, 1], ball[i, 2])))
        distance, error = _distance(tables, s, x)
        if distance < ball[i, 3] + error:
            work.marked[side, tables.triangle_plane[i]] = 1
            some = True
    if not some:  # all of `s` is deep inside: any way out will do
        for p in range(tables.plane_first[k], tables.plane_first[k + 1]):
            work.marked[side, p] = 1


@kernel
def _nearest_facet(tables, t, side, pose, first, last, work):
    """The facet of `t` by equation (4) for points first..last, and how deep the deepest is."""
    k = tables.mesh[t]
    if k < 0:
        deepest = 0.0
        for c in range(first, last):
            deepest = max(deepest, -to_local(pose, t, load(work.point, c))[2])
        return -1, deepest
    best, found = inf, -1
    for p in range(tables.plane_first[k], tables.plane_first[k + 1]):
        if work.marked[side, p] == 0:
            continue
        plane, worst = tables.plane, 0.0
        normal = (plane[p, 0], plane[p, 1], plane[p, 2])
        for c in range(first, last):
            away = plane[p, 3] - dot(normal, to_local(pose, t, load(work.point, c)))
            worst = max(worst, abs(away))
            if worst >= best:
                break
        if worst < best:
            best, found = worst, p
    return found, best


@kernel
def _world_plane(tables, t, facet, pose):
    """Unit normal and offset, in world axes, of a facet of shape `t`; -1: of a plane."""
    normal, offset = (0.0, 0.0, 1.0), 0.0
    if facet >= 0:
        plane = tables.plane
        normal, offset = (plane[facet, 0], plane[facet, 1], plane[facet, 2]), plane[facet, 3]
    n = to_world_direction(pose, t, normal)
    return n, offset + dot(n, (pose[t, 0], pose[t, 1], pose[t, 2]))


@kernel
def _depths(n, offset, first, last, work):
    """Depth of points below the plane; those above it are dropped. The row after the last."""
    count = first
    for c in range(first, last):
        x = load(work.point, c)
        depth = offset - dot(n, x)
        if depth > 0.0:
            work.point[count, 0], work.point[count, 1], work.point[count, 2] = x
            work.depth[count] = depth
            count += 1
    return count


@kernel
def _add_facing(tables, s, t, side, pose, radius, n, count, work):
    """Points of `s`, which penetrates `t`, under the vertices of `t` inside it, where their faces
    lie flat on each other: moved along the normal to the face of `s`. The row after the last."""
    k = tables.mesh[s]
    last = _collect(tables, t, s, pose, radius, count, work)
    if k < 0:
        return count
    outward = to_local_direction(pose, s, n)
    for c in range(count, last):
        x = load(work.point, c)
        y, depth = to_local(pose, s, x), inf
        for p in range(tables.plane_first[k], tables.plane_first[k + 1]):
            plane = tables.plane
            normal = (plane[p, 0], plane[p, 1], plane[p, 2])
            along = -dot(normal, outward)
            if work.marked[side, p] == 1 and along > FACING:
                depth = min(depth, (plane[p, 3] - dot(normal, y)) / along)
        if 0.0 < depth < inf:
            x = mad(x, n, -depth)
            work.point[count, 0], work.point[count, 1], work.point[count, 2] = x
            work.depth[count] = depth
            count += 1
    return count


@kernel
def _deepest(first, last, work):
    depth = 0.0
    for c in range(first, last):
        depth = max(depth, work.depth[c])
    return depth


@kernel
def _move_rows(first, last, work):
    """Points first..last to the front; their number."""
    for c in range(first, last):
        for k in range(3):
            work.point[c - first, k] = work.point[c, k]
    return last - first


@inner_kernel
def penetrating_points(tables, s, t, pose, radius, most, work, slot, first):
    """Slots (point, normal from s to t, gap) of two shapes from row `first`, at most `most`.

    Returns their number, and whose facet the contact plane is: 0 of s, 1 of t.
    """
    if norm(sub(load(pose, s), load(pose, t))) > radius[s] + radius[t]:
        return 0, 0
    of_s = _collect(tables, s, t, pose, radius, 0, work)
    both = _collect(tables, t, s, pose, radius, of_s, work)
    of_t = both - of_s
    if both == 0:
        return 0, 0
    _mark(tables, t, s, 0, pose, work)
    _mark(tables, s, t, 1, pose, work)
    share = DEEPER if of_s >= of_t else 1.0 / DEEPER
    if of_s == 0 or (of_t > 0 and _deepest(of_s, both, work) > share * _deepest(0, of_s, work)):
        facet_s, _ = _nearest_facet(tables, s, 0, pose, of_s, both, work)
        n, offset = _world_plane(tables, s, facet_s, pose)
        count = _depths(n, offset, 0, _move_rows(of_s, both, work), work)
        if of_s > 0:
            count = _add_facing(tables, t, s, 1, pose, radius, n, count, work)
        return keep_bottom(n, count, most, 1.0, work, slot, first), 0
    facet_t, _ = _nearest_facet(tables, t, 1, pose, 0, of_s, work)
    n, offset = _world_plane(tables, t, facet_t, pose)
    count = _depths(n, offset, 0, of_s, work)
    if of_t > 0:
        count = _add_facing(tables, s, t, 0, pose, radius, n, count, work)
    return keep_bottom(n, count, most, -1.0, work, slot, first), 1
