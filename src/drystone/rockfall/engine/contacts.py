"""Narrow phase: contacts of a rock in a pose, points, normals, gaps, and triangles (ROCFALL 1.4).

A corner of the rock over a triangle is a contact along the triangle's normal. Convex edges of the
slope touch edges and faces of the rock: there the normal is the closest direction, and it
must lie between those of the triangles around, else the true neighbour is another triangle (a
corner that slides over a flat slope must not feel the edges it passes). Where a face of the rock
lies on such an edge both ends of the common part are contacts.
"""

from math import sqrt
from typing import NamedTuple

import numpy as np

from drystone.jit import kernel
from drystone.jit.vec import add, cross, dot, load, mad, mul, mul_t, normalize, store, sub
from drystone.rockfall.engine.distance import lowest, piece_distance
from drystone.rockfall.terrain.materials import CORNER, EDGE, FACE

# Sine by which a normal may leave the range of its neighbours, and height of a corner that is the
# point itself [m]: rounding of close directions and of coordinates.
OUTSIDE, SAME_POINT = 1e-6, 1e-9

# A corner is over a triangle if its weights are above this.
INSIDE = -1e-9

# Contacts nearer than half the skin with normals of a larger product than this are one.
ALIKE = 0.9999

CAPACITY = 64  # contacts found before they are reduced


class Pose(NamedTuple):
    """Where a rock is, and how near a contact is."""

    x: tuple  # centre of mass [m]
    m: tuple  # rotation matrix, rock axes -> world axes
    rounding: float  # radius of a sphere about every corner [m]
    skin: float  # largest gap of a contact [m]


class Contacts(NamedTuple):
    """Contacts of one rock; scratch."""

    spot: np.ndarray  # (CAPACITY, 3) from the centre of mass to the contact [m]
    normal: np.ndarray  # (CAPACITY, 3) out of the slope
    gap: np.ndarray  # (CAPACITY,) [m]
    triangle: np.ndarray  # (CAPACITY,) int64
    feature: np.ndarray  # (CAPACITY,) int64, see rockfall/terrain/materials.py

    @classmethod
    def empty(cls) -> "Contacts":
        ints = [np.zeros(CAPACITY, dtype=np.int64) for _ in range(2)]
        return cls(np.zeros((CAPACITY, 3)), np.zeros((CAPACITY, 3)), np.zeros(CAPACITY), *ints)


@kernel
def _write(contacts, i, spot, normal, gap, triangle, feature):
    store(contacts.spot, i, spot)
    store(contacts.normal, i, normal)
    contacts.gap[i] = gap
    contacts.triangle[i], contacts.feature[i] = triangle, feature


@kernel
def _shared_edge(grid, t, other):
    """Feature of triangle t that it shares with `other`; FACE if none."""
    for k in range(3):
        if grid.across[t, k] == other:
            return EDGE + k
    return FACE


@kernel
def add_contact(grid, contacts, count, skin, spot, normal, gap, triangle, feature):
    """Add a contact unless it is there already; the new number of contacts."""
    widest = 0
    for i in range(count):
        away = sub(load(contacts.spot, i), spot)
        if contacts.gap[i] > contacts.gap[widest]:
            widest = i
        if dot(away, away) > 0.25 * skin * skin or dot(load(contacts.normal, i), normal) < ALIKE:
            continue
        if feature == FACE and contacts.feature[i] == FACE and contacts.triangle[i] != triangle:
            contacts.feature[i] = _shared_edge(grid, contacts.triangle[i], triangle)
        contacts.gap[i] = min(contacts.gap[i], gap)
        return count
    if count < CAPACITY:
        _write(contacts, count, spot, normal, gap, triangle, feature)
        return count + 1
    if gap < contacts.gap[widest]:
        _write(contacts, widest, spot, normal, gap, triangle, feature)
    return count


@kernel
def is_over(p, n, c0, c1, c2):
    """Whether point p lies over the triangle along its normal n."""
    area = dot(n, cross(sub(c1, c0), sub(c2, c0)))
    u = dot(n, cross(sub(c2, c1), sub(p, c1)))
    v = dot(n, cross(sub(c0, c2), sub(p, c2)))
    w = dot(n, cross(sub(c1, c0), sub(p, c0)))
    if area < 0.0:
        area, u, v, w = -area, -u, -v, -w
    return u >= INSIDE * area and v >= INSIDE * area and w >= INSIDE * area


