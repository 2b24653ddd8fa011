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
    7     what it is, see CODES
    8, 9  of blunt ridges: 3 times the triangle and number of the edge, of A and of B
"""

from math import sqrt
from typing import NamedTuple

import numpy as np

from drystone.collision.narrowphase.mesh.constants import (
    ALL,
    BOUND,
    CLOSE,
    DISTANCE,
    FRONT,
    MARGIN,
    REACH,
    WANTED,
)
from drystone.collision.narrowphase.mesh.motion_bound import comes_within
from drystone.jit import inner_kernel, kernel
from drystone.jit.vec import add, cross, dot, load, mad, mul, mul_t, normalize, scale, sub
from drystone.shapes.bvh.build import FLAT_BEND, MOST_AROUND, OWNS_CORNER, OWNS_EDGE

MOST_CANDIDATES, COLUMNS = 512, 10

# Edges may lead beyond a corner by this slope, against the face under it: faces that lie on
# each other at a small angle touch with all their corners.
LYING = 0.2
# The same where two ridges cross: more would let near parallel ridges make bumps.
CROSSING = 0.02
# Ridges that cross beyond their ends count as crossing in a kink if they overlap by no more than
# this part of the shorter: deeper, they may as well miss each other at an outer corner.
KINK = 2e-2
# A kink of this slope at most [tangent of half its angle]; in sharper ones faces hold a ridge.
SLANT = 0.3
# The same where a corner is beside a ridge: rounding alone.
BESIDE = 1e-6
# Ridges within this sine of each other are parallel: the corners at their ends count.
PARALLEL = 1e-4
# Ridges sharper than a right angle may be behind each other by this part of their length.
BLADE = 0.05
# Ridges that overlap by more than this part of how far they reach behind a side are not parallel.
ALONGSIDE = 0.5
# Feet this part of the edge outside a triangle, and crossings that part beyond the end of an
# edge, count as inside, so that nothing falls into the crack between two triangles.
CRACK = 1e-9
# Under a hollow edge there is a wedge that is under neither triangle. A point in it, and as far
# to its sides as this many times its width, is under both, for a corner that rests in a
# hollow needs both normals to stay there.
HOLLOW_REACH = 2.0
# But only if it is no deeper than this part of the edge: beside a deep one there may be no body.
HOLLOW_DEPTH = 0.1
NOT_OVER, PROPER, HOLLOW = 0, 1, 2
# Column 7: CODES times (the number of the corner + 1) plus how it lies to the face, negative if
# the corner is B's; INSIDE_BOTH for blunt ridges; 0 for what is not asked for its way in.
CODES = 4
INSIDE_BOTH = 3.0
# Rows of the array that holds the two triangles at hand: their corners and, in the last column,
# the heights of those over the other's plane [m]; their normals.
CORNERS_A, CORNERS_B, NORMAL_A, NORMAL_B = 0, 3, 6, 7
SPOTS = 8


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
            for k in range(COLUMNS):
                rows[kept, k] = rows[i, k]
            kept += 1
    if kept > 3 * count // 4:  # all are equal
        kept = count // 2
    level[MARGIN] = limit
    _shorten(level, max(limit, 0.0))
    return kept


@kernel
def _shorten(level, reach):
    level[REACH], level[FRONT] = min(level[REACH], reach), min(level[FRONT], reach)


@inner_kernel
def keep_row(rows, count, level, point, normal, gap, code, edge_a=-1, edge_b=-1):
    """Add a candidate if it is near enough; the new count."""
    if gap >= level[MARGIN] or gap >= comes_within(level, point, normal):
        level[BOUND] = min(level[BOUND], gap)
        if level[WANTED] == DISTANCE:
            _shorten(level, gap)
        return count
    if level[WANTED] != ALL:
        count = 0
        if gap >= level[CLOSE]:
            level[MARGIN] = gap
        else:
            if level[WANTED] == DISTANCE:
                level[MARGIN] = min(level[MARGIN], level[CLOSE])
            level[WANTED] = ALL
        _shorten(level, level[MARGIN])
    if count == MOST_CANDIDATES:
        count = _drop_half(rows, count, level)
        if gap >= level[MARGIN]:
            return count
    rows[count, 0], rows[count, 1], rows[count, 2] = point
    rows[count, 3], rows[count, 4], rows[count, 5] = normal
    rows[count, 6], rows[count, 7] = gap, code
    rows[count, 8], rows[count, 9] = edge_a, edge_b
    level[BOUND] = min(level[BOUND], gap)
    return count + 1


@inner_kernel
def falls_away(surfaces, base_v, base_t, row, corner, d, slope):
    """Whether no edge at a corner leads along the unit vector `d` by more than `slope`.

    `d` is in the surface's own axes. Walks around the vertex, first one way, then, if that
    ends at the border, the other. The border is that of solid ground.
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
                if dot(load(surfaces.normal, now), d) < -slope:
                    return False
                break
            now = base_t + nearby
            if now == row:
                return True
            for i in range(3):
                if triangle[now, i] == mine:
                    k = i
    return True


