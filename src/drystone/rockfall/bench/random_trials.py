"""Random rocks on a slope, for measurements: the benchmark and the penetration study share them.

A run is drawn from the seed and its own number alone. Rocks start on ground steeper than STEEP,
chosen by true area, away from the rim; with any orientation, thrown and spinning.
"""

import os
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np

from drystone.errors import InputError
from drystone.rockfall.engine.place_start import set_down
from drystone.rockfall.engine.records import Trajectory
from drystone.rockfall.engine.rock import Rock
from drystone.rockfall.engine.roll import Scene, Start, roll_many
from drystone.rockfall.study.release import random_turn
from drystone.rockfall.study.valley import CELL, CORNER, valley_heights
from drystone.rockfall.terrain.slope import Slope

STEEP = 40.0  # [degrees] where rocks start
RIM = 0.1  # of the extent along each side: where none starts, or it would leave at once
SIZES = 0.6, 2.0  # times the rocks below, which are 1 m long
SPEED, SPIN = 5.0, 5.0  # largest at the start [m/s, rad/s]
RESTITUTION, FRICTION = (0.1, 0.6), (0.3, 0.9)
PLACES = 50  # tried for one rock
ELEVATIONS = Path("terrain") / "avaKot.asc"  # of the folder of data

# An L of three cubes, which is not convex: six corners in plan.
ELL = np.array([[0, 0], [2, 0], [2, 1], [1, 1], [1, 2], [0, 2]], dtype=float)


def _ell() -> Rock:
    bottom = np.column_stack([ELL, np.zeros(6)])
    cap = np.array([[0, 1, 2], [0, 2, 3], [0, 3, 4], [0, 4, 5]])
    side = [[i, (i + 1) % 6, i + 6] for i in range(6)]
    side += [[(i + 1) % 6, (i + 1) % 6 + 6, i + 6] for i in range(6)]
    faces = np.vstack([cap[:, ::-1], cap + 6, side])
    return Rock.mesh(0.5 * np.vstack([bottom, bottom + [0, 0, 1]]), faces)


def _hull(corners: int) -> Rock:
    """A convex rock of exactly so many corners on an ellipsoid of 1 m, 0.8 m and 0.6 m."""
    k = np.arange(corners) + 0.5
    z = 1.0 - 2.0 * k / corners
    around = np.pi * (1.0 + np.sqrt(5.0)) * k  # Fibonacci's spiral: even over the sphere
    flat = np.sqrt(1.0 - z * z)
    points = np.column_stack([flat * np.cos(around), flat * np.sin(around), z])
    return Rock.hull(0.5 * points * [1.0, 0.8, 0.6])


ROCKS = {  # name: how it is made
    "box": lambda: Rock.block(1.0, 0.8, 0.6),
    "hull-20": lambda: _hull(20),
    "hull-100": lambda: _hull(100),
    "platy": lambda: Rock.platy(1.0),
    "sphere": lambda: Rock.sphere(1.0),
    "L": _ell,
}


def default_terrain() -> Path | None:
    """The real elevation model, if the data lie where DRYSTONE_DATA says or beside this folder."""
    folder = os.environ.get("DRYSTONE_DATA") or Path.cwd().parent / "shared" / "data"
    path = Path(folder) / ELEVATIONS
    return path if path.is_file() else None


def read_terrain(path: Path | None) -> Slope:
    """The slope of a grid file in metres, or the synthetic valley for None."""
    if path is None:
        return Slope.from_grid(valley_heights(), CELL, CORNER, name="synthetic valley")
    slope = Slope.from_file(path, crs="local")
    if slope.grid is None:
        raise InputError(f"{path}: is a mesh; give an elevation grid (GeoTIFF, .asc or .xyz).")
    return slope


