"""Point against the triangles of a terrain or mesh: over which, and at what signed distance.

Inside, directions are world axes and points are relative to an origin near the query.
"""

from math import inf, sqrt

from drystone.collision.narrowphase.candidates import GROUP
from drystone.collision.narrowphase.gjk import triangle_weights
from drystone.collision.narrowphase.terrain.grid import cell_range, next_in_grid
from drystone.collision.narrowphase.terrain.query import (
    EVERYWHERE,
    INNER,
    NOWHERE,
    begin_query,
    next_triangle,
)
from drystone.jit import inner_kernel
from drystone.jit.vec import (
    add,
    cross,
    dot,
    load,
    mad,
    scale,
    store,
    sub,
    to_local,
    to_world,
    to_world_direction,
)
from drystone.shapes.bvh.build import FLAT_BEND

# A point under both planes of a hollow edge belongs to both as long as its distance from the edge
# is not more than this many times its depth; in the wedge right under the edge it is less than 2
# up to bends of 60 degrees.
HOLLOW_REACH = 4.0
# How a point lies to a triangle, see is_over().
NOT_OVER, PROPER, HOLLOW = 0, 1, 2
ANSWERS = 4
# Distances to triangles that share an edge or a vertex differ by rounding [relative].
SAME_DISTANCE = 1e-9
MOST_ABOVE = 32  # triangles over and under one point; two rows each of the group's 64


@inner_kernel
def triangle_corner(shapes, pose, t, row, i, origin):
    """Corner `i` of the triangle in `row` of terrain shape `t`, relative to `origin`."""
    v = shapes.terrain[shapes.table[t], 0] + shapes.triangle[row, i]
    return sub(to_world(pose, t, load(shapes.terrain_vertex, v)), origin)


@inner_kernel
def is_over(shapes, pose, t, row, corners, n, x, height, crack):
    """Whether x lies over the triangle, seen along its normal: PROPER, HOLLOW or NOT_OVER.

    Under a hollow edge there is a wedge that is under neither triangle, and points beside it are
    under one only. A point under both planes and not far from the edge counts as under both
    triangles, for a corner that rests in a hollow needs both normals to stay there.
    """
    c0, c1, c2 = corners
    answer = PROPER
    for k in range(3):
        p, q = (c0, c1) if k == 0 else ((c1, c2) if k == 1 else (c2, c0))
        e = sub(q, p)
        length = sqrt(dot(e, e))
        if dot(cross(e, sub(x, p)), n) >= -crack * length:
            continue
        other = shapes.neighbour[row, k]
        if height >= 0.0 or other < 0:
            return NOT_OVER
        base = shapes.terrain[shapes.table[t], 1]
        m = to_world_direction(pose, t, load(shapes.triangle_normal, base + other))
        if dot(cross(n, m), e) > -FLAT_BEND * length or dot(m, sub(x, p)) >= 0.0:
            return NOT_OVER
        s = min(max(dot(sub(x, p), e) / (length * length), 0.0), 1.0)
        d = sub(x, mad(p, e, s))
        if dot(d, d) > HOLLOW_REACH * HOLLOW_REACH * height * height:
            return NOT_OVER
        answer = HOLLOW
    return answer


@inner_kernel
def triangles_at(shapes, pose, t, x, origin, reach, crack, scratch):
    """Triangles that the point x, relative to `origin`, is over or under, within `reach` [m].

    Returns their number. Two rows each of the group: foot on the triangle and height of the point;
    normal and ANSWERS times the triangle's row plus how the point lies to it. A point that is
    less than `crack` [m] beside a triangle is over it.
    """
    k = shapes.table[t]
    local, around = to_local(pose, t, add(x, origin)), (reach, reach, reach)
    lower, upper = sub(local, around), add(local, around)
    span = cell_range(shapes, k, lower, upper)
    cell, entry, count = 0, 0, 0
    while count < MOST_ABOVE:
        row, cell, entry = next_in_grid(shapes, k, lower, upper, span, cell, entry)
        if row < 0:
            break
        n = to_world_direction(pose, t, load(shapes.triangle_normal, row))
        c0 = triangle_corner(shapes, pose, t, row, 0, origin)
        height = dot(n, sub(x, c0))
        if abs(height) > reach:
            continue
        c1 = triangle_corner(shapes, pose, t, row, 1, origin)
        c2 = triangle_corner(shapes, pose, t, row, 2, origin)
        over = is_over(shapes, pose, t, row, (c0, c1, c2), n, x, height, crack)
        if over != NOT_OVER:
            store(scratch, GROUP + 2 * count, mad(x, n, -height))
            scratch[GROUP + 2 * count, 3] = height
            store(scratch, GROUP + 2 * count + 1, n)
            scratch[GROUP + 2 * count + 1, 3] = ANSWERS * row + over
            count += 1
    return count