@inner_kernel(forceinline=True)
def beyond_edge(surfaces, base_t, row, k, e, n, turned, r):
    """Normal of the triangle across edge k (along `e`); outwards in the plane at the border."""
    other = surfaces.neighbour[row, k]
    if other < 0:
        return normalize(cross(e, n))
    m = load(surfaces.normal, base_t + other)
    return mul(r, m) if turned else m


@kernel(forceinline=True)
def _under_hollow(surfaces, base_t, row, k, e, y, outside, n, height, turned, r):
    """Whether a point behind a triangle is right under its hollow edge k, which runs along `e`.

    y        the point, from the beginning of the edge
    outside  how far it is outside, times the length of the edge, negative
    """
    if surfaces.neighbour[row, k] < 0:
        return False
    m = beyond_edge(surfaces, base_t, row, k, e, n, turned, r)
    ee, along = dot(e, e), dot(y, e)
    bend = -dot(cross(n, m), e)
    if bend < FLAT_BEND * sqrt(ee) or along < 0.0 or along > ee or dot(m, y) >= 0.0:
        return False
    reach = HOLLOW_REACH if height * height <= HOLLOW_DEPTH * HOLLOW_DEPTH * ee else 1.0
    return outside >= reach * bend * height


@inner_kernel(forceinline=True)
def corner_and_triangle(
    # both triangles, which of their six corners, and who they are
    surfaces, spot, at, v_a, t_a, row_a, v_b, t_b, row_b,
    # in
    r, deep, front,
    # in and out
    rows, count, level,
):  # fmt: skip
    """Candidates of a corner with face, ridges and corners of the other triangle; new count."""
    is_b, k = at >= CORNERS_B, at % 3
    base_v, base_t, row = (v_b, t_b, row_b) if is_b else (v_a, t_a, row_a)
    other_v, other_t, other = (v_a, t_a, row_a) if is_b else (v_b, t_b, row_b)
    theirs = CORNERS_A if is_b else CORNERS_B
    x, height = load(spot, at), spot[at, 3]
    reach = level[REACH]
    n = load(spot, NORMAL_A if is_b else NORMAL_B)
    far2 = front * front - height * height
    if height < 0.0:
        far2 = max(far2, HOLLOW_REACH * HOLLOW_REACH * height * height)
    over, outside_bits = PROPER, 0
    for i in range(3):
        p, q = load(spot, theirs + i), load(spot, theirs + (i + 1) % 3)
        e, y = sub(q, p), sub(x, p)
        ee, outside = dot(e, e), dot(cross(e, y), n)
        if outside >= -CRACK * ee:
            continue
        if outside * outside > far2 * ee:
            return count
        outside_bits |= 1 << i
        if height >= 0.0 or not _under_hollow(
            surfaces, other_t, other, i, e, y, outside, n, height, not is_b, r
        ):
            over = NOT_OVER
        elif over == PROPER:
            over = HOLLOW
    if over != NOT_OVER:
        if height <= -(deep if over == PROPER else reach):
            return count
        down = scale(n, -1.0)
        own = mul_t(r, down) if is_b else down
        if falls_away(surfaces, base_v, base_t, row, k, own, LYING):
            code = float(CODES * (base_v + surfaces.triangle[row, k] + 1) + over)
            count = keep_row(
                rows, count, level, mad(x, n, -0.5 * height), n if is_b else down, height,
                -code if is_b else code,
            )  # fmt: skip
        return count
    owned = surfaces.owns[other]
    for i in range(3):
        p = load(spot, theirs + i)
        if owned & (OWNS_EDGE << i) and outside_bits & (1 << i):
            e = sub(load(spot, theirs + (i + 1) % 3), p)
            count = _corner_and_ridge(
                surfaces, base_v, base_t, row, k, x, is_b, other_t, other, i, p, e, n,
                r, rows, count, level,
            )  # fmt: skip
        if not is_b and owned & (OWNS_CORNER << i):
            count = _corner_and_corner(
                surfaces, base_v, base_t, row, k, x, other_v, other_t, other, i, p,
                r, rows, count, level,
            )  # fmt: skip
    return count


