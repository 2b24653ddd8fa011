"""Feature pairs of two triangles: vertex-face, edge-edge, vertex-edge, vertex-vertex (CLINE 4.5).

Contacts are the local minima of the distance of two surfaces. They are told by their features
alone: a corner (convex vertex) over a face, two ridges (convex edges) that cross, and, while the
surfaces are apart, a corner beside a ridge or another corner. Each needs that the direction between
the two lies in the normal cones of both features, so nothing is found at flat and concave edges.
All directions and points are in the axes of side A.

Candidates are rows of an array of the caller:
    0..2  point midway
    3..5  unit normal from A to B
    6     gap [m]
    7     what it is, see CODES
    8, 9  of blunt ridges: 3 times the triangle and number of the edge, of A and of B
"""

from math import sqrt
from typing import NamedTuple

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
from drystone.collision.narrowphase.mesh.motion_bound import approach_at
from drystone.jit import inner_kernel, kernel
from drystone.jit.vec import add, cross, dot, load, mad, mul, mul_t, normalize, scale, sub
from drystone.model.arrays import MOST_MESH_CANDIDATES
from drystone.shapes.bvh.build import FLAT_BEND, MOST_AROUND, OWNS_CORNER, OWNS_EDGE

COLUMNS = 10

# The face under a corner may miss its normal cone by this slope: faces that lie on each other at a
# small angle touch with all their corners.
LYING = 0.2
# The same where two ridges cross: more would let near parallel ridges make bumps.
CROSSING = 0.02
# Ridges that cross beyond their ends count as crossing in a kink if they overlap by no more than
# this part of the shorter: deeper, they may as well miss each other at an outer corner.
KINK = 2e-2
# A kink of this slope at most [tangent of half its angle]; in sharper ones faces hold a ridge.
SLANT = 0.3
# The same where a corner is beside a ridge: rounding alone.
ASIDE = 1e-6
# Ridges within this sine of each other are parallel: the corners at their ends count.
PARALLEL = 1e-4
# Ridges sharper than a right angle may be behind each other by this part of their length.
BLADE = 0.05
# Ridges that overlap by more than this part of how far they reach behind a side are not parallel.
ALONGSIDE = 0.5
# Projections this part of the edge outside a triangle, and crossings that part beyond the end of an
# edge, count as inside, so that nothing falls into the crack between two triangles.
CRACK = 1e-9
# Under a concave edge (a hollow) there is a wedge that is under neither triangle. A point in it,
# and as far to its sides as this many times its width, is under both, for a corner that rests in
# a hollow needs both normals to stay there.
HOLLOW_REACH = 2.0
# But only if it is no deeper than this part of the edge: beside a deep one there may be no body.
HOLLOW_DEPTH = 0.1
NOT_OVER, PROPER, HOLLOW = 0, 1, 2
# Column 7: CODES times (the number of the corner + 1) plus how it lies to the face, negative if
# the corner is B's; INSIDE_BOTH for blunt ridges; 0 where the entry is not checked.
CODES = 4
INSIDE_BOTH = 3.0
# Rows of the array that holds the two triangles at hand: their corners and, in the last column,
# the heights of those over the other's plane [m]; their normals.
CORNERS_A, CORNERS_B, NORMAL_A, NORMAL_B = 0, 3, 6, 7
POINTS = 8


class Corner(NamedTuple):
    """A corner of a triangle."""

    first_vertex: int  # of its surface
    first_triangle: int
    row: int  # the triangle
    k: int  # which of its corners
    x: tuple  # where it is, in the axes of A [m]


