"""Penetration direction of meshes: whether a corner or ridge deep behind a face entered through it.

Takes the place of EPA, which is for convex bodies: the exit is through the feature where the body
entered. It entered there if the segment from the one to the other lies inside the body: if it meets
no other triangle. What is in front of a thin wall is also behind its far side, but the segment to
that leads through the near side.

Two ridges did not enter there if another side of the body is a nearer exit. A pipe that stands on
another has its rim in the plane of the other's end: there the upright edges of the one cross the
rim of the other, deep behind each other seen from aside. Corners like that are hidden by the face
that they stand on (reduction.py).
"""

from drystone.collision.narrowphase.mesh.reduction import hides
from drystone.collision.narrowphase.mesh.triangle_features import COLUMNS, CRACK, INSIDE_BOTH
from drystone.jit import inner_kernel, kernel
from drystone.jit.vec import cross, dot, load, mad, mul_t, norm, scale, sub
from drystone.shapes.bvh.wide import BOX_FLOATS, WIDTH

# Part of a segment at either end where the triangles meet that it leads from and to.
END = 1e-6
# Overlaps below this part of the smaller radius are believed: there are no walls so thin.
SHALLOW = 1e-3
# Of two ridges: another side within this part of their overlap is the exit, unless it faces
# away from theirs by more than this cosine, as the far side of a plate does.
NEARER, FACING_AWAY = 0.5, -0.5
# Triangles with this cosine to a side of the ridge, and this part of the distance from it, are it.
SAME_PLANE, OWN = 1.0 - 1e-9, 1e-3


@kernel
def _meets(p, d, a, b, c):
    """Whether the segment from p along d crosses the triangle abc, or all but does."""
    n = cross(sub(b, a), sub(c, a))
    start, slope = dot(n, sub(p, a)), dot(n, d)
    if slope == 0.0:
        return False
    s = -start / slope
    if s < END or s > 1.0 - END:
        return False
    x, beside = mad(p, d, s), -CRACK * dot(n, n)
    return (
        dot(cross(sub(b, a), sub(x, a)), n) >= beside
        and dot(cross(sub(c, b), sub(x, b)), n) >= beside
        and dot(cross(sub(a, c), sub(x, c)), n) >= beside
    )


@kernel
def _open(wide_box, node, m, half, stack, top):
    """Put the children of a wide node that meet the box about m on the stack; how many wait."""
    for k in range(WIDTH):
        at = node * BOX_FLOATS + k
        if (
            abs(wide_box[at] - m[0]) <= wide_box[at + 3 * WIDTH] + half[0]
            and abs(wide_box[at + WIDTH] - m[1]) <= wide_box[at + 4 * WIDTH] + half[1]
            and abs(wide_box[at + 2 * WIDTH] - m[2]) <= wide_box[at + 5 * WIDTH] + half[2]
        ):
            stack[top, 0] = node * WIDTH + k
            top += 1
    return top


@kernel
def _is_clear(shapes, root, first_vertex, p, q, stack):
    """Whether no triangle of a surface lies between points p and q, in its own axes."""
    vertex, triangle, child_link = shapes.terrain_vertex, shapes.triangle, shapes.child_link
    d = sub(q, p)
    m = mad(p, d, 0.5)
    small = CRACK * norm(d)
    half = (0.5 * abs(d[0]) + small, 0.5 * abs(d[1]) + small, 0.5 * abs(d[2]) + small)
    top = 1
    stack[0, 0] = WIDTH * root
    while top > 0:
        top -= 1
        child = stack[top, 0]
        if child_link[child, 1] == 0:
            top = _open(shapes.wide_box, child_link[child, 0], m, half, stack, top)
            continue
        for row in range(child_link[child, 0], child_link[child, 0] + child_link[child, 1]):
            a = load(vertex, first_vertex + triangle[row, 0])
            b = load(vertex, first_vertex + triangle[row, 1])
            c = load(vertex, first_vertex + triangle[row, 2])
            if _meets(p, d, a, b, c):
                return False
    return True


