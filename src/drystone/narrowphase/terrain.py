"""Convex shapes on a terrain of one-sided triangles, without bumps at the edges between them.

Three kinds of contact, none of which is made where the ground is flat or hollow but by the first:
corners of the shape over a triangle, with the triangle's normal; ridges (edges whose triangles
fall away from each other, and the border) against the shape; peaks (vertices at a ridge)
against the shape. A flat ground in any triangulation therefore is a plane.

Inside, directions are world axes and points are relative to the position of the shape.
"""

from math import floor, sqrt

from drystone.arrays import BOX, CAPSULE, CYLINDER, HULL
from drystone.jit import kernel
from drystone.narrowphase.candidates import GROUP, NORMAL, POINT, add_candidate, write_candidates
from drystone.narrowphase.gjk import core_support
from drystone.narrowphase.plane import BAND, STANDING, UPRIGHT
from drystone.narrowphase.ridge import FLAT_BEND, find_peak_contact, find_ridge_contacts
from drystone.narrowphase.round import axis_z
from drystone.shapes.terrain_table import CELL_TOLERANCE
from drystone.vec import (
    add,
    cross,
    dot,
    load,
    mad,
    pose_position,
    scale,
    store,
    sub,
    to_local,
    to_world,
    to_world_direction,
)

# How deep a corner may be under the ground and still be pushed out to the front, as a part of the
# shape's radius. Deeper ones are likely behind another sheet of the ground.
DEPTH = 0.25
# Where more than that of a shape is under the ground, corners are looked for this many radii deep.
SUNK = 2.0
# Corners this far outside a triangle, as a part of the shape's radius, count as above it, so
# that none falls into the crack between two triangles.
CRACK = 1e-9
# Contacts nearer than this part of the shape's radius are one.
TWIN = 1e-4
MOST_ABOVE = 16  # triangles over and under one corner; two rows each of the group's 64


@kernel
def _cell(x, corner, side, cells):
    """Column or row of the grid that holds coordinate x, the nearest one if x is outside."""
    return int(min(max(floor((x - corner) / side + CELL_TOLERANCE), 0.0), cells - 1.0))


@kernel
def cell_range(terrain, grid, k, lower, upper):
    """First column, row and last column, row of the cells over a box in the terrain's axes."""
    nx, ny, side = terrain[k, 4], terrain[k, 5], grid[k, 2]
    return (
        _cell(lower[0], grid[k, 0], side, nx), _cell(lower[1], grid[k, 1], side, ny),
        _cell(upper[0], grid[k, 0], side, nx), _cell(upper[1], grid[k, 1], side, ny),
    )  # fmt: skip


@kernel
def _is_met(terrain, grid, k, vertex, triangle, row, lower, upper, i, j, i0, j0):
    """Whether the triangle's box meets the query's and cell (i, j) is the first to say so.

    A triangle may stand in several cells; it counts in the first of those of the query, which
    run from (i0, j0). Boxes are in the terrain's axes.
    """
    base = terrain[k, 0]
    a, b, c = base + triangle[row, 0], base + triangle[row, 1], base + triangle[row, 2]
    for d in range(3):
        if max(vertex[a, d], vertex[b, d], vertex[c, d]) < lower[d]:
            return False
        if min(vertex[a, d], vertex[b, d], vertex[c, d]) > upper[d]:
            return False
    x = min(vertex[a, 0], vertex[b, 0], vertex[c, 0])
    y = min(vertex[a, 1], vertex[b, 1], vertex[c, 1])
    return (
        max(i0, _cell(x, grid[k, 0], grid[k, 2], terrain[k, 4])) == i
        and max(j0, _cell(y, grid[k, 1], grid[k, 2], terrain[k, 5])) == j
    )


@kernel
def ground_point(pose, t, vertex, row, origin):
    """Vertex `row` of terrain shape `t`, relative to `origin`."""
    return sub(to_world(pose, t, load(vertex, row)), origin)


