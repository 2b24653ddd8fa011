"""Convex shapes on a terrain of one-sided triangles, without bumps at the edges between them.

Three kinds of contact, none of which is made where the ground is flat or hollow but by the first:
corners of the shape over a triangle, with the triangle's normal; ridges (edges whose triangles
fall away from each other, and the border) against the shape; peaks (vertices at a ridge)
against the shape. A flat ground in any triangulation therefore is a plane.

Inside, directions are world axes and points are relative to the position of the shape.
"""

from math import sqrt

from drystone.collision.narrowphase.candidates import add_candidate, write_candidates
from drystone.collision.narrowphase.gjk import core_support
from drystone.collision.narrowphase.plane import BAND, STANDING, UPRIGHT
from drystone.collision.narrowphase.terrain.edges import find_peak_contact, find_ridge_contacts
from drystone.collision.narrowphase.terrain.grid import cell_range
from drystone.collision.narrowphase.terrain.point import (
    HOLLOW_REACH,
    NOT_OVER,
    column_triangle,
    ground_point,
    is_hidden,
    is_over,
    signed_distance,
    triangles_at,
)
from drystone.collision.narrowphase.terrain.query import OUTER, begin_search, next_triangle
from drystone.jit import inner_kernel, kernel
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
from drystone.model.arrays import BOX, CAPSULE, CYLINDER, HULL, MESH
from drystone.shapes.bvh.build import FLAT_BEND, OWNS_CORNER, OWNS_EDGE

# How deep a ridge or peak may be in the shape and still push it out, as a part of its radius.
DEPTH = 0.25
# Deeper than this part of the radius it is asked whether a corner is under the ground at all, or
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
def _corner_count(kind, table, polytope, a, q):
    """Number of corners that may rest on a plane with local normal `q`."""
    if kind[a] == HULL:
        return polytope[table[a], 1]
    if kind[a] == CYLINDER:
        return 2 if abs(q[2]) < STANDING else 4
    return 8 if kind[a] == BOX else (2 if kind[a] == CAPSULE else 1)


@kernel
def _corner(kind, size, table, polytope, vertex, a, i, q):
    """Corner `i` of the core, in its own axes, that may rest on a plane with local normal `q`.

    A cylinder has two if it lies, the ends of its lowest line, and four rim points if it
    stands; as on a plane, so that flat ground and plane agree.
    """
    k = kind[a]
    if k == HULL:
        return load(vertex, polytope[table[a], 0] + i)
    if k == BOX:
        x = size[a, 0] if i & 1 else -size[a, 0]
        y = size[a, 1] if i & 2 else -size[a, 1]
        return x, y, size[a, 2] if i & 4 else -size[a, 2]
    if k == CAPSULE:
        return 0.0, 0.0, size[a, 1] if i == 0 else -size[a, 1]
    if k == CYLINDER:
        half = -size[a, 1] if q[2] > 0.0 else size[a, 1]
        tilt = sqrt(q[0] * q[0] + q[1] * q[1])
        x, y = size[a, 0], 0.0
        if tilt > UPRIGHT:
            x, y = -size[a, 0] * q[0] / tilt, -size[a, 0] * q[1] / tilt
        if abs(q[2]) < STANDING:
            return x, y, half if i == 0 else -half
        if i % 2 == 1:
            x, y = -y, x
        return x if i < 2 else -x, y if i < 2 else -y, half
    return 0.0, 0.0, 0.0


