"""Overlap of bodies in final poses, measured alike for every engine.

    python overlap_measure.py SCENE.npz POSES.npz

Spheres in closed form, boxes and hulls with Coal's signed distance; of tori, which are meshes,
how deep an edge of the one lies in the other. Ground and walls are half spaces. Bodies that left
the container are counted as lost, not measured. Needs NumPy, and Coal (the bench extra) for
boxes and hulls; prints one JSON object, overlaps in millimetres.
"""

import json
import sys

import numpy as np

TORUS_SECTIONS = 25, 12  # corners of the ring, and of its tube
SLACK = 0.05  # [m] beyond the container before a body counts as lost


def matrices(q):
    """Rotation matrices (n, 3, 3) of quaternions (n, 4).

    Not those of model/rotation.py: this file runs alone, under Pythons without Drystone.
    """
    w, x, y, z = q.T
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), 2, 0)


def corners_of(scene, b):
    if scene["kind"] in ("hull", "torus"):
        first = scene["vertex_first"]
        return scene["vertex"][first[b] : first[b + 1]]
    signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    return signs * scene["size"][b]


def near_pairs(position, radius):
    """Pairs of bodies whose bounding spheres touch."""
    from itertools import product

    cells = {}
    for b, cell in enumerate(map(tuple, np.floor(position / (2 * radius.max())).astype(int))):
        cells.setdefault(cell, []).append(b)
    for cell, here in cells.items():
        for shift in product((-1, 0, 1), repeat=3):
            for j in cells.get(tuple(np.add(cell, shift)), ()):
                for i in here:
                    apart = np.linalg.norm(position[i] - position[j])
                    if i < j and apart < radius[i] + radius[j]:
                        yield i, j


def coal_distance(scene):
    """A function (i, j, position, rotation) -> signed distance [m]."""
    import coal  # here, because spheres and single bodies are measured without it

    request, result = coal.DistanceRequest(), coal.DistanceResult()
    request.enable_signed_distance = True
    shapes = {}

    def shape(b):
        if b not in shapes:
            if scene["kind"] == "box":
                shapes[b] = coal.Box(*(2 * scene["size"][b]))
            else:
                points = coal.StdVec_Vec3s()
                points.extend(corners_of(scene, b))
                shapes[b] = coal.Convex.convexHull(points, True, "Qt")
        return shapes[b]

    def distance(i, j, position, rotation):
        result.clear()
        at = [coal.Transform3s(rotation[b], position[b]) for b in (i, j)]
        return coal.distance(shape(i), at[0], shape(j), at[1], request, result)

    return distance


def torus_depth(point, major, minor):
    """How deep points (n, 3) lie in the torus of TORUS_SECTIONS about z; below 0 outside [m].

    Between two of its rings it is a prism across their bisector, on which its profile is a
    polygon; the depth is the distance to the nearest side of that prism.
    """
    rings, corners = TORUS_SECTIONS
    half = np.pi / rings
    sector = np.floor(np.arctan2(point[:, 1], point[:, 0]) / (2 * half))
    middle = (2 * sector + 1) * half
    out = point[:, 0] * np.cos(middle) + point[:, 1] * np.sin(middle)
    side = 2 * np.pi * (np.arange(corners) + 0.5) / corners
    # Normals of the sides of the tube, whose profile is a little narrower across the bisector.
    normal = np.stack([np.cos(side), np.cos(half) * np.sin(side)])
    normal /= np.linalg.norm(normal, axis=0)
    start = 2 * np.pi * np.arange(corners) / corners
    on = np.stack([(major + minor * np.cos(start)) * np.cos(half), minor * np.sin(start)])
    offset = (normal * on).sum(axis=0)
    return (offset - np.outer(out, normal[0]) - np.outer(point[:, 2], normal[1])).min(axis=1)


