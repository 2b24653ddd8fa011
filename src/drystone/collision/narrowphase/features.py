"""What meets along a contact normal: points, segments and faces, cut to their common part.

Both features are seen along the normal n. Where they cover each other the gap is the room
between them along n; the corners of that common part are the contacts. The smallest gap is
then the separation along n, whatever the angle between n and the faces.
"""

from math import sqrt

from drystone.collision.narrowphase.manifold import (
    BUFFER_0,
    BUFFER_1,
    CUT_TOLERANCE,
    cut_polygon,
    keep_near,
    reduce_points,
    write_contact,
)
from drystone.collision.narrowphase.sphere_capsule import LINE, PARALLEL
from drystone.jit import inner_kernel, kernel
from drystone.jit.vec import (
    add,
    cross,
    dot,
    load,
    mad,
    norm,
    pose_position,
    scale,
    store,
    sub,
    to_local_direction,
    to_world_direction,
)
from drystone.model.arrays import CAPSULE, CYLINDER, SPHERE

# Corners that stand for the rim of a cylinder.
DIAGONAL = sqrt(0.5)
RIM = 8
RIM_X = (1.0, DIAGONAL, 0.0, -DIAGONAL, -1.0, -DIAGONAL, 0.0, DIAGONAL)
RIM_Y = (0.0, DIAGONAL, 1.0, DIAGONAL, 0.0, -DIAGONAL, -1.0, -DIAGONAL)
# A cap turned from the normal by more than 45 degrees is not what meets: the side is.
CAP = 0.7071
# A cap tilted by less than this [sine] stands on its own eight corners, so that they do not wander
# with rounding; the deepest rim point is then missed by at most 1e-5 radii.
FLAT = 1e-4
# The deepest corner must reach the separation to this part of the size, else the features met
# at a point outside the corners (an arc of a rim, a bare vertex) and that point is added.
REACHED = 1e-7
# Points nearer than this part of the size are one.
APART = 1e-3


@inner_kernel
def find_feature(kind, table, polytope, face_plane, face_loop, s, q):
    """What shape `s` shows along its local direction `q`: corner count, face, moved corner.

    One corner: a point, two: a segment, more: a face. The corners of a rim are fixed in the shape,
    so that they last from step to step; only the moved one goes where the rim is deepest.
    """
    if kind[s] == SPHERE:
        return 1, -1, -1
    if kind[s] == CAPSULE or (kind[s] == CYLINDER and abs(q[2]) <= CAP):
        return 2, -1, -1
    best, best_along = -1, -2.0
    if kind[s] == CYLINDER:
        for i in range(RIM):
            along = RIM_X[i] * q[0] + RIM_Y[i] * q[1]
            if along > best_along:
                best, best_along = i, along
        tilted = q[0] * q[0] + q[1] * q[1] > FLAT * FLAT
        return RIM, -1, best if tilted else -1
    first = polytope[table[s], 2]
    for f in range(first, first + polytope[table[s], 3]):
        along = q[0] * face_plane[f, 0] + q[1] * face_plane[f, 1] + q[2] * face_plane[f, 2]
        if along > best_along:
            best, best_along = f, along
    return face_loop[best, 1], best, -1


@inner_kernel
def feature_corner(
    # shapes
    kind, size, table, polytope, vertex, face_loop, loop, pose, s,
    # in: the feature, the direction it was found for, the position of the shape, which corner
    q, face, count, moved, place, i,
):  # fmt: skip
    """Corner `i` of a feature; those of a face run counter-clockwise seen from outside."""
    if kind[s] == SPHERE:
        return place
    if face >= 0:
        v = load(vertex, polytope[table[s], 0] + loop[face_loop[face, 0] + i])
    elif count == RIM:
        up = q[2] > 0.0
        k = i if up else RIM - 1 - i
        r, x, y = size[s, 0], RIM_X[k], RIM_Y[k]
        if k == moved:
            r, x, y = r / sqrt(q[0] * q[0] + q[1] * q[1]), q[0], q[1]
        v = (r * x, r * y, size[s, 1] if up else -size[s, 1])
    else:
        z = size[s, 1] if i == 1 else -size[s, 1]
        v = (0.0, 0.0, z)
        if kind[s] == CYLINDER:
            r = size[s, 0] / sqrt(q[0] * q[0] + q[1] * q[1])
            v = (r * q[0], r * q[1], z)
    return add(place, to_world_direction(pose, s, v))


