"""Contact manifold from features: points, segments and faces that meet along a normal, clipped.

Both features are projected along the normal n and clipped to their common part. The gap there is
the distance between them along n; the corners of the common part are the contacts. The smallest
gap is then the separation along n, whatever the angle between n and the faces.
"""

from math import sqrt

from drystone.collision.narrowphase.manifold import (
    BUFFER_0,
    BUFFER_1,
    BUFFER_ROWS,
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
)
from drystone.shapes.kinds import (
    feature_corner,
    feature_normal,
    find_feature,
    rounding_radius,
    side_radius,
)

# The deepest corner must reach the separation to this part of the size, else the features met
# at a point outside the corners (an arc of a rim, a bare vertex) and that point is added.
REACHED = 1e-7
# Points nearer than this part of the size are one.
APART = 1e-3


@kernel
def _clip_by_face(shapes, pose, s, feature, place, out_of_s, reach, subject, scratch):
    """Part of the feature in BUFFER_0 over the face `feature` of shape `s` at `place`.

    `out_of_s` is the unit direction out of s along which it is clipped. Its `subject` corners get
    their gap over the face; returns buffer and count.
    """
    count = feature[1]
    normal = feature_normal(shapes, pose, s, feature)
    p = feature_corner(shapes, pose, s, feature, place, count - 1)
    slope = 1.0 / dot(normal, out_of_s)
    for row in range(BUFFER_0, BUFFER_0 + subject):
        scratch[row, 3] = dot(sub(load(scratch, row), p), normal) * slope
    source, target = BUFFER_0, BUFFER_1
    for i in range(count):
        x = feature_corner(shapes, pose, s, feature, place, i)
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
def _meet_segments(pa, n, reach, scratch):
    """Contacts of the segments in BUFFER_0 (of A) and BUFFER_1, written to BUFFER_0; their number.

    Nearly parallel ones touch along a line: the ends of their overlap. There the round sides
    (radii of curvature in column 3) fall away from each other, which the gap takes into account.
    `pa` is the closest point of A.
    """
    a0, a1 = load(scratch, BUFFER_0), load(scratch, BUFFER_0 + 1)
    b0, b1 = load(scratch, BUFFER_1), load(scratch, BUFFER_1 + 1)
    ra, ra1 = scratch[BUFFER_0, 3], scratch[BUFFER_0 + 1, 3]
    rb, rb1 = scratch[BUFFER_1, 3], scratch[BUFFER_1 + 1, 3]
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
        t = (s - s0) / uv
        x = mad(a0, u, s)
        d = sub(mad(b0, v, t), x)
        radii = (ra + (ra1 - ra) * (s / length_u)) + (rb + (rb1 - rb) * (t / length_v))
        across, height = dot(d, aside), dot(d, n) + radii
        store(scratch, BUFFER_0 + i, x)
        scratch[BUFFER_0 + i, 3] = sqrt(height * height + across * across) - radii
    return count


@kernel
def _add_deepest(scratch, source, count, least, point, reach):
    """Make `least` the smallest gap: that of the deepest corner, or of `point` if none is near.

    Returns the count. Corners lie where rounding put them, `least` is the number to trust.
    """
    deepest, twin, twin2 = source, source + count, APART * APART * reach * reach
    for row in range(source, source + count):
        scratch[row, 3] = max(scratch[row, 3], least)
        if scratch[row, 3] < scratch[deepest, 3]:
            deepest = row
        d = sub(load(scratch, row), point)
        if dot(d, d) < twin2:
            twin, twin2 = row, dot(d, d)
    if count > 0 and scratch[deepest, 3] <= least + REACHED * reach:
        scratch[deepest, 3] = least
        return count
    store(scratch, twin, point)
    scratch[twin, 3] = least
    return max(count, twin + 1 - source)


@kernel
def _load_feature(shapes, pose, s, feature, place, buffer, scratch):
    """Corners of a feature of shape `s` at `place`; of a segment also the radii of curvature.

    Returns how many: of a face with very many corners a part, all around, leaving rows for those
    that clipping adds.
    """
    count = min(feature[1], BUFFER_ROWS // 2)
    for k in range(count):
        i = k * feature[1] // count
        store(scratch, buffer + k, feature_corner(shapes, pose, s, feature, place, i))
        scratch[buffer + k, 3] = side_radius(shapes, s, i)
    return count


@inner_kernel
def meet_features(
    # in: shapes, the normal, the separation of the cores, closest core point of A
    shapes, pose, a, b, n, gap, pa, reach, margin,
    # out
    out, first, scratch,
):  # fmt: skip
    """Write at most four contacts with normal `n` and gap below `margin` [m]; their number.

    Points are relative to A inside. `gap` is the separation of the cores along `n`: spheres
    and capsules are their core plus a radius.
    """
    ra, rb = rounding_radius(shapes, a), rounding_radius(shapes, b)
    offset = sub(pose_position(pose, b), pose_position(pose, a))
    # The face of B clips the feature of A, or that of A the feature of B if only A shows a face.
    s, place, out_of_s = b, offset, scale(n, -1.0)
    t, place_t, sign = a, scale(offset, 0.0), 1.0
    feature = find_feature(shapes, s, to_local_direction(pose, s, out_of_s))
    feature_t = find_feature(shapes, t, to_local_direction(pose, t, n))
    if feature[1] <= 2 and feature_t[1] > 2:
        s, place, t, place_t, sign = t, place_t, s, place, -1.0
        feature, feature_t = feature_t, feature
        out_of_s = n
    source, count = BUFFER_0, 0
    if feature_t[1] > 1:
        loaded = _load_feature(shapes, pose, t, feature_t, place_t, BUFFER_0, scratch)
        if feature[1] > 2:
            source, count = _clip_by_face(
                shapes, pose, s, feature, place, out_of_s, reach, loaded, scratch
            )
        elif feature[1] == 2:
            _load_feature(shapes, pose, s, feature, place, BUFFER_1, scratch)
            count = _meet_segments(pa, n, reach, scratch)
    deepest = pa if t == a else mad(pa, n, gap)
    count = _add_deepest(scratch, source, count, gap, deepest, reach)
    count = keep_near(scratch, source, count, margin + ra + rb)
    count = reduce_points(scratch, source, count, n)
    if count > 1 and norm(sub(load(scratch, source + 1), load(scratch, source))) < APART * reach:
        count = 1  # the second is the farthest from the first, so all are one
    lift = ra if t == a else -rb
    for i in range(count):
        own = scratch[source + i, 3] - ra - rb
        x = add(load(scratch, source + i), pose_position(pose, a))
        write_contact(out, first + i, mad(x, n, lift + 0.5 * sign * own), n, own)
    return count
