"""Where a run writes: what others have there stays, and only what a run made is removed."""

import json
import shutil

import pytest

pytest.importorskip("pyarrow")
pytest.importorskip("rasterio")
pytest.importorskip("pyogrio")

from drystone.errors import InputError  # noqa: E402
from drystone.rockfall.run import montecarlo, result_folder  # noqa: E402
from fake_runs import digests, run  # noqa: E402


def contents(folder):
    return {p: p.read_bytes() if p.is_file() else None for p in sorted(folder.rglob("*"))}


@pytest.mark.parametrize(
    "name", ["parts/mine.txt", "parts/chunk-000000.part", "rasters/mine.tif", "runs.parquet",
             "figures/a.png", "report.html", "statistics.json"],
)  # fmt: skip
def test_files_that_no_run_made_are_neither_removed_nor_overwritten(tmp_path, name):
    out = tmp_path / "out"
    (out / name).parent.mkdir(parents=True)
    (out / name).write_text("mine")
    before = contents(tmp_path)
    for resume in (False, True):
        with pytest.raises(InputError, match=f"holds {name.partition('/')[0]} that no run has"):
            run(out, count=20, resume=resume)
        assert contents(tmp_path) == before


def test_other_files_beside_the_results_stay(tmp_path):
    out = tmp_path / "out"
    (out / "parts").mkdir(parents=True)  # empty, and not of a run
    (out / "notes.txt").write_text("mine")
    run(out, count=20)
    assert (out / "notes.txt").read_text() == "mine"
    assert list((out / "parts").iterdir()) == []


def test_files_that_came_into_the_folder_of_the_parts_stay(tmp_path, monkeypatch):
    out = tmp_path / "out"
    merge = montecarlo.merge_parts

    def add(*arguments):
        (out / "parts" / "mine.part").write_text("mine")
        merge(*arguments)

    monkeypatch.setattr(montecarlo, "merge_parts", add)
    run(out, count=20)
    assert [path.name for path in (out / "parts").iterdir()] == ["mine.part"]


def test_a_folder_that_is_a_file_is_named(tmp_path):
    (tmp_path / "out").write_text("mine")
    with pytest.raises(InputError, match="out is a file"):
        run(tmp_path / "out", count=20)
    assert (tmp_path / "out").read_text() == "mine"


def interrupted(out, monkeypatch, **study):
    def stop(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(montecarlo, "merge_parts", stop)
        with pytest.raises(KeyboardInterrupt):
            run(out, **study)


def test_a_run_begun_before_there_was_a_marker_is_resumed(tmp_path, monkeypatch):
    """Its parts go, the folder stays: who made that is not known."""
    out = tmp_path / "out"
    interrupted(out, monkeypatch, count=60)
    (out / "parts" / result_folder.MARKER).unlink()
    (out / "parts" / "chunk-000001.part").unlink()
    run(out, count=60, resume=True)
    run(tmp_path / "alone", count=60)
    assert digests(out) == digests(tmp_path / "alone")
    assert list((out / "parts").iterdir()) == []


def test_a_run_killed_before_it_removed_its_parts_removes_them_the_next_time(tmp_path, monkeypatch):
    out = tmp_path / "out"
    interrupted(out, monkeypatch, count=60)
    (out / "parts" / ".chunk-000002.part.4711.tmp").write_bytes(b"half")
    shutil.copytree(out / "parts", tmp_path / "parts")
    run(out, count=60, resume=True)
    assert not (out / "parts").exists()
    shutil.copytree(tmp_path / "parts", out / "parts")
    before = digests(tmp_path / "parts")
    assert len(before) == 6  # four parts, a half one, the marker
    run(out, count=60)
    assert not (out / "parts").exists()


@pytest.mark.parametrize(
    "text", ["[1, 2]", "{}", '{"format": 1, "study": 7}', "not json", "[" * 9999]
)
def test_a_manifest_that_is_none_is_refused_and_stays(tmp_path, text):
    out = tmp_path / "out"
    out.mkdir()
    (out / "manifest.json").write_text(text)
    with pytest.raises(InputError, match="manifest.json .*(another|Delete)"):
        run(out, count=20)
    assert (out / "manifest.json").read_text() == text


def test_the_marker_says_what_it_is(tmp_path, monkeypatch):
    out = tmp_path / "out"
    interrupted(out, monkeypatch, count=20)
    assert "Drystone" in (out / "parts" / result_folder.MARKER).read_text()
    assert json.loads((out / "manifest.json").read_text())["finished"] is False


@pytest.mark.parametrize("out", [None, 7, "", "a\0b"])
def test_what_is_no_path_is_refused(out):
    with pytest.raises(InputError, match="out is .*path"):
        run(out, count=20)
