"""Exit face: the penetration direction of a point whose closest face cannot hold it.

Of two cubes on each other with flush sides, the corners of one are on the sides of the other: a
side is nearest, however little the cubes overlap. But from there an edge of the corner leads into
the solid, so it did not enter through that side. Of the faces that no edge leads deeper from,
the nearest is the exit, if the surface beside the corner leaves there too: a little along it,
where the sides are farther, that face must be nearest of all.

Directions and points are in the axes of the solid, see Meeting in vertex.py.
"""

from math import inf, sqrt

from drystone.collision.narrowphase.mesh.constants import ROUNDING
from drystone.collision.narrowphase.mesh.triangle_features import LYING
from drystone.jit import inner_kernel, kernel
from drystone.jit.vec import add, dot, load, mad, mul, mul_t, normalize, scale, sub
from drystone.shapes.sdf.closest_point import box_distance2, corners_of, signed_distance
from drystone.shapes.sdf.point_triangle import foot_on

# How far beside the point the surface is tested, in depths: at the middle of a corner of 30
# degrees the sides are farther than the depth.
BESIDE = 4.0
# By which part of the depth the distance there may differ from it.
OUT = 0.05
# The direction of a ridge, for a corner.
NO_EDGE = (0.0, 0.0, 0.0)


@inner_kernel
def supports(meeting, tangents, n, slope):
    """Whether no direction along the surface leads against n by more than `slope`."""
    for i in range(tangents.first, tangents.last):
        if dot(mul(meeting.to_solid, load(tangents.direction, i)), n) < -slope:
            return False
    return True


@kernel
def _can_hold(meeting, e, tangents, n):
    """As supports(), and a ridge along e is at right angles to n."""
    if abs(dot(e, n)) > LYING:
        return False
    m = mul_t(meeting.to_solid, n)
    for i in range(tangents.first, tangents.last):
        if dot(load(tangents.direction, i), m) < -LYING:
            return False
    return True


@kernel
def _nearest_hold(solids, meeting, x, e, tangents, small, stack):
    """Nearest point of the faces that x is behind and that can hold it, its distance, and face."""
    node_box, start = solids.node_box, solids.terrain[meeting.solid, 0]
    best, foot, normal = meeting.deep, x, e
    top = 1
    stack[0] = solids.tree[meeting.solid]
    while top > 0:
        top -= 1
        i = stack[top]
        if box_distance2(node_box, i, x) >= best * best:
            continue
        link, count = solids.node_link[i, 0], solids.node_link[i, 1]
        if count == 0:
            near, far = i + 1, link
            if box_distance2(node_box, far, x) < box_distance2(node_box, near, x):
                near, far = far, near
            stack[top], stack[top + 1] = far, near
            top += 2
            continue
        for row in range(link, link + count):
            a, b, c = corners_of(solids, start, row)
            face = load(solids.normal, row)
            if dot(face, sub(x, a)) > small:
                continue
            y = foot_on(a, b, c, x)[0]
            d = sub(y, x)
            distance = sqrt(dot(d, d))
            if distance < best and _can_hold(meeting, e, tangents, face):
                best, foot, normal = distance, y, face
    return foot, best, normal


@kernel
def _tangent(meeting, e, tangents, i):
    """Direction i along the surface: those in `tangents`, then both directions of the ridge."""
    if i < tangents.last:
        return mul(meeting.to_solid, load(tangents.direction, i))
    return e if i == tangents.last else scale(e, -1.0)


@kernel
def _leaves_beside(solids, meeting, x, e, tangents, n, depth, small, stack):
    """Whether beside x, between two directions that lie along the face, `depth` is the distance."""
    first, last = tangents.first, tangents.last
    end = last if e == NO_EDGE else last + 2
    for i in range(first, end):
        a = _tangent(meeting, e, tangents, i)
        if abs(dot(a, n)) > LYING:
            continue
        a = normalize(mad(a, n, -dot(a, n)))
        for j in range(first, i + 1):
            b = _tangent(meeting, e, tangents, j)
            if abs(dot(b, n)) > LYING:
                continue
            aside = add(a, normalize(mad(b, n, -dot(b, n))))
            beside = mad(x, normalize(aside), BESIDE * depth)
            f, _ = signed_distance(solids, meeting.solid, beside, 2.0 * abs(depth) + small, stack)
            if abs(f + depth) <= OUT * abs(depth) + 2.0 * small:
                return True
    return False


@kernel
def find_exit(solids, meeting, x, e, tangents, stack):
    """How deep x is behind the face that holds it, and the normal; inf if there is none.

    e         unit vector along the ridge that x is on; NO_EDGE for a corner
    tangents  directions along the surface at x
    """
    small = ROUNDING * meeting.radius
    foot, depth, n = _nearest_hold(solids, meeting, x, e, tangents, small, stack)
    if depth >= meeting.deep:
        return inf, n
    d = sub(foot, x)
    height = dot(d, n)
    aside = mad(d, n, -height)
    if dot(aside, aside) <= small * small:
        depth = height
    else:  # behind the faces of a hollow, and under neither
        n = scale(d, 1.0 / depth)
        if not _can_hold(meeting, e, tangents, n):
            return inf, n
    if _leaves_beside(solids, meeting, x, e, tangents, n, depth, small, stack):
        return depth, n
    return inf, n
