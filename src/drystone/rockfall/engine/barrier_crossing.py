"""Barriers inside a trajectory: what happens when the centre of mass crosses one (ROCFALL 4.2).

A barrier is a row of upright panels. The path of the centre of mass is a parabola, so the time at
which it crosses the plane of a panel is the root of a quadratic. A panel takes its capacity from
the translational energy, and stops the rock if that is all there is; one whose top is passed
takes nothing, and that is noted too. Barriers numbered above those that have a capacity are
walls: rocks collide with their triangles, every such impact is noted as a hit, and whoever crosses
a panel of theirs has overtopped them.
"""

from math import inf, sqrt

from drystone.jit import kernel
from drystone.jit.vec import load
from drystone.rockfall.engine.event_log import log_crossing
from drystone.rockfall.engine.records import HIT, OVERTOPPED, PASSED, STOPPED

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
    """First panel that the centre of mass crosses within `end` seconds, above its foot.

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


@kernel
def panel_outcome(barriers, panel, height, energy):
    """What a panel does to a rock that crosses it at that height with that energy of translation.

    Returns the outcome and the energy that it takes [J].
    """
    b = barriers.barrier[panel]
    if b >= barriers.capacity.shape[0] or height > barriers.height[panel]:
        return OVERTOPPED, 0.0
    taken = min(energy, barriers.capacity[b])
    return (STOPPED if taken >= energy else PASSED), taken


@kernel
def height_over_foot(barriers, b, x):
    """Height of x over the foot of barrier b, there where the foot is nearest in plan [m]."""
    best, height = inf, 0.0
    for i in range(barriers.barrier.shape[0]):
        if barriers.barrier[i] != b:
            continue
        p, q = load(barriers.foot_a, i), load(barriers.foot_b, i)
        ex, ey, dx, dy = q[0] - p[0], q[1] - p[1], x[0] - p[0], x[1] - p[1]
        along = min(max((dx * ex + dy * ey) / (ex * ex + ey * ey), 0.0), 1.0)
        away = (dx - along * ex) ** 2 + (dy - along * ey) ** 2
        if away < best:
            best, height = away, x[2] - p[2] - along * (q[2] - p[2])
    return height


@kernel
def _wall_of(barriers, triangle):
    """Barrier that a triangle belongs to; -1 if it is one of the slope."""
    k = triangle - barriers.wall_first
    return barriers.wall[k] if 0 <= k < barriers.wall.shape[0] else -1


@kernel
def log_hit(barriers, triangle, t, x, v, w, energy, taken, log):
    """Note an impact on that triangle if it is a wall's; False if the log is full."""
    b = _wall_of(barriers, triangle)
    if b < 0:
        return True
    height = height_over_foot(barriers, b, x)
    return log_crossing(log, t, b, x, v, w, height, energy, taken, HIT)


@kernel
def log_hits(barriers, count, triangle, impulse, t, x, v, w, energy, taken, log):
    """Note an impact of several contacts once for every wall that takes part in it."""
    for i in range(count):
        b, first = _wall_of(barriers, triangle[i]), True
        if b < 0 or impulse[i] <= 0.0:
            continue
        for j in range(i):
            first = first and not (impulse[j] > 0.0 and _wall_of(barriers, triangle[j]) == b)
        if first and not log_hit(barriers, triangle[i], t, x, v, w, energy, taken, log):
            return False
    return True
