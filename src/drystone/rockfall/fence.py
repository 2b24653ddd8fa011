"""Barriers inside a trajectory: what happens when the centre of mass crosses one (ROCFALL 4.2).

A barrier is a row of upright panels. The path of the centre of mass is a parabola, so the time at
which it meets the plane of a panel is the root of a quadratic. A panel takes its capacity from
the translational energy, and stops the rock if that is all there is; one whose top is passed
takes nothing, and that is noted too.
"""

from math import inf, sqrt

from drystone.jit import kernel
from drystone.vec import load

# A rock that has just crossed a panel does not cross it again within this time [s].
AGAIN = 1e-6


@kernel
def first_root(c, b, a, after, end):
    """Least s in after..end with c + b s + a s²/2 = 0; inf if there is none."""
    if abs(a) * end * end < 1e-15 * (abs(b) * end + abs(c)):
        s = -c / b if b != 0.0 else inf
        return s if after < s <= end else inf
    disc = b * b - 2.0 * a * c
    if disc < 0.0:
        return inf
    t = -(b + sqrt(disc)) if b >= 0.0 else -b + sqrt(disc)
    s, u = t / a, 2.0 * c / t if t != 0.0 else inf
    if s > u:
        s, u = u, s
    if after < s <= end:
        return s
    return u if after < u <= end else inf


@kernel
def cross_panels(foot_a, foot_b, last, x, v, a, end):
    """First panel that the centre of mass meets within `end` seconds, above its foot.

    foot_a, foot_b   (n, 3) ends of the foot of each panel
    last             panel that was crossed just now, or -1
    Returns the panel (-1: none), the time, and the height above the foot.
    """
    best, which, height = inf, -1, 0.0
    for i in range(foot_a.shape[0]):
        p, q = load(foot_a, i), load(foot_b, i)
        ex, ey = q[0] - p[0], q[1] - p[1]
        nx, ny = -ey, ex
        c = nx * (x[0] - p[0]) + ny * (x[1] - p[1])
        after = AGAIN if i == last else 0.0
        s = first_root(c, nx * v[0] + ny * v[1], nx * a[0] + ny * a[1], after, min(end, best))
        if s == inf:
            continue
        px = x[0] + s * v[0] + 0.5 * s * s * a[0] - p[0]
        py = x[1] + s * v[1] + 0.5 * s * s * a[1] - p[1]
        along = (px * ex + py * ey) / (ex * ex + ey * ey)
        above = x[2] + s * v[2] + 0.5 * s * s * a[2] - p[2] - along * (q[2] - p[2])
        if 0.0 <= along < 1.0 and above >= 0.0:
            best, which, height = s, i, above
    return which, best, height
