"""A plane, whose normal is its local z, against every convex shape: support points below it.

Sphere, capsule, cylinder and box have a closed form of their own, a hull is reduced to a manifold
of four points, any other kind touches with its resting points (shapes/kinds.py).
"""

from math import sqrt

from drystone.collision.narrowphase.manifold import (
    BUFFER_0,
    BUFFER_ROWS,
    reduce_points,
    swap_rows,
    write_contact,
)
from drystone.jit import inner_kernel, kernel
from drystone.jit.vec import (
    cross,
    dot,
    load,
    mad,
    pose_position,
    scale,
    sub,
    to_local_direction,
    to_world,
)
from drystone.model.arrays import BOX, CAPSULE, CYLINDER, HULL, PLANE, SPHERE
from drystone.shapes.cylinder import STANDING, UPRIGHT
from drystone.shapes.kinds import resting_count, resting_point

# Corners of a hull higher than its lowest by this much of its radius are no contacts as long as
# there are enough lower ones: with a large margin the widest points would be the highest.
BAND = 0.25

# A hull that rolls comes down on corners between the four. With a margin above this share of its
# radius, that is in motion, the lowest others are contacts too, MOST_PLANE in all: stones of a wall
# that tumble over the ground otherwise sink in by 4 to 12 mm, however exactly a step is solved.
ROLLS = 5e-3
MOST_PLANE = 8


@inner_kernel
def plane_normal(pose, s):
    return pose[s, 5], pose[s, 8], pose[s, 11]


@inner_kernel
def height_above(pose, s, p):
    """Height [m] of the world point p above plane s."""
    return dot(sub(p, pose_position(pose, s)), plane_normal(pose, s))


@kernel
def _touch(pose, a, p, margin, out, row):
    """Contact at the surface point p of the other shape, if it is near; returns how many."""
    gap = height_above(pose, a, p)
    if gap >= margin:
        return 0
    normal = plane_normal(pose, a)
    write_contact(out, row, mad(p, normal, -0.5 * gap), normal, gap)
    return 1


@kernel
def _plane_sphere(shapes, pose, a, b, margin, out, first):
    size = shapes.size
    p = mad(pose_position(pose, b), plane_normal(pose, a), -size[b, 0])
    return _touch(pose, a, p, margin, out, first)


@kernel
def _plane_capsule(shapes, pose, a, b, margin, out, first):
    size = shapes.size
    normal, axis = plane_normal(pose, a), plane_normal(pose, b)
    p = mad(pose_position(pose, b), normal, -size[b, 0])
    count = _touch(pose, a, mad(p, axis, size[b, 1]), margin, out, first)
    return count + _touch(pose, a, mad(p, axis, -size[b, 1]), margin, out, first + count)


@kernel
def _plane_cylinder(shapes, pose, a, b, margin, out, first):
    """Lying: the two ends of the lowest line. Standing: four rim points of the lower cap."""
    size = shapes.size
    normal, axis = plane_normal(pose, a), plane_normal(pose, b)
    centre = pose_position(pose, b)
    radius, half = size[b, 0], size[b, 1]
    cosine = dot(normal, axis)
    if cosine > 0.0:
        half = -half  # `half` along the axis leads to the lower cap
    tilt = sqrt(max(0.0, 1.0 - cosine * cosine))
    if tilt > UPRIGHT:  # lowest direction of the rim
        down = scale(mad(normal, axis, -cosine), -1.0 / tilt)
    else:
        down = (pose[b, 3], pose[b, 6], pose[b, 9])
    cap = mad(centre, axis, half)
    count = _touch(pose, a, mad(cap, down, radius), margin, out, first)
    if abs(cosine) < STANDING:
        p = mad(mad(centre, axis, -half), down, radius)
        return count + _touch(pose, a, p, margin, out, first + count)
    side = cross(axis, down)
    count += _touch(pose, a, mad(cap, side, radius), margin, out, first + count)
    count += _touch(pose, a, mad(cap, down, -radius), margin, out, first + count)
    return count + _touch(pose, a, mad(cap, side, -radius), margin, out, first + count)


