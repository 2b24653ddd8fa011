"""Pairs of the few shapes that leave their fat AABBs: the list is that of a full search."""

import numpy as np

import drystone as ds
from drystone.model.arrays import COUNTER_PAIRS


def pairs_of(world):
    state = world._state
    return state.pair[: state.counter[COUNTER_PAIRS]]


def overlapping(world):
    """Pairs of boxes whose fat AABBs overlap, but for those of two fixed ones; by all pairs."""
    fat, body = world._state.fat_aabb, world._build.model.shapes.body
    planes = ~np.isfinite(fat).all(axis=1)
    lower, upper = fat[:, None, :3] <= fat[None, :, 3:], fat[None, :, :3] <= fat[:, None, 3:]
    both = (lower & upper).all(axis=2) & ~((body[:, None] < 0) & (body[None, :] < 0))
    both[planes] = both[:, planes] = False
    return np.argwhere(np.triu(both, 1)), planes


def test_moved_pairs_are_those_of_a_full_search():
    rng = np.random.default_rng(3)
    world = ds.World(dt=1 / 200, sleeping=False)
    world.add_fixed(ds.Plane())
    world.add_fixed(ds.Box(8, 8, 0.2), position=(0, 0, 0.1))
    for k in range(64):
        size = 2.0 ** rng.uniform(-4, 0)  # cells of several sizes
        place = np.array([k % 4, k // 4 % 4, 1.0 + k // 16]) * 1.1 - (1.6, 1.6, 0)
        world.add_body(ds.Box(size, size, size), position=place, velocity=rng.normal(0, 1, 3))
    few = 0
    for _ in range(120):
        world.step()
        found, (wanted, planes) = pairs_of(world), overlapping(world)
        found = found[~planes[found].any(axis=1)]
        assert np.array_equal(found, wanted)
        few += 0 < world._work.boxes.left.sum() * 8 <= len(planes)
    assert few > 10
