"""The table of structures: what it measures, and what other engines get."""

import numpy as np
import pytest

from drystone.bench.structures import STRUCTURES, as_arrays, structure_rows
from drystone.errors import InputError


def test_a_row_says_whether_it_stands():
    (row,) = structure_rows(["arch"], seconds=0.15)
    assert row["bodies"] == 101
    assert row["missed"] == 0
    assert row["stands"]
    assert row["drift_mm"] < 0.01
    assert 0.4 < row["asleep"] < 1.0


def test_other_engines_get_the_same_boxes():
    scene = as_arrays("jenga", 1.0)
    assert len(scene.mass) == 54
    assert scene.mass == pytest.approx(600 * np.prod(2 * scene.size, axis=1))
    assert scene.steps == 200
    assert as_arrays("arch", 1.0) is None  # its stones are no boxes


def test_unknown_structures_are_refused():
    with pytest.raises(InputError, match="jenga"):
        list(structure_rows(["jinga"]))
    assert {"jenga", "masonry", "dominoes", "arch"} < set(STRUCTURES)
