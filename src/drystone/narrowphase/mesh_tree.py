"""Walk down the box trees of two surfaces at once, to the triangles that are near each other.

Boxes are compared along the axes of both trees: the six face axes of the test of separating
axes [Gottschalk1996]; the nine crossed ones seldom decide and cost more than they save. Which
node is opened depends on sizes alone, so that triangles come in the same order in every step.
"""

from math import inf

from drystone.jit import inner_kernel, kernel
from drystone.narrowphase.mesh_features import (
    BOUND,
    REACH,
    corner_and_triangle,
    ridge_and_ridge,
)
from drystone.shapes.tree import OWNS_CORNER, OWNS_EDGE
from drystone.vec import add, dot, load, mul, sub

STACK = 512  # pairs of nodes that wait: at most one for each level of the two trees


@kernel
def _least(a, b, c, n, p):
    """Least height over the plane through p with normal n."""
    return min(dot(n, sub(a, p)), dot(n, sub(b, p)), dot(n, sub(c, p)))


@kernel
def _most(a, b, c, n, p):
    return max(dot(n, sub(a, p)), dot(n, sub(b, p)), dot(n, sub(c, p)))


@kernel
def _triangle_pair(
    surfaces, v_a, t_a, row_a, v_b, t_b, row_b, b0, b1, b2, n_b, r, deep, rows, count, level,
):  # fmt: skip
    """Candidates of two triangles; the new count. The corners of B are in the axes of A."""
    n_a = load(surfaces.normal, row_a)
    a0 = load(surfaces.vertex, v_a + surfaces.triangle[row_a, 0])
    limit = -max(deep, level[REACH])
    low = _least(b0, b1, b2, n_a, a0)
    if low >= level[REACH]:
        level[BOUND] = min(level[BOUND], low)
        return count
    a1 = load(surfaces.vertex, v_a + surfaces.triangle[row_a, 1])
    a2 = load(surfaces.vertex, v_a + surfaces.triangle[row_a, 2])
    low = _least(a0, a1, a2, n_b, b0)
    if low >= level[REACH]:
        level[BOUND] = min(level[BOUND], low)
        return count
    high = min(_most(b0, b1, b2, n_a, a0), _most(a0, a1, a2, n_b, b0))
    if high <= limit:
        level[BOUND] = min(level[BOUND], -high)
        return count
    own_a, own_b = surfaces.owns[row_a], surfaces.owns[row_b]
    for k in range(3):
        if own_a & (OWNS_CORNER << k):
            x = a0 if k == 0 else (a1 if k == 1 else a2)
            count = corner_and_triangle(
                surfaces, v_a, t_a, row_a, k, x, False, v_b, t_b, row_b, b0, b1, b2, n_b,
                r, deep, rows, count, level,
            )  # fmt: skip
        if own_b & (OWNS_CORNER << k):
            x = b0 if k == 0 else (b1 if k == 1 else b2)
            count = corner_and_triangle(
                surfaces, v_b, t_b, row_b, k, x, True, v_a, t_a, row_a, a0, a1, a2, n_a,
                r, deep, rows, count, level,
            )  # fmt: skip
    for k in range(3):
        if own_a & (OWNS_EDGE << k):
            p, q = (a0, a1) if k == 0 else ((a1, a2) if k == 1 else (a2, a0))
            e = sub(q, p)
            for i in range(3):
                if own_b & (OWNS_EDGE << i):
                    x, y = (b0, b1) if i == 0 else ((b1, b2) if i == 1 else (b2, b0))
                    count = ridge_and_ridge(
                        surfaces, t_a, row_a, k, p, e, n_a, t_b, row_b, i, x, sub(y, x), n_b,
                        r, deep, rows, count, level,
                    )  # fmt: skip
    return count


