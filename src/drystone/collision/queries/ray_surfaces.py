"""Where a ray meets the triangles of a mesh or terrain, in the axes of the surface.

Those of a mesh lie in its BVH (shapes/bvh/build.py), those of a terrain in its grid over x, y
(shapes/bvh/triangle_grid.py), which the ray crosses cell by cell [Amanatides1987].
"""

from math import floor, inf

from drystone.jit import inner_kernel, kernel
from drystone.jit.vec import cross, dot, load, scale, sub
from drystone.model.arrays import MESH

STACK = 96  # more than the deepest tree has levels (shapes/bvh/build.py)
# A ray counts as inside a triangle up to this part of its edges outside it: none falls into the
# crack between two.
BESIDE = 1e-9


@inner_kernel
def ray_triangle(shapes, first_vertex, row, o, d):
    """How far along the ray it is met, infinite if it is not, and the normal."""
    vertex, triangle = shapes.terrain_vertex, shapes.triangle
    n = load(shapes.triangle_normal, row)
    slope = dot(n, d)
    if slope == 0.0:
        return inf, n
    a = load(vertex, first_vertex + triangle[row, 0])
    t = -dot(n, sub(o, a)) / slope
    if not t >= 0.0:
        return inf, n
    b = load(vertex, first_vertex + triangle[row, 1])
    c = load(vertex, first_vertex + triangle[row, 2])
    x = (o[0] + t * d[0], o[1] + t * d[1], o[2] + t * d[2])
    e, f, g = sub(b, a), sub(c, b), sub(a, c)
    if (
        dot(cross(e, sub(x, a)), n) < -BESIDE * dot(e, e)
        or dot(cross(f, sub(x, b)), n) < -BESIDE * dot(f, f)
        or dot(cross(g, sub(x, c)), n) < -BESIDE * dot(g, g)
    ):
        return inf, n
    return t, n


@inner_kernel
def ray_box(box, i, o, inv, far):
    """Where a ray enters row `i` of an array of AABBs; inf if beyond `far` or missed.

    `inv` is 1 / direction, with infinities for zeros: min and max in this order pass over the NaN
    of a ray that runs in a face of the box.
    """
    enter, leave = 0.0, far
    for k in range(3):
        near, away = (box[i, k] - o[k]) * inv[k], (box[i, 3 + k] - o[k]) * inv[k]
        if near > away:
            near, away = away, near
        enter = near if near > enter else enter
        leave = away if away < leave else leave
    return enter if enter <= leave else inf


@kernel
def _ray_tree(shapes, k, o, d, far, stack, base):
    """First triangle of a mesh that is met, from either side."""
    inv = (1.0 / d[0], 1.0 / d[1], 1.0 / d[2])
    box, link, first = shapes.node_box, shapes.node_link, shapes.terrain[k, 0]
    best, normal, top = far, (0.0, 0.0, 0.0), 1
    stack[base] = shapes.tree[k]
    found = False
    while top > 0:
        top -= 1
        node = stack[base + top]
        if ray_box(box, node, o, inv, best) == inf:
            continue
        if link[node, 1] > 0:
            for row in range(link[node, 0], link[node, 0] + link[node, 1]):
                t, n = ray_triangle(shapes, first, row, o, d)
                if t <= best and t < inf:
                    best, normal, found = t, n, True
            continue
        stack[base + top], stack[base + top + 1] = link[node, 0], node + 1
        top += 2
    return (best if found else inf), normal


@kernel
def _ray_grid(shapes, k, o, d, far):
    """First triangle of a terrain that is met from its front."""
    terrain, grid, first_vertex = shapes.terrain, shapes.terrain_grid, shapes.terrain[k, 0]
    nx, ny, side = terrain[k, 4], terrain[k, 5], grid[k, 2]
    low_x, low_y = grid[k, 0], grid[k, 1]
    enter, leave = 0.0, far
    for axis in range(2):
        low = low_x if axis == 0 else low_y
        high = low + side * (nx if axis == 0 else ny)
        if d[axis] == 0.0:
            if o[axis] < low or o[axis] > high:
                return inf, (0.0, 0.0, 0.0)
            continue
        s, u = (low - o[axis]) / d[axis], (high - o[axis]) / d[axis]
        enter, leave = max(enter, min(s, u)), min(leave, max(s, u))
    best, normal = inf, (0.0, 0.0, 0.0)
    if enter > leave:
        return best, normal
    i = min(max(int(floor((o[0] + enter * d[0] - low_x) / side)), 0), nx - 1)
    j = min(max(int(floor((o[1] + enter * d[1] - low_y) / side)), 0), ny - 1)
    step_i, step_j = (1 if d[0] > 0.0 else -1), (1 if d[1] > 0.0 else -1)
    while 0 <= i < nx and 0 <= j < ny:
        at = terrain[k, 3] + j * nx + i
        for entry in range(shapes.cell_first[at], shapes.cell_first[at + 1]):
            row = terrain[k, 1] + shapes.cell_triangle[entry]
            t, n = ray_triangle(shapes, first_vertex, row, o, d)
            if t <= far and t < best and dot(n, d) < 0.0:
                best, normal = t, n
        # When the ray leaves this cell, along x and along y.
        x, y = inf, inf
        if d[0] != 0.0:
            x = (low_x + side * (i + (1 if step_i > 0 else 0)) - o[0]) / d[0]
        if d[1] != 0.0:
            y = (low_y + side * (j + (1 if step_j > 0 else 0)) - o[1]) / d[1]
        # A triangle stands in all its cells, so that what is met before the border is the first.
        if best <= min(x, y) or min(x, y) > leave:
            break
        if x < y:
            i += step_i
        else:
            j += step_j
    return best, normal


@inner_kernel
def ray_surface(shapes, s, o, d, far, stack, base):
    """Ray in the axes of mesh or terrain `s`: t and the normal, as in ray_shapes.py.

    A mesh is solid: a ray that first meets it from behind begins inside. A terrain has a front
    alone.
    """
    k = shapes.table[s]
    if shapes.kind[s] != MESH:
        return _ray_grid(shapes, k, o, d, far)
    # Looked for without limit: a ray that ends inside has to know where it would leave.
    t, n = _ray_tree(shapes, k, o, d, inf, stack, base)
    if t < inf and dot(n, d) > 0.0:
        return 0.0, scale(d, -1.0)
    return (t, n) if t <= far else (inf, n)
