"""Tables: what a kernel reads of them is what the tuple holds."""

import pickle
from typing import NamedTuple

import numba
import numpy as np
import pytest
from numba import prange

from drystone.jit import kernel, parallel_kernel
from drystone.jit.table import table


@table
class Inner(NamedTuple):
    numbers: np.ndarray
    grid: np.ndarray


@table
class Outer(NamedTuple):
    inner: Inner
    nothing: None
    share: float
    count: int
    marks: np.ndarray


def outer(rows=3):
    grid = np.arange(2.0 * rows).reshape(rows, 2)
    inner = Inner(np.arange(5, dtype=np.int32), grid)
    return Outer(inner, None, 0.25, -7, np.zeros(4))


@kernel
def read(t):
    first = 0.0 if t.nothing is None else 1.0
    last = t.inner.grid[t.inner.grid.shape[0] - 1, 1]
    return first, t.share, t.count, t.inner.numbers[-1], last, t.inner.numbers.size


@kernel
def write(t):
    for k in range(t.marks.shape[0]):
        t.marks[k] = t.share * k
        t.inner.grid[0, 0] += 1.0


@parallel_kernel
def write_in_parallel(t, marks):
    for k in prange(marks.shape[0]):
        marks[k] = t.inner.grid[k % 3, 1] + t.count


def test_a_kernel_reads_arrays_numbers_and_tables():
    assert read(outer()) == (0.0, 0.25, -7, 4, 5.0, 5)
    assert read(outer(rows=5)) == (0.0, 0.25, -7, 4, 9.0, 5)


def test_a_kernel_writes_to_the_arrays_themselves():
    t = outer()
    write(t)
    np.testing.assert_array_equal(t.marks, [0.0, 0.25, 0.5, 0.75])
    assert t.inner.grid[0, 0] == 4.0  # every store is seen by the next load


def test_threads_read_tables():
    t = outer()
    write_in_parallel(t, t.marks)
    np.testing.assert_array_equal(t.marks, [-6.0, -4.0, -2.0, -6.0])


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="types are those of compiled kernels")
def test_one_version_of_a_kernel_serves_all_sizes_and_another_type_gets_its_own():
    assert numba.typeof(outer(3)) == numba.typeof(outer(9))
    other = outer()._replace(marks=np.zeros(4, np.float32))
    assert numba.typeof(other) != numba.typeof(outer())


def test_a_replaced_member_is_seen():
    t = outer()
    read(t)
    assert read(t._replace(count=11))[2] == 11


def test_tables_are_pickled_without_their_address():
    t = outer()
    read(t)
    again = pickle.loads(pickle.dumps(t))
    assert type(again) is Outer and read(again) == read(t)
    assert again._address != t._address


def test_what_cannot_be_a_member_is_refused():
    with pytest.raises(TypeError, match="cannot hold str"):
        read(outer()._replace(count="seven"))


def test_ctrl_c_where_a_call_asks_for_the_address_is_an_exception(monkeypatch):
    """It was a crash of the process."""

    def interrupt(table):
        raise KeyboardInterrupt

    assert read(outer())[2] == -7
    with monkeypatch.context() as patch:
        patch.setattr(Outer, "_address", property(interrupt))
        with pytest.raises(KeyboardInterrupt):
            read(outer())
    assert read(outer())[2] == -7
