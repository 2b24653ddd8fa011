"""Starts that overlap the slope are lifted until they touch it, and no farther."""

import numpy as np
import pytest

from drystone.rockfall.engine.lift_start import TOUCH, lift_starts
from drystone.rockfall.engine.records import FAILED, LEFT, VELOCITY
from drystone.rockfall.engine.rock import Rock, pack_rocks
from drystone.rockfall.engine.roll import Start, roll, roll_many, start_table
from rock_scenes import plane

ROCKS = [Rock.block(1.0, 1.0, 0.5), Rock.sphere(0.8), Rock.platy(1.2)]


def lift(rock, height, scene):
    table = start_table([Start((0.3, 0.2, height))])
    return float(lift_starts(pack_rocks([rock]), table, scene.grid, 1)[0])


@pytest.mark.parametrize("depth", [-0.05, 0.01, 0.1, 0.2])
@pytest.mark.parametrize("rock", ROCKS)
def test_the_lift_is_the_depth(rock, depth):
    """On level ground: 0 without an overlap, else the depth and TOUCH of the radius at most."""
    low = rock.vertices[:, 2].min() - rock.rounding
    found = lift(rock, -low - depth, plane(0))
    if depth < 0.0:
        assert found == 0.0
    else:
        assert depth <= found <= depth + 1.001 * TOUCH * rock.radius


def test_lifted_rocks_roll_and_come_to_rest():
    scene, rng = plane(5, 0.2, 0.6), np.random.default_rng(1)
    starts = [Start((0, 0, 0.02), orientation=rng.normal(size=4)) for _ in range(30)]
    for end in (one.end for one in roll_many([ROCKS[0]] * 30, starts, scene, threads=1)):
        assert end["reason"] not in (FAILED, LEFT)
    free = Start((0, 0, 0.6))
    assert roll(ROCKS[0], free, scene).arcs["x"][0] == pytest.approx(free.position)


def test_without_ground_below_a_rock_has_left_at_once():
    """Under the slope, wholly or with its upper half in it, and beside it."""
    scene = plane(0, 0.2, 0.6, size=10.0)
    for position in ((0, 0, -3.0), (0, 0, -0.1), (15.0, 0, 2.0)):
        end = roll(ROCKS[0], Start(position), scene).end
        assert end["t"] == 0.0 and end["reason"] not in (FAILED, VELOCITY)
        assert end["x"] == pytest.approx(position)