@kernel
def _corner_and_ridge(
    surfaces, base_v, base_t, row, corner, x, is_b, other_t, other, k, p, e, n,
    r, rows, count, level,
):  # fmt: skip
    """Candidate of a corner at x outside a ridge from p along e, if it is nearest to x there."""
    y = sub(x, p)
    ee, s = dot(e, e), dot(y, e)
    if s <= 0.0 or s >= ee:
        return count
    d = mad(y, e, -s / ee)
    distance2 = dot(d, d)
    if distance2 >= level[REACH] * level[REACH] or distance2 == 0.0:
        return count
    m = beyond_edge(surfaces, other_t, other, k, e, n, not is_b, r)
    if dot(cross(m, e), d) < 0.0:
        return count
    distance = sqrt(distance2)
    d = scale(d, 1.0 / distance)
    down = scale(d, -1.0)
    own = mul_t(r, down) if is_b else down
    if not falls_away(surfaces, base_v, base_t, row, corner, own, BESIDE):
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
    if not falls_away(surfaces, base_v, base_t, row, corner, d, BESIDE):
        return count
    back = mul_t(r, scale(d, -1.0))
    if not falls_away(surfaces, other_v, other_t, other, k, back, BESIDE):
        return count
    return keep_row(rows, count, level, mad(x, d, 0.5 * distance), d, distance, 0.0)


@inner_kernel(forceinline=True)
def crosses(first, second, way, room2):
    """Whether an edge crosses the arc between two normals.

    Its products with them, way * first not negative and way * second not positive, but for
    the square root of `room2`.
    """
    first, second = way * first, way * second
    return (first >= 0.0 or first * first <= room2) and (second <= 0.0 or second * second <= room2)


@kernel
def _bends_out(surfaces, base_v, base_t, row, k, s, length, gap, d):
    """Whether a point beyond an end of edge k, at share s of it, is in the body: in a kink.

    There an edge at its end leads along d, out of the body, and twice as steeply as the point is
    beyond for its depth; at an outer corner none does.
    """
    if -CRACK <= s <= 1.0 + CRACK:
        return True
    corner, beyond = (k, -s) if s < 0.0 else ((k + 1) % 3, s - 1.0)
    return not falls_away(surfaces, base_v, base_t, row, corner, d, beyond * length / -gap)


@kernel(forceinline=True)
def _behind(height, rise):
    """How far an edge reaches behind a plane: it begins at a height and rises by so much."""
    return -min(height, height + rise)


