"""Whether a corner or ridge deep behind a face came in through it.

It did if the straight way from the one to the other lies inside the body: if it meets no other
triangle. What is in front of a thin wall is also behind its far side, but the way there leads
through the near side.

Two ridges did not if another side of the body is a nearer way out. A pipe that stands on another
has its rim in the plane of the other's end: there the upright edges of the one cross the rim of the
other, deep behind each other seen from aside. Corners like that are hidden by the face that they
stand on (reduction.py).
"""

from drystone.collision.narrowphase.mesh.reduction import hides
from drystone.collision.narrowphase.mesh.triangle_features import COLUMNS, CRACK, INSIDE_BOTH
from drystone.jit import inner_kernel, kernel
from drystone.jit.vec import cross, dot, load, mad, mul_t, norm, scale, sub
from drystone.shapes.bvh.wide import BLOCK, LANES

# Part of the way at either end where the triangles meet that it leads from and to.
END = 1e-6
# Overlaps below this part of the smaller radius are believed: there are no walls so thin.
SHALLOW = 1e-3
# Of two ridges: another side within this part of their overlap is the way out, unless it faces
# away from theirs by more than this cosine, as the far side of a plate does.
NEARER, FACING_AWAY = 0.5, -0.5
# Triangles with this cosine to a side of the ridge, and this part of the distance from it, are it.
SAME_PLANE, OWN = 1.0 - 1e-9, 1e-3


@kernel
def _meets(p, d, a, b, c):
    """Whether the way from p along all of d crosses the triangle abc, or all but does."""
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
def _open(lane_box, block, m, half, stack, top):
    """Put the lanes of a block that meet the box about m on the stack; how many wait there."""
    for k in range(LANES):
        at = block * BLOCK + k
        if (
            abs(lane_box[at] - m[0]) <= lane_box[at + 3 * LANES] + half[0]
            and abs(lane_box[at + LANES] - m[1]) <= lane_box[at + 4 * LANES] + half[1]
            and abs(lane_box[at + 2 * LANES] - m[2]) <= lane_box[at + 5 * LANES] + half[2]
        ):
            stack[top, 0] = block * LANES + k
            top += 1
    return top


@kernel
def _is_clear(surfaces, lane_box, lane_link, block, v, p, q, stack):
    """Whether no triangle of a surface lies between points p and q, in its own axes."""
    d = sub(q, p)
    m = mad(p, d, 0.5)
    small = CRACK * norm(d)
    half = (0.5 * abs(d[0]) + small, 0.5 * abs(d[1]) + small, 0.5 * abs(d[2]) + small)
    top = 1
    stack[0, 0] = LANES * block
    while top > 0:
        top -= 1
        lane = stack[top, 0]
        if lane_link[lane, 1] == 0:
            top = _open(lane_box, lane_link[lane, 0], m, half, stack, top)
            continue
        for row in range(lane_link[lane, 0], lane_link[lane, 0] + lane_link[lane, 1]):
            a = load(surfaces.vertex, v + surfaces.triangle[row, 0])
            b = load(surfaces.vertex, v + surfaces.triangle[row, 1])
            c = load(surfaces.vertex, v + surfaces.triangle[row, 2])
            if _meets(p, d, a, b, c):
                return False
    return True


@kernel
def _has_nearer_side(
    surfaces, lane_box, lane_link, block, v, base, edge, x, on_ridge, out, limit, stack
):  # fmt: skip
    """Whether point x inside a surface is nearer than `limit` to a side that is not the ridge's.

    edge      3 times the triangle and number of the ridge's edge
    on_ridge  the point of the ridge that x is to leave at, along `out`
    """
    row = edge // 3
    n, beyond = load(surfaces.normal, row), surfaces.neighbour[row, edge % 3]
    m = load(surfaces.normal, base + beyond) if beyond >= 0 else n
    small, top = OWN * limit, 1
    stack[0, 0] = LANES * block
    while top > 0:
        top -= 1
        lane = stack[top, 0]
        if lane_link[lane, 1] == 0:
            top = _open(lane_box, lane_link[lane, 0], x, (limit, limit, limit), stack, top)
            continue
        for row in range(lane_link[lane, 0], lane_link[lane, 0] + lane_link[lane, 1]):
            g = load(surfaces.normal, row)
            a = load(surfaces.vertex, v + surfaces.triangle[row, 0])
            depth = -dot(g, sub(x, a))
            if depth < -small or depth >= limit or dot(g, out) < FACING_AWAY:
                continue
            own = max(dot(g, n), dot(g, m)) > SAME_PLANE
            if own and abs(dot(g, sub(on_ridge, a))) <= small:
                continue
            b = load(surfaces.vertex, v + surfaces.triangle[row, 1])
            c = load(surfaces.vertex, v + surfaces.triangle[row, 2])
            if _is_over(x, g, a, b) and _is_over(x, g, b, c) and _is_over(x, g, c, a):
                return True
    return False


