"""Substeps: chains that crack keep their energy, and what is declined is left as it was found."""

import pytest

import drystone as ds
from drystone.bench.fuzz.case import generator_of
from drystone.bench.fuzz.jointed_worlds import random_world, watch
from drystone.bench.motion.joined import chain
from drystone.constraints.joint_rows import BY_RATTLE


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


@pytest.mark.parametrize("size", [0.02, 1.0, 20.0])
@pytest.mark.parametrize("share, smooth", [(0.01, False), (1e-4, True)])
def test_a_joint_is_open_at_any_size_alike(size, share, smooth):
    """RATTLE declines what is open by more than a thousandth of a body, not by a millimetre."""
    world = ds.World(dt=1e-3, sleeping=False, gravity=(0, 0, 0))
    shape = ds.Box(size, 0.1 * size, 0.1 * size)
    a, b = (world.add_body(shape, position=(x * size, 0, 0), mass=1.0, mask=0) for x in (0, 1))
    world.add_joint(ds.Ball(a, b, (0.5 * size, 0, 0)))
    world.step()
    b.position = b.position + (0.0, 0.0, share * size)
    world.step()
    assert (world._joint_work.done[0] == BY_RATTLE) == smooth
    assert world.info.joint_error < 1e-6 * size
