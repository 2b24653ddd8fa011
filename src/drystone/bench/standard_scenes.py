"""The fixed scenes S1 to S9 as plain arrays, the same numbers for us and for every peer.

SI units, z up, friction 0.5, restitution 0, steps of 1/200 s, the ground is the plane z = 0.
Every body frame sits at the centre of mass and along principal axes. The scenes are those on
which published comparisons of engines agree: resting box, stack, wall, falling piles, mass ratio,
chain. The tori of S7 are meshes of 600 triangles.
"""

import os
from typing import NamedTuple

import numpy as np

from drystone.bench.overlap_measure import TORUS_SECTIONS
from drystone.errors import InputError
from drystone.model.checks import did_you_mean
from drystone.scenes.meshes.revolutions import torus
from drystone.scenes.piles import (
    container_walls,
    grid_positions,
    random_hull_points,
    random_quaternion,
)

DT = 1 / 200  # [s]
FRICTION = 0.5
DENSITY = 1000.0  # [kg/m³]
INNER = 1.2  # half width of the container [m]
SEED, HULL_SEED = 7, 2024
TORUS = 0.1, 0.04  # [m] radii of the ring and of its tube

SUMMARIES = {
    "S1": "one box at rest",
    "S2": "stack of 10 boxes",
    "S3": "pyramid wall of 210 boxes",
    "S4": "1000 spheres fall into a box",
    "S5": "1000 cubes, nearly aligned",
    "S5r": "1000 cubes, any orientation",
    "S6": "1000 random hulls",
    "S7": "500 tori, as meshes",
    "S8": "1000 kg on 1 kg",
    "S9": "chain of 50 links",
}


class StandardScene(NamedTuple):
    """Everything a driver needs, as arrays, so that it travels to a peer as one file."""

    name: str
    kind: str  # "box", "sphere", "hull" or "torus", the same for all bodies
    size: np.ndarray  # (n, 3) half sizes of a box; radius of a sphere; the two radii of a torus
    mass: np.ndarray  # (n,) [kg]
    inertia: np.ndarray  # (n, 3) [kg m²]
    position: np.ndarray  # (n, 3) [m]
    orientation: np.ndarray  # (n, 4)
    walls: np.ndarray  # (w, 2, 3) half sizes and positions of fixed boxes
    vertex: np.ndarray  # (v, 3) corners of all hulls or tori, one after the other
    vertex_first: np.ndarray  # (n + 1,)
    face: np.ndarray  # (f, 3) triangles of all of them, corners numbered within the body
    face_first: np.ndarray  # (n + 1,)
    steps: int
    split: int  # steps before this one are the phase "fall", the rest "settled"; 0: one phase
    dt: float = DT
    chain: bool = False  # links hinged end to end about y that touch nothing, no ground

    def hull(self, b):
        """Corners (v, 3) and triangles (f, 3) of body `b`."""
        corners = self.vertex[self.vertex_first[b] : self.vertex_first[b + 1]]
        return corners, self.face[self.face_first[b] : self.face_first[b + 1]]

    def phases(self):
        """(name, first step, end) of the parts that are timed apart."""
        if not self.split:
            return [("all", 0, self.steps)]
        return [("fall", 0, self.split), ("settled", self.split, self.steps)]

    def save(self, path, parts: bool = False):
        """Write all arrays; `parts`: also the convex parts that peers use for a torus."""
        split = torus_parts() if parts and self.kind == "torus" else {}
        np.savez(path, **self._asdict(), **split)


def standard_scene(name: str, scale: float = 1.0) -> StandardScene:
    """Scene `name`; a `scale` below 1 shortens the run, for trying things out."""
    if name not in SUMMARIES:
        raise InputError(f"There is no benchmark scene {name!r}. {did_you_mean(name, SUMMARIES)}")

    def count(steps):
        return max(10, int(steps * scale))

    if name == "S1":
        return unit_boxes(name, [(0, 0, 0.5)], [1.0], count(2000))
    if name == "S2":
        return unit_boxes(name, [(0, 0, 0.5 + k) for k in range(10)], np.ones(10), count(1000))
    if name == "S3":
        places = [(row, k - (19 - row) / 2) for row in range(20) for k in range(20 - row)]
        wall = [(x * 1.05, 0, 0.5 + row) for row, x in places]
        return unit_boxes(name, wall, np.ones(210), count(500))
    if name == "S8":
        return unit_boxes(name, [(0, 0, 0.5), (0, 0, 1.5)], [1.0, 1000.0], count(1000))
    if name == "S9":
        return hanging_chain(name, 50, count(2000))
    if name == "S7":
        return torus_pile(500, INNER, count(1500), count(1000))
    return pile(name, 1000, INNER, count(1500), count(1000))


