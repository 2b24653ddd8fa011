"""Rays in a closed surface: how far a point inside it is from where a ray leaves it."""

from math import inf

from drystone.jit import inner_kernel, kernel
from drystone.jit.vec import cross, dot, load, sub
from drystone.shapes.bvh.wide import BOX_FLOATS, WIDTH

OUTSIDE = -1.0  # what is returned for a point that is not inside
# A ray counts as inside a triangle up to this part of its edges outside it: none falls into the
# crack between two.
BESIDE = 1e-9


@kernel(forceinline=True)
def _clip(low, high, p, d, centre, half):
    """The part of low..high of a ray where one coordinate is within the box."""
    if d == 0.0:
        return (low, high) if abs(p - centre) <= half else (inf, -inf)
    s, u = (centre - half - p) / d, (centre + half - p) / d
    return max(low, min(s, u)), min(high, max(s, u))


@kernel
def _open(wide_box, node, p, d, low, high, stack, top):
    """Put the children of a wide node that the ray meets on the stack; how many wait."""
    for k in range(WIDTH):
        at = node * BOX_FLOATS + k
        x, y, z = wide_box[at + 3 * WIDTH], wide_box[at + 4 * WIDTH], wide_box[at + 5 * WIDTH]
        if x < 0.0:
            continue  # an unused child
        pad = BESIDE * (x + y + z)
        s, u = _clip(low, high, p[0], d[0], wide_box[at], x + pad)
        s, u = _clip(s, u, p[1], d[1], wide_box[at + WIDTH], y + pad)
        s, u = _clip(s, u, p[2], d[2], wide_box[at + 2 * WIDTH], z + pad)
        if s <= u:
            stack[top, 0] = node * WIDTH + k
            top += 1
    return top


@kernel
def _hit(p, d, n, a, b, c):
    """How far along the ray the triangle abc with normal n is met [m], infinite if it is not."""
    slope = dot(n, d)
    if slope == 0.0:
        return inf
    s = -dot(n, sub(p, a)) / slope
    x = (p[0] + s * d[0], p[1] + s * d[1], p[2] + s * d[2])
    e, f, g = sub(b, a), sub(c, b), sub(a, c)
    if (
        dot(cross(e, sub(x, a)), n) < -BESIDE * dot(e, e)
        or dot(cross(f, sub(x, b)), n) < -BESIDE * dot(f, f)
        or dot(cross(g, sub(x, c)), n) < -BESIDE * dot(g, g)
    ):
        return inf
    return s


@inner_kernel
def way_out(shapes, root, first_vertex, p, d, small, stack):
    """How far point p is from where the unit vector d leads out of a surface [m], or OUTSIDE.

    It is inside if the first triangle that the ray meets is met from behind. All in the axes of
    the surface.

    small  what is nearer than that behind p counts as met at p [m]
    """
    vertex, triangle, child_link = shapes.terrain_vertex, shapes.triangle, shapes.child_link
    nearest, out, top = inf, False, 1
    stack[0, 0] = WIDTH * root
    while top > 0:
        top -= 1
        child = stack[top, 0]
        if child_link[child, 1] == 0:
            # Boxes may be flat: those at the very end of the ray count.
            far = nearest + small
            top = _open(shapes.wide_box, child_link[child, 0], p, d, -small, far, stack, top)
            continue
        for row in range(child_link[child, 0], child_link[child, 0] + child_link[child, 1]):
            n = load(shapes.triangle_normal, row)
            a = load(vertex, first_vertex + triangle[row, 0])
            b = load(vertex, first_vertex + triangle[row, 1])
            c = load(vertex, first_vertex + triangle[row, 2])
            s = _hit(p, d, n, a, b, c)
            if s >= -small and s < nearest:
                nearest, out = s, dot(n, d) > 0.0
    return max(nearest, 0.0) if out else OUTSIDE
