"""Manifold reduction where normals differ: candidates found one by one, and the few that stay.

Candidates live in the caller's (256, 4) scratch array: the point of the ground and the gap in one
row, the unit normal (out of the ground) in another, then rows for one group being reduced.
"""

from math import inf

from drystone.collision.narrowphase.manifold import reduce_points, write_contact
from drystone.jit import inner_kernel, kernel
from drystone.jit.vec import add, dot, load, mad, scale, store, sub

POINT, NORMAL, GROUP = 0, 96, 192
MOST_CANDIDATES, MOST_IN_GROUP = 96, 64

# Normals within 10 degrees [cosine] hold the body alike: four points of a group do.
ALIKE = 0.985
# Order of a candidate that has none of its own, and of one whose group is written.
LAST, DONE = 1e9, -1.0


@inner_kernel
def add_candidate(scratch, count, point, normal, gap, order, twin):
    """Add a candidate to the `count` there are; the new count.

    Those of lower `order` come first in their group, however they are found. One that lies
    within `twin` [m] of another with nearly the same normal is the same contact, and the deeper
    of the two stays. When all rows are taken the shallowest is dropped.
    """
    row, largest = count, -inf
    for i in range(count):
        d = sub(load(scratch, POINT + i), point)
        if dot(d, d) < twin * twin and dot(load(scratch, NORMAL + i), normal) > ALIKE:
            if gap >= scratch[POINT + i, 3]:
                return count
            row = i
            break
        if count == MOST_CANDIDATES and scratch[POINT + i, 3] > largest:
            row, largest = i, scratch[POINT + i, 3]
    if count == MOST_CANDIDATES and gap >= largest and largest > -inf:
        return count
    store(scratch, POINT + row, point)
    scratch[POINT + row, 3] = gap
    store(scratch, NORMAL + row, normal)
    scratch[NORMAL + row, 3] = order
    return max(count, row + 1)


@kernel
def _gather_group(scratch, count):
    """Copy the deepest candidate left and all like it to the group; its size and normal."""
    deepest, depth = -1, inf
    for i in range(count):
        if scratch[NORMAL + i, 3] != DONE and scratch[POINT + i, 3] < depth:
            deepest, depth = i, scratch[POINT + i, 3]
    if deepest < 0:
        return 0, (0.0, 0.0, 1.0)
    normal = load(scratch, NORMAL + deepest)
    size = 0
    while True:
        best, best_order = -1, inf
        for i in range(count):
            order = scratch[NORMAL + i, 3]
            alike = dot(load(scratch, NORMAL + i), normal) >= ALIKE
            if alike and order != DONE and order < best_order:
                best, best_order = i, order
        if best < 0:
            return size, normal
        scratch[NORMAL + best, 3] = DONE
        if size < MOST_IN_GROUP:
            for k in range(4):
                scratch[GROUP + size, k] = scratch[POINT + best, k]
            size += 1


@kernel
def _normal_of(scratch, count, row):
    """Normal of the candidate that was copied to `row`; reducing only moves rows about."""
    for i in range(count):
        if (
            scratch[POINT + i, 0] == scratch[row, 0]
            and scratch[POINT + i, 1] == scratch[row, 1]
            and scratch[POINT + i, 2] == scratch[row, 2]
            and scratch[POINT + i, 3] == scratch[row, 3]
        ):
            return load(scratch, NORMAL + i)
    return 0.0, 0.0, 1.0


@inner_kernel
def write_candidates(scratch, count, origin, most, out, first):
    """Write the candidates, at most four of a direction and `most` in all, the deepest first.

    Points are relative to `origin`; the contact normal points into the ground, to side B.
    Returns their number.
    """
    written = 0
    while written < most:
        size, normal = _gather_group(scratch, count)
        if size == 0:
            break
        size = reduce_points(scratch, GROUP, size, normal)
        for row in range(GROUP, min(GROUP + size, GROUP + most - written)):
            m, gap = _normal_of(scratch, count, row), scratch[row, 3]
            middle = mad(add(origin, load(scratch, row)), m, 0.5 * gap)
            write_contact(out, first + written, middle, scale(m, -1.0), gap)
            written += 1
    return written
