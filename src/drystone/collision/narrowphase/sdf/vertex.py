"""Vertex against SDF: contacts of a corner of one body with the signed distance of another.

A contact is where the distance is least along the surface: no edge of the corner may lead deeper.
In a hollow a corner is held by more than one face, and each of them is a contact. A corner whose
nearest face cannot hold it may be held by another, see exit_face.py. Points and directions
are in the axes of the body whose distance it is, the solid.
"""

from typing import NamedTuple

import numpy as np

from drystone.collision.narrowphase.mesh.constants import BOUND, MARGIN, REACH, ROUNDING
from drystone.collision.narrowphase.mesh.triangle_features import (
    LYING,
    add_candidate,
)
from drystone.collision.narrowphase.sdf.exit_face import NO_EDGE, find_exit, supports
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
# its face cannot be the exit, see deep_normal.py.
CORNER_OF_B, CORNER_OF_A, RIDGES = 1.0, -1.0, 0.0
NO_EXIT = 2.0
# Corners deeper than this part of the smaller radius count as deep. Resting bodies are never.
DEEP = 0.01


class Meeting(NamedTuple):
    """Two bodies of which one is tested against the other's SDF."""

    solid: int  # row of the terrain tables whose distance it is
    to_solid: tuple  # rotation, nine floats, from the axes of the samples to those of the solid
    offset: tuple  # position of the samples' origin in the solid's axes [m]
    to_a: tuple  # rotation and position of the solid in the axes of side A
    origin: tuple
    code: float  # CORNER_OF_B if the solid is A, else CORNER_OF_A
    radius: float  # the smaller one's [m]
    deep: float  # how deep one may be in the other [m]


class Tangents(NamedTuple):
    """Directions along the surface at a corner or ridge, see shapes/sdf/feature_samples.py."""

    direction: np.ndarray  # unit vectors, in the axes of the samples
    first: int  # rows first ... last - 1
    last: int


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
def add_contact(meeting, x, n, gap, code, rows, count, query):
    """Add the contact of a point x of the samples with the solid below it; the new count."""
    middle = add(mul(meeting.to_a, mad(x, n, -0.5 * gap)), meeting.origin)
    normal = scale(mul(meeting.to_a, n), meeting.code)
    if gap < query[MARGIN] and (code == RIDGES or code == CORNER_OF_A):
        i = _known(rows, count, middle, normal, SAME_PLACE * meeting.radius)
        if i >= 0:
            if gap < rows[i, 6]:
                rows[i, 0], rows[i, 1], rows[i, 2] = middle
                rows[i, 3], rows[i, 4], rows[i, 5] = normal
                rows[i, 6], rows[i, 7] = gap, code
            return count
    return add_candidate(rows, count, query, middle, normal, gap, code)


@inner_kernel
def vertex_contacts(solids, meeting, x, tangents, rows, count, query, stack):
    """Candidates of a corner at x; the new count."""
    deep = meeting.deep
    f, n = signed_distance(solids, meeting.solid, x, max(query[REACH], deep), stack)
    if f >= query[REACH]:
        query[BOUND] = min(query[BOUND], f)
        return count
    if f <= -deep:
        return count
    small, held = ROUNDING * meeting.radius, supports(meeting, tangents, n, LYING)
    if not held and f < small:
        depth, m = find_exit(solids, meeting, x, NO_EDGE, tangents, stack)
        if depth < deep:
            f, n, held = -depth, m, True
    if held:
        count = add_contact(meeting, x, n, f, meeting.code, rows, count, query)
    elif f < -DEEP * meeting.radius:
        return add_contact(meeting, x, n, f, NO_EXIT * meeting.code, rows, count, query)
    if f >= query[MARGIN]:
        return count
    foot, m = mad(x, n, -f), n
    limit = max(query[MARGIN], -HOLLOW_REACH * f)
    for _ in range(2):
        height, face = other_face(solids, meeting.solid, x, limit, n, m, ALIKE, foot, small, stack)
        if height >= limit:
            break
        m = face
        if height > -small or f < small:
            if supports(meeting, tangents, face, LYING):
                count = add_contact(meeting, x, face, height, meeting.code, rows, count, query)
    return count
