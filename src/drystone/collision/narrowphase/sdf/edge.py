"""Edge against SDF: a piece of a ridge of one body and the signed distance of another.

Along the piece the distance f is taken to fall, then rise. Where it does, tangents from both
sides meet at a lower bound of the least; the distance there gives a new tangent, and so on
(cutting planes, [Kelley1960]). Inside a body f is piecewise linear and this ends after a few steps,
at the point where two faces of the body are as far, over one of its ridges. The normal is the
mean of the two faces' normals that is at right angles to the piece, so to both ridges; along it
they are apart by f over the length of that mean.

Where f is level over an interval, as on a face, its two ends are contacts too.
"""

from math import ceil, floor, sqrt

from drystone.collision.narrowphase.mesh.constants import BOUND, REACH, ROUNDING
from drystone.collision.narrowphase.mesh.triangle_features import CROSSING, LYING
from drystone.collision.narrowphase.sdf.exit_face import find_exit, supports
from drystone.collision.narrowphase.sdf.vertex import RIDGES, add_contact
from drystone.jit import inner_kernel, kernel
from drystone.jit.vec import add, cross, dot, load, mad, mul, normalize, scale, sub
from drystone.shapes.sdf.closest_point import signed_distance
from drystone.shapes.sdf.feature_samples import SPACING
from drystone.shapes.sdf.octree import interpolated_distance

ITERATIONS = 32
# Places nearer than this part of the smaller radius are one.
BESIDE = 1e-6
# Tangents may be above the distance by this part of the smaller radius where a search ends.
CLOSE = 1e-10
# The mean of two normals must be at least this long, else they are the sides of a thin wall.
BLUNT = 0.2
# Slopes below this are rounding.
FALLS = 1e-9


@kernel
def _minimum(solids, meeting, p, e, left, right, shift, stack):
    """Where f(s) - shift s is least between left and right: s, f, the normals left and right.

    left, right  s, f and the normal there
    """
    s0, f0, n0 = left
    s1, f1, n1 = right
    radius = meeting.radius
    s, f, close, aside = s0, f0, CLOSE * radius, False
    for _ in range(ITERATIONS):
        bound = f0
        if not aside:
            g0, g1 = dot(n0, e) - shift, dot(n1, e) - shift
            v0, v1 = f0 - shift * s0, f1 - shift * s1
            s = (v1 - v0 + g0 * s0 - g1 * s1) / (g0 - g1)
            if not s0 <= s <= s1:  # f does not fall and rise once: halves
                s = 0.5 * (s0 + s1)
            bound = v0 + g0 * (s - s0)
        limit = abs(f0) + (s - s0) + close
        f, n = signed_distance(solids, meeting.solid, mad(p, e, s), limit, stack)
        rising = dot(n, e) >= shift
        if rising:
            s1, f1, n1 = s, f, n
        else:
            s0, f0, n0 = s, f, n
        if s1 - s0 <= BESIDE * radius:
            break
        # One of the tangents may touch f there and the other not: the slope beside it tells.
        aside = not aside and abs(f - shift * s - bound) <= close
        if aside:
            s += (-0.5 if rising else 0.5) * BESIDE * radius
    return (s0, f0, n0, n1) if f0 < f1 else (s1, f1, n0, n1)


@kernel
def _across(n0, n1, e):
    """Mean of two normals, at right angles to e as far as can be."""
    g0, g1 = dot(n0, e), dot(n1, e)
    share = min(max(g1 / (g1 - g0), 0.0), 1.0)
    return add(scale(n0, share), scale(n1, 1.0 - share))


@kernel
def _interval_contacts(
    solids, meeting, p, e, left, right, tangents, rows, count, query, stack
):  # fmt: skip
    """Candidates between two places where f and the normal are known; the new count.

    left, right  s, f and the normal there
    """
    g0, g1 = dot(left[2], e), dot(right[2], e)
    # The least of f, unless it is level, then the ends of a level interval: f is steeper than
    # that on one side, and not on the other.
    for case in range(3):
        shift = 0.0 if case == 0 else (-CROSSING if case == 1 else CROSSING)
        ends = g0 < shift <= g1 if case == 1 else g0 <= shift < g1
        if case == 0:
            ends = g0 < -FALLS and g1 > FALLS
        if not ends:
            continue
        s, f, m0, m1 = _minimum(solids, meeting, p, e, left, right, shift, stack)
        h0, h1 = dot(m0, e), dot(m1, e)
        mean = m1 if case == 1 else m0
        if h0 < -FALLS and h1 > FALLS:
            mean = _across(m0, m1, e)
        count = _edge_contact(
            solids, meeting, mad(p, e, s), e, mean, f, (m0, m1), tangents, rows, count, query,
            stack,
        )  # fmt: skip
        if case == 0 and h0 < -CROSSING and h1 > CROSSING:
            break
    return count


