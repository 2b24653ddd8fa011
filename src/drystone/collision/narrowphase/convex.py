"""Contacts of any two convex shapes: best direction, then the features that meet along it.

The separation along a unit direction n is the room between the shapes seen along n (negative:
overlap). Its largest value is the gap, and where it is reached is the contact normal. Apart,
GJK finds it. Overlapping, B is moved along the present n until apart, GJK gives a new
n, and so on: each round gains s (1 - n.n') for a move by s, so the rounds end at a direction
that GJK confirms, with none of the bookkeeping of growing polytopes.
"""

from drystone.collision.narrowphase.features import meet_features
from drystone.collision.narrowphase.gjk import core_distance, core_support, separation
from drystone.collision.narrowphase.manifold import write_contact
from drystone.collision.narrowphase.sphere_capsule import axis_z
from drystone.jit import inner_kernel, kernel
from drystone.jit.vec import (
    dot,
    load,
    mad,
    norm,
    normalize,
    pose_position,
    scale,
    sub,
    to_local,
    to_local_direction,
    to_world_direction,
)
from drystone.model.arrays import BOX, CYLINDER, HULL, SPHERE

# Cores nearer than this part of their size are moved apart before GJK runs: it finds the
# direction from a difference of points, which has no digits left when they coincide.
NEAR = 1e-6
# How far apart they are then brought, as a part of their size. Small, because a large move
# hides the shape of the overlap; large enough to leave GJK twelve digits.
BROUGHT = 1e-3
MAX_ROUNDS = 24  # the gain is quadratic near flat faces: three or four rounds are usual

# Two directions differing by less than this [rad, squared] are the same.
SAME = 1e-22
# Directions this close to a face normal or an axis [1 - cosine] are tried exactly there.
SNAP = 1e-8
# An exact direction may be worse than the one found by this part of the size (rounding).
SLACK = 1e-13
# A direction remembered from the last step stays unless another is better by this part of
# the size, so that equal overlaps do not swap from step to step.
BETTER = 1e-4


@inner_kernel
def sphere_box(pose, a, b, size, margin, out, first):
    """At most one contact of sphere `a` with box `b`; its centre may be inside the box."""
    r, c = size[a, 0], to_local(pose, b, pose_position(pose, a))
    x = min(max(c[0], -size[b, 0]), size[b, 0])
    y = min(max(c[1], -size[b, 1]), size[b, 1])
    z = min(max(c[2], -size[b, 2]), size[b, 2])
    d = (c[0] - x, c[1] - y, c[2] - z)  # out of the box, towards the centre
    distance = norm(d)
    if distance > 0.0:
        d = scale(d, 1.0 / distance)
    else:
        side, distance = 0, abs(c[0]) - size[b, 0]
        if abs(c[1]) - size[b, 1] > distance:
            side, distance = 1, abs(c[1]) - size[b, 1]
        if abs(c[2]) - size[b, 2] > distance:
            side, distance = 2, abs(c[2]) - size[b, 2]
        sign = 1.0 if c[side] >= 0.0 else -1.0
        d = (
            sign if side == 0 else 0.0,
            sign if side == 1 else 0.0,
            sign if side == 2 else 0.0,
        )
    gap = distance - r
    if gap >= margin:
        return 0
    n = scale(to_world_direction(pose, b, d), -1.0)
    write_contact(out, first, mad(pose_position(pose, a), n, r + 0.5 * gap), n, gap)
    return 1


@kernel
def _rounding(kind, size, s):
    """Radius that is added to the core of a shape [m]."""
    return size[s, 0] if kind[s] < CYLINDER else 0.0


@kernel
def _reach(kind, size, table, polytope, vertex, s):
    """Size of a shape to within a small factor [m]."""
    if kind[s] == HULL:
        first = polytope[table[s], 0]
        return max(norm(load(vertex, first)), norm(load(vertex, first + 1)))
    return size[s, 0] + size[s, 1] + size[s, 2]


@kernel
def _try(n, kind, size, table, polytope, vertex, pose, a, b, offset, best, best_room, edge):
    """The better of `best` and `n`, which must win by `edge` [m]; with its separation."""
    room = separation(kind, size, table, polytope, vertex, pose, a, b, offset, n)
    if room > best_room + edge:
        return n, room
    return best, best_room


@kernel
def _best_start(
    kind, size, table, polytope, vertex, face_plane, pose, a, b, offset, best, best_room, edge
):
    """Best of `best`, the centre line and the face normals and axes of both shapes."""
    n = normalize(offset)
    best, best_room = _try(
        n, kind, size, table, polytope, vertex, pose, a, b, offset, best, best_room, edge
    )
    for side in range(2):
        s, other, sign = (a, b, 1.0) if side == 0 else (b, a, -1.0)
        if kind[s] == BOX or kind[s] == HULL:
            first = polytope[table[s], 2]
            for f in range(first, first + polytope[table[s], 3]):
                n = scale(to_world_direction(pose, s, load(face_plane, f)), sign)
                d = scale(n, -sign)
                p = core_support(kind, size, table, polytope, vertex, pose, other, d)
                room = dot(n, offset) + sign * dot(n, p) - face_plane[f, 3]
                if room > best_room + edge:
                    best, best_room = n, room
        elif kind[s] != SPHERE:
            u = axis_z(pose, s)
            n = u if dot(u, offset) > 0.0 else scale(u, -1.0)
            best, best_room = _try(
                n, kind, size, table, polytope, vertex, pose, a, b, offset, best, best_room, edge
            )
            n = normalize(mad(offset, u, -dot(offset, u)))
            best, best_room = _try(
                n, kind, size, table, polytope, vertex, pose, a, b, offset, best, best_room, edge
            )
    return best, best_room


