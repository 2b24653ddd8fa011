"""Which bones of a figure overlap in its clip: they pass through each other in a world."""

import numpy as np

from drystone.world.character.figure import Figure
from drystone.world.character.motion import Motion
from drystone.world.world import World

RATE = 40.0  # poses of a clip that are looked at, a second [Hz]
NEAR = 0.01  # bones that come so near count as overlapping: muscles need some room [m]


def overlapping_pairs(figure: Figure, motion: Motion) -> set[tuple[int, int]]:
    """Pairs of bones, the lower number first."""
    count = len(figure.bones)
    found = {(a, b) for a in range(count) for b in range(a + 1, count) if _meet(figure, a, b)}
    times = np.linspace(0.0, motion.duration, max(round(RATE * motion.duration), 1) + 1)
    sample = motion.at(times)
    world = World(sleeping=False)
    bodies = [world.add_body(b.shape, mass=b.mass, name=b.name) for b in figure.bones]
    radius = np.array(
        [max(np.linalg.norm(p.position) + p.radius for p in b.shape.parts()) for b in figure.bones]
    )
    for i in range(len(times)):
        world.positions, world.orientations = sample.position[i], sample.rotation[i]
        apart = np.linalg.norm(sample.position[i][:, None] - sample.position[i], axis=-1)
        for a, b in zip(*np.nonzero(np.triu(apart < radius[:, None] + radius, 1)), strict=True):
            pair = (int(a), int(b))
            if pair not in found and world.closest_points(bodies[a], bodies[b]).distance < NEAR:
                found.add(pair)
    return found


def _meet(figure: Figure, a: int, b: int) -> bool:
    """Whether two bones hang on each other, or on one bone, or with one bone between them."""
    parents = figure.parents
    return (
        parents[b] == a
        or parents[a] == parents[b]
        or (parents[b] >= 0 and parents[parents[b]] == a)
    )
