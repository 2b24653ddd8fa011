"""Contact manifold: clip one polygon by the sides of another, reduce it to four spread points.

Polygons live in rows of a (256, 4) scratch array that the caller owns: a point of the reference
plane (three coordinates in any orthonormal frame) and the gap of the surface above it. Two
buffers, as a cut reads one and writes the other.
"""

from math import sqrt

from drystone.jit import inner_kernel, kernel
from drystone.jit.vec import cross, dot, mad, norm, sub

BUFFER_0, BUFFER_1 = 0, 128  # first rows of the two polygon buffers
BUFFER_ROWS = 128
MOST_CONTACTS = 4

# A corner may lie this far outside a side, relative to the size of the face, before it is cut.
# Faces that fit exactly then keep their corners whatever the rounding of the poses.
CUT_TOLERANCE = 1e-6

# How much better a later candidate must be, relative, to replace an earlier one in the
# reduction: contacts of a body at rest must not swap places because of rounding.
CLEARLY = 1e-3
# The same for the deepest point, relative to the extent of the polygon: tighter, as overlap
# that no contact sees is overlap that stays, but above the skin, within which depths wander.
CLEARLY_DEEPER = 5e-5
# A third or fourth point must widen the support by this much of its extent, else it is a twin.
TWIN = 1e-3


@inner_kernel
def cut_polygon(scratch, source, count, target, nx, ny, nz, offset, tolerance):
    """Part of the polygon where n.x <= offset [m], written to rows `target`...; returns its count.

    Sutherland-Hodgman against one plane; the gap in column 3 goes along linearly.
    """
    written = 0
    last = source + count - 1
    x0, y0, z0, gap0 = scratch[last, 0], scratch[last, 1], scratch[last, 2], scratch[last, 3]
    out0 = nx * x0 + ny * y0 + nz * z0 - offset
    for row in range(source, source + count):
        x, y, z, gap = scratch[row, 0], scratch[row, 1], scratch[row, 2], scratch[row, 3]
        out = nx * x + ny * y + nz * z - offset
        crosses = (out > tolerance) != (out0 > tolerance)
        # Where the inner end is itself a little beyond the side it stands for the cut.
        if crosses and min(out, out0) < 0.0 and written < BUFFER_ROWS:
            share = out0 / (out0 - out)
            at = target + written
            scratch[at, 0] = x0 + share * (x - x0)
            scratch[at, 1] = y0 + share * (y - y0)
            scratch[at, 2] = z0 + share * (z - z0)
            scratch[at, 3] = gap0 + share * (gap - gap0)
            written += 1
        if out <= tolerance and written < BUFFER_ROWS:
            at = target + written
            scratch[at, 0], scratch[at, 1], scratch[at, 2] = x, y, z
            scratch[at, 3] = gap
            written += 1
        x0, y0, z0, gap0, out0 = x, y, z, gap, out
    return written


@inner_kernel
def keep_near(scratch, source, count, margin):
    """Move the points with gap < margin to the front of their buffer; returns how many."""
    kept = 0
    for row in range(source, source + count):
        if scratch[row, 3] < margin:
            at = source + kept
            if at != row:
                scratch[at, 0] = scratch[row, 0]
                scratch[at, 1] = scratch[row, 1]
                scratch[at, 2] = scratch[row, 2]
                scratch[at, 3] = scratch[row, 3]
            kept += 1
    return kept


@kernel
def _point(scratch, row):
    return scratch[row, 0], scratch[row, 1], scratch[row, 2]


@inner_kernel
def swap_rows(scratch, i, j):
    for k in range(4):
        scratch[i, k], scratch[j, k] = scratch[j, k], scratch[i, k]


@kernel
def _pick_deepest(scratch, source, count):
    """Row of the smallest gap; an earlier row wins unless a later one is clearly deeper."""
    first = _point(scratch, source)
    extent2 = 0.0
    for row in range(source + 1, source + count):
        d = sub(_point(scratch, row), first)
        extent2 = max(extent2, dot(d, d))
    tolerance = CLEARLY_DEEPER * sqrt(extent2)
    best = source
    for row in range(source + 1, source + count):
        if scratch[row, 3] < scratch[best, 3] - tolerance:
            best = row
    return best


