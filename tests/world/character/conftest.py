"""Clips that the tests share: made of formulas, and of people where the folder of data is there."""

import pytest

from drystone.world.character.clips.walking import walk_on_the_spot
from shared_data import DATA

MOCAP = DATA / "mocap"
CMU = sorted(MOCAP.glob("*.bvh"))


@pytest.fixture
def walk():
    return walk_on_the_spot(1.1)


@pytest.fixture(params=["02_01", "16_01"])
def captured(request):
    """A clip of the CMU database, without its first frame, which is a T pose."""
    import drystone as ds

    path = MOCAP / f"{request.param}.bvh"
    if not path.exists():
        pytest.skip(f"{path} is not there: clips of the CMU database")
    return ds.Clip.load(path).trimmed(start=0.009)