@kernel
def _is_way_out(
    # terrain
    on_mesh, pose, t, terrain, grid, k, ground, triangle, triangle_normal, neighbour,
    cell_first, cell_triangle, tree, node_box, node_link,
    # in: a corner at this height under the triangle in `row` with normal `n`
    x, origin, height, row, n, radius,
    # scratch
    scratch,
):  # fmt: skip
    """Whether a corner behind a triangle came in through it, not through another.

    A mesh has an inside, so there the nearest point of its surface tells: a triangle holds the
    corner if that point does not lie behind it. It lies in front of the other side of a
    hollow, and behind all other sides of a ridge or a wall.
    """
    if on_mesh:
        if height > -CRACK * radius:
            return True
        reach = -HOLLOW_REACH * height + CRACK * radius
    else:
        reach = -HOLLOW_REACH * height + CRACK * radius
        found = triangles_at(
            pose, t, terrain, grid, k, ground, triangle, triangle_normal, neighbour,
            cell_first, cell_triangle, x, origin, reach, CRACK * radius, scratch,
        )  # fmt: skip
        if is_hidden(scratch, found, row, CRACK * radius):
            return False
        if height > -SHALLOW * radius:
            return True
        reach = -height
    distance, way = signed_distance(
        on_mesh, pose, t, terrain, grid, k, ground, triangle, triangle_normal,
        cell_first, cell_triangle, tree, node_box, node_link, x, origin, reach, scratch,
    )  # fmt: skip
    if on_mesh and (distance > 0.0 or dot(n, way) + height < -CRACK * radius):
        return False
    return HOLLOW_REACH * distance <= height  # no way out is much shorter


@kernel
def _is_outside(size, pose, t, x):
    """Whether a point is outside of the box that holds mesh `t`."""
    p = to_local(pose, t, x)
    return abs(p[0]) > size[t, 0] or abs(p[1]) > size[t, 1] or abs(p[2]) > size[t, 2]


@kernel
def _add_face(
    # shapes
    kind, size, table, polytope, vertex, pose, a,
    # terrain
    t, terrain, grid, ground, triangle, triangle_normal, neighbour, cell_first, cell_triangle,
    tree, node_box, node_link,
    # in: triangle, its corners and normal, lowest point of the shape
    row, c0, c1, c2, n, low, rounding, margin, radius,
    # in and out
    scratch, count,
):  # fmt: skip
    """Add the contacts of all corners of the shape with one triangle; the new count."""
    origin, q = pose_position(pose, a), to_local_direction(pose, a, n)
    base = dot(n, c0)
    limit = margin + rounding
    if kind[a] >= BOX:
        limit = min(limit, dot(n, low) - base + BAND * radius)
    for i in range(_corner_count(kind, table, polytope, a, q)):
        p = _corner(kind, size, table, polytope, vertex, a, i, q)
        height = dot(q, p) - base
        if height >= limit:
            continue
        x = to_world_direction(pose, a, p)
        if height < 0.0 and kind[t] == MESH and _is_outside(size, pose, t, add(origin, x)):
            continue
        if is_over(
            x, c0, c1, c2, n, height, CRACK * radius,
            pose, t, triangle_normal, neighbour, row, terrain[table[t], 1],
        ) == NOT_OVER:  # fmt: skip
            continue
        if height >= 0.0 or _is_way_out(
            kind[t] == MESH, pose, t, terrain, grid, table[t], ground, triangle, triangle_normal,
            neighbour, cell_first, cell_triangle, tree, node_box, node_link,
            x, origin, height, row, n, radius, scratch,
        ):  # fmt: skip
            foot = mad(x, n, -height)
            gap = height - rounding
            count = add_candidate(scratch, count, foot, n, gap, float(i), TWIN * radius)
    return count


