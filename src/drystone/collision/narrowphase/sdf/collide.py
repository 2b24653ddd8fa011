"""Narrow phase of meshes by signed distance fields (SDF), for pairs of which one mesh asks for it.

PENALTY Appendix I: the corners of one body are tested against the SDF of the other, and vice versa.
Ridges that cross are found likewise, along the ridges of one of the two. A tree of bounding spheres
over corners and ridges leaves out what the octree of distances says is far; the rest is
measured to the nearest triangle, so gaps and normals of contacts are exact.

A mesh of the other generator and a terrain have no octree; their distance is that to the nearest
triangle throughout, which takes longer. Planes need neither, see
collision/narrowphase/mesh/plane.py.
"""

from math import inf
from typing import NamedTuple

import numpy as np
from numba import prange
from numba.types import none

from drystone.collision.narrowphase.axis_cache import moved_since, remember
from drystone.collision.narrowphase.mesh.constants import (
    APART,
    BOUND,
    CLOSE,
    DISTANCE,
    LOOKAHEAD,
    MARGIN,
    MAX_MARGIN,
    QUERY_SIZE,
    REACH,
    ROUNDING,
    SLACK,
    TOUCHING,
    WANTED,
)
from drystone.collision.narrowphase.mesh.reduction import tilt_within, write_reduced
from drystone.collision.narrowphase.mesh.triangle_features import COLUMNS
from drystone.collision.narrowphase.sdf.deep_normal import redirect_deep
from drystone.collision.narrowphase.sdf.edge import edge_contacts
from drystone.collision.narrowphase.sdf.vertex import (
    CORNER_OF_A,
    CORNER_OF_B,
    RIDGES,
    Meeting,
    Tangents,
    vertex_contacts,
)
from drystone.jit import inner_kernel, kernel, parallel_kernel
from drystone.jit.stage import stage
from drystone.jit.vec import (
    add,
    load,
    mul,
    mul_t,
    pose_position,
    pose_rotation,
    relative_pose,
    scale,
)
from drystone.model.arrays import MESH, MOST_MESH_CANDIDATES
from drystone.shapes.sdf.closest_point import STACK, Solids, signed_distance
from drystone.shapes.sdf.octree import interpolated_distance

_CHUNK = 16  # pairs per task
# How deep one may be in the other and still be pushed out, as a part of the smaller radius: deeper,
# the nearest face need not be the one that it entered through.
DEEP = 0.25


class Workspace(NamedTuple):
    """Scratch arrays of a search, and the tables that distances are found from."""

    solids: Solids
    rows: np.ndarray  # (MOST_MESH_CANDIDATES, COLUMNS) candidates
    query: np.ndarray  # (QUERY_SIZE,) see mesh/constants.py
    scratch: np.ndarray  # (MOST_MESH_CANDIDATES, 4)
    waiting: np.ndarray  # (STACK,) nodes of samples
    stack: np.ndarray  # (STACK,) nodes of a BVH


@kernel(_nrt=True)
def _make_workspace(shapes):
    return Workspace(
        Solids(
            shapes.terrain, shapes.terrain_vertex, shapes.triangle, shapes.triangle_normal,
            shapes.neighbour, shapes.vertex_normal, shapes.tree, shapes.node_box, shapes.node_link,
            shapes.octree, shapes.octree_frame, shapes.octree_child, shapes.octree_value,
        ),
        np.empty((MOST_MESH_CANDIDATES, COLUMNS)), np.empty(QUERY_SIZE),
        np.empty((MOST_MESH_CANDIDATES, 4)), np.empty(STACK, np.int32), np.empty(STACK, np.int32),
    )  # fmt: skip


@inner_kernel
def has_sdfs(shapes):
    return shapes.octree_child.shape[0] > 0


@inner_kernel
def uses_sdf(shapes, a, b):
    """Whether one of two meshes or terrains has an SDF."""
    octree = shapes.octree
    if octree.shape[0] == 0:
        return False
    return octree[shapes.surface[a]] >= 0 or octree[shapes.surface[b]] >= 0


@kernel
def _lower_bound(solids, meeting, x, radius, query, stack):
    """Lower bound of a sphere's distance [m], and whether anything in it can be in contact."""
    reach = query[REACH] + radius
    if solids.octree[meeting.solid] < 0:
        limit = max(reach, meeting.deep + radius)
        f, error = signed_distance(solids, meeting.solid, x, limit, stack)[0], 0.0
    else:
        f, error = interpolated_distance(solids, meeting.solid, x)
    return f - error - radius, f - error < reach and f + error > -meeting.deep - radius


