"""Rocks: closed meshes, convex or not, with exact mass and inertia, in their principal axes.

A rock is a list of convex pieces. A convex one is a single piece, and any other is made of its
faces, each a piece of three corners: the motion never lets a face pass through the slope, so a
surface is enough. A sphere is one corner with a rounding.
"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from drystone.errors import InputError
from drystone.model.checks import index_rows, integer, number, point_array, positive
from drystone.model.signatures import public
from drystone.rockfall.mesh_files import load_mesh
from drystone.shapes.hull_faces import hull_triangles
from drystone.shapes.mass_properties import polyhedron_mass, principal_axes
from drystone.shapes.mesh_repair.repair import oriented_faces

DENSITY = 2670.0  # [kg/m³] the usual assumption of the field for rock

# Share of the volume that a mesh may lack of its hull and still be convex: rounding of files.
CONVEX = 1e-6

# Share of the size: corners of a hull nearer than this are one.
MERGE = 1e-6

# Radii of rocks [m]: from dust to mountains, and far from where moments (lengths to the fifth
# power) leave the floats.
SMALLEST, LARGEST = 1e-9, 1e9


@public
@dataclass(frozen=True, eq=False)
class Rock:
    """A rock, its corners about the centre of mass in principal axes.

    `axes` (3, 3) has the principal axes as columns, in the frame in which the rock was given;
    `centre` (3,) is the centre of mass in that frame.
    """

    vertices: np.ndarray  # (n, 3) [m]
    faces: np.ndarray  # (f, 3) outward; (0, 3) for a sphere
    density: float  # [kg/m³]
    volume: float  # [m³]
    inertia: np.ndarray  # (3,) principal moments [kg m²]
    convex: bool = True
    rounding: float = 0.0  # [m] radius of a sphere about its only corner, else 0
    centre: np.ndarray | None = None
    axes: np.ndarray | None = None

    @property
    def mass(self) -> float:
        """[kg]"""
        return self.density * self.volume

    @property
    def radius(self) -> float:
        """Of the smallest sphere about the centre of mass that holds the rock [m]."""
        return float(np.linalg.norm(self.vertices, axis=1).max()) + self.rounding

    @classmethod
    def sphere(cls, diameter: float, density: float = DENSITY) -> "Rock":
        """A true sphere."""
        radius = _usual("Rock.sphere", 0.5 * positive("Rock.sphere: diameter", diameter))
        density = positive("Rock.sphere: density", density, "kg/m³")
        volume = 4.0 / 3.0 * np.pi * radius**3
        inertia = np.full(3, 0.4 * density * volume * radius**2)
        none = np.zeros((0, 3), dtype=np.int32)
        return cls(
            np.zeros((1, 3)), none, density, volume, inertia, True, radius, np.zeros(3), np.eye(3)
        )

    @classmethod
    def ellipsoid(
        cls, x: float, y: float, z: float, density: float = DENSITY, finer: int = 2
    ) -> "Rock":
        """An ellipsoid of full axes x, y, z [m]: 42, 162, 642 corners for finer 1, 2, 3."""
        from trimesh.creation import icosphere

        finer = integer("Rock.ellipsoid: finer", finer, 0, 6)  # 6: 40,962 corners
        points = np.array(icosphere(subdivisions=finer, radius=1.0).vertices)
        return cls.hull(0.5 * points * _sizes("Rock.ellipsoid", x, y, z), density)

    @classmethod
    def block(cls, x: float, y: float, z: float, density: float = DENSITY) -> "Rock":
        """A box of full sides x, y, z [m]."""
        corners = np.array([[i, j, k] for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)])
        return cls.hull(0.5 * corners * _sizes("Rock.block", x, y, z), density)

    @classmethod
    def chamfered(
        cls, x: float, y: float, z: float, density: float = DENSITY, cut: float = 0.3
    ) -> "Rock":
        """A box of full sides x, y, z [m], its edges cut back by the share `cut`: 24 corners."""
        if not 0.0 < number("Rock.chamfered: cut", cut) < 1.0:
            raise InputError(f"Rock.chamfered: cut is {cut}, must be above 0 and below 1.")
        sides = np.array([[i, j, k] for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)], float)
        points = []
        for axis in range(3):
            corner = sides * (1.0 - cut)
            corner[:, axis] = sides[:, axis]
            points.append(corner)
        return cls.hull(0.5 * np.vstack(points) * _sizes("Rock.chamfered", x, y, z), density)

    @classmethod
    def platy(cls, size: float, density: float = DENSITY, ratio: float = 0.4) -> "Rock":
        """A plate with rounded-off edges: sides size, size and ratio * size [m]."""
        size = positive("Rock.platy: size", size)
        return cls.chamfered(size, size, positive("Rock.platy: ratio", ratio, "") * size, density)

    @classmethod
    def elongated(cls, size: float, density: float = DENSITY, ratio: float = 0.5) -> "Rock":
        """A column with rounded-off edges: sides size, ratio * size and ratio * size [m]."""
        size = positive("Rock.elongated: size", size)
        width = positive("Rock.elongated: ratio", ratio, "") * size
        return cls.chamfered(size, width, width, density)

    @classmethod
    def hull(cls, points: ArrayLike, density: float = DENSITY) -> "Rock":
        """The convex hull of `points` (n, 3) [m], a scan for one."""
        points = point_array("Rock.hull: points", points, 4)
        size = float(np.linalg.norm(np.ptp(points, axis=0)))
        vertices, faces = hull_triangles(points, MERGE * size)
        return cls._closed("Rock.hull", vertices, faces, density, True)

    @classmethod
    def mesh(cls, vertices: ArrayLike, faces: ArrayLike, density: float = DENSITY) -> "Rock":
        """A closed mesh of outward triangles `faces` (f, 3), convex or not."""
        vertices = point_array("Rock.mesh: vertices", vertices, 4)
        faces = index_rows("Rock.mesh: faces", faces, len(vertices)).astype(np.int32)
        _check_closed(faces, len(vertices))
        volume = polyhedron_mass(vertices, faces).volume
        if volume < 0.0:
            raise InputError("Rock.mesh: its faces point inward; turn their corners round.")
        whole = cls.hull(vertices, density)
        if abs(whole.volume - volume) <= CONVEX * whole.volume:
            return whole
        return cls._closed("Rock.mesh", vertices, faces, density, False)

    @classmethod
    def from_file(cls, path: str | Path, density: float = DENSITY, scale: float = 1.0) -> "Rock":
        """A closed mesh from an OBJ, STL or PLY file; lengths times `scale` are metres."""
        loaded = load_mesh(path, force="mesh", process=True)
        if not len(getattr(loaded, "faces", ())):
            raise InputError(f"{path}: has no triangles; give a mesh file (OBJ, STL or PLY).")
        point_array(f"Vertices of {path}", loaded.vertices, 4)
        if loaded.faces.min() < 0 or loaded.faces.max() >= len(loaded.vertices):
            raise InputError(f"{path}: a triangle names a vertex that there is not.")
        vertices = np.array(loaded.vertices)
        faces = oriented_faces(vertices, np.array(loaded.faces))
        return cls.mesh(vertices * positive("scale", scale), faces, density)

    @classmethod
    def _closed(cls, what: str, vertices, faces, density: float, convex: bool) -> "Rock":
        density = positive(f"{what}: density", density, "kg/m³")
        _usual(what, 0.5 * float(np.ptp(vertices, axis=0).max()))
        whole = polyhedron_mass(vertices, faces)
        moments, axes = principal_axes(whole.inertia)
        own = np.ascontiguousarray((vertices - whole.centre) @ axes)
        return cls(
            own, np.asarray(faces, np.int32), density, whole.volume, density * moments, convex,
            0.0, whole.centre, axes,
        )  # fmt: skip

    def scaled(self, factor: float) -> "Rock":
        """The same shape and density, all lengths times `factor`."""
        f = positive("Rock.scaled: factor", factor, "")
        _usual("Rock.scaled", f * self.radius)
        return replace(
            self, vertices=self.vertices * f, volume=self.volume * f**3,
            inertia=self.inertia * f**5, rounding=self.rounding * f, centre=self.centre * f,
        )  # fmt: skip

    def with_volume(self, volume: float) -> "Rock":
        """The same shape and density with that volume [m³]."""
        return self.scaled((positive("Rock: volume", volume, "m³") / self.volume) ** (1.0 / 3.0))


def _usual(what: str, radius: float) -> float:
    """`radius`, if it is one that a rock can have."""
    if not SMALLEST <= radius <= LARGEST:
        raise InputError(
            f"{what}: the rock has a radius of {radius:g} m, must be from {SMALLEST:g} to "
            f"{LARGEST:g} m. Check its units."
        )
    return radius


def _sizes(what: str, x, y, z) -> np.ndarray:
    return np.array(
        [positive(f"{what}: {name}", v) for name, v in zip("xyz", (x, y, z), strict=True)]
    )


def _check_closed(faces: np.ndarray, count: int) -> None:
    if faces.ndim != 2 or faces.shape[1] != 3 or len(faces) < 4:
        raise InputError(f"Rock.mesh: faces have shape {faces.shape}, must be (f, 3), f >= 4.")
    if faces.min() < 0 or faces.max() >= count:
        raise InputError(
            f"Rock.mesh: faces name corners {faces.min()} to {faces.max()}, "
            f"but there are {count}, from 0."
        )
    directed = {(int(f[k]), int(f[(k + 1) % 3])) for f in faces for k in range(3)}
    if len(directed) < 3 * len(faces) or any((b, a) not in directed for a, b in directed):
        raise InputError(
            "Rock.mesh: the surface is not closed (an edge has not exactly two faces, one each "
            "way); repair it, or use Rock.hull."
        )


class Rocks(NamedTuple):
    """Many rocks, as compiled code sees them."""

    vertex: np.ndarray  # (n, 3) corners, piece by piece [m]
    edge: np.ndarray  # (e, 2) int32 corners of edges, piece by piece
    piece_vertex: np.ndarray  # (pieces + 1,) int32 first corner of a piece
    piece_edge: np.ndarray  # (pieces + 1,) int32
    piece_ball: np.ndarray  # (pieces, 5) centre and radius of a ball about it, then its reach [m]
    pieces: np.ndarray  # (rocks, 2) int32 first piece of a rock, and the one after its last
    body: np.ndarray  # (rocks, 7) mass [kg], three moments [kg m²], radius, rounding [m], area [m²]


def pack_rocks(rocks) -> Rocks:
    """Arrays of a list of rocks; a shape that comes many times over is stored once."""
    shapes = {id(rock): rock for rock in rocks}
    parts = [_pieces(rock) for rock in shapes.values()]
    corners = [c for vertices, _, _ in parts for c in vertices]
    piece_vertex = np.concatenate(([0], np.cumsum([len(c) for c in corners]))).astype(np.int32)
    edges = [e for _, edges, _ in parts for e in edges]
    piece_edge = np.concatenate(([0], np.cumsum([len(e) for e in edges]))).astype(np.int32)
    moved = [e + first for e, first in zip(edges, piece_vertex, strict=False)]
    last = np.cumsum([len(vertices) for vertices, _, _ in parts])
    span = {key: (n - len(part[0]), n) for key, n, part in zip(shapes, last, parts, strict=True)}
    body = [[r.mass, *r.inertia, r.radius, r.rounding, _area(r)] for r in rocks]
    return Rocks(
        np.ascontiguousarray(np.vstack(corners)),
        np.ascontiguousarray(np.vstack(moved), dtype=np.int32),
        piece_vertex,
        piece_edge,
        np.ascontiguousarray(np.vstack([balls for _, _, balls in parts])),
        np.array([span[id(rock)] for rock in rocks], dtype=np.int32),
        np.array(body, dtype=np.float64),
    )


def _area(rock: Rock) -> float:
    """Cross section of the sphere of the same volume [m²]."""
    return float(np.pi * (0.75 * rock.volume / np.pi) ** (2.0 / 3.0))


def _pieces(rock: Rock):
    """Corners and edges of each piece, and (pieces, 5) balls."""
    if rock.convex:
        corners, edges = [rock.vertices], [_edges(rock.faces)]
    else:
        ring = np.array([[0, 1], [1, 2], [2, 0]], dtype=np.int32)
        corners = [rock.vertices[face] for face in rock.faces]
        edges = [ring] * len(corners)
    balls = np.empty((len(corners), 5))
    for ball, points in zip(balls, corners, strict=True):
        ball[:3] = points.mean(axis=0) if not rock.convex else 0.0
        ball[3] = np.linalg.norm(points - ball[:3], axis=1).max() + rock.rounding
        ball[4] = np.linalg.norm(points, axis=1).max()
    return corners, edges, balls


def _edges(faces: np.ndarray) -> np.ndarray:
    pairs = np.vstack([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    return np.unique(np.sort(pairs, axis=1), axis=0).astype(np.int32).reshape(-1, 2)