@kernel
def _edge_contact(
    solids, meeting, x, e, mean, f, normals, tangents, rows, count, query, stack
):  # fmt: skip
    """Add a contact at x along `mean` of the two normals on both sides; the new count."""
    mean = mad(mean, e, -dot(mean, e))
    length = sqrt(dot(mean, mean))
    if length < BLUNT:
        return count
    n, gap = scale(mean, 1.0 / length), f / length if f < 0.0 else f
    if gap <= -meeting.deep or gap >= query[REACH]:
        return count
    if not supports(meeting, tangents, n, CROSSING):
        inside = gap < ROUNDING * meeting.radius
        if not inside or supports(meeting, tangents, n, LYING):
            return count
        depth, n = find_exit(solids, meeting, x, e, tangents, stack)
        if depth >= meeting.deep:
            return count
        return add_contact(meeting, x, n, -depth, RIDGES, rows, count, query)
    if gap < 0.0:
        # Behind the edge of a blade is not always inside it. The normals beside the piece are
        # e x t1 and t2 x e, where t1 and t2 lead into its faces.
        c, around = cross(n, e), tangents.direction
        one = dot(mul(meeting.to_solid, load(around, tangents.first)), c)
        two = dot(mul(meeting.to_solid, load(around, tangents.last - 1)), c)
        if max(one, -two, -dot(n, normals[0]), -dot(n, normals[1])) > CROSSING:
            return count
    return add_contact(meeting, x, n, gap, RIDGES, rows, count, query)


@inner_kernel
def edge_contacts(
    # in: the piece from p to q in the solid's axes; how far from the origin the solid reaches
    solids, meeting, p, q, reach, tangents,
    # in and out
    rows, count, query,
    # scratch
    stack,
):  # fmt: skip
    """Candidates of a piece of a ridge; the new count."""
    e = sub(q, p)
    length = sqrt(dot(e, e))
    e = normalize(e)
    # The part of it within the sphere that holds the solid, in steps that fit the smaller body.
    at = -dot(p, e)
    closest = mad(p, e, at)
    half2 = reach * reach - dot(closest, closest)
    if half2 <= 0.0:
        return count
    half, steps = sqrt(half2), int(ceil(length / (2.0 * SPACING * meeting.radius)))
    step = length / steps
    low = max(0, int(floor((at - half) / step)))
    high = min(steps, int(ceil((at + half) / step)))
    known, f0, n0 = -1, 0.0, e
    for i in range(low, high):
        s0, s1 = i * step, (i + 1) * step
        middle = mad(p, e, 0.5 * (s0 + s1))
        away, near = _nearby(solids, meeting, middle, 0.5 * step, query, stack)
        if not near:
            continue
        limit = away + step
        if known != i:
            f0, n0 = signed_distance(solids, meeting.solid, mad(p, e, s0), limit, stack)
        f1, n1 = signed_distance(solids, meeting.solid, mad(p, e, s1), limit, stack)
        query[BOUND] = min(query[BOUND], f0, f1)
        if 0.5 * (f0 + f1 - step) < query[REACH]:
            count = _interval_contacts(
                solids, meeting, p, e, (s0, f0, n0), (s1, f1, n1), tangents, rows, count, query,
                stack,
            )  # fmt: skip
        known, f0, n0 = i + 1, f1, n1
    return count


@kernel
def _nearby(solids, meeting, x, half, query, stack):
    """Upper bound of the distance of x [m]; whether points within `half` of it can touch."""
    reach = query[REACH] + half
    if solids.octree[meeting.solid] < 0:
        f, _ = signed_distance(solids, meeting.solid, x, max(reach, meeting.deep), stack)
        error = 0.0
    else:
        f, error = interpolated_distance(solids, meeting.solid, x)
    if f - error >= reach:
        query[BOUND] = min(query[BOUND], f - error - half)
        return 0.0, False
    return abs(f) + error, f + error > -meeting.deep - half
