"""Runs in chunks on workers: the same bits for any number of them, also if one is killed."""

import os
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("pyarrow")
pytest.importorskip("rasterio")
pytest.importorskip("pyogrio")

from drystone.errors import DrystoneError, InputError, SimulationError  # noqa: E402
from drystone.rockfall.run.manifest import differences  # noqa: E402
from fake_runs import COUNT, digests, reference_digests, run  # noqa: E402


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    return reference_digests(tmp_path_factory.mktemp("runs"))


@pytest.mark.slow
def test_number_of_workers_is_not_in_the_bits(tmp_path, reference):
    run(tmp_path / "two", 2, count=COUNT)
    run(tmp_path / "three", 3, count=COUNT)
    assert digests(tmp_path / "two") == reference
    assert digests(tmp_path / "three") == reference
    assert len(reference) > 25 and not (tmp_path / "two" / "parts").exists()


def test_seed_is_in_the_bits(tmp_path, reference):
    run(tmp_path / "other", count=COUNT, seed=2)
    assert digests(tmp_path / "other")["runs.parquet"] != reference["runs.parquet"]


@pytest.mark.slow
def test_a_killed_worker_changes_nothing(tmp_path, reference):
    mark = tmp_path / "killed"
    run(tmp_path / "out", 2, count=COUNT, deadly_run=40, mark=str(mark))
    assert mark.read_text() != str(os.getpid())  # it was a worker, and it did happen
    assert digests(tmp_path / "out") == reference


@pytest.mark.slow
def test_workers_that_always_die_are_an_error(tmp_path):
    with pytest.raises(DrystoneError, match="runs 32 to 47 died 3 times"):
        run(tmp_path / "out", 2, count=COUNT, deadly_run=40)


def test_results_of_another_study_are_not_touched(tmp_path):
    out = tmp_path / "out"
    run(out, count=20)
    before = digests(out)
    for resume in (False, True):
        with pytest.raises(
            InputError, match="another study: the study file changed since. Choose another"
        ):
            run(out, count=21, resume=resume)
    assert digests(out) == before


@pytest.mark.slow
def test_workers_that_are_stuck_are_not_waited_for(tmp_path, monkeypatch):
    """Sixteen rocks of a quarter second each make a chunk; the first is computed by the caller."""
    monkeypatch.setattr("drystone.rockfall.run.workers.LONGEST_CHUNK", 0.5)
    with pytest.raises(SimulationError, match="for 0.5 s no worker has finished a chunk of runs"):
        run(tmp_path / "out", 2, count=40, roll_seconds=0.25)
    assert [p.name for p in (tmp_path / "out").rglob("*.part")] == ["chunk-000000.part"]


def test_what_decides_about_results_is_named():
    study = {"runs": {"count": 5, "workers": 2}, "output": {"folder": "a", "cell_m": 2.0}}
    first = {"study": study, "plan": "x", "code": "1", "versions": {"numpy": "2"}}
    idle = {"runs": {"count": 5}, "output": {"folder": "b", "cell_m": 2.0}}
    assert differences(first, first | {"study": idle}) == []
    changed = {"runs": {"count": 6}, "output": {"folder": "a", "cell_m": 2.0}}
    assert differences(first, first | {"study": changed, "plan": "y"}) == ["the study file"]
    assert differences(first, first | {"code": "2"}) == ["the code of Drystone"]
    assert differences(first, first | {"plan": "y"}) == ["the plan"]


def test_a_finished_study_is_not_run_again(tmp_path):
    first = run(tmp_path / "out", count=20)
    times = {p: p.stat().st_mtime_ns for p in Path(first.folder).rglob("*")}
    again = run(tmp_path / "out", count=20)
    assert {p: p.stat().st_mtime_ns for p in Path(again.folder).rglob("*")} == times


def test_the_title_block_of_a_finished_study_can_be_changed(tmp_path):
    """Author, revision and date decide about no result: nothing is rolled again for them."""
    first = run(tmp_path / "out", count=20, report={"title": "Cliff"})
    before = digests(first.folder)
    report = {"author": "A. Heim", "revision": "B"}
    again = run(tmp_path / "out", count=20, report=report)
    assert again.manifest["study"]["report"] == report
    assert digests(again.folder) == before


def test_rasters_do_not_depend_on_the_output_step(tmp_path):
    fine = run(tmp_path / "fine", count=40, step=0.02)
    coarse = run(tmp_path / "coarse", count=40, step=0.2)
    assert len(fine.table("points")["t_s"]) > 3 * len(coarse.table("points")["t_s"])
    for path in (tmp_path / "fine" / "rasters").iterdir():
        other = tmp_path / "coarse" / "rasters" / path.name
        assert path.read_bytes() == other.read_bytes(), path.name


def test_errors_of_the_study_come_through(tmp_path):
    with pytest.raises(InputError, match="workers is 0"):
        run(tmp_path / "out", 0, count=20)
    assert not (tmp_path / "out").exists()


def test_progress_bar_ends_at_all_runs(tmp_path, capsys):
    run(tmp_path / "out", count=40, progress=True)
    assert "40/40" in capsys.readouterr().err


def test_points_lie_on_the_trajectory(tmp_path):
    """The plane is z = -x: heights above it are z + x, and all kinetic energy is accounted for."""
    results = run(tmp_path / "out", count=20)
    points = results.table("points")
    x = points["x_m"] - 2600000.0
    np.testing.assert_allclose(points["height_m"], points["z_m"] + x, atol=1e-5)
    runs = results.table("runs")
    mass = runs["mass_kg"][points["run"]]
    speed = sum(points[f"v{axis}_m_s"].astype(float) ** 2 for axis in "xyz")
    np.testing.assert_allclose(points["translational_energy_J"], 0.5 * mass * speed, rtol=1e-5)
    first = np.flatnonzero(np.diff(points["run"], prepend=-1))
    np.testing.assert_array_equal(points["x_m"][first], runs["start_x_m"])
    last = np.append(first[1:], len(x)) - 1
    np.testing.assert_allclose(points["x_m"][last], runs["end_x_m"], atol=1e-9)
