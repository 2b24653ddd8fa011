"""Common penetration direction of corners deep in a body: PENALTY Appendix I, equation (4).

The nearest face of a corner that is deep inside may be one that it did not enter through. Of
all faces that corners are nearest to, the one is taken to which the deepest corner is nearest:

    n = argmin_i max_j |n_i . p_j - d_i|        (4)

Unlike there, it holds only for the corners that indeed leave the body along it, after a distance
not much longer than the shortest: two bodies may be in each other at several places. Corners whose
nearest face cannot be the exit, as an edge of theirs leads deeper from it, are in the body no
less, but that face is not one of the n_i; without another exit they are left out.
"""

from math import inf

from drystone.collision.narrowphase.sdf.vertex import DEEP, HOLLOW_REACH, NO_EXIT
from drystone.jit import inner_kernel, kernel
from drystone.jit.vec import add, dot, load, mad, mul, sub
from drystone.shapes.sdf.closest_point import signed_distance

# How far from the surface a corner may be after it has left, as a part of the distance it went.
OUT = 0.05


@kernel
def _is_deep(rows, i, code, depth):
    return rows[i, 6] < -depth and (rows[i, 7] == code or rows[i, 7] == NO_EXIT * code)


@kernel
def _place(rows, i, code):
    """Corner, closest point and outward normal of the solid; all in the axes of side A."""
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
def _redirect(solids, meeting, rows, count, best, depth, to_solid, origin, stack):
    """Let deep corners leave along the normal of row `best`, as far as they do leave there."""
    code = meeting.code
    _, foot, n = _place(rows, best, code)
    for j in range(count):
        if j == best or not _is_deep(rows, j, code, depth):
            continue
        x, _, _ = _place(rows, j, code)
        travel = dot(n, sub(foot, x))
        if travel <= 0.0 or travel > -HOLLOW_REACH * rows[j, 6]:
            continue
        end = add(mul(to_solid, mad(x, n, travel)), origin)
        f, _ = signed_distance(solids, meeting.solid, end, OUT * travel, stack)
        if abs(f) < OUT * travel:
            rows[j, 0], rows[j, 1], rows[j, 2] = mad(x, n, 0.5 * travel)
            rows[j, 3], rows[j, 4], rows[j, 5] = code * n[0], code * n[1], code * n[2]
            rows[j, 6], rows[j, 7] = -travel, code


@inner_kernel
def redirect_deep(solids, meeting, rows, count, to_solid, origin, stack):
    """Give deep corners the normal of equation (4) where they leave along it; the new count.

    to_solid, origin  rotation of side A in the axes of the solid, and its position there
    """
    depth = DEEP * meeting.radius
    best = _best_face(rows, count, meeting.code, depth)
    if best >= 0:
        _redirect(solids, meeting, rows, count, best, depth, to_solid, origin, stack)
    left = 0
    for i in range(count):
        if rows[i, 7] != NO_EXIT * meeting.code:
            for k in range(8):
                rows[left, k] = rows[i, k]
            left += 1
    return left
