"""Box or hull against hull by SAT [Gregorius2013]: best axis, searched or cached, and manifold.

The manifold of a face is the incident face of the other polytope, clipped by the sides of the
reference face (Sutherland and Hodgman) and reduced to four points.
"""

from drystone.collision.narrowphase.axis_cache import decode, encode, moved_since, remember
from drystone.collision.narrowphase.box_box import ASK_DISTANCE, EDGE_END
from drystone.collision.narrowphase.manifold import (
    BUFFER_0,
    BUFFER_1,
    BUFFER_ROWS,
    CUT_TOLERANCE,
    between,
    closest_on_lines,
    cut_polygon,
    keep_near,
    least_gap,
    reduce_points,
    write_contact,
)
from drystone.collision.narrowphase.sat import (
    edge_pair_axis,
    edge_ray,
    inverse_pose,
    lowest_over_face,
    lowest_vertex,
    search_edges,
    search_faces,
)
from drystone.jit import inner_kernel, kernel
from drystone.jit.vec import (
    add,
    cross,
    dot,
    load,
    mad,
    mul,
    mul_t,
    norm,
    normalize,
    relative_pose,
    scale,
    store,
    sub,
    to_local_direction,
    to_world,
    to_world_direction,
)
from drystone.model.arrays import (
    AXIS_DIRECTION,
    AXIS_EDGES,
    AXIS_FACE_A,
    AXIS_FACE_B,
    AXIS_NONE,
)

# Relative to the smaller radius: a face of B must beat those of A by it, edges by twice that.
# Faces that lie on each other are then one and the same contact in every step; the price is
# overlap too large by at most that much.
HANDICAP = 1e-4
# A cached axis is searched for again once the pair has moved by this much of the smaller
# radius, however good it was: axes that were one and the same may have parted by then.
SAME_MOVED = 2e-4


@inner_kernel(forceinline=True)
def polytope_contacts(
    # in
    shapes, pose, a, b, margin,
    # in and out: row `p` caches the best axis
    axis, p,
    # out
    out, first,
    scratch,
):  # fmt: skip
    """Contacts of two boxes or hulls; ASK_DISTANCE if only GJK can tell."""
    radius = shapes.radius
    ta, tb = shapes.table[a], shapes.table[b]
    r, t = relative_pose(pose, a, b)
    kind, i, j, v, n, s = _cached_axis(shapes, pose, a, ta, tb, t, r, axis, p)
    if kind != AXIS_NONE and s >= margin:
        return 0
    small = min(radius[a], radius[b])
    fresh = True
    if kind != AXIS_NONE and kind != AXIS_DIRECTION and axis[p, 1] > 0.0:
        reach = max(radius[b], radius[a] + norm(t))
        moved = moved_since(axis, p, t, r, reach)
        fresh = 2.0 * moved >= axis[p, 1] or moved > SAME_MOVED * small
    if fresh:
        guess = n if kind != AXIS_NONE else t
        kind, i, j, v, s = _search_axis(
            shapes, ta, tb, t, r, guess, small, margin, axis, p, scratch
        )
        if s >= margin:
            return 0
    if kind == AXIS_EDGES:
        return _edge_contact(shapes, pose, a, b, i, j, out, first)
    of, other, side = (a, b, 1.0) if kind == AXIS_FACE_A else (b, a, -1.0)
    count = face_contacts(shapes, pose, of, other, i, v, side, margin, out, first, scratch)
    if count == 0 or (s > 0.0 and least_gap(out, first, count) > s + HANDICAP * small):
        return ASK_DISTANCE  # the nearest corner is not over the face
    return count


@kernel
def _cached_axis(shapes, pose, a, ta, tb, t, r, axis, p):
    """What row p caches, as it is now: kind, i, j, lowest vertex, axis in A, separation."""
    polytope, vertex, face_plane = shapes.polytope, shapes.vertex, shapes.face_plane
    kind, i, j = decode(axis[p, 0])
    v, n, s = 0, (0.0, 0.0, 0.0), 0.0
    if kind == AXIS_FACE_A:
        i += polytope[ta, 2]
        n = load(face_plane, i)
        v, s = lowest_over_face(vertex, polytope[tb, 0], polytope[tb, 1], face_plane, i, t, r)
    elif kind == AXIS_FACE_B:
        i += polytope[tb, 2]
        n = scale(mul(r, load(face_plane, i)), -1.0)
        ti, ri = inverse_pose(t, r)
        v, s = lowest_over_face(vertex, polytope[ta, 0], polytope[ta, 1], face_plane, i, ti, ri)
    elif kind == AXIS_EDGES:
        i, j = i + polytope[ta, 4], j + polytope[tb, 4]
        n, s = _edge_pair_now(shapes, ta, tb, t, r, i, j)
        if dot(n, n) == 0.0:
            kind = AXIS_NONE
    elif kind == AXIS_DIRECTION:
        n = to_local_direction(pose, a, (axis[p, 2], axis[p, 3], axis[p, 4]))
        _, top = lowest_vertex(vertex, polytope[ta, 0], polytope[ta, 1], scale(n, -1.0))
        _, low = lowest_vertex(vertex, polytope[tb, 0], polytope[tb, 1], mul_t(r, n))
        s = low + dot(n, t) + top
    return kind, i, j, v, n, s


