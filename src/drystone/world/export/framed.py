"""What of a scene is looked at: the sphere that a camera frames; walls that would hide it."""

from typing import Any

import numpy as np

from drystone.model.rotation import matrix_from_quaternion, rotation_matrices

LENS = 0.75  # [rad] top to bottom: a longish lens, so that verticals do not lean
MANY = 50.0  # fixed things so many times larger than any body are surroundings, and may reach out
NEARLY_ALL = 98.0  # [%] of the bodies are in the frame, for one may fly far off
FRAMES = 40  # of a recording that are asked where the bodies are
BOX = 36  # corners of the triangles of a box
THIN = 3.0  # times thinner than it is wide: a wall
UPRIGHT = 0.5  # upward part of the normal of a wall, at most
ROOM = 4.0  # half thicknesses between two walls of a container, at least


def framed(drawing: Any, view: Any = None) -> tuple[np.ndarray, float]:
    """Centre and radius [m] of what is worth seeing: nearly all bodies, at most of the times.

    view   from where it is looked at: what is large and lies before the bodies is then framed too
    """
    place, reach = body_balls(drawing)
    fixed = fixed_balls(drawing)
    if not len(place):
        if not len(fixed[1]):
            return np.zeros(3), 1.0
        place, reach, fixed = *fixed, (np.zeros((0, 3)), np.zeros(0))
    low, high = (np.percentile(place, q, axis=0) for q in (100.0 - NEARLY_ALL, NEARLY_ALL))
    centre = (low + high) / 2
    radius = _radius(place, reach, centre)
    # Of what is larger than all bodies together, such as a floor, only the middle.
    at, size = fixed
    shown = size < MANY * max(1e-3, reach.max())
    part = np.where(size <= radius, size, 0.0)[:, None]
    low = np.vstack([low[None], (at - part)[shown]]).min(axis=0)
    high = np.vstack([high[None], (at + part)[shown]]).max(axis=0)
    centre = (low + high) / 2
    away = (np.linalg.norm(at - centre, axis=1) + part[:, 0])[shown]
    radius = max(_radius(place, reach, centre), float(away.max(initial=0.0)), 1e-6)
    if view is None:
        return centre, radius
    eye = centre + radius / np.sin(LENS / 2) * np.array(view) / np.linalg.norm(view)
    for j in range(len(size)):
        if size[j] > radius and j not in drawing.walls and _hides(drawing, j, eye, centre):
            radius = max(float(size[j]), float(np.linalg.norm(at[j] - centre)) + radius)
            centre, eye = at[j], at[j] + (eye - centre)
    return centre, radius


def walls_of(drawing: Any) -> set[int]:
    """Rows of `drawing.fixed` that are thin upright boxes with room between two of them."""
    walls = []  # row, middle, normal, half thickness, half of the shorter side
    for j, (k, where, _) in enumerate(drawing.fixed):
        geometry = drawing.geometry[k]
        if len(geometry.vertices) != BOX:
            continue
        half = np.abs(geometry.vertices - geometry.middle).max(axis=0)
        thin, axes = int(np.argmin(half)), matrix_from_quaternion(where[3:])
        side = float(np.delete(half, thin).min())
        if THIN * half[thin] <= side and abs(axes[2, thin]) <= UPRIGHT:
            middle = where[:3] + axes @ geometry.middle
            walls.append((j, middle, axes[:, thin], float(half[thin]), side))
    nearest = {}  # of each, the gap to the nearest one parallel to it, and which that is
    for j, middle, normal, half, side in walls:
        gaps = []
        for other, place, axis, thick, length in walls:
            apart = place - middle
            along = float(apart @ normal)
            beside = float(np.linalg.norm(apart - along * normal))
            if other != j and abs(normal @ axis) > 0.99 and beside < 0.5 * max(side, length):
                gaps.append((abs(along) - half - thick, other))
        if gaps:
            nearest[j] = min(gaps)
    # Steps of stairs stand side by side, walls of a container apart.
    alone = {j for j, _, _, half, _ in walls if j in nearest and nearest[j][0] > ROOM * half}
    return {j for j in alone if nearest[j][1] in alone}


def body_balls(drawing: Any) -> tuple[np.ndarray, np.ndarray]:
    """Middles (m, 3) and radii of the bodies, at some of the frames."""
    count = len(drawing.times)
    chosen = np.unique(np.linspace(0, count - 1, min(FRAMES, count)).astype(int))
    pose = drawing.pose[chosen].reshape(-1, 7)
    there = ~np.isnan(pose).any(axis=1)
    shape = np.tile(drawing.shape, len(chosen))[there]
    return placed(drawing, pose[there], shape)


def fixed_balls(drawing: Any) -> tuple[np.ndarray, np.ndarray]:
    """Middles (m, 3) and radii of the fixed things."""
    pose = np.array([where for _, where, _ in drawing.fixed]).reshape(-1, 7)
    return placed(drawing, pose, np.array([k for k, _, _ in drawing.fixed], dtype=int))


def placed(drawing: Any, pose: np.ndarray, shape: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Middles (m, 3) and radii of the spheres that hold shapes `shape` at poses (m, 7)."""
    if not len(pose):
        return np.zeros((0, 3)), np.zeros(0)
    middle = np.array([geometry.middle for geometry in drawing.geometry])[shape]
    reach = np.array([geometry.reach for geometry in drawing.geometry])[shape]
    axes = rotation_matrices(pose[:, 3:])
    return pose[:, :3] + np.einsum("nij,nj->ni", axes, middle), reach


def _radius(place: np.ndarray, reach: np.ndarray, centre: np.ndarray) -> float:
    return float(np.percentile(np.linalg.norm(place - centre, axis=1) + reach, NEARLY_ALL))


def _hides(drawing: Any, j: int, eye: np.ndarray, centre: np.ndarray) -> bool:
    """Whether the segment from `eye` to `centre` passes through one of its triangles."""
    k, where, _ = drawing.fixed[j]
    corner = drawing.geometry[k].vertices.reshape(-1, 3, 3)
    axes = matrix_from_quaternion(where[3:])
    start, way = axes.T @ (eye - where[:3]), axes.T @ (centre - eye)
    a, b, c = corner[:, 0], corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0]
    across = np.cross(way, c)
    det = (b * across).sum(axis=1)
    safe = np.where(det == 0.0, np.inf, det)
    s = start - a
    u = (s * across).sum(axis=1) / safe
    q = np.cross(s, b)
    v, t = (q @ way) / safe, (c * q).sum(axis=1) / safe
    hit = (det != 0.0) & (u >= 0.0) & (v >= 0.0) & (u + v <= 1.0)
    return bool((hit & (t > 0.0) & (t < 0.98)).any())
