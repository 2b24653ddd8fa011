"""A mesh on a plane: the corners that touch first if it tilts, and of these the widest four."""

from math import inf

from drystone.collision.narrowphase.manifold import CLEARLY, reduce_points, write_contact
from drystone.collision.narrowphase.mesh.bvh_traversal import box_low, lowest_corner
from drystone.collision.narrowphase.mesh.reduction import DIRECTIONS, tilt_direction, tilt_within
from drystone.collision.narrowphase.mesh.triangle_features import MOST_CANDIDATES
from drystone.collision.narrowphase.plane import height_above, plane_normal
from drystone.jit import inner_kernel, kernel
from drystone.jit.vec import (
    dot,
    load,
    mad,
    pose_position,
    to_local_direction,
    to_world,
)
from drystone.shapes.bvh.build import OWNS_CORNER


@kernel
def _keep_first(scratch, x, gap, n, tilt, small):
    """Replace the candidates before which corner x touches; the first row is the deepest."""
    if gap < scratch[0, 3] - small:
        scratch[0, 0], scratch[0, 1], scratch[0, 2] = x
        scratch[0, 3] = gap
    for k in range(DIRECTIONS):
        lower = tilt * dot(x, tilt_direction(n, k)) - gap
        if lower > scratch[DIRECTIONS + 1 + k, 0] + tilt * small:
            scratch[DIRECTIONS + 1 + k, 0] = lower
            scratch[1 + k, 0], scratch[1 + k, 1], scratch[1 + k, 2] = x
            scratch[1 + k, 3] = gap


@inner_kernel
def plane_mesh(
    # in
    shapes, surfaces, pose, a, b, margin, turn,
    # out, scratch
    out, first, room, scratch, stack,
):  # fmt: skip
    """Contacts of plane a with mesh b; their number. `turn` is -1 if the mesh comes first."""
    normal, table = plane_normal(pose, a), shapes.surface[b]
    n = to_local_direction(pose, b, normal)
    height = height_above(pose, a, pose_position(pose, b))
    root, base = shapes.tree[table], shapes.terrain[table, 0]
    if height + box_low(shapes.node_box, root, n) >= margin:
        return 0
    lowest = height + lowest_corner(
        surfaces, shapes.node_box, shapes.node_link, root, base, n, stack
    )
    if lowest >= margin:
        return 0
    tilt, small = tilt_within(margin, shapes.radius[b]), CLEARLY * shapes.radius[b]
    for k in range(DIRECTIONS + 1):
        scratch[k, 3], scratch[DIRECTIONS + 1 + k, 0] = inf, -inf
    top, count, whole = 1, 0, room >= MOST_CANDIDATES
    stack[0, 0] = root
    while top > 0:
        top -= 1
        i = stack[top, 0]
        if height + box_low(shapes.node_box, i, n) >= margin:
            continue
        if shapes.node_link[i, 1] == 0:
            stack[top, 0], stack[top + 1, 0] = shapes.node_link[i, 0], i + 1
            top += 2
            continue
        for row in range(shapes.node_link[i, 0], shapes.node_link[i, 0] + shapes.node_link[i, 1]):
            for k in range(3):
                if surfaces.owns[row] & (OWNS_CORNER << k):
                    x = load(surfaces.vertex, base + surfaces.triangle[row, k])
                    gap = height + dot(n, x)
                    if gap < margin and not whole:
                        _keep_first(scratch, x, gap, n, tilt, small)
                    elif gap < margin and count < room:
                        _write(pose, b, normal, turn, out, first + count, x, gap)
                        count += 1
    return count if whole else _write_first(pose, b, normal, n, turn, out, first, scratch)


@kernel
def _write(pose, b, normal, turn, out, row, x, gap):
    point = mad(to_world(pose, b, x), normal, -0.5 * gap)
    write_contact(out, row, point, (turn * normal[0], turn * normal[1], turn * normal[2]), gap)


@kernel
def _write_first(pose, b, normal, n, turn, out, first, scratch):
    count = 0
    for k in range(DIRECTIONS + 1):
        if scratch[k, 3] < inf:
            for i in range(4):
                scratch[count, i] = scratch[k, i]
            count += 1
    count = reduce_points(scratch, 0, count, n)
    for k in range(count):
        _write(pose, b, normal, turn, out, first + k, load(scratch, k), scratch[k, 3])
    return count
