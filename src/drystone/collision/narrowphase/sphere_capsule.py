"""Spheres and capsules against each other, in closed form: closest points of points and segments.

A capsule is a segment plus a radius, so each of these contacts is one between two balls that
sit at chosen points of the two cores.
"""

from math import sqrt

from drystone.jit import inner_kernel
from drystone.jit.vec import cross, dot, mad, pose_axis_z, pose_position, sub, tangents

# Sine of the angle between two capsules below which they count as parallel. Above it the point
# of least distance is well defined; below it the ends of the overlap miss the least distance by
# no more than (overlap / 2)² sin² / (2 distance), some micrometres for capsules of a metre.
PARALLEL = 1e-3

# Sine of the angle up to which capsules touch along a line rather than at a point: the ends of
# the overlap are then contacts too, so that a capsule that rotates out of line loses no support.
LINE = 0.1


@inner_kernel
def put_balls(pa, ra, pb, rb, fallback, margin, out, row):
    """Write the contact of two balls if its gap is below `margin` [m]; 1 if written, else 0.

    `fallback` is the unit normal to take when the centres coincide.
    """
    d = sub(pb, pa)
    length = sqrt(dot(d, d))
    gap = length - ra - rb
    if gap >= margin:
        return 0
    n = fallback
    if length > 0.0:
        n = (d[0] / length, d[1] / length, d[2] / length)
    middle = mad(pa, n, ra + 0.5 * gap)
    out[row, 0], out[row, 1], out[row, 2] = middle
    out[row, 3], out[row, 4], out[row, 5] = n
    out[row, 6] = gap
    return 1


@inner_kernel
def clamp(x, half):
    return min(max(x, -half), half)


@inner_kernel
def sphere_sphere(shapes, pose, a, b, margin, out, first):
    """At most one contact of two spheres."""
    size = shapes.size
    pa, pb = pose_position(pose, a), pose_position(pose, b)
    return put_balls(pa, size[a, 0], pb, size[b, 0], (0.0, 0.0, 1.0), margin, out, first)


@inner_kernel
def sphere_capsule(shapes, pose, a, b, margin, out, first):
    """At most one contact of sphere `a` with capsule `b`."""
    size = shapes.size
    pa, pb, u = pose_position(pose, a), pose_position(pose, b), pose_axis_z(pose, b)
    t = clamp(dot(sub(pa, pb), u), size[b, 1])
    aside, _ = tangents(u)
    return put_balls(pa, size[a, 0], mad(pb, u, t), size[b, 0], aside, margin, out, first)


@inner_kernel
def closest_on_segments(d, u, hu, v, hv):
    """Parameters (s, t) of the closest points of two segments, |s| <= hu, |t| <= hv.

    `d` leads from the middle of the first to the middle of the second, `u` and `v` are their
    unit directions [Ericson2005, 5.1.9]. Parallel segments get one of their closest pairs.
    """
    uv = dot(u, v)
    du, dv = dot(d, u), dot(d, v)
    w = cross(u, v)
    sine2 = dot(w, w)  # better than 1 - uv², which loses half the digits when nearly parallel
    s = clamp((du - uv * dv) / sine2, hu) if sine2 > 1e-24 else clamp(du, hu)
    t = clamp(s * uv - dv, hv)
    s = clamp(du + t * uv, hu)
    return s, t


@inner_kernel
def capsule_capsule(shapes, pose, a, b, margin, out, first):
    """Contacts of two capsules: two when they lie side by side, else one.

    Between PARALLEL and LINE the closest pair and the ends of the overlap are all written (two
    where the closest pair is such an end, else three).
    """
    size = shapes.size
    pa, pb = pose_position(pose, a), pose_position(pose, b)
    u, v = pose_axis_z(pose, a), pose_axis_z(pose, b)
    ra, rb, hu, hv = size[a, 0], size[b, 0], size[a, 1], size[b, 1]
    d, w = sub(pb, pa), cross(u, v)
    sine = sqrt(dot(w, w))
    if sine > 0.0:
        w = (w[0] / sine, w[1] / sine, w[2] / sine)
    else:
        w, _ = tangents(u)
    s, t = closest_on_segments(d, u, hu, v, hv)
    if sine > LINE:
        return put_balls(mad(pa, u, s), ra, mad(pb, v, t), rb, w, margin, out, first)
    middle, half = dot(d, u), hv * abs(dot(u, v))
    low, high = max(-hu, middle - half), min(hu, middle + half)
    # Ends of the overlap closer than this would be twins, and a row of capsules laid end to end
    # has none: one contact, at the closest pair.
    apart = 1e-3 * min(ra, rb)
    if high - low < apart:
        return put_balls(mad(pa, u, s), ra, mad(pb, v, t), rb, w, margin, out, first)
    uv, dv = dot(u, v), dot(d, v)
    count = 0
    for k in range(2):
        end = low if k == 0 else high
        other = mad(pb, v, clamp(end * uv - dv, hv))
        count += put_balls(mad(pa, u, end), ra, other, rb, w, margin, out, first + count)
    if sine > PARALLEL and s > low + apart and s < high - apart:
        count += put_balls(mad(pa, u, s), ra, mad(pb, v, t), rb, w, margin, out, first + count)
    return count
