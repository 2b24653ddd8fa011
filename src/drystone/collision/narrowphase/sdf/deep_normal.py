"""Which way out for corners that are deep in the other body: PENALTY Appendix I, equation (4).

The nearest face of a corner that is deep inside may be one that it did not come in through. Of
all faces that corners are nearest to, the one is taken to which the deepest corner is nearest:

    n = argmin_i max_j |n_i . p_j - d_i|        (4)

Unlike there, it holds only for the corners that indeed leave the body along it, after a way that is
not much longer than the shortest: two bodies may be in each other at several places. Corners whose
nearest face cannot be the way out, as an edge of theirs leads deeper from it, are in the body no
less, but that face is not one of the n_i; without another way they are left out.
"""

from math import inf

from drystone.collision.narrowphase.sdf.vertex import ASTRAY, DEEP, HOLLOW_REACH
from drystone.jit import inner_kernel, kernel
from drystone.jit.vec import add, dot, load, mad, mul, sub
from drystone.shapes.sdf.closest_point import signed_distance

# How far from the surface the end of the way out may be, as a part of it.
OUT = 0.05


@kernel
def _is_deep(rows, i, code, depth):
    return rows[i, 6] < -depth and (rows[i, 7] == code or rows[i, 7] == ASTRAY * code)


@kernel
def _place(rows, i, code):
    """Corner, foot and outward normal of the solid; all in the axes of side A."""
    n = (code * rows[i, 3], code * rows[i, 4], code * rows[i, 5])
    middle = load(rows, i)
    return mad(middle, n, 0.5 * rows[i, 6]), mad(middle, n, -0.5 * rows[i, 6]), n


@kernel
def _best_face(rows, count, code, depth):
    """Row whose face is nearest to the corner that is farthest from it; -1 if fewer than two."""
    best, least, corners = -1, inf, 0
    for i in range(count):
        if not _is_deep(rows, i, code, depth):
            continue
        corners += 1
        if rows[i, 7] != code:
            continue
        _, foot, n = _place(rows, i, code)
        most = 0.0
        for j in range(count):
            if _is_deep(rows, j, code, depth):
                x, _, _ = _place(rows, j, code)
                most = max(most, abs(dot(n, sub(x, foot))))
        if most < least:
            best, least = i, most
    return best if corners > 1 else -1


@kernel
def _turn(solids, meeting, rows, count, best, depth, to_solid, origin, stack):
    """Let deep corners leave along the normal of row `best`, as far as that is a way out."""
    code = meeting.code
    _, foot, n = _place(rows, best, code)
    for j in range(count):
        if j == best or not _is_deep(rows, j, code, depth):
            continue
        x, _, _ = _place(rows, j, code)
        way = dot(n, sub(foot, x))
        if way <= 0.0 or way > -HOLLOW_REACH * rows[j, 6]:
            continue
        end = add(mul(to_solid, mad(x, n, way)), origin)
        f, _ = signed_distance(solids, meeting.solid, end, OUT * way, stack)
        if abs(f) < OUT * way:
            rows[j, 0], rows[j, 1], rows[j, 2] = mad(x, n, 0.5 * way)
            rows[j, 3], rows[j, 4], rows[j, 5] = code * n[0], code * n[1], code * n[2]
            rows[j, 6], rows[j, 7] = -way, code


@inner_kernel
def turn_deep(solids, meeting, rows, count, to_solid, origin, stack):
    """Give deep corners the normal of equation (4) where that is a way out; the new count.

    to_solid, origin  rotation of side A in the axes of the solid, and its position there
    """
    depth = DEEP * meeting.radius
    best = _best_face(rows, count, meeting.code, depth)
    if best >= 0:
        _turn(solids, meeting, rows, count, best, depth, to_solid, origin, stack)
    kept = 0
    for i in range(count):
        if rows[i, 7] != ASTRAY * meeting.code:
            for k in range(8):
                rows[kept, k] = rows[i, k]
            kept += 1
    return kept
