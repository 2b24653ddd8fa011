"""Old versions of compiled code go; what is in use, recent or not ours stays."""

import ast
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

import drystone
from drystone.jit import folders

DAY = 86400.0
pytestmark = pytest.mark.skipif(folders.fcntl is None, reason="nothing is removed without locks")


def test_files_whose_constants_are_compiled_count_as_compiled():
    """Else an edit to a tolerance would not be seen: the old code would go on running."""
    package = Path(drystone.__file__).parent
    compiled = folders.compiled_sources(package)
    assert package / "collision/narrowphase/mesh/constants.py" in compiled
    assert package / "cli/commands.py" not in compiled
    for path, source in compiled.items():
        for node in ast.walk(ast.parse(source)):
            own = isinstance(node, ast.ImportFrom) and (node.module or "").startswith("drystone.")
            if own and any(alias.name.isupper() for alias in node.names):
                place = package.joinpath(*node.module.split(".")[1:])
                assert {place.with_suffix(".py"), place / "__init__.py"} & compiled.keys(), path


def test_an_edit_to_an_imported_constant_changes_the_sources(tmp_path):
    for file, source in {
        "a.py": "@kernel\ndef f(): ...\nfrom drystone.deep.b import (\n    SIZE,\n    g,\n)",
        "deep/b.py": "from drystone.deep import BASE\nSIZE = 2 * BASE",
        "deep/__init__.py": "BASE = 7",
        "c.py": "from drystone.a import f",
    }.items():
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).write_text(source)
    found = folders.compiled_sources(tmp_path)
    assert {path.relative_to(tmp_path).as_posix() for path in found} == {
        "a.py", "deep/b.py", "deep/__init__.py"
    }  # fmt: skip


def test_the_digest_of_a_kernel_covers_all_that_its_file_imports():
    """By a slow twin: whatever a file with kernels imports is an edge of the graph."""
    package = Path(drystone.__file__).parent
    graph, _ = folders._import_graph(package)
    files = {package / path[1:]: path for path in graph}
    for path, source in folders.compiled_sources(package).items():
        wanted = set()
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"{path}: a relative import is not followed"
                modules = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
            elif isinstance(node, ast.Import) and path.name != "precompile.py":
                modules = [alias.name for alias in node.names]
                assert not any(m.startswith("drystone.") for m in modules), path
            else:
                continue
            for module in modules:
                place = package.parent.joinpath(*module.split("."))
                wanted |= {place.with_suffix(".py"), place / "__init__.py"} & files.keys()
        assert {files[each] for each in wanted} <= graph[files[path]], path


def digest_of(tmp_path, monkeypatch, file):
    for function in (folders._sources, folders._import_graph, folders.kernel_digest):
        function.cache_clear()
    monkeypatch.setattr(folders, "__file__", str(tmp_path / "jit" / "folders.py"))
    return folders.kernel_digest(str(tmp_path / file))


def test_an_edit_rebuilds_what_imports_it_and_nothing_else(tmp_path, monkeypatch):
    for file, source in {
        "jit/__init__.py": "",
        "a.py": "from drystone.deep import b",
        "deep/b.py": "from drystone.deep.c import (\n    g,\n)",
        "deep/c.py": "g = 1",
        "d.py": "from drystone.jit import kernel",
    }.items():
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).write_text(source)
    before = {file: digest_of(tmp_path, monkeypatch, file) for file in ("a.py", "d.py")}
    (tmp_path / "deep/c.py").write_text("g = 2")
    assert digest_of(tmp_path, monkeypatch, "a.py") != before["a.py"]
    assert digest_of(tmp_path, monkeypatch, "d.py") == before["d.py"]
    (tmp_path / "jit/__init__.py").write_text("kernel = 3")
    assert digest_of(tmp_path, monkeypatch, "d.py") != before["d.py"]
    monkeypatch.undo()
    for function in (folders._sources, folders._import_graph, folders.kernel_digest):
        function.cache_clear()


def name(k):
    return f"{k:016x}"


def version(root, k, days, lock=True):
    """A version of the sources that was last used so many days ago."""
    folder = root / name(k)
    folder.mkdir(parents=True)
    (folder / "advance-1234.kernel").write_bytes(b"code")
    (folder / "engine-1234.done").touch()
    if lock:
        (folder / "in-use").touch()
    then = time.time() - days * DAY
    for path in (*folder.iterdir(), folder):
        os.utime(path, (then, then))
    return folder


