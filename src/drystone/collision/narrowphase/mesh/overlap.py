"""Contacts of overlaps: penetration direction and depth of bodies whose surfaces pierce each other.

Features (triangle_features.py) are local minima of the distance. Where surfaces overlap there need
be none: two linked rings touch with ridges that are bent inwards, and a millimetre too deep the
ridges cross beyond the ends of all their edges. What there always is, is the contour where one
surface pierces the other (intersection.py). Each of its loops surrounds an overlap. The body leaves
it in the direction in which its volume shrinks fastest, which is the area vector of the loop
[Allard2010], by as much as both bodies together are deep there along that direction.

A body that pierces the other from side to side makes two loops with opposite area vectors: the
volume says nothing, and the direction is the one of least depth. So it is for a body that is
inside the other and pierces nothing.
"""

from math import inf, sqrt

from drystone.collision.narrowphase.mesh.intersection import (
    AREA,
    INWARD,
    LENGTH,
    LOOP,
    MOST_SEGMENTS,
    OVERLAP,
    SAME,
    find_contours,
    trace_loops,
)
from drystone.collision.narrowphase.mesh.leaf_pairs import corner_of
from drystone.collision.narrowphase.mesh.ray import way_out
from drystone.collision.narrowphase.mesh.workspace import mesh_pair
from drystone.jit import inner_kernel, kernel
from drystone.jit.vec import (
    add,
    dot,
    load,
    mad,
    mul,
    mul_t,
    norm,
    normalize,
    scale,
    sub,
    tangents,
)
from drystone.model.arrays import MOST_MESH_CANDIDATES, TERRAIN

# Overlaps below this part of the smaller radius are left to the features, which find them all:
# three skins.
LEAST = 1e-4
# An overlap is that of features if one within it is as deep as this part of it and points no
# farther away than this cosine.
DEEP_ENOUGH, SAME_WAY = 0.25, 0.5
# Or if one within it is as deep as the overlap is along its own normal, and that is this part of
# the other way out; of so many candidates.
MUCH_SHORTER, MOST_TRIED = 0.25, 8
# The other side of a groove pushes back by more than this sine; one that differs by less than this
# cosine from a contact that is there is that one.
TILTED, SAME_SIDE = 0.05, 0.98
# It is looked for at a displacement across the overlap by so many times its depth. Contours of more
# segments than this are those of surfaces that lie on each other, which is no groove.
SIDEWAYS, MOST_SIDED = 2.0, 256
# Points of a loop from which the middle of the overlap is searched, beside the middle of the loop:
# so far inside, as a part of the smaller radius; and in so many rounds.
PROBES, INSIDE, CENTRING = 6, 4e-6, 2
# Area vectors that add up to less than this part of their lengths say nothing.
CLEAR = 0.3
# The area vector is against the way out if no larger loop about it says so only where the other
# way is shorter than this part of it.
REVERSED = 0.5
# Rounds in which the direction of least depth is refined, beginning with this step.
ROUNDS, FIRST_STEP = 6, 0.4
AWAY = (0.35907, 0.77344, 0.52232)  # any direction that no edge is likely to have


@kernel
def _depths(shapes, pair, x, d, small, stack):
    """How far point x is in A along d and in B against d [m], OUTSIDE where it is not."""
    out_a = way_out(shapes, pair.root_a, pair.vertex_a, x, d, small, stack)
    y, back = mul_t(pair.r, sub(x, pair.t)), mul_t(pair.r, scale(d, -1.0))
    return out_a, way_out(shapes, pair.root_b, pair.vertex_b, y, back, small, stack)


@kernel
def _depth(shapes, pair, x, d, small, stack):
    """Depth of the overlap at point x along d [m], and the point midway; -1 if x is outside."""
    out_a, out_b = _depths(shapes, pair, x, d, small, stack)
    if out_a < 0.0 or out_b < 0.0:
        return -1.0, x
    return out_a + out_b, mad(x, d, 0.5 * (out_a - out_b))


