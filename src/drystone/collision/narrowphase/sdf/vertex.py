"""A corner of one body against the signed distance of another, and what is kept of it.

A contact is where the distance is least along the surface: no edge of the corner may lead deeper.
In a hollow a corner is held by more than one face, and each of them is a contact. A corner whose
nearest face cannot hold it may be held by another, see exit_face.py. Points and directions
are in the axes of the body whose distance it is, the solid.
"""

from typing import NamedTuple

from drystone.collision.narrowphase.mesh.constants import ROUNDING
from drystone.collision.narrowphase.mesh.triangle_features import (
    BOUND,
    LYING,
    MARGIN,
    REACH,
    keep_row,
)
from drystone.collision.narrowphase.sdf.exit_face import NO_EDGE, rises, way_out
from drystone.jit import inner_kernel, kernel
from drystone.jit.vec import add, dot, load, mad, mul, scale, sub
from drystone.shapes.sdf.closest_point import other_face, signed_distance

# Faces of a hollow are told apart by normals further than 26 degrees from each other [cosine].
ALIKE = 0.9
# A corner in a hollow is held by both faces as long as it is in one by no more than this many
# times as much as in the other.
HOLLOW_REACH = 4.0
# Contacts nearer to each other than this part of the smaller radius, normals within 2.6 degrees
# [cosine], were found from both sides: two corners, or a corner beside a ridge.
SAME_PLACE, SAME_NORMAL = 1e-3, 0.999
# What column 7 of a candidate says: a corner of B in A, of A in B, or ridges. Twice as much if
# its face cannot be the way out, see deep_normal.py.
CORNER_OF_B, CORNER_OF_A, RIDGES = 1.0, -1.0, 0.0
ASTRAY = 2.0
# Corners deeper than this part of the smaller radius count as deep. Resting bodies are never.
DEEP = 0.01


class Meeting(NamedTuple):
    """Two bodies of which one is held against the other's distance."""

    solid: int  # row of the terrain tables whose distance it is
    to_solid: tuple  # rotation, nine floats, from the axes of the samples to those of the solid
    offset: tuple  # position of the samples' origin in the solid's axes [m]
    to_a: tuple  # rotation and position of the solid in the axes of side A
    origin: tuple
    code: float  # CORNER_OF_B if the solid is A, else CORNER_OF_A
    radius: float  # the smaller one's [m]
    deep: float  # how deep one may be in the other [m]


@kernel
def _known(rows, count, point, normal, near):
    """The candidate that is at the same place as another one would be; -1 if there is none."""
    for i in range(count):
        d = sub(load(rows, i), point)
        m = (rows[i, 3], rows[i, 4], rows[i, 5])
        if dot(d, d) < near * near and dot(m, normal) > SAME_NORMAL:
            return i
    return -1


@inner_kernel
def keep_place(meeting, x, n, gap, code, rows, count, level):
    """Add the contact of a point x of the samples with the solid below it; the new count."""
    middle = add(mul(meeting.to_a, mad(x, n, -0.5 * gap)), meeting.origin)
    normal = scale(mul(meeting.to_a, n), meeting.code)
    if gap < level[MARGIN] and (code == RIDGES or code == CORNER_OF_A):
        i = _known(rows, count, middle, normal, SAME_PLACE * meeting.radius)
        if i >= 0:
            if gap < rows[i, 6]:
                rows[i, 0], rows[i, 1], rows[i, 2] = middle
                rows[i, 3], rows[i, 4], rows[i, 5] = normal
                rows[i, 6], rows[i, 7] = gap, code
            return count
    return keep_row(rows, count, level, middle, normal, gap, code)


@inner_kernel
def corner_contacts(
    # in
    solids, meeting, x, around, first, last,
    # in and out
    rows, count, level,
    # scratch
    stack,
):  # fmt: skip
    """Candidates of a corner at x; the new count."""
    deep = meeting.deep
    f, n = signed_distance(solids, meeting.solid, x, max(level[REACH], deep), stack)
    if f >= level[REACH]:
        level[BOUND] = min(level[BOUND], f)
        return count
    if f <= -deep:
        return count
    small, held = ROUNDING * meeting.radius, rises(meeting, around, first, last, n, LYING)
    if not held and f < small:
        depth, m = way_out(solids, meeting, x, NO_EDGE, around, first, last, stack)
        if depth < deep:
            f, n, held = -depth, m, True
    if held:
        count = keep_place(meeting, x, n, f, meeting.code, rows, count, level)
    elif f < -DEEP * meeting.radius:
        return keep_place(meeting, x, n, f, ASTRAY * meeting.code, rows, count, level)
    if f >= level[MARGIN]:
        return count
    foot, m = mad(x, n, -f), n
    limit = max(level[MARGIN], -HOLLOW_REACH * f)
    for _ in range(2):
        height, face = other_face(solids, meeting.solid, x, limit, n, m, ALIKE, foot, small, stack)
        if height >= limit:
            break
        m = face
        if height > -small or f < small:
            if rises(meeting, around, first, last, face, LYING):
                count = keep_place(meeting, x, face, height, meeting.code, rows, count, level)
    return count
