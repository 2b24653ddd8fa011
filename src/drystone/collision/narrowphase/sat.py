"""SAT, the separating axis test of two convex polytopes, with pruning [Gregorius2013].

The separation along a unit axis n is min over B of n.x less max over A of n.x. Its largest
value over all n belongs to a face of A, a face of B, or a pair of edges that make a face of the
Minkowski difference, which is seen on the Gauss map. The search tests these features only, exactly,
but passes over those that cannot win: any point w of B bounds the separation along the face
normal of A by its height over that face, and that of an edge by the higher of its two faces.

A polytope is a row of `shapes.polytope`; (t, r) is the position and rotation of one in the axes of
the other. The score of a feature is its separation less a handicap.
"""

from math import sqrt

from drystone.collision.narrowphase.box_box import PARALLEL
from drystone.collision.narrowphase.manifold import BUFFER_0, BUFFER_1, BUFFER_ROWS
from drystone.jit import inner_kernel, kernel
from drystone.jit.vec import (
    add,
    cross,
    dot,
    load,
    mul,
    mul_t,
    scale,
    sub,
)

# Axes whose angle is below this [rad] (its square over two, as 1 - cosine) are the same axis and
# no rivals of each other: faces that lie on each other, and the edges around them.
SAME_AXIS = 5e-7


@inner_kernel
def inverse_pose(t, r):
    """The pose of a in the axes of b, from that of b in the axes of a."""
    back = mul_t(r, t)
    return (-back[0], -back[1], -back[2]), (r[0], r[3], r[6], r[1], r[4], r[7], r[2], r[5], r[8])


@inner_kernel
def lowest_vertex(vertex, first, count, d):
    """Vertex with the least d.x, and that value."""
    best = first
    low = d[0] * vertex[first, 0] + d[1] * vertex[first, 1] + d[2] * vertex[first, 2]
    for v in range(first + 1, first + count):
        height = d[0] * vertex[v, 0] + d[1] * vertex[v, 1] + d[2] * vertex[v, 2]
        if height < low:
            best, low = v, height
    return best, low


@inner_kernel
def lowest_over_face(vertex, first, count, face_plane, f, t, r):
    """Lowest vertex over face f of a polytope posed at (t, r) in that face's axes; its height."""
    n = load(face_plane, f)
    v, low = lowest_vertex(vertex, first, count, mul_t(r, n))
    return v, low + dot(n, t) - face_plane[f, 3]


@inner_kernel
def search_faces(
    # in: polytopes, pose of `other` in the axes of `of`, a first direction in them, what to beat
    shapes, of, other, t, r, guess, handicap, wanted, margin, best, normal, second,
):  # fmt: skip
    """Best face of polytope `of` over polytope `other`, if any beats `best`.

    Returns face (or -1), lowest vertex over it, its score, its normal, an upper bound of the
    scores of all others (exact where within `wanted` of the best), and two points of `other`
    to bound edges with.
    """
    polytope, vertex, face_plane = shapes.polytope, shapes.vertex, shapes.face_plane
    first_v, count_v = polytope[other, 0], polytope[other, 1]
    first_f, count_f = polytope[of, 2], polytope[of, 3]
    v, _ = lowest_vertex(vertex, first_v, count_v, mul_t(r, guess))
    w0 = add(mul(r, load(vertex, v)), t)
    start, highest = first_f, dot(load(face_plane, first_f), w0) - face_plane[first_f, 3]
    for f in range(first_f + 1, first_f + count_f):
        height = dot(load(face_plane, f), w0) - face_plane[f, 3]
        if height > highest:
            start, highest = f, height
    face, lowest, w1 = -1, v, w0
    for k in range(count_f + 1):
        f = start if k == 0 else first_f + k - 1
        if k > 0 and f == start:
            continue
        n, offset = load(face_plane, f), face_plane[f, 3] + handicap
        score = min(dot(n, w0), dot(n, w1)) - offset
        if score > best - wanted:
            v, height = lowest_over_face(vertex, first_v, count_v, face_plane, f, t, r)
            score = height - handicap
            if score > best:
                if dot(n, normal) < 1.0 - SAME_AXIS:
                    second = max(second, best)
                face, lowest, best, normal = f, v, score, n
                w1 = add(mul(r, load(vertex, v)), t)
                if height >= margin:
                    break
                continue
        if score > second and dot(n, normal) < 1.0 - SAME_AXIS:
            second = score
    return face, lowest, best, normal, second, w0, w1