@kernel
def _has_nearer_side(
    shapes, root, first_vertex, first_triangle, edge, x, on_ridge, out, limit, stack
):  # fmt: skip
    """Whether point x inside a surface is nearer than `limit` to a side that is not the ridge's.

    edge      3 times the triangle and number of the ridge's edge
    on_ridge  the point of the ridge that x is to leave at, along `out`
    """
    vertex, triangle, normal = shapes.terrain_vertex, shapes.triangle, shapes.triangle_normal
    child_link, row = shapes.child_link, edge // 3
    n, beyond = load(normal, row), shapes.neighbour[row, edge % 3]
    m = load(normal, first_triangle + beyond) if beyond >= 0 else n
    small, top = OWN * limit, 1
    stack[0, 0] = WIDTH * root
    while top > 0:
        top -= 1
        child = stack[top, 0]
        if child_link[child, 1] == 0:
            half = (limit, limit, limit)
            top = _open(shapes.wide_box, child_link[child, 0], x, half, stack, top)
            continue
        for row in range(child_link[child, 0], child_link[child, 0] + child_link[child, 1]):
            g = load(normal, row)
            a = load(vertex, first_vertex + triangle[row, 0])
            depth = -dot(g, sub(x, a))
            if depth < -small or depth >= limit or dot(g, out) < FACING_AWAY:
                continue
            own = max(dot(g, n), dot(g, m)) > SAME_PLANE
            if own and abs(dot(g, sub(on_ridge, a))) <= small:
                continue
            b = load(vertex, first_vertex + triangle[row, 1])
            c = load(vertex, first_vertex + triangle[row, 2])
            if _is_over(x, g, a, b) and _is_over(x, g, b, c) and _is_over(x, g, c, a):
                return True
    return False


@kernel
def _is_over(x, n, a, b):
    """Whether x is on the inner side of the edge from a to b of a triangle with normal n."""
    e = sub(b, a)
    return dot(cross(e, sub(x, a)), n) >= -CRACK * dot(e, e)


@kernel
def _entered_there(shapes, pair, rows, i, stack):
    """Whether candidate i entered where it is to leave."""
    if rows[i, 6] >= -SHALLOW * pair.radius or rows[i, 7] == 0.0:
        return True
    r, t, n = pair.r, pair.t, (rows[i, 3], rows[i, 4], rows[i, 5])
    half, limit = scale(n, 0.5 * rows[i, 6]), -NEARER * rows[i, 6]
    p, q = sub(load(rows, i), half), mad(load(rows, i), half, 1.0)
    clear, both = True, rows[i, 7] == INSIDE_BOTH
    if rows[i, 7] < 0.0 or both:
        clear = _is_clear(shapes, pair.root_a, pair.vertex_a, q, p, stack)
    if clear and both:
        clear = not _has_nearer_side(
            shapes, pair.root_a, pair.vertex_a, pair.triangle_a, int(rows[i, 8]), q, p, n, limit,
            stack,
        )  # fmt: skip
    if clear and rows[i, 7] > 0.0:
        p, q = mul_t(r, sub(p, t)), mul_t(r, sub(q, t))
        clear = _is_clear(shapes, pair.root_b, pair.vertex_b, p, q, stack)
    if clear and both:
        clear = not _has_nearer_side(
            shapes, pair.root_b, pair.vertex_b, pair.triangle_b, int(rows[i, 9]), p, q,
            mul_t(r, scale(n, -1.0)), limit, stack,
        )  # fmt: skip
    return clear


@inner_kernel
def drop_far_sides(shapes, pair, rows, count, stack):
    """Move the candidates that entered where they are to leave to the front; their number."""
    left = 0
    for i in range(count):
        if _entered_there(shapes, pair, rows, i, stack):
            for k in range(COLUMNS):
                rows[left, k] = rows[i, k]
            left += 1
    return left


@inner_kernel
def has_exit(shapes, pair, rows, count, depth, small, stack):
    """Whether a candidate is as deep as that and an exit: entered there, no other hides it.

    small  rounding of a height [m]
    """
    for me in range(count):
        if -rows[me, 6] < depth or not _entered_there(shapes, pair, rows, me, stack):
            continue
        hidden = False
        for i in range(count):
            if hides(rows, i, me, small) and _entered_there(shapes, pair, rows, i, stack):
                hidden = True
                break
        if not hidden:
            return True
    return False
