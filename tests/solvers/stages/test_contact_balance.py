"""Small islands keep their angular momentum, and what swings on contacts its energy."""

import numpy as np
import pytest

import drystone as ds
from drystone.bench.motion.struck import angular_momentum, hit


@pytest.mark.parametrize("seed", range(4))
def test_bodies_that_touch_nothing_else_keep_their_angular_momentum(seed):
    """Hits with and without restitution and friction, and what comes after them: to rounding."""
    rng = np.random.default_rng(seed)
    for _ in range(8):
        world, speed = hit(rng)
        start = angular_momentum(world)
        world.run(1.2 / speed)
        size = 0.2 * speed * world.bodies[0].mass
        assert np.linalg.norm(angular_momentum(world) - start) < 1e-10 * size


@pytest.mark.parametrize("dt", [1 / 60, 1 / 240])
def test_friction_takes_what_it_takes(dt):
    """A box that slides and spins on a plane: no step has more energy than the one before it, and
    it loses what a body does that is stepped finely."""
    wood, last = ds.Material(density=500, friction=0.3), []
    for step in (dt, 1 / 2000):
        world = ds.World(dt=step, sleeping=False)
        world.add_fixed(ds.Plane(), wood)
        box = world.add_body(
            ds.Box(0.3, 0.2, 0.1), wood, position=(0, 0, 0.05), velocity=(3, 0, 0), spin=(0, 0, 6)
        )
        energy = world.energy().total
        for _ in range(round(0.4 / step)):
            world.step()
            now = world.energy().total
            assert now <= energy * (1 + 1e-12)
            energy = now
        last.append((box.velocity[0], box.spin[2]))
    assert last[0] == pytest.approx(last[1], rel=0.02)
