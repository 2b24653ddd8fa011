"""Slow and obvious twins of the mesh contacts, small meshes, and worlds of bare meshes."""

from types import SimpleNamespace

import numpy as np

from drystone.collision.narrowphase.mesh.collide import collide_meshes
from drystone.model.arrays import CACHED_TRIANGLES, FIXED, MESH, SWEPT_COLUMNS, Boxes, Near
from drystone.shapes import Entry, build_shapes
from drystone.shapes.part import NO_SIZE, Part
from drystone.shapes.triangle_table import build_table

SLOTS = 16  # rows per pair; a mesh writes eleven at most


def mesh_part(vertices, faces) -> Part:
    table = build_table(np.asarray(vertices, float), np.asarray(faces))
    return Part(MESH, NO_SIZE, table.radius, geometry=table)


def bare_parts(*parts):
    """Tables of these parts, every one at the origin of its own frame."""
    return build_shapes([Entry(FIXED, p, np.zeros(3), np.eye(3), 0, 1, 1) for p in parts])


def nothing_kept(count):
    """What pairs that touch keep of their triangles: nothing yet."""
    return dict(
        cached_of=np.zeros((count, 3), dtype=np.int32),
        cached_axis=np.zeros((count, 8)),
        cached_triangle=np.zeros((count, 2 * CACHED_TRIANGLES), dtype=np.int32),
        cached_gap=np.zeros((count, CACHED_TRIANGLES), dtype=np.float32),
    )


def meet(
    tables, poses, margin, pairs=((0, 1),), axis=None, kept=None, still=False, way=None,
    slots=SLOTS,
):  # fmt: skip
    """Contacts of the pairs: a list of objects with point, normal, gap, sorted as written.

    kept    what pairs keep from call to call, see nothing_kept()
    still   the shapes do not move by themselves, others may strike them
    way     or they move like this, see arrays.Boxes; else in any way within the margin
    slots   rows per pair
    """
    pair = np.array(pairs, dtype=np.int32)
    count = len(pair)
    axis = np.zeros((count, 8)) if axis is None else axis
    spread = np.full(len(tables.kind), 0.5 * margin)
    if way is None:
        way = np.zeros((len(spread), SWEPT_COLUMNS))
        way[:, [3, 10]] = 0.0 if still else spread[:, None]
    boxes = Boxes(*[np.zeros((1, 1))] * len(Boxes._fields))._replace(
        pose=np.ascontiguousarray(poses, dtype=float), spread=spread, swept=way
    )
    near = Near(
        pair=np.arange(count, dtype=np.int32),
        slot_first=np.arange(count + 1, dtype=np.int32) * slots,
        slot_count=np.full(count, -7, dtype=np.int32),
        contact_first=np.zeros(count, dtype=np.int32),
        slot=np.full((slots * count, 7), np.nan),
        toi=np.zeros(count),
        unresolved=np.zeros(count, dtype=np.int32),
        given_up=np.zeros(count, dtype=np.int32),
        seam_next=np.zeros(2 * count, dtype=np.int32),
        **(nothing_kept(count) if kept is None else kept),
    )
    collide_meshes(tables, _typed(boxes), pair, axis, near, count)
    result = []
    for k in range(count):
        rows = near.slot[slots * k : slots * k + near.slot_count[k]]
        result.append(SimpleNamespace(point=rows[:, :3], normal=rows[:, 3:6], gap=rows[:, 6]))
    return result


def _typed(boxes: Boxes) -> Boxes:
    """The arrays that are not read, with the types that the engine compiles for."""
    i32, i64 = np.int32, np.int64
    return boxes._replace(
        reach=np.zeros(1), escaped=np.zeros(1, i64), left=np.zeros(1, i32),
        cell=np.zeros((1, 4), i64), seam_last=np.zeros(1, i32),
        bucket_first=np.zeros(1, i32), bucket_item=np.zeros(1, i32), pair_start=np.zeros(1, i32),
        found=np.zeros((1, 2), i32), old_pair=np.zeros((1, 2), i32),
        old_cached=np.zeros((1, 2), i32), old_axis=np.zeros((1, 8)),
    )  # fmt: skip


def torus(major=0.1, minor=0.04, around=24, across=12):
    """Vertices and faces of a ring about z."""
    u = 2 * np.pi * np.arange(around) / around
    v = 2 * np.pi * np.arange(across) / across
    u, v = np.meshgrid(u, v, indexing="ij")
    ring = major + minor * np.cos(v)
    vertices = np.stack([ring * np.cos(u), ring * np.sin(u), minor * np.sin(v)], -1).reshape(-1, 3)
    i, j = np.meshgrid(np.arange(around), np.arange(across), indexing="ij")
    a, b = i * across + j, (i + 1) % around * across + j
    c, d = (i + 1) % around * across + (j + 1) % across, i * across + (j + 1) % across
    return vertices, np.concatenate(
        [np.stack([a, b, c], -1).reshape(-1, 3), np.stack([a, c, d], -1).reshape(-1, 3)]
    )


def prism(outline, height, middle=(0.0, 0.0)):
    """The outline (n, 2), counter-clockwise in x, y, from z = 0 to `height`.

    All of it is seen from `middle`.
    """
    n = len(outline)
    k, after = np.arange(n), (np.arange(n) + 1) % n
    flat = np.concatenate([outline, [middle]])
    vertices = np.concatenate([np.column_stack([flat, np.full(n + 1, z)]) for z in (0.0, height)])
    top = n + 1
    return vertices, np.concatenate([
        np.stack([after, k, np.full(n, n)], -1),
        np.stack([top + k, top + after, np.full(n, top + n)], -1),
        np.stack([k, after, top + after], -1), np.stack([k, top + after, top + k], -1),
    ])  # fmt: skip


