"""Two triangles of two surfaces: their corners against the other's face, ridges against ridges.

Contacts are the places where the distance of two surfaces has a local least. They are told by
their features alone: a corner over a face, two ridges that cross, and, while the surfaces are
apart, a corner beside a ridge or another corner. Each needs that both surfaces fall away from the
direction between the two, so nothing is found at flat and hollow edges. All directions and
points are in the axes of side A; rotation `r` and position `t` of B.

Candidates are rows of an array of the caller:
    0..2  point midway
    3..5  unit normal from A to B
    6     gap [m]
    7     which corner over a face it is, see corner_code(), 0 for all others
"""

from math import sqrt
from typing import NamedTuple

import numpy as np

from drystone.jit import inner_kernel, kernel
from drystone.shapes.tree import FLAT_BEND, MOST_AROUND, OWNS_CORNER, OWNS_EDGE
from drystone.vec import add, cross, dot, load, mad, mul, mul_t, normalize, scale, sub

MOST_CANDIDATES = 512
# State of a search, in an array: candidates nearer than MARGIN are kept; triangles within REACH are
# looked at; least distance that was found, or is possible between triangles that were not
# looked at; 1 if only the least distance counts where all are beyond the margin. [m]
MARGIN, REACH, BOUND, LOOKING = range(4)
LEVELS = 4

# Edges may lead beyond a corner by this slope, against the face under it: faces that lie on
# each other at a small angle touch with all their corners.
LYING = 0.2
# The same where two ridges cross: more would let near parallel ridges make bumps.
CROSSING = 0.02
# The same where a corner is beside a ridge: rounding alone.
BESIDE = 1e-6
# Ridges within this sine of each other are parallel: the corners at their ends count.
PARALLEL = 1e-4
# Feet this part of the edge outside a triangle, and crossings that part beyond the end of an
# edge, count as inside, so that nothing falls into the crack between two triangles.
CRACK = 1e-9
# Under a hollow edge there is a wedge that is under neither triangle. A point in it, and as far
# to its sides as this many times its width, is under both, for a corner that rests in a
# hollow needs both normals to stay there.
HOLLOW_REACH = 2.0
NOT_OVER, PROPER, HOLLOW = 0, 1, 2
CODES = 4


class Surfaces(NamedTuple):
    """The tables of `arrays.Shapes` that hold the triangles of all meshes and terrains."""

    vertex: np.ndarray
    triangle: np.ndarray
    normal: np.ndarray
    neighbour: np.ndarray
    owns: np.ndarray