@kernel
def _sees(shapes, pair, x, y, small, stack):
    """Whether the segment from x to y lies within both bodies."""
    d = sub(y, x)
    length = norm(d)
    if length == 0.0:
        return True
    d = scale(d, 1.0 / length)
    out_a = way_out(shapes, pair.root_a, pair.vertex_a, mad(x, d, small), d, 0.0, stack)
    own, along = mul_t(pair.r, sub(mad(x, d, small), pair.t)), mul_t(pair.r, d)
    out_b = way_out(shapes, pair.root_b, pair.vertex_b, own, along, 0.0, stack)
    return min(out_a, out_b) >= length - 2.0 * small


@kernel
def _join_loops(shapes, pair, loops, small, work):
    """Loops whose middles see each other within both bodies surround one overlap."""
    loop = work.loop
    for k in range(loops):
        for i in range(k):
            if loop[k, OVERLAP] == loop[i, OVERLAP]:
                continue
            if _sees(shapes, pair, load(loop, i), load(loop, k), small, work.stack):
                old, new = loop[k, OVERLAP], loop[i, OVERLAP]
                for j in range(loops):
                    if loop[j, OVERLAP] == old:
                        loop[j, OVERLAP] = new


@kernel
def _area_of(loop, loops, overlap):
    """Sum of the area vectors of an overlap, of their lengths, and of the lengths of its loops."""
    area, sizes, length = (0.0, 0.0, 0.0), 0.0, 0.0
    for k in range(loops):
        if loop[k, OVERLAP] == overlap:
            own = (loop[k, AREA], loop[k, AREA + 1], loop[k, AREA + 2])
            area, sizes, length = add(area, own), sizes + norm(own), length + loop[k, LENGTH]
    return area, sizes, length


@kernel
def _room(shapes, pair, x, d, stack):
    """How far point x is inside both bodies along d [m], OUTSIDE if it is not."""
    out_a = way_out(shapes, pair.root_a, pair.vertex_a, x, d, 0.0, stack)
    y, along = mul_t(pair.r, sub(x, pair.t)), mul_t(pair.r, d)
    return min(out_a, way_out(shapes, pair.root_b, pair.vertex_b, y, along, 0.0, stack))


@kernel
def _centre(shapes, pair, x, n, stack):
    """Point x in the overlap, moved across n into the middle of it."""
    t1, t2 = tangents(n)
    for k in range(2 * CENTRING):
        d = t1 if k % 2 == 0 else t2
        ahead = _room(shapes, pair, x, d, stack)
        behind = _room(shapes, pair, x, scale(d, -1.0), stack)
        if ahead >= 0.0 and behind >= 0.0:
            x = mad(x, d, 0.5 * (ahead - behind))
    return x


@kernel
def _inside_loop(contour, count, k, number, inside):
    """A point in the overlap that loop k surrounds, right under one of PROBES of its segments."""
    size = 0
    for i in range(count):
        size += 1 if contour[i, LOOP] == k else 0
    wanted, start = number * size // PROBES, 0
    for i in range(count):
        if contour[i, LOOP] == k:
            if wanted == 0:
                start = i
                break
            wanted -= 1
    p, q = load(contour, start), (contour[start, 3], contour[start, 4], contour[start, 5])
    inward = (contour[start, INWARD], contour[start, INWARD + 1], contour[start, INWARD + 2])
    return mad(scale(add(p, q), 0.5), inward, inside)


@kernel
def _probe(shapes, pair, loops, count, overlap, n, number, work):
    """Point `number` at which an overlap is measured along n, and whether there is one.

    Of each loop its middle and those found from its segments; then the points midway between two
    loops.
    """
    loop, each = work.loop, PROBES + 1
    for k in range(loops):
        if loop[k, OVERLAP] != overlap:
            continue
        if number == 0:
            return load(loop, k), True
        if number < each:
            x = _inside_loop(work.contour, count, k, number - 1, INSIDE * pair.radius)
            return _centre(shapes, pair, x, n, work.stack), True
        number -= each
    for k in range(loops):
        for i in range(k):
            if loop[k, OVERLAP] == overlap and loop[i, OVERLAP] == overlap:
                if number == 0:
                    return scale(add(load(loop, i), load(loop, k)), 0.5), True
                number -= 1
    return (0.0, 0.0, 0.0), False