@kernel
def _sample_contacts(
    # in: the two, first node of the samples, whether their ridges count, the solid's radius
    shapes, meeting, root, ridges, radius,
    # in and out
    count, work,
):  # fmt: skip
    """Candidates of the corners, and ridges, of one body with the other; the new count."""
    solids, rows, query = work.solids, work.rows, work.query
    waiting, stack = work.waiting, work.stack
    sphere, segment, sample_link = shapes.sample_sphere, shapes.sample_segment, shapes.sample_link
    r, t = meeting.to_solid, meeting.offset
    top = 1
    waiting[0] = root
    while top > 0:
        top -= 1
        i = waiting[top]
        middle = add(mul(r, load(sphere, i)), t)
        bound, near = _lower_bound(solids, meeting, middle, sphere[i, 3], query, stack)
        if not near:
            query[BOUND] = min(query[BOUND], max(bound, 0.0))
            continue
        link, number = sample_link[i, 0], sample_link[i, 1]
        if number == 0:
            waiting[top], waiting[top + 1] = link, i + 1
            top += 2
            continue
        for row in range(link, link + number):
            p, q = load(segment, row), (segment[row, 3], segment[row, 4], segment[row, 5])
            first, last = shapes.tangent_first[row], shapes.tangent_first[row + 1]
            tangents, x = Tangents(shapes.tangent, first, last), add(mul(r, p), t)
            if p == q:
                count = vertex_contacts(solids, meeting, x, tangents, rows, count, query, stack)
            elif ridges:
                count = edge_contacts(
                    solids, meeting, x, add(mul(r, q), t), radius + query[REACH], tangents,
                    rows, count, query, stack,
                )  # fmt: skip
    return count


@kernel
def _sdf_contacts(
    # in; sign: -1 if a is the second shape of the pair
    shapes, pose, a, b, margin, sign,
    # in and out
    axis, near, k,
    # scratch
    work,
):  # fmt: skip
    """Contacts of mesh a with mesh or terrain b, in the slots of near pair k; their number."""
    p, rows, query, solids = near.pair[k], work.rows, work.query, work.solids
    r, t = relative_pose(pose, a, b)
    back = (r[0], r[3], r[6], r[1], r[4], r[7], r[2], r[5], r[8])
    t_back = mul_t(r, scale(t, -1.0))
    radius = min(shapes.radius[a], shapes.radius[b])
    small = ROUNDING * radius
    rs, ts = (r, t) if shapes.radius[a] >= shapes.radius[b] else (back, t_back)
    if axis[p, 0] == APART and axis[p, 1] - moved_since(axis, p, ts, rs, radius) > margin + small:
        return 0
    ka, kb = shapes.surface[a], shapes.surface[b]
    reach = margin if axis[p, 0] == TOUCHING else margin + LOOKAHEAD * radius
    query[MARGIN], query[REACH], query[BOUND] = margin, reach, reach
    query[WANTED], query[CLOSE], query[SLACK] = DISTANCE, margin, inf
    here, nowhere = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0), (0.0, 0.0, 0.0)
    # Ridges of the one against the octree of the other: all crossings are found from one side.
    ridges_of_b = solids.octree[ka] >= 0
    count = 0
    for side in range(2):
        if side == 0:
            meeting = Meeting(ka, r, t, here, nowhere, CORNER_OF_B, radius, DEEP * radius)
        else:
            meeting = Meeting(kb, back, t_back, r, t, CORNER_OF_A, radius, DEEP * radius)
        count = _sample_contacts(
            shapes, meeting, shapes.sample_root[kb if side == 0 else ka],
            ridges_of_b == (side == 0), shapes.radius[a if side == 0 else b], count, work,
        )  # fmt: skip
        if side == 0:
            count = redirect_deep(solids, meeting, rows, count, here, nowhere, work.stack)
        else:
            count = redirect_deep(solids, meeting, rows, count, back, t_back, work.stack)
    if count == 0:
        remember(axis, p, APART, query[BOUND], ts, rs)
        return 0
    axis[p, 0] = TOUCHING
    for i in range(count):
        rows[i, 7] = RIDGES  # nothing is hidden
    first, most = near.slot_first[k], near.slot_first[k + 1] - near.slot_first[k]
    return write_reduced(
        rows, count, pose_position(pose, a), pose_rotation(pose, a), sign, small,
        tilt_within(margin, radius), near.slot, first, most, work.scratch,
    )  # fmt: skip


@kernel(_nrt=True)
def _collide_range(lo, hi, shapes, pose, spread, pair, axis, near):
    kind, work = shapes.kind, _make_workspace(shapes)
    for k in range(lo, hi):
        p = near.pair[k]
        a, b = pair[p, 0], pair[p, 1]
        margin, sign = spread[a] + spread[b], 1.0
        if kind[a] != MESH:
            a, b, sign = b, a, -1.0
        if kind[a] != MESH or shapes.surface[b] < 0:
            continue
        if uses_sdf(shapes, a, b):
            margin = min(margin, MAX_MARGIN * min(shapes.thickness[a], shapes.thickness[b]))
            near.slot_count[k] = _sdf_contacts(
                shapes, pose, a, b, margin, sign, axis, near, k, work
            )


@parallel_kernel
def _collide_parallel(chunks, near_count, shapes, pose, spread, pair, axis, near):
    """The chunked loop of jit/decorators.py."""
    for chunk in prange(chunks):
        hi = min((chunk + 1) * _CHUNK, near_count)
        _collide_range(chunk * _CHUNK, hi, shapes, pose, spread, pair, axis, near)


@stage(result=none)
def collide_sdfs(shapes, boxes, pair, axis, near, near_count):
    """As collide_meshes(), of the pairs that uses_sdf()."""
    if near_count <= 2 * _CHUNK:
        _collide_range(0, near_count, shapes, boxes.pose, boxes.spread, pair, axis, near)
    else:
        chunks = (near_count + _CHUNK - 1) // _CHUNK
        _collide_parallel(chunks, near_count, shapes, boxes.pose, boxes.spread, pair, axis, near)
