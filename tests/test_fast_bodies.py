"""Nothing passes through anything within a step, however fast it moves or turns."""

import numpy as np
import pytest

import drystone as ds
from drystone.bench.shots import KINDS, missed

STEEL = ds.Material(density=7800, friction=0.3, restitution=0.3)
SHOTS = 40  # of each kind


@pytest.mark.parametrize("kind", KINDS)
def test_no_shot_misses(kind):
    assert missed(kind, SHOTS, np.random.default_rng(5)) == 0


def test_without_ccd_a_turning_rod_passes_the_post():
    """What the test above tests is not done by the contacts of the start of a step alone."""
    world = ds.World(gravity=(0, 0, 0), sleeping=False, ccd=False)
    world.add_fixed(ds.Box(0.001, 0.001, 1.0), STEEL, position=(0, 0.3, 0))
    rod = world.add_body(ds.Box(1, 0.01, 0.01), STEEL, spin=(0, 0, 700))
    world.run(2 / 240)
    free = np.allclose(rod.spin, (0, 0, 700))
    world = ds.World(gravity=(0, 0, 0), sleeping=False)
    world.add_fixed(ds.Box(0.001, 0.001, 1.0), STEEL, position=(0, 0.3, 0))
    rod = world.add_body(ds.Box(1, 0.01, 0.01), STEEL, spin=(0, 0, 700))
    stopped = []
    for _ in range(3):
        stopped.append(world.step().stopped)
    assert free and sum(stopped) > 0 and not np.allclose(rod.spin, (0, 0, 700))


def test_slow_bodies_are_not_touched_by_it():
    states = []
    for ccd in (True, False):
        world = ds.World(ccd=ccd)
        world.add_fixed(ds.Plane())
        for k in range(4):
            world.add_body(ds.Box(1, 1, 1), position=(0, 0, 0.6 + 1.1 * k))
        world.run(1.0)
        states.append(np.concatenate([body.position for body in world.bodies]))
    assert (states[0] == states[1]).all()
