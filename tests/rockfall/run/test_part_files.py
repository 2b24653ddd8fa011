"""Part files: whole or not at all, and damage is found."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drystone.errors import DrystoneError
from drystone.rockfall.engine.records import ARC, END
from drystone.rockfall.run.part_files import (
    DamagedPart,
    pack_part,
    read_part,
    unpack_part,
    write_whole,
)

ARRAYS = {
    "arcs": np.arange(3 * ARC.itemsize / 8).view(ARC),
    "ends": np.zeros(0, END),
    "cells.cell": np.arange(7, dtype=np.int32),
    "table": np.arange(6.0).reshape(2, 3),
}


def test_arrays_come_back_the_same(tmp_path):
    write_whole(tmp_path / "a.part", pack_part(ARRAYS))
    for verify in (True, False):
        back = read_part(tmp_path / "a.part", verify)
        assert list(back) == list(ARRAYS)
        for name, array in ARRAYS.items():
            assert back[name].dtype == array.dtype and back[name].shape == array.shape
            assert back[name].tobytes() == array.tobytes()


def test_same_arrays_same_bytes():
    assert pack_part(ARRAYS) == pack_part({name: array.copy() for name, array in ARRAYS.items()})


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**9), st.integers(1, 255))
def test_any_changed_byte_is_found(place, change):
    content = bytearray(pack_part(ARRAYS))
    content[place % len(content)] ^= change
    with pytest.raises(DamagedPart):
        unpack_part(bytes(content))


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**9))
def test_a_cut_file_is_found(place):
    content = pack_part(ARRAYS)
    with pytest.raises(DamagedPart):
        unpack_part(content[: place % len(content)])


def test_a_failure_leaves_the_old_file_and_no_other(tmp_path, monkeypatch):
    path = tmp_path / "a.part"
    write_whole(path, b"old")

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("drystone.rockfall.run.part_files.os.fsync", full)
    with pytest.raises(DrystoneError, match="the disk is full"):
        write_whole(path, b"new")
    assert path.read_bytes() == b"old" and list(tmp_path.iterdir()) == [path]


def test_a_folder_that_is_none_is_named(tmp_path):
    with pytest.raises(DrystoneError, match="nowhere/a.part could not be written"):
        write_whole(tmp_path / "nowhere" / "a.part", b"")
