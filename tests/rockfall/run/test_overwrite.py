"""Runs of older layouts go on, results are overwritten only if asked, and workers share arrays."""

import numpy as np
import pytest

pytest.importorskip("pyarrow")
pytest.importorskip("rasterio")
pytest.importorskip("pyogrio")

from drystone.errors import InputError  # noqa: E402
from drystone.rockfall.run.chunk import compute_chunk, make_context  # noqa: E402
from drystone.rockfall.run.made_files import MARKER, noted  # noqa: E402
from drystone.rockfall.run.manifest import (  # noqa: E402
    make_manifest,
    read_manifest,
    write_manifest,
)
from drystone.rockfall.run.montecarlo import run_study  # noqa: E402
from drystone.rockfall.run.part_files import pack_part, write_whole  # noqa: E402
from drystone.rockfall.run.plan import make_plan  # noqa: E402
from drystone.rockfall.run.result_folder import make_parts, part_path  # noqa: E402
from drystone.rockfall.run.shared_context import dump_shared, load_shared  # noqa: E402
from fake_runs import ROLL, digests, run  # noqa: E402
from fakes import FakeStudy  # noqa: E402


def test_overwrite_removes_what_runs_made_and_nothing_else(tmp_path):
    out = tmp_path / "out"
    run(out, count=20)
    (out / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match="another study"):
        run(out, count=21)
    (out / "screenshots").mkdir()
    (out / "screenshots" / "report-1.png").write_bytes(b"of the report")
    study, mine = FakeStudy(count=21), out / "rasters" / "mine.txt"
    mine.write_text("mine")
    before = digests(out)
    with pytest.raises(InputError, match="no run has made it"):
        run_study(study, out, 1, progress=False, roll=ROLL, overwrite=True)
    assert digests(out) == before
    mine.unlink()
    results = run_study(study, out, 1, progress=False, roll=ROLL, overwrite=True)
    assert results.manifest["runs"] == 21
    assert (out / "notes.txt").exists()
    run(tmp_path / "fresh", count=21)
    again = {k: v for k, v in digests(out).items() if not k.endswith(".txt")}
    assert again == digests(tmp_path / "fresh")
    with pytest.raises(InputError, match="both given"):
        run_study(study, out, 1, progress=False, roll=ROLL, overwrite=True, resume=True)


@pytest.mark.parametrize("folder", ["rasters", "figures", "screenshots"])
def test_pictures_of_the_user_among_ours_are_not_removed(tmp_path, folder):
    """Also of a kind that runs write."""
    out = tmp_path / "out"
    run(out, count=20)
    with noted(out / folder):
        (out / folder).mkdir(exist_ok=True)
        (out / folder / "ours.png").write_bytes(b"ours")
    mine = out / folder / "mine.png"
    mine.write_bytes(b"mine")
    with noted(out / folder):  # the report once more
        (out / folder / "ours.png").write_bytes(b"ours again")
    before = digests(out)
    with pytest.raises(InputError, match="mine.png.* no run has made it"):
        run_study(FakeStudy(count=21), out, 1, progress=False, roll=ROLL, overwrite=True)
    assert digests(out) == before
    mine.unlink()
    run_study(FakeStudy(count=21), out, 1, progress=False, roll=ROLL, overwrite=True)
    assert not (out / folder / "ours.png").exists()


def test_folders_of_versions_without_a_list_are_cleared(tmp_path):
    out = tmp_path / "out"
    run(out, count=20)
    (out / "rasters" / MARKER).unlink()
    run_study(FakeStudy(count=21), out, 1, progress=False, roll=ROLL, overwrite=True)


def test_a_manifest_of_a_trillion_runs_takes_no_time(tmp_path):
    out = tmp_path / "out"
    run(out, count=20)
    manifest = read_manifest(out)
    (out / "parts").mkdir()
    write_manifest(out, manifest | {"runs": 10**15, "chunk": 1})
    run_study(FakeStudy(count=21), out, 1, progress=False, roll=ROLL, overwrite=True)


def test_a_run_that_the_first_version_began_goes_on(tmp_path):
    """Its parts have the first layout: no sources, no orientation, another corner of the cells."""
    study, out = FakeStudy(count=40), tmp_path / "out"
    plan = make_plan(study, ROLL, layout=1)
    parts = make_parts(out)
    write_manifest(out, make_manifest(study, plan) | {"finished": False})
    first = pack_part(compute_chunk(make_context(study, plan), 0))
    write_whole(part_path(parts, 0), first)
    results = run_study(study, out, 1, progress=False, roll=ROLL, resume=True)
    assert results.manifest["format"] == 1
    assert "qw" not in results.columns("points") and len(results.table("runs")["run"]) == 40
    assert run_study(study, out, 1, progress=False, roll=ROLL).manifest["finished"]
    new = run_study(study, tmp_path / "new", 1, progress=False, roll=ROLL)
    assert "qw" in new.columns("points") and read_manifest(tmp_path / "new")["format"] == 2


def test_cells_are_those_of_the_terrain(tmp_path):
    """60 nodes every 2 m: their cells, each node in the middle of one."""
    study = FakeStudy(count=16)
    raster, grid = make_plan(study, ROLL).raster, study.slope.grid
    assert (raster.columns, raster.rows) == (60, 60)
    assert raster.x0 + 0.5 * raster.cell == pytest.approx(grid.x0, abs=1e-6)


def test_arrays_are_shared_and_can_be_written_to(tmp_path):
    big, small = np.arange(100_000.0).reshape(100, 1000), np.arange(5)
    dump_shared(tmp_path, {"big": big, "again": big, "small": small, "words": "x"})
    found = load_shared(tmp_path)
    np.testing.assert_array_equal(found["big"], big)
    assert found["again"] is not None and found["words"] == "x"
    found["big"][0, 0] = -1.0  # a copy of that page alone
    np.testing.assert_array_equal(load_shared(tmp_path)["big"], big)
    assert (tmp_path / "objects.pickle").stat().st_size < 10_000
