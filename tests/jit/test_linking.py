"""Kernels are linked when they are run: once each, whole, and also from what lies on disk."""

import logging
import tempfile

import numba
import numpy as np
import pytest
from numba.core.registry import cpu_target

from drystone.jit import disk_cache, folders, kernel, linking, parallel_kernel
from drystone.jit.decorators import OPTIONS, Kernel
from drystone.jit.linking import LateLibrary

pytestmark = pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")


@pytest.fixture(autouse=True)
def new_process(tmp_path, monkeypatch):
    """Forgets what this process has compiled; the folder of code is the test's own."""
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setenv("DRYSTONE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(folders, "folders", folders.Folders())
    monkeypatch.setattr(disk_cache, "folders", folders.folders)
    libraries: dict = {}
    for module in (disk_cache, linking):
        monkeypatch.setattr(module, "libraries", libraries)
    return libraries.clear


def test_a_kernel_comes_after_all_that_call_it():
    """Of a function that nothing has asked for when its library is linked, nothing is linked."""
    codegen = cpu_target.target_context.codegen()
    top, left, right, leaf = (LateLibrary(codegen, name) for name in ("t", "l", "r", "leaf"))
    top._linking_libraries = [leaf, left, right]
    left._linking_libraries, right._linking_libraries = [right], [leaf]
    assert top.called() == [left, right, leaf]
    right.name_on_disk = "r"
    assert left.called(beyond=lambda library: library.name_on_disk is None) == [right]


def leaf_function(x):
    return 3 * x


def middle_function(x):
    return leaf(x) + 1


leaf = Kernel(leaf_function, OPTIONS)
middle = Kernel(middle_function, OPTIONS)


def remake():
    global leaf, middle
    leaf, middle = Kernel(leaf_function, OPTIONS), Kernel(middle_function, OPTIONS)


def libraries_of(compiled):
    return [
        result.library for made in compiled._made.values() for result in made.overloads.values()
    ]


def test_only_what_python_calls_becomes_machine_code():
    remake()

    @kernel
    def top(x):
        return middle(x) + leaf(x)

    assert top(2) == 13
    assert [library.machine is not None for library in libraries_of(top)] == [True]
    for inner in (leaf, middle):
        assert [library.machine for library in libraries_of(inner)] == [None]
    assert leaf(5) == 15  # it still can be called, and then has both


def test_what_calls_a_kernel_whose_file_is_gone_is_compiled_again(new_process, caplog):
    def make():
        remake()

        @kernel
        def top(x):
            return middle(x) + 10

        return top

    assert make()(2) == 17
    kept = list(folders.cache_folder().glob("*.kernel"))
    assert len(kept) == 3
    for gone in ("leaf", "middle", None):
        for path in folders.cache_folder().glob("*.kernel"):
            if not path.name.startswith(("leaf", "middle")) or path.name.startswith(str(gone)):
                path.unlink()
        new_process()
        with caplog.at_level(logging.WARNING):
            assert make()(2) == 17
        hits = sum(middle._made[True].stats.cache_hits.values())
        assert hits == (gone is None), gone
    assert not caplog.records


def doubling_function(a):
    for i in numba.prange(len(a)):
        a[i] = 2.0 * a[i]


def summing_function(n):
    a = np.ones(n)
    doubling(a)
    return a.sum()


def top_function(n):
    return summing(n) + np.zeros(3).sum()


def test_parallel_kernels_and_memory_from_disk(new_process):
    global doubling, summing
    for turn in range(2):
        doubling, summing = parallel_kernel(doubling_function), kernel(summing_function, _nrt=True)
        top = Kernel(top_function, OPTIONS | {"_nrt": True})
        assert top(500) == 1000.0
        assert sum(summing._made[True].stats.cache_hits.values()) == turn
        for path in folders.cache_folder().glob("top*.kernel"):
            path.unlink()
        new_process()


def test_functions_of_others_that_a_kernel_calls_first_still_run_from_python():
    @numba.njit
    def theirs(x):
        if x < 0:
            raise ValueError("negative")
        return x + 0.5

    @kernel
    def ours(x):
        return theirs(x) * 2

    assert ours(1.0) == 3.0
    assert theirs(2.0) == 2.5
    with pytest.raises(ValueError, match="negative"):
        theirs(-1.0)
    assert numba.njit(lambda x: theirs(x))(1.0) == 1.5


def test_kernels_can_be_called_by_functions_of_others():
    remake()
    assert numba.njit(lambda x: middle(x))(2) == 7
    assert middle(2) == 7
