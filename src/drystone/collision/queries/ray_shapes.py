"""Where a ray enters a convex shape: closed forms in the axes of the shape.

A ray is o + t d with unit d, 0 <= t. Every function returns t and the outward normal there; t = 0
with the normal -d if the ray begins inside, inf if it misses.
"""

from math import inf, sqrt

from drystone.jit import inner_kernel
from drystone.jit.vec import dot, load, mad, scale
from drystone.model.arrays import BOX, CAPSULE, CONE, CYLINDER, HULL, PLANE, SPHERE

# What a bounding sphere is enlarged by, and rounding of squares of far coordinates.
ROUNDED, ROUNDING = 1.0 + 1e-12, 1e-14
NOWHERE = (inf, (0.0, 0.0, 0.0))


@inner_kernel
def ray_sphere(o, d, r):
    """|o + t d| = r."""
    b, c = dot(o, d), dot(o, o) - r * r
    if c <= 0.0:
        return 0.0, scale(d, -1.0)
    # The distance of the line from the centre, from a vector: b² - c would cancel far away.
    foot = mad(o, d, -b)
    under = r * r - dot(foot, foot)
    if b >= 0.0 or under < 0.0:
        return NOWHERE
    t = -b - sqrt(under)
    return t, scale(mad(o, d, t), 1.0 / r)


@inner_kernel
def misses_sphere(o, d, r):
    """Whether the ray passes a sphere about the origin, quickly; infinite spheres are met."""
    b, oo = dot(o, d), dot(o, o)
    return oo > r * r * ROUNDED and (b > 0.0 or oo - b * b > r * r * ROUNDED + ROUNDING * oo)


@inner_kernel
def ray_slabs(o, d, size):
    """A box of half sizes `size`: the last of three entries before the first exit."""
    enter, leave, axis = 0.0, inf, -1
    for k in range(3):
        x, v, h = o[k], d[k], size[k]
        if v == 0.0:
            if abs(x) > h:
                return NOWHERE
            continue
        near, far = (-h - x) / v, (h - x) / v
        if near > far:
            near, far = far, near
        if near > enter:
            enter, axis = near, k
        leave = min(leave, far)
    if enter > leave:
        return NOWHERE
    if axis < 0:
        return 0.0, scale(d, -1.0)
    sign = -1.0 if d[axis] > 0.0 else 1.0
    return enter, (
        sign if axis == 0 else 0.0,
        sign if axis == 1 else 0.0,
        sign if axis == 2 else 0.0,
    )


@inner_kernel
def ray_polytope(shapes, s, o, d):
    """The last plane of a hull that the ray enters before it leaves one [Haines1991]."""
    polytope, plane = shapes.polytope, shapes.face_plane
    row = shapes.table[s]
    first, count = polytope[row, 2], polytope[row, 3]
    enter, leave, face = 0.0, inf, -1
    for f in range(first, first + count):
        n = load(plane, f)
        speed, height = dot(n, d), dot(n, o) - plane[f, 3]
        if speed < 0.0:
            t = -height / speed
            if t > enter:
                enter, face = t, f
        elif speed > 0.0:
            leave = min(leave, -height / speed)
        elif height > 0.0:
            return NOWHERE
        if enter > leave:
            return NOWHERE
    if face < 0:
        return 0.0, scale(d, -1.0)
    return enter, load(plane, face)


@inner_kernel
def ray_capsule(o, d, r, h):
    """The round side, else the sphere at the nearer end."""
    z = min(max(o[2], -h), h)
    if o[0] * o[0] + o[1] * o[1] + (o[2] - z) ** 2 <= r * r:
        return 0.0, scale(d, -1.0)
    best, normal = NOWHERE
    a = d[0] * d[0] + d[1] * d[1]
    b, c = o[0] * d[0] + o[1] * d[1], o[0] * o[0] + o[1] * o[1] - r * r
    under = b * b - a * c
    if a > 0.0 and under >= 0.0 and c > 0.0:
        t = (-b - sqrt(under)) / a
        if t >= 0.0 and abs(o[2] + t * d[2]) <= h:
            return t, ((o[0] + t * d[0]) / r, (o[1] + t * d[1]) / r, 0.0)
    for side in range(2):
        end = h if side == 0 else -h
        t, n = ray_sphere((o[0], o[1], o[2] - end), d, r)
        if t < best:
            best, normal = t, n
    return best, normal


