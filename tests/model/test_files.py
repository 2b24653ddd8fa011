"""Paths and files: what is no path is named, and nothing is lost when a disk is full."""

import os
from pathlib import Path

import pytest

import drystone as ds
from drystone.model.files import as_path, existing_file, write_file, write_text

NO_PATHS = [None, 3, 2.5, b"", b"a.h5", [], ["a.h5"], {}, True, "", "a\0b", "\ud800", object()]


@pytest.mark.parametrize("value", NO_PATHS, ids=lambda value: type(value).__name__)
@pytest.mark.parametrize(
    "function",
    [
        ds.World.load, ds.World().save, ds.Recording, ds.replay, ds.ContactProblem.load,
        ds.MatrixProblem.load, ds.lcp.load, ds.Mesh.load, ds.Terrain.load,
        lambda path: ds.record(ds.World(), path),
        lambda path: ds.World(checkpoint_folder=[] if path is None else path),
    ],
)  # fmt: skip
def test_what_is_no_path_gets_a_sentence(function, value):
    with pytest.raises(ds.InputError, match="must be a text or a pathlib.Path|not the name of"):
        function(value)


@pytest.mark.parametrize(
    "function",
    [
        ds.World.load, ds.Recording, ds.replay, ds.ContactProblem.load, ds.MatrixProblem.load,
        ds.lcp.load, ds.Mesh.load, ds.Terrain.load,
    ],
)  # fmt: skip
def test_what_is_no_file_gets_a_sentence(tmp_path, function):
    for path in (tmp_path, tmp_path / "none", tmp_path / ("x" * 5000), Path("/dev/null")):
        with pytest.raises(ds.InputError, match="no such file|must be a file|cannot be read"):
            function(path)


def test_folders_and_devices_are_not_replaced(tmp_path):
    with pytest.raises(ds.InputError, match="it is a folder"):
        ds.World().save(tmp_path)
    with pytest.raises(ds.InputError, match="the world cannot be saved there: No space left"):
        ds.World().save("/dev/full")
    assert not Path("/dev/full").is_file()


def test_a_link_is_followed(tmp_path):
    (tmp_path / "there").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "there" / "file")
    write_file(tmp_path / "link", b"new", "it cannot be written")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "there" / "file").read_bytes() == b"new"


def test_an_older_file_outlives_a_failure(tmp_path, monkeypatch):
    path = tmp_path / "a.txt"
    write_text(path, "old")

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ds.InputError, match=r"a.txt: it cannot be written there: No space left"):
        write_text(path, "new")
    assert path.read_text() == "old" and os.listdir(tmp_path) == ["a.txt"]


def test_paths_are_taken_as_they_are(tmp_path):
    assert as_path("a/b") == as_path(Path("a/b")) == Path("a/b")
    (tmp_path / "ä b").write_bytes(b"")
    assert existing_file(str(tmp_path / "ä b")) == tmp_path / "ä b"


@pytest.mark.parametrize(
    "read", [ds.World.load, ds.ContactProblem.load, ds.lcp.load, ds.Robot.load]
)
def test_files_of_gigabytes_of_nothing_are_not_read(tmp_path, read):
    path = tmp_path / "sparse.urdf"
    with open(path, "wb") as file:
        file.truncate(2**33)
    with pytest.raises(ds.InputError, match="8.0 GiB"):
        read(path)
