"""Full disks: one sentence, exit code 2, nothing lost of an older file, no crash at the end."""

import subprocess
import sys

import pytest

RUN = "import resource, sys\nresource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}))\n"
CLI = RUN + "from drystone.cli import app\napp(sys.argv[1:])\n"


def run_full(code, *args, limit=20_000, **options):
    """Run `code` where no file can grow beyond `limit` bytes, as on a full disk."""
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code.format(limit=limit), *map(str, args)],
        capture_output=True, text=True, timeout=600, **options,
    )  # fmt: skip


@pytest.mark.slow
def test_a_recording_that_cannot_begin(tmp_path):
    path = tmp_path / "x.h5"
    path.write_bytes(b"older")
    done = run_full(CLI, "run", "box-stack", "--seconds", "0", "--record", path, limit=2000)
    assert done.returncode == 2, done.stderr  # not -11, a crash at exit
    said = done.stderr.replace("\n", " ")
    assert "x.h5: the recording cannot be written there: File too large." in said
    assert "Traceback" not in said
    assert path.read_bytes() == b"older" and [p.name for p in tmp_path.iterdir()] == ["x.h5"]


@pytest.mark.slow
@pytest.mark.parametrize("option", ["--json", "--record"])
def test_results_that_cannot_be_written(option):
    done = run_full(CLI, "run", "box-stack", "--seconds", "0", option, "/dev/full", limit=-1)
    said = done.stderr.replace("\n", " ")
    assert done.returncode == 2 and "cannot be written there: No space left on device." in said
    assert "Traceback" not in said


@pytest.mark.slow
def test_an_output_that_is_full(tmp_path):
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-c", CLI.format(limit=-1), "scenes"],
            stdout=full, stderr=subprocess.PIPE, text=True, timeout=600,
        )  # fmt: skip
    assert done.returncode == 2 and "No space left on device." in done.stderr
    assert "Traceback" not in done.stderr and "ignored" not in done.stderr


SAVES = """
import drystone as ds
world = ds.World()
world.add_body(ds.Sphere(1), ds.Material())
world.step()
for save in (world.save, world.problem().save, lambda path: ds.record(world, path)):
    try:
        save(sys.argv[1])
    except ds.InputError as error:
        print(error)
"""


@pytest.mark.slow
def test_saves_leave_the_older_file(tmp_path):
    path = tmp_path / "x.h5"
    path.write_bytes(b"older")
    done = run_full(RUN + SAVES, path, limit=1000)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("x.h5") == done.stdout.count("File too large") == 3
    assert path.read_bytes() == b"older" and [p.name for p in tmp_path.iterdir()] == ["x.h5"]


def test_two_worlds_are_not_recorded_to_one_file(tmp_path):
    import drystone as ds

    with ds.record(ds.World(), tmp_path / "a.h5"):
        with pytest.raises(ds.InputError, match="another world is being recorded there"):
            ds.record(ds.World(), tmp_path / "a.h5")
    with ds.record(ds.World(), tmp_path / "a.h5"):
        pass
