"""Closest points of two shapes, which may stand in different tables: GJK, over triangles.

A surface (mesh, terrain) is taken triangle by triangle, with those passed over whose AABB is
farther than the best so far. Convex shapes that overlap have a penetration depth, found as in
narrowphase/convex.py by moving one along the present direction until GJK confirms it. Surfaces that
overlap have distance 0.
"""

from math import inf, sqrt
from typing import NamedTuple

import numpy as np

from drystone.collision.narrowphase.gjk import (
    CLOSE,
    OF_A,
    ROUNDING,
    SIMPLEX,
    is_known,
    reduce_simplex,
    weighted_point,
)
from drystone.collision.queries.ray_surfaces import STACK, ray_surface
from drystone.jit import inner_kernel, kernel
from drystone.jit.table import table
from drystone.jit.vec import (
    dot,
    load,
    mad,
    norm,
    normalize,
    pose_axis_z,
    pose_position,
    scale,
    store,
    sub,
    to_local,
    to_local_direction,
    to_world,
    to_world_direction,
)
from drystone.model.arrays import MESH, PLANE, TERRAIN, Shapes
from drystone.shapes.kinds import core_support, is_polytope, rounding_radius

MAX_ITERATIONS = 128  # of GJK, as in narrowphase/gjk.py
MAX_MOVES = 32  # of the search for the penetration depth; three or four are usual
# Cores nearer than the first part of their size are moved apart by the second before GJK runs, as
# in narrowphase/convex.py.
NEAR, BROUGHT = 1e-7, 1e-3
SAME = 1e-22  # two directions differing by less than this [rad, squared] are the same


@table
class Side(NamedTuple):
    """One of two shapes: its row in a table and the poses of that table."""

    shapes: Shapes
    pose: np.ndarray  # (ns, 12)


@inner_kernel
def is_surface(shapes, s):
    return shapes.kind[s] == MESH or shapes.kind[s] == TERRAIN


@kernel
def _corner(shapes, s, row, i):
    """Corner `i` of triangle `row` of a surface, in its axes."""
    return load(shapes.terrain_vertex, shapes.terrain[shapes.table[s], 0] + shapes.triangle[row, i])


@kernel
def _support(side, s, row, d):
    """Point farthest along `d` of the core of a convex shape (row -1) or of a triangle, world
    axes, relative to the shape's position."""
    if row < 0:
        return core_support(side.shapes, side.pose, s, d)
    q = to_local_direction(side.pose, s, d)
    best, far = _corner(side.shapes, s, row, 0), -inf
    for i in range(3):
        v = _corner(side.shapes, s, row, i)
        if dot(v, q) > far:
            best, far = v, dot(v, q)
    return to_world_direction(side.pose, s, best)


@kernel
def _gjk(side_a, a, row_a, side_b, b, row_b, offset, guess, scratch):
    """Distance of two cores, direction from A to B, closest points relative to A; as
    narrowphase/gjk.py has it, for shapes of two tables and for triangles."""
    v, count, vv, largest = scale(guess, -1.0), 0, inf, 0.0
    pa = (0.0, 0.0, 0.0)
    for _ in range(MAX_ITERATIONS):
        sa = _support(side_a, a, row_a, (-v[0], -v[1], -v[2]))
        sb = _support(side_b, b, row_b, v)
        w = sub(sub(sa, sb), offset)
        largest = max(largest, dot(w, w))
        if count > 0:
            tolerance = CLOSE * vv + ROUNDING * sqrt(largest * vv)
            if vv - dot(v, w) <= tolerance or is_known(scratch, count, w):
                break
        store(scratch, SIMPLEX + count, w)
        store(scratch, OF_A + count, sa)
        kept = 1
        if count == 0:
            scratch[SIMPLEX, 3] = 1.0
        else:
            kept = reduce_simplex(scratch, count + 1)
        new = weighted_point(scratch, SIMPLEX, kept)
        new_vv = dot(new, new)
        if count > 0 and new_vv >= vv:
            break
        v, vv, count = new, new_vv, kept
        pa = weighted_point(scratch, OF_A, count)
        if count == 4 or vv <= ROUNDING * ROUNDING * largest:
            return 0.0, guess, pa, sub(pa, v)
    length = sqrt(vv)
    return length, (-v[0] / length, -v[1] / length, -v[2] / length), pa, sub(pa, v)


@kernel
def _separation(side_a, a, side_b, b, offset, n):
    """Gap of the cores along `n`, from A to B."""
    pa = _support(side_a, a, -1, n)
    pb = _support(side_b, b, -1, (-n[0], -n[1], -n[2]))
    return dot(n, offset) + dot(n, pb) - dot(n, pa)