def box_mesh(x, y, z, cuts=1):
    """A box about the origin, every side cut into 2 cuts² triangles."""
    k = np.linspace(-0.5, 0.5, cuts + 1)
    u, v = (g.ravel() for g in np.meshgrid(k, k, indexing="ij"))
    side = np.stack([u, v, np.full(len(u), 0.5)], -1)
    i, j = (g.ravel() for g in np.meshgrid(np.arange(cuts), np.arange(cuts), indexing="ij"))
    a = i * (cuts + 1) + j
    b, c, d = a + cuts + 1, a + cuts + 2, a + 1
    faces = np.concatenate([np.stack([a, b, c], -1), np.stack([a, c, d], -1)])
    vertices, triangles = [], []
    for axis in range(3):
        for sign in (1, -1):
            turned = np.roll(side, axis + 1, axis=1) * (1, 1, 1)
            if sign < 0:
                turned = -turned
            triangles.append((faces if sign > 0 else faces[:, ::-1]) + len(side) * len(vertices))
            vertices.append(turned)
    return np.concatenate(vertices) * (x, y, z), np.concatenate(triangles)


def star(points=5, outer=0.1, inner=0.04, height=0.05):
    angle = np.pi * np.arange(2 * points) / points
    radius = np.where(np.arange(2 * points) % 2 == 0, outer, inner)
    return prism(np.stack([radius * np.cos(angle), radius * np.sin(angle)], -1), height)


def el(size=0.1, height=0.05):
    outline = size * np.array([[0, 0], [2, 0], [2, 1], [1, 1], [1, 2], [0, 2]])
    return prism(outline, height, (0.5 * size, 0.5 * size))


def bumpy(rng, size=0.1, roughness=0.15, subdivisions=2):
    """A sphere with bumps and dents all over."""
    import trimesh

    ball = trimesh.creation.icosphere(subdivisions=subdivisions, radius=size)
    waves = rng.normal(size=(6, 3)) * 3.0 / size
    bump = np.sin(np.asarray(ball.vertices) @ waves.T).mean(axis=1)
    return np.array(ball.vertices) * (1.0 + roughness * bump[:, None]), np.array(ball.faces)


def placed(mesh, pose):
    vertices, faces = mesh
    return vertices @ pose[3:].reshape(3, 3).T + pose[:3], faces


def distance(one, two):
    """Least distance of two meshes: every vertex to every face, every edge to every edge."""
    (va, fa), (vb, fb) = one, two
    return min(_points_to_faces(va, vb[fb]), _points_to_faces(vb, va[fa]), _edges(one, two))


def _points_to_faces(points, corners):
    """Least distance of points (n, 3) and triangles (m, 3, 3) where the foot is inside."""
    a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
    n = np.cross(b - a, c - a)
    n /= np.linalg.norm(n, axis=1, keepdims=True)
    height = np.einsum("nmk,mk->nm", points[:, None] - a[None], n)
    inside = np.ones(height.shape, bool)
    for p, q in ((a, b), (b, c), (c, a)):
        side = np.cross(n, q - p)
        inside &= np.einsum("nmk,mk->nm", points[:, None] - p[None], side) >= 0
    return np.abs(height[inside]).min(initial=np.inf)


def _edges(one, two):
    """Least distance of all edges, ends included."""
    (va, fa), (vb, fb) = one, two
    ea, eb = _edge_list(fa), _edge_list(fb)
    p, q = va[ea[:, 0]][:, None], vb[eb[:, 0]][None]
    d, e = va[ea[:, 1]][:, None] - p, vb[eb[:, 1]][None] - q
    w = p - q
    dd, ee, de = (d * d).sum(-1), (e * e).sum(-1), (d * e).sum(-1)
    dw, ew = (d * w).sum(-1), (e * w).sum(-1)
    area = dd * ee - de * de
    with np.errstate(divide="ignore", invalid="ignore"):
        s = np.clip(np.where(area > 1e-14 * dd * ee, (de * ew - ee * dw) / area, 0.0), 0, 1)
    t = np.clip((de * s + ew) / ee, 0, 1)
    s = np.clip((de * t - dw) / dd, 0, 1)
    gap = w + s[..., None] * d - t[..., None] * e
    return np.sqrt((gap * gap).sum(-1).min())


def _edge_list(faces):
    edges = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    return np.unique(np.sort(edges, axis=1), axis=0)


def surface_distance(points, mesh):
    """(n,) distance of points from the nearest triangle."""
    vertices, faces = mesh
    return np.array([_nearest(p, vertices[faces]) for p in points])


def _nearest(p, corners):
    a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
    n = np.cross(b - a, c - a)
    n /= np.linalg.norm(n, axis=1, keepdims=True)
    inside = np.ones(len(corners), bool)
    least = np.inf
    for x, y in ((a, b), (b, c), (c, a)):
        inside &= (np.cross(n, y - x) * (p - x)).sum(-1) >= 0
        s = np.clip(((p - x) * (y - x)).sum(-1) / ((y - x) ** 2).sum(-1), 0, 1)
        least = min(least, np.linalg.norm(x + s[:, None] * (y - x) - p, axis=1).min())
    height = np.abs(((p - a) * n).sum(-1))
    return min(least, height[inside].min(initial=np.inf))
