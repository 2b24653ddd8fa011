"""Contact reduction: from all candidates of two surfaces to a manifold of few contacts.

Corners that are behind a face but did not enter through it are left out. The rest fall into
groups of like normals, each about the deepest candidate left; if there are many, as all around a
peg, into fewer and wider ones. Of every group only those matter that would touch first if the
body were tilted a little, as much as it may tilt within the step: the widest of all would be points
that do not touch at all, and a ring would rock on them for ever. Of these the deepest is chosen and
up to three more that are well spread, as far as slots are left.
"""

from math import inf, sqrt

from drystone.collision.narrowphase.manifold import CLEARLY_DEEPER, reduce_points, write_contact
from drystone.collision.narrowphase.mesh.triangle_features import CODES, HOLLOW, PROPER
from drystone.jit import inner_kernel, kernel
from drystone.jit.vec import add, dot, load, mad, mul, sub, tangents
from drystone.model.arrays import MOST_MESH_CANDIDATES

MOST_CONTACTS = 11
DIRECTIONS = 8  # in which a body is tilted
HALF = sqrt(0.5)
# The least tilt [rad] that is assumed, for bodies that hardly move, and the most.
LEAST_TILT, MOST_TILT = 1e-3, 0.5
# Groups beyond which wider ones are tried, so that most have several contacts.
MOST_GROUPS = 5
# Normals within 10 degrees [cosine] count as alike; if there are too many groups within 26, 45, 60.
ALIKE = (0.985, 0.9, 0.7, 0.5)
# Faces on both sides of a hollow hold a corner as long as their distances differ by no more than
# this factor.
HOLLOW_REACH = 4.0
# What column 7 holds after the hidden ones are out: no group yet, or the number of the group.
FREE = -1.0


@kernel
def _normal(rows, i):
    return rows[i, 3], rows[i, 4], rows[i, 5]


@kernel
def _foot(rows, i):
    """Projection of a corner on the face under or over it, and the face's normal."""
    n = _normal(rows, i)
    if rows[i, 7] > 0.0:
        n = (-n[0], -n[1], -n[2])
    return mad(load(rows, i), n, -0.5 * rows[i, 6]), n


@inner_kernel
def hides(rows, i, me, small):
    """Whether face i over a corner is a nearer exit than face `me` and not behind it.

    Inside a ridge both sides are above the corner, but only the nearer one is the exit; in a
    hollow the foot on each side lies in front of the other, and both hold the corner.
    """
    code, other = abs(rows[me, 7]), abs(rows[i, 7])
    corner = code >= CODES and other // CODES == code // CODES
    if i == me or not corner or rows[i, 7] * rows[me, 7] < 0.0:
        return False
    hollow, proper = code % CODES == HOLLOW, other % CODES == PROPER
    if hollow and proper and rows[i, 6] >= 0.0:
        return True  # the corner is outside after all
    height, depth = abs(rows[i, 6]), -rows[me, 6]
    nearer = height < depth or (height == depth and i < me)
    if not proper or hollow:  # neighbours in a hollow do not hide each other
        nearer = HOLLOW_REACH * height < depth
    if not nearer:
        return False
    foot, n = _foot(rows, me)
    return dot(n, sub(_foot(rows, i)[0], foot)) <= small


@kernel
def _is_hidden(rows, count, me, small):
    for i in range(count):
        if hides(rows, i, me, small):
            return True
    return False


@inner_kernel
def drop_hidden(rows, count, small):
    """Move the candidates that are exits to the front; their number."""
    for i in range(count):
        if rows[i, 6] < -small and _is_hidden(rows, count, i, small):
            rows[i, 6] = -inf  # still seen by the others, but as far away
    left = 0
    for i in range(count):
        if rows[i, 6] > -inf:
            for k in range(7):
                rows[left, k] = rows[i, k]
            left += 1
    return left


@kernel
def _make_groups(rows, count, alike):
    """Number the groups in column 7, that of the deepest candidate first; how many there are."""
    for i in range(count):
        rows[i, 7] = FREE
    groups = 0
    while True:
        deepest, depth = -1, inf
        for i in range(count):
            if rows[i, 7] == FREE and rows[i, 6] < depth:
                deepest, depth = i, rows[i, 6]
        if deepest < 0:
            return groups
        n = _normal(rows, deepest)
        for i in range(count):
            if rows[i, 7] == FREE and (i == deepest or dot(_normal(rows, i), n) >= alike):
                rows[i, 7] = float(groups)
        groups += 1


@inner_kernel
def tilt_within(margin, radius):
    """How far a body of this radius may tilt [rad] while its surface moves by the margin."""
    return min(max(margin / radius, LEAST_TILT), MOST_TILT)