@kernel
def _try_normals(side, s, sign, side_a, a, side_b, b, offset, best, gap):
    """Better of `best` and the face normals or axes of shape `s`."""
    shapes, pose = side.shapes, side.pose
    if is_polytope(shapes, s):
        first, count = shapes.polytope[shapes.table[s], 2], shapes.polytope[shapes.table[s], 3]
        for f in range(first, first + count):
            n = scale(to_world_direction(pose, s, load(shapes.face_plane, f)), sign)
            found = _separation(side_a, a, side_b, b, offset, n)
            if found > gap:
                best, gap = n, found
        return best, gap
    u = pose_axis_z(pose, s)
    across = normalize(mad(offset, u, -dot(offset, u)))
    for k in range(3):
        n = u if k == 0 else (scale(u, -1.0) if k == 1 else across)
        found = _separation(side_a, a, side_b, b, offset, n)
        if found > gap:
            best, gap = n, found
    return best, gap


@kernel
def _depth(side_a, a, side_b, b, offset, reach, scratch):
    """Direction from A to B of least overlap of two cores that touch, and the gap along it."""
    n = normalize(offset)
    gap = _separation(side_a, a, side_b, b, offset, n)
    n, gap = _try_normals(side_a, a, 1.0, side_a, a, side_b, b, offset, n, gap)
    n, gap = _try_normals(side_b, b, -1.0, side_a, a, side_b, b, offset, n, gap)
    for _ in range(MAX_MOVES):
        move = BROUGHT * reach - gap
        _, m, _, _ = _gjk(side_a, a, -1, side_b, b, -1, mad(offset, n, move), n, scratch)
        gained = _separation(side_a, a, side_b, b, offset, m)
        change = sub(m, n)
        if gained <= gap:
            break
        n, gap = m, gained
        if dot(change, change) < SAME:
            break
    return n, gap


@kernel
def _convex_pair(side_a, a, side_b, b, scratch):
    """Gap (negative: penetration), closest points in world axes, normal from A to B."""
    pa, pb = pose_position(side_a.pose, a), pose_position(side_b.pose, b)
    offset = sub(pb, pa)
    reach = side_a.shapes.radius[a] + side_b.shapes.radius[b]
    ra, rb = rounding_radius(side_a.shapes, a), rounding_radius(side_b.shapes, b)
    guess = normalize(offset)
    gap, n, on_a, on_b = _gjk(side_a, a, -1, side_b, b, -1, offset, guess, scratch)
    if gap <= NEAR * reach:
        n, gap = _depth(side_a, a, side_b, b, offset, reach, scratch)
        move = max(BROUGHT * reach - gap, 0.0)
        _, _, on_a, on_b = _gjk(side_a, a, -1, side_b, b, -1, mad(offset, n, move), n, scratch)
        on_b = mad(on_b, n, -move)
    # Points relative to A; what the radii round off stands outwards.
    on_a, on_b = mad(on_a, n, ra), mad(on_b, n, -rb)
    return gap - ra - rb, mad(pa, on_a, 1.0), mad(pa, on_b, 1.0), n


@kernel
def _plane_pair(side_p, p, side_b, b):
    """Gap of plane `p` and any shape, points on both, normal of the plane."""
    n = pose_axis_z(side_p.pose, p)
    shapes, at = side_b.shapes, pose_position(side_b.pose, b)
    down = scale(n, -1.0)
    if is_surface(shapes, b):
        k = shapes.table[b]
        q, far, lowest = to_local_direction(side_b.pose, b, down), -inf, (0.0, 0.0, 0.0)
        for row in range(shapes.terrain[k, 1], shapes.terrain[k, 1] + shapes.terrain[k, 2]):
            for i in range(3):
                v = _corner(shapes, b, row, i)
                if dot(v, q) > far:
                    far, lowest = dot(v, q), v
        point = to_world(side_b.pose, b, lowest)
    else:
        low = core_support(shapes, side_b.pose, b, down)
        point = mad(mad(at, low, 1.0), n, -rounding_radius(shapes, b))
    gap = dot(n, sub(point, pose_position(side_p.pose, p)))
    return gap, mad(point, n, -gap), point, n


@kernel
def _row_apart(shapes, s, row, centre, radius):
    """At least so far is triangle `row` from a sphere, in the axes of the surface."""
    u, v, w = _corner(shapes, s, row, 0), _corner(shapes, s, row, 1), _corner(shapes, s, row, 2)
    squares = 0.0
    for k in range(3):
        low, high = min(u[k], v[k], w[k]), max(u[k], v[k], w[k])
        aside = max(low - centre[k], centre[k] - high, 0.0)
        squares += aside * aside
    return sqrt(squares) - radius


@kernel
def _over_rows(side_s, s, side_b, b, row_b, centre, radius, start, rounding, scratch):
    """Nearest triangle of surface `s` to a convex shape or triangle within a sphere (world axes).

    `start` is a distance to beat, as (gap, point on s, point on the other, normal).
    """
    shapes, k = side_s.shapes, side_s.shapes.table[s]
    offset = sub(pose_position(side_b.pose, b), pose_position(side_s.pose, s))
    local, best = to_local(side_s.pose, s, centre), start
    here = pose_position(side_s.pose, s)
    for row in range(shapes.terrain[k, 1], shapes.terrain[k, 1] + shapes.terrain[k, 2]):
        if _row_apart(shapes, s, row, local, radius) >= best[0]:
            continue
        guess = to_world_direction(side_s.pose, s, load(shapes.triangle_normal, row))
        gap, n, on_s, on_b = _gjk(side_s, s, row, side_b, b, row_b, offset, guess, scratch)
        if gap - rounding < best[0]:
            point_b = mad(mad(here, on_b, 1.0), n, -rounding)
            best = max(gap - rounding, 0.0), mad(here, on_s, 1.0), point_b, n
    return best


