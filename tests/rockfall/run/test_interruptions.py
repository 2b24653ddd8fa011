"""Interrupted runs, damaged files and full disks: a clear sentence, and nothing lost."""

import json
import os
import resource
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

pytest.importorskip("pyarrow")
pytest.importorskip("rasterio")
pytest.importorskip("pyogrio")

from drystone.errors import DrystoneError, InputError  # noqa: E402
from drystone.rockfall.run import manifest, montecarlo, part_files  # noqa: E402
from fake_runs import COUNT, digests, reference_digests, run  # noqa: E402

LIMIT = 120  # [s] no script takes a tenth of it on a free machine


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    return reference_digests(tmp_path_factory.mktemp("runs"))


SCRIPT = """
import sys
sys.path[:0] = {path!r}
from fakes import FakeStudy
from drystone.rockfall.run.montecarlo import run_study
run_study(FakeStudy(count=90, roll_seconds={seconds}), {out!r}, workers={workers},
          progress=False, resume={resume}, roll="fakes:roll_many")
"""


def start(out, workers, seconds, resume=False, **options):
    """As a script without a main guard, which `multiprocessing` would trip over.

    Tests that a shell runs in the background ignore interrupts, and so would what they start.
    """
    text = SCRIPT.format(
        path=sys.path, out=str(out), workers=workers, seconds=seconds, resume=resume
    )
    options = {"preexec_fn": _heed_interrupts} | options
    return subprocess.Popen([sys.executable, "-c", text], stderr=subprocess.PIPE, **options)


def _heed_interrupts():
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.mark.parametrize(
    ("workers", "how"), [(1, signal.SIGINT), (2, signal.SIGINT), (2, signal.SIGKILL)]
)
@pytest.mark.slow
def test_interrupted_runs_are_resumed(tmp_path, reference, workers, how):
    out = tmp_path / "out"
    process = start(out, workers, 0.06)
    deadline = time.monotonic() + LIMIT
    while len(list(out.glob("parts/chunk-*.part"))) < 2:
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.02)
    process.send_signal(how)
    text = process.communicate(timeout=LIMIT)[1].decode()
    done = {path: path.stat().st_mtime_ns for path in out.glob("parts/chunk-*.part")}
    assert 2 <= len(done) < 6 and process.returncode != 0
    if how == signal.SIGINT:
        assert "of 6 chunks of runs are kept" in text and "--resume" in text
    with pytest.raises(InputError, match="unfinished run. Go on with it"):
        run(out, count=COUNT)
    kept = []
    original = montecarlo.merge_parts

    def look(paths, *rest):
        kept.extend(path for path in done if path.stat().st_mtime_ns == done[path])
        original(paths, *rest)

    montecarlo.merge_parts = look
    try:
        run(out, workers, count=COUNT, resume=True)
    finally:
        montecarlo.merge_parts = original
    assert sorted(kept) == sorted(done)  # what was finished was not computed again
    assert digests(out) == reference


KILLS = int(os.environ.get("DRYSTONE_KILLS", "3"))


@pytest.mark.slow
def test_studies_killed_at_random_moments_are_resumed_to_the_same_bits(tmp_path, reference):
    """Each is killed, resumed, and killed again, until it has come to its end."""
    rng, kills, k = np.random.default_rng(50), 0, 0
    while kills < KILLS:
        out, resume, alone = tmp_path / str(k), False, 0
        while True:
            process = start(out, int(rng.integers(1, 3)), 0.02, resume=resume)
            deadline = time.monotonic() + LIMIT
            while not out.exists() and process.poll() is None:
                assert time.monotonic() < deadline
                time.sleep(0.01)
            try:
                # Now and then it is let go, so that the end comes.
                process.wait(rng.uniform(0.0, 4.0) if alone < 4 else LIMIT)
                assert process.returncode == 0, process.communicate()[1].decode()
                break
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
                process.communicate(timeout=LIMIT)
                kills, alone = kills + 1, alone + 1
                resume = (out / "manifest.json").exists()
                print(f"kill {kills}: {len(list(out.glob('parts/chunk-*.part')))} parts of 6")
        process.stderr.close()
        assert digests(out) == reference
        k += 1


