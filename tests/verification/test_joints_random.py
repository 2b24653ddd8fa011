"""Random worlds of joints and contacts: energy does not rise and joints close, or a step says so.

`drystone fuzz --only joints --cases 2000` runs more of them.
"""

import numpy as np
import pytest

from drystone.bench.fuzz.jointed_worlds import random_world, watch


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(24))
def test_energy_never_rises_and_joints_stay_closed_or_a_step_says_so(seed):
    assert watch(*random_world(np.random.default_rng(seed))) == ""