def hanging_chain(name, links, steps) -> StandardScene:
    """Links of 0.2 m and 0.2 kg in a line 30 degrees off the vertical, below (0, 0, 12)."""
    a = np.radians(60.0)
    along, rotated = np.array([np.cos(a), 0, -np.sin(a)]), [np.cos(a / 2), 0, np.sin(a / 2), 0]
    position = [0, 0, 12.0] + (0.1 + 0.2 * np.arange(links))[:, None] * along
    size, mass = np.tile([0.1, 0.02, 0.02], (links, 1)), np.full(links, 0.2)
    bodies = "box", size, mass, _box_inertia(size, mass), position, np.tile(rotated, (links, 1))
    return _scene(name, *bodies, np.empty((0, 2, 3)), steps, 0)._replace(chain=True)


def pile(name, bodies, inner, steps, split, per_side=None) -> StandardScene:
    """The pile of kind `name` (S4, S5, S5r, S6), in the original size or with another floor."""
    rng = np.random.default_rng(SEED)
    if name == "S5r":
        position = grid_positions(bodies, per_side or 6, 0.37, rng, 0.01, bottom=0.3)
    else:
        spacing, jitter = (0.23, 0.002) if name == "S5" else (0.22, 0.004)
        position = grid_positions(bodies, per_side or 10, spacing, rng, jitter)
    walls = container_walls(inner, 12.0 if name == "S5r" else 4.0)
    if name == "S4":
        orientation = np.tile([1.0, 0.0, 0.0, 0.0], (bodies, 1))
        size = np.tile([0.1, 0.0, 0.0], (bodies, 1))
        mass = np.full(bodies, DENSITY * 4 / 3 * np.pi * 0.1**3)
        inertia = np.repeat(0.4 * mass[:, None] * 0.1**2, 3, axis=1)
        bodies = "sphere", size, mass, inertia, position, orientation
        return _scene(name, *bodies, walls, steps, split)
    angle = 0.06 if name == "S5" else None
    orientation = np.array([random_quaternion(rng, angle) for _ in range(bodies)])
    if name == "S6":
        return _hull_scene(name, position, orientation, walls, steps, split)
    size = np.full((bodies, 3), 0.1)
    mass = np.full(bodies, DENSITY * 0.008)
    inertia = _box_inertia(size, mass)
    return _scene(name, "box", size, mass, inertia, position, orientation, walls, steps, split)


def torus_pile(bodies, inner, steps, split, per_side=8) -> StandardScene:
    """S7: tori of radii 0.1 and 0.04 m, in any orientation, from a grid into the container."""
    rng = np.random.default_rng(SEED)
    position = grid_positions(bodies, per_side, 0.29, rng, 0.002)
    orientation = np.array([random_quaternion(rng) for _ in range(bodies)])
    vertex, face = torus(*TORUS, *TORUS_SECTIONS)
    mass, inertia = _torus_mass(vertex, face)
    first = np.arange(bodies + 1, dtype=np.int32)
    return StandardScene(
        "S7", "torus", np.tile([*TORUS, 0.0], (bodies, 1)), np.full(bodies, mass),
        np.tile(inertia, (bodies, 1)), position, orientation, container_walls(inner, 4.0),
        np.tile(vertex, (bodies, 1)), first * len(vertex),
        np.tile(face.astype(np.int32), (bodies, 1)), first * len(face), steps, split,
    )  # fmt: skip


def _torus_mass(vertex, face):
    """Mass and principal moments of a mesh about its centre, which is the origin."""
    a, b, c = (vertex[face[:, k]] for k in range(3))
    volume = np.einsum("ni,ni->n", a, np.cross(b, c)) / 6
    total = a + b + c
    squares = sum(p**2 for p in (a, b, c)) + total**2  # 20 times the mean of x², y², z²
    second = DENSITY * (volume[:, None] * squares).sum(axis=0) / 20
    return DENSITY * volume.sum(), second.sum() - second


def unit_boxes(name, position, mass, steps) -> StandardScene:
    """Boxes of 1 m, not rotated, without walls."""
    position, mass = np.array(position, float), np.array(mass, float)
    size = np.full((len(mass), 3), 0.5)
    orientation = np.tile([1.0, 0.0, 0.0, 0.0], (len(mass), 1))
    walls = np.empty((0, 2, 3))
    inertia = _box_inertia(size, mass)
    return _scene(name, "box", size, mass, inertia, position, orientation, walls, steps, 0)