@kernel
def _drop_half(rows, count, level):
    """Let go of the shallower half of the candidates, and look for deeper ones only."""
    low, high = rows[0, 6], rows[0, 6]
    for i in range(count):
        low, high = min(low, rows[i, 6]), max(high, rows[i, 6])
    limit = high
    for _ in range(60):
        limit = 0.5 * (low + high)
        below = 0
        for i in range(count):
            below += 1 if rows[i, 6] < limit else 0
        if below < count // 4:
            low = limit
        elif below > 3 * count // 4:
            high = limit
        else:
            break
    kept = 0
    for i in range(count):
        if rows[i, 6] < limit or (rows[i, 6] <= high and kept < count // 4):
            for k in range(8):
                rows[kept, k] = rows[i, k]
            kept += 1
    if kept > 3 * count // 4:  # all are equal
        kept = count // 2
    level[MARGIN], level[REACH] = limit, min(level[REACH], max(limit, 0.0))
    return kept


@inner_kernel
def keep_row(rows, count, level, point, normal, gap, code):
    """Add a candidate if it is near enough; the new count."""
    if gap >= level[MARGIN]:
        level[BOUND] = min(level[BOUND], gap)
        if level[LOOKING] == 1.0:
            level[REACH] = min(level[REACH], gap)
        return count
    if count == MOST_CANDIDATES:
        count = _drop_half(rows, count, level)
        if gap >= level[MARGIN]:
            return count
    rows[count, 0], rows[count, 1], rows[count, 2] = point
    rows[count, 3], rows[count, 4], rows[count, 5] = normal
    rows[count, 6], rows[count, 7] = gap, code
    level[BOUND] = min(level[BOUND], gap)
    if level[LOOKING] == 1.0:
        level[LOOKING], level[REACH] = 0.0, level[MARGIN]
    return count + 1


@kernel
def _falls_away(surfaces, base_v, base_t, row, corner, d, slope):
    """Whether no edge at a corner leads along the unit vector `d` by more than `slope`.

    `d` is in the surface's own axes. Walks around the vertex, first one way, then, if that
    ends at the border, the other.
    """
    vertex, triangle, neighbour = surfaces.vertex, surfaces.triangle, surfaces.neighbour
    mine = triangle[row, corner]
    centre = load(vertex, base_v + mine)
    for way in range(2):
        now, k = row, corner
        for _ in range(MOST_AROUND):
            for i in range(1, 3):
                x = sub(load(vertex, base_v + triangle[now, (k + i) % 3]), centre)
                rise = dot(x, d)
                if rise > 0.0 and rise * rise > slope * slope * dot(x, x):
                    return False
            nearby = neighbour[now, (k + 2) % 3 if way == 0 else k]
            if nearby < 0:
                break
            now = base_t + nearby
            if now == row:
                return True
            for i in range(3):
                if triangle[now, i] == mine:
                    k = i
    return True


@kernel
def _beyond(surfaces, base_t, row, k, e, n, turned, r):
    """Normal of the triangle across edge k (along `e`); outwards in the plane at the border."""
    other = surfaces.neighbour[row, k]
    if other < 0:
        return normalize(cross(e, n))
    m = load(surfaces.normal, base_t + other)
    return mul(r, m) if turned else m


@kernel
def _over(surfaces, base_t, row, c0, c1, c2, n, x, height, turned, r):
    """How x lies to a triangle, seen along its normal: PROPER, HOLLOW or NOT_OVER."""
    answer = PROPER
    for k in range(3):
        p, q = (c0, c1) if k == 0 else ((c1, c2) if k == 1 else (c2, c0))
        e, y = sub(q, p), sub(x, p)
        ee = dot(e, e)
        if dot(cross(e, y), n) >= -CRACK * ee:
            continue
        if height >= 0.0 or surfaces.neighbour[row, k] < 0:
            return NOT_OVER
        m = _beyond(surfaces, base_t, row, k, e, n, turned, r)
        length, along = sqrt(ee), dot(y, e)
        bend = -dot(cross(n, m), e) / length
        if bend < FLAT_BEND or along < 0.0 or along > ee or dot(m, y) >= 0.0:
            return NOT_OVER
        if dot(cross(e, y), n) < HOLLOW_REACH * bend * height * length:
            return NOT_OVER
        answer = HOLLOW
    return answer


@inner_kernel
def corner_and_triangle(
    # surface of the corner: first vertex and triangle, triangle, corner; whether it is B
    surfaces, base_v, base_t, row, corner, x, is_b,
    # surface of the triangle
    other_v, other_t, other, c0, c1, c2, n,
    # in
    r, deep,
    # in and out
    rows, count, level,
):  # fmt: skip
    """Candidates of a corner at x with the face, ridges and corners of a triangle; new count."""
    height = dot(n, sub(x, c0))
    reach = level[REACH]
    if height >= reach or height <= -max(deep, reach):
        return count
    over = _over(surfaces, other_t, other, c0, c1, c2, n, x, height, not is_b, r)
    if over != NOT_OVER:
        if height <= -(deep if over == PROPER else reach):
            return count
        down = scale(n, -1.0)
        own = mul_t(r, down) if is_b else down
        if _falls_away(surfaces, base_v, base_t, row, corner, own, LYING):
            code = float(CODES * (base_v + surfaces.triangle[row, corner] + 1) + over)
            count = keep_row(
                rows, count, level, mad(x, n, -0.5 * height), n if is_b else down, height,
                -code if is_b else code,
            )  # fmt: skip
        return count
    owned = surfaces.owns[other]
    for k in range(3):
        if owned & (OWNS_EDGE << k):
            p, q = (c0, c1) if k == 0 else ((c1, c2) if k == 1 else (c2, c0))
            count = _corner_and_ridge(
                surfaces, base_v, base_t, row, corner, x, is_b, other_t, other, k, p, q, n,
                r, rows, count, level,
            )  # fmt: skip
        if not is_b and owned & (OWNS_CORNER << k):
            p = c0 if k == 0 else (c1 if k == 1 else c2)
            count = _corner_and_corner(
                surfaces, base_v, base_t, row, corner, x, other_v, other_t, other, k, p,
                r, rows, count, level,
            )  # fmt: skip
    return count


@kernel
def _corner_and_ridge(
    surfaces, base_v, base_t, row, corner, x, is_b, other_t, other, k, p, q, n,
    r, rows, count, level,
):  # fmt: skip
    """Candidate of a corner at x beside the ridge from p to q, if it is nearest to x there."""
    e, y = sub(q, p), sub(x, p)
    ee, s = dot(e, e), dot(y, e)
    if s <= 0.0 or s >= ee:
        return count
    d = mad(y, e, -s / ee)
    distance2 = dot(d, d)
    if distance2 >= level[REACH] * level[REACH] or distance2 == 0.0:
        return count
    if dot(cross(n, e), d) > 0.0:
        return count
    m = _beyond(surfaces, other_t, other, k, e, n, not is_b, r)
    if dot(cross(m, e), d) < 0.0:
        return count
    distance = sqrt(distance2)
    d = scale(d, 1.0 / distance)
    down = scale(d, -1.0)
    own = mul_t(r, down) if is_b else down
    if not _falls_away(surfaces, base_v, base_t, row, corner, own, BESIDE):
        return count
    middle = mad(x, d, -0.5 * distance)
    return keep_row(rows, count, level, middle, d if is_b else down, distance, 0.0)


@kernel
def _corner_and_corner(
    surfaces, base_v, base_t, row, corner, x, other_v, other_t, other, k, p,
    r, rows, count, level,
):  # fmt: skip
    """Candidate of corner x of A and corner p of B, if they are nearest to each other."""
    d = sub(p, x)
    distance2 = dot(d, d)
    if distance2 >= level[REACH] * level[REACH] or distance2 == 0.0:
        return count
    distance = sqrt(distance2)
    d = scale(d, 1.0 / distance)
    if not _falls_away(surfaces, base_v, base_t, row, corner, d, BESIDE):
        return count
    back = mul_t(r, scale(d, -1.0))
    if not _falls_away(surfaces, other_v, other_t, other, k, back, BESIDE):
        return count
    return keep_row(rows, count, level, mad(x, d, 0.5 * distance), d, distance, 0.0)


@kernel
def _in_wedge(d, e, n, m, slope):
    """Whether `d`, at right angles to the ridge along `e`, lies between its normals n and m."""
    length = sqrt(dot(e, e))
    return dot(cross(n, e), d) <= slope * length and dot(cross(m, e), d) >= -slope * length


@inner_kernel
def ridge_and_ridge(
    # in: edge k of triangle row from p, along e, normal n; the same of side B
    surfaces, base_a, row_a, k_a, p, e, n_a, base_b, row_b, k_b, q, f, n_b, r, deep,
    # in and out
    rows, count, level,
):  # fmt: skip
    """Candidate of two ridges that cross, seen along their common normal; the new count."""
    c, w = cross(e, f), sub(q, p)
    cc, room = dot(c, c), dot(w, c)
    limit = max(level[REACH], deep)
    if room * room >= limit * limit * cc or cc <= PARALLEL * PARALLEL * dot(e, e) * dot(f, f):
        return count
    s, u = dot(cross(w, f), c) / cc, dot(cross(w, e), c) / cc
    if min(s, u) < -CRACK or max(s, u) > 1.0 + CRACK:
        return count
    length = sqrt(cc)
    m_a = _beyond(surfaces, base_a, row_a, k_a, e, n_a, False, r)
    m_b = _beyond(surfaces, base_b, row_b, k_b, f, n_b, True, r)
    for way in range(2):
        d = scale(c, (1.0 if way == 0 else -1.0) / length)
        back = scale(d, -1.0)
        if not (_in_wedge(d, e, n_a, m_a, CROSSING) and _in_wedge(back, f, n_b, m_b, CROSSING)):
            continue
        gap = dot(w, d)
        if gap <= -deep or gap >= level[REACH]:
            continue
        # Behind the edge of a blade is not always inside it.
        if gap < 0.0 and min(dot(d, n_a), dot(d, m_a), dot(back, n_b), dot(back, m_b)) < -CROSSING:
            continue
        middle = scale(add(mad(p, e, s), mad(q, f, u)), 0.5)
        count = keep_row(rows, count, level, middle, d, gap, 0.0)
    return count
