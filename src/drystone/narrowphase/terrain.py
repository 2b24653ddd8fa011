"""Convex shapes on a terrain of one-sided triangles, without bumps at the edges between them.

Three kinds of contact, none of which is made where the ground is flat or hollow but by the first:
corners of the shape over a triangle, with the triangle's normal; ridges (edges whose triangles
fall away from each other, and the border) against the shape; peaks (vertices at a ridge)
against the shape. A flat ground in any triangulation therefore is a plane.

Inside, directions are world axes and points are relative to the position of the shape.
"""

from math import sqrt

from drystone.arrays import BOX, CAPSULE, CYLINDER, HULL
from drystone.jit import kernel
from drystone.narrowphase.candidates import GROUP, NORMAL, POINT, add_candidate, write_candidates
from drystone.narrowphase.gjk import core_support
from drystone.narrowphase.ground import (
    NOT_OVER,
    cell_range,
    ground_point,
    is_hidden,
    is_outside,
    is_over,
    next_triangle,
    triangles_at,
)
from drystone.narrowphase.plane import BAND, STANDING, UPRIGHT
from drystone.narrowphase.ridge import FLAT_BEND, find_peak_contact, find_ridge_contacts
from drystone.narrowphase.round import axis_z
from drystone.vec import (
    add,
    cross,
    dot,
    load,
    mad,
    pose_position,
    scale,
    sub,
    to_local,
    to_world_direction,
)

# How deep a corner may be under the ground and still be pushed out to the front, as a part of the
# shape's radius. Deeper ones are likely behind another sheet of the ground.
DEPTH = 0.25
# Deeper than this part of the radius it is asked whether the corner is under the ground at all, or
# in front of a nearer ridge and behind a hill.
SHALLOW = 0.01
# Where more than DEPTH of a shape is under the ground, corners are looked for this many radii deep.
SUNK = 3.0
# Corners this far outside a triangle, as a part of the shape's radius, count as above it, so
# that none falls into the crack between two triangles.
CRACK = 1e-9
# Contacts nearer than this part of the shape's radius are one.
TWIN = 1e-4


@kernel
def _corner_count(kind, table, polytope, a):
    if kind[a] == HULL:
        return polytope[table[a], 1]
    return 8 if kind[a] == BOX else (2 if kind[a] == CAPSULE else 1)


@kernel
def _cylinder_point(size, pose, a, i, up):
    """Point `i` of those where a cylinder rests on a plane with unit normal `up`.

    Lying: the two ends of the lowest line (0 and 1). Standing: four rim points of the
    lower cap. As for a plane, so that flat ground and plane agree.
    """
    axis = axis_z(pose, a)
    cosine = dot(up, axis)
    half = -size[a, 1] if cosine > 0.0 else size[a, 1]
    tilt = sqrt(max(0.0, 1.0 - cosine * cosine))
    down = (pose[a, 3], pose[a, 6], pose[a, 9])
    if tilt > UPRIGHT:
        down = scale(mad(up, axis, -cosine), -1.0 / tilt)
    if abs(cosine) < STANDING:
        return mad(scale(axis, half if i == 0 else -half), down, size[a, 0])
    side = down if i % 2 == 0 else cross(axis, down)
    return mad(scale(axis, half), side, size[a, 0] if i < 2 else -size[a, 0])


@kernel
def _corner(kind, size, table, polytope, vertex, pose, a, i):
    """Corner `i` of the core."""
    k = kind[a]
    if k == HULL:
        return to_world_direction(pose, a, load(vertex, polytope[table[a], 0] + i))
    if k == BOX:
        x = size[a, 0] if i & 1 else -size[a, 0]
        y = size[a, 1] if i & 2 else -size[a, 1]
        z = size[a, 2] if i & 4 else -size[a, 2]
        return to_world_direction(pose, a, (x, y, z))
    if k == CAPSULE:
        return scale(axis_z(pose, a), size[a, 1] if i == 0 else -size[a, 1])
    return 0.0, 0.0, 0.0


@kernel
def _add_faces(
    # shapes
    kind, size, table, polytope, vertex, pose, a,
    # terrain
    t, terrain, grid, k, ground, triangle, triangle_normal, neighbour, cell_first, cell_triangle,
    # in: corner of the shape, the one triangle that counts or -1, how deep to look
    x, only, reach, rounding, margin, radius,
    # in and out
    scratch, count,
):  # fmt: skip
    """Add the contacts of corner `x` with the triangles it is over or under; the new count."""
    origin = pose_position(pose, a)
    found = triangles_at(
        pose, t, terrain, grid, k, ground, triangle, triangle_normal, neighbour,
        cell_first, cell_triangle, x, origin, reach, CRACK * radius, scratch,
    )  # fmt: skip
    for i in range(found):
        n, height = load(scratch, GROUP + 2 * i + 1), scratch[GROUP + 2 * i, 3]
        gap = height - rounding
        if gap >= margin or is_hidden(scratch, found, i, CRACK * radius):
            continue
        if only >= 0 and n != to_world_direction(pose, t, load(triangle_normal, only)):
            continue
        foot = load(scratch, GROUP + 2 * i)
        if kind[a] >= BOX:
            down = scale(n, -1.0)
            low = core_support(kind, size, table, polytope, vertex, pose, a, down)
            if height > dot(n, sub(low, foot)) + BAND * radius:
                continue
        if height < -SHALLOW * radius and is_outside(
            pose, t, terrain, grid, k, ground, triangle, triangle_normal,
            cell_first, cell_triangle, x, origin, -height,
        ):  # fmt: skip
            continue
        count = add_candidate(scratch, count, foot, n, gap, TWIN * radius)
    return count


