"""Convex edges and vertices of a terrain (ridges and peaks) against a convex shape.

Along a ridge the Gauss map of the ground has an arc of normals, from one triangle's to the other's.
The contact normal m is the one of the arc with the largest separation between ridge and shape:
where the lowest point of the shape stands right above the ridge, or an end of the arc.
"""

from drystone.collision.narrowphase.candidates import LAST, add_candidate
from drystone.jit import inner_kernel, kernel
from drystone.jit.vec import (
    add,
    cross,
    dot,
    load,
    mad,
    norm,
    normalize,
    scale,
    sub,
    to_local_direction,
)
from drystone.shapes.kinds import (
    core_support,
    feature_corner,
    feature_normal,
    find_feature,
    height_over,
)

# Steps of the search on an arc; polytopes need two or three, rims of cylinders about six.
MAX_STEPS = 24
# The search ends when a step gains less than this part of the shape's radius.
GAIN = 1e-13
# A point that misses the deepest by less than this part of the shape's radius is as deep.
DEEPEST = 1e-6
# Within 11 degrees [cosine] a face of the shape lies on the ridge; beyond it only its edge
# touches, and points inside the face belong to another contact.
LYING = 0.98
# Lines within this sine of each other meet along their length.
PARALLEL = 1e-3
# The ground may rise by this slope beside a peak, as rounding can make it.
CONE = 1e-6
MOST_AROUND = 64  # triangles around a vertex


@kernel
def _point_over(e, e0, x):
    """Unit vector from the ridge to the point x, at right angles to the ridge."""
    d = sub(x, e0)
    return normalize(mad(d, e, -dot(d, e)))


@inner_kernel
def best_on_arc(shapes, pose, a, e, e0, n1, n2, small):
    """Normal of the arc from `n1` to `n2` with the largest separation, and the lowest point.

    The ridge runs through `e0` along the unit vector `e`, about which the arc goes. Two lowest
    points on either side of the ridge define the normal on which they are level; the
    lowest point there replaces one of them.
    """
    x1 = core_support(shapes, pose, a, scale(n1, -1.0))
    if dot(cross(e, n1), sub(x1, e0)) <= 0.0:
        return n1, x1
    x2 = core_support(shapes, pose, a, scale(n2, -1.0))
    if dot(cross(e, n2), sub(x2, e0)) >= 0.0:
        return n2, x2
    m = n1
    for _ in range(MAX_STEPS):
        level = cross(e, sub(x2, x1))
        length = norm(level)
        if length <= small:
            return _point_over(e, e0, x1), x1
        sign = 1.0 if dot(level, add(n1, n2)) > 0.0 else -1.0
        m = scale(level, sign / length)
        x = core_support(shapes, pose, a, scale(m, -1.0))
        across = cross(e, m)
        if dot(m, sub(x1, x)) <= small:
            # Both lowest points on one side of the ridge: the nearer one stands above it.
            if dot(across, sub(x2, e0)) > 0.0:
                return _point_over(e, e0, x2), x2
            if dot(across, sub(x1, e0)) < 0.0:
                return _point_over(e, e0, x1), x1
            break
        if dot(across, sub(x, e0)) > 0.0:
            x1 = x
        else:
            x2 = x
    # The points on either side are level: what stands above the ridge lies between them.
    d1, d2 = dot(cross(e, m), sub(x1, e0)), dot(cross(e, m), sub(x2, e0))
    return m, mad(x1, sub(x2, x1), d1 / (d1 - d2) if d1 > d2 else 0.0)


@kernel
def _clip_ridge(shapes, pose, a, feature, e0, e, length, m, small):
    """Part (s0, s1) of the ridge under a face of the shape, seen along `m`; s0 > s1 if none."""
    origin, corners = (0.0, 0.0, 0.0), feature[1]
    s0, s1 = 0.0, length
    p = feature_corner(shapes, pose, a, feature, origin, corners - 1)
    for i in range(corners):
        x = feature_corner(shapes, pose, a, feature, origin, i)
        side = normalize(cross(m, sub(x, p)))
        outside, rate = dot(side, sub(e0, p)), dot(side, e)
        if abs(rate) * length <= small:
            if outside > small:
                return 1.0, 0.0
        elif rate > 0.0:
            s1 = min(s1, -outside / rate)
        else:
            s0 = max(s0, -outside / rate)
        p = x
    return s0, s1


@kernel
def _meet_segment(a0, a1, e0, e, length, m):
    """Where a segment of the shape crosses the ridge, seen along `m`: count and ridge places."""
    side, u = cross(m, e), sub(a1, a0)
    d0, d1 = dot(sub(a0, e0), side), dot(sub(a1, e0), side)
    if max(abs(d0), abs(d1)) <= PARALLEL * norm(u):
        s0, s1 = dot(sub(a0, e0), e), dot(sub(a1, e0), e)
        low, high = max(0.0, min(s0, s1)), min(length, max(s0, s1))
        return 2 if low < high else 0, low, high
    if d0 * d1 > 0.0:
        return 0, 0.0, 0.0
    s = dot(sub(mad(a0, u, d0 / (d0 - d1)), e0), e)
    return 1 if s >= 0.0 and s <= length else 0, s, s