def torus_distance(scene):
    """A function (i, j, position, rotation) -> minus the deepest overlap, or a gap [m].

    Edges are sampled, and where one comes close sampled finer, to 0.03 mm.
    """
    corner = corners_of(scene, 0)
    face = scene["face"][: scene["face_first"][1]]
    edge = np.unique(np.sort(face[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1), axis=0)
    start, along = corner[edge[:, 0]], corner[edge[:, 1]] - corner[edge[:, 0]]
    major, minor = scene["size"][0, :2]

    def deepest(shift, matrix):
        """Of the edges, moved into the axes of the other torus."""
        p, d = start @ matrix.T + shift, along @ matrix.T
        near = np.hypot(np.hypot(p[:, 0], p[:, 1]) - major, p[:, 2])
        close = near < minor + np.linalg.norm(d, axis=1)
        p, d = p[close], d[close]
        if not len(p):
            return -minor
        middle, width, best = np.full(len(p), 0.5), 0.5, None
        for _ in range(4):
            at = np.clip(middle[:, None] + width * np.linspace(-1, 1, 9), 0.0, 1.0)
            point = p[:, None] + at[:, :, None] * d[:, None]
            depth = torus_depth(point.reshape(-1, 3), major, minor).reshape(at.shape)
            best = depth.argmax(axis=1)
            middle, width = at[np.arange(len(at)), best], width / 4
        return depth.max()

    def distance(i, j, position, rotation):
        relative = rotation[j].T @ rotation[i], rotation[i].T @ rotation[j]
        shift = position[i] - position[j]
        one = deepest(rotation[j].T @ shift, relative[0])
        return -max(one, deepest(-rotation[i].T @ shift, relative[1]))

    return distance


def measure_overlap(scene, position, orientation) -> dict:
    """Worst, 95th percentile and mean overlap of pairs, and worst overlap with ground and walls."""
    if not np.isfinite(position).all():
        return {"lost": len(position)}
    bodies = range(len(position))
    round_shape = scene["kind"] == "sphere"
    rotation = matrices(orientation)
    inner = np.inf
    if len(scene["walls"]):
        half, at = scene["walls"][0]
        inner = abs(at[0]) - half[0]
    inside = (np.abs(position[:, :2]) < inner + SLACK).all(1) & (position[:, 2] > -SLACK)
    if round_shape:
        radius = scene["size"][:, 0]
    else:
        radius = np.array([np.linalg.norm(corners_of(scene, b), axis=1).max() for b in bodies])
    of_kind = torus_distance if scene["kind"] == "torus" else coal_distance
    distance = None
    pairs, fixed = [], []
    for i, j in near_pairs(position, radius):
        if inside[i] and inside[j]:
            if round_shape:
                gap = np.linalg.norm(position[i] - position[j]) - radius[i] - radius[j]
            else:
                distance = distance or of_kind(scene)
                gap = distance(i, j, position, rotation)
            pairs.append(-gap)
    for b in np.flatnonzero(inside):
        reach = radius[b] * np.concatenate([np.eye(3), -np.eye(3)])
        points = position[b] + (reach if round_shape else corners_of(scene, b) @ rotation[b].T)
        fixed.append(max(-points[:, 2].min(), np.abs(points[:, :2]).max() - inner))
    overlap = np.array([d for d in pairs if d > 0]) * 1e3
    return {
        "touching": len(overlap),
        "pair_max_mm": float(overlap.max(initial=0.0)),
        "pair_p95_mm": float(np.percentile(overlap, 95)) if len(overlap) else 0.0,
        "pair_mean_mm": float(overlap.mean()) if len(overlap) else 0.0,
        "fixed_max_mm": 1e3 * max(0.0, *fixed, 0.0),
        "lost": int((~inside).sum()),
    }


if __name__ == "__main__":
    saved = {k: v if v.ndim else v.item() for k, v in np.load(sys.argv[1]).items()}
    poses = np.load(sys.argv[2])
    print(json.dumps(measure_overlap(saved, poses["pos"], poses["quat"])))