@inner_kernel
def ray_round(o, d, low, high, h):
    """A cylinder or cone about z from -h to h, of radius `low` below and `high` above.

    Convex, so that it is an interval of t for the two caps cut with one for the side.
    """
    slope, middle = (high - low) / (2.0 * h), 0.5 * (low + high)
    enter, leave, cap = 0.0, inf, 0
    if d[2] == 0.0:
        if abs(o[2]) > h:
            return NOWHERE
    else:
        near, far = (-h - o[2]) / d[2], (h - o[2]) / d[2]
        if near > far:
            near, far = far, near
        if near > enter:
            enter, cap = near, 1
        leave = far
    radius, rate = middle + slope * o[2], slope * d[2]
    a = d[0] * d[0] + d[1] * d[1] - rate * rate
    b = o[0] * d[0] + o[1] * d[1] - radius * rate
    c = o[0] * o[0] + o[1] * o[1] - radius * radius
    side = False
    # Within the caps the radius is not negative, and inside is a t² + 2 b t + c <= 0.
    if a > 0.0:
        under = b * b - a * c
        if under < 0.0:
            return NOWHERE
        root = sqrt(under)
        first, last = (-b - root) / a, (-b + root) / a
        if first > enter:
            enter, side = first, True
        leave = min(leave, last)
    else:
        # Steeper than the side of the cone: inside between its entry and a cap, or not at all.
        under = b * b - a * c
        root = sqrt(max(under, 0.0))
        if a < 0.0 and under >= 0.0:
            first, last = (-b + root) / a, (-b - root) / a
        elif a == 0.0 and b != 0.0:
            first, last = -0.5 * c / b, -0.5 * c / b
        else:
            first, last = inf, -inf
        at = enter
        if a * at * at + 2.0 * b * at + c > 0.0:
            t = first if first >= enter else last
            if not (enter <= t <= leave) or radius + t * rate < 0.0:
                return NOWHERE
            enter, side = t, True
    if enter > leave:
        return NOWHERE
    if side:
        x, y, z = o[0] + enter * d[0], o[1] + enter * d[1], o[2] + enter * d[2]
        r = middle + slope * z
        length = sqrt(1.0 + slope * slope)
        r = r if r > 0.0 else 1.0
        return enter, (x / (r * length), y / (r * length), -slope / length)
    if cap == 0:
        return 0.0, scale(d, -1.0)
    return enter, (0.0, 0.0, -1.0 if d[2] > 0.0 else 1.0)


@inner_kernel
def ray_plane(o, d):
    """The half space below z = 0."""
    if o[2] <= 0.0:
        return 0.0, scale(d, -1.0)
    if d[2] >= 0.0:
        return NOWHERE
    return -o[2] / d[2], (0.0, 0.0, 1.0)


@inner_kernel
def ray_convex(shapes, s, o, d):
    """Ray in the axes of shape `s`, of any kind without triangles."""
    kind, size = shapes.kind[s], load(shapes.size, s)
    if kind == PLANE:
        return ray_plane(o, d)
    if kind == SPHERE:
        return ray_sphere(o, d, size[0])
    if kind == BOX:
        return ray_slabs(o, d, size)
    if kind == HULL:
        return ray_polytope(shapes, s, o, d)
    if kind == CAPSULE:
        return ray_capsule(o, d, size[0], size[1])
    if kind == CYLINDER:
        return ray_round(o, d, size[0], size[0], size[1])
    if kind == CONE:
        return ray_round(o, d, size[0], 0.0, size[1])
    return NOWHERE
