"""Convex shapes on a terrain of one-sided triangles, without internal-edge (ghost) contacts.

Three kinds of contact, none of which is made where the ground is flat or hollow but by the first:
corners of the shape over a triangle, with the triangle's normal; ridges (edges whose triangles
fall away from each other, and the border) against the shape; peaks (vertices at a ridge)
against the shape. A flat ground in any triangulation therefore is a plane.

Inside, directions are world axes and points are relative to the position of the shape.
"""

from math import sqrt

from numba import int64

from drystone.collision.narrowphase.candidates import add_candidate, write_candidates
from drystone.collision.narrowphase.plane import BAND
from drystone.collision.narrowphase.terrain.edges import find_peak_contact, find_ridge_contacts
from drystone.collision.narrowphase.terrain.grid import cell_range
from drystone.collision.narrowphase.terrain.point import (
    HOLLOW_REACH,
    NOT_OVER,
    column_triangle,
    is_hidden,
    is_over,
    signed_distance,
    triangle_corner,
    triangles_at,
)
from drystone.collision.narrowphase.terrain.query import OUTER, begin_query, next_triangle
from drystone.jit import kernel
from drystone.jit.stage import stage
from drystone.jit.vec import (
    add,
    cross,
    dot,
    load,
    mad,
    pose_position,
    relative_pose,
    scale,
    sub,
    to_local,
    to_local_direction,
    to_world_direction,
)
from drystone.model.arrays import BOX, MESH
from drystone.shapes.bvh.build import FLAT_BEND, OWNS_CORNER, OWNS_EDGE
from drystone.shapes.kinds import (
    core_support,
    half_sizes,
    resting_count,
    resting_point,
    rounding_radius,
)

# How deep a ridge or peak may be in the shape and still push it out, as a part of its radius.
DEPTH = 0.25
# Deeper than this part of the radius it is tested whether a corner is under the ground at all, or
# in front of a nearer ridge and behind a hill.
SHALLOW = 0.01
# A shape all under the ground is pushed out if that is no deeper than this many radii.
SUNK = 3.0
# Corners this far outside a triangle, as a part of the shape's radius, count as above it, so
# that none falls into the crack between two triangles.
CRACK = 1e-9
# Contacts of a shape with a terrain, with a mesh.
MOST_ON_TERRAIN, MOST_ON_MESH = 16, 11
# Contacts nearer than this part of the shape's radius are one.
TWIN = 1e-4


@kernel
def _leads_out(shapes, pose, a, t, row, n, x, height, scratch):
    """Whether a corner x of the shape behind the triangle in `row` came in through it.

    The corner is at this height under the triangle, whose normal is `n`. A mesh has an inside, so
    there the nearest point of its surface tells: a triangle holds the corner if that point does
    not lie behind it. It lies in front of the other side of a hollow, and behind all other
    sides of a ridge or a wall.
    """
    on_mesh, radius, origin = shapes.kind[t] == MESH, shapes.radius[a], pose_position(pose, a)
    if on_mesh:
        if height > -CRACK * radius:
            return True
        reach = -HOLLOW_REACH * height + CRACK * radius
    else:
        reach = -HOLLOW_REACH * height + CRACK * radius
        found = triangles_at(shapes, pose, t, x, origin, reach, CRACK * radius, scratch)
        if is_hidden(scratch, found, row, CRACK * radius):
            return False
        if height > -SHALLOW * radius:
            return True
        reach = -height
    distance, to_ground = signed_distance(shapes, pose, t, x, origin, reach, scratch)
    if on_mesh and (distance > 0.0 or dot(n, to_ground) + height < -CRACK * radius):
        return False
    return HOLLOW_REACH * distance <= height  # nothing else is much nearer


@kernel
def _is_outside(size, pose, t, x):
    """Whether a point is outside of the box that holds mesh `t`."""
    p = to_local(pose, t, x)
    return abs(p[0]) > size[t, 0] or abs(p[1]) > size[t, 1] or abs(p[2]) > size[t, 2]


