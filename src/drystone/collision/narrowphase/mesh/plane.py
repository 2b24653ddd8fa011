"""Mesh against plane: the corners that touch first if it tilts, and of these the widest four."""

from math import inf

from drystone.collision.narrowphase.manifold import CLEARLY, reduce_points, write_contact
from drystone.collision.narrowphase.mesh.bvh_traversal import box_low, lowest_corner
from drystone.collision.narrowphase.mesh.reduction import DIRECTIONS, tilt_direction, tilt_within
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
from drystone.model.arrays import MOST_MESH_CANDIDATES
from drystone.shapes.bvh.build import OWNS_CORNER


@kernel
def _update_first(scratch, x, gap, n, tilt, small):
    """Replace the points before which corner x touches; the first row is the deepest."""
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
    shapes, pose, a, b, margin, sign,
    # out, scratch
    out, first, most, scratch, stack,
):  # fmt: skip
    """Contacts of plane a with mesh b, at most `most`; their number.

    sign  -1 if the mesh is the first shape of the pair
    """
    normal, k_b = plane_normal(pose, a), shapes.surface[b]
    n = to_local_direction(pose, b, normal)
    height = height_above(pose, a, pose_position(pose, b))
    root, base = shapes.tree[k_b], shapes.terrain[k_b, 0]
    node_box, node_link = shapes.node_box, shapes.node_link
    if height + box_low(node_box, root, n) >= margin:
        return 0
    lowest = height + lowest_corner(shapes, root, base, n, stack)
    if lowest >= margin:
        return 0
    tilt, small = tilt_within(margin, shapes.radius[b]), CLEARLY * shapes.radius[b]
    for k in range(DIRECTIONS + 1):
        scratch[k, 3], scratch[DIRECTIONS + 1 + k, 0] = inf, -inf
    top, count, keep_all = 1, 0, most >= MOST_MESH_CANDIDATES
    stack[0, 0] = root
    while top > 0:
        top -= 1
        i = stack[top, 0]
        if height + box_low(node_box, i, n) >= margin:
            continue
        if node_link[i, 1] == 0:
            stack[top, 0], stack[top + 1, 0] = node_link[i, 0], i + 1
            top += 2
            continue
        for row in range(node_link[i, 0], node_link[i, 0] + node_link[i, 1]):
            for k in range(3):
                if shapes.owns[row] & (OWNS_CORNER << k):
                    x = load(shapes.terrain_vertex, base + shapes.triangle[row, k])
                    gap = height + dot(n, x)
                    if gap < margin and not keep_all:
                        _update_first(scratch, x, gap, n, tilt, small)
                    elif gap < margin and count < most:
                        _write(pose, b, normal, sign, out, first + count, x, gap)
                        count += 1
    return count if keep_all else _write_first(pose, b, normal, n, sign, out, first, scratch)


@kernel
def _write(pose, b, normal, sign, out, row, x, gap):
    point = mad(to_world(pose, b, x), normal, -0.5 * gap)
    write_contact(out, row, point, (sign * normal[0], sign * normal[1], sign * normal[2]), gap)


@kernel
def _write_first(pose, b, normal, n, sign, out, first, scratch):
    count = 0
    for k in range(DIRECTIONS + 1):
        if scratch[k, 3] < inf:
            for i in range(4):
                scratch[count, i] = scratch[k, i]
            count += 1
    count = reduce_points(scratch, 0, count, n)
    for k in range(count):
        _write(pose, b, normal, sign, out, first + k, load(scratch, k), scratch[k, 3])
    return count
