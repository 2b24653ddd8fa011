"""Runs in chunks: the same bits whatever happens on the way, and nothing lost."""

import hashlib
import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("pyarrow")
pytest.importorskip("rasterio")
pytest.importorskip("pyogrio")

from drystone.errors import DrystoneError, InputError  # noqa: E402
from drystone.rockfall import montecarlo, parts  # noqa: E402
from drystone.rockfall.montecarlo import run_study  # noqa: E402

HERE = Path(__file__).resolve().parent
ROLL = "fakes:roll_many"


@pytest.fixture(autouse=True)
def find_fakes(monkeypatch):
    monkeypatch.syspath_prepend(str(HERE))


def study(**changes):
    from fakes import FakeStudy

    return FakeStudy(**changes)


def run(out, workers=1, **changes):
    keep = {key: changes.pop(key) for key in ("resume", "cluster") if key in changes}
    return run_study(study(**changes), out, workers=workers, progress=False, roll=ROLL, **keep)


def digests(folder) -> dict:
    """Hashes of all results; a GeoPackage has the date in it, and the manifest the study."""
    folder = Path(folder)
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.suffix != ".gpkg" and path.name != "manifest.json"
    }


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    """One worker, never interrupted."""
    sys.path.insert(0, str(HERE))
    out = tmp_path_factory.mktemp("reference") / "out"
    run(out, count=90)
    return digests(out)


def test_number_of_workers_is_not_in_the_bits(tmp_path, reference):
    run(tmp_path / "two", 2, count=90)
    run(tmp_path / "three", 3, count=90)
    assert digests(tmp_path / "two") == reference
    assert digests(tmp_path / "three") == reference
    assert len(reference) > 25 and not (tmp_path / "two" / "parts").exists()


def test_seed_is_in_the_bits(tmp_path, reference):
    run(tmp_path / "other", count=90, seed=2)
    assert digests(tmp_path / "other")["runs.parquet"] != reference["runs.parquet"]


def test_a_killed_worker_changes_nothing(tmp_path, reference):
    mark = tmp_path / "killed"
    run(tmp_path / "out", 2, count=90, deadly_run=40, mark=str(mark))
    assert mark.read_text() != str(os.getpid())  # it was a worker, and it did happen
    assert digests(tmp_path / "out") == reference


def test_workers_that_always_die_are_an_error(tmp_path):
    with pytest.raises(DrystoneError, match="runs 32 to 47 died 3 times"):
        run(tmp_path / "out", 2, count=90, deadly_run=40)


SCRIPT = """
import sys
sys.path.insert(0, {here!r})
from fakes import FakeStudy
from drystone.rockfall.montecarlo import run_study
run_study(FakeStudy(count=90, roll_seconds={seconds}), {out!r}, workers={workers},
          progress=False, roll="fakes:roll_many")
"""


def start(out, workers, seconds, **options):
    """As a script without a main guard, which `multiprocessing` would trip over."""
    text = SCRIPT.format(here=str(HERE), out=str(out), workers=workers, seconds=seconds)
    return subprocess.Popen([sys.executable, "-c", text], stderr=subprocess.PIPE, **options)


@pytest.mark.parametrize(
    ("workers", "how"), [(1, signal.SIGINT), (2, signal.SIGINT), (2, signal.SIGKILL)]
)
def test_interrupted_runs_are_resumed(tmp_path, reference, workers, how):
    out = tmp_path / "out"
    process = start(out, workers, 0.02)
    deadline = time.monotonic() + 60
    while len(list(out.glob("parts/chunk-*.part"))) < 2:
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.02)
    process.send_signal(how)
    text = process.communicate()[1].decode()
    done = {path: path.stat().st_mtime_ns for path in out.glob("parts/chunk-*.part")}
    assert 2 <= len(done) < 6 and process.returncode != 0
    if how == signal.SIGINT:
        assert "of 6 chunks of runs are kept" in text and "--resume" in text
    with pytest.raises(InputError, match="unfinished run. Go on with it"):
        run(out, count=90)
    kept = []
    original = montecarlo.merge_parts

    def look(paths, *rest):
        kept.extend(path for path in done if path.stat().st_mtime_ns == done[path])
        original(paths, *rest)

    montecarlo.merge_parts = look
    try:
        run(out, workers, count=90, resume=True)
    finally:
        montecarlo.merge_parts = original
    assert sorted(kept) == sorted(done)  # what was finished was not computed again
    assert digests(out) == reference


def test_a_damaged_part_is_computed_again(tmp_path, reference, monkeypatch):
    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(montecarlo, "merge_parts", stop)
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / "out", count=90)
    monkeypatch.undo()
    sys.path.insert(0, str(HERE))
    part = tmp_path / "out" / "parts" / "chunk-000003.part"
    content = bytearray(part.read_bytes())
    content[len(content) // 2] ^= 1
    part.write_bytes(content)
    (tmp_path / "out" / "parts" / "chunk-000004.part").write_bytes(b"")
    run(tmp_path / "out", count=90, resume=True)
    assert digests(tmp_path / "out") == reference


def test_a_full_disk_is_named_and_nothing_is_lost(tmp_path, reference, monkeypatch):
    """The third part does not fit; ENOSPC comes from the flush, as real disks do it."""
    flush, calls = os.fsync, []

    def full(descriptor):
        calls.append(descriptor)
        if len(calls) > 4:  # manifest, then three parts
            raise OSError(28, "No space left on device")
        flush(descriptor)

    monkeypatch.setattr(parts.os, "fsync", full)
    with pytest.raises(DrystoneError, match="the disk is full.*kept.*--resume"):
        run(tmp_path / "out", count=90)
    monkeypatch.setattr(parts.os, "fsync", flush)
    left = sorted(path.name for path in (tmp_path / "out" / "parts").iterdir())
    assert left == [f"chunk-{k:06d}.part" for k in range(3)]
    run(tmp_path / "out", count=90, resume=True)
    assert digests(tmp_path / "out") == reference


@pytest.mark.parametrize("limit_kb", [8, 40, 64])
def test_files_that_cannot_grow_are_an_error(tmp_path, reference, limit_kb):
    """A real limit of the system: parts fail at 8 kB, tables or maps at 40 and 64 kB."""

    def limited():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit_kb * 1024, limit_kb * 1024))

    out = tmp_path / "out"
    process = start(out, 1, 0.0, preexec_fn=limited, env=os.environ | {"NUMBA_DISABLE_JIT": "0"})
    text = process.communicate()[1].decode()
    assert process.returncode != 0
    last = text.strip().splitlines()[-1]
    assert "could not be written" in last and "--resume" in last, text
    assert not json.loads((out / "manifest.json").read_text())["finished"]
    run(out, count=90, resume=True)
    assert digests(out) == reference


def test_results_of_another_study_are_not_touched(tmp_path):
    out = tmp_path / "out"
    run(out, count=20)
    before = digests(out)
    for resume in (False, True):
        with pytest.raises(InputError, match="of another study.*Choose another folder"):
            run(out, count=21, resume=resume)
    assert digests(out) == before


def test_a_finished_study_is_not_run_again(tmp_path):
    first = run(tmp_path / "out", count=20)
    times = {p: p.stat().st_mtime_ns for p in Path(first.folder).rglob("*")}
    again = run(tmp_path / "out", count=20)
    assert {p: p.stat().st_mtime_ns for p in Path(again.folder).rglob("*")} == times


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
    run_study(study(count=40), tmp_path / "out", workers=1, progress=True, roll=ROLL)
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