@kernel
def _add_face(
    # in: shape a, triangle `row` of terrain t, its corners and normal, lowest point of the shape
    shapes, pose, a, t, row, corners, n, low, rounding, margin,
    # in and out
    scratch, count,
):  # fmt: skip
    """Add the contacts of all corners of the shape with one triangle; the new count."""
    radius, origin, q = shapes.radius[a], pose_position(pose, a), to_local_direction(pose, a, n)
    base, on_mesh = dot(n, corners[0]), shapes.kind[t] == MESH
    limit = margin + rounding
    if shapes.kind[a] >= BOX:
        limit = min(limit, dot(n, low) - base + BAND * radius)
    for i in range(resting_count(shapes, a, q)):
        p = resting_point(shapes, a, q, i)
        height = dot(q, p) - base
        if height >= limit:
            continue
        x = to_world_direction(pose, a, p)
        if height < 0.0 and on_mesh and _is_outside(shapes.size, pose, t, add(origin, x)):
            continue
        if is_over(shapes, pose, t, row, corners, n, x, height, CRACK * radius) == NOT_OVER:
            continue
        if height >= 0.0 or _leads_out(shapes, pose, a, t, row, n, x, height, scratch):
            foot = mad(x, n, -height)
            gap = height - rounding
            count = add_candidate(scratch, count, foot, n, gap, float(i), TWIN * radius)
    return count


@kernel
def _core_aabb(shapes, pose, a, t, grow):
    """Lower and upper corner, in the axes of frame `t`, of the core grown by `grow` [m]."""
    local = to_local(pose, t, pose_position(pose, a))
    lower, upper = local, local
    for k in range(3):
        d = (pose[t, 3 + k], pose[t, 6 + k], pose[t, 9 + k])
        low = dot(d, core_support(shapes, pose, a, scale(d, -1.0)))
        high = dot(d, core_support(shapes, pose, a, d))
        e = (1.0 if k == 0 else 0.0, 1.0 if k == 1 else 0.0, 1.0 if k == 2 else 0.0)
        lower, upper = mad(lower, e, low - grow), mad(upper, e, high + grow)
    return lower, upper


@kernel
def _is_near(p, q, reach):
    """Whether segment pq comes within `reach` of the shape's origin."""
    e = sub(q, p)
    s = min(max(-dot(p, e) / dot(e, e), 0.0), 1.0)
    x = mad(p, e, s)
    return dot(x, x) < reach * reach


@kernel
def _is_beyond(pose, a, half, p, q, r):
    """Whether three points lie all beyond the same side of the shape's box, half sizes `half`."""
    p, q, r = (
        to_local_direction(pose, a, p), to_local_direction(pose, a, q),
        to_local_direction(pose, a, r),
    )  # fmt: skip
    for k in range(3):
        if min(p[k], q[k], r[k]) > half[k] or max(p[k], q[k], r[k]) < -half[k]:
            return True
    return False


@kernel
def _add_ridges(
    # in: shape a, triangle `row` of terrain t, its corners and normal, half sizes of the box of the
    # shape with its margin
    shapes, pose, a, t, row, corners, n1, rounding, margin, half,
    # in and out
    scratch, count,
):  # fmt: skip
    """Add the contacts with the ridges and peaks of one triangle; the new count."""
    c0, c1, c2 = corners
    radius, base_t = shapes.radius[a], shapes.terrain[shapes.table[t], 1]
    depth, near = max(rounding, DEPTH * radius), radius + margin
    on_mesh = shapes.kind[t] == MESH
    for i in range(3):
        e0, e1 = (c0, c1) if i == 0 else ((c1, c2) if i == 1 else (c2, c0))
        if not _is_near(e0, e1, near):
            continue
        # On a mesh one triangle stands for all around a ridge or peak.
        mine = shapes.owns[row] >> i & (OWNS_CORNER | OWNS_EDGE) if on_mesh else 0
        if on_mesh and (mine == 0 or _is_beyond(pose, a, half, e0, e1, e1)):
            continue
        other = shapes.neighbour[row, i]
        e = sub(e1, e0)
        length = sqrt(dot(e, e))
        if other < 0:  # the border: all that leans outwards, up to the triangle's own plane
            n2, bend = scale(cross(e, n1), 1.0 / length), 1.0
        else:
            n2 = to_world_direction(pose, t, load(shapes.triangle_normal, base_t + other))
            bend = dot(cross(n1, n2), e) / length
        if bend <= FLAT_BEND and not on_mesh:
            continue
        # A ridge is seen from both sides, and one of them runs along it away from the peak.
        if dot(e0, e0) < near * near and (not on_mesh or mine & OWNS_CORNER):
            count = find_peak_contact(
                shapes, pose, a, t, row - base_t, i, e0, margin, depth, TWIN * radius,
                scratch, count,
            )  # fmt: skip
        if mine & OWNS_EDGE or not on_mesh and (other < 0 or other > row - base_t):
            count = find_ridge_contacts(
                shapes, pose, a, (e0, e1, n1, n2), rounding, margin, depth, TWIN * radius, on_mesh,
                scratch, count,
            )  # fmt: skip
    return count