@kernel
def _drop_half(rows, count, query):
    """Drop the shallower half of the candidates, and search for deeper ones only."""
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
    left = 0
    for i in range(count):
        if rows[i, 6] < limit or (rows[i, 6] <= high and left < count // 4):
            for k in range(COLUMNS):
                rows[left, k] = rows[i, k]
            left += 1
    if left > 3 * count // 4:  # all are equal
        left = count // 2
    query[MARGIN] = limit
    _shorten(query, max(limit, 0.0))
    return left


@kernel
def _shorten(query, reach):
    query[REACH], query[FRONT] = min(query[REACH], reach), min(query[FRONT], reach)


@inner_kernel
def add_candidate(rows, count, query, point, normal, gap, code, edge_a=-1, edge_b=-1):
    """Add a candidate if it is near enough; the new count."""
    if gap >= query[MARGIN] or gap >= approach_at(query, point, normal):
        query[BOUND] = min(query[BOUND], gap)
        if query[WANTED] == DISTANCE:
            _shorten(query, gap)
        return count
    if query[WANTED] != ALL:
        count = 0
        if gap >= query[CLOSE]:
            query[MARGIN] = gap
        else:
            if query[WANTED] == DISTANCE:
                query[MARGIN] = min(query[MARGIN], query[CLOSE])
            query[WANTED] = ALL
        _shorten(query, query[MARGIN])
    if count == MOST_MESH_CANDIDATES:
        count = _drop_half(rows, count, query)
        if gap >= query[MARGIN]:
            return count
    rows[count, 0], rows[count, 1], rows[count, 2] = point
    rows[count, 3], rows[count, 4], rows[count, 5] = normal
    rows[count, 6], rows[count, 7] = gap, code
    rows[count, 8], rows[count, 9] = edge_a, edge_b
    query[BOUND] = min(query[BOUND], gap)
    return count + 1


@inner_kernel
def in_normal_cone(shapes, first_vertex, first_triangle, row, corner, d, slope):
    """Whether the unit vector `d` lies in the normal cone of a corner, up to `slope`.

    That is, no edge at the corner leads along `d` by more than that. `d` is in the surface's own
    axes. Walks around the vertex, first in one direction, then, if that ends at the border, in the
    other. The border is that of solid ground.
    """
    vertex, triangle, neighbour = shapes.terrain_vertex, shapes.triangle, shapes.neighbour
    mine = triangle[row, corner]
    centre = load(vertex, first_vertex + mine)
    for direction in range(2):
        now, k = row, corner
        for _ in range(MOST_AROUND):
            for i in range(1, 3):
                x = sub(load(vertex, first_vertex + triangle[now, (k + i) % 3]), centre)
                rise = dot(x, d)
                if rise > 0.0 and rise * rise > slope * slope * dot(x, x):
                    return False
            nearby = neighbour[now, (k + 2) % 3 if direction == 0 else k]
            if nearby < 0:
                if dot(load(shapes.triangle_normal, now), d) < -slope:
                    return False
                break
            now = first_triangle + nearby
            if now == row:
                return True
            for i in range(3):
                if triangle[now, i] == mine:
                    k = i
    return True


@inner_kernel(forceinline=True)
def normal_beyond(shapes, first_triangle, row, k, e, n, of_b, r):
    """Normal of the triangle across edge k (along `e`); outwards in the plane at the border."""
    other = shapes.neighbour[row, k]
    if other < 0:
        return normalize(cross(e, n))
    m = load(shapes.triangle_normal, first_triangle + other)
    return mul(r, m) if of_b else m


@kernel(forceinline=True)
def _under_hollow(shapes, first_triangle, row, k, e, y, outside, n, height, of_b, r):
    """Whether a point behind a triangle is right under its concave edge k, which runs along `e`.

    y        the point, from the beginning of the edge
    outside  how far it is outside, times the length of the edge, negative
    """
    if shapes.neighbour[row, k] < 0:
        return False
    m = normal_beyond(shapes, first_triangle, row, k, e, n, of_b, r)
    ee, along = dot(e, e), dot(y, e)
    bend = -dot(cross(n, m), e)
    if bend < FLAT_BEND * sqrt(ee) or along < 0.0 or along > ee or dot(m, y) >= 0.0:
        return False
    reach = HOLLOW_REACH if height * height <= HOLLOW_DEPTH * HOLLOW_DEPTH * ee else 1.0
    return outside >= reach * bend * height


@inner_kernel(forceinline=True)
def vertex_triangle(
    # both triangles and which of their six corners
    shapes, pair, points, at, row_a, row_b,
    # in: how near they must be where they are in front of each other [m]
    front,
    # in and out
    rows, count, query,
):  # fmt: skip
    """Candidates of a corner with face, ridges and corners of the other triangle; new count."""
    is_b, r = at >= CORNERS_B, pair.r
    a, b = (pair.vertex_a, pair.triangle_a, row_a), (pair.vertex_b, pair.triangle_b, row_b)
    first_vertex, first_triangle, row = b if is_b else a
    other_vertex, other_triangle, other = a if is_b else b
    theirs = CORNERS_A if is_b else CORNERS_B
    x, height = load(points, at), points[at, 3]
    corner = Corner(first_vertex, first_triangle, row, at % 3, x)
    n = load(points, NORMAL_A if is_b else NORMAL_B)
    far2 = front * front - height * height
    if height < 0.0:
        far2 = max(far2, HOLLOW_REACH * HOLLOW_REACH * height * height)
    over, outside_bits = PROPER, 0
    for i in range(3):
        p, q = load(points, theirs + i), load(points, theirs + (i + 1) % 3)
        e, y = sub(q, p), sub(x, p)
        ee, outside = dot(e, e), dot(cross(e, y), n)
        if outside >= -CRACK * ee:
            continue
        if outside * outside > far2 * ee:
            return count
        outside_bits |= 1 << i
        if height >= 0.0 or not _under_hollow(
            shapes, other_triangle, other, i, e, y, outside, n, height, not is_b, r
        ):
            over = NOT_OVER
        elif over == PROPER:
            over = HOLLOW
    if over != NOT_OVER:
        return _vertex_face(shapes, pair, corner, is_b, n, height, over, rows, count, query)
    owned = shapes.owns[other]
    for i in range(3):
        p = load(points, theirs + i)
        if owned & (OWNS_EDGE << i) and outside_bits & (1 << i):
            e = sub(load(points, theirs + (i + 1) % 3), p)
            edge = (other_triangle, other, i)
            count = _vertex_edge(shapes, corner, is_b, edge, p, e, n, r, rows, count, query)
        if not is_b and owned & (OWNS_CORNER << i):
            theirs_i = Corner(other_vertex, other_triangle, other, i, p)
            count = _vertex_vertex(shapes, corner, theirs_i, r, rows, count, query)
    return count


@kernel(forceinline=True)
def _vertex_face(shapes, pair, corner, is_b, n, height, over, rows, count, query):
    """Candidate of a corner over or under a face with normal n; the new count."""
    if height <= -(pair.depth if over == PROPER else query[REACH]):
        return count
    down = scale(n, -1.0)
    own = mul_t(pair.r, down) if is_b else down
    v, row, k = corner.first_vertex, corner.row, corner.k
    if in_normal_cone(shapes, v, corner.first_triangle, row, k, own, LYING):
        code = float(CODES * (v + shapes.triangle[row, k] + 1) + over)
        count = add_candidate(
            rows, count, query, mad(corner.x, n, -0.5 * height), n if is_b else down, height,
            -code if is_b else code,
        )  # fmt: skip
    return count


@kernel
def _vertex_edge(shapes, corner, is_b, edge, p, e, n, r, rows, count, query):
    """Candidate of a corner outside a ridge from p along e, if it is nearest to the corner there.

    edge  first triangle of its surface, triangle and number of the edge
    n     normal of that triangle
    """
    x = corner.x
    y = sub(x, p)
    ee, s = dot(e, e), dot(y, e)
    if s <= 0.0 or s >= ee:
        return count
    d = mad(y, e, -s / ee)
    distance2 = dot(d, d)
    if distance2 >= query[REACH] * query[REACH] or distance2 == 0.0:
        return count
    m = normal_beyond(shapes, edge[0], edge[1], edge[2], e, n, not is_b, r)
    if dot(cross(m, e), d) < 0.0:
        return count
    distance = sqrt(distance2)
    d = scale(d, 1.0 / distance)
    down = scale(d, -1.0)
    own = mul_t(r, down) if is_b else down
    v, t = corner.first_vertex, corner.first_triangle
    if not in_normal_cone(shapes, v, t, corner.row, corner.k, own, ASIDE):
        return count
    middle = mad(x, d, -0.5 * distance)
    return add_candidate(rows, count, query, middle, d if is_b else down, distance, 0.0)


@kernel
def _vertex_vertex(shapes, a, b, r, rows, count, query):
    """Candidate of corner a of A and corner b of B, if they are nearest to each other."""
    d = sub(b.x, a.x)
    distance2 = dot(d, d)
    if distance2 >= query[REACH] * query[REACH] or distance2 == 0.0:
        return count
    distance = sqrt(distance2)
    d = scale(d, 1.0 / distance)
    if not in_normal_cone(shapes, a.first_vertex, a.first_triangle, a.row, a.k, d, ASIDE):
        return count
    back = mul_t(r, scale(d, -1.0))
    if not in_normal_cone(shapes, b.first_vertex, b.first_triangle, b.row, b.k, back, ASIDE):
        return count
    return add_candidate(rows, count, query, mad(a.x, d, 0.5 * distance), d, distance, 0.0)


@inner_kernel(forceinline=True)
def crosses(first, second, sign, tolerance2):
    """Whether an edge crosses the arc between two normals on the Gauss map [Gregorius2013].

    Its products with them, sign * first not negative and sign * second not positive, but for
    the square root of `tolerance2`.
    """
    first, second = sign * first, sign * second
    return (first >= 0.0 or first * first <= tolerance2) and (
        second <= 0.0 or second * second <= tolerance2
    )


@kernel
def _bends_out(shapes, first_vertex, first_triangle, row, k, s, length, gap, d):
    """Whether a point beyond an end of edge k, at share s of it, is in the body: in a kink.

    There an edge at its end leads along d, out of the body, and twice as steeply as the point is
    beyond for its depth; at an outer corner none does.
    """
    if -CRACK <= s <= 1.0 + CRACK:
        return True
    corner, beyond = (k, -s) if s < 0.0 else ((k + 1) % 3, s - 1.0)
    slope = beyond * length / -gap
    return not in_normal_cone(shapes, first_vertex, first_triangle, row, corner, d, slope)


@kernel(forceinline=True)
def _behind(height, rise):
    """How far an edge reaches behind a plane: it begins at a height and rises by so much."""
    return -min(height, height + rise)


@inner_kernel(forceinline=True)
def edge_edge(
    # both triangles, edges k_a from p along e and k_b from q along f
    shapes, pair, points, k_a, e, k_b, row_a, row_b,
    # in and out
    rows, count, query,
):  # fmt: skip
    """Candidate of two ridges that cross, seen along their common normal; the new count.

    d = sign (e x f) / |e x f| lies between the normals n, m of the ridge along e if sign n.f >= 0
    >= sign m.f, and -d between those of the ridge along f if sign n'.e >= 0 >= sign m'.e.
    """
    r, q = pair.r, load(points, CORNERS_B + k_b)
    f = sub(load(points, CORNERS_B + (k_b + 1) % 3), q)
    n_a, n_b = load(points, NORMAL_A), load(points, NORMAL_B)
    ee, ff = dot(e, e), dot(f, f)
    tolerance_a, tolerance_b = CROSSING * CROSSING * ff, CROSSING * CROSSING * ee
    nf, ne = dot(n_a, f), dot(n_b, e)
    if nf * ne < 0.0 and nf * nf > tolerance_a and ne * ne > tolerance_b:
        return count
    m_a = normal_beyond(shapes, pair.triangle_a, row_a, k_a, e, n_a, False, r)
    mf = dot(m_a, f)
    if nf * mf > 0.0 and nf * nf > tolerance_a and mf * mf > tolerance_a:
        return count
    m_b = normal_beyond(shapes, pair.triangle_b, row_b, k_b, f, n_b, True, r)
    me = dot(m_b, e)
    if ne * me > 0.0 and ne * ne > tolerance_b and me * me > tolerance_b:
        return count
    p, c = load(points, k_a), cross(e, f)
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
        sign = 1.0 - 2.0 * k
        if not (crosses(nf, mf, sign, slack / ee) and crosses(ne, me, sign, slack / ff)):
            continue
        d = scale(c, sign / length)
        gap = dot(w, d)
        if gap <= -pair.depth or gap >= query[REACH] or (beyond > 0.0 and gap > -beyond):
            continue
        if beyond > 0.0:
            back = mul_t(r, scale(d, -1.0))
            if not (
                _bends_out(shapes, pair.vertex_a, pair.triangle_a, row_a, k_a, s, sqrt(ee), gap, d)
                and _bends_out(
                    shapes, pair.vertex_b, pair.triangle_b, row_b, k_b, u, sqrt(ff), gap, back
                )
            ):
                continue
        # Nearly parallel ridges, as where a peg slides along the rim of its hole: all of the one is
        # less behind a side of the other than the two overlap, so the exit is through that side.
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
        count = add_candidate(
            rows, count, query, middle, d, gap, 0.0 if blade else INSIDE_BOTH,
            3 * row_a + k_a, 3 * row_b + k_b,
        )  # fmt: skip
    return count
