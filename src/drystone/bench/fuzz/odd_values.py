"""Values that nobody should give: beyond floats, of the wrong kind, endless, or hostile."""

import itertools
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

NAN, INF = float("nan"), float("inf")


class Raises:
    """Raises, whatever it is asked for."""

    def _raise(self, *_):
        raise RuntimeError("asked for too much")

    __float__ = __int__ = __index__ = __array__ = __iter__ = __len__ = _raise
    __repr__ = __str__ = __bool__ = __eq__ = __lt__ = __fspath__ = _raise  # type: ignore
    __hash__ = object.__hash__


class Lies:
    """Says of itself what is not so."""

    def __float__(self):
        return "one"

    def __index__(self):
        return 2**80

    def __len__(self):
        return -1

    def __array__(self, dtype=None, copy=None):
        return "no array"

    def __fspath__(self):
        return 7

    def __eq__(self, other):
        return True

    def __hash__(self):
        return 0


class ArrayOnly:
    """An array to NumPy alone."""

    def __array__(self, dtype=None, copy=None):
        return np.array([1.0, 2.0, 3.0])


class Mapping(dict):
    """A dict that has what it is asked for."""

    def __missing__(self, key):
        return self


def _deep(depth: int) -> list:
    nest: list = []
    for _ in range(depth):
        nest = [nest]
    return nest


def _self_containing() -> list:
    own: list = [1.0, 2.0]
    own.append(own)
    return own


NUMBERS: tuple[Any, ...] = (
    0, -0.0, -1, -1e-9, 5e-324, 1e-200, 1e-30, 1e30, 1e154, 1e200, 1.7e308, -1.7e308, NAN, INF,
    -INF, 10**400, -(10**400), 10**5000, 2**31, 2**32, 2**63, 2**64, -(2**63) - 1, 3.5, 7, 10**6,
    True, False, 1j, complex(NAN, 1), Fraction(1, 3), Fraction(10**400, 3), Decimal("0.1"),
    Decimal("1e999"), Decimal("nan"), Decimal("sNaN"), np.float32(1.5), np.float16("inf"),
    np.int8(-1), np.uint64(2**64 - 1), np.longdouble("1e4000"), np.complex64(1j), np.bool_(True),
    np.datetime64("2020-01-01"), np.timedelta64(3, "s"), np.float64(NAN),
)  # fmt: skip

TEXTS: tuple[Any, ...] = (
    "", "1", "x", "nan", " ", "\0", "\ud800", "ä\n", "a" * 10_000, b"bytes", bytearray(b"ab"),
    "../..", "no/such/folder/file.h5", "/", "auto", "default", Path("."), Path("none.stl"),
    np.str_("y"), "1e400", "9" * 5000, "None",
)  # fmt: skip

# Made anew for every case: some can be used up.
CONTAINERS: tuple[Callable[[], Any], ...] = (
    lambda: (), lambda: [], lambda: (1,), lambda: (1, 2), lambda: (0, 0, 0), lambda: (1, 2, 3),
    lambda: [0.1, 0.2, 0.3, 0.4], lambda: (NAN, 0, 0), lambda: (0, INF, 0), lambda: (10**400, 0, 0),
    lambda: (None, None), lambda: (2, 1), lambda: (None, 10**400), lambda: ("a", "b", "c"),
    lambda: (1e200, 1e200, 1e200), lambda: (1e-200, 0, 0), lambda: (1e-320, 1e-320, 1e-320),
    lambda: [[1, 2], [3]], lambda: [[]], lambda: _deep(50), lambda: _deep(5000), _self_containing,
    lambda: {}, lambda: {"x": 1}, lambda: Mapping(), lambda: set(), lambda: {1.0, 2.0, 3.0},
    lambda: range(3), lambda: iter((1, 2, 3)), lambda: (x for x in (1, 2, 3)), itertools.count,
    lambda: itertools.repeat(1.0), lambda: map(int, "ab"), lambda: zip((1,), (2,), strict=True),
    lambda: np.zeros(3), lambda: np.zeros((0, 3)), lambda: np.zeros((3, 3)), lambda: np.eye(3),
    lambda: np.full(3, NAN), lambda: np.full((3, 3), NAN), lambda: np.full((4, 3), 1e200),
    lambda: np.array(1.0), lambda: np.array([1.0]), lambda: np.zeros((2, 2, 2)),
    lambda: np.array(["a", "b", "c"]), lambda: np.array([1, None, "x"], dtype=object),
    lambda: np.array([10**400, 0, 0], dtype=object), lambda: np.array([1j, 0, 0]),
    lambda: np.ma.masked_array([1.0, 2.0, 3.0], [0, 1, 0]), lambda: np.zeros(2, dtype="i4,f8"),
    lambda: np.arange(12).reshape(4, 3), lambda: -np.ones((4, 3), dtype=np.int64),
    lambda: np.full((4, 3), 2**62), lambda: np.full((4, 3), 2**63, dtype=np.uint64),
    lambda: np.random.default_rng(0).normal(size=(20, 3)), lambda: np.zeros(3, dtype=bool),
    lambda: np.broadcast_to(0.0, (2**20, 2**20)), lambda: np.array([], dtype=np.float32),
    lambda: memoryview(b"abc"), lambda: np.zeros((4, 3), order="F")[::2],
)  # fmt: skip

OBJECTS: tuple[Callable[[], Any], ...] = (
    lambda: None, lambda: None, object, Raises, Lies, ArrayOnly, lambda: Raises, lambda: int,
    lambda: len, lambda: (lambda *_: None), lambda: np, lambda: Ellipsis, lambda: NotImplemented,
    lambda: slice(1, 2), lambda: (Raises(), 1, 2), lambda: [Lies()] * 3, lambda: Exception("no"),
)  # fmt: skip


def draw_odd(rng: np.random.Generator, things: tuple[Callable[[], Any], ...] = ()) -> Any:
    """One odd value; `things` make more of them, such as a body of another world."""
    kind = rng.random()
    if kind < 0.35:
        return NUMBERS[rng.integers(len(NUMBERS))]
    if kind < 0.45:
        return TEXTS[rng.integers(len(TEXTS))]
    if kind < 0.7 or not things:
        return CONTAINERS[rng.integers(len(CONTAINERS))]()
    if kind < 0.8:
        return OBJECTS[rng.integers(len(OBJECTS))]()
    if kind < 0.9:
        return things[rng.integers(len(things))]()
    return _mixed_vector(rng)


def _mixed_vector(rng: np.random.Generator) -> tuple:
    """A tuple of a few numbers, odd ones among them."""
    count = int(rng.choice([2, 3, 3, 3, 4, 9]))
    odd = tuple(NUMBERS[rng.integers(len(NUMBERS))] for _ in range(count))
    return tuple(x if rng.random() < 0.5 else 1.0 for x in odd)