@inner_kernel
def feature_normal(pose, face_plane, s, face, q):
    if face >= 0:
        return to_world_direction(pose, s, load(face_plane, face))
    return to_world_direction(pose, s, (0.0, 0.0, 1.0 if q[2] > 0.0 else -1.0))


@kernel
def _cut_by_face(
    # shapes
    kind, size, table, polytope, vertex, face_plane, face_loop, loop, pose,
    # in: the face of shape s, the unit direction out of s along which it cuts
    s, q, face, count, moved, place, out_of_s, reach,
    # in and out: the feature in BUFFER_0
    subject, scratch,
):  # fmt: skip
    """Part of the feature over the face, with its room above it; returns buffer and count."""
    normal = feature_normal(pose, face_plane, s, face, q)
    p = feature_corner(
        kind, size, table, polytope, vertex, face_loop, loop, pose, s,
        q, face, count, moved, place, count - 1,
    )  # fmt: skip
    slope = 1.0 / dot(normal, out_of_s)
    for row in range(BUFFER_0, BUFFER_0 + subject):
        scratch[row, 3] = dot(sub(load(scratch, row), p), normal) * slope
    source, target = BUFFER_0, BUFFER_1
    for i in range(count):
        x = feature_corner(
            kind, size, table, polytope, vertex, face_loop, loop, pose, s,
            q, face, count, moved, place, i,
        )  # fmt: skip
        m = cross(sub(x, p), out_of_s)
        length = norm(m)
        if length > CUT_TOLERANCE * reach:  # a side seen end on cuts nothing
            m = scale(m, 1.0 / length)
            subject = cut_polygon(
                scratch, source, subject, target, m[0], m[1], m[2], dot(m, x),
                CUT_TOLERANCE * reach,
            )  # fmt: skip
            source, target = target, source
        p = x
    return source, subject


@kernel
def _meet_segments(pa, n, radii, reach, scratch):
    """Contacts of the segments in BUFFER_0 (of A) and BUFFER_1, written to BUFFER_0; their number.

    Nearly parallel ones touch along a line: the ends of their overlap. There the round sides
    (sum of radii given) fall away from each other, which the gap takes into account. `pa` is
    the closest point of A.
    """
    a0, a1 = load(scratch, BUFFER_0), load(scratch, BUFFER_0 + 1)
    b0, b1 = load(scratch, BUFFER_1), load(scratch, BUFFER_1 + 1)
    u, v = sub(a1, a0), sub(b1, b0)
    length_u, length_v = norm(u), norm(v)
    if length_u * length_v == 0.0:
        return 0
    u, v = scale(u, 1.0 / length_u), scale(v, 1.0 / length_v)
    sine, uv = norm(cross(u, v)), dot(u, v)
    if sine > LINE:
        return 0
    s0 = dot(sub(b0, a0), u)
    s1 = s0 + uv * length_v
    low, high = max(0.0, min(s0, s1)), min(length_u, max(s0, s1))
    if high - low < APART * reach:
        return 0
    aside = cross(n, u)
    s = dot(sub(pa, a0), u)
    inner = sine > PARALLEL and s > low + APART * reach and s < high - APART * reach
    count = 3 if inner else 2
    for i in range(count):
        s = low if i == 0 else (high if i == 1 else s)
        x = mad(a0, u, s)
        d = sub(mad(b0, v, (s - s0) / uv), x)
        across, height = dot(d, aside), dot(d, n) + radii
        store(scratch, BUFFER_0 + i, x)
        scratch[BUFFER_0 + i, 3] = sqrt(height * height + across * across) - radii
    return count