def test_a_damaged_part_is_computed_again(tmp_path, reference, monkeypatch):
    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(montecarlo, "merge_parts", stop)
    with pytest.raises(KeyboardInterrupt, match="6 of 6 chunks of runs are kept"):
        run(tmp_path / "out", count=COUNT)
    monkeypatch.undo()
    part = tmp_path / "out" / "parts" / "chunk-000003.part"
    content = bytearray(part.read_bytes())
    content[len(content) // 2] ^= 1
    part.write_bytes(content)
    (tmp_path / "out" / "parts" / "chunk-000004.part").write_bytes(b"")
    run(tmp_path / "out", count=COUNT, resume=True)
    assert digests(tmp_path / "out") == reference


def test_a_full_disk_is_named_and_nothing_is_lost(tmp_path, reference, monkeypatch):
    """The third part does not fit; ENOSPC comes from the flush, as real disks do it."""
    flush, calls = os.fsync, []

    def full(descriptor):
        calls.append(descriptor)
        if len(calls) > 5:  # manifest, marker, then three parts
            raise OSError(28, "No space left on device")
        flush(descriptor)

    monkeypatch.setattr(part_files.os, "fsync", full)
    with pytest.raises(DrystoneError, match="the disk is full.*kept.*--resume"):
        run(tmp_path / "out", count=COUNT)
    monkeypatch.setattr(part_files.os, "fsync", flush)
    left = sorted(path.name for path in (tmp_path / "out" / "parts").glob("[!.]*"))
    assert left == [f"chunk-{k:06d}.part" for k in range(3)]
    run(tmp_path / "out", count=COUNT, resume=True)
    assert digests(tmp_path / "out") == reference


@pytest.mark.parametrize("limit_kb", [8, 40])
@pytest.mark.slow
def test_files_that_cannot_grow_are_an_error(tmp_path, reference, limit_kb):
    """A real limit of the system: parts fail at 8 kB, a table or map at 40 kB."""

    def limited():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit_kb * 1024, limit_kb * 1024))

    out = tmp_path / "out"
    process = start(out, 1, 0.0, preexec_fn=limited, env=os.environ | {"NUMBA_DISABLE_JIT": "0"})
    text = process.communicate(timeout=LIMIT)[1].decode()
    assert process.returncode != 0
    last = text.strip().splitlines()[-1]
    assert "could not be written" in last and "--resume" in last, text
    assert not json.loads((out / "manifest.json").read_text())["finished"]
    run(out, count=COUNT, resume=True)
    assert digests(out) == reference


def interrupt(out, monkeypatch, **study):
    """A run of four chunks that is interrupted after the second, by other code than ours."""
    write, parts = montecarlo.write_whole, []

    def stop(path, content):
        if len(parts) == 2:
            raise KeyboardInterrupt
        parts.append(path)
        write(path, content)

    with monkeypatch.context() as patched:
        patched.setattr(manifest, "source_digest", lambda: "that of another version")
        patched.setattr(montecarlo, "write_whole", stop)
        with pytest.raises(KeyboardInterrupt, match="2 of 4 chunks of runs are kept"):
            run(out, count=60, **study)


def test_a_run_begun_with_other_code_is_resumed_if_its_bits_are_ours(tmp_path, monkeypatch):
    interrupt(tmp_path / "out", monkeypatch)
    with pytest.raises(InputError, match="the code of Drystone changed since"):
        run(tmp_path / "out", count=60)
    run(tmp_path / "out", count=60, resume=True)
    run(tmp_path / "alone", count=60)
    assert digests(tmp_path / "out") == digests(tmp_path / "alone")


def test_a_run_begun_with_other_physics_is_refused(tmp_path, monkeypatch):
    """One bounce less, which the manifest does not know of: only the bits tell."""
    interrupt(tmp_path / "out", monkeypatch, bounces=4)
    before = (tmp_path / "out" / "manifest.json").read_bytes()
    with pytest.raises(InputError, match="begun with another version of Drystone.*runs 0 to 15"):
        run(tmp_path / "out", count=60, resume=True)
    assert (tmp_path / "out" / "manifest.json").read_bytes() == before
