"""Substeps: chains that crack keep their energy, and what is declined is left as it was found."""

import numpy as np
import pytest

from drystone.bench.fuzz.case import generator_of
from drystone.bench.fuzz.jointed_worlds import random_world, watch
from drystone.bench.motion.joined import chain


@pytest.mark.parametrize("dt", [1 / 60, 1 / 240])
def test_a_chain_that_cracks_loses_nothing(dt):
    """Five links of 50 g pull a ball of 20 kg round: within the last second the links go taut, and
    rotate by up to 200 rad/s. That used to cost 9 J of 138 J."""
    world = chain([0.05] * 5, 20.0, dt=dt)
    start, lost = world.energy().total, 0.0
    for _ in range(round(6.4 / dt)):
        info = world.step()
        assert info.converged and info.joint_error < 1e-6
        lost += info.energy_lost
    assert abs(world.energy().total - start) < 1e-6 * 138.0
    assert lost < 1e-6 * 138.0


def test_a_declined_island_is_as_it_was_found():
    """The secants that took over began with velocities from amid the substeps: this world gained
    0.13 % of its energy in silence."""
    world, size = random_world(generator_of(7117, "joints", 32))
    assert watch(world, size) == ""


def test_a_step_says_what_joints_have_lost():
    """Velocities that do not fit the joints are made to: an impact that costs energy."""
    world = chain([1.0] * 3)
    world.bodies[1].velocity = (0.0, 0.0, 4.0)
    start = world.energy().total
    info = world.step()
    lost = start - world.energy().total
    assert lost > 1.0 and info.converged
    assert info.energy_lost == pytest.approx(lost, rel=1e-6)
    assert world.step().energy_lost < 1e-9


@pytest.mark.parametrize("size", [0.02, 20.0])
def test_a_joint_is_open_at_any_size_alike(size):
    """A joint that is open by 1 % of a link: scaled worlds do the same in scaled time."""
    paths = []
    for length in (1.0, size):
        world = chain([1.0] * 3, length=length, dt=np.sqrt(length) / 240)
        body = world.bodies[1]
        body.position = body.position + (0.0, 0.0, 0.01 * length)
        for _ in range(60):
            world.step()
        paths.append(world.bodies[2].position / length)
    assert np.allclose(*paths, atol=1e-5)
