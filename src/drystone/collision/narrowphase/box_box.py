"""Box against box by SAT, the separating axis test: fifteen axes [Gottschalk1996].

The axis of largest separation gives a manifold, one face clipped by the other, or one contact of
two edges.
"""

from math import sqrt

from drystone.collision.narrowphase.manifold import (
    BUFFER_0,
    BUFFER_1,
    CUT_TOLERANCE,
    between,
    closest_on_lines,
    cut_polygon,
    keep_near,
    least_gap,
    reduce_points,
    write_contact,
)
from drystone.jit import inner_kernel, kernel
from drystone.jit.vec import cross, dot, mad, normalize, pose_position, sub

ASK_DISTANCE = -1  # returned where the closest points are no face or edge contact

# An edge axis, or a face of B, must beat the faces of A by this much of the smaller box and this
# share of the overlap. In a stack several axes are equal but for rounding, and a change of
# axis changes all contact points; the price is overlap too large by at most that much.
FACE_BONUS = 1e-4
FACE_SHARE = 0.02
# Edges closer to parallel than this sine give no axis: the faces beside them are as good.
PARALLEL = 1e-3
# A closest point may lie this far beyond the end of its edge, relative to the half edge.
EDGE_END = 1e-6


@kernel
def _edge_separation(t1, t2, c1, c2, ha1, ha2, hb1, hb2, cb1, cb2, cosine, least):
    """Separation [m] along a_i x b_j, or `least` if it is not more than that or not defined."""
    length2 = 1.0 - cosine * cosine
    if length2 < PARALLEL * PARALLEL:
        return least
    reach = ha1 * abs(c2) + ha2 * abs(c1) + hb1 * abs(cb2) + hb2 * abs(cb1)
    raw = abs(t2 * c1 - t1 * c2) - reach
    if raw <= least and raw <= 0.0:  # dividing by the length, at most 1, makes it only worse
        return least
    return max(raw / sqrt(length2), least)