def _box_inertia(half, mass):
    s = (2 * half) ** 2
    sums = np.stack([s[:, 1] + s[:, 2], s[:, 0] + s[:, 2], s[:, 0] + s[:, 1]], axis=1)
    return mass[:, None] / 12.0 * sums


def _scene(name, kind, size, mass, inertia, position, orientation, walls, steps, split):
    none = np.zeros(len(mass) + 1, np.int32)
    empty = np.empty((0, 3)), none, np.empty((0, 3), np.int32), none
    return StandardScene(
        name, kind, size, mass, inertia, position, orientation, walls, *empty, steps, split
    )


def _hull_scene(name, position, orientation, walls, steps, split):
    hulls = standard_hulls()
    copies = np.arange(len(position)) % 1000  # larger piles use the same thousand again
    corners, faces = [hulls[f"v{k}"] for k in copies], [hulls[f"f{k}"] for k in copies]

    def first(parts):
        return np.concatenate([[0], np.cumsum([len(p) for p in parts])]).astype(np.int32)

    return StandardScene(
        name, "hull", np.zeros((len(position), 3)), hulls["mass"][copies], hulls["inertia"][copies],
        position, orientation, walls, np.concatenate(corners), first(corners),
        np.concatenate(faces), first(faces), steps, split,
    )  # fmt: skip


def standard_hulls() -> dict:
    """The thousand hulls of S6, made once and cached in the user's cache folder."""
    return _made_once(f"hulls-{HULL_SEED}.npz", lambda: make_hulls(1000))


def torus_parts() -> dict:
    """Corners of the convex parts of the torus of S7, for engines that know no moving meshes."""
    return _made_once("torus-parts.npz", split_torus)


def split_torus() -> dict:
    """As CoACD splits it with a concavity of 0.05: part_vertex (v, 3), part_first."""
    try:
        import coacd
    except ImportError:
        raise InputError(
            "S7: other engines need the torus in convex parts; pip install 'drystone[bench]'."
        ) from None
    coacd.set_log_level("error")
    mesh = coacd.Mesh(*torus(*TORUS, *TORUS_SECTIONS))
    parts = [corners for corners, _ in coacd.run_coacd(mesh, threshold=0.05, seed=1)]
    first = np.cumsum([0, *map(len, parts)])
    return {"part_vertex": np.concatenate(parts), "part_first": first.astype(np.int32)}


def _made_once(name, make) -> dict:
    """The arrays that `make` returns, from the user's cache folder if they are there."""
    from drystone.jit import cache_folder

    path = cache_folder().parent / name
    try:
        return dict(np.load(path, allow_pickle=False))
    except Exception:  # not there, or damaged
        arrays = make()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(f".{os.getpid()}.part.npz")
        np.savez(part, **arrays)
        part.replace(path)  # complete or not at all, also if two runs meet
    except OSError:  # a folder that cannot be written: made again next time
        pass
    return arrays


def make_hulls(count) -> dict:
    """Hulls of random points at their centre of mass and principal axes: v0, f0, v1, f1, ..."""
    import trimesh
    from scipy.spatial import ConvexHull

    rng = np.random.default_rng(HULL_SEED)
    out, masses, inertias = {}, [], []
    for k in range(count):
        points = random_hull_points(rng)
        hull = ConvexHull(points)
        faces = np.searchsorted(hull.vertices, hull.simplices)
        corner = points[hull.simplices]
        normal = np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])
        inward = np.einsum("fi,fi->f", normal, hull.equations[:, :3]) < 0
        faces[inward] = faces[inward, ::-1]
        mesh = trimesh.Trimesh(points[hull.vertices], faces, process=True)
        mesh.density = DENSITY
        mesh.apply_translation(-mesh.center_mass)
        _, axes = np.linalg.eigh(mesh.moment_inertia)
        if np.linalg.det(axes) < 0:
            axes[:, 0] *= -1
        matrix = np.eye(4)
        matrix[:3, :3] = axes.T
        mesh.apply_transform(matrix)
        mesh.density = DENSITY
        out[f"v{k}"], out[f"f{k}"] = mesh.vertices.astype(float), mesh.faces.astype(np.int32)
        masses.append(float(mesh.mass))
        inertias.append(np.diag(mesh.moment_inertia).copy())
    return out | {"mass": np.array(masses), "inertia": np.array(inertias)}
