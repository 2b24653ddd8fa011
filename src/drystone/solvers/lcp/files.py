"""Linear complementarity problems from the text files of Siconos."""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from drystone.errors import InputError
from drystone.model.files import as_path, read_file
from drystone.model.signatures import public

DIGITS = 18  # of the longest count that is looked at


@public
class Lcp(NamedTuple):
    """w = M z + q, z >= 0, w >= 0, wᵀz = 0."""

    M: np.ndarray  # (m, m)
    q: np.ndarray  # (m,)


@public
class MixedLcp(NamedTuple):
    """0 = A x + C z + a and w = D x + B z + b, z >= 0, w >= 0, wᵀz = 0."""

    A: np.ndarray  # (n, n)
    B: np.ndarray  # (m, m)
    C: np.ndarray  # (n, m)
    D: np.ndarray  # (m, n)
    a: np.ndarray  # (n,)
    b: np.ndarray  # (m,)


@public
def load(path: str | Path) -> Lcp | MixedLcp:
    """Read an `lcp` or `mlcp` file; which one it is shows in its header.

    lcp     n, M, q. A matrix is its storage type (0: dense), rows, columns, both again, and the
            values column by column.
    mlcp    two flags, n, m, the first row of every block of rows and n + m, whether each block is
            complementary, M and q of all rows. What follows says the same again, and is not read.
    """
    words = _Words(path)
    if words.is_mixed():
        return _read_mixed(words)
    n = words.count("the number of unknowns")
    return Lcp(words.matrix("M", n), words.numbers("q", n))


def _read_mixed(words: "_Words") -> MixedLcp:
    words.count("a flag")
    words.count("a flag")
    n, m = words.count("the number of equations"), words.count("the number of pairs")
    edges = [words.count("a block's first row")]
    while edges[-1] < n + m:
        edges.append(words.count("a block's first row"))
        if edges[-1] <= edges[-2]:
            raise InputError(f"{words.path}: the first rows of the blocks do not grow: {edges}.")
    kinds = [words.count("a block's kind") for _ in edges[1:]]
    paired = np.repeat(np.array(kinds, dtype=int), np.diff(edges)) != 0
    if edges[-1] != n + m or paired.sum() != m:
        raise InputError(
            f"{words.path}: blocks {edges}, kinds {kinds} do not fit n = {n}, m = {m}."
        )
    matrix, q = words.matrix("M", n + m), words.numbers("q", n + m)
    e, p = np.flatnonzero(~paired), np.flatnonzero(paired)
    return MixedLcp(
        matrix[np.ix_(e, e)], matrix[np.ix_(p, p)], matrix[np.ix_(e, p)], matrix[np.ix_(p, e)],
        q[e], q[p],
    )  # fmt: skip


class _Words:
    """The words of a file, taken one after the other."""

    def __init__(self, path):
        self.path, self.at = as_path(path), 0
        try:
            self.words = read_file(self.path).decode("ascii").split()
        except UnicodeDecodeError:
            raise InputError(f"{path}: cannot be read: it is no text of numbers.") from None

    def is_mixed(self) -> bool:
        """In an mlcp file word 4 is the first row of the first block, in an lcp file a size."""
        flags = self.words[:2]
        return len(self.words) > 4 and set(flags) <= {"0", "1"} and self.words[4] == "0"

    def count(self, what: str) -> int:
        """Of things that each take a word of the file: a larger one is not believed."""
        if self.at >= len(self.words):
            raise InputError(f"{self.path}: ends where {what} should stand.")
        word = self.words[self.at]
        self.at += 1
        if not word.isdigit():
            raise InputError(f"{self.path}: word {self.at} is {word[:40]!r}, must be {what}.")
        value = int(word[:DIGITS])
        if len(word) > DIGITS or value > len(self.words):
            raise InputError(
                f"{self.path}: word {self.at}, {what}, is {word[:40]}, but there are only "
                f"{len(self.words)} words in the file."
            )
        return value

    def numbers(self, what: str, size: int) -> np.ndarray:
        words = self.words[self.at : self.at + size]
        if len(words) < size:
            raise InputError(f"{self.path}: {what} has {len(words)} values, must have {size}.")
        try:
            values = np.array([float(word) for word in words])
        except ValueError:
            raise InputError(f"{self.path}: {what} holds a word that is no number.") from None
        if not np.isfinite(values).all():
            raise InputError(f"{self.path}: {what} holds a number that is not finite.")
        self.at += size
        return values

    def matrix(self, name: str, n: int) -> np.ndarray:
        storage = self.count(f"the storage type of {name}")
        if storage != 0:
            raise InputError(
                f"{self.path}: {name} has storage type {storage}, only 0 (dense) is read."
            )
        shape = [self.count(f"the size of {name}") for _ in range(4)]
        if shape != [n, n, n, n]:
            raise InputError(f"{self.path}: {name} is {shape[0]} x {shape[1]}, must be {n} x {n}.")
        return self.numbers(name, n * n).reshape((n, n), order="F").copy(order="C")