@inner_kernel
def tilt_direction(n, k):
    """Direction k of eight around the unit vector n."""
    t1, t2 = tangents(n)
    c = (1.0, HALF, 0.0, -HALF)[k % 4]
    s = (0.0, HALF, 1.0, HALF)[k % 4]
    if k >= 4:
        c, s = -c, -s
    return c * t1[0] + s * t2[0], c * t1[1] + s * t2[1], c * t1[2] + s * t2[2]


@kernel
def _mark_first(rows, count, group, tilt):
    """Mark the candidates of a group that touch first when tilted, by half a group more."""
    deepest, depth, size = -1, inf, 0
    for i in range(count):
        if rows[i, 7] == float(group):
            size += 1
            if rows[i, 6] < depth:
                deepest, depth = i, rows[i, 6]
    n, mark = _normal(rows, deepest), float(group) + 0.5
    if size == 1:
        rows[deepest, 7] = mark
        return
    for k in range(DIRECTIONS):
        d, best, lead = tilt_direction(n, k), deepest, -inf
        for i in range(count):
            if rows[i, 7] == float(group) or rows[i, 7] == mark:
                lower = tilt * dot(load(rows, i), d) - rows[i, 6]
                if lower > lead:
                    best, lead = i, lower
        rows[best, 7] = mark
    rows[deepest, 7] = mark


@kernel
def _copy_group(rows, count, group, scratch):
    """Marked points of a group and gaps, the deepest first unless all but touch.

    Returns their number and the normal of the deepest.
    """
    size, deepest = 0, 0
    n = (0.0, 0.0, 1.0)
    for i in range(count):
        if rows[i, 7] != float(group) + 0.5:
            continue
        for k in range(3):
            scratch[size, k] = rows[i, k]
        scratch[size, 3] = rows[i, 6]
        if size == 0 or scratch[size, 3] < scratch[deepest, 3]:
            deepest = size
            n = _normal(rows, i)
        size += 1
    extent2 = 0.0
    for i in range(size):
        d = sub(load(scratch, i), load(scratch, 0))
        extent2 = max(extent2, dot(d, d))
    # Contacts of a body at rest must not swap places because of rounding; those that are apart
    # carry nothing yet, and their deepest is the distance.
    if scratch[deepest, 3] > CLEARLY_DEEPER * sqrt(extent2):
        for k in range(4):
            scratch[0, k], scratch[deepest, k] = scratch[deepest, k], scratch[0, k]
    return size, n


@kernel
def _normal_at(rows, count, scratch, row):
    """Normal of the candidate that was copied to `row`; reducing only moves rows about."""
    for i in range(count):
        if (
            rows[i, 0] == scratch[row, 0]
            and rows[i, 1] == scratch[row, 1]
            and rows[i, 2] == scratch[row, 2]
            and rows[i, 6] == scratch[row, 3]
        ):
            return _normal(rows, i)
    return 0.0, 0.0, 1.0


@kernel
def _write_all(rows, count, position, rotation, sign, out, first):
    for i in range(count):
        n = mul(rotation, _normal(rows, i))
        point = add(position, mul(rotation, load(rows, i)))
        write_contact(out, first + i, point, (sign * n[0], sign * n[1], sign * n[2]), rows[i, 6])
    return count


@inner_kernel
def write_reduced(
    rows, count, position, rotation, sign, small, tilt, out, first, most, scratch
):  # fmt: skip
    """Write at most MOST_CONTACTS contacts, or all; their number.

    position, rotation    of side A in the world
    sign                  -1 if side A is the second shape of the pair, else 1
    small                 rounding of a height [m]
    tilt                  angle by which a body may rotate within the step [rad]
    most                  rows of `out`: with MOST_MESH_CANDIDATES all are written
    """
    count = drop_hidden(rows, count, small)
    if most >= MOST_MESH_CANDIDATES:
        return _write_all(rows, count, position, rotation, sign, out, first)
    groups = _make_groups(rows, count, ALIKE[0])
    if groups > MOST_GROUPS:
        groups = _make_groups(rows, count, ALIKE[1])
    if groups > MOST_GROUPS:
        groups = _make_groups(rows, count, ALIKE[2])
    if groups > MOST_GROUPS:
        groups = _make_groups(rows, count, ALIKE[3])
    groups = min(groups, MOST_CONTACTS)
    written = 0
    for group in range(groups):
        _mark_first(rows, count, group, tilt)
        size, n = _copy_group(rows, count, group, scratch)
        size = reduce_points(scratch, 0, size, n)
        size = min(size, MOST_CONTACTS - written - (groups - group - 1))
        for i in range(size):
            m = mul(rotation, _normal_at(rows, count, scratch, i))
            point = add(position, mul(rotation, load(scratch, i)))
            m = (sign * m[0], sign * m[1], sign * m[2])
            write_contact(out, first + written, point, m, scratch[i, 3])
            written += 1
    return written