@kernel
def _face_contacts(rocks, piece, pose, grid, t, n, corners, contacts, count):
    """Corners of the rock within the skin over triangle t."""
    x, m, rounding, skin = pose
    c0, c1, c2 = corners
    nb = mul_t(m, n)
    base = dot(n, sub(x, c0)) - rounding
    for i in range(rocks.piece_vertex[piece], rocks.piece_vertex[piece + 1]):
        r = load(rocks.vertex, i)
        gap = base + dot(nb, r)
        # Behind the triangle with its centre behind it too: the other side of something thin.
        if gap > skin or gap < (-skin if base >= 0.0 else 0.0):
            continue
        arm = mul(m, r)
        if is_over(add(x, arm), n, c0, c1, c2):
            spot = mad(arm, n, -rounding)
            count = add_contact(grid, contacts, count, skin, spot, n, gap, t, FACE)
    return count


@kernel
def _stays_below(grid, t, c, n):
    """Whether no corner of triangle t is above the plane through c with normal n."""
    for k in range(3):
        away = sub(load(grid.vertex, grid.triangle[t, k]), c)
        if dot(n, away) > OUTSIDE * sqrt(dot(away, away)) + SAME_POINT:
            return False
    return True


@kernel
def _is_outward(grid, near, t, k, along, c, n):
    """Whether n is a normal of the slope at point c of edge k of t; also its feature there.

    along   where c lies on the edge, 0 to 1
    """
    a, b = grid.triangle[t, k], grid.triangle[t, (k + 1) % 3]
    if 1e-9 < along < 1.0 - 1e-9:
        other = grid.across[t, k]
        good = _stays_below(grid, t, c, n) and (other < 0 or _stays_below(grid, other, c, n))
        return good, EDGE + k
    corner = a if along <= 0.5 else b
    feature = CORNER + (k if along <= 0.5 else (k + 1) % 3)
    for f in range(near.shape[0]):
        u = near[f]
        for j in range(3):
            if grid.triangle[u, j] == corner and not _stays_below(grid, u, c, n):
                return False, feature
    return True, feature


@kernel
def _common_part(rocks, piece, pose, n, start, along, length):
    """Where the rock lies on a line of the slope within the skin: two places, the gap at each.

    along   unit vector of the line from `start`; places are distances along it, cut to 0..length.
    The first is larger than the second if there is no such part.
    """
    x, m, rounding, skin = pose
    aside = cross(n, along)
    nb, wb, ab = mul_t(m, n), mul_t(m, along), mul_t(m, aside)
    d = sub(x, start)
    bn, bw, ba = dot(n, d) - rounding, dot(along, d), dot(aside, d)
    low, high, gap_low, gap_high = np.inf, -np.inf, 0.0, 0.0
    for e in range(rocks.piece_edge[piece], rocks.piece_edge[piece + 1]):
        p, q = load(rocks.vertex, rocks.edge[e, 0]), load(rocks.vertex, rocks.edge[e, 1])
        hp, hq = bn + dot(nb, p), bn + dot(nb, q)
        if hp > skin or hq > skin:
            continue
        ap, aq = ba + dot(ab, p), ba + dot(ab, q)
        if ap * aq > 0.0 and min(abs(ap), abs(aq)) > skin:
            continue
        wp, wq = bw + dot(wb, p), bw + dot(wb, q)
        if ap * aq < 0.0:
            f = ap / (ap - aq)
            places = (wp + f * (wq - wp), wp + f * (wq - wp))
            gaps = (hp + f * (hq - hp), hp + f * (hq - hp))
        else:
            places = (wp if abs(ap) <= skin else wq, wq if abs(aq) <= skin else wp)
            gaps = (hp if abs(ap) <= skin else hq, hq if abs(aq) <= skin else hp)
        for j in range(2):
            if places[j] < low:
                low, gap_low = places[j], gaps[j]
            if places[j] > high:
                high, gap_high = places[j], gaps[j]
    if high > low:
        slope = (gap_high - gap_low) / (high - low)
        if low < 0.0:
            low, gap_low = 0.0, gap_low - low * slope
        if high > length:
            high, gap_high = length, gap_high - (high - length) * slope
    return low, high, gap_low, gap_high