@kernel
def _edge_pair_now(shapes, ta, tb, t, r, i, j):
    """Axis in A and separation of edges i of A and j of B; axis zero if they make no face."""
    polytope, face_plane, edge = shapes.polytope, shapes.face_plane, shapes.edge
    p, d = edge_ray(shapes, ta, i)
    q, e = edge_ray(shapes, tb, j)
    q, e = add(mul(r, q), t), mul(r, e)
    first_f, first_g = polytope[ta, 2], polytope[tb, 2]
    n_left, n_right = load(face_plane, first_f + edge[i, 2]), load(face_plane, first_f + edge[i, 3])
    m_left = mul(r, load(face_plane, first_g + edge[j, 2]))
    m_right = mul(r, load(face_plane, first_g + edge[j, 3]))
    return edge_pair_axis(n_left, n_right, p, d, m_left, m_right, q, e)


@kernel
def _search_axis(shapes, ta, tb, t, r, guess, radius, margin, axis, p, scratch):
    """Full search; caches its result. Returns kind, i, j, lowest vertex, separation."""
    polytope = shapes.polytope
    handicap, wanted = HANDICAP * radius, 2.0 * SAME_MOVED * radius
    none = (0.0, 0.0, 0.0)
    face, low, best, normal, second, b0, b1 = search_faces(
        shapes, ta, tb, t, r, guess, 0.0, wanted, margin, -1e300, none, -1e300
    )
    kind, i, j, s = AXIS_FACE_A, face, 0, best
    if s >= margin:
        remember(axis, p, encode(kind, i - polytope[ta, 2], j), 0.0, t, r)
        return kind, i, j, low, s
    ti, ri = inverse_pose(t, r)
    seen = scale(mul_t(r, normal), -1.0)
    face, v, best, seen, second, a0, a1 = search_faces(
        shapes, tb, ta, ti, ri, seen, handicap, wanted, margin, best, seen, second
    )
    if face >= 0:
        kind, i, low, s = AXIS_FACE_B, face, v, best + handicap
        normal = scale(mul(r, seen), -1.0)
        if s >= margin:
            remember(axis, p, encode(kind, i - polytope[tb, 2], j), 0.0, t, r)
            return kind, i, j, low, s
    edge_a, edge_b, best, normal, second = search_edges(
        shapes, ta, tb, t, r, (b0, b1), (a0, a1), 2.0 * handicap, wanted, (best, normal, second),
        scratch,
    )  # fmt: skip
    if edge_a >= 0:
        kind, i, j, s = AXIS_EDGES, edge_a, edge_b, best + 2.0 * handicap
        code = encode(kind, i - polytope[ta, 4], j - polytope[tb, 4])
    else:
        code = encode(kind, i - polytope[ta if kind == AXIS_FACE_A else tb, 2], 0)
    remember(axis, p, code, best - second, t, r)
    return kind, i, j, low, s


@kernel(forceinline=True)
def _edge_contact(shapes, pose, a, b, i, j, out, first):
    """One contact between edge i of A and edge j of B."""
    ta, edge, face_plane = shapes.table[a], shapes.edge, shapes.face_plane
    p, d = edge_ray(shapes, ta, i)
    q, e = edge_ray(shapes, shapes.table[b], j)
    p, d = to_world(pose, a, p), to_world_direction(pose, a, d)
    q, e = to_world(pose, b, q), to_world_direction(pose, b, e)
    n_left = load(face_plane, shapes.polytope[ta, 2] + edge[i, 2])
    n_right = load(face_plane, shapes.polytope[ta, 2] + edge[i, 3])
    normal = normalize(cross(d, e))
    if dot(normal, to_world_direction(pose, a, add(n_left, n_right))) < 0.0:
        normal = scale(normal, -1.0)
    gap = dot(normal, sub(q, p))
    x, y = closest_on_lines(p, d, q, e)
    outside = min(x, y) < -EDGE_END or max(x, y) > 1.0 + EDGE_END
    if gap > 0.0 and outside:
        return ASK_DISTANCE
    p = mad(p, d, min(max(x, 0.0), 1.0))
    q = mad(q, e, min(max(y, 0.0), 1.0))
    write_contact(out, first, between(p, q), normal, gap)
    return 1


