"""Any two convex shapes: gap or penetration depth by GJK, then the contact manifold along it.

The separation along a unit direction n is the gap between the shapes seen along n (negative:
penetration). Its largest value is the gap, and where it is reached is the contact normal. Apart,
GJK finds it. Where the cores overlap there is no EPA (expanding polytope algorithm): B is moved
along the present n until apart, GJK gives a new n, and so on. Each iteration gains s (1 - n.n')
for a move by s, so they end at a direction that GJK confirms: a local minimum of the penetration
depth, with none of the bookkeeping of a growing polytope. It starts from the best of the last
step's normal, the line of centres and the normals of all faces and sides, which is the global
minimum but for deep overlaps (tests/collision/narrowphase/test_convex.py).
"""

from drystone.collision.narrowphase.features import meet_features
from drystone.collision.narrowphase.gjk import core_distance, separation
from drystone.collision.narrowphase.manifold import write_contact
from drystone.jit import inner_kernel, kernel
from drystone.jit.vec import (
    dot,
    load,
    mad,
    norm,
    normalize,
    pose_axis_z,
    pose_position,
    scale,
    sub,
    to_local,
    to_local_direction,
    to_world_direction,
)
from drystone.model.arrays import HULL, SPHERE
from drystone.shapes.kinds import (
    core_support,
    is_polytope,
    rounding_radius,
    side_normal,
    snapped_normal,
)

# Cores nearer than this part of their size are moved apart before GJK runs: it finds the
# direction from a difference of points, which has no digits left when they coincide.
NEAR = 1e-6
# How far apart they are then brought, as a part of their size. Small, because a large move
# hides the shape of the overlap; large enough to leave GJK twelve digits.
BROUGHT = 1e-3
MAX_ITERATIONS = 24  # the gain is quadratic near flat faces: three or four are usual

# Two directions differing by less than this [rad, squared] are the same.
SAME = 1e-22
# Directions this close to a face normal or an axis [1 - cosine] are tried exactly there.
SNAP = 1e-8
# An exact direction may be worse than the one found by this part of the size (rounding).
SLACK = 1e-13
# A direction cached from the last step stays unless another is better by this part of
# the size, so that equal overlaps do not swap from step to step.
BETTER = 1e-4


@inner_kernel
def sphere_box(shapes, pose, a, b, margin, out, first):
    """At most one contact of sphere `a` with box `b`; its centre may be inside the box."""
    size = shapes.size
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
def _reach(shapes, s):
    """Size of a shape to within a small factor [m]."""
    if shapes.kind[s] == HULL:
        first = shapes.polytope[shapes.table[s], 0]
        return max(norm(load(shapes.vertex, first)), norm(load(shapes.vertex, first + 1)))
    return shapes.size[s, 0] + shapes.size[s, 1] + shapes.size[s, 2]


@kernel
def _better(n, shapes, pose, a, b, offset, best, best_gap, edge):
    """The better of `best` and `n`, which must win by `edge` [m]; with its separation."""
    gap = separation(shapes, pose, a, b, offset, n)
    if gap > best_gap + edge:
        return n, gap
    return best, best_gap


@kernel
def _best_start(shapes, pose, a, b, offset, best, best_gap, edge):
    """Best of `best`, the line of centres and the normals of faces and sides of both shapes."""
    best, best_gap = _better(normalize(offset), shapes, pose, a, b, offset, best, best_gap, edge)
    polytope, table, face_plane = shapes.polytope, shapes.table, shapes.face_plane
    for side in range(2):
        s, other, sign = (a, b, 1.0) if side == 0 else (b, a, -1.0)
        if is_polytope(shapes, s):
            first = polytope[table[s], 2]
            for f in range(first, first + polytope[table[s], 3]):
                n = scale(to_world_direction(pose, s, load(face_plane, f)), sign)
                p = core_support(shapes, pose, other, scale(n, -sign))
                gap = dot(n, offset) + sign * dot(n, p) - face_plane[f, 3]
                if gap > best_gap + edge:
                    best, best_gap = n, gap
        elif shapes.kind[s] != SPHERE:
            u = pose_axis_z(pose, s)
            n = u if dot(u, offset) > 0.0 else scale(u, -1.0)
            best, best_gap = _better(n, shapes, pose, a, b, offset, best, best_gap, edge)
            n = side_normal(shapes, pose, s, offset, sign)
            best, best_gap = _better(n, shapes, pose, a, b, offset, best, best_gap, edge)
    return best, best_gap


