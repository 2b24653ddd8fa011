"""Compiled code on disk: a damaged file is never run, and no folder is needed to go on."""

import logging
import os
import pickle
import random
import subprocess
import sys
import tempfile
from collections import namedtuple
from pathlib import Path

import numba
import numpy as np
import pytest

import drystone
from drystone.jit import disk_cache, folders, kernel
from drystone.jit.decorators import Kernel

pytestmark = pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")


def triple(x):
    return 3 * x


def square(x):
    return x * x


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    """A cache folder of the test's own, and temporary files likewise."""
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.delenv("DRYSTONE_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    folders._temporary_root.cache_clear()
    monkeypatch.setattr(folders, "folders", folders.Folders())
    monkeypatch.setattr(disk_cache, "folders", folders.folders)
    yield tmp_path
    folders._temporary_root.cache_clear()


def start(function, *args):
    """What `function` gives in a process that starts now, and whether it was read from disk."""
    new = Kernel(function, {"nogil": True})
    answer = new(*args)
    return answer, sum(new.stats.cache_hits.values()) == 1


def files():
    return sorted(folders.cache_folder().glob("*.kernel"))


def test_code_is_kept_and_read_again():
    assert start(triple, 7) == (21, False)
    assert start(triple, 7) == (21, True)
    assert start(triple, 2.5) == (7.5, False)
    assert start(triple, 2.5) == (7.5, True)


def test_code_of_another_version_of_the_sources_is_taken_over(monkeypatch):
    """Its name says that nothing it is made of has changed; damaged or with other checks: not."""
    assert start(triple, 7) == (21, False)
    monkeypatch.setattr(folders, "source_digest", lambda: "0" * 16)
    folders.folders.__init__()
    assert start(triple, 7) == (21, True) and len(files()) == 1
    (path,) = files()
    path.write_bytes(path.read_bytes()[:-1])
    monkeypatch.setattr(folders, "source_digest", lambda: "1" * 16)
    monkeypatch.setattr(disk_cache, "kernel_digest", lambda file: "another")
    folders.folders.__init__()
    assert start(triple, 7) == (21, False)


Pair = namedtuple("Pair", "first second")


def test_a_tuple_with_other_members_is_another_type():
    def first(pair):
        return pair.first

    assert start(first, Pair(1, 2)) == (1, False)
    swapped = namedtuple("Pair", "second first")
    assert start(first, swapped(1, 2)) == (2, False)


def change(at, by=lambda byte: byte ^ 0x10):
    def damage(path):
        data = bytearray(path.read_bytes())
        place = at(len(data)) if callable(at) else at
        data[place] = by(data[place])
        path.write_bytes(data)

    return damage


def write(make):
    return lambda path: path.write_bytes(make(path.read_bytes()))


def replace(make):
    def damage(path):
        path.unlink()
        make(path)

    return damage


class Evil:
    """A pickle that runs code when it is read."""

    def __reduce__(self):
        return os.mkdir, (os.environ["XDG_CACHE_HOME"] + "/was-run",)


def swap_with_another(path):
    start(square, 7)
    (other,) = set(files()) - {path}
    mine, theirs = path.read_bytes(), other.read_bytes()
    path.write_bytes(theirs), other.write_bytes(mine)


def swap_with_other_types(path):
    start(triple, 2.5)
    (other,) = set(files()) - {path}
    path.write_bytes(other.read_bytes())


def fill_folder(path):
    path.mkdir()
    (path / "of-the-user").write_text("stays")


DAMAGE = {
    "cut in half": write(lambda data: data[: len(data) // 2]),
    "cut by a byte": write(lambda data: data[:-1]),
    "empty": write(lambda data: b""),
    "head alone": write(lambda data: data[:18]),
    "first bytes gone": write(lambda data: data[100:]),
    "bytes added": write(lambda data: data + b"\0\0"),
    "twice": write(lambda data: data + data),
    "a bit of the head": change(0),
    "a bit of the checksum": change(30),
    "a bit of the pickle": change(55),
    "a bit of the machine code": change(lambda size: size // 3),
    "a bit of the last byte": change(-1),
    "zeros": write(lambda data: bytes(len(data))),
    "a block of zeros": write(lambda data: data[:4096] + bytes(4096) + data[8192:]),
    "random bytes": write(lambda data: random.Random(1).randbytes(len(data))),
    "pickle of something else": write(lambda data: pickle.dumps({"a": 1})),
    "pickle that runs code": write(lambda data: pickle.dumps(Evil())),
    "that pickle behind a sound head": write(lambda data: data[:50] + pickle.dumps(Evil())),
    "text": write(lambda data: b"hello\n"),
    "another format": write(lambda data: data.replace(b"kernel 2", b"kernel 1", 1)),
    "swapped with another kernel": swap_with_another,
    "swapped with other types": swap_with_other_types,
    "an empty folder": replace(Path.mkdir),
    "a full folder": replace(fill_folder),
    "a link to nothing": replace(lambda path: path.symlink_to("nothing")),
    "a link to itself": replace(lambda path: path.symlink_to(path)),
    "a pipe": replace(lambda path: os.mkfifo(path)),
    "a device": replace(lambda path: path.symlink_to("/dev/zero")),
    "not to be read": lambda path: path.chmod(0),
    "gone": Path.unlink,
    "the lock is a folder": lambda path: replace(Path.mkdir)(path.parent / "in-use"),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_a_damaged_file_is_compiled_again_and_mended(kind, place, caplog):
    assert start(triple, 7) == (21, False)
    (path,) = files()
    DAMAGE[kind](path)
    folders.folders.__init__()  # another process
    with caplog.at_level(logging.WARNING):
        assert start(triple, 7)[0] == 21
        assert start(square, 7)[0] == 49
    assert start(triple, 7) == (21, True)
    assert start(square, 7) == (49, True)
    assert not (place / "cache" / "was-run").exists()
    assert len(caplog.records) <= 3, "a sentence for every damaged file, no more"
    kept = list(folders.cache_folder().rglob("of-the-user"))
    assert len(kept) == (kind == "a full folder")


def test_no_byte_can_change_unseen():
    start(triple, 7)
    (path,) = files()
    sound = path.read_bytes()
    assert disk_cache._checked(path.name, sound) is not None
    rng = random.Random(3)
    for at in [*range(100), *rng.sample(range(len(sound)), 200)]:
        flipped = bytearray(sound)
        flipped[at] ^= 1 << rng.randrange(8)
        assert disk_cache._checked(path.name, bytes(flipped)) is None
    assert disk_cache._checked("x" + path.name[1:], sound) is None or path.name[0] == "x"


def test_a_folder_that_cannot_be_made_is_replaced_by_a_temporary_one(place, caplog):
    (place / "cache").write_text("a file")
    with caplog.at_level(logging.WARNING):
        assert start(triple, 7) == (21, False)
        assert start(square, 7) == (49, False)
    (record,) = caplog.records
    assert "cannot be kept in" in record.getMessage() and "DRYSTONE_CACHE" in record.getMessage()
    assert start(triple, 7) == (21, True)
    (root,) = (place / "tmp").iterdir()
    assert root.stat().st_mode & 0o777 == 0o700, "others could put code of theirs there"


def test_temporary_files_of_somebody_else_are_not_trusted(place):
    (place / "cache").write_text("a file")
    taken = place / "tmp" / f"drystone-{os.getuid()}"
    taken.mkdir()
    taken.chmod(0o777)
    assert start(triple, 7) == (21, False)
    assert not list(taken.iterdir())


def test_without_any_folder_the_run_goes_on(place, caplog, monkeypatch):
    (place / "cache").write_text("a file")
    (place / "file").write_text("another")
    monkeypatch.setattr(tempfile, "tempdir", str(place / "file"))
    folders._temporary_root.cache_clear()
    with caplog.at_level(logging.WARNING):
        assert start(triple, 7) == (21, False)
        assert start(triple, 7) == (21, False)
    (record,) = caplog.records
    assert "cannot be kept anywhere" in record.getMessage()


def test_numba_cache_dir_is_honoured(place, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(place / "given"))
    start(triple, 7)
    assert len(list((place / "given").rglob("*.kernel"))) == 1
    assert not (place / "cache").exists()


def test_a_kernel_that_differs_in_what_it_captured_or_in_its_options_has_its_own_file():
    def make(factor):
        def times(x):
            return factor * x

        return times

    assert start(make(2), 5) == (10, False)
    assert start(make(3), 5) == (15, False)
    assert start(make(2), 5) == (10, True)
    bounded = Kernel(make(2), {"nogil": True, "boundscheck": True})
    assert bounded(5) == 10 and not bounded.stats.cache_hits


def test_what_captured_a_kernel_that_has_no_name_is_not_kept():
    def make(factor):
        @kernel
        def times(x):
            return factor * x

        return lambda x: times(x) + 1

    assert start(make(2), 5) == (11, False)
    assert start(make(3), 5) == (16, False)
    assert start(make(2), 5) == (11, False)


def test_a_kernel_read_from_disk_can_be_compiled_into_another():
    global inner
    inner = Kernel(triple, {"nogil": True})
    start(triple, 7)
    assert inner(7) == 21 and inner.stats.cache_hits

    @kernel
    def outer(x):
        return inner(x) + 1

    assert outer(7) == 22


def refuse(x):
    if x < 0:
        raise ValueError("negative", x)
    return x


def test_code_from_disk_still_raises_and_allocates():
    global refusing
    refusing = Kernel(refuse, {"_nrt": True})

    def deep(x):
        return np.median(np.ones(3)) + refusing(x)

    for _ in range(2):
        new = Kernel(deep, {"_nrt": True})
        assert new(2.0) == 3.0
        with pytest.raises(ValueError) as raised:
            new(-2.0)
        assert raised.value.args == ("negative", -2.0)
    assert new.stats.cache_hits


def test_a_dispatcher_is_made_when_it_is_needed():
    global called
    called = kernel(triple)

    @kernel
    def calling(x):
        return called(x) + 1

    assert not called._made and called.py_func(2) == 6 and not calling._made
    assert calling(7) == 22
    assert called._made and calling._made


def test_kernels_are_pickled_by_name():
    from drystone.jit.vec import cross

    assert pickle.loads(pickle.dumps(cross)) is cross


PROGRAM = """
import sys
import numpy as np
from numba import prange
from drystone.jit import kernel, parallel_kernel
from drystone.jit.stage import stage

@stage
def halve(x):
    return 0.5 * x

@kernel
def sum_of_halves(x):
    total = halve(0.0)
    for k in range(x.shape[0]):
        total += halve(x[k])
    return total

@parallel_kernel
def doubled(x, out):
    for k in prange(x.shape[0]):
        out[k] = 2.0 * x[k]

halve(1.0)
out = np.zeros(4)
doubled(np.arange(4.0), out)
print(sum_of_halves(np.arange(4.0)), sum_of_halves(np.arange(3.0)[::-1]), out.sum())
kernels = (halve.compiled, sum_of_halves, doubled)
print(sum(sum(k.stats.cache_misses.values()) for k in kernels))
print(*sorted({"scipy.linalg", "numba.np.arraymath"} & sys.modules.keys()))
"""


def run_program(place, **environment):
    (place / "program.py").write_text(PROGRAM)
    root = str(Path(drystone.__file__).parents[1])
    return subprocess.Popen(
        [sys.executable, "program.py"], cwd=place, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, env=os.environ | {"PYTHONPATH": root} | environment,
    )  # fmt: skip


def outcome(process):
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    answer, compiled, imported = out.splitlines()
    return answer, int(compiled), err, imported


@pytest.mark.slow
def test_two_processes_at_once_from_an_empty_cache_are_both_right(place):
    both = [run_program(place), run_program(place)]
    answers = [outcome(process) for process in both]
    assert [answer[0] for answer in answers] == ["3.0 1.5 12.0"] * 2
    assert outcome(run_program(place))[:3] == ("3.0 1.5 12.0", 0, "")


@pytest.mark.slow
def test_a_start_imports_nothing_that_only_compiling_needs(place):
    """Numba's registries, with SciPy's matrices: a third of the time in which a run starts."""
    assert outcome(run_program(place))[3] != ""
    assert outcome(run_program(place))[3] == ""


@pytest.mark.slow
def test_a_full_disk_is_one_sentence(place):
    """No file may grow beyond 512 bytes, here or among the temporary files."""
    program = place / "limited.py"
    program.write_text("import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, (512, 512))\n")
    (place / "program.py").write_text(program.read_text() + PROGRAM)
    root = str(Path(drystone.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "program.py"], cwd=place, capture_output=True, text=True, timeout=300,
        env=os.environ | {"PYTHONPATH": root, "TMPDIR": str(place / "tmp")},
    )  # fmt: skip
    assert done.stdout.startswith("3.0 1.5 12.0"), done.stderr
    assert done.stderr.count("cannot be kept anywhere") == 1 and "File too large" in done.stderr
    assert not list(place.rglob("*.part"))


def test_compiled_code_never_lands_beside_the_sources(place):
    (place / "cache").write_text("a file")
    start(triple, 7)
    beside = Path(__file__).parent / "__pycache__"
    assert not list(beside.glob("*.nb[ic]")) and not list(beside.glob("*.kernel"))


def test_code_can_be_read_by_whom_the_user_lets_read_new_files(place):
    start(triple, 7)
    (path,) = files()
    plain = place / "plain"
    plain.touch()
    assert path.stat().st_mode == plain.stat().st_mode