@kernel
def _incident_face(shapes, table, v, normal):
    """Face at vertex v that is turned most against `normal` (axes of the polytope).

    Faces elsewhere may be more so, but do not hold the lowest vertex.
    """
    edge, star, vertex_star = shapes.edge, shapes.star, shapes.vertex_star
    first_f, first_e = shapes.polytope[table, 2], shapes.polytope[table, 4]
    best, least = -1, 2.0
    for k in range(vertex_star[v, 0], vertex_star[v, 0] + vertex_star[v, 1]):
        e = first_e + star[k]
        for side in range(2, 4):
            f = first_f + edge[e, side]
            cosine = dot(load(shapes.face_plane, f), normal)
            if cosine < least:
                best, least = f, cosine
    return best


@kernel
def _load_face(shapes, table, f, t, r, n, offset, scratch):
    """Corners of face f, posed at (t, r), over the plane (n, offset); returns how many.

    Of a face with very many corners a part, all around, leaving rows for those that clipping adds.
    """
    first_v, vertex = shapes.polytope[table, 0], shapes.vertex
    face_loop, loop = shapes.face_loop, shapes.loop
    first, corners = face_loop[f, 0], face_loop[f, 1]
    count = min(corners, BUFFER_ROWS // 2)
    for k in range(count):
        x = add(mul(r, load(vertex, first_v + loop[first + k * corners // count])), t)
        gap = dot(n, x) - offset
        store(scratch, BUFFER_0 + k, mad(x, n, -gap))
        scratch[BUFFER_0 + k, 3] = gap
    return count


@kernel
def _clip_by_sides(shapes, table, f, n, scratch, count):
    """Clip the polygon in BUFFER_0 to the prism over face f; its buffer and count."""
    first_v, vertex = shapes.polytope[table, 0], shapes.vertex
    face_loop, loop = shapes.face_loop, shapes.loop
    source = BUFFER_0
    first, corners = face_loop[f, 0], face_loop[f, 1]
    p = load(vertex, first_v + loop[first + corners - 1])
    for k in range(corners):
        q = load(vertex, first_v + loop[first + k])
        along = sub(q, p)
        out = cross(along, n)
        target = BUFFER_0 + BUFFER_1 - source
        tolerance = CUT_TOLERANCE * dot(along, along)
        count = cut_polygon(
            scratch, source, count, target, out[0], out[1], out[2], dot(out, p), tolerance
        )
        source, p = target, q
        if count == 0:
            break
    return source, count


@inner_kernel(forceinline=True)
def face_contacts(
    # in: face f of a, lowest vertex v of b over it; `side` -1 flips the normals
    shapes, pose, a, b, f, v, side, margin,
    # out
    out, first,
    scratch,
):  # fmt: skip
    """Contacts over face f of a; if no corner is near over it, none unless they overlap."""
    r, t = relative_pose(pose, a, b)
    ta, tb, vertex = shapes.table[a], shapes.table[b], shapes.vertex
    n, offset = load(shapes.face_plane, f), shapes.face_plane[f, 3]
    incident = _incident_face(shapes, tb, v, mul_t(r, n))
    count = _load_face(shapes, tb, incident, t, r, n, offset, scratch)
    source, count = _clip_by_sides(shapes, ta, f, n, scratch, count)
    count = keep_near(scratch, source, count, margin)
    count = reduce_points(scratch, source, count, n)
    if count == 0:
        x = add(mul(r, load(vertex, v)), t)
        gap = dot(n, x) - offset
        if gap < 0.0:  # face and rival edge equal but for the handicap: the corner is the contact
            store(scratch, source, mad(x, n, -gap))
            scratch[source, 3] = gap
            count = 1
    normal = to_world_direction(pose, a, n)
    for k in range(count):
        gap = scratch[source + k, 3]
        point = to_world(pose, a, mad(load(scratch, source + k), n, 0.5 * gap))
        write_contact(out, first + k, point, scale(normal, side), gap)
    return count