@kernel
def _heights(face_plane, f, w0, w1):
    n, offset = load(face_plane, f), face_plane[f, 3]
    return dot(n, w0) - offset, dot(n, w1) - offset


@kernel
def _list_heights(face_plane, first_f, count_f, w0, w1, scratch, column):
    """Heights of two points over the first faces, in two columns of BUFFER_0."""
    for k in range(min(count_f, BUFFER_ROWS)):
        h0, h1 = _heights(face_plane, first_f + k, w0, w1)
        scratch[BUFFER_0 + k, column] = h0
        scratch[BUFFER_0 + k, column + 1] = h1


@kernel(forceinline=True)
def _edge_bound(face_plane, first_f, left, right, w0, w1, scratch, column):
    """Upper bound, if negative, of the separation along any axis of the edge of two faces.

    Any point does; w0, w1 and the one between them are tried.
    """
    if max(left, right) < BUFFER_ROWS:
        l0, l1 = scratch[BUFFER_0 + left, column], scratch[BUFFER_0 + left, column + 1]
        r0, r1 = scratch[BUFFER_0 + right, column], scratch[BUFFER_0 + right, column + 1]
    else:
        l0, l1 = _heights(face_plane, first_f + left, w0, w1)
        r0, r1 = _heights(face_plane, first_f + right, w0, w1)
    return min(max(l0, r0), max(l1, r1), 0.5 * max(l0 + l1, r0 + r1))


@inner_kernel
def edge_ray(shapes, table, e):
    """Start and direction of an edge in the axes of its polytope."""
    first = shapes.polytope[table, 0]
    p = load(shapes.vertex, first + shapes.edge[e, 0])
    return p, sub(load(shapes.vertex, first + shapes.edge[e, 1]), p)


@inner_kernel(forceinline=True)
def edge_pair_axis(n_left, n_right, p, d, m_left, m_right, q, e):
    """Unit axis and separation of two edges, the axis zero if they make no face.

    An edge of A: normals of its two faces, start, direction; likewise of B, same axes. Their arcs
    on the Gauss map, that of B mirrored, must cross [Gregorius2013].
    """
    nothing = (0.0, 0.0, 0.0)
    at_left = dot(m_left, d)
    if at_left * dot(m_right, d) >= 0.0:
        return nothing, 0.0
    at_right = dot(n_right, e)
    if dot(n_left, e) * at_right >= 0.0 or at_left * at_right >= 0.0:
        return nothing, 0.0
    axis = cross(d, e)
    length2 = dot(axis, axis)
    if length2 < PARALLEL * PARALLEL * dot(d, d) * dot(e, e):
        return nothing, 0.0
    inverse = 1.0 / sqrt(length2)
    if dot(axis, n_left) + dot(axis, n_right) < 0.0:
        inverse = -inverse
    axis = scale(axis, inverse)
    return axis, dot(axis, sub(q, p))


@kernel
def _list_edges(shapes, table, at, w0, w1, limit, second, handicap, scratch, column):
    """Edges from number `at` that may reach `limit`, at most BUFFER_ROWS; count, next, second.

    Numbers go to BUFFER_1 in column 0 for A, 1 for B; without branches, as none is foreseeable.
    """
    polytope, face_plane, edge = shapes.polytope, shapes.face_plane, shapes.edge
    first_f = polytope[table, 2]
    stop = polytope[table, 4] + polytope[table, 5]
    count = 0
    while at < stop and count < BUFFER_ROWS:
        bound = _edge_bound(
            face_plane, first_f, edge[at, 2], edge[at, 3], w0, w1, scratch, 2 * column
        )
        scratch[BUFFER_1 + count, column] = at
        passes = bound >= limit
        count += 1 if passes else 0
        second = max(second, -1e300 if passes else bound - handicap)
        at += 1
    return count, at, second