@kernel
def _edge_contacts(rocks, piece, pose, grid, near, t, k, n, contacts, count, simplex):
    """Contacts of a piece with edge k of triangle t, which is convex; `near` are the triangles."""
    x, m, rounding, skin = pose
    start = load(grid.vertex, grid.triangle[t, k])
    end = load(grid.vertex, grid.triangle[t, (k + 1) % 3])
    first, last = rocks.piece_vertex[piece], rocks.piece_vertex[piece + 1]
    a, b = mul_t(m, sub(start, x)), mul_t(m, sub(end, x))
    d, direction, closest = piece_distance(rocks.vertex, first, last, a, b, b, mul_t(m, n), simplex)
    if d <= 0.0 or d - rounding > skin:
        return count
    n = mul(m, direction)
    spot = mul(m, closest)
    along = normalize(sub(end, start))
    length = dot(along, sub(end, start))
    place = dot(along, sub(add(x, spot), start))
    good, feature = _is_outward(grid, near, t, k, place / length, mad(start, along, place), n)
    if not good:
        return count
    low, high, gap_low, gap_high = _common_part(rocks, piece, pose, n, start, along, length)
    # At the end of an edge that leads away from the rock there is one point.
    if high - low <= 10.0 * skin or abs(dot(n, along)) > OUTSIDE:
        point = mad(spot, n, d - rounding)
        return add_contact(grid, contacts, count, skin, point, n, d - rounding, t, feature)
    low_point = sub(mad(mad(start, along, low), n, gap_low), x)
    high_point = sub(mad(mad(start, along, high), n, gap_high), x)
    count = add_contact(grid, contacts, count, skin, low_point, n, gap_low, t, EDGE + k)
    return add_contact(grid, contacts, count, skin, high_point, n, gap_high, t, EDGE + k)


@kernel
def find_contacts(rocks, rock, x, m, grid, found, found_count, skin, contacts, simplex):
    """Contacts within `skin` [m] of a rock at x, rotated by the matrix m; how many."""
    radius, rounding = rocks.body[rock, 4], rocks.body[rock, 5]
    pose, near = Pose(x, m, rounding, skin), found[:found_count]
    count = 0
    for f in range(found_count):
        t = np.int64(found[f])  # one integer type, one compilation of what follows
        c0 = load(grid.vertex, grid.triangle[t, 0])
        c1 = load(grid.vertex, grid.triangle[t, 1])
        c2 = load(grid.vertex, grid.triangle[t, 2])
        n = normalize(cross(sub(c1, c0), sub(c2, c0)))
        height = dot(n, sub(x, c0))
        if abs(height) > radius + skin:
            continue
        for piece in range(rocks.pieces[rock, 0], rocks.pieces[rock, 1]):
            first, last = rocks.piece_vertex[piece], rocks.piece_vertex[piece + 1]
            _, low = lowest(rocks.vertex, first, last, mul_t(m, n))
            if low + height - rounding > skin:
                continue
            count = _face_contacts(rocks, piece, pose, grid, t, n, (c0, c1, c2), contacts, count)
            for k in range(3):
                if grid.ridge[t] >> k & 1:
                    count = _edge_contacts(
                        rocks, piece, pose, grid, near, t, k, n, contacts, count, simplex
                    )
    return count


@kernel
def reduce_contacts(contacts, count, most):
    """Move the contacts that matter to the front, at most `most`; how many.

    The smallest gap first, then always the one furthest from those taken; normals count too.
    """
    if count <= most:
        return count
    for taken in range(most):
        best, best_far = taken, -np.inf
        for i in range(taken, count):
            far = -contacts.gap[i] if taken == 0 else np.inf
            for j in range(taken):
                d = sub(load(contacts.spot, i), load(contacts.spot, j))
                bend = 1.0 - dot(load(contacts.normal, i), load(contacts.normal, j))
                far = min(far, dot(d, d) * (1.0 + bend) + bend * 1e-3)
            if far > best_far:
                best, best_far = i, far
        _swap(contacts, taken, best)
    return most


@kernel
def _swap(contacts, i, j):
    for k in range(3):
        contacts.spot[i, k], contacts.spot[j, k] = contacts.spot[j, k], contacts.spot[i, k]
        contacts.normal[i, k], contacts.normal[j, k] = contacts.normal[j, k], contacts.normal[i, k]
    contacts.gap[i], contacts.gap[j] = contacts.gap[j], contacts.gap[i]
    contacts.triangle[i], contacts.triangle[j] = contacts.triangle[j], contacts.triangle[i]
    contacts.feature[i], contacts.feature[j] = contacts.feature[j], contacts.feature[i]