@kernel
def _pick_farthest(scratch, source, count, p):
    best, best2 = source, 0.0
    for row in range(source, source + count):
        d = sub(_point(scratch, row), p)
        d2 = dot(d, d)
        if d2 > best2 * (1.0 + CLEARLY):
            best, best2 = row, d2
    return best, best2


@kernel
def _pick_highest(scratch, source, count, p, direction):
    """Row that goes farthest from `p` along `direction` or against it; signed height returned."""
    best, best_height = source, 0.0
    for row in range(source, source + count):
        height = dot(sub(_point(scratch, row), p), direction)
        if abs(height) > abs(best_height) * (1.0 + CLEARLY):
            best, best_height = row, height
    return best, best_height


@kernel
def _area_gain(x, p, q, normal):
    """How far `x` lies outside the side p -> q of a triangle with this normal, times |pq|."""
    return -dot(cross(sub(q, p), sub(x, p)), normal)


@kernel
def _pick_widening(scratch, source, count, p, q, r, normal):
    best, best_gain = source, 0.0
    for row in range(source, source + count):
        x = _point(scratch, row)
        gain = max(
            _area_gain(x, p, q, normal), _area_gain(x, q, r, normal), _area_gain(x, r, p, normal)
        )
        if gain > best_gain * (1.0 + CLEARLY):
            best, best_gain = row, gain
    return best, best_gain


@inner_kernel
def reduce_points(scratch, source, count, normal):
    """Bring at most four well-spread points to the front of the buffer; returns how many.

    The deepest, the farthest from it, the one that makes the largest triangle, the one that
    adds most area. `normal` is that of the plane in which the points lie.
    """
    if count < 2:
        return count
    swap_rows(scratch, source, _pick_deepest(scratch, source, count))
    p = _point(scratch, source)
    row, base2 = _pick_farthest(scratch, source + 1, count - 1, p)
    if base2 == 0.0:
        return 1
    swap_rows(scratch, source + 1, row)
    if count == 2:
        return 2
    q = _point(scratch, source + 1)
    across = cross(normal, sub(q, p))
    length = norm(across)
    if length == 0.0:
        return 2
    row, height = _pick_highest(scratch, source + 2, count - 2, p, across)
    if abs(height) < TWIN * length * length:
        return 2
    swap_rows(scratch, source + 2, row)
    if count == 3:
        return 3
    r = _point(scratch, source + 2)
    sign = 1.0 if height > 0.0 else -1.0
    facing = (sign * normal[0], sign * normal[1], sign * normal[2])
    row, gain = _pick_widening(scratch, source + 3, count - 3, p, q, r, facing)
    if gain < TWIN * base2:
        return 3
    swap_rows(scratch, source + 3, row)
    return 4


@inner_kernel
def write_contact(out, row, point, normal, gap):
    out[row, 0], out[row, 1], out[row, 2] = point
    out[row, 3], out[row, 4], out[row, 5] = normal
    out[row, 6] = gap


@inner_kernel
def least_gap(out, first, count):
    gap = out[first, 6]
    for row in range(first + 1, first + count):
        gap = min(gap, out[row, 6])
    return gap


@inner_kernel
def closest_on_lines(p, d, q, e):
    """Parameters (s, t) of the closest points p + s d and q + t e of two lines.

    Parallel lines have no single answer; the caller has ruled them out.
    """
    w = sub(q, p)
    dd, ee, de = dot(d, d), dot(e, e), dot(d, e)
    wd, we = dot(w, d), dot(w, e)
    area2 = dd * ee - de * de
    return (wd * ee - we * de) / area2, (wd * de - we * dd) / area2


@kernel
def between(p, q):
    return mad(p, sub(q, p), 0.5)
