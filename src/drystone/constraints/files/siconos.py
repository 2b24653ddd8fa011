"""Contact problems in the text files of Siconos: reader.

    fc      dimension, contacts, W, q, mu          u = W r + q
    GFC     dimension, contacts, M, H, q, b, mu    M v = H r + q, u = Hᵀ v + b

A matrix begins with its storage, rows and columns. Dense (0): rows and columns once more, values
column by column. Blocks (1): how many, where block rows and columns end, compressed block rows, and
the values of each block column by column. Sparse (2): what CSparse prints, with some six digits.
"""

import re

import numpy as np
import scipy.sparse

from drystone.constraints.matrix_problem import (
    MatrixProblem,
    global_problem,
    local_problem,
    require_shape,
)
from drystone.errors import InputError

DENSE, BLOCKS, SPARSE = 0, 1, 2
TRIPLETS, COMPRESSED_COLUMNS, COMPRESSED_ROWS = 1, 2, 3  # where a sparse matrix comes from


class _Words:
    """The words of a file, from first to last. A size is believed only if so many words follow."""

    def __init__(self, text: str):
        self.words = text.split()
        self.at = 0

    @property
    def left(self) -> int:
        return len(self.words) - self.at

    def peek(self, count: int) -> list[str]:
        return self.words[self.at : self.at + count]

    def take(self, count: int, what: str) -> list[str]:
        if count > self.left:
            raise InputError(f"ends in {what}: {count} words should follow, {self.left} do.")
        self.at += count
        return self.words[self.at - count : self.at]

    def numbers(self, count: int, what: str) -> np.ndarray:
        return np.array(_converted(self.take(count, what), float, what), dtype=np.float64)

    def integers(self, count: int, what: str) -> np.ndarray:
        return np.array(_converted(self.take(count, what), _index, what), dtype=np.int64)

    def size(self, what: str) -> int:
        """A count of things, each of which takes a word of what follows."""
        size = self.integer(what)
        if not 0 <= size <= self.left:
            raise InputError(f"{what} is {size}, must be 0 to {self.left}: so many words follow.")
        return size

    def integer(self, what: str) -> int:
        return _converted(self.take(1, what), _index, what)[0]


def _index(word: str) -> int:
    value = int(word)
    if abs(value) > 2**31:
        raise ValueError
    return value


def _converted(words: list[str], kind, what: str) -> list:
    try:
        return [kind(word) for word in words]
    except ValueError:
        bad = next(word for word in words if not _is(kind, word))
        noun = "number" if kind is float else "integer of a sensible size"
        raise InputError(f"{what}: {bad[:40]!r} is no {noun}.") from None


def _is(kind, word: str) -> bool:
    try:
        kind(word)
    except ValueError:
        return False
    return True


def read_siconos(text: str) -> MatrixProblem:
    """The problem in a text file; a global one is reduced to its contacts."""
    words = _Words(text)
    if not words.left:
        raise InputError("is empty.")
    dim = words.integer("the dimension")
    if dim not in (2, 3):
        raise InputError(f"is no contact problem: the dimension is {dim}, must be 2 or 3.")
    nc = words.size("the number of contacts")
    matrix = _matrix(words, "the first matrix")
    is_global = _is_matrix(words.peek(3), matrix.shape[0], dim * nc)
    if not is_global:
        require_shape("W", matrix, (dim * nc, dim * nc))
    h = _matrix(words, "H") if is_global else None
    q = words.numbers(matrix.shape[0], "q")
    b = words.numbers(dim * nc, "b") if is_global else None
    mu = words.numbers(nc, "mu")
    if words.left > 1:  # some writers add one flag
        raise InputError(f"goes on after mu: {words.left} words are left over.")
    if is_global:
        return global_problem(dim, matrix, h, q, b, mu)
    return local_problem(dim, matrix, q, mu)


def _is_matrix(words: list[str], rows: int, columns: int) -> bool:
    """Whether H comes next, not a vector: those are written with a decimal point."""
    return words in [[str(storage), str(rows), str(columns)] for storage in range(3)]


def _matrix(words: _Words, name: str) -> scipy.sparse.csr_array:
    storage = words.integer(f"the storage of {name}")
    readers = {DENSE: _dense, BLOCKS: _blocks, SPARSE: _sparse}
    if storage not in readers:
        raise InputError(f"the storage of {name} is {storage}, must be 0, 1 or 2.")
    shape = words.size(f"the rows of {name}"), words.size(f"the columns of {name}")
    value, row, column = readers[storage](words, name, shape)
    if len(row) and not (0 <= row.min() and row.max() < shape[0]):
        raise InputError(f"{name} has an entry outside its {shape[0]} rows.")
    if len(column) and not (0 <= column.min() and column.max() < shape[1]):
        raise InputError(f"{name} has an entry outside its {shape[1]} columns.")
    return scipy.sparse.coo_array((value, (row, column)), shape=shape).tocsr()


