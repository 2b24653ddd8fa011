"""Barriers: panels that take energy when a centre of mass crosses them, and walls that are hit.

A crossing barrier (ROCFALL 4.2) stands along a line on the ground. It is cut into upright panels
so short that their feet follow the ground. Where a centre of mass crosses a panel below its top,
the barrier takes translational energy up to its capacity; above the top it was overtopped.

A contact barrier is a rigid wall: its triangles join those of the slope, and a rock collides with
them as with the slope, with a material of their own. It stands along a line with a thickness, or
is a closed mesh. Its line is kept as panels too, so that who got over it is known.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from drystone.errors import InputError
from drystone.model.signatures import public
from drystone.rockfall.optional_packages import load

MITRE = 4.0  # times half the thickness: no corner of a wall reaches out farther, however sharp
DEPTH = 1.0  # [m] that a wall reaches below the lowest ground along it, so that no gap opens


@public
class Barriers(NamedTuple):
    """Barriers panel by panel, local coordinates: crossing barriers first, then walls."""

    foot_a: np.ndarray  # (n, 3) one foot of a panel, on the ground [m]
    foot_b: np.ndarray  # (n, 3) the other
    height: np.ndarray  # (n,) of the panel, upright [m]
    barrier: np.ndarray  # (n,) int32, row of `capacity`; larger numbers are walls
    capacity: np.ndarray  # (k,) energy it can take from one rock [J]; inf stops every rock
    wall_first: int = 0  # walls are the last triangles that rocks hit, from this one on
    wall: np.ndarray = np.empty(0, np.int32)  # (w,) int32 barrier of each of these triangles


class Wall(NamedTuple):
    """A contact barrier, local coordinates."""

    vertices: np.ndarray  # (n, 3) [m]
    triangles: np.ndarray  # (m, 3) int32, outward
    line: np.ndarray  # (k, 2) along it: whoever crosses it has got over the wall
    height: float  # above the ground along its line [m]


class Walls(NamedTuple):
    """All contact barriers as triangles, local coordinates; rows count from 0."""

    vertices: np.ndarray  # (n, 3) [m]
    triangles: np.ndarray  # (m, 3) int32, outward
    barrier: np.ndarray  # (m,) int32, which barrier each triangle belongs to


def build_barriers(slope, lines, height, capacity, walls: Sequence[Wall] = (), first: int = 0):
    """Panels of crossing barriers along local lines (n, 2), one per barrier; then those of walls.

    first   number of the first triangle of the walls among all that rocks hit
    """
    feet_a, feet_b, tall, owner = [], [], [], []
    lines, height = [*lines, *(w.line for w in walls)], [*height, *(w.height for w in walls)]
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
        first,
        join_walls(walls).barrier + np.int32(len(capacity)),
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


def line_wall(slope, line: np.ndarray, height: float, thickness: float) -> Wall:
    """A wall of that height [m] above the ground along a local line (n, 2)."""
    vertices, triangles = _wall(drape(slope, line), height, thickness)
    return Wall(vertices, triangles, line, height)


def mesh_wall(slope, vertices, triangles, line: np.ndarray | None = None) -> Wall:
    """A wall of a closed mesh in local coordinates; triangles outward.

    line   along it; None: the middle of the smallest rectangle about its plan, along it
    """
    triangles = np.ascontiguousarray(triangles, dtype=np.int32)
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    if np.einsum("ij,ij->", a, np.cross(b, c)) < 0.0:
        triangles = np.ascontiguousarray(triangles[:, ::-1])
    line = _long_middle(vertices[:, :2]) if line is None else line
    return Wall(vertices, triangles, line, _height_above(slope, vertices, line))


def _height_above(slope, vertices: np.ndarray, line: np.ndarray) -> float:
    """Of the top of a mesh above the mean ground along its line [m]."""
    top, ground = vertices[:, 2].max(), drape(slope, line)[:, 2]
    if top <= ground.min():
        raise InputError(
            f"the mesh ends {ground.min() - top:.3g} m below the ground. Is it in the coordinates "
            f"of the terrain, heights too?"
        )
    return float(top - ground.mean())


def _long_middle(plan: np.ndarray) -> np.ndarray:
    shapely = load("shapely", "Geometry")
    box = shapely.minimum_rotated_rectangle(shapely.MultiPoint(plan))
    ring = shapely.get_coordinates(box)
    if len(ring) < 5:
        raise InputError("the mesh has no extent in plan: it needs a thickness.")
    middle = 0.5 * (ring[:4] + ring[1:5])
    first, second = middle[[0, 2]], middle[[1, 3]]
    longer = np.linalg.norm(first[1] - first[0]) >= np.linalg.norm(second[1] - second[0])
    return first if longer else second


def join_walls(walls: Sequence[Wall]) -> Walls:
    """The triangles of all walls in one mesh."""
    vertices, triangles, owner, count = [np.empty((0, 3))], [np.empty((0, 3), np.int32)], [], 0
    for k, wall in enumerate(walls):
        vertices.append(wall.vertices)
        triangles.append(wall.triangles + np.int32(count))
        owner.append(np.full(len(wall.triangles), k, dtype=np.int32))
        count += len(wall.vertices)
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
