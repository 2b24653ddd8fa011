"""Narrow phase in two dimensions, the x-z plane: SAT of rounded convex polygons, in closed form.

All but planes are corners with a rounding (shapes/two_dimensions/outline.py). Two outlines are
compared along the normals of all their edges; the edge of largest separation, or least
penetration, is clipped against the edge of the other that faces it most. Where no corner lies over
that edge the two nearest points decide. At most two contacts a pair; the y of all of them is zero.
"""

from math import inf, sqrt

from numba import prange

from drystone.jit import inner_kernel, kernel, parallel_kernel
from drystone.model.arrays import PLANE

# An edge of B must beat those of A by this much of the smaller shape and this share of the
# overlap, as for boxes in three dimensions: in a stack both are equal but for rounding.
EDGE_BONUS = 1e-4
EDGE_SHARE = 0.02
# A corner may lie this far beyond the end of an edge, relative to its length, before it is cut.
CUT_TOLERANCE = 1e-6

_CHUNK = 64  # pairs per task


@kernel
def _point(pose, s, x, z):
    """Point (x, z) of shape `s` in world axes."""
    return (
        pose[s, 0] + pose[s, 3] * x + pose[s, 5] * z,
        pose[s, 2] + pose[s, 9] * x + pose[s, 11] * z,
    )


@kernel
def _direction(pose, s, x, z):
    return pose[s, 3] * x + pose[s, 5] * z, pose[s, 9] * x + pose[s, 11] * z


@kernel
def _to_local(pose, s, x, z):
    return pose[s, 3] * x + pose[s, 9] * z, pose[s, 5] * x + pose[s, 11] * z


@kernel
def _corner(outlines, pose, s, i):
    return _point(pose, s, outlines.corner[i, 0], outlines.corner[i, 1])


@kernel
def _next(outlines, s, i):
    """The corner after corner `i` of shape `s`."""
    return i + 1 if i + 1 < outlines.first[s + 1] else outlines.first[s]


@kernel
def _write(out, row, x, z, nx, nz, gap):
    out[row, 0], out[row, 1], out[row, 2] = x, 0.0, z
    out[row, 3], out[row, 4], out[row, 5] = nx, 0.0, nz
    out[row, 6] = gap


@kernel
def _facing_edge(outlines, pose, s, nx, nz):
    """The edge of `s` whose normal points most against (nx, nz)."""
    x, z = _to_local(pose, s, nx, nz)
    best, least = outlines.first[s], inf
    for i in range(outlines.first[s], outlines.first[s + 1]):
        cosine = x * outlines.normal[i, 0] + z * outlines.normal[i, 1]
        if cosine < least:
            best, least = i, cosine
    return best


@kernel
def _plane_contacts(outlines, pose, a, b, margin, out, first):
    """The ends of the edge of `b` that faces plane `a` most: one of them is its lowest corner."""
    nx, nz = pose[a, 5], pose[a, 11]
    r = outlines.rounding[b]
    i = _facing_edge(outlines, pose, b, nx, nz)
    j = _next(outlines, b, i)
    count = 0
    for k in range(2):
        x, z = _corner(outlines, pose, b, i if k == 0 else j)
        gap = nx * (x - pose[a, 0]) + nz * (z - pose[a, 2]) - r
        if gap < margin:
            back = r + 0.5 * gap
            _write(out, first + count, x - back * nx, z - back * nz, nx, nz, gap)
            count += 1
        if i == j:
            break
    return count


@kernel
def _between(ax, az, ra, bx, bz, rb, nx, nz, margin, out, row):
    """Contact of two balls about these points; (nx, nz) is its normal where the points coincide."""
    dx, dz = bx - ax, bz - az
    length = sqrt(dx * dx + dz * dz)
    gap = length - ra - rb
    if gap >= margin:
        return 0
    if length > 0.0:
        nx, nz = dx / length, dz / length
    lift = ra + 0.5 * gap
    _write(out, row, ax + lift * nx, az + lift * nz, nx, nz, gap)
    return 1