@kernel
def _is_buried(shapes, pose, a, t, scratch):
    """Whether the shape's origin is under ground, and not too deep to be pushed out.

    Under the triangle of a terrain straight above or below it; in a mesh the nearest one decides.
    """
    if shapes.kind[t] == MESH:
        reach, here = SUNK * shapes.radius[a], pose_position(pose, a)
        depth, _ = signed_distance(shapes, pose, t, (0.0, 0.0, 0.0), here, reach, scratch)
        return depth < 0.0 and depth > -reach
    local = to_local(pose, t, pose_position(pose, a))
    row = column_triangle(shapes, shapes.table[t], local)
    if row < 0:
        return False
    corner = shapes.terrain[shapes.table[t], 0] + shapes.triangle[row, 0]
    n = load(shapes.triangle_normal, row)
    height = dot(n, sub(local, load(shapes.terrain_vertex, corner)))
    return height < 0.0 and height > -SUNK * shapes.radius[a]


@kernel
def _add_all(shapes, pose, a, t, rounding, margin, grow, ridges, scratch):
    """Find the contacts with all triangles whose AABB meets the shape's, grown; their number."""
    origin, on_mesh = pose_position(pose, a), shapes.kind[t] == MESH
    lower, upper = _core_aabb(shapes, pose, a, t, grow)
    span = cell_range(shapes, shapes.table[t], lower, upper)
    half = add(half_sizes(shapes, a), (grow, grow, grow))
    rotation, position = relative_pose(pose, a, t)
    cell, entry, row, count = begin_query(shapes, t, scratch, OUTER), 0, 0, 0
    while row >= 0:
        row, cell, entry = next_triangle(
            shapes, t, lower, upper, span, (rotation, position, half), cell, entry, scratch, OUTER
        )
        if row < 0:
            break
        n = to_world_direction(pose, t, load(shapes.triangle_normal, row))
        c0 = triangle_corner(shapes, pose, t, row, 0, origin)
        low = core_support(shapes, pose, a, scale(n, -1.0))
        if dot(n, sub(low, c0)) - rounding >= margin:
            continue  # the plane of the triangle separates
        c1 = triangle_corner(shapes, pose, t, row, 1, origin)
        c2 = triangle_corner(shapes, pose, t, row, 2, origin)
        if on_mesh and _is_beyond(pose, a, half, c0, c1, c2):
            continue
        corners = (c0, c1, c2)
        count = _add_face(
            shapes, pose, a, t, row, corners, n, low, rounding, margin, scratch, count
        )
        if ridges:
            count = _add_ridges(
                shapes, pose, a, t, row, corners, n, rounding, margin, half, scratch, count
            )
    return count


# By its address, and only in worlds with terrain or meshes: a tenth of the engine otherwise.
@stage(result=int64)
def terrain_contacts(shapes, pose, a, t, margin, out, first, scratch):
    """The few contacts of the convex shape `a` with terrain or mesh `t`, from row `first`."""
    rounding = rounding_radius(shapes, a)
    grow, ridges = rounding + margin, True
    count = _add_all(shapes, pose, a, t, rounding, margin, grow, ridges, scratch)
    if count == 0 and _is_buried(shapes, pose, a, t, scratch):
        grow, ridges = SUNK * shapes.radius[a], False
        count = _add_all(shapes, pose, a, t, rounding, margin, grow, ridges, scratch)
    most = MOST_ON_MESH if shapes.kind[t] == MESH else MOST_ON_TERRAIN
    return write_candidates(scratch, count, pose_position(pose, a), most, out, first)