@inner_kernel
def find_ridge_contacts(
    # in: shape a; ridge from e0 to e1 and its arc of normals n1 to n2
    shapes, pose, a, ridge, rounding, margin, depth, twin, closed,
    # in and out
    scratch, count,
):  # fmt: skip
    """Add the contacts of one ridge with the shape; the new count.

    What lies under a ridge of open ground is in the ground. What lies under one that belongs to a
    `closed` mesh may be beyond its other side, and the ridge has nothing to do with it.
    """
    e0, e1, n1, n2 = ridge
    radius = shapes.radius[a]
    small, deepest = GAIN * radius, DEEPEST * radius
    e = sub(e1, e0)
    length = norm(e)
    e = scale(e, 1.0 / length)
    m, low = best_on_arc(shapes, pose, a, e, e0, n1, n2, small)
    gap = dot(m, sub(low, e0)) - rounding
    if gap >= margin or gap < -depth:
        return count
    if closed and gap < 0.0:
        high = core_support(shapes, pose, a, m)
        if dot(m, sub(high, e0)) + rounding < 0.0:
            return count
    origin, down = (0.0, 0.0, 0.0), scale(m, -1.0)
    feature = find_feature(shapes, a, to_local_direction(pose, a, down))
    corners = feature[1]
    found, lying, s0, s1 = 0, False, 0.0, 0.0
    normal, p = down, low
    if corners == 2:
        p = feature_corner(shapes, pose, a, feature, origin, 0)
        p1 = feature_corner(shapes, pose, a, feature, origin, 1)
        found, s0, s1 = _meet_segment(p, p1, e0, e, length, m)
        # The plane through the segment that is level across it, for the height along it.
        u = sub(p1, p)
        normal = normalize(cross(u, cross(u, m)))
        lying = True
    elif corners > 2:
        normal = feature_normal(shapes, pose, a, feature)
        p = feature_corner(shapes, pose, a, feature, origin, 0)
        lying = -dot(normal, m) > LYING
        s0, s1 = _clip_ridge(shapes, pose, a, feature, e0, e, length, m, small)
        found = 2 if s0 <= s1 else 0
    reached = False
    for i in range(found):
        s = s0 if i == 0 else s1
        b = mad(e0, e, s)
        own = dot(normal, sub(p, b)) / dot(normal, m) - rounding
        reached = reached or own <= gap + deepest
        if closed and lying and corners > 2 and (s == 0.0 or s == length):
            # A peak over the face, which need not be level with the ridge.
            above, up = dot(normal, sub(b, p)), scale(normal, -1.0)
            far = core_support(shapes, pose, a, up)
            if above < margin and dot(up, sub(far, b)) >= 0.0:
                count = add_candidate(scratch, count, b, up, above, LAST, twin)
        elif own < margin and (lying or own <= gap + deepest):
            count = add_candidate(scratch, count, b, m, max(own, gap), LAST, twin)
    if not reached:  # a bare corner or edge of the shape right above the ridge
        s = dot(sub(low, e0), e)
        aside = sub(sub(low, e0), mad(scale(e, s), m, dot(sub(low, e0), m)))
        if s >= 0.0 and s <= length and dot(aside, aside) <= deepest * deepest:
            count = add_candidate(scratch, count, mad(e0, e, s), m, gap, LAST, twin)
    return count


@kernel
def _falls_away(shapes, pose, t, tri, corner, m):
    """Whether the ground around a corner of triangle `tri` lies nowhere above it, along `m`.

    Walks around the vertex in one direction, then, if that ends at the border, in the other.
    """
    base_v, base_t = shapes.terrain[shapes.table[t], 0], shapes.terrain[shapes.table[t], 1]
    triangle, terrain_vertex = shapes.triangle, shapes.terrain_vertex
    mine = triangle[base_t + tri, corner]
    up = to_local_direction(pose, t, m)
    centre = load(terrain_vertex, base_v + mine)
    for backward in range(2):
        now, k = tri, corner
        for _ in range(MOST_AROUND):
            row = base_t + now
            for other in range(1, 3):
                x = load(terrain_vertex, base_v + triangle[row, (k + other) % 3])
                d = sub(x, centre)
                if dot(d, up) > CONE * norm(d):
                    return False
            now = shapes.neighbour[row, (k + 2) % 3 if backward == 0 else k]
            if now < 0:
                break
            if now == tri:
                return True
            for i in range(3):
                if triangle[base_t + now, i] == mine:
                    k = i
    return True


@inner_kernel
def find_peak_contact(
    # in: shape a, peak at v: the given corner of triangle `tri` of terrain t
    shapes, pose, a, t, tri, corner, v, margin, depth, twin,
    # in and out
    scratch, count,
):  # fmt: skip
    """Add the contact of the shape with a peak; the new count.

    The caller has seen a ridge there.
    """
    m, gap, exists = height_over(shapes, pose, a, v)
    if not exists or gap >= margin or gap < -depth:
        return count
    if not _falls_away(shapes, pose, t, tri, corner, m):
        return count
    return add_candidate(scratch, count, v, m, gap, LAST, twin)
