"""Whether a corner or ridge deep behind a face came in through it.

It did if the straight way from the one to the other lies inside the body: if it meets no other
triangle. What is in front of a thin wall is also behind its far side, but the way there leads
through the near side.
"""

from drystone.jit import inner_kernel, kernel
from drystone.narrowphase.mesh_features import INSIDE_BOTH
from drystone.narrowphase.mesh_reduce import hides
from drystone.shapes.lanes import BLOCK, LANES
from drystone.vec import cross, dot, load, mad, mul_t, scale, sub

# Part of the way at either end where the triangles meet that it leads from and to.
END = 1e-6
# Overlaps below this part of the smaller radius are believed: there are no walls so thin.
SHALLOW = 1e-3


@kernel
def _meets(p, d, a, b, c):
    """Whether the way from p along all of d crosses the triangle abc."""
    n = cross(sub(b, a), sub(c, a))
    start, slope = dot(n, sub(p, a)), dot(n, d)
    if slope == 0.0:
        return False
    s = -start / slope
    if s < END or s > 1.0 - END:
        return False
    x = mad(p, d, s)
    return (
        dot(cross(sub(b, a), sub(x, a)), n) >= 0.0
        and dot(cross(sub(c, b), sub(x, b)), n) >= 0.0
        and dot(cross(sub(a, c), sub(x, c)), n) >= 0.0
    )


@kernel
def _is_clear(surfaces, lane_box, lane_link, block, v, p, q, stack):
    """Whether no triangle of a surface lies between points p and q, in its own axes."""
    d = sub(q, p)
    m = mad(p, d, 0.5)
    hx, hy, hz = 0.5 * abs(d[0]), 0.5 * abs(d[1]), 0.5 * abs(d[2])
    top = 1
    stack[0, 0] = LANES * block
    while top > 0:
        top -= 1
        lane = stack[top, 0]
        if lane_link[lane, 1] == 0:
            first = lane_link[lane, 0]
            for k in range(LANES):
                at = first * BLOCK + k
                if (
                    abs(lane_box[at] - m[0]) <= lane_box[at + 3 * LANES] + hx
                    and abs(lane_box[at + LANES] - m[1]) <= lane_box[at + 4 * LANES] + hy
                    and abs(lane_box[at + 2 * LANES] - m[2]) <= lane_box[at + 5 * LANES] + hz
                ):
                    stack[top, 0] = first * LANES + k
                    top += 1
            continue
        for row in range(lane_link[lane, 0], lane_link[lane, 0] + lane_link[lane, 1]):
            a = load(surfaces.vertex, v + surfaces.triangle[row, 0])
            b = load(surfaces.vertex, v + surfaces.triangle[row, 1])
            c = load(surfaces.vertex, v + surfaces.triangle[row, 2])
            if _meets(p, d, a, b, c):
                return False
    return True


@kernel
def _came_in(
    surfaces, lane_box, lane_link, block_a, v_a, block_b, v_b, r, t, shallow, rows, i, stack
):  # fmt: skip
    """Whether candidate i came in the way it is to go out."""
    if rows[i, 6] >= -shallow or rows[i, 7] == 0.0:
        return True
    half = scale((rows[i, 3], rows[i, 4], rows[i, 5]), 0.5 * rows[i, 6])
    p, q = sub(load(rows, i), half), mad(load(rows, i), half, 1.0)
    clear, both = True, rows[i, 7] == INSIDE_BOTH
    if rows[i, 7] < 0.0 or both:
        clear = _is_clear(surfaces, lane_box, lane_link, block_a, v_a, q, p, stack)
    if clear and rows[i, 7] > 0.0:
        p, q = mul_t(r, sub(p, t)), mul_t(r, sub(q, t))
        clear = _is_clear(surfaces, lane_box, lane_link, block_b, v_b, p, q, stack)
    return clear


@inner_kernel
def drop_far_sides(
    # trees, first block and vertex of both surfaces, pose of B in the axes of A
    surfaces, lane_box, lane_link, block_a, v_a, block_b, v_b, r, t,
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
            surfaces, lane_box, lane_link, block_a, v_a, block_b, v_b, r, t, shallow, rows, i, stack
        ):
            for k in range(8):
                rows[kept, k] = rows[i, k]
            kept += 1
    return kept


@inner_kernel
def some_way_out(
    # as above
    surfaces, lane_box, lane_link, block_a, v_a, block_b, v_b, r, t, shallow, rows, count,
    # in: depth, rounding of a height [m]
    depth, small,
    # scratch
    stack,
):  # fmt: skip
    """Whether a candidate is as deep as that and a way out: came in there, no other hides it."""
    for me in range(count):
        if -rows[me, 6] < depth or not _came_in(
            surfaces, lane_box, lane_link, block_a, v_a, block_b, v_b, r, t, shallow, rows, me,
            stack,
        ):  # fmt: skip
            continue
        hidden = False
        for i in range(count):
            if hides(rows, i, me, small) and _came_in(
                surfaces, lane_box, lane_link, block_a, v_a, block_b, v_b, r, t, shallow, rows, i,
                stack,
            ):  # fmt: skip
                hidden = True
                break
        if not hidden:
            return True
    return False
