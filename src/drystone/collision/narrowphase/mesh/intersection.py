"""Intersection contours: where two surfaces pierce each other.

Two triangles that pierce each other do so along a segment: the common part of what the plane of
the one cuts out of the other [Moller1997]. The segments of all pairs make closed loops, each about
a place where the bodies overlap. Boxes alone decide which triangles are tested: unlike the search
for features, which asks for surfaces that face each other, this misses nothing.
"""

import numpy as np

from drystone.collision.narrowphase.mesh.leaf_pairs import corner_of, heights
from drystone.collision.narrowphase.mesh.node_test import box_gaps
from drystone.jit import inner_kernel, kernel
from drystone.jit.vec import add, cross, dot, load, mad, mul, mul_t, normalize, scale, sub
from drystone.shapes.bvh.wide import BOX_FLOATS, WIDTH

# Segments that are kept; a contour of more is open, and its area vector an estimate.
MOST_SEGMENTS = 2048
# Columns of work.contour: both ends of a segment, in the axes of A, along n_A x n_B; its loop; the
# direction that leads from it into both bodies.
SEGMENT_COLUMNS = 10
LOOP, INWARD = 6, 7
# Loops of a pair that are told apart; the rest is added to the last.
MOST_LOOPS = 16
# Columns of work.loop: middle, area vector, length, number of the overlap it is a part of.
LOOP_COLUMNS = 8
AREA, LENGTH, OVERLAP = 3, 6, 7
# Ends of segments that are nearer than this part of the smaller radius are the same point.
SAME = 1e-6


@kernel
def _cut(x, y, z, hx, hy, hz):
    """The two points where a triangle meets a plane, from the heights of its corners over it."""
    if (hx >= 0.0) == (hy >= 0.0):
        x, y, z, hx, hy, hz = z, x, y, hz, hx, hy  # the one alone on its side first
    elif (hx >= 0.0) == (hz >= 0.0):
        x, y, z, hx, hy, hz = y, z, x, hy, hz, hx
    return mad(x, sub(y, x), hx / (hx - hy)), mad(x, sub(z, x), hx / (hx - hz))


@kernel(forceinline=True)
def _one_side(h):
    return min(h[0], h[1], h[2]) >= 0.0 or max(h[0], h[1], h[2]) < 0.0


@kernel
def _pierce(shapes, pair, row_a, row_b, b0, b1, b2, n_b, contour, count):
    """Add the segment that two triangles have in common, if any; the new count."""
    n_a, a0 = load(shapes.triangle_normal, row_a), corner_of(shapes, pair.vertex_a, row_a, 0)
    hb = heights(n_a, a0, b0, b1, b2)
    if _one_side(hb):
        return count
    a1 = corner_of(shapes, pair.vertex_a, row_a, 1)
    a2 = corner_of(shapes, pair.vertex_a, row_a, 2)
    ha = heights(n_b, b0, a0, a1, a2)
    if _one_side(ha):
        return count
    along = cross(n_a, n_b)
    p, q = _cut(a0, a1, a2, ha[0], ha[1], ha[2])
    r, s = _cut(b0, b1, b2, hb[0], hb[1], hb[2])
    if dot(sub(q, p), along) < 0.0:
        p, q = q, p
    if dot(sub(s, r), along) < 0.0:
        r, s = s, r
    if dot(sub(r, p), along) > 0.0:
        p = r
    if dot(sub(s, q), along) < 0.0:
        q = s
    if dot(sub(q, p), along) <= 0.0:
        return count
    contour[count, 0], contour[count, 1], contour[count, 2] = p
    contour[count, 3], contour[count, 4], contour[count, 5] = q
    contour[count, LOOP] = -1.0
    inward = normalize(scale(add(n_a, n_b), -1.0))
    contour[count, INWARD], contour[count, INWARD + 1], contour[count, INWARD + 2] = inward
    return count + 1


@kernel
def _pierce_leaves(shapes, pair, i, j, most, contour, count):
    """Segments of the triangles of leaf i of A and leaf j of B; the new count."""
    link, r, t = shapes.child_link, pair.r, pair.t
    for row_b in range(link[j, 0], link[j, 0] + link[j, 1]):
        n_b = mul(r, load(shapes.triangle_normal, row_b))
        b0 = add(mul(r, corner_of(shapes, pair.vertex_b, row_b, 0)), t)
        b1 = add(mul(r, corner_of(shapes, pair.vertex_b, row_b, 1)), t)
        b2 = add(mul(r, corner_of(shapes, pair.vertex_b, row_b, 2)), t)
        for row_a in range(link[i, 0], link[i, 0] + link[i, 1]):
            if count < most:
                count = _pierce(shapes, pair, row_a, row_b, b0, b1, b2, n_b, contour, count)
    return count