@kernel
def _over_edge(outlines, pose, s, x, z):
    """Of the edge of `s` that point (x, z) is farthest out from: number, height, nearest point."""
    lx, lz = _to_local(pose, s, x - pose[s, 0], z - pose[s, 2])
    corner, normal = outlines.corner, outlines.normal
    best, height = outlines.first[s], -inf
    for i in range(outlines.first[s], outlines.first[s + 1]):
        h = normal[i, 0] * (lx - corner[i, 0]) + normal[i, 1] * (lz - corner[i, 1])
        if h > height:
            best, height = i, h
    j = _next(outlines, s, best)
    ex, ez = corner[j, 0] - corner[best, 0], corner[j, 1] - corner[best, 1]
    along = ex * (lx - corner[best, 0]) + ez * (lz - corner[best, 1])
    share = along / (ex * ex + ez * ez)
    inside = min(max(share, 0.0), 1.0)
    over = height <= 0.0 or share == inside
    px, pz = _point(pose, s, corner[best, 0] + inside * ex, corner[best, 1] + inside * ez)
    return best, height, over, px, pz


@kernel
def _disc_contact(outlines, pose, a, b, side, margin, out, row):
    """Contact of the outline `a` with disc `b`; `side` -1 flips the normal."""
    ra, rb = outlines.rounding[a], outlines.rounding[b]
    x, z = _corner(outlines, pose, b, outlines.first[b])
    i, height, over, px, pz = _over_edge(outlines, pose, a, x, z)
    nx, nz = _direction(pose, a, outlines.normal[i, 0], outlines.normal[i, 1])
    gap = height - ra - rb
    if not over:
        dx, dz = x - px, z - pz
        length = sqrt(dx * dx + dz * dz)
        gap = length - ra - rb
        if length > 0.0:
            nx, nz = dx / length, dz / length
    if gap >= margin:
        return 0
    back = rb + 0.5 * gap
    _write(out, row, x - back * nx, z - back * nz, side * nx, side * nz, gap)
    return 1


@kernel
def _best_edge(outlines, pose, a, b, limit):
    """The edge of `a` that is farthest from all corners of `b`, and by how much [m]."""
    corner, normal = outlines.corner, outlines.normal
    best, most = outlines.first[a], -inf
    for i in range(outlines.first[a], outlines.first[a + 1]):
        nx, nz = _direction(pose, a, normal[i, 0], normal[i, 1])
        x, z = _corner(outlines, pose, a, i)
        offset = nx * (pose[b, 0] - x) + nz * (pose[b, 2] - z)
        lx, lz = _to_local(pose, b, nx, nz)
        least = inf
        for j in range(outlines.first[b], outlines.first[b + 1]):
            least = min(least, lx * corner[j, 0] + lz * corner[j, 1])
        if offset + least > most:
            best, most = i, offset + least
            if most >= limit:
                break
    return best, most


@kernel
def _edge_contacts(outlines, pose, a, b, i, side, margin, out, first):
    """Cut the edge of `b` that faces edge `i` of `a`; contacts, and the least height of any."""
    ra, rb = outlines.rounding[a], outlines.rounding[b]
    nx, nz = _direction(pose, a, outlines.normal[i, 0], outlines.normal[i, 1])
    x, z = _corner(outlines, pose, a, i)
    ax, az = _corner(outlines, pose, a, _next(outlines, a, i))
    length = sqrt((ax - x) ** 2 + (az - z) ** 2)
    ex, ez = (ax - x) / length, (az - z) / length
    j = _facing_edge(outlines, pose, b, nx, nz)
    bx, bz = _corner(outlines, pose, b, j)
    cx, cz = _corner(outlines, pose, b, _next(outlines, b, j))
    at_0, at_1 = ex * (bx - x) + ez * (bz - z), ex * (cx - x) + ez * (cz - z)
    high_0, high_1 = nx * (bx - x) + nz * (bz - z), nx * (cx - x) + nz * (cz - z)
    slack = CUT_TOLERANCE * length
    count, least = 0, inf
    if max(at_0, at_1) < -slack or min(at_0, at_1) > length + slack:
        return count, least
    before = inf
    for k in range(2):
        t, h = (at_0, high_0) if k == 0 else (at_1, high_1)
        u, g = (at_1, high_1) if k == 0 else (at_0, high_0)
        bound = 0.0 if t < -slack else length
        if (t < -slack or t > length + slack) and u != t:
            h += (g - h) * (bound - t) / (u - t)
            t = bound
        gap = h - ra - rb
        if gap < margin and abs(t - before) > slack:
            lift = ra + 0.5 * gap
            _write(
                out, first + count, x + t * ex + lift * nx, z + t * ez + lift * nz,
                side * nx, side * nz, gap,
            )  # fmt: skip
            count += 1
            before = t
        least = min(least, h)
    return count, least