@kernel
def _plane_box(shapes, pose, a, b, margin, out, first):
    """Corners of the lowest face: it holds the lowest corner, and no other face matters."""
    size = shapes.size
    normal = to_local_direction(pose, b, plane_normal(pose, a))
    k = 0
    if abs(normal[1]) > abs(normal[0]):
        k = 1
    if abs(normal[2]) > max(abs(normal[0]), abs(normal[1])):
        k = 2
    hx, hy, hz = size[b, 0], size[b, 1], size[b, 2]
    count = 0
    for corner in range(4):  # around the face, so that neighbours in the list are neighbours
        s = 1.0 if corner == 0 or corner == 3 else -1.0
        t = 1.0 if corner < 2 else -1.0
        if k == 0:
            p = (-hx if normal[0] > 0.0 else hx, s * hy, t * hz)
        elif k == 1:
            p = (t * hx, -hy if normal[1] > 0.0 else hy, s * hz)
        else:
            p = (s * hx, t * hy, -hz if normal[2] > 0.0 else hz)
        count += _touch(pose, a, to_world(pose, b, p), margin, out, first + count)
    return count


@kernel
def _add_lowest(scratch, source, count, corners):
    """Bring the lowest of the `corners` rows behind the first `count`; how many there are then."""
    most = min(corners, MOST_PLANE)
    for row in range(source + count, source + most):
        lowest = row
        for other in range(row + 1, source + corners):
            if scratch[other, 3] < scratch[lowest, 3]:
                lowest = other
        swap_rows(scratch, row, lowest)
    return max(count, most)


@kernel
def _plane_hull(shapes, pose, a, b, margin, out, first, scratch):
    """The corners within the margin, reduced to four; in motion some others with them."""
    polytope, table, vertex = shapes.polytope, shapes.table, shapes.vertex
    normal = plane_normal(pose, a)
    down = to_local_direction(pose, b, normal)
    height = height_above(pose, a, pose_position(pose, b))
    start = polytope[table[b], 0]
    stop = start + polytope[table[b], 1]
    lowest, deepest = margin, -1
    for v in range(start, stop):
        gap = height + dot(down, load(vertex, v))
        if gap < lowest:
            lowest, deepest = gap, v
    if lowest >= margin:
        return 0
    limit = min(margin, lowest + BAND * shapes.radius[b])
    count = 0
    for v in range(start, stop):
        x = load(vertex, v)
        gap = height + dot(down, x)
        if gap < limit and (count < BUFFER_ROWS or v == deepest):
            p = mad(to_world(pose, b, x), normal, -gap)
            count = min(count, BUFFER_ROWS - 1)  # where all rows are taken the last one gives way
            row = BUFFER_0 + count
            scratch[row, 0], scratch[row, 1], scratch[row, 2] = p
            scratch[row, 3] = gap
            count += 1
    corners = count
    count = reduce_points(scratch, BUFFER_0, count, normal)
    if margin > ROLLS * shapes.radius[b]:
        count = _add_lowest(scratch, BUFFER_0, count, corners)
    for k in range(count):
        row = BUFFER_0 + k
        p = (scratch[row, 0], scratch[row, 1], scratch[row, 2])
        gap = scratch[row, 3]
        write_contact(out, first + k, mad(p, normal, 0.5 * gap), normal, gap)
    return count


@kernel
def _plane_any(shapes, pose, a, b, margin, out, first):
    """The points of a shape without rounding radius that may rest on the plane."""
    normal = to_local_direction(pose, b, plane_normal(pose, a))
    count = 0
    for i in range(resting_count(shapes, b, normal)):
        p = to_world(pose, b, resting_point(shapes, b, normal, i))
        count += _touch(pose, a, p, margin, out, first + count)
    return count


@inner_kernel(forceinline=True)
def plane_contacts(shapes, pose, a, b, margin, out, first, scratch):
    """Contacts of plane a with the convex shape b; two planes have none."""
    kind = shapes.kind[b]
    if kind == PLANE or height_above(pose, a, pose_position(pose, b)) >= shapes.radius[b] + margin:
        return 0
    if kind == SPHERE:
        return _plane_sphere(shapes, pose, a, b, margin, out, first)
    if kind == CAPSULE:
        return _plane_capsule(shapes, pose, a, b, margin, out, first)
    if kind == CYLINDER:
        return _plane_cylinder(shapes, pose, a, b, margin, out, first)
    if kind == BOX:
        return _plane_box(shapes, pose, a, b, margin, out, first)
    if kind == HULL:
        return _plane_hull(shapes, pose, a, b, margin, out, first, scratch)
    return _plane_any(shapes, pose, a, b, margin, out, first)