@kernel(forceinline=True)
def _box_of(wide_box, child):
    """Centre and half sizes of the box of a child."""
    at = child // WIDTH * BOX_FLOATS + child % WIDTH
    centre = (wide_box[at], wide_box[at + WIDTH], wide_box[at + 2 * WIDTH])
    half = (wide_box[at + 3 * WIDTH], wide_box[at + 4 * WIDTH], wide_box[at + 5 * WIDTH])
    return centre, half


@inner_kernel
def find_contours(shapes, pair, most, work):
    """Fill work.contour with the segments where two surfaces pierce each other; their number.

    most  how many to find: 1 tells whether they do
    """
    wide_box, link, gap, stack = shapes.wide_box, shapes.child_link, work.gap, work.stack
    r, t = pair.r, pair.t
    back, t_back = (r[0], r[3], r[6], r[1], r[4], r[7], r[2], r[5], r[8]), mul_t(r, scale(t, -1.0))
    count, waiting = 0, 1
    stack[0, 0], stack[0, 1] = WIDTH * pair.root_a, WIDTH * pair.root_b
    while waiting > 0 and count < most:
        waiting -= 1
        i, j = stack[waiting, 0], stack[waiting, 1]
        if link[i, 1] > 0 and link[j, 1] > 0:
            count = _pierce_leaves(shapes, pair, i, j, most, work.contour, count)
            continue
        centre_a, half_a = _box_of(wide_box, i)
        centre_b, half_b = _box_of(wide_box, j)
        larger_a = half_a[0] + half_a[1] + half_a[2] >= half_b[0] + half_b[1] + half_b[2]
        open_a = link[j, 1] > 0 or (link[i, 1] == 0 and larger_a)
        if open_a:
            node = link[i, 0]
            x = add(mul(r, centre_b), t)
            box_gaps(wide_box, np.uint64(node * BOX_FLOATS), x, half_b, r, gap)
        else:
            node = link[j, 0]
            x = add(mul(back, centre_a), t_back)
            box_gaps(wide_box, np.uint64(node * BOX_FLOATS), x, half_a, back, gap)
        for k in range(WIDTH):
            if gap[k] <= 0.0:
                child = node * WIDTH + k
                stack[waiting, 0], stack[waiting, 1] = (child, j) if open_a else (i, child)
                waiting += 1
    return count


@kernel(forceinline=True)
def _near(contour, i, a, j, b, tolerance2):
    """Whether end a of segment i is where end b of segment j is."""
    x = contour[i, a] - contour[j, b]
    y = contour[i, a + 1] - contour[j, b + 1]
    z = contour[i, a + 2] - contour[j, b + 2]
    return x * x + y * y + z * z <= tolerance2


@inner_kernel
def trace_loops(count, tolerance, work):
    """Number the loops of the segments in work.contour and measure them; how many there are.

    The area vector, half the sum of p x q about any point, points from A to B: it is the gradient
    of the volume in which the two overlap, reversed, with respect to a translation of B.
    """
    contour, loop, queue = work.contour, work.loop, work.queue
    loops, tolerance2 = 0, tolerance * tolerance
    for seed in range(count):
        if contour[seed, LOOP] >= 0.0:
            continue
        number = float(min(loops, MOST_LOOPS - 1))
        contour[seed, LOOP], queue[0], first, last = number, seed, 0, 1
        while first < last:
            i = queue[first]
            first += 1
            for j in range(count):
                if contour[j, LOOP] < 0.0 and (
                    _near(contour, i, 3, j, 0, tolerance2) or _near(contour, i, 0, j, 3, tolerance2)
                ):
                    contour[j, LOOP] = number
                    queue[last] = j
                    last += 1
        loops = min(loops + 1, MOST_LOOPS)
    for k in range(loops):
        _measure_loop(contour, count, k, loop)
    return loops


@kernel
def _measure_loop(contour, count, k, loop):
    """Middle, area vector and length of loop k."""
    length, middle, area = 0.0, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for i in range(count):
        if contour[i, LOOP] == k:
            p, q = load(contour, i), (contour[i, 3], contour[i, 4], contour[i, 5])
            d = sub(q, p)
            size = dot(d, d) ** 0.5
            length += size
            middle = mad(middle, add(p, q), 0.5 * size)
    if length > 0.0:
        middle = scale(middle, 1.0 / length)
    for i in range(count):
        if contour[i, LOOP] == k:
            p, q = sub(load(contour, i), middle), (contour[i, 3], contour[i, 4], contour[i, 5])
            area = mad(area, cross(p, sub(q, middle)), 0.5)
    loop[k, 0], loop[k, 1], loop[k, 2] = middle
    loop[k, AREA], loop[k, AREA + 1], loop[k, AREA + 2] = area
    loop[k, LENGTH], loop[k, OVERLAP] = length, float(k)