@kernel
def _point_count(kind, table, polytope, a):
    if kind[a] == HULL:
        return polytope[table[a], 1]
    return 8 if kind[a] == BOX else (4 if kind[a] == CYLINDER else (2 if kind[a] == CAPSULE else 1))


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
def _shape_point(kind, size, table, polytope, vertex, pose, a, i, up):
    """Point `i` of the core that may rest on a plane with unit normal `up`; -1 is the origin."""
    k = kind[a]
    if i < 0:
        return 0.0, 0.0, 0.0
    if k == HULL:
        return to_world_direction(pose, a, load(vertex, polytope[table[a], 0] + i))
    if k == BOX:
        x = size[a, 0] if i & 1 else -size[a, 0]
        y = size[a, 1] if i & 2 else -size[a, 1]
        z = size[a, 2] if i & 4 else -size[a, 2]
        return to_world_direction(pose, a, (x, y, z))
    if k == CYLINDER:
        return _cylinder_point(size, pose, a, i, up)
    if k == CAPSULE:
        return scale(axis_z(pose, a), size[a, 1] if i == 0 else -size[a, 1])
    return 0.0, 0.0, 0.0


@kernel
def _is_over(x, c0, c1, c2, n, crack):
    """Whether x lies over the triangle, seen along its normal."""
    for k in range(3):
        p, q = (c0, c1) if k == 0 else ((c1, c2) if k == 1 else (c2, c0))
        e = sub(q, p)
        if dot(cross(e, sub(x, p)), n) < -crack * sqrt(dot(e, e)):
            return False
    return True


@kernel
def _triangles_at(
    # shapes
    kind, size, table, polytope, vertex, pose, a,
    # terrain
    t, terrain, grid, ground, triangle, triangle_normal, cell_first, cell_triangle,
    # in: number of the corner of the shape, how far to look from it, shape's radius
    i, reach, radius,
    # out
    scratch,
):  # fmt: skip
    """Triangles that corner `i` of the shape is over or under, within `reach` [m]; their number.

    Two rows each of the group: foot on the triangle and height of the corner; its normal.
    """
    k, origin = table[t], pose_position(pose, a)
    x = _shape_point(kind, size, table, polytope, vertex, pose, a, i, (0.0, 0.0, 1.0))
    wide = reach
    turning = kind[a] == CYLINDER and i >= 0  # its corners depend on the triangle
    if turning:
        x, wide = (0.0, 0.0, 0.0), reach + radius
    local, room = to_local(pose, t, add(x, origin)), (wide, wide, wide)
    lower, upper = sub(local, room), add(local, room)
    i0, j0, i1, j1 = cell_range(terrain, grid, k, lower, upper)
    count = 0
    for j in range(j0, j1 + 1):
        for c in range(i0, i1 + 1):
            cell = terrain[k, 3] + j * terrain[k, 4] + c
            for entry in range(cell_first[cell], cell_first[cell + 1]):
                row = terrain[k, 1] + cell_triangle[entry]
                if count == MOST_ABOVE or not _is_met(
                    terrain, grid, k, ground, triangle, row, lower, upper, c, j, i0, j0
                ):
                    continue
                n = to_world_direction(pose, t, load(triangle_normal, row))
                c0 = ground_point(pose, t, ground, terrain[k, 0] + triangle[row, 0], origin)
                if turning and abs(dot(n, c0)) < wide:
                    x = _shape_point(kind, size, table, polytope, vertex, pose, a, i, n)
                height = dot(n, sub(x, c0))
                if abs(height) > reach:
                    continue
                c1 = ground_point(pose, t, ground, terrain[k, 0] + triangle[row, 1], origin)
                c2 = ground_point(pose, t, ground, terrain[k, 0] + triangle[row, 2], origin)
                if _is_over(x, c0, c1, c2, n, CRACK * radius):
                    store(scratch, GROUP + 2 * count, mad(x, n, -height))
                    scratch[GROUP + 2 * count, 3] = height
                    store(scratch, GROUP + 2 * count + 1, n)
                    count += 1
    return count


@kernel
def _is_hidden(scratch, found, i, small):
    """Whether triangle `i` over a corner is behind a nearer one that does not rise above it.

    Inside a ridge both sides are above the corner, but only the nearer one is the way out; in a
    hollow the foot on each side lies in front of the other, and both hold the corner.
    """
    n, foot = load(scratch, GROUP + 2 * i + 1), load(scratch, GROUP + 2 * i)
    height = abs(scratch[GROUP + 2 * i, 3])
    for k in range(found):
        other = abs(scratch[GROUP + 2 * k, 3])
        nearer = other < height or (other == height and k < i)
        if nearer and dot(n, sub(load(scratch, GROUP + 2 * k), foot)) <= small:
            return True
    return False