def _dense(words, name, shape):
    _same_shape(name, shape, (words.integer(name), words.integer(name)))
    value = words.numbers(shape[0] * shape[1], name)
    entry = np.flatnonzero(value)
    return value[entry], entry % shape[0], entry // shape[0]


def _same_shape(name, shape, again) -> None:
    if shape != again:
        raise InputError(f"{name} is {shape[0]} x {shape[1]} and then {again[0]} x {again[1]}.")


def _blocks(words, name, shape):
    block_row, block_column, row_end, column_end = _block_places(words, name, shape)
    count = len(block_row)
    row_count = np.diff(row_end, prepend=0)[block_row]
    size = row_count * np.diff(column_end, prepend=0)[block_column]
    if size.sum(dtype=np.float64) > words.left:  # in floats, which do not overflow
        raise InputError(f"ends in {name}: {size.sum(dtype=np.float64):.0f} numbers should follow.")
    value = words.numbers(count + size.sum(), name)
    number_at = np.cumsum(size + 1) - size - 1  # each block starts with its number
    if (value[number_at] != np.arange(count)).any():
        raise InputError(f"{name}: its blocks are not numbered from 0 to {count - 1}.")
    value = np.delete(value, number_at)
    place = np.arange(len(value)) - np.repeat(np.cumsum(size) - size, size)
    rows = np.repeat(row_count, size)
    row = np.repeat(row_end[block_row] - row_count, size) + place % rows
    column_start = np.concatenate(([0], column_end))[block_column]
    return value, row, np.repeat(column_start, size) + place // rows


def _block_places(words, name, shape):
    """Block row and block column of every block, and where block rows and columns end."""
    count = words.size(f"the blocks of {name}")
    high, wide = words.size(f"the block rows of {name}"), words.size(f"the block columns of {name}")
    row_end = _rising(words.integers(high, name), shape[0], f"the block rows of {name}")
    column_end = _rising(words.integers(wide, name), shape[1], f"the block columns of {name}")
    filled = words.size(name), words.size(name)
    what = f"the first blocks of the rows of {name}"
    first = _rising(words.integers(filled[0], name), count, what)
    block_column = words.integers(filled[1], name)
    if len(first) != high + 1 or first[0] != 0 or len(block_column) != count:
        raise InputError(f"{name} has {count} blocks, but not so many places for them.")
    if count and not 0 <= block_column.min() <= block_column.max() < wide:
        raise InputError(f"{name} has a block outside its {wide} block columns.")
    return np.repeat(np.arange(high), np.diff(first)), block_column, row_end, column_end


def _rising(ends: np.ndarray, last: int, what: str) -> np.ndarray:
    """Ends of things that follow each other up to `last`."""
    if (np.diff(ends, prepend=0) < 0).any() or (ends[-1] if len(ends) else 0) != last:
        raise InputError(f"{what} must rise to {last}.")
    return ends


def _sparse(words, name, shape):
    """CSparse prints triplets as "i j : x", compressed columns as "col j : ..." and "i : x"."""
    origin = words.integer(f"the origin of {name}")
    if origin not in (TRIPLETS, COMPRESSED_COLUMNS, COMPRESSED_ROWS):
        raise InputError(f"the origin of {name} is {origin}, must be 1, 2 or 3.")
    count = _sparse_header(words, name, shape if origin != COMPRESSED_ROWS else shape[::-1])
    if origin == TRIPLETS:
        entry = words.take(4 * count, name)
        line, place, value = entry[1::4], entry[0::4], entry[3::4]
    else:
        line, place, value = _sparse_columns(words, name)
    if len(value) != count:
        raise InputError(f"{name} claims {count} entries, {len(value)} are there.")
    line, place = (np.array(_converted(k, _index, name), dtype=np.int64) for k in (line, place))
    row, column = (line, place) if origin == COMPRESSED_ROWS else (place, line)
    return np.array(_converted(value, float, name), dtype=np.float64), row, column


def _sparse_header(words, name, shape) -> int:
    """Skip to the sizes, as in "4040-by-4040, nzmax: 20616 nnz: 20616"; returns the last one."""
    for word in words.peek(30):
        found = re.fullmatch(r"(\d{1,10})-by-(\d{1,10}),", word)
        words.at += 1
        if found:
            break
    else:
        raise InputError(f"{name} is not printed as CSparse does: there is no m-by-n.")
    _same_shape(name, shape, (int(found[1]), int(found[2])))
    sizes = words.take(4, name)
    if sizes[0] != "nzmax:" or sizes[2] != "nnz:":
        raise InputError(f"{name} is not printed as CSparse does: there is no nnz.")
    if words.peek(1) == ["1-norm:"]:
        words.take(2, name)
    return _converted([sizes[3].rstrip(",")], _index, name)[0]


def _sparse_columns(words, name):
    line, place, value = [], [], []
    while words.peek(1) == ["col"]:
        column = words.take(7, name)[1]  # col 3 : locations 9 to 12
        while words.peek(2)[1:] == [":"]:
            entry = words.take(3, name)
            line.append(column)
            place.append(entry[0])
            value.append(entry[2])
    return line, place, value