@kernel
def _nearest_points(outlines, pose, a, b):
    """Nearest points of two outlines that are apart: a corner of one and a point of the other."""
    best = inf
    ax, az, bx, bz = 0.0, 0.0, 0.0, 0.0
    for k in range(2):
        s, t = (a, b) if k == 0 else (b, a)
        for i in range(outlines.first[t], outlines.first[t + 1]):
            x, z = _corner(outlines, pose, t, i)
            _, _, _, px, pz = _over_edge(outlines, pose, s, x, z)
            distance = (x - px) ** 2 + (z - pz) ** 2
            if distance < best:
                best = distance
                ax, az, bx, bz = (px, pz, x, z) if k == 0 else (x, z, px, pz)
    return ax, az, bx, bz


@kernel
def _outline_contacts(outlines, radius, pose, a, b, margin, out, first):
    """Contacts of two outlines with edges."""
    ra, rb = outlines.rounding[a], outlines.rounding[b]
    limit = margin + ra + rb
    edge, best = _best_edge(outlines, pose, a, b, limit)
    if best >= limit:
        return 0
    other, rival = _best_edge(outlines, pose, b, a, limit)
    if rival >= limit:
        return 0
    bonus = EDGE_BONUS * min(radius[a], radius[b])
    if rival > best + bonus + EDGE_SHARE * abs(best):
        best = rival
        count, least = _edge_contacts(outlines, pose, b, a, other, -1.0, margin, out, first)
    else:
        count, least = _edge_contacts(outlines, pose, a, b, edge, 1.0, margin, out, first)
    if best > 0.0 and least > best + bonus:  # the nearest corner is not over the edge
        ax, az, bx, bz = _nearest_points(outlines, pose, a, b)
        return _between(ax, az, ra, bx, bz, rb, 0.0, 1.0, margin, out, first)
    return count


@kernel
def _far_apart(pose, radius, a, b, margin):
    x, z = pose[b, 0] - pose[a, 0], pose[b, 2] - pose[a, 2]
    reach = radius[a] + radius[b] + margin
    return x * x + z * z >= reach * reach


@kernel
def _collide_range(lo, hi, shapes, outlines, pose, reach, pair, near):
    """As collide_pairs() of three dimensions."""
    kind, radius = shapes.kind, shapes.radius
    for k in range(lo, hi):
        p, first = near.pair[k], near.slot_first[k]
        a, b = pair[p, 0], pair[p, 1]
        margin = reach[a] + reach[b]
        corners_a = outlines.first[a + 1] - outlines.first[a]
        corners_b = outlines.first[b + 1] - outlines.first[b]
        count = 0
        if kind[a] == PLANE or kind[b] == PLANE:
            if kind[a] != kind[b]:
                s, t = (a, b) if kind[a] == PLANE else (b, a)
                count = _plane_contacts(outlines, pose, s, t, margin, near.slot, first)
                if s == b:
                    for row in range(first, first + count):
                        near.slot[row, 3], near.slot[row, 5] = (
                            -near.slot[row, 3], -near.slot[row, 5]
                        )  # fmt: skip
        elif _far_apart(pose, radius, a, b, margin):
            count = 0
        elif corners_a == 1 and corners_b == 1:
            count = _between(
                pose[a, 0], pose[a, 2], outlines.rounding[a],
                pose[b, 0], pose[b, 2], outlines.rounding[b], 0.0, 1.0, margin, near.slot, first,
            )  # fmt: skip
        elif corners_b == 1:
            count = _disc_contact(outlines, pose, a, b, 1.0, margin, near.slot, first)
        elif corners_a == 1:
            count = _disc_contact(outlines, pose, b, a, -1.0, margin, near.slot, first)
        else:
            count = _outline_contacts(outlines, radius, pose, a, b, margin, near.slot, first)
        near.slot_count[k] = count


@parallel_kernel
def _collide_parallel(chunks, near_count, shapes, outlines, pose, reach, pair, near):
    for chunk in prange(chunks):
        hi = min((chunk + 1) * _CHUNK, near_count)
        _collide_range(chunk * _CHUNK, hi, shapes, outlines, pose, reach, pair, near)


@inner_kernel
def collide_flat(shapes, outlines, boxes, pair, near, near_count):
    """Points, normals and gaps of every near pair, in its slots."""
    if near_count <= 4 * _CHUNK:
        _collide_range(0, near_count, shapes, outlines, boxes.pose, boxes.spread, pair, near)
    else:
        chunks = (near_count + _CHUNK - 1) // _CHUNK
        _collide_parallel(
            chunks, near_count, shapes, outlines, boxes.pose, boxes.spread, pair, near
        )