@kernel
def _box_gap(node_box, i, j, r, q, t):
    """Largest gap of two boxes along their axes, and the sizes of both; q: absolute values of r."""
    ax, ay, az = node_box[i, 3], node_box[i, 4], node_box[i, 5]
    px, py, pz = node_box[i, 0], node_box[i, 1], node_box[i, 2]
    bx, by, bz = node_box[j, 3], node_box[j, 4], node_box[j, 5]
    ox, oy, oz = node_box[j, 0], node_box[j, 1], node_box[j, 2]
    hax, hay, haz = 0.5 * (ax - px), 0.5 * (ay - py), 0.5 * (az - pz)
    hbx, hby, hbz = 0.5 * (bx - ox), 0.5 * (by - oy), 0.5 * (bz - oz)
    cx, cy, cz = 0.5 * (bx + ox), 0.5 * (by + oy), 0.5 * (bz + oz)
    dx = r[0] * cx + r[1] * cy + r[2] * cz + t[0] - 0.5 * (ax + px)
    dy = r[3] * cx + r[4] * cy + r[5] * cz + t[1] - 0.5 * (ay + py)
    dz = r[6] * cx + r[7] * cy + r[8] * cz + t[2] - 0.5 * (az + pz)
    gap = max(
        abs(dx) - hax - (q[0] * hbx + q[1] * hby + q[2] * hbz),
        abs(dy) - hay - (q[3] * hbx + q[4] * hby + q[5] * hbz),
        abs(dz) - haz - (q[6] * hbx + q[7] * hby + q[8] * hbz),
        abs(r[0] * dx + r[3] * dy + r[6] * dz) - hbx - (q[0] * hax + q[3] * hay + q[6] * haz),
        abs(r[1] * dx + r[4] * dy + r[7] * dz) - hby - (q[1] * hax + q[4] * hay + q[7] * haz),
        abs(r[2] * dx + r[5] * dy + r[8] * dz) - hbz - (q[2] * hax + q[5] * hay + q[8] * haz),
    )
    return gap, hax + hay + haz, hbx + hby + hbz


@inner_kernel
def walk_trees(
    # trees of all surfaces, the two that meet: first node, vertex and triangle
    surfaces, node_box, node_link, root_a, v_a, t_a, root_b, v_b, t_b,
    # in: pose of B in the axes of A, how deep one may be in the other
    r, t, deep,
    # in and out
    rows, level,
    # scratch
    stack,
):  # fmt: skip
    """Fill `rows` with the candidates of two surfaces; their number."""
    q = (
        abs(r[0]), abs(r[1]), abs(r[2]), abs(r[3]), abs(r[4]), abs(r[5]),
        abs(r[6]), abs(r[7]), abs(r[8]),
    )  # fmt: skip
    count, top = 0, 1
    stack[0, 0], stack[0, 1] = root_a, root_b
    while top > 0:
        top -= 1
        i, j = stack[top, 0], stack[top, 1]
        gap, size_a, size_b = _box_gap(node_box, i, j, r, q, t)
        if gap >= level[REACH]:
            level[BOUND] = min(level[BOUND], gap)
            continue
        count_a, count_b = node_link[i, 1], node_link[j, 1]
        if count_a > 0 and count_b > 0:
            for row_b in range(node_link[j, 0], node_link[j, 0] + count_b):
                n_b = mul(r, load(surfaces.normal, row_b))
                b0 = _corner_of_b(surfaces, v_b, row_b, 0, r, t)
                b1 = _corner_of_b(surfaces, v_b, row_b, 1, r, t)
                b2 = _corner_of_b(surfaces, v_b, row_b, 2, r, t)
                for row_a in range(node_link[i, 0], node_link[i, 0] + count_a):
                    count = _triangle_pair(
                        surfaces, v_a, t_a, row_a, v_b, t_b, row_b, b0, b1, b2, n_b,
                        r, deep, rows, count, level,
                    )  # fmt: skip
        elif count_b > 0 or (count_a == 0 and size_a >= size_b):
            stack[top, 0], stack[top, 1] = node_link[i, 0], j
            stack[top + 1, 0], stack[top + 1, 1] = i + 1, j
            top += 2
        else:
            stack[top, 0], stack[top, 1] = i, node_link[j, 0]
            stack[top + 1, 0], stack[top + 1, 1] = i, j + 1
            top += 2
    return count


@kernel
def _corner_of_b(surfaces, v_b, row, k, r, t):
    return add(mul(r, load(surfaces.vertex, v_b + surfaces.triangle[row, k])), t)


@inner_kernel
def lowest_corner(surfaces, node_box, node_link, root, v, n, stack):
    """Least n.x over all vertices of a surface."""
    lowest, top = inf, 1
    stack[0, 0] = root
    while top > 0:
        top -= 1
        i = stack[top, 0]
        if box_low(node_box, i, n) >= lowest:
            continue
        if node_link[i, 1] == 0:
            left, right = i + 1, node_link[i, 0]
            if box_low(node_box, right, n) < box_low(node_box, left, n):
                left, right = right, left
            stack[top, 0], stack[top + 1, 0] = right, left
            top += 2
            continue
        for row in range(node_link[i, 0], node_link[i, 0] + node_link[i, 1]):
            for k in range(3):
                x = load(surfaces.vertex, v + surfaces.triangle[row, k])
                lowest = min(lowest, dot(n, x))
    return lowest


@inner_kernel
def box_low(node_box, i, n):
    """Least n.x over the box of node i."""
    return (
        min(n[0] * node_box[i, 0], n[0] * node_box[i, 3])
        + min(n[1] * node_box[i, 1], n[1] * node_box[i, 4])
        + min(n[2] * node_box[i, 2], n[2] * node_box[i, 5])
    )