@kernel
def _shape_box(kind, size, table, polytope, vertex, pose, a, t, grow):
    """Lower and upper corner, in the axes of frame `t`, of the core grown by `grow` [m]."""
    local = to_local(pose, t, pose_position(pose, a))
    lower, upper = local, local
    for k in range(3):
        d = (pose[t, 3 + k], pose[t, 6 + k], pose[t, 9 + k])
        low = dot(d, core_support(kind, size, table, polytope, vertex, pose, a, scale(d, -1.0)))
        high = dot(d, core_support(kind, size, table, polytope, vertex, pose, a, d))
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
def _half_sizes(kind, size, radius, a):
    """Of a box in the axes of the shape that holds its core."""
    k = kind[a]
    if k == BOX:
        return size[a, 0], size[a, 1], size[a, 2]
    if k == HULL:
        return radius, radius, radius
    aside = size[a, 0] if k == CYLINDER else 0.0
    return aside, aside, size[a, 1] if k == CYLINDER or k == CAPSULE else 0.0


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
    # shapes
    kind, size, table, polytope, vertex, face_plane, face_loop, loop, pose, a,
    # terrain
    t, terrain, ground, triangle, triangle_normal, neighbour, owns,
    # in: triangle, its corners and normal, half sizes of the box of the shape with its margin
    row, c0, c1, c2, n1, rounding, margin, radius, half,
    # in and out
    scratch, count,
):  # fmt: skip
    """Add the contacts with the ridges and peaks of one triangle; the new count."""
    base_v, base_t = terrain[table[t], 0], terrain[table[t], 1]
    depth, near = max(rounding, DEPTH * radius), radius + margin
    on_mesh = kind[t] == MESH
    for i in range(3):
        e0, e1 = (c0, c1) if i == 0 else ((c1, c2) if i == 1 else (c2, c0))
        if not _is_near(e0, e1, near):
            continue
        # On a mesh one triangle stands for all around a ridge or peak.
        mine = owns[row] >> i & (OWNS_CORNER | OWNS_EDGE) if on_mesh else 0
        if on_mesh and (mine == 0 or _is_beyond(pose, a, half, e0, e1, e1)):
            continue
        other = neighbour[row, i]
        e = sub(e1, e0)
        length = sqrt(dot(e, e))
        if other < 0:  # the border: all that leans outwards, up to the triangle's own plane
            n2, bend = scale(cross(e, n1), 1.0 / length), 1.0
        else:
            n2 = to_world_direction(pose, t, load(triangle_normal, base_t + other))
            bend = dot(cross(n1, n2), e) / length
        if bend <= FLAT_BEND and not on_mesh:
            continue
        # A ridge is seen from both sides, and one of them runs along it away from the peak.
        if dot(e0, e0) < near * near and (not on_mesh or mine & OWNS_CORNER):
            count = find_peak_contact(
                kind, size, table, polytope, face_plane, pose, a,
                t, ground, triangle, neighbour, base_v, base_t,
                row - base_t, i, e0, margin, depth, TWIN * radius, scratch, count,
            )  # fmt: skip
        if mine & OWNS_EDGE or not on_mesh and (other < 0 or other > row - base_t):
            count = find_ridge_contacts(
                kind, size, table, polytope, vertex, face_plane, face_loop, loop, pose, a,
                e0, e1, n1, n2, rounding, margin, depth, radius, TWIN * radius, on_mesh,
                scratch, count,
            )  # fmt: skip
    return count


@kernel
def _is_buried(shapes, pose, a, t, scratch):
    """Whether the shape's origin is under ground, and not too deep to be pushed out.

    Under the triangle of a terrain straight above or below it; in a mesh the nearest one decides.
    """
    if shapes.kind[t] == MESH:
        reach = SUNK * shapes.radius[a]
        depth, _ = signed_distance(
            True, pose, t, shapes.terrain, shapes.terrain_grid, shapes.table[t],
            shapes.terrain_vertex, shapes.triangle, shapes.triangle_normal, shapes.cell_first,
            shapes.cell_triangle, shapes.tree, shapes.node_box, shapes.node_link,
            (0.0, 0.0, 0.0), pose_position(pose, a), reach, scratch,
        )  # fmt: skip
        return depth < 0.0 and depth > -reach
    local = to_local(pose, t, pose_position(pose, a))
    row = column_triangle(
        shapes.terrain, shapes.terrain_grid, shapes.table[t], shapes.terrain_vertex,
        shapes.triangle, shapes.cell_first, shapes.cell_triangle, local,
    )  # fmt: skip
    if row < 0:
        return False
    corner = shapes.terrain[shapes.table[t], 0] + shapes.triangle[row, 0]
    n = load(shapes.triangle_normal, row)
    height = dot(n, sub(local, load(shapes.terrain_vertex, corner)))
    return height < 0.0 and height > -SUNK * shapes.radius[a]