def resized(slope: Slope, factor: float) -> Slope:
    """The same ground with `factor` times as many nodes along each side, a power of two.

    Coarser: every second node. Finer: a cubic through the four nodes along a line, through two
    where there are no four.
    """
    z, grid = slope.grid.z, slope.grid
    dx, dy = grid.dx / factor, grid.dy / factor
    while factor > 1.0:
        z, factor = _refine(_refine(z).T).T, 0.5 * factor
    while factor < 1.0:
        z, factor = z[::2, ::2], 2.0 * factor
    low = np.array([grid.x0, grid.y0]) + slope.origin[:2]
    return Slope.from_grid(z, (dx, dy), tuple(low), name=slope.name)


def _refine(z: np.ndarray) -> np.ndarray:
    """Rows between the rows."""
    middle = 0.5 * (z[:-1] + z[1:])
    cubic = (9.0 * (z[1:-2] + z[2:-1]) - z[:-3] - z[3:]) / 16.0
    middle[1:-1] = np.where(np.isfinite(cubic), cubic, middle[1:-1])
    fine = np.empty((2 * len(z) - 1, z.shape[1]))
    fine[::2], fine[1::2] = z, middle
    return fine


class Trial(NamedTuple):
    """A run: a rock, how it starts, and what it hits."""

    rock: Rock
    start: Start
    restitution: float
    friction: float


def roll_trials(trials: list[Trial], scene: Scene, **options) -> list[Trajectory]:
    """Trajectories of trials on the ground of `scene`, each with its own material."""
    values = [[[getattr(t, name)] for t in trials] for name in ("restitution", "friction")]
    rocks, starts = [t.rock for t in trials], [t.start for t in trials]
    return roll_many(rocks, starts, scene, materials=values, **options)


class Trials:
    """Runs on a slope, each from the seed and its number alone."""

    def __init__(self, slope: Slope, kinds=tuple(ROCKS), seed: int = 1):
        self.slope, self.seed = slope, seed
        self.shapes = [ROCKS[kind]() for kind in kinds]

    @cached_property
    def _source(self):
        """Steep triangles inside the rim: corners, normals, and areas summed up."""
        slope = self.slope
        vectors = slope.area_vectors()
        area = np.linalg.norm(vectors, axis=1)
        low, high = slope.bounds
        middle = slope.vertices[slope.triangles].mean(axis=1)
        inner = (np.abs(middle - 0.5 * (low + high)) < (0.5 - RIM) * (high - low))[:, :2]
        steep = vectors[:, 2] < np.cos(np.radians(STEEP)) * area
        chosen = np.flatnonzero(steep & inner.all(axis=1))
        if not len(chosen):
            raise InputError(f"{slope.name}: nowhere is it steeper than {STEEP:g} degrees.")
        normal = vectors[chosen] / area[chosen, None]
        return slope.vertices[slope.triangles[chosen]], normal, np.cumsum(area[chosen])

    def draw(self, run: int) -> Trial:
        rng = np.random.default_rng([self.seed, run])
        rock = self.shapes[run % len(self.shapes)].scaled(rng.uniform(*SIZES))
        place, normal = self._place(rng, rock.radius)
        velocity = rng.normal(size=3)
        velocity *= rng.uniform(0.0, SPEED) / np.linalg.norm(velocity)
        spin = rng.normal(size=3)
        spin *= rng.uniform(0.0, SPIN) / np.linalg.norm(spin)
        # Not into the ground: it would be the first impact.
        velocity -= min(velocity @ normal, 0.0) * normal
        start = Start(place, velocity, random_turn(*rng.uniform(size=3)), spin)
        return Trial(rock, start, rng.uniform(*RESTITUTION), rng.uniform(*FRICTION))

    def _place(self, rng, radius: float):
        corners, normals, upto = self._source
        for _ in range(PLACES):
            k = int(np.searchsorted(upto, rng.uniform(0.0, upto[-1])))
            a, b = rng.uniform(size=2)
            if a + b > 1.0:
                a, b = 1.0 - a, 1.0 - b
            p, q, r = corners[k]
            centre = set_down(self.slope, p + a * (q - p) + b * (r - p), normals[k], radius)
            if centre is not None:
                return centre, normals[k]
        raise InputError(f"{self.slope.name}: no place for a rock of radius {radius:.2g} m.")
