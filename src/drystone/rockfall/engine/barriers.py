"""Barriers: what takes energy when a centre of mass crosses it, and walls that are hit.

A crossing barrier (ROCFALL 4.2) stands along a line on the ground, upright. It is cut into panels
whose feet follow the ground exactly. Where a centre of mass crosses a panel below its top, the
barrier takes translational energy; above the top it was overtopped. Inclined ones and those of any
other form are triangles (ROCFALL 4.2 allows any mesh): whoever goes through one is taken energy,
and who crosses the line of their top above it has overtopped them.

How much a barrier takes is its attenuation: all up to its capacity, or a function of the energy.

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
from drystone.rockfall.terrain.drape import drape

MITRE = 4.0  # times half the thickness: no corner of a wall reaches out farther, however sharp
DEPTH = 1.0  # [m] that a wall reaches below the lowest ground along it, so that no gap opens
STRAIGHT = 1e-7  # [m] that feet of one straight piece may lie beside it, for rounding
# Height of panels that stand for the top of another form: who crosses above their feet got over.
TOP_ONLY = -1.0
MOST_TRIANGLES = 20_000  # of all crossing barriers that are meshes; each is looked at in each step


@public
class Barriers(NamedTuple):
    """Barriers panel by panel, local coordinates: crossing barriers first, then walls."""

    foot_a: np.ndarray  # (n, 3) one foot of a panel, on the ground [m]
    foot_b: np.ndarray  # (n, 3) the other
    height: np.ndarray  # (n,) of the panel, upright [m]; TOP_ONLY
    barrier: np.ndarray  # (n,) int32, row of `capacity`; larger numbers are walls
    capacity: np.ndarray  # (k,) energy it can take from one rock [J]; inf stops every rock
    wall_first: int = 0  # walls are the last triangles that rocks hit, from this one on
    wall: np.ndarray = np.empty(0, np.int32)  # (w,) int32 barrier of each of these triangles
    span: np.ndarray = np.zeros(1, np.int32)  # (s + 1,) first panel of each straight piece
    net: np.ndarray = np.empty((0, 3, 3))  # (m, 3, 3) corners of the triangles of other forms [m]
    net_barrier: np.ndarray = np.empty(0, np.int32)  # (m,) barrier of each
    curve: np.ndarray = np.zeros(1, np.int32)  # (k + 1,) first row of each barrier's attenuation
    attenuation: np.ndarray = np.empty((0, 2))  # (r, 2) energy that comes, and what is taken [J]


class Net(NamedTuple):
    """A crossing barrier, local coordinates."""

    line: np.ndarray  # (k, 2) along its foot
    height: float  # [m] along the net
    capacity: float  # [J]
    inclination: float = 0.0  # from upright to the left of the line [rad]
    mesh: np.ndarray | None = None  # (m, 3, 3) triangles, if it is of any other form
    attenuation: np.ndarray | None = None  # (r, 2) rising energies [J], and what is taken of each


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
    """Panels of upright crossing barriers along local lines (n, 2), one per barrier; then walls.

    first   number of the first triangle of the walls among all that rocks hit
    """
    nets = [Net(*one) for one in zip(lines, height, capacity, strict=True)]
    return join_barriers(slope, nets, walls, first)


def join_barriers(slope, nets: Sequence[Net], walls: Sequence[Wall] = (), first: int = 0):
    """All crossing barriers, then the lines of walls, as kernels see them."""
    rows, triangles, owner = [], [np.empty((0, 3, 3))], [np.empty(0, np.int32)]
    for k, net in enumerate(nets):
        feet, tall, mesh = _formed(slope, net)
        rows.append((k, feet, tall))
        triangles.append(mesh)
        owner.append(np.full(len(mesh), k, dtype=np.int32))
    rows += [(len(nets) + k, drape(slope, w.line), w.height) for k, w in enumerate(walls)]
    mesh = np.concatenate(triangles)
    if len(mesh) > MOST_TRIANGLES:
        raise InputError(
            f"crossing barriers have {len(mesh):,} triangles, must have at most "
            f"{MOST_TRIANGLES:,} together. Simplify their meshes."
        )
    curves = [np.empty((0, 2)) if n.attenuation is None else n.attenuation for n in nets]
    panels = Barriers(
        np.concatenate([np.empty((0, 3)), *(feet[:-1] for _, feet, _ in rows)]),
        np.concatenate([np.empty((0, 3)), *(feet[1:] for _, feet, _ in rows)]),
        np.concatenate([np.empty(0), *(np.full(len(f) - 1, float(h)) for _, f, h in rows)]),
        np.concatenate(
            [np.empty(0, np.int32), *(np.full(len(f) - 1, k, np.int32) for k, f, _ in rows)]
        ),
        np.array([net.capacity for net in nets], dtype=np.float64),
        first,
        join_walls(walls).barrier + np.int32(len(nets)),
        net=mesh,
        net_barrier=np.concatenate(owner),
        curve=np.concatenate([[0], np.cumsum([len(c) for c in curves])]).astype(np.int32),
        attenuation=np.concatenate([np.empty((0, 2)), *curves]),
    )
    return with_spans(panels)


def with_spans(barriers: Barriers) -> Barriers:
    """The same with the straight pieces of its lines, and what older ones lack."""
    count, known = len(barriers.barrier), len(barriers.capacity)
    if len(barriers.curve) != known + 1:
        barriers = barriers._replace(curve=np.zeros(known + 1, np.int32))
    if barriers.span[-1] == count and (count == 0 or len(barriers.span) > 1):
        return barriers
    a, b = barriers.foot_a, barriers.foot_b
    first = [0]
    for i in range(1, count):
        begin = first[-1]
        same = barriers.barrier[i] == barriers.barrier[begin]
        same = same and barriers.height[i] == barriers.height[begin]
        joined = same and np.array_equal(a[i], b[i - 1])
        along = b[i, :2] - a[begin, :2]
        length = np.hypot(*along)
        if not joined or length == 0.0:
            first.append(i)
            continue
        between = b[begin:i, :2] - a[begin, :2]
        beside = np.abs(along[0] * between[:, 1] - along[1] * between[:, 0]) / length
        ahead = np.diff(np.append(between, along[None], axis=0) @ along, prepend=0.0)
        if beside.max() > STRAIGHT or ahead.min() < 0.0:
            first.append(i)
    return barriers._replace(span=np.array([*first, count] if count else [0], dtype=np.int32))


def _formed(slope, net: Net) -> tuple[np.ndarray, float, np.ndarray]:
    """Feet and height of the panels of a crossing barrier, and its triangles."""
    if net.mesh is not None:
        top = net.mesh[:, :, 2].max()
        ground = drape(slope, net.line)
        if top <= ground[:, 2].min():
            raise InputError(
                f"the mesh ends {ground[:, 2].min() - top:.3g} m below the ground. Is it in the "
                f"coordinates of the terrain, heights too?"
            )
        ground[:, 2] = top
        return ground, TOP_ONLY, net.mesh
    feet = drape(slope, net.line)
    if net.inclination == 0.0:
        return feet, net.height, np.empty((0, 3, 3))
    # Along the mitres, so that the net is closed at the corners of its line.
    lean = net.height * np.sin(net.inclination) * mitres(feet[:, :2])
    tops = feet + np.column_stack([lean, np.full(len(feet), net.height * np.cos(net.inclination))])
    a, b, c, d = feet[:-1], feet[1:], tops[1:], tops[:-1]
    mesh = np.concatenate([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)])
    return tops, TOP_ONLY, mesh


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
    line = long_middle(vertices[:, :2]) if line is None else line
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


def long_middle(plan: np.ndarray, flat: bool = False) -> np.ndarray:
    """(2, 2) the middle of the smallest rectangle about points, along it.

    flat   whether they may all lie on a line, as those of an upright sail do
    """
    shapely = load("shapely", "Geometry")
    box = shapely.minimum_rotated_rectangle(shapely.MultiPoint(plan))
    ring = shapely.get_coordinates(box)
    if len(ring) == 2 and flat:
        return ring
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
    side = 0.5 * thickness * mitres(feet[:, :2])
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


def mitres(line: np.ndarray) -> np.ndarray:
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
