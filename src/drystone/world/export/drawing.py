"""What is drawn of a world or a recording: triangles of each shape, colours, poses over time.

Viewer, pages, pictures and files of other programs all draw this.
"""

from typing import NamedTuple

import numpy as np

from drystone.errors import InputError
from drystone.model.arrays import PLANE
from drystone.shapes import matrix_from_quaternion
from drystone.world.export.framed import framed, walls_of

# Colours of bodies in turn (sRGB, 0 to 255); a ball that strikes is of steel.
STONE = ("#b8b0a2", "#a39b8f", "#c9bfae", "#8f8a82", "#b3a593", "#9c948a", "#c2b6a3", "#a89f8d")
STEEL, FIXED, GROUND = "#4f5b69", "#8d9aa5", "#e4e0d8"
FARTHEST = 1e15  # [m] a coordinate in a recording, at most
STRIKERS, THROWN = ("ball", "cue"), "thrown "


class Geometry(NamedTuple):
    """Triangles of one shape, in the frame in which it was given."""

    vertices: np.ndarray  # (3 m, 3) three for each triangle: corners are not shared [m]
    normals: np.ndarray  # (3 m, 3) unit, outwards
    radius: float  # of the sphere about the frame's origin that holds it [m]
    middle: np.ndarray  # (3,) of the box that holds it [m]
    reach: float  # of the sphere about that middle that holds it [m]

    @property
    def faces(self) -> np.ndarray:
        """(m, 3)"""
        return np.arange(len(self.vertices)).reshape(-1, 3)

    def shared(self) -> tuple[np.ndarray, np.ndarray]:
        """Vertices and faces (m, 3) that share the corners in which normals agree: who finds
        normals by himself sees what is round as round, and edges as edges."""
        both = np.hstack([self.vertices / (self.radius or 1.0), self.normals]).round(6)
        _, first, where = np.unique(both, axis=0, return_index=True, return_inverse=True)
        return self.vertices[first], where.reshape(-1, 3)


class Drawing(NamedTuple):
    """Everything that is needed to draw, at each of the frames."""

    geometry: list[Geometry]
    names: list[str]  # of the bodies
    numbers: np.ndarray  # (n,) `Body.number`
    shape: np.ndarray  # (n,) row in `geometry` of each body
    colour: np.ndarray  # (n, 3) 0 to 255
    fixed: list[tuple[int, np.ndarray, str]]  # geometry, pose (7,), name of each fixed thing
    planes: list[tuple[np.ndarray, np.ndarray]]  # point and unit normal of each
    times: np.ndarray  # (frames,) [s]
    pose: np.ndarray  # (frames, n, 7) position and orientation; NaN: not there

    @property
    def bounds(self) -> tuple[np.ndarray, float]:
        """Centre of what is seen, and radius: of nearly all bodies, for one may fly far off."""
        return framed(self)

    @property
    def walls(self) -> set[int]:
        """Rows of `fixed` that stand around something and would hide it: seen through."""
        return walls_of(self)

    def at(self, time: float) -> np.ndarray:
        """(n, 7) poses at `time` [s], between two frames too."""
        k = int(np.searchsorted(self.times, time, side="right")) - 1
        k = min(max(k, 0), len(self.times) - 1)
        if k + 1 >= len(self.times) or time <= self.times[k]:
            return self.pose[k]
        share = (time - self.times[k]) / (self.times[k + 1] - self.times[k])
        return between(self.pose[k], self.pose[k + 1], share)


def between(a: np.ndarray, b: np.ndarray, s: float) -> np.ndarray:
    """(n, 7) the share `s` of the way from poses `a` to `b`; rotations the shorter way.

    Who is not there in one of them (NaN) is as in `a`.
    """
    sign = np.where((a[:, 3:] * b[:, 3:]).sum(axis=1, keepdims=True) < 0.0, -1.0, 1.0)
    out = a + s * (np.hstack([b[:, :3], sign * b[:, 3:]]) - a)
    out[:, 3:] /= np.linalg.norm(out[:, 3:], axis=1, keepdims=True)
    return np.where(np.isnan(out), a, out)


def drawing_of_world(world) -> Drawing:
    """The world as it is now: one frame."""
    pose = np.hstack([world.positions, world.orientations])[None]
    return _drawing(world, world.bodies, np.array([world.time]), pose)