@kernel
def _least_depth(shapes, pair, x, small, stack):
    """Direction, depth and point midway of the shortest way by which the overlap at x is left.

    Over 26 directions, then about the best of these. The depth is -1 if x is not in both.
    """
    best, depth, middle = (0.0, 0.0, 1.0), inf, x
    for k in range(27):
        d = (float(k % 3 - 1), float(k // 3 % 3 - 1), float(k // 9 - 1))
        if k == 13:
            d = AWAY
        d = normalize(d)
        found, y = _depth(shapes, pair, x, d, small, stack)
        if found < 0.0:
            return best, -1.0, x
        if found < depth:
            best, depth, middle = d, found, y
    step = FIRST_STEP
    for _ in range(ROUNDS):
        t1, t2 = tangents(best)
        centre = best
        for k in range(8):
            u, v = float((k + 1 + k // 4) % 3 - 1), float((k + 1 + k // 4) // 3 - 1)
            d = normalize(mad(mad(centre, t1, step * u), t2, step * v))
            found, y = _depth(shapes, pair, x, d, small, stack)
            if found >= 0.0 and found < depth:
                best, depth, middle = d, found, y
        step *= 0.5
    return best, depth, middle


@kernel
def _is_known(rows, count, x, n, depth, size):
    """Whether a candidate within `size` of x holds an overlap of this direction and depth."""
    for i in range(count):
        d = sub(load(rows, i), x)
        if (
            -rows[i, 6] >= DEEP_ENOUGH * depth
            and dot((rows[i, 3], rows[i, 4], rows[i, 5]), n) >= SAME_WAY
            and dot(d, d) <= size * size
        ):
            return True
    return False


@kernel
def _write(rows, count, x, n, depth):
    if count == MOST_MESH_CANDIDATES:
        count -= 1
    rows[count, 0], rows[count, 1], rows[count, 2] = x
    rows[count, 3], rows[count, 4], rows[count, 5] = n
    rows[count, 6], rows[count, 7], rows[count, 8], rows[count, 9] = -depth, 0.0, -1.0, -1.0
    return count + 1


@kernel
def _deepest_probe(shapes, pair, loops, segments, overlap, n, small, work):
    """Depth of an overlap along n [m], the point midway where it is deepest, one within it."""
    deepest, middle, inside, number = -1.0, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), 0
    x, there = _probe(shapes, pair, loops, segments, overlap, n, number, work)
    while there:
        depth, y = _depth(shapes, pair, x, n, small, work.stack)
        if depth > deepest:
            deepest, middle, inside = depth, y, x
        number += 1
        x, there = _probe(shapes, pair, loops, segments, overlap, n, number, work)
    return deepest, middle, inside


@kernel
def _held_along(shapes, pair, loops, segments, overlap, known, depth, x, size, small, work):
    """Number of a candidate that holds an overlap along a way much shorter than `depth`, -1 if none
    does, and how deep the overlap is along it.

    The contour of an arm that leans in its bore by a twentieth of a millimetre is as long as the
    bore, and its area vector may lie along it: 2.5 mm.

    x, size  where the overlap is, and how large: what is farther away holds its rounding alone
    """
    tried = 0
    for i in range(known):
        own, d = -work.rows[i, 6], sub(load(work.rows, i), x)
        if not 0.0 < own < MUCH_SHORTER * depth or tried == MOST_TRIED:
            continue
        tried += 1
        n = (work.rows[i, 3], work.rows[i, 4], work.rows[i, 5])
        deep, _, _ = _deepest_probe(shapes, pair, loops, segments, overlap, n, small, work)
        near = dot(d, d) <= size * size and own >= DEEP_ENOUGH * deep
        if 0.0 <= deep < MUCH_SHORTER * depth and (near or deep <= LEAST * pair.radius):
            return i, deep
    return -1, depth


@kernel
def _shortest_way(shapes, pair, loops, segments, overlap, small, work):
    """Direction, depth and point midway of an overlap whose area vector says nothing."""
    number, best, deepest, middle = 0, (0.0, 0.0, 1.0), -1.0, (0.0, 0.0, 0.0)
    x, there = _probe(shapes, pair, loops, segments, overlap, AWAY, number, work)
    while there:
        d, depth, y = _least_depth(shapes, pair, x, small, work.stack)
        if depth > deepest:
            best, deepest, middle = d, depth, y
        number += 1
        x, there = _probe(shapes, pair, loops, segments, overlap, AWAY, number, work)
    return best, deepest, middle


@kernel
def _inner_point(shapes, root, first_vertex, row, small, stack):
    """A point inside a closed surface, amid the wall under one of its triangles."""
    a, b = corner_of(shapes, first_vertex, row, 0), corner_of(shapes, first_vertex, row, 1)
    c = corner_of(shapes, first_vertex, row, 2)
    down = scale(load(shapes.triangle_normal, row), -1.0)
    x = mad(scale(add(add(a, b), c), 1.0 / 3.0), down, small)
    wall = way_out(shapes, root, first_vertex, x, down, 0.0, stack)
    return mad(x, down, 0.5 * max(wall, 0.0))


@kernel
def _enclosed(shapes, pair, small, stack):
    """A point in both of two bodies that pierce each other nowhere, in the axes of A, and whether
    there is one: then one of them is inside the other."""
    if shapes.kind[pair.a] != TERRAIN and shapes.kind[pair.b] != TERRAIN:
        x = _inner_point(shapes, pair.root_a, pair.vertex_a, pair.triangle_a, small, stack)
        out_a, out_b = _depths(shapes, pair, x, AWAY, small, stack)
        if out_a >= 0.0 and out_b >= 0.0:
            return x, True
        x = _inner_point(shapes, pair.root_b, pair.vertex_b, pair.triangle_b, small, stack)
        x = add(mul(pair.r, x), pair.t)
        out_a, out_b = _depths(shapes, pair, x, AWAY, small, stack)
        if out_a >= 0.0 and out_b >= 0.0:
            return x, True
    return (0.0, 0.0, 0.0), False


@kernel
def _is_inner(loop, loops, overlap, n):
    """Whether an overlap may be the inner loop, with area vector along n, of one that has a hole:
    whether a larger loop about it has its own against n. The inner one is reversed."""
    area, _, _ = _area_of(loop, loops, overlap)
    for k in range(loops):
        if loop[k, OVERLAP] == overlap:
            continue
        other = (loop[k, AREA], loop[k, AREA + 1], loop[k, AREA + 2])
        away = norm(sub(load(loop, k), load(loop, int(overlap))))
        if dot(other, n) < 0.0 and norm(other) > norm(area) and 2.0 * away < loop[k, LENGTH]:
            return True
    return False


@kernel
def _way_of(shapes, pair, loops, segments, k, small, work):
    """Direction, depth and point midway by which the overlap number k is left, and the length of
    its loops. The depth is -1 if no point of it is in both bodies."""
    area, sizes, length = _area_of(work.loop, loops, float(k))
    n, depth, middle = normalize(area), -1.0, (0.0, 0.0, 0.0)
    if norm(area) > CLEAR * sizes and sizes > 0.0:
        depth, middle, x = _deepest_probe(shapes, pair, loops, segments, float(k), n, small, work)
        # Beyond half the wall the other way may be as short where it is measured: it is not the way
        # that the body came.
        other, y = _depth(shapes, pair, x, scale(n, -1.0), small, work.stack)
        limit = depth if _is_inner(work.loop, loops, float(k), n) else REVERSED * depth
        if depth >= 0.0 and 0.0 <= other < limit:
            n, depth, middle = scale(n, -1.0), other, y
    if depth < 0.0:
        n, depth, middle = _shortest_way(shapes, pair, loops, segments, float(k), small, work)
    return n, depth, middle, length


@kernel
def _add_side(shapes, pair, x, n, deep, shift, size, small, count, work):
    """Add the contact that the overlap at x, left along n, would have if B were moved by `shift`,
    should it push B back: the other side of a groove, in which links lie that pull at each other.
    With one side alone they slip along it in every step. `deep` is how deep the overlap is. Returns
    the number of contacts."""
    moved = mesh_pair(shapes, pair.a, pair.b, pair.r, add(pair.t, shift))
    segments = find_contours(shapes, moved, MOST_SEGMENTS, work)
    if segments == 0:
        return count
    loops = trace_loops(segments, small, work)
    _join_loops(shapes, moved, loops, small, work)
    nearest, least = -1, size
    for k in range(loops):
        away = norm(sub(load(work.loop, k), x))
        if away < least:
            nearest, least = int(work.loop[k, OVERLAP]), away
    if nearest < 0:
        return count
    side, depth, middle, _ = _way_of(shapes, moved, loops, segments, nearest, small, work)
    back = dot(side, shift)
    if depth <= 0.0 or dot(side, n) < SAME_WAY or back > -TILTED * norm(shift):
        return count
    gap, x = -depth - back, mad(middle, shift, -0.5)
    # Not in this step; or deeper than the overlap itself, which is the shortest way out: it is the
    # contour of another place, as of a pin that was moved farther than it has play in its bore.
    if gap > norm(shift) or gap < -deep:
        return count
    for i in range(count):
        if dot((work.rows[i, 3], work.rows[i, 4], work.rows[i, 5]), side) > SAME_SIDE:
            d = sub(load(work.rows, i), x)
            if work.rows[i, 6] <= 0.5 * gap and dot(d, d) <= size * size:
                return count
    return _write(work.rows, count, x, side, -gap)


@inner_kernel
def add_overlaps(shapes, pair, count, reach, work):
    """Add a contact for each overlap that none of the candidates in work.rows holds, and those of
    its sides if it lies in a groove, up to a displacement by `reach` [m].

    Returns their new number, and how many overlaps none was found for.
    """
    small, known, unresolved = SAME * pair.radius, count, 0
    segments = find_contours(shapes, pair, MOST_SEGMENTS, work)
    if segments == 0:
        x, there = _enclosed(shapes, pair, small, work.stack)
        if there:
            n, depth, middle = _least_depth(shapes, pair, x, small, work.stack)
            if depth > 0.0 and not _is_known(work.rows, known, middle, n, depth, inf):
                return _write(work.rows, count, middle, n, depth), 0
        return count, 0
    loops, ways = trace_loops(segments, small, work), 0
    _join_loops(shapes, pair, loops, small, work)
    for k in range(loops):
        if work.loop[k, OVERLAP] != k:
            continue
        n, depth, middle, length = _way_of(shapes, pair, loops, segments, k, small, work)
        if depth < 0.0 and length > sqrt(LEAST) * pair.radius:
            unresolved += 1
        deep = depth > LEAST * pair.radius
        wanted = deep and not _is_known(work.rows, known, middle, n, depth, length)
        if wanted:
            held, depth = _held_along(
                shapes, pair, loops, segments, float(k), known, depth, middle, length, small, work
            )
            if held >= 0:
                n = (work.rows[held, 3], work.rows[held, 4], work.rows[held, 5])
                middle, wanted = load(work.rows, held), False
        if deep:
            work.way[ways, 0], work.way[ways, 1], work.way[ways, 2] = middle
            work.way[ways, 3], work.way[ways, 4], work.way[ways, 5] = n
            work.way[ways, 6], work.way[ways, 7] = length, min(reach, SIDEWAYS * depth)
            work.way[ways, 8] = depth
            ways += 1
            if wanted:
                count = _write(work.rows, count, middle, n, depth)
    for i in range(ways if reach > 0.0 and segments <= MOST_SIDED else 0):
        n, far = (work.way[i, 3], work.way[i, 4], work.way[i, 5]), work.way[i, 7]
        one, other = tangents(n)
        for k in range(4):
            shift = scale(one if k < 2 else other, far if k % 2 == 0 else -far)
            count = _add_side(
                shapes, pair, load(work.way, i), n, work.way[i, 8], shift, work.way[i, 6], small,
                count, work,
            )  # fmt: skip
    return count, unresolved


@inner_kernel
def pierces(shapes, pair, work):
    """Whether two surfaces pierce each other."""
    return find_contours(shapes, pair, 1, work) > 0


@inner_kernel
def overlap_depth(shapes, pair, work):
    """How deep the deepest overlap of two surfaces is that pierce each other [m], 0 if none do."""
    if not pierces(shapes, pair, work):
        return 0.0
    count, depth = add_overlaps(shapes, pair, 0, 0.0, work)[0], 0.0
    for i in range(count):
        depth = max(depth, -work.rows[i, 6])
    return depth