@kernel
def _add_rims(
    # shapes
    kind, size, table, polytope, vertex, pose, a,
    # terrain
    t, terrain, grid, k, ground, triangle, triangle_normal, neighbour, cell_first, cell_triangle,
    # in
    reach, margin, radius,
    # in and out
    scratch, count,
):  # fmt: skip
    """Add the contacts of a cylinder with faces; the new count.

    Where it would rest depends on the triangle, so that triangles are asked first.
    """
    origin = pose_position(pose, a)
    wide = radius + reach
    local, room = to_local(pose, t, origin), (wide, wide, wide)
    lower, upper = sub(local, room), add(local, room)
    span = cell_range(terrain, grid, k, lower, upper)
    cell, entry, row = 0, 0, 0
    while row >= 0:
        row, cell, entry = next_triangle(
            terrain, grid, k, ground, triangle, cell_first, cell_triangle,
            lower, upper, span, cell, entry,
        )  # fmt: skip
        if row < 0:
            break
        n = to_world_direction(pose, t, load(triangle_normal, row))
        c0 = ground_point(pose, t, ground, terrain[k, 0] + triangle[row, 0], origin)
        c1 = ground_point(pose, t, ground, terrain[k, 0] + triangle[row, 1], origin)
        c2 = ground_point(pose, t, ground, terrain[k, 0] + triangle[row, 2], origin)
        corners = 2 if abs(dot(n, axis_z(pose, a))) < STANDING else 4
        for i in range(corners if abs(dot(n, c0)) < wide else 0):
            x = _cylinder_point(size, pose, a, i, n)
            height = dot(n, sub(x, c0))
            if height < margin and height > -reach and is_over(
                x, c0, c1, c2, n, height, CRACK * radius,
                pose, t, triangle_normal, neighbour, row, terrain[k, 1],
            ) != NOT_OVER:  # fmt: skip
                count = _add_faces(
                    kind, size, table, polytope, vertex, pose, a,
                    t, terrain, grid, k, ground, triangle, triangle_normal, neighbour,
                    cell_first, cell_triangle, x, row, reach, 0.0, margin, radius, scratch, count,
                )  # fmt: skip
    return count


@kernel
def _is_sunk(kind, size, table, polytope, vertex, pose, a, depth, scratch, count):
    """Whether the shape reaches deeper than `depth` under the plane of one of its contacts."""
    for i in range(count):
        n = load(scratch, NORMAL + i)
        low = core_support(kind, size, table, polytope, vertex, pose, a, scale(n, -1.0))
        if dot(n, sub(low, load(scratch, POINT + i))) < -depth:
            return True
    return False


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
def _add_ridges(
    # shapes
    kind, size, table, polytope, vertex, face_plane, face_loop, loop, pose, a,
    # terrain
    t, terrain, ground, triangle, triangle_normal, neighbour,
    # in
    tri, rounding, margin, radius, depth,
    # in and out
    scratch, count,
):  # fmt: skip
    """Add the contacts with the ridges and peaks of triangle number `tri` of the terrain."""
    k, origin = table[t], pose_position(pose, a)
    base_v, base_t = terrain[k, 0], terrain[k, 1]
    row, twin, small = base_t + tri, TWIN * radius, 1e-13 * radius
    n1 = to_world_direction(pose, t, load(triangle_normal, row))
    e0 = ground_point(pose, t, ground, base_v + triangle[row, 0], origin)
    low = core_support(kind, size, table, polytope, vertex, pose, a, scale(n1, -1.0))
    if dot(n1, sub(low, e0)) - rounding >= margin:
        return count  # the plane of the triangle separates
    for i in range(3):
        e1 = ground_point(pose, t, ground, base_v + triangle[row, (i + 1) % 3], origin)
        other = neighbour[row, i]
        if dot(e0, e0) < (radius + margin) * (radius + margin):
            count = find_peak_contact(
                kind, size, table, polytope, face_plane, pose, a,
                t, ground, triangle, triangle_normal, neighbour, base_v, base_t,
                tri, i, e0, margin, depth, twin, scratch, count,
            )  # fmt: skip
        if (other < 0 or other > tri) and _is_near(e0, e1, radius + margin):
            e = sub(e1, e0)
            length = sqrt(dot(e, e))
            if other < 0:  # the border: all that leans outwards, up to the triangle's own plane
                n2, bend = scale(cross(e, n1), 1.0 / length), 1.0
            else:
                n2 = to_world_direction(pose, t, load(triangle_normal, base_t + other))
                bend = dot(cross(n1, n2), e) / length
            if bend > FLAT_BEND:
                count = find_ridge_contacts(
                    kind, size, table, polytope, vertex, face_plane, face_loop, loop, pose, a,
                    e0, e1, n1, n2, rounding, margin, depth, small, twin, scratch, count,
                )  # fmt: skip
        e0 = e1
    return count


