"""Meshes that swing on what carries them keep their energy at long steps."""

import numpy as np
import pytest

from drystone.bench.motion.carried import pin_loss
from drystone.model.rotation import matrix_from_quaternion
from drystone.scenes import find_scene


@pytest.mark.parametrize("sections", [32, pytest.param(128, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "dt", [1 / 60, 0.01, pytest.param(1 / 240, marks=pytest.mark.slow)], ids=["60", "100", "240"]
)
def test_an_arm_on_a_pin_loses_less_than_a_percent_in_four_seconds(dt, sections):
    """Of two meshes, without friction. It lost 2.3 % at 0.01 s, 5.1 % at 1/60 s."""
    assert 0.0 <= pin_loss(dt, sections) < 1.0


def test_no_overlap_is_seen_along_the_bore_of_an_arm_that_leans_in_it():
    """Its play is 0.5 mm; the wedge at one end of the bore had a contact 2.5 mm deep along it."""
    world = find_scene("pinned-pendulum").build(dt=0.01)
    world.remove(world["second arm"])
    arm, deepest = world["first arm"], 0.0
    for _ in range(100):
        deepest = max(deepest, world.step().penetration)
    lean = matrix_from_quaternion(arm.orientation)[:, 1]
    assert deepest < 5e-4 and np.linalg.norm(arm.position) < 2e-3 and abs(lean[1]) > 0.999