@kernel
def _add_deepest(scratch, source, count, room, point, reach):
    """Make `room` the smallest gap: that of the deepest corner, or of `point` if none is near.

    Returns the count. Corners lie where rounding put them, `room` is the figure to trust.
    """
    deepest, twin, twin2 = source, source + count, APART * APART * reach * reach
    for row in range(source, source + count):
        scratch[row, 3] = max(scratch[row, 3], room)
        if scratch[row, 3] < scratch[deepest, 3]:
            deepest = row
        d = sub(load(scratch, row), point)
        if dot(d, d) < twin2:
            twin, twin2 = row, dot(d, d)
    if count > 0 and scratch[deepest, 3] <= room + REACHED * reach:
        scratch[deepest, 3] = room
        return count
    store(scratch, twin, point)
    scratch[twin, 3] = room
    return max(count, twin + 1 - source)


@inner_kernel
def meet_features(
    # shapes
    kind, size, table, polytope, vertex, face_plane, face_loop, loop, pose, a, b,
    # in: from A to B, the normal, the separation of the cores, closest core point of A
    offset, n, room, pa, reach, margin,
    # out
    out, first, scratch,
):  # fmt: skip
    """Write at most four contacts with normal `n` and gap below `margin` [m]; their number.

    Points are relative to A inside. `room` is the separation of the cores along `n`: spheres
    and capsules are their core plus a radius.
    """
    ra = size[a, 0] if kind[a] < CYLINDER else 0.0
    rb = size[b, 0] if kind[b] < CYLINDER else 0.0
    # The face of B cuts the feature of A, or the other way round if only A shows a face.
    s, place, out_of_s = b, offset, scale(n, -1.0)
    t, place_t, sign = a, scale(offset, 0.0), 1.0
    q = to_local_direction(pose, s, out_of_s)
    count_s, face, moved = find_feature(kind, table, polytope, face_plane, face_loop, s, q)
    qt = to_local_direction(pose, t, n)
    count_t, face_t, moved_t = find_feature(kind, table, polytope, face_plane, face_loop, t, qt)
    if count_s <= 2 and count_t > 2:
        s, place, t, place_t, sign = t, place_t, s, place, -1.0
        q, count_s, face, moved, qt, count_t, face_t, moved_t = (
            qt, count_t, face_t, moved_t, q, count_s, face, moved,
        )  # fmt: skip
        out_of_s = n
    source, count = BUFFER_0, 0
    if count_t > 1:
        for i in range(count_t):
            x = feature_corner(
                kind, size, table, polytope, vertex, face_loop, loop, pose, t,
                qt, face_t, count_t, moved_t, place_t, i,
            )  # fmt: skip
            store(scratch, BUFFER_0 + i, x)
        if count_s > 2:
            source, count = _cut_by_face(
                kind, size, table, polytope, vertex, face_plane, face_loop, loop, pose,
                s, q, face, count_s, moved, place, out_of_s, reach, count_t, scratch,
            )  # fmt: skip
        elif count_s == 2:
            for i in range(2):
                x = feature_corner(
                    kind, size, table, polytope, vertex, face_loop, loop, pose, s,
                    q, face, count_s, moved, place, i,
                )  # fmt: skip
                store(scratch, BUFFER_1 + i, x)
            # Cores of capsules stand off by their radius, sides of cylinders are the surface.
            radii = (size[a, 0] - ra) + (size[b, 0] - rb)
            count = _meet_segments(pa, n, radii, reach, scratch)
    deepest = pa if t == a else mad(pa, n, room)
    count = _add_deepest(scratch, source, count, room, deepest, reach)
    count = keep_near(scratch, source, count, margin + ra + rb)
    count = reduce_points(scratch, source, count, n)
    if count > 1 and norm(sub(load(scratch, source + 1), load(scratch, source))) < APART * reach:
        count = 1  # the second is the farthest from the first, so all are one
    lift = ra if t == a else -rb
    for i in range(count):
        gap = scratch[source + i, 3] - ra - rb
        x = add(load(scratch, source + i), pose_position(pose, a))
        write_contact(out, first + i, mad(x, n, lift + 0.5 * sign * gap), n, gap)
    return count