@kernel
def _is_over(x, n, a, b):
    """Whether x is on the inner side of the edge from a to b of a triangle with normal n."""
    e = sub(b, a)
    return dot(cross(e, sub(x, a)), n) >= -CRACK * dot(e, e)


@kernel
def _came_in(
    surfaces, lane_box, lane_link, block_a, v_a, t_a, block_b, v_b, t_b, r, t, shallow,
    rows, i, stack,
):  # fmt: skip
    """Whether candidate i came in the way it is to go out."""
    if rows[i, 6] >= -shallow or rows[i, 7] == 0.0:
        return True
    n = (rows[i, 3], rows[i, 4], rows[i, 5])
    half, limit = scale(n, 0.5 * rows[i, 6]), -NEARER * rows[i, 6]
    p, q = sub(load(rows, i), half), mad(load(rows, i), half, 1.0)
    clear, both = True, rows[i, 7] == INSIDE_BOTH
    if rows[i, 7] < 0.0 or both:
        clear = _is_clear(surfaces, lane_box, lane_link, block_a, v_a, q, p, stack)
    if clear and both:
        clear = not _has_nearer_side(
            surfaces, lane_box, lane_link, block_a, v_a, t_a, int(rows[i, 8]), q, p, n, limit,
            stack,
        )  # fmt: skip
    if clear and rows[i, 7] > 0.0:
        p, q = mul_t(r, sub(p, t)), mul_t(r, sub(q, t))
        clear = _is_clear(surfaces, lane_box, lane_link, block_b, v_b, p, q, stack)
    if clear and both:
        clear = not _has_nearer_side(
            surfaces, lane_box, lane_link, block_b, v_b, t_b, int(rows[i, 9]), p, q,
            mul_t(r, scale(n, -1.0)), limit, stack,
        )  # fmt: skip
    return clear


@inner_kernel
def drop_far_sides(
    # trees, first block, vertex and triangle of both surfaces, pose of B in the axes of A
    surfaces, lane_box, lane_link, block_a, v_a, t_a, block_b, v_b, t_b, r, t,
    # in: overlaps that are believed [m]
    shallow,
    # in and out
    rows, count,
    # scratch
    stack,
):  # fmt: skip
    """Move the candidates that came in the way they are to go out to the front; their number."""
    kept = 0
    for i in range(count):
        if _came_in(
            surfaces, lane_box, lane_link, block_a, v_a, t_a, block_b, v_b, t_b, r, t, shallow,
            rows, i, stack,
        ):  # fmt: skip
            for k in range(COLUMNS):
                rows[kept, k] = rows[i, k]
            kept += 1
    return kept


@inner_kernel
def some_way_out(
    # as above
    surfaces, lane_box, lane_link, block_a, v_a, t_a, block_b, v_b, t_b, r, t, shallow, rows, count,
    # in: depth, rounding of a height [m]
    depth, small,
    # scratch
    stack,
):  # fmt: skip
    """Whether a candidate is as deep as that and a way out: came in there, no other hides it."""
    for me in range(count):
        if -rows[me, 6] < depth or not _came_in(
            surfaces, lane_box, lane_link, block_a, v_a, t_a, block_b, v_b, t_b, r, t, shallow,
            rows, me, stack,
        ):  # fmt: skip
            continue
        hidden = False
        for i in range(count):
            if hides(rows, i, me, small) and _came_in(
                surfaces, lane_box, lane_link, block_a, v_a, t_a, block_b, v_b, t_b, r, t, shallow,
                rows, i, stack,
            ):  # fmt: skip
                hidden = True
                break
        if not hidden:
            return True
    return False