@kernel
def _add_corners(shapes, pose, a, t, rounding, margin, radius, reach, scratch, count):
    """Add the contacts of all corners of the shape with triangles within `reach`; the count."""
    kind, size, table = shapes.kind, shapes.size, shapes.table
    polytope, vertex = shapes.polytope, shapes.vertex
    if kind[a] == CYLINDER:
        return _add_rims(
            kind, size, table, polytope, vertex, pose, a,
            t, shapes.terrain, shapes.terrain_grid, table[t], shapes.terrain_vertex,
            shapes.triangle, shapes.triangle_normal, shapes.neighbour,
            shapes.cell_first, shapes.cell_triangle, reach, margin, radius, scratch, count,
        )  # fmt: skip
    for i in range(_corner_count(kind, table, polytope, a)):
        x = _corner(kind, size, table, polytope, vertex, pose, a, i)
        count = _add_faces(
            kind, size, table, polytope, vertex, pose, a,
            t, shapes.terrain, shapes.terrain_grid, table[t], shapes.terrain_vertex,
            shapes.triangle, shapes.triangle_normal, shapes.neighbour,
            shapes.cell_first, shapes.cell_triangle,
            x, -1, reach, rounding, margin, radius, scratch, count,
        )  # fmt: skip
    return count


@kernel
def _is_origin_sunk(shapes, pose, a, t, radius, depth, scratch):
    """Whether the shape reaches deeper than `depth` under the triangle nearest to its origin."""
    found = triangles_at(
        pose, t, shapes.terrain, shapes.terrain_grid, shapes.table[t], shapes.terrain_vertex,
        shapes.triangle, shapes.triangle_normal, shapes.neighbour,
        shapes.cell_first, shapes.cell_triangle,
        (0.0, 0.0, 0.0), pose_position(pose, a), SUNK * radius, CRACK * radius, scratch,
    )  # fmt: skip
    nearest = 0
    for i in range(found):
        if abs(scratch[GROUP + 2 * i, 3]) < abs(scratch[GROUP + 2 * nearest, 3]):
            nearest = i
    if found == 0:
        return True  # over or under a bare ridge: only its corners can tell
    count = add_candidate(
        scratch, 0, load(scratch, GROUP + 2 * nearest), load(scratch, GROUP + 2 * nearest + 1),
        scratch[GROUP + 2 * nearest, 3], 0.0,
    )  # fmt: skip
    return _is_sunk(
        shapes.kind, shapes.size, shapes.table, shapes.polytope, shapes.vertex, pose, a,
        depth, scratch, count,
    )  # fmt: skip


@kernel
def terrain_contacts(shapes, pose, a, t, margin, out, first, scratch):
    """At most 16 contacts of the convex shape `a` with terrain `t`, written from row `first`."""
    kind, size, table, radius = shapes.kind, shapes.size, shapes.table, shapes.radius[a]
    polytope, vertex = shapes.polytope, shapes.vertex
    terrain, grid, ground = shapes.terrain, shapes.terrain_grid, shapes.terrain_vertex
    rounding = size[a, 0] if kind[a] < CYLINDER else 0.0
    depth = max(rounding, DEPTH * radius)
    reach = margin + depth
    count = _add_corners(shapes, pose, a, t, rounding, margin, radius, reach, scratch, 0)
    lower, upper = _shape_box(kind, size, table, polytope, vertex, pose, a, t, rounding + margin)
    span = cell_range(terrain, grid, table[t], lower, upper)
    cell, entry, row = 0, 0, 0
    while row >= 0:
        row, cell, entry = next_triangle(
            terrain, grid, table[t], ground, shapes.triangle,
            shapes.cell_first, shapes.cell_triangle, lower, upper, span, cell, entry,
        )  # fmt: skip
        if row >= 0:
            count = _add_ridges(
                kind, size, table, polytope, vertex, shapes.face_plane,
                shapes.face_loop, shapes.loop, pose, a,
                t, terrain, ground, shapes.triangle, shapes.triangle_normal,
                shapes.neighbour, row - terrain[table[t], 1], rounding, margin, radius, depth,
                scratch, count,
            )  # fmt: skip
    if count == 0:
        sunk = _is_origin_sunk(shapes, pose, a, t, radius, depth, scratch)
    else:
        sunk = _is_sunk(kind, size, table, polytope, vertex, pose, a, depth, scratch, count)
    if sunk:
        reach = SUNK * radius
        count = _add_corners(shapes, pose, a, t, rounding, margin, radius, reach, scratch, count)
    return write_candidates(scratch, count, pose_position(pose, a), out, first)