@kernel
def _snap(shapes, pose, a, b, offset, n, gap, slack):
    """`n` moved exactly onto a face normal or an axis that is as good and as near as rounding."""
    best, best_gap = n, gap
    polytope, table, face_plane = shapes.polytope, shapes.table, shapes.face_plane
    for side in range(2):
        s, sign = (a, 1.0) if side == 0 else (b, -1.0)
        if is_polytope(shapes, s):
            q = scale(to_local_direction(pose, s, n), sign)
            first = polytope[table[s], 2]
            for f in range(first, first + polytope[table[s], 3]):
                if dot(q, load(face_plane, f)) > 1.0 - SNAP:
                    m = scale(to_world_direction(pose, s, load(face_plane, f)), sign)
                    best, best_gap = _better(m, shapes, pose, a, b, offset, best, best_gap, -slack)
        else:
            m = snapped_normal(shapes, pose, s, n, sign, SNAP)
            if m[0] != 0.0 or m[1] != 0.0 or m[2] != 0.0:
                best, best_gap = _better(m, shapes, pose, a, b, offset, best, best_gap, -slack)
    return best, best_gap


@kernel
def _largest_separation(shapes, pose, a, b, offset, reach, limit, n, known, scratch):
    """Direction of largest separation of the cores, that separation, closest point of A."""
    near = NEAR * reach
    gap = separation(shapes, pose, a, b, offset, n)
    pa = scale(offset, 0.0)
    # A new pair is first taken to be apart; one that overlapped last step likely does so still.
    searched = known and gap <= near
    if searched:
        n, gap = _best_start(shapes, pose, a, b, offset, n, gap, BETTER * reach)
    for _ in range(MAX_ITERATIONS):
        if gap >= limit:
            break
        move = BROUGHT * reach - gap if searched and gap <= near else 0.0
        distance, m, pa, _ = core_distance(
            shapes, pose, a, b, mad(offset, n, move), n, limit + move, scratch
        )
        if move == 0.0 and distance <= near and not searched:
            searched = True
            n, gap = _best_start(shapes, pose, a, b, offset, n, gap, 0.0)
            continue
        change = sub(m, n)
        gained = separation(shapes, pose, a, b, offset, m)
        if move > 0.0 and gained <= gap:
            break
        n, gap = m, gained
        if move == 0.0 or dot(change, change) < SAME:
            break
    return n, gap, pa


@kernel
def convex_contacts(
    # in
    shapes, pose, a, b, margin,
    # in and out: row `p` caches the direction of the last step
    axis, p,
    # out
    out, first, scratch,
):  # fmt: skip
    """At most four contacts of any two convex shapes."""
    offset = sub(pose_position(pose, b), pose_position(pose, a))
    reach = min(_reach(shapes, a), _reach(shapes, b))
    limit = margin + rounding_radius(shapes, a) + rounding_radius(shapes, b)
    n = load(axis, p)
    known = n[0] != 0.0 or n[1] != 0.0 or n[2] != 0.0
    if not known:
        n = normalize(offset)
    n, gap, pa = _largest_separation(shapes, pose, a, b, offset, reach, limit, n, known, scratch)
    count = 0
    if gap < limit:
        n, gap = _snap(shapes, pose, a, b, offset, n, gap, SLACK * reach)
        count = meet_features(shapes, pose, a, b, n, gap, pa, reach, margin, out, first, scratch)
    axis[p, 0], axis[p, 1], axis[p, 2] = n
    return count