@kernel(forceinline=True)
def _try_edges(shapes, ta, tb, i, count, t, r, handicap, best, normal, second, scratch):
    """Edge i of A against the `count` listed edges of B; normals in the axes of B.

    Returns the edge of B (-1 if none beats `best`), score, normal, highest score of the others.
    """
    polytope, face_plane, edge = shapes.polytope, shapes.face_plane, shapes.edge
    first_f, first_g = polytope[ta, 2], polytope[tb, 2]
    p, d = edge_ray(shapes, ta, i)
    p, d = mul_t(r, sub(p, t)), mul_t(r, d)
    n_left = mul_t(r, load(face_plane, first_f + edge[i, 2]))
    n_right = mul_t(r, load(face_plane, first_f + edge[i, 3]))
    found = -1
    for k in range(count):
        j = int(scratch[BUFFER_1 + k, 1])
        q, e = edge_ray(shapes, tb, j)
        m_left = load(face_plane, first_g + edge[j, 2])
        m_right = load(face_plane, first_g + edge[j, 3])
        axis, s = edge_pair_axis(n_left, n_right, p, d, m_left, m_right, q, e)
        score = s - handicap
        if dot(axis, axis) == 0.0 or score <= second:
            continue
        same = dot(axis, normal) > 1.0 - SAME_AXIS
        if score > best:
            if not same:
                second = max(second, best)
            found, best, normal = j, score, axis
        elif not same:
            second = score
    return found, best, normal, second


@inner_kernel
def search_edges(
    # in: polytopes, pose of B in A, two points of B in the axes of A, two of A in those of B
    shapes, ta, tb, t, r, of_b, of_a,
    # in: what to beat is (score, normal, upper bound of the other scores)
    handicap, wanted, to_beat,
    scratch,
):  # fmt: skip
    """Best pair of edges, if any beats what there is; normal in the axes of A, as the others.

    Returns edge of A (or -1), edge of B, score, normal, upper bound of the other scores.
    """
    polytope, face_plane = shapes.polytope, shapes.face_plane
    b0, b1 = of_b
    a0, a1 = of_a
    best, normal, second = to_beat
    _list_heights(face_plane, polytope[ta, 2], polytope[ta, 3], b0, b1, scratch, 0)
    _list_heights(face_plane, polytope[tb, 2], polytope[tb, 3], a0, a1, scratch, 2)
    edge_a, edge_b = -1, -1
    normal = mul_t(r, normal)  # the search is in the axes of B, so that its tables serve
    limit = min(best + handicap - wanted, 0.0)
    at_a, stop_a = polytope[ta, 4], polytope[ta, 4] + polytope[ta, 5]
    stop_b = polytope[tb, 4] + polytope[tb, 5]
    while at_a < stop_a:
        count_a, at_a, second = _list_edges(
            shapes, ta, at_a, b0, b1, limit, second, handicap, scratch, 0
        )
        at_b = polytope[tb, 4]
        while at_b < stop_b:
            count_b, at_b, second = _list_edges(
                shapes, tb, at_b, a0, a1, limit, second, handicap, scratch, 1
            )
            for k in range(count_a):
                i = int(scratch[BUFFER_1 + k, 0])
                j, best, normal, second = _try_edges(
                    shapes, ta, tb, i, count_b, t, r, handicap, best, normal, second, scratch
                )
                if j >= 0:
                    edge_a, edge_b = i, j
    return edge_a, edge_b, best, mul(r, normal), second
