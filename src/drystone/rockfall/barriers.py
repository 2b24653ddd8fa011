"""Barriers: panels that take energy when a centre of mass crosses them, and walls that are hit.

A crossing barrier (ROCFALL 4.2) stands along a line on the ground. It is cut into upright panels
so short that their feet follow the ground. Where a centre of mass crosses a panel below its top,
the barrier takes translational energy up to its capacity; above the top it was overtopped.

A contact barrier is a rigid wall with a thickness: its triangles join those of the slope, and a
rock collides with them as with the slope, with a material of their own.
"""

from typing import NamedTuple

import numpy as np

from drystone.errors import InputError
from drystone.rockfall.extra import load

MITRE = 4.0  # times half the thickness: no corner of a wall reaches out farther, however sharp
DEPTH = 1.0  # [m] that a wall reaches below the lowest ground along it, so that no gap opens


class Barriers(NamedTuple):
    """Barriers panel by panel, local coordinates: crossing barriers first, then walls."""

    foot_a: np.ndarray  # (n, 3) one foot of a panel, on the ground [m]
    foot_b: np.ndarray  # (n, 3) the other
    height: np.ndarray  # (n,) of the panel, upright [m]
    barrier: np.ndarray  # (n,) int32, row of `capacity`; larger numbers are walls
    capacity: np.ndarray  # (k,) energy it can take from one rock [J]; inf stops every rock
    wall_first: int = 0  # walls are the last triangles that rocks meet, from this one on
    wall: np.ndarray = np.empty(0, np.int32)  # (w,) int32 barrier of each of these triangles


class Walls(NamedTuple):
    """Contact barriers as triangles, local coordinates; rows count from 0."""

    vertices: np.ndarray  # (n, 3) [m]
    triangles: np.ndarray  # (m, 3) int32, outward
    barrier: np.ndarray  # (m,) int32, which barrier each triangle belongs to


def build_barriers(slope, lines, height, capacity) -> Barriers:
    """Panels of crossing barriers along local lines (n, 2), one per barrier."""
    feet_a, feet_b, tall, owner = [], [], [], []
    for k, line in enumerate(lines):
        feet = drape(slope, line)
        feet_a.append(feet[:-1])
        feet_b.append(feet[1:])
        tall.append(np.full(len(feet) - 1, float(height[k])))
        owner.append(np.full(len(feet) - 1, k, dtype=np.int32))
    return Barriers(
        np.concatenate([np.empty((0, 3)), *feet_a]),
        np.concatenate([np.empty((0, 3)), *feet_b]),
        np.concatenate([np.empty(0), *tall]),
        np.concatenate([np.empty(0, np.int32), *owner]),
        np.array(capacity, dtype=np.float64).reshape(-1),
    )


def drape(slope, line: np.ndarray) -> np.ndarray:
    """(n, 3) points along a local line, on the ground, no farther apart than its vertices are."""
    shapely = load("shapely", "Geometry")
    dense = shapely.segmentize(shapely.LineString(line[:, :2]), slope.spacing)
    points = shapely.get_coordinates(dense)
    z = slope.height(points[:, 0], points[:, 1])
    lost = np.flatnonzero(np.isnan(z))
    if len(lost):
        x, y = points[lost[0]] + slope.origin[:2]
        raise InputError(
            f"the line leaves the ground at x = {x:.10g}, y = {y:.10g}: there is a hole or the end "
            f"of {slope.name}. Shorten the line or mend the terrain."
        )
    return np.column_stack([points, z])


def build_walls(slope, lines, height, thickness) -> Walls:
    """Closed walls along local lines (n, 2), one per barrier."""
    vertices, triangles, owner, count = [np.empty((0, 3))], [np.empty((0, 3), np.int32)], [], 0
    for k, line in enumerate(lines):
        points, faces = _wall(drape(slope, line), float(height[k]), float(thickness[k]))
        vertices.append(points)
        triangles.append(faces + np.int32(count))
        owner.append(np.full(len(faces), k, dtype=np.int32))
        count += len(points)
    return Walls(
        np.concatenate(vertices),
        np.concatenate(triangles),
        np.concatenate([np.empty(0, np.int32), *owner]),
    )


def _wall(feet: np.ndarray, height: float, thickness: float):
    """Corners in rows of four (left and right foot, left and right top) and outward triangles."""
    side = 0.5 * thickness * _mitres(feet[:, :2])
    bottom = np.full(len(feet), feet[:, 2].min() - DEPTH)
    top = feet[:, 2] + height
    left, right = feet[:, :2] + side, feet[:, :2] - side
    rows = np.stack(
        [
            np.column_stack([left, bottom]), np.column_stack([right, bottom]),
            np.column_stack([left, top]), np.column_stack([right, top]),
        ],
        axis=1,
    )  # fmt: skip
    quads = [[0, 2, 6, 4], [1, 5, 7, 3], [2, 3, 7, 6], [0, 4, 5, 1]]  # left, right, top, bottom
    first = 4 * np.arange(len(feet) - 1)
    last = 4 * (len(feet) - 1)
    faces = [np.array(quad) + first[:, None] for quad in quads]
    faces += [np.array([[0, 1, 3, 2]]), np.array([[last, last + 2, last + 3, last + 1]])]
    quad = np.concatenate(faces)
    triangles = np.concatenate([quad[:, [0, 1, 2]], quad[:, [0, 2, 3]]]).astype(np.int32)
    return rows.reshape(-1, 3), triangles


def _mitres(line: np.ndarray) -> np.ndarray:
    """(n, 2) to the left of a line, as long as offset lines of distance 1 need to meet."""
    along = np.diff(line, axis=0)
    along /= np.linalg.norm(along, axis=1)[:, None]
    left = np.column_stack([-along[:, 1], along[:, 0]])
    both = np.vstack([left[:1], left]) + np.vstack([left, left[-1:]])
    square = np.einsum("ij,ij->i", both, both)
    if (square < 1e-12).any():
        raise InputError("the line turns back on itself; a wall cannot.")
    mitre = 2.0 * both / square[:, None]
    length = np.linalg.norm(mitre, axis=1)
    return mitre * np.minimum(1.0, MITRE / length)[:, None]