@kernel
def _add_all(shapes, pose, a, t, rounding, margin, grow, ridges, scratch):
    """Find the contacts with all triangles whose box meets the shape's, grown; their number."""
    kind, size, table, radius = shapes.kind, shapes.size, shapes.table, shapes.radius[a]
    polytope, vertex = shapes.polytope, shapes.vertex
    terrain, grid, ground = shapes.terrain, shapes.terrain_grid, shapes.terrain_vertex
    k, origin, on_mesh = table[t], pose_position(pose, a), kind[t] == MESH
    lower, upper = _shape_box(kind, size, table, polytope, vertex, pose, a, t, grow)
    span = cell_range(terrain, grid, k, lower, upper)
    half = add(_half_sizes(kind, size, radius, a), (grow, grow, grow))
    turn, place = relative_pose(pose, a, t)
    cell, entry, row, count = begin_search(on_mesh, shapes.tree, k, scratch, OUTER), 0, 0, 0
    while row >= 0:
        row, cell, entry = next_triangle(
            on_mesh, terrain, grid, k, ground, shapes.triangle, shapes.cell_first,
            shapes.cell_triangle, shapes.node_box, shapes.node_link,
            lower, upper, span, turn, place, half, cell, entry, scratch, OUTER,
        )  # fmt: skip
        if row < 0:
            break
        n = to_world_direction(pose, t, load(shapes.triangle_normal, row))
        c0 = ground_point(pose, t, ground, terrain[k, 0] + shapes.triangle[row, 0], origin)
        low = core_support(kind, size, table, polytope, vertex, pose, a, scale(n, -1.0))
        if dot(n, sub(low, c0)) - rounding >= margin:
            continue  # the plane of the triangle separates
        c1 = ground_point(pose, t, ground, terrain[k, 0] + shapes.triangle[row, 1], origin)
        c2 = ground_point(pose, t, ground, terrain[k, 0] + shapes.triangle[row, 2], origin)
        if on_mesh and _is_beyond(pose, a, half, c0, c1, c2):
            continue
        count = _add_face(
            kind, size, table, polytope, vertex, pose, a,
            t, terrain, grid, ground, shapes.triangle, shapes.triangle_normal,
            shapes.neighbour, shapes.cell_first, shapes.cell_triangle,
            shapes.tree, shapes.node_box, shapes.node_link,
            row, c0, c1, c2, n, low, rounding, margin, radius, scratch, count,
        )  # fmt: skip
        if ridges:
            count = _add_ridges(
                kind, size, table, polytope, vertex, shapes.face_plane,
                shapes.face_loop, shapes.loop, pose, a,
                t, terrain, ground, shapes.triangle, shapes.triangle_normal, shapes.neighbour,
                shapes.owns, row, c0, c1, c2, n, rounding, margin, radius, half, scratch, count,
            )  # fmt: skip
    return count


@inner_kernel
def terrain_contacts(shapes, pose, a, t, margin, out, first, scratch):
    """The few contacts of the convex shape `a` with terrain or mesh `t`, from row `first`."""
    rounding = shapes.size[a, 0] if shapes.kind[a] < CYLINDER else 0.0
    grow, ridges = rounding + margin, True
    count = _add_all(shapes, pose, a, t, rounding, margin, grow, ridges, scratch)
    if count == 0 and _is_buried(shapes, pose, a, t, scratch):
        grow, ridges = SUNK * shapes.radius[a], False
        count = _add_all(shapes, pose, a, t, rounding, margin, grow, ridges, scratch)
    most = MOST_ON_MESH if shapes.kind[t] == MESH else MOST_ON_TERRAIN
    return write_candidates(scratch, count, pose_position(pose, a), most, out, first)
