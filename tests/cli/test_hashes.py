"""drystone hashes: equal runs have equal hashes, and a difference is named."""

from typer.testing import CliRunner

from drystone.bench.state_hashes import SCENES, hash_scene
from drystone.cli import app
from drystone.cli.hashes import read_hashes
from drystone.scenes import find_scene

TINY = "box-stack"


def run(*arguments):
    return CliRunner().invoke(app, ["hashes", *map(str, arguments)])


def test_the_same_run_has_the_same_hash_and_a_longer_one_another():
    assert hash_scene(TINY, 3) == hash_scene(TINY, 3)
    assert hash_scene(TINY, 3) != hash_scene(TINY, 4)


def test_the_last_hash_is_that_of_the_world():
    world = find_scene(TINY).build()
    for _ in range(3):
        world.step()
    assert hash_scene(TINY, 3).last == world.hash()


def test_what_was_written_is_compared(tmp_path):
    path = tmp_path / "before.txt"
    assert run(TINY, "--steps", 3, "--out", path).exit_code == 0
    assert read_hashes(path) == {TINY: hash_scene(TINY, 3).digest}
    assert run(TINY, "--steps", 3, "--against", path).exit_code == 0
    other = run(TINY, "--steps", 4, "--against", path)
    assert other.exit_code == 1 and TINY in other.output


def test_a_scene_that_was_not_there_before_differs(tmp_path):
    path = tmp_path / "before.txt"
    path.write_text("wall 0123456789abcdef\n")
    assert run(TINY, "--steps", 1, "--against", path).exit_code == 1


def test_a_file_without_hashes_is_refused(tmp_path):
    path = tmp_path / "empty.txt"
    path.write_text("")
    assert run(TINY, "--against", path).exit_code == 2


def test_all_scenes_are_known():
    for name in SCENES:
        find_scene(name)