@inner_kernel
def is_hidden(scratch, found, mine, small):
    """Whether the triangle in row `mine` is behind a nearer one that does not rise above it.

    One of those `found` by triangles_at(). Inside a ridge both sides are above the point, but only
    the nearer one leads out; in a hollow the foot on each side lies in front of the
    other, and both hold the point.
    """
    me = -1
    for i in range(found):
        if scratch[GROUP + 2 * i + 1, 3] // ANSWERS == mine:
            me = i
    if me < 0:
        return False
    hollow = scratch[GROUP + 2 * me + 1, 3] % ANSWERS == HOLLOW
    n, foot = load(scratch, GROUP + 2 * me + 1), load(scratch, GROUP + 2 * me)
    height = abs(scratch[GROUP + 2 * me, 3])
    for i in range(found):
        other = scratch[GROUP + 2 * i, 3]
        proper = scratch[GROUP + 2 * i + 1, 3] % ANSWERS == PROPER
        if hollow and proper and other >= 0.0:
            return True  # the point is above the ground after all
        nearer = abs(other) < height or (abs(other) == height and i < me)
        if not proper or hollow:  # neighbours in a hollow do not hide each other
            nearer = HOLLOW_REACH * abs(other) < height
        if nearer and dot(n, sub(load(scratch, GROUP + 2 * i), foot)) <= small:
            return True
    return False


@inner_kernel
def signed_distance(shapes, pose, t, x, origin, reach, scratch):
    """Distance of the point from the ground [m], negative behind it, and the vector to it.

    The point is x relative to `origin`. On an edge or a vertex the triangle that faces the point
    most squarely decides the side. Without ground within `reach` [m] the answer is -reach, and
    no vector.
    """
    local, around = to_local(pose, t, add(x, origin)), (reach, reach, reach)
    lower, upper = sub(local, around), add(local, around)
    span = cell_range(shapes, shapes.table[t], lower, upper)
    cell, entry, row = begin_query(shapes, t, scratch, INNER), 0, 0
    nearest, square, to_ground = reach, 0.0, NOWHERE
    while row >= 0:
        row, cell, entry = next_triangle(
            shapes, t, lower, upper, span, EVERYWHERE, cell, entry, scratch, INNER
        )
        if row < 0:
            break
        n = to_world_direction(pose, t, load(shapes.triangle_normal, row))
        from_x = add(origin, x)
        a = triangle_corner(shapes, pose, t, row, 0, from_x)
        b = triangle_corner(shapes, pose, t, row, 1, from_x)
        c = triangle_corner(shapes, pose, t, row, 2, from_x)
        wa, wb, wc, distance2 = triangle_weights(a, b, c)
        distance, height = sqrt(distance2), -dot(n, a)
        same = abs(distance - nearest) <= SAME_DISTANCE * nearest
        if distance < nearest and not same:
            nearest, square = distance, height
            to_ground = mad(mad(scale(a, wa), b, wb), c, wc)
            around = scale((nearest, nearest, nearest), 1.0 + 2.0 * SAME_DISTANCE)
            lower, upper = sub(local, around), add(local, around)
        elif same and abs(height) > abs(square):
            nearest, square = min(nearest, distance), height
    return nearest if square > 0.0 else -nearest, to_ground


@inner_kernel
def column_triangle(shapes, k, p):
    """Row of the triangle nearest to point `p` straight above or below it; -1 if none.

    In the terrain's axes, straight is along z.
    """
    terrain, triangle, ground = shapes.terrain, shapes.triangle, shapes.terrain_vertex
    i0, j0, _, _ = cell_range(shapes, k, p, p)
    cell = terrain[k, 3] + j0 * terrain[k, 4] + i0
    best, best_height = -1, inf
    for entry in range(shapes.cell_first[cell], shapes.cell_first[cell + 1]):
        row = terrain[k, 1] + shapes.cell_triangle[entry]
        a = sub(load(ground, terrain[k, 0] + triangle[row, 0]), p)
        b = sub(load(ground, terrain[k, 0] + triangle[row, 1]), p)
        c = sub(load(ground, terrain[k, 0] + triangle[row, 2]), p)
        wa = b[0] * c[1] - b[1] * c[0]
        wb = c[0] * a[1] - c[1] * a[0]
        wc = a[0] * b[1] - a[1] * b[0]
        total = wa + wb + wc
        if total == 0.0 or min(wa / total, wb / total, wc / total) < 0.0:
            continue
        height = abs(wa * a[2] + wb * b[2] + wc * c[2]) / abs(total)
        if height < best_height:
            best, best_height = row, height
    return best
