"""Slow and obvious twins of the narrow phase, and small worlds of bare shapes for its tests."""

from types import SimpleNamespace

import numpy as np
from scipy.optimize import minimize

from drystone.collision.narrowphase.dispatch import collide_pairs
from drystone.model.arrays import FIXED
from drystone.shapes import ConvexHull, Entry, build_shapes

MOST = 16  # rows per pair
UNTOUCHED = -7  # number of contacts of a pair that nobody has looked at


def bare_shapes(*shapes):
    """Tables of these shapes, one part each, every part at the origin of its own frame."""
    parts = [shape.parts()[0] for shape in shapes]
    return build_shapes([Entry(FIXED, p, np.zeros(3), np.eye(3), 0, 1, 1) for p in parts])


def pose_row(position=(0, 0, 0), rotation=None):
    rotation = np.eye(3) if rotation is None else rotation
    return np.concatenate([np.asarray(position, float), np.asarray(rotation, float).ravel()])


def collide(tables, poses, margin, pairs=((0, 1),), axis=None):
    """Contacts of the pairs: a list of objects with point, normal, gap, sorted as written."""
    pair = np.array(pairs, dtype=np.int32)
    axis = np.zeros((len(pair), 8)) if axis is None else axis
    first = np.arange(len(pair), dtype=np.int32) * MOST
    count = np.full(len(pair), UNTOUCHED, dtype=np.int32)
    out = np.full((MOST * len(pair), 7), np.nan)
    near = np.arange(len(pair), dtype=np.int32)
    margins = np.full(len(tables.kind), 0.5 * margin)
    pose = np.ascontiguousarray(poses, dtype=float)
    collide_pairs(
        tables, pose, pair, near, margins, axis, first, count, out, 0, len(pair), np.zeros((256, 4))
    )
    if (count == UNTOUCHED).any():  # these belong to collide_meshes()
        from triangle_twin import meet

        return meet(tables, poses, margin, pairs, axis)
    result = []
    for f, c in zip(first, count, strict=True):
        rows = out[f : f + c]
        result.append(SimpleNamespace(point=rows[:, :3], normal=rows[:, 3:6], gap=rows[:, 6]))
    return result


def vertices_of(tables, pose, s):
    first, count = tables.polytope[tables.table[s], :2]
    return tables.vertex[first : first + count] @ pose[s, 3:].reshape(3, 3).T + pose[s, :3]


def face_normals_of(tables, pose, s):
    first, count = tables.polytope[tables.table[s], 2:4]
    return tables.face_plane[first : first + count, :3] @ pose[s, 3:].reshape(3, 3).T


def edges_of(tables, pose, s):
    first, count = tables.polytope[tables.table[s], 4:6]
    v = vertices_of(tables, pose, s)
    ends = tables.edge[first : first + count, :2]
    return v[ends[:, 1]] - v[ends[:, 0]]


def separations(va, vb, axes):
    """min over B less max over A along every axis (k, 3)."""
    return (vb @ axes.T).min(axis=0) - (va @ axes.T).max(axis=0)


def largest_separation(tables, pose, a=0, b=1):
    """Over all face normals and all crossed edges, both ways: (separation, axis from A to B)."""
    va, vb = vertices_of(tables, pose, a), vertices_of(tables, pose, b)
    crossed = np.cross(edges_of(tables, pose, a)[:, None], edges_of(tables, pose, b)[None])
    crossed = crossed.reshape(-1, 3)
    length = np.linalg.norm(crossed, axis=1)
    crossed = crossed[length > 1e-6 * length.max()]
    crossed /= np.linalg.norm(crossed, axis=1, keepdims=True)
    faces_a, faces_b = face_normals_of(tables, pose, a), -face_normals_of(tables, pose, b)
    axes = np.concatenate([faces_a, faces_b, crossed, -crossed])
    s = separations(va, vb, axes)
    return s.max(), axes[s.argmax()]


def distance(va, vb):
    """Distance of the hulls of two sets of points, by a general optimiser."""
    na, nb = len(va), len(vb)

    def square(x):
        d = x[:na] @ va - x[na:] @ vb
        return d @ d, 2 * np.concatenate([va @ d, -vb @ d])

    sums = [
        {"type": "eq", "fun": lambda x: x[:na].sum() - 1},
        {"type": "eq", "fun": lambda x: x[na:].sum() - 1},
    ]
    start = np.concatenate([np.full(na, 1 / na), np.full(nb, 1 / nb)])
    found = minimize(
        square, start, jac=True, bounds=[(0, 1)] * (na + nb), constraints=sums,
        method="SLSQP", options={"ftol": 1e-16, "maxiter": 500},
    )  # fmt: skip
    return np.sqrt(found.fun)


def random_rotation(rng):
    q = rng.normal(size=4)
    w, x, y, z = q / np.linalg.norm(q)
    return np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ])  # fmt: skip


def turn(axis, angle):
    """Rotation by `angle` [rad] about `axis` (Rodrigues)."""
    x, y, z = np.asarray(axis, float) / np.linalg.norm(axis)
    k = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * k + (1 - np.cos(angle)) * k @ k


def random_hull(rng, points=20, size=0.1):
    """Points on a squeezed sphere: about `points` vertices, triangles all around."""
    p = rng.normal(size=(points, 3))
    p *= size / np.linalg.norm(p, axis=1, keepdims=True)
    return ConvexHull(p * rng.uniform(0.6, 1.0, size=3))


def brought_to(tables, pose, gap, a=0, b=1):
    """Move b along the axis of largest separation until that separation is `gap`.

    Where the pair starts apart or touching the separation after the move can only be larger,
    and a second round settles it.
    """
    pose = pose.copy()
    for _ in range(50):
        s, axis = largest_separation(tables, pose, a, b)
        pose[b, :3] += (gap - s) * axis
        if abs(gap - s) < 1e-13:
            break
    return pose
