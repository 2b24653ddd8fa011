"""Figures under a load of 1000 times their lightest part come to rest (NEWTON 6.1)."""

import pytest

from drystone.scenes import SCENES
from drystone.scenes.jointed_figures import LIGHTEST


def build_awake(name, **options):
    """A scene in which nothing may fall asleep: what comes to rest does so by itself."""
    world = SCENES[name].build(**options)
    world._settings = world._settings._replace(sleeping=0)
    return world


@pytest.mark.parametrize("options", [{}, {"ball": True}], ids=["box", "ball"])
@pytest.mark.slow
def test_pain_comes_to_rest(options):
    """Kinetic energy below 1e-4 J, joints closed, the load still on the figure."""
    world = build_awake("pain", **options)
    assert world["load"].mass == pytest.approx(1000 * min(body.mass for body in world.bodies))
    world.run(10.0)
    assert world.energy().kinetic < 1e-4
    assert max(joint.separation for joint in world.joints) < 1e-6
    assert world["load"].position[2] > world["thorax"].position[2] > 0.5


def test_agony_comes_to_rest():
    """The load pulls the figure straight; nothing tears, nothing drops, nothing writhes."""
    world = build_awake("agony")
    start, height = world.energy().total, world["load"].position[2]
    assert world["load"].mass == pytest.approx(1000 * LIGHTEST)
    world.run(10.0)
    assert world.energy().kinetic < 1e-4 and world.energy().total < start
    assert 0.02 < height - world["load"].position[2] < 0.1
    assert max(joint.separation for joint in world.joints) < 1e-6


def test_agony_with_dampers_alone_swings_and_gains_nothing():
    """Without dry friction the load is a pendulum: it slows down, and never writhes."""
    world = build_awake("agony", joint_friction=0.0)
    start = world.energy().total
    world.run(6.0)
    assert world.energy().kinetic < 0.1 and world.energy().total < start
    assert max(joint.separation for joint in world.joints) < 1e-6
