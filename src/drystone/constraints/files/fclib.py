"""Contact problems of FCLIB, the library of frictional contact problems [Acary2014]: reader.

    fclib_local     W, vectors/q, vectors/mu                   u = W r + q
    fclib_global    M, H, vectors/f, vectors/w, vectors/mu     M v = H r + f, u = Hᵀ v + w

A matrix has m rows, n columns and nz, p, i, x: for nz >= 0 that many triplets (row i, column p,
value x), for nz = -1 compressed columns, for nz = -2 compressed rows.
"""

import numpy as np
import scipy.sparse

from drystone.constraints.matrix_problem import MatrixProblem, global_problem, local_problem
from drystone.errors import InputError
from drystone.model.hdf5 import read_group, read_integer, read_integers, read_numbers

COMPRESSED_COLUMNS, COMPRESSED_ROWS = -1, -2


def is_fclib(file) -> bool:
    return "fclib_local" in file or "fclib_global" in file


def read_fclib(file) -> MatrixProblem:
    """The problem in an open HDF5 file; a global one is reduced to its contacts."""
    is_global = "fclib_global" in file
    group = read_group(file, "fclib_global" if is_global else "fclib_local")
    for name in ("G",) if is_global else ("V", "R"):
        if name in group:
            raise InputError(f"holds equality constraints ({name}), which Drystone does not read.")
    vectors = read_group(group, "vectors")
    dim, mu = read_integer(group, "spacedim"), read_numbers(vectors, "mu")
    if dim not in (2, 3):
        raise InputError(f"spacedim is {dim}, must be 2 or 3.")
    if not is_global:
        q = read_numbers(vectors, "q")
        return local_problem(dim, _matrix(group, "W", len(q), len(q)), q, mu)
    f, w = read_numbers(vectors, "f"), read_numbers(vectors, "w")
    mass, h = _matrix(group, "M", len(f), len(f)), _matrix(group, "H", len(f), len(w))
    return global_problem(dim, mass, h, f, w, mu)


def _matrix(group, name: str, rows: int, columns: int) -> scipy.sparse.csr_array:
    part = read_group(group, name)
    m, n, nz = (read_integer(part, key) for key in ("m", "n", "nz"))
    if (m, n) != (rows, columns):  # sizes that only the file claims are not trusted
        raise InputError(f"{name} is {m} x {n}, must be {rows} x {columns} by its vectors.")
    p, i, x = read_integers(part, "p"), read_integers(part, "i"), read_numbers(part, "x")
    if nz >= 0:
        row, column, count = i, p, nz
    elif nz == COMPRESSED_COLUMNS:
        row, column, count = i, _lines(name, p, n, len(i)), p[-1]
    elif nz == COMPRESSED_ROWS:
        row, column, count = _lines(name, p, m, len(i)), i, p[-1]
    else:
        raise InputError(f"{name}: nz is {nz}, must be -2, -1 or the number of entries.")
    if count > min(len(row), len(column), len(x)):
        raise InputError(f"{name} claims {count} entries, the file holds {len(x)}.")
    row, column, x = row[:count], column[:count], x[:count]
    if count and (min(row.min(), column.min()) < 0 or row.max() >= m or column.max() >= n):
        raise InputError(f"{name} has an entry outside its {m} x {n}.")
    return scipy.sparse.coo_array((x, (row, column)), shape=(m, n)).tocsr()


def _lines(name: str, first: np.ndarray, lines: int, entries: int) -> np.ndarray:
    """Number of the column, or row, of every entry, from where each of them begins."""
    if len(first) != lines + 1 or first[0] != 0 or (np.diff(first) < 0).any():
        raise InputError(f"{name}: p must rise from 0 and have {lines + 1} numbers.")
    if first[-1] > entries:
        raise InputError(f"{name} claims {first[-1]} entries, the file holds {entries}.")
    return np.repeat(np.arange(lines), np.diff(first))
