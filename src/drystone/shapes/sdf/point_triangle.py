"""Closest point of a triangle, and its distance, by Voronoi regions: [Ericson2005] 5.1.5."""

from drystone.jit import kernel
from drystone.jit.vec import add, cross, dot, mad, norm, scale, sub


@kernel
def _nearest_feature(ab, ac, ax, bx, cx):
    """Which feature holds the nearest point: 0 the face, 1 ... 3 corners, 4 ... 6 edges.

    Edges: ab, bc, ca; then its distance along the edge from a, b, a as a part of it, and 0. Face:
    the weights of b and c.
    """
    d1, d2 = dot(ab, ax), dot(ac, ax)
    if d1 <= 0.0 and d2 <= 0.0:
        return 1, 0.0, 0.0
    d3, d4 = dot(ab, bx), dot(ac, bx)
    if d3 >= 0.0 and d4 <= d3:
        return 2, 0.0, 0.0
    vc = d1 * d4 - d3 * d2
    if vc <= 0.0 and d1 >= 0.0 and d3 <= 0.0:
        return 4, d1 / (d1 - d3), 0.0
    d5, d6 = dot(ab, cx), dot(ac, cx)
    if d6 >= 0.0 and d5 <= d6:
        return 3, 0.0, 0.0
    vb = d5 * d2 - d1 * d6
    if vb <= 0.0 and d2 >= 0.0 and d6 <= 0.0:
        return 6, d2 / (d2 - d6), 0.0
    va = d3 * d6 - d5 * d4
    if va <= 0.0 and d4 >= d3 and d5 >= d6:
        return 5, (d4 - d3) / ((d4 - d3) + (d5 - d6)), 0.0
    w = 1.0 / (va + vb + vc)
    return 0, vb * w, vc * w


@kernel
def foot_on(a, b, c, x):
    """Nearest point of a triangle and what holds it: 0 its face, 1 ... 3 corners, 4 ... 6 edges."""
    ab, ac = sub(b, a), sub(c, a)
    feature, s, t = _nearest_feature(ab, ac, sub(x, a), sub(x, b), sub(x, c))
    if feature == 0:
        return add(mad(a, ab, s), scale(ac, t)), 0
    if feature == 4:
        return mad(a, ab, s), 4
    if feature == 6:
        return mad(a, ac, s), 6
    if feature == 5:
        return mad(b, sub(c, b), s), 5
    if feature == 1:
        return a, 1
    return (b, 2) if feature == 2 else (c, 3)


@kernel
def triangle_distance(x, a, b, c):
    """Distance of point x to a triangle, from differences alone: exact far from the origin."""
    ab, ac = sub(b, a), sub(c, a)
    ax, bx, cx = sub(x, a), sub(x, b), sub(x, c)
    feature, s, _ = _nearest_feature(ab, ac, ax, bx, cx)
    if feature == 0:
        n = cross(ab, ac)
        return abs(dot(n, ax)) / norm(n)
    if feature == 4:
        return norm(sub(ax, scale(ab, s)))
    if feature == 6:
        return norm(sub(ax, scale(ac, s)))
    if feature == 5:
        return norm(sub(bx, scale(sub(c, b), s)))
    if feature == 1:
        return norm(ax)
    return norm(bx) if feature == 2 else norm(cx)