@inner_kernel(forceinline=True)
def ridge_and_ridge(
    # corners of both triangles, edges k_a from p along e and k_b from q along f, who they are
    surfaces, spot, k_a, e, k_b, v_a, base_a, row_a, v_b, base_b, row_b,
    # in
    r, deep,
    # in and out
    rows, count, level,
):  # fmt: skip
    """Candidate of two ridges that cross, seen along their common normal; the new count.

    d = way (e x f) / |e x f| lies between the normals n, m of the ridge along e if way n.f >= 0 >=
    way m.f, and -d between those of the ridge along f if way n'.e >= 0 >= way m'.e.
    """
    q = load(spot, CORNERS_B + k_b)
    f = sub(load(spot, CORNERS_B + (k_b + 1) % 3), q)
    n_a, n_b = load(spot, NORMAL_A), load(spot, NORMAL_B)
    ee, ff = dot(e, e), dot(f, f)
    room_a, room_b = CROSSING * CROSSING * ff, CROSSING * CROSSING * ee
    nf, ne = dot(n_a, f), dot(n_b, e)
    if nf * ne < 0.0 and nf * nf > room_a and ne * ne > room_b:
        return count
    m_a = beyond_edge(surfaces, base_a, row_a, k_a, e, n_a, False, r)
    mf = dot(m_a, f)
    if nf * mf > 0.0 and nf * nf > room_a and mf * mf > room_a:
        return count
    m_b = beyond_edge(surfaces, base_b, row_b, k_b, f, n_b, True, r)
    me = dot(m_b, e)
    if ne * me > 0.0 and ne * ne > room_b and me * me > room_b:
        return count
    p, c = load(spot, k_a), cross(e, f)
    w, cc = sub(q, p), dot(c, c)
    if cc <= PARALLEL * PARALLEL * ee * ff:
        return count
    s, u = dot(cross(w, f), c) / cc, dot(cross(w, e), c) / cc
    length, beyond = sqrt(cc), 0.0
    if min(s, u) < -CRACK or max(s, u) > 1.0 + CRACK:
        # A ridge that lies in the kink of another, in a hollow, and is in it a little, is beyond
        # the ends of both edges there, by less than it is deep.
        over = abs(dot(w, c))
        if over > KINK * length * sqrt(min(ee, ff)):
            return count
        beyond = max(max(-s, s - 1.0) * sqrt(ee), max(-u, u - 1.0) * sqrt(ff))
        if beyond * length > SLANT * over:
            return count
    slack = CROSSING * CROSSING * cc
    for k in range(2):
        way = 1.0 - 2.0 * k
        if not (crosses(nf, mf, way, slack / ee) and crosses(ne, me, way, slack / ff)):
            continue
        d = scale(c, way / length)
        gap = dot(w, d)
        if gap <= -deep or gap >= level[REACH] or (beyond > 0.0 and gap > -beyond):
            continue
        if beyond > 0.0 and not (
            _bends_out(surfaces, v_a, base_a, row_a, k_a, s, sqrt(ee), gap, d)
            and _bends_out(
                surfaces, v_b, base_b, row_b, k_b, u, sqrt(ff), gap, mul_t(r, scale(d, -1.0))
            )
        ):
            continue
        # Nearly parallel ridges, as where a peg slides along the rim of its hole: all of the one is
        # less behind a side of the other than the two overlap, so that side is the way out.
        if gap < 0.0 and min(
            _behind(dot(n_a, w), nf), _behind(dot(m_a, w), mf),
            _behind(-dot(n_b, w), ne), _behind(-dot(m_b, w), me),
        ) < -ALONGSIDE * gap:  # fmt: skip
            continue
        # Behind the edge of a blade is not always inside it.
        blade = min(dot(d, n_a), dot(d, m_a)) < 0.0 or max(dot(d, n_b), dot(d, m_b)) > 0.0
        if blade and gap < 0.0 and gap * gap > BLADE * BLADE * min(ee, ff):
            continue
        middle = scale(add(mad(p, e, s), mad(q, f, u)), 0.5)
        count = keep_row(
            rows, count, level, middle, d, gap, 0.0 if blade else INSIDE_BOTH,
            3 * row_a + k_a, 3 * row_b + k_b,
        )  # fmt: skip
    return count