def prune(root):
    own = version(root, 0xFFFF, 0)
    folders.prune(root, own)
    assert own.is_dir()


def test_the_last_used_are_kept(tmp_path):
    made = [version(tmp_path, k, 0.5 + 0.1 * k) for k in range(20)]
    prune(tmp_path)
    assert [folder.exists() for folder in made] == [True] * 7 + [False] * 13


def test_what_was_not_used_for_a_month_goes(tmp_path):
    recent, old = version(tmp_path, 1, 29), version(tmp_path, 2, 31)
    prune(tmp_path)
    assert recent.exists() and not old.exists()


def test_versions_that_take_turns_do_not_throw_each_other_out(tmp_path):
    made = [version(tmp_path, k, 0.01 * k) for k in range(folders.KEPT_VERSIONS)]
    for _ in range(3):
        for own in made:
            os.utime(own / "in-use")
            folders.prune(tmp_path, own)
    assert all((folder / "advance-1234.kernel").exists() for folder in made)


def test_nothing_that_is_not_ours_is_removed(tmp_path):
    others = [
        tmp_path / "fields" / "mesh.npz",
        tmp_path / "0123456789abcdef-notes" / "thesis.txt",
        tmp_path / "0123456789ABCDEF" / "thesis.txt",
        tmp_path / name(1) / "thesis.txt",
        tmp_path / name(2) / "deep" / "thesis.txt",
        tmp_path / name(3),  # a file of such a name
    ]
    version(tmp_path, 1, 99), version(tmp_path, 2, 99, lock=False)
    for path in others:
        path.parent.mkdir(exist_ok=True)
        path.write_text("mine")
        os.utime(path, (0, 0))
        os.utime(path.parent, (0, 0))
    target = tmp_path / "elsewhere"
    target.mkdir()
    (target / "x.kernel").touch()
    (tmp_path / name(4)).symlink_to(target)
    (tmp_path / name(1) / "linked").symlink_to(target)
    prune(tmp_path)
    assert all(path.read_text() == "mine" for path in others)
    assert (target / "x.kernel").exists()
    assert not (tmp_path / name(1) / "advance-1234.kernel").exists()


def test_what_versions_before_this_one_left_goes_by_age_alone(tmp_path):
    for k, days in enumerate((1.0, 40.0)):
        folder = tmp_path / name(k) / "motion_0123"
        folder.mkdir(parents=True)
        for file in (folder / "f-1.py311.nbi", folder / "f-1.py311.1.nbc"):
            file.touch()
        (folder.parent / f"engine-{name(k)}").touch()
        for path in (*folder.iterdir(), *folder.parent.iterdir(), folder.parent):
            os.utime(path, (time.time() - days * DAY,) * 2)
    prune(tmp_path)
    assert (tmp_path / name(0)).exists() and not (tmp_path / name(1)).exists()


HOLDER = "import sys; from pathlib import Path; from drystone.jit.folders import _hold\n" \
    "assert _hold(Path(sys.argv[1])); print('held', flush=True); sys.stdin.read()"  # fmt: skip


@pytest.mark.slow
def test_a_version_that_a_running_process_uses_stays(tmp_path):
    used, unused = version(tmp_path, 1, 99), version(tmp_path, 2, 99)
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(used)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert holder.stdout.readline() == "held\n"
        os.utime(used / "in-use", (0, 0))
        prune(tmp_path)
        assert (used / "advance-1234.kernel").exists() and not unused.exists()
    finally:
        holder.communicate(timeout=60)
    folders.prune(tmp_path, tmp_path / name(0xFFFF))
    assert not used.exists()


def test_to_hold_a_version_makes_it_the_last_used(tmp_path):
    folder = version(tmp_path, 1, 20)
    lock = folders._hold(folder)
    assert lock is not None and time.time() - (folder / "in-use").stat().st_mtime < 60.0
    os.close(lock)


def test_parts_of_files_that_killed_processes_left_go(tmp_path):
    own = version(tmp_path, 1, 0)
    old, new = own / "a.kernel.x.part", own / "b.kernel.y.part"
    for path in (old, new):
        path.touch()
    os.utime(old, (time.time() - 7200,) * 2)
    folders.prune(tmp_path, own)
    assert new.exists() and not old.exists()
