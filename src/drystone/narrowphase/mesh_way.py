"""Whether a corner or ridge deep behind a face came in through it.

It did if the straight way from the one to the other lies inside the body: if it meets no other
triangle. What is in front of a thin wall is also behind its far side, but the way there leads
through the near side.
"""

from drystone.jit import inner_kernel, kernel
from drystone.narrowphase.mesh_features import INSIDE_BOTH
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
        clear = True
        if rows[i, 6] < -shallow and rows[i, 7] != 0.0:
            half = scale((rows[i, 3], rows[i, 4], rows[i, 5]), 0.5 * rows[i, 6])
            p, q = sub(load(rows, i), half), mad(load(rows, i), half, 1.0)
            both = rows[i, 7] == INSIDE_BOTH
            if rows[i, 7] < 0.0 or both:
                clear = _is_clear(surfaces, lane_box, lane_link, block_a, v_a, q, p, stack)
            if clear and rows[i, 7] > 0.0:
                p, q = mul_t(r, sub(p, t)), mul_t(r, sub(q, t))
                clear = _is_clear(surfaces, lane_box, lane_link, block_b, v_b, p, q, stack)
        if clear:
            for k in range(8):
                rows[kept, k] = rows[i, k]
            kept += 1
    return kept