@inner_kernel(forceinline=True)
def box_box(shapes, pose, a, b, margin, out, first, scratch):
    """Contacts of boxes a and b; ASK_DISTANCE if only GJK can tell."""
    size = shapes.size
    d0, d1, d2 = pose[b, 0] - pose[a, 0], pose[b, 1] - pose[a, 1], pose[b, 2] - pose[a, 2]
    ax0, ax1, ax2 = pose[a, 3], pose[a, 6], pose[a, 9]
    ay0, ay1, ay2 = pose[a, 4], pose[a, 7], pose[a, 10]
    az0, az1, az2 = pose[a, 5], pose[a, 8], pose[a, 11]
    bx0, bx1, bx2 = pose[b, 3], pose[b, 6], pose[b, 9]
    by0, by1, by2 = pose[b, 4], pose[b, 7], pose[b, 10]
    bz0, bz1, bz2 = pose[b, 5], pose[b, 8], pose[b, 11]
    ha0, ha1, ha2 = size[a, 0], size[a, 1], size[a, 2]
    hb0, hb1, hb2 = size[b, 0], size[b, 1], size[b, 2]
    # Offset and axes of B in the axes of A.
    t0 = d0 * ax0 + d1 * ax1 + d2 * ax2
    t1 = d0 * ay0 + d1 * ay1 + d2 * ay2
    t2 = d0 * az0 + d1 * az1 + d2 * az2
    c00 = ax0 * bx0 + ax1 * bx1 + ax2 * bx2
    c01 = ax0 * by0 + ax1 * by1 + ax2 * by2
    c02 = ax0 * bz0 + ax1 * bz1 + ax2 * bz2
    s0 = abs(t0) - ha0 - hb0 * abs(c00) - hb1 * abs(c01) - hb2 * abs(c02)
    if s0 >= margin:
        return 0
    c10 = ay0 * bx0 + ay1 * bx1 + ay2 * bx2
    c11 = ay0 * by0 + ay1 * by1 + ay2 * by2
    c12 = ay0 * bz0 + ay1 * bz1 + ay2 * bz2
    s1 = abs(t1) - ha1 - hb0 * abs(c10) - hb1 * abs(c11) - hb2 * abs(c12)
    if s1 >= margin:
        return 0
    c20 = az0 * bx0 + az1 * bx1 + az2 * bx2
    c21 = az0 * by0 + az1 * by1 + az2 * by2
    c22 = az0 * bz0 + az1 * bz1 + az2 * bz2
    s2 = abs(t2) - ha2 - hb0 * abs(c20) - hb1 * abs(c21) - hb2 * abs(c22)
    if s2 >= margin:
        return 0
    r0 = abs(t0 * c00 + t1 * c10 + t2 * c20) - hb0
    r0 -= ha0 * abs(c00) + ha1 * abs(c10) + ha2 * abs(c20)
    r1 = abs(t0 * c01 + t1 * c11 + t2 * c21) - hb1
    r1 -= ha0 * abs(c01) + ha1 * abs(c11) + ha2 * abs(c21)
    r2 = abs(t0 * c02 + t1 * c12 + t2 * c22) - hb2
    r2 -= ha0 * abs(c02) + ha1 * abs(c12) + ha2 * abs(c22)
    if max(r0, r1, r2) >= margin:
        return 0
    bonus = FACE_BONUS * min(ha0, ha1, ha2, hb0, hb1, hb2)

    # Faces of A, then of B: axis 0..2, 3..5.
    face, best = (0, s0) if s0 >= s1 else (1, s1)
    if s2 > best:
        face, best = 2, s2
    other, rival = (3, r0) if r0 >= r1 else (4, r1)
    if r2 > rival:
        other, rival = 5, r2
    if rival > best + bonus + FACE_SHARE * abs(best):
        face, best = other, rival

    # Edge pairs: 3 i + j.
    least = best + bonus + FACE_SHARE * abs(best)
    pair, edge = -1, least
    e = _edge_separation(t1, t2, c10, c20, ha1, ha2, hb1, hb2, c01, c02, c00, edge)
    if e > edge:
        pair, edge = 0, e
    e = _edge_separation(t1, t2, c11, c21, ha1, ha2, hb0, hb2, c00, c02, c01, edge)
    if e > edge:
        pair, edge = 1, e
    e = _edge_separation(t1, t2, c12, c22, ha1, ha2, hb0, hb1, c00, c01, c02, edge)
    if e > edge:
        pair, edge = 2, e
    e = _edge_separation(t2, t0, c20, c00, ha2, ha0, hb1, hb2, c11, c12, c10, edge)
    if e > edge:
        pair, edge = 3, e
    e = _edge_separation(t2, t0, c21, c01, ha2, ha0, hb0, hb2, c10, c12, c11, edge)
    if e > edge:
        pair, edge = 4, e
    e = _edge_separation(t2, t0, c22, c02, ha2, ha0, hb0, hb1, c10, c11, c12, edge)
    if e > edge:
        pair, edge = 5, e
    e = _edge_separation(t0, t1, c00, c10, ha0, ha1, hb1, hb2, c21, c22, c20, edge)
    if e > edge:
        pair, edge = 6, e
    e = _edge_separation(t0, t1, c01, c11, ha0, ha1, hb0, hb2, c20, c22, c21, edge)
    if e > edge:
        pair, edge = 7, e
    e = _edge_separation(t0, t1, c02, c12, ha0, ha1, hb0, hb1, c20, c21, c22, edge)
    if e > edge:
        pair, edge = 8, e
    if edge >= margin and pair >= 0:
        return 0

    if pair >= 0:
        return _edge_contact(pose, a, b, size, pair // 3, pair % 3, out, first)
    of, other, side = (a, b, 1.0) if face < 3 else (b, a, -1.0)
    count = _face_contacts(pose, of, other, size, face % 3, side, margin, out, first, scratch)
    if count == 0 or (best > 0.0 and least_gap(out, first, count) > best + bonus):
        return ASK_DISTANCE  # the nearest corner is not over the face
    return count


@kernel
def _axis(pose, s, k):
    """Column k of the rotation: axis k of box s in world axes."""
    return pose[s, 3 + k], pose[s, 6 + k], pose[s, 9 + k]


@kernel
def _corner_on_edge(pose, s, size, k, direction):
    """Middle of the edge along axis k that lies farthest in `direction`."""
    p = pose_position(pose, s)
    for step in range(1, 3):
        i = (k + step) % 3
        axis = _axis(pose, s, i)
        h = size[s, i] if dot(axis, direction) >= 0.0 else -size[s, i]
        p = mad(p, axis, h)
    return p


@kernel(forceinline=True)
def _edge_contact(pose, a, b, size, i, j, out, first):
    """One contact between the edges along axis i of A and axis j of B."""
    along_a, along_b = _axis(pose, a, i), _axis(pose, b, j)
    normal = normalize(cross(along_a, along_b))
    if dot(normal, sub(pose_position(pose, b), pose_position(pose, a))) < 0.0:
        normal = (-normal[0], -normal[1], -normal[2])
    p = _corner_on_edge(pose, a, size, i, normal)
    q = _corner_on_edge(pose, b, size, j, (-normal[0], -normal[1], -normal[2]))
    gap = dot(sub(q, p), normal)
    s, t = closest_on_lines(p, along_a, q, along_b)
    most_s, most_t = size[a, i], size[b, j]
    beyond = abs(s) > most_s * (1.0 + EDGE_END) or abs(t) > most_t * (1.0 + EDGE_END)
    if gap > 0.0 and beyond:
        return ASK_DISTANCE
    p = mad(p, along_a, min(max(s, -most_s), most_s))
    q = mad(q, along_b, min(max(t, -most_t), most_t))
    write_contact(out, first, between(p, q), normal, gap)
    return 1


@kernel
def _incident_axis(pose, s, normal):
    """Axis of box s closest to the normal, and its cosine."""
    best, best_cosine = 0, dot(_axis(pose, s, 0), normal)
    for k in range(1, 3):
        cosine = dot(_axis(pose, s, k), normal)
        if abs(cosine) > abs(best_cosine):
            best, best_cosine = k, cosine
    return best, best_cosine


@kernel
def _load_corners(scratch, u, v, gap, e, f):
    """Corners of the incident face, centre (u, v, gap), half edges e and f in the same axes."""
    for k in range(4):
        se = 1.0 if k == 0 or k == 3 else -1.0
        sf = 1.0 if k < 2 else -1.0
        scratch[BUFFER_0 + k, 0] = u + se * e[0] + sf * f[0]
        scratch[BUFFER_0 + k, 1] = v + se * e[1] + sf * f[1]
        scratch[BUFFER_0 + k, 2] = 0.0
        scratch[BUFFER_0 + k, 3] = gap + se * e[2] + sf * f[2]


@kernel
def _cut_slab(scratch, source, count, column, half, low, high):
    """Cut to |coordinate| <= half where the polygon, from low to high, sticks out."""
    x, y = (1.0, 0.0) if column == 0 else (0.0, 1.0)
    tolerance = CUT_TOLERANCE * half
    if high > half + tolerance:
        target = BUFFER_0 + BUFFER_1 - source
        count = cut_polygon(scratch, source, count, target, x, y, 0.0, half, tolerance)
        source = target
    if low < -half - tolerance:
        target = BUFFER_0 + BUFFER_1 - source
        count = cut_polygon(scratch, source, count, target, -x, -y, 0.0, half, tolerance)
        source = target
    return source, count


@kernel(forceinline=True)
def _face_contacts(pose, a, b, size, i, side, margin, out, first, scratch):
    """Contacts over a face of box a along its axis i; `side` -1 flips the normals written."""
    d = sub(pose_position(pose, b), pose_position(pose, a))
    axis = _axis(pose, a, i)
    sign = 1.0 if dot(d, axis) >= 0.0 else -1.0
    normal = (sign * axis[0], sign * axis[1], sign * axis[2])
    iu, iv = (i + 1) % 3, (i + 2) % 3
    u, v = _axis(pose, a, iu), _axis(pose, a, iv)
    half, half_u, half_v = size[a, i], size[a, iu], size[a, iv]

    # Centre and half edges of the incident face of b, most opposed to the normal, in (u, v, n).
    k, cosine = _incident_axis(pose, b, normal)
    d = mad(d, _axis(pose, b, k), -size[b, k] if cosine > 0.0 else size[b, k])
    ke, kf = (k + 1) % 3, (k + 2) % 3
    e, f = _axis(pose, b, ke), _axis(pose, b, kf)
    he, hf = size[b, ke], size[b, kf]
    e = (he * dot(e, u), he * dot(e, v), he * dot(e, normal))
    f = (hf * dot(f, u), hf * dot(f, v), hf * dot(f, normal))
    at_u, at_v, gap = dot(d, u), dot(d, v), dot(d, normal) - half
    _load_corners(scratch, at_u, at_v, gap, e, f)

    reach = abs(e[0]) + abs(f[0])
    source, count = _cut_slab(scratch, BUFFER_0, 4, 0, half_u, at_u - reach, at_u + reach)
    reach = abs(e[1]) + abs(f[1])
    source, count = _cut_slab(scratch, source, count, 1, half_v, at_v - reach, at_v + reach)
    count = keep_near(scratch, source, count, margin)
    count = reduce_points(scratch, source, count, (0.0, 0.0, 1.0))

    base = mad(pose_position(pose, a), normal, half)
    flipped = (side * normal[0], side * normal[1], side * normal[2])
    for k in range(count):
        row = source + k
        point = mad(mad(base, u, scratch[row, 0]), v, scratch[row, 1])
        point = mad(point, normal, 0.5 * scratch[row, 3])
        write_contact(out, first + k, point, flipped, scratch[row, 3])
    return count
