"""Barriers inside a trajectory: what happens when the centre of mass crosses one (ROCFALL 4.2).

A straight piece of a barrier's line (a span) is an upright plane, a triangle of one of another form
an inclined one. The path of the centre of mass is a parabola, so its distance from a plane is a
quadratic of time. The side of each plane on which the rock is, is kept and changes only with a
crossing that was looked at: however a step is cut, and wherever a contact moves the rock, no
crossing is lost and none counts twice.

A barrier takes some of the translational energy, and stops the rock if that is all there is; one
whose top is passed takes nothing, and that is noted too. Barriers numbered above those that have a
capacity are walls: rocks collide with their triangles, every such impact is noted as a hit, and
whoever crosses a panel of theirs has overtopped them.
"""

from math import inf, sqrt

from drystone.jit import kernel
from drystone.jit.vec import cross, dot, load, sub
from drystone.rockfall.engine.event_log import log_crossing
from drystone.rockfall.engine.flight import place_at, zero_between
from drystone.rockfall.engine.records import HIT, OVERTOPPED, PASSED, STOPPED

# At the corner of a line two of its pieces meet: who has crossed one of them there does not cross
# the other within this time [s].
AGAIN = 1e-6

# Parts of a piece or of a triangle by which it reaches beyond its ends, for rounding: without
# them a rock that hits the joint of two might miss both.
TIP = 1e-9

# A rock so near to a plane is on neither side of it [m]: rounding must not reverse a crossing.
ON_PLANE = 1e-9


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
def _corners(barriers, t):
    corner = barriers.net[t]
    return load(corner, 0), load(corner, 1), load(corner, 2)


@kernel
def _plane(barriers, k):
    """A point and a normal of plane k: spans first, then triangles."""
    spans = barriers.span.shape[0] - 1
    if k < spans:
        p = load(barriers.foot_a, barriers.span[k])
        q = load(barriers.foot_b, barriers.span[k + 1] - 1)
        return p, (p[1] - q[1], q[0] - p[0], 0.0)
    p, q, r = _corners(barriers, k - spans)
    return p, cross(sub(q, p), sub(r, p))


@kernel
def _side_of(p, n, x, was):
    """Side of the plane through p on which x is; on the plane, where it was."""
    d = dot(n, sub(x, p))
    if d * d <= ON_PLANE * ON_PLANE * dot(n, n):
        return was
    return 1 if d > 0.0 else 0


@kernel
def note_sides(barriers, x, side):
    """Begin with the side of every plane on which x is."""
    for k in range(side.shape[0]):
        p, n = _plane(barriers, k)
        side[k] = _side_of(p, n, x, 1)


@kernel
def _over_span(barriers, k, x, depth):
    """Panel of span k that x crosses, and the height over its foot; -1 beside the span."""
    first, last = barriers.span[k], barriers.span[k + 1] - 1
    p, q = load(barriers.foot_a, first), load(barriers.foot_b, last)
    ex, ey = q[0] - p[0], q[1] - p[1]
    at, length = (x[0] - p[0]) * ex + (x[1] - p[1]) * ey, ex * ex + ey * ey
    if not -TIP * length <= at <= (1.0 + TIP) * length:
        return -1, 0.0
    while first < last:  # the panel whose second foot is the first beyond x
        middle = (first + last) // 2
        b = load(barriers.foot_b, middle)
        if (b[0] - p[0]) * ex + (b[1] - p[1]) * ey > at:
            last = middle
        else:
            first = middle + 1
    a, b = load(barriers.foot_a, first), load(barriers.foot_b, first)
    start = (a[0] - p[0]) * ex + (a[1] - p[1]) * ey
    end = (b[0] - p[0]) * ex + (b[1] - p[1]) * ey
    share = min(max((at - start) / (end - start), 0.0), 1.0) if end > start else 0.0
    height = x[2] - a[2] - share * (b[2] - a[2])
    lowest = 0.0 if barriers.height[first] < 0.0 else -depth
    return (first if height >= lowest else -1), height


@kernel
def _in_triangle(barriers, t, x):
    p, q, r = _corners(barriers, t)
    n = cross(sub(q, p), sub(r, p))
    least = -TIP * dot(n, n)
    return (
        dot(n, cross(sub(q, p), sub(x, p))) >= least
        and dot(n, cross(sub(r, q), sub(x, q))) >= least
        and dot(n, cross(sub(p, r), sub(x, r))) >= least
    )