def drawing_of_recording(recording) -> Drawing:
    """All frames of a recording; bodies that come and go are there when they are."""
    if not len(recording):
        raise InputError(f"{recording.path}: it has no frame, so there is nothing to draw.")
    bodies = recording.bodies()
    row = {number: k for k, number in enumerate(bodies)}
    pose = np.full((len(recording), len(bodies), 7), np.nan)
    for k in range(len(recording)):
        frame = recording.frame(k)
        _check(recording, k, frame.pose)
        pose[k, [row[int(number)] for number in frame.number]] = frame.pose
    return _drawing(recording.start(), list(bodies.values()), recording.times, pose)


def _check(recording, k: int, pose: np.ndarray) -> None:
    """A file of which a part was overwritten still opens: what is no pose cannot be drawn."""
    with np.errstate(all="ignore"):
        length = np.linalg.norm(pose[:, 3:], axis=1)
        right = (np.abs(length - 1.0) < 1e-6) & (np.abs(pose[:, :3]) < FARTHEST).all(axis=1)
    if not right.all():
        raise InputError(
            f"{recording.path}: is damaged: what frame {k} holds of body {int(np.argmin(right))} "
            f"is no pose; record it again."
        )


def _drawing(world, bodies, times, pose) -> Drawing:
    geometry: list[Geometry] = []
    known: dict = {}

    def place_of(shape) -> int:
        key = shape if shape.__hash__ is not None else id(shape)
        if key not in known:
            known[key] = len(geometry)
            geometry.append(triangles(shape))
        return known[key]

    shape = np.array([place_of(body.shape) for body in bodies], dtype=int)
    fixed, planes = [], []
    for thing in world.fixed:
        at, axes = np.array(thing.position), matrix_from_quaternion(thing.orientation)
        for part in thing.shape.parts():
            if part.kind == PLANE:
                planes.append((at + axes @ part.position, axes @ part.rotation[:, 2]))
        if thing.shape.surfaces():
            where = np.concatenate([thing.position, thing.orientation])
            fixed.append((place_of(thing.shape), where, thing.name))
    return Drawing(
        geometry, [body.name for body in bodies], np.array([body.number for body in bodies]), shape,
        np.array([rgb(colour_of(body, k)) for k, body in enumerate(bodies)]).reshape(-1, 3),
        fixed, planes, np.asarray(times, float), pose,
    )  # fmt: skip


def colour_of(body, k: int) -> str:
    strikes = body.name in STRIKERS or body.name.startswith(THROWN)
    return STEEL if strikes else STONE[(7 * k + k // 8) % len(STONE)]


def rgb(colour: str) -> tuple[int, int, int]:
    """(0 to 255) of "#rrggbb"."""
    red, green, blue = (int(colour[k : k + 2], 16) for k in (1, 3, 5))
    return red, green, blue


def triangles(shape) -> Geometry:
    """All surfaces of a shape as triangles with normals, smooth where it is round."""
    corners, normals = [np.zeros((0, 3))], [np.zeros((0, 3))]
    for surface in shape.surfaces():
        vertices = np.asarray(surface.vertices, float)
        faces = _fans(surface.faces)
        points = vertices[faces]
        flat = np.cross(points[:, 1] - points[:, 0], points[:, 2] - points[:, 0])
        size = np.linalg.norm(flat, axis=1)
        faces, points, flat = (part[size > 0.0] for part in (faces, points, flat))
        if surface.smooth:
            total = np.zeros_like(vertices)
            for corner in range(3):
                np.add.at(total, faces[:, corner], flat)  # weighted by area
            each = total[faces]
        else:
            each = np.repeat(flat[:, None], 3, axis=1)
        each = each / np.maximum(np.linalg.norm(each, axis=2, keepdims=True), 1e-300)
        corners.append(points.reshape(-1, 3))
        normals.append(each.reshape(-1, 3))
    vertices = np.concatenate(corners)
    if not len(vertices):
        return Geometry(vertices, vertices, 0.0, np.zeros(3), 0.0)
    middle = (vertices.min(axis=0) + vertices.max(axis=0)) / 2
    radius, reach = (float(np.linalg.norm(vertices - at, axis=1).max()) for at in (0.0, middle))
    return Geometry(vertices, np.concatenate(normals), radius, middle, reach)


def _fans(faces) -> np.ndarray:
    """(m, 3) triangles of polygons."""
    if isinstance(faces, np.ndarray):
        fans = [faces[:, [0, k, k + 1]] for k in range(1, faces.shape[1] - 1)]
        return np.concatenate(fans)
    rows = [(f[0], f[k], f[k + 1]) for f in faces for k in range(1, len(f) - 1)]
    return np.array(rows, dtype=int).reshape(-1, 3)