@kernel
def _add_faces(
    kind, size, table, polytope, vertex, pose, a, i, found, rounding, margin, radius, scratch, count
):
    """Add the contacts of corner `i` with the triangles found over it; the new count."""
    for k in range(found):
        n, height = load(scratch, GROUP + 2 * k + 1), scratch[GROUP + 2 * k, 3]
        gap = height - rounding
        if gap >= margin or _is_hidden(scratch, found, k, CRACK * radius):
            continue
        foot = load(scratch, GROUP + 2 * k)
        if kind[a] >= BOX and i >= 0:
            down = scale(n, -1.0)
            low = core_support(kind, size, table, polytope, vertex, pose, a, down)
            if height > dot(n, sub(low, foot)) + BAND * radius:
                continue
        count = add_candidate(scratch, count, foot, n, gap, TWIN * radius)
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
    for i in range(_point_count(kind, table, polytope, a)):
        found = _triangles_at(
            kind, size, table, polytope, vertex, pose, a,
            t, shapes.terrain, shapes.terrain_grid, shapes.terrain_vertex, shapes.triangle,
            shapes.triangle_normal, shapes.cell_first, shapes.cell_triangle,
            i, reach, radius, scratch,
        )  # fmt: skip
        count = _add_faces(
            kind, size, table, polytope, vertex, pose, a, i, found, rounding, margin, radius,
            scratch, count,
        )  # fmt: skip
    return count


@kernel
def terrain_contacts(shapes, pose, a, t, margin, out, first, scratch):
    """At most 16 contacts of the convex shape `a` with terrain `t`, written from row `first`."""
    kind, size, table, radius = shapes.kind, shapes.size, shapes.table, shapes.radius[a]
    polytope, vertex = shapes.polytope, shapes.vertex
    terrain, grid, ground = shapes.terrain, shapes.terrain_grid, shapes.terrain_vertex
    k = table[t]
    rounding = size[a, 0] if kind[a] < CYLINDER else 0.0
    depth = max(rounding, DEPTH * radius)
    reach = margin + depth
    count = _add_corners(shapes, pose, a, t, rounding, margin, radius, reach, scratch, 0)
    lower, upper = _shape_box(kind, size, table, polytope, vertex, pose, a, t, rounding + margin)
    i0, j0, i1, j1 = cell_range(terrain, grid, k, lower, upper)
    for j in range(j0, j1 + 1):
        for i in range(i0, i1 + 1):
            cell = terrain[k, 3] + j * terrain[k, 4] + i
            for entry in range(shapes.cell_first[cell], shapes.cell_first[cell + 1]):
                tri = shapes.cell_triangle[entry]
                row = terrain[k, 1] + tri
                if _is_met(
                    terrain, grid, k, ground, shapes.triangle, row, lower, upper, i, j, i0, j0
                ):
                    count = _add_ridges(
                        kind, size, table, polytope, vertex, shapes.face_plane,
                        shapes.face_loop, shapes.loop, pose, a,
                        t, terrain, ground, shapes.triangle, shapes.triangle_normal,
                        shapes.neighbour, tri, rounding, margin, radius, depth, scratch, count,
                    )  # fmt: skip
    if count == 0:  # a shape all under the ground: ask for its origin
        found = _triangles_at(
            kind, size, table, polytope, vertex, pose, a,
            t, terrain, grid, ground, shapes.triangle, shapes.triangle_normal,
            shapes.cell_first, shapes.cell_triangle, -1, SUNK * radius, radius, scratch,
        )  # fmt: skip
        count = _add_faces(
            kind, size, table, polytope, vertex, pose, a, -1, found, 0.0, 0.0, radius, scratch, 0
        )
    if _is_sunk(kind, size, table, polytope, vertex, pose, a, depth, scratch, count):
        reach = (1.0 + SUNK) * radius
        count = _add_corners(shapes, pose, a, t, rounding, margin, radius, reach, scratch, count)
    return write_candidates(scratch, count, pose_position(pose, a), out, first)