@kernel
def _at_plane(barriers, k, x, depth, spared):
    """Panel (or, counted after them, triangle) that x crosses in plane k, and its height; -1.

    spared   barrier that was crossed just now, or -1
    """
    spans = barriers.span.shape[0] - 1
    if k < spans:
        if barriers.barrier[barriers.span[k]] == spared:
            return -1, 0.0
        return _over_span(barriers, k, x, depth)
    t = k - spans
    if barriers.net_barrier[t] == spared or not _in_triangle(barriers, t, x):
        return -1, 0.0
    return barriers.barrier.shape[0] + t, 0.0


@kernel
def _meet(barriers, k, was, x, v, a, end, depth, spared):
    """First crossing of plane k within `end` seconds: panel (-1: none), time, height, side after.

    was      side of the plane on which the rock is
    spared   barrier that was crossed at s = 0, or -1
    """
    p, n = _plane(barriers, k)
    c, cv, ca = dot(n, sub(x, p)), dot(n, v), dot(n, a)
    back = -cv / ca if ca != 0.0 else 0.0
    if not 0.0 < back < end:
        back = 0.0
    begin = 0.0
    for piece in range(2):
        until = back if piece == 0 else end
        if piece == 0 and back == 0.0:
            continue
        now = _side_of(p, n, place_at(x, v, a, until), was)
        if now != was:
            s = zero_between(c, cv, ca, begin, until)
            skip = spared if s < AGAIN else -1
            panel, height = _at_plane(barriers, k, place_at(x, v, a, s), depth, skip)
            if panel >= 0:
                return panel, s, height, now
        was, begin = now, until
    return -1, inf, 0.0, was


@kernel
def cross_barriers(barriers, side, x, v, a, end, depth, spared):
    """First barrier that the centre of mass crosses within `end` seconds.

    side     (planes,) on which side of each plane the rock is; changed by `follow_sides`
    depth    how far below the ground a centre of mass may be [m]: deeper is below an overhang
    spared   barrier that was crossed just now, or -1
    Returns the panel or triangle (-1: none), the time, the height above the foot, the plane, and
    the side of it after the crossing.
    """
    best, which, height, plane, after = end, -1, 0.0, -1, 0
    for k in range(side.shape[0]):
        panel, s, above, now = _meet(barriers, k, side[k], x, v, a, best, depth, spared)
        if panel >= 0 and (which < 0 or s < best):
            best, which, height, plane, after = s, panel, above, k, now
    return which, best, height, plane, after


@kernel
def follow_sides(barriers, side, x, v, a, s, depth, spared, plane, after):
    """Take note of the sides after `s` seconds; `plane` was crossed then, to the side `after`.

    A plane that is crossed at the very same time keeps its side: the next step looks at it.
    """
    for k in range(side.shape[0]):
        p, n = _plane(barriers, k)
        if k == plane:
            side[k] = after
            continue
        now = _side_of(p, n, place_at(x, v, a, s), side[k])
        if now != side[k]:
            panel, _, _, _ = _meet(barriers, k, side[k], x, v, a, s, depth, spared)
            if panel < 0:
                side[k] = now


@kernel
def barrier_of(barriers, panel):
    """Barrier of a panel, or of a triangle counted after them."""
    panels = barriers.barrier.shape[0]
    return barriers.barrier[panel] if panel < panels else barriers.net_barrier[panel - panels]


@kernel
def is_over_ground(barriers, panel):
    """Whether the height of a crossing counts from the ground, not from the panel's foot."""
    return panel >= barriers.barrier.shape[0] or barriers.height[panel] < 0.0


@kernel
def _attenuated(barriers, b, energy):
    """Energy that barrier b takes of a rock with that energy of translation [J]."""
    first, last = barriers.curve[b], barriers.curve[b + 1]
    if first == last:
        return min(energy, barriers.capacity[b])
    for i in range(first, last):
        if energy < barriers.attenuation[i, 0]:
            if i == first:
                return energy * barriers.attenuation[i, 1] / barriers.attenuation[i, 0]
            e, f = barriers.attenuation[i - 1, 0], barriers.attenuation[i, 0]
            share = (energy - e) / (f - e)
            low, high = barriers.attenuation[i - 1, 1], barriers.attenuation[i, 1]
            return min(energy, low + share * (high - low))
    return min(energy, barriers.attenuation[last - 1, 1])


@kernel
def panel_outcome(barriers, panel, height, energy):
    """What a barrier does to a rock that crosses it at that height with that translational energy.

    Returns the outcome and the energy that it takes [J].
    """
    b, panels = barrier_of(barriers, panel), barriers.barrier.shape[0]
    if b >= barriers.capacity.shape[0] or (panel < panels and height > barriers.height[panel]):
        return OVERTOPPED, 0.0
    taken = _attenuated(barriers, b, energy)
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
