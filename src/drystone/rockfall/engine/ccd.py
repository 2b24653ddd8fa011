"""Continuous collision detection: the time of impact of a moving, rotating rock (ROCFALL 1.4).

Conservative advancement along separating axes. While a rock and a triangle are apart there is a
unit n along which every corner i of the rock is higher than all of the triangle by

    f_i(s) = n.(x(s) + R(s) r_i) - max n.corner  -  rounding.

With the spin w constant over the step, f_i'' >= n.a - |w|² reach: from f_i and f_i' at a time
follows a time until which no f_i can have come down to the threshold, however the rock rotates. We
go there, and when an axis has no gap left take the closest direction at that time as the next.
The time found is thus never late: corner on face, edge on edge and face on corner alike, nothing
is passed through, and the distance is never below the threshold.
"""

from math import inf, sqrt
from typing import NamedTuple

from drystone.jit import kernel
from drystone.jit.vec import cross, dot, load, mul, mul_t, norm, normalize, rotation_matrix, sub
from drystone.rockfall.engine.distance import piece_distance
from drystone.rockfall.engine.flight import place_at, rotated

# The search ends within this part of the threshold above it.
TOLERANCE = 0.1

# Per piece and triangle; 3 to 8 are usual. Stopping here early costs a shorter step.
MAX_ITERATIONS = 100


class Path(NamedTuple):
    """Motion of a rock over a step: constant acceleration and spin."""

    x: tuple  # centre of mass [m]
    v: tuple  # [m/s]
    a: tuple  # [m/s²]
    q: tuple  # orientation, unit quaternion
    w: tuple  # spin, world axes [rad/s]


@kernel
def _safe_time(vertex, first, last, n, g, base, rate, bend, span):
    """Least height above the threshold, and the time in which no corner can have lost its own.

    Heights are base + n.r, their rates rate + g.r, falling faster by `bend` [m/s²] at most.
    """
    least, time = inf, inf
    fall = 0.5 * bend * span * span
    for i in range(first, last):
        x, y, z = vertex[i, 0], vertex[i, 1], vertex[i, 2]
        f = base + n[0] * x + n[1] * y + n[2] * z
        d = rate + g[0] * x + g[1] * y + g[2] * z
        least = min(least, f)
        if f + d * span < fall and f > 0.0:
            root = sqrt(d * d + 2.0 * bend * f)
            # The positive root of f + d t - bend t²/2, in the form that does not cancel.
            t = 2.0 * f / (root - d) if d < 0.0 else (d + root) / bend
            time = min(time, t)
    return least, time


@kernel
def _sweep_pair(rocks, piece, rounding, path, n, corners, end, threshold, simplex):
    """Time of impact within 0..end: first at which the distance is within the threshold, or inf.

    n   a first guess of the direction from the triangle to the rock
    """
    x, v, a, q, w = path
    c0, c1, c2 = corners
    first, last = rocks.piece_vertex[piece], rocks.piece_vertex[piece + 1]
    spin = norm(w)
    centripetal = spin * spin * rocks.piece_ball[piece, 4]
    slack = TOLERANCE * threshold
    s = 0.0
    for _ in range(MAX_ITERATIONS):
        p = rotated(q, w, s)
        m = rotation_matrix(p[0], p[1], p[2], p[3])
        xs = place_at(x, v, a, s)
        base = dot(n, xs) - max(dot(n, c0), max(dot(n, c1), dot(n, c2))) - rounding - threshold
        rate = dot(n, v) + s * dot(n, a)
        bend = max(centripetal - dot(n, a), 1e-12)
        least, time = _safe_time(
            rocks.vertex, first, last, mul_t(m, n), mul_t(m, cross(n, w)), base, rate, bend, end - s
        )
        if least <= slack:
            a0, a1, a2 = mul_t(m, sub(c0, xs)), mul_t(m, sub(c1, xs)), mul_t(m, sub(c2, xs))
            d, direction, _ = piece_distance(
                rocks.vertex, first, last, a0, a1, a2, mul_t(m, n), simplex
            )
            if d - rounding - threshold <= 2.0 * slack:
                return s
            n = mul(m, direction)
        elif s + time >= end:
            return inf
        else:
            s += time
    return s


@kernel
def _lowest_fall(height, rate, bend, span):
    """A lower bound of height + rate s + bend s²/2 over 0..span."""
    if bend >= 0.0:
        return height + min(rate * span, 0.0)
    return min(height, height + rate * span + 0.5 * bend * span * span)


@kernel
def sweep(rocks, k, path, span, threshold, grid, found, count, simplex):
    """Time of impact within `span`: rock `k` comes within `threshold` of a triangle found.

    Returns the time (inf if none) and the triangle.
    """
    x, v, a, q, w = path
    radius, rounding = rocks.body[k, 4], rocks.body[k, 5]
    first, last = rocks.pieces[k, 0], rocks.pieces[k, 1]
    best, which = inf, -1
    end = span
    m = rotation_matrix(q[0], q[1], q[2], q[3])
    reach = span * (norm(v) + 0.5 * span * norm(a))
    spin = norm(w)
    for f in range(count):
        t = found[f]
        c0 = load(grid.vertex, grid.triangle[t, 0])
        c1 = load(grid.vertex, grid.triangle[t, 1])
        c2 = load(grid.vertex, grid.triangle[t, 2])
        n = normalize(cross(sub(c1, c0), sub(c2, c0)))
        height = dot(n, sub(x, c0))
        if height < 0.0:  # behind: a thin wall, or a triangle of an overhang
            n, height = (-n[0], -n[1], -n[2]), -height
        if _lowest_fall(height, dot(n, v), dot(n, a), end) > radius + threshold:
            continue
        for piece in range(first, last):
            if last - first > 1:
                ball = load(rocks.piece_ball, piece)
                moved = reach + spin * span * norm(ball)
                side = dot(n, sub(x, c0)) + dot(n, mul(m, ball))
                if abs(side) > rocks.piece_ball[piece, 3] + moved + threshold:
                    continue
            time = _sweep_pair(
                rocks, piece, rounding, path, n, (c0, c1, c2), end, threshold, simplex
            )
            if time < best:
                best, which, end = time, t, time
    return best, which