@kernel
def _surface_pair(side_s, s, side_b, b, start, scratch, stack):
    """Surface `s` and a convex shape or another surface."""
    best, other = start, side_b.shapes
    if not is_surface(other, b):
        centre, radius = pose_position(side_b.pose, b), other.radius[b]
        rounding = rounding_radius(other, b)
        best = _over_rows(side_s, s, side_b, b, -1, centre, radius, best, rounding, scratch)
        point = mad(centre, core_support(other, side_b.pose, b, (0.0, 0.0, 1.0)), 1.0)
        if best[0] > 0.0 and _is_inside(side_s, s, point, stack):
            best = 0.0, point, point, (0.0, 0.0, 1.0)
        return best
    k = other.table[b]
    middle = pose_position(side_s.pose, s)
    far = side_s.shapes.radius[s]
    for row in range(other.terrain[k, 1], other.terrain[k, 1] + other.terrain[k, 2]):
        if _row_apart(other, b, row, to_local(side_b.pose, b, middle), far) >= best[0]:
            continue
        u = to_world(side_b.pose, b, _corner(other, b, row, 0))
        v = to_world(side_b.pose, b, _corner(other, b, row, 1))
        w = to_world(side_b.pose, b, _corner(other, b, row, 2))
        centre = scale(mad(mad(u, v, 1.0), w, 1.0), 1.0 / 3.0)
        radius = max(norm(sub(u, centre)), norm(sub(v, centre)), norm(sub(w, centre)))
        best = _over_rows(side_s, s, side_b, b, row, centre, radius, best, 0.0, scratch)
    if best[0] > 0.0:
        point = to_world(side_b.pose, b, _corner(other, b, other.terrain[k, 1], 0))
        own = side_s.shapes.terrain[side_s.shapes.table[s], 1]
        mine = to_world(side_s.pose, s, _corner(side_s.shapes, s, own, 0))
        if _is_inside(side_s, s, point, stack) or _is_inside(side_b, b, mine, stack):
            best = 0.0, point, point, (0.0, 0.0, 1.0)
    return best


@kernel
def _is_inside(side, s, point, stack):
    """Whether a world point is inside a mesh."""
    if side.shapes.kind[s] != MESH:
        return False
    t, _ = ray_surface(
        side.shapes, s, to_local(side.pose, s, point), (0.0, 0.0, 1.0), inf, stack, 0
    )
    return t == 0.0


@kernel(_nrt=True)
def closest_pair(side_a, a, side_b, b, start, out):
    """Gap of shape `a` of one table and `b` of another if it is less than `start`; else `start`.

    out   (9,) point on A, point on B, normal from A to B, in world axes
    """
    scratch, stack = np.empty((256, 4)), np.empty(STACK, np.int32)
    nothing = (0.0, 0.0, 0.0)
    best = (start, nothing, nothing, nothing)
    turned = False
    plane_a, plane_b = side_a.shapes.kind[a] == PLANE, side_b.shapes.kind[b] == PLANE
    if plane_a and plane_b:
        return start
    if plane_a or plane_b:
        turned = plane_b
        found = _plane_pair(side_b, b, side_a, a) if turned else _plane_pair(side_a, a, side_b, b)
    elif is_surface(side_a.shapes, a):
        found = _surface_pair(side_a, a, side_b, b, best, scratch, stack)
    elif is_surface(side_b.shapes, b):
        turned = True
        found = _surface_pair(side_b, b, side_a, a, best, scratch, stack)
    else:
        found = _convex_pair(side_a, a, side_b, b, scratch)
    if not found[0] < start:
        return start
    on_a, on_b = (found[2], found[1]) if turned else (found[1], found[2])
    n = scale(found[3], -1.0) if turned else found[3]
    for k in range(3):
        out[k], out[3 + k], out[6 + k] = on_a[k], on_b[k], n[k]
    return found[0]


@kernel
def nearest_of(side_a, side_b, rows_b, far, mask, distance, out):
    """Of each shape `rows_b` of B: its distance to the nearest shape of A, if less than `far`.

    Shapes whose bounding spheres are farther than that are passed over.
    """
    for i in range(rows_b.shape[0]):
        b = rows_b[i]
        distance[i] = far
        if side_b.shapes.group[b] & mask == 0:
            continue
        for a in range(side_a.shapes.kind.shape[0]):
            apart = norm(sub(pose_position(side_b.pose, b), pose_position(side_a.pose, a)))
            if apart - side_a.shapes.radius[a] - side_b.shapes.radius[b] < distance[i]:
                distance[i] = closest_pair(side_a, a, side_b, b, distance[i], out[i])