@kernel
def _snap(kind, size, table, polytope, vertex, face_plane, pose, a, b, offset, n, room, slack):
    """`n` moved exactly onto a face normal or an axis that is as good and as near as rounding."""
    best, best_room = n, room
    for side in range(2):
        s, sign = (a, 1.0) if side == 0 else (b, -1.0)
        if kind[s] == BOX or kind[s] == HULL:
            q = scale(to_local_direction(pose, s, n), sign)
            first = polytope[table[s], 2]
            for f in range(first, first + polytope[table[s], 3]):
                if dot(q, load(face_plane, f)) > 1.0 - SNAP:
                    m = scale(to_world_direction(pose, s, load(face_plane, f)), sign)
                    best, best_room = _try(
                        m, kind, size, table, polytope, vertex, pose, a, b, offset,
                        best, best_room, -slack,
                    )  # fmt: skip
        elif kind[s] == CYLINDER:
            u = axis_z(pose, s)
            along = dot(u, n)
            if abs(along) > 1.0 - SNAP:
                m = u if along > 0.0 else scale(u, -1.0)
            elif along * along < SNAP:
                m = normalize(mad(n, u, -along))
            else:
                continue
            best, best_room = _try(
                m, kind, size, table, polytope, vertex, pose, a, b, offset,
                best, best_room, -slack,
            )  # fmt: skip
    return best, best_room


@kernel
def _part(
    # shapes
    kind, size, table, polytope, vertex, face_plane, pose, a, b,
    # in
    offset, reach, limit, n, known, scratch,
):  # fmt: skip
    """Direction of largest separation of the cores, that separation, closest point of A."""
    near = NEAR * reach
    room = separation(kind, size, table, polytope, vertex, pose, a, b, offset, n)
    pa = scale(offset, 0.0)
    # A stranger is first taken to be apart; one that overlapped last step likely does so still.
    searched = known and room <= near
    if searched:
        n, room = _best_start(
            kind, size, table, polytope, vertex, face_plane, pose, a, b, offset, n, room,
            BETTER * reach,
        )  # fmt: skip
    for _ in range(MAX_ROUNDS):
        if room >= limit:
            break
        push = BROUGHT * reach - room if searched and room <= near else 0.0
        distance, m, pa, _ = core_distance(
            kind, size, table, polytope, vertex, pose, a, b, mad(offset, n, push), n,
            limit + push, scratch,
        )  # fmt: skip
        if push == 0.0 and distance <= near and not searched:
            searched = True
            n, room = _best_start(
                kind, size, table, polytope, vertex, face_plane, pose, a, b, offset, n, room, 0.0
            )
            continue
        turn = sub(m, n)
        gained = separation(kind, size, table, polytope, vertex, pose, a, b, offset, m)
        if push > 0.0 and gained <= room:
            break
        n, room = m, gained
        if push == 0.0 or dot(turn, turn) < SAME:
            break
    return n, room, pa


@kernel
def convex_contacts(
    # shapes
    kind, size, table, polytope, vertex, face_plane, face_loop, loop, pose, a, b,
    # in
    margin,
    # in and out: row `p` remembers the direction of the last step
    axis, p,
    # out
    out, first, scratch,
):  # fmt: skip
    """At most four contacts of any two of sphere, capsule, cylinder, box and hull."""
    offset = sub(pose_position(pose, b), pose_position(pose, a))
    reach = min(
        _reach(kind, size, table, polytope, vertex, a),
        _reach(kind, size, table, polytope, vertex, b),
    )
    limit = margin + _rounding(kind, size, a) + _rounding(kind, size, b)
    n = load(axis, p)
    known = n[0] != 0.0 or n[1] != 0.0 or n[2] != 0.0
    if not known:
        n = normalize(offset)
    n, room, pa = _part(
        kind, size, table, polytope, vertex, face_plane, pose, a, b,
        offset, reach, limit, n, known, scratch,
    )  # fmt: skip
    count = 0
    if room < limit:
        n, room = _snap(
            kind, size, table, polytope, vertex, face_plane, pose, a, b, offset, n, room,
            SLACK * reach,
        )  # fmt: skip
        count = meet_features(
            kind, size, table, polytope, vertex, face_plane, face_loop, loop, pose, a, b,
            offset, n, room, pa, reach, margin, out, first, scratch,
        )  # fmt: skip
    axis[p, 0], axis[p, 1], axis[p, 2] = n
    return count
