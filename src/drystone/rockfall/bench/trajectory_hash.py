"""Hash of fifty trajectories on a rough slope: whether a change left all bits as they were."""

import hashlib

import numpy as np

from drystone.rockfall.engine.rock import Rock
from drystone.rockfall.engine.roll import Scene, Start, roll_many
from drystone.rockfall.terrain.materials import uniform_surface

ROCKS = 50
POINTS, SPACING = 60, 4.0  # of the terrain, along x and y [m]


def hash_trajectories() -> str:
    """Sixteen hexadecimal digits of all arcs, impacts and ends."""
    rng = np.random.default_rng(5)
    scene = Scene.build(*_terrain(rng), uniform_surface(0.35, 0.6))
    digest = hashlib.sha256()
    for trajectory in roll_many(*_rocks(rng), scene, threads=2):
        for field in trajectory:
            if isinstance(field, np.ndarray | np.void):
                digest.update(field.tobytes())
            else:
                digest.update(repr(field).encode())
    return digest.hexdigest()[:16]


def _terrain(rng):
    """A slope of 37° with waves and noise: vertices and triangles."""
    line = np.arange(POINTS) * SPACING
    x, y = np.meshgrid(line, line, indexing="ij")
    z = 140 - 0.75 * x + 3 * np.sin(x / 11) * np.cos(y / 9) + 0.02 * (y - 120) ** 2 * 0.3
    z = z + rng.normal(size=x.shape) * 0.25
    k = np.arange(POINTS**2).reshape(POINTS, POINTS)
    a, b, c, d = (part.ravel() for part in (k[:-1, :-1], k[1:, :-1], k[1:, 1:], k[:-1, 1:]))
    triangles = np.concatenate([np.column_stack([a, b, c]), np.column_stack([a, c, d])])
    return np.column_stack([x.ravel(), y.ravel(), z.ravel()]), triangles


def _rocks(rng):
    """Rocks of four forms, and where they start."""
    hull = rng.normal(size=(40, 3)) * [0.5, 0.4, 0.3]
    forms = [Rock.block(1.0, 0.8, 0.6), Rock.hull(hull), Rock.sphere(1.0), Rock.platy(1.2)]
    rocks = [forms[k % 4].scaled(rng.uniform(0.6, 1.6)) for k in range(ROCKS)]
    starts = [
        Start(
            (10 + rng.uniform(0, 8), rng.uniform(60, 180), 150 + rng.uniform(0, 5)),
            orientation=tuple(rng.normal(size=4)),
        )
        for _ in range(ROCKS)
    ]
    return rocks, starts
