"""Speculative contacts of the faces of two polytopes that meet with edges or a corner.

Two boxes that meet with edges, or with a corner beside a face, have one contact, however nearly
parallel their faces are. One that is struck there rotates, and within the same step another corner
comes down that no contact holds: at 10 rad/s and 5 ms a corner of a cube of 0.2 m by 8 mm. So the
two faces that look along the normal are clipped as if they met, and what is nearer than the margin
is added, with the normal of what meets: along no other are the two as far apart. In a crash of 1000
cubes (S5r) the first landings overlapped by 28 mm without these contacts, however exactly the step
was solved.
"""

from drystone.collision.narrowphase.hull_hull import face_contacts
from drystone.collision.narrowphase.manifold import MOST_CONTACTS
from drystone.collision.narrowphase.sat import lowest_over_face
from drystone.jit import inner_kernel, kernel
from drystone.jit.vec import (
    dot,
    load,
    relative_pose,
    scale,
    to_local_direction,
)

# Of the smaller radius: a pair with less margin than that moves by less, and so do its corners.
SLOW = 5e-3
# Of the smaller radius: a corner that is nearer than that to the contact that meets is no other.
NEAR = 0.1
LEAST_COSINE = 0.1  # of a face to the normal; one more upright is as good as not there
# 1 - cosine below which the normal is that of a face, whose corners are all contacts already.
ALONG = 1e-9


@kernel
def _facing(shapes, s, n):
    """Face of polytope `s` that is turned most towards `n` (its axes), and the cosine."""
    first, count = shapes.polytope[s, 2], shapes.polytope[s, 3]
    best, most = first, -2.0
    for f in range(first, first + count):
        cosine = dot(load(shapes.face_plane, f), n)
        if cosine > most:
            best, most = f, cosine
    return best, most


@kernel
def _row(out, r):
    return out[r, 0], out[r, 1], out[r, 2], out[r, 3], out[r, 4], out[r, 5], out[r, 6]


@kernel
def _write_row(out, r, row):
    out[r, 0], out[r, 1], out[r, 2], out[r, 3], out[r, 4], out[r, 5], out[r, 6] = row


@kernel
def _distance2(row, other):
    d = (row[0] - other[0], row[1] - other[1], row[2] - other[2])
    return dot(d, d)


@inner_kernel
def add_corners(shapes, pose, a, b, margin, out, first, count, scratch):
    """Add contacts beside the one or two of polytopes `a` and `b` in rows first...; their number.

    None overlaps more than those that meet: what separates the two bodies is known already.
    """
    small = min(shapes.radius[a], shapes.radius[b])
    if margin < SLOW * small:
        return count
    n = (out[first, 3], out[first, 4], out[first, 5])
    f, cosine_a = _facing(shapes, shapes.table[a], to_local_direction(pose, a, n))
    g, cosine_b = _facing(shapes, shapes.table[b], to_local_direction(pose, b, scale(n, -1.0)))
    if max(cosine_a, cosine_b) > 1.0 - ALONG:
        return count
    of, other, face, side = (a, b, f, 1.0) if cosine_a >= cosine_b else (b, a, g, -1.0)
    r, t = relative_pose(pose, of, other)
    second = shapes.table[other]
    v, _ = lowest_over_face(
        shapes.vertex, shapes.polytope[second, 0], shapes.polytope[second, 1], shapes.face_plane,
        face, t, r,
    )  # fmt: skip
    one, two = _row(out, first), _row(out, first + count - 1)
    found = face_contacts(shapes, pose, of, other, face, v, side, margin, out, first, scratch)
    deepest, kept = min(one[6], two[6]), 0
    nearest, nearest2 = -1, 1e300
    for k in range(first, first + found):
        row = _row(out, k)
        apart2 = min(_distance2(row, one), _distance2(row, two))
        if apart2 < NEAR * NEAR * small * small or row[6] < deepest:  # seen through the body
            continue
        at = first + kept
        cosine = row[3] * n[0] + row[4] * n[1] + row[5] * n[2]
        gap = max(row[6] / max(cosine, LEAST_COSINE), deepest)
        if gap >= margin:
            continue
        if apart2 < nearest2:
            nearest, nearest2 = at, apart2
        _write_row(out, at, (row[0], row[1], row[2], n[0], n[1], n[2], gap))
        kept += 1
    while kept + count > MOST_CONTACTS:  # the one nearest to those that meet tells least
        last = first + kept - 1
        _write_row(out, nearest if nearest >= 0 else last, _row(out, last))
        nearest, kept = -1, kept - 1
    _write_row(out, first + kept, one)
    if count == 2:
        _write_row(out, first + kept + 1, two)
    return kept + count
