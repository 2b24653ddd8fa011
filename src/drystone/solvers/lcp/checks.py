"""Checks of matrices and vectors from a user: a clean copy, or one clear sentence."""

import numpy as np
import scipy.sparse
from numpy.typing import ArrayLike

from drystone.errors import InputError
from drystone.model.checks import float_array, integer, shown

Matrix = ArrayLike | scipy.sparse.sparray

MOST_ROWS = 16384  # 2 GiB


def check_matrix(name: str, matrix, shape) -> scipy.sparse.csc_array:
    """`matrix` by columns, without entries that are zero."""
    if not scipy.sparse.issparse(matrix):
        matrix = np.atleast_2d(float_array(name, matrix, "a matrix of numbers"))
    if matrix.ndim != 2 or matrix.dtype.kind not in "biuf":
        raise InputError(f"{name} is {shown(matrix)}, must be a matrix of numbers.")
    result = scipy.sparse.csc_array(matrix, dtype=np.float64)
    if result.shape != shape:
        raise InputError(f"{name} has shape {result.shape}, must have {shape}.")
    if not np.isfinite(result.data).all():
        raise InputError(f"{name} holds a number that is not finite.")
    result.sum_duplicates()
    return result


def check_vector(name: str, vector) -> np.ndarray:
    result = float_array(name, vector, "a vector of numbers")
    if result.ndim != 1:
        raise InputError(f"{name} has shape {result.shape}, must be a vector.")
    if not np.isfinite(result).all():
        raise InputError(f"{name} holds a number that is not finite.")
    return result


def check_cover(cover, n: int) -> np.ndarray:
    """`cover` as an array of n positive numbers; ones if it is None."""
    if cover is None:
        return np.ones(n)
    result = check_vector("cover", cover)
    if result.shape != (n,) or not (result > 0.0).all():
        raise InputError(f"cover must hold {n} numbers above zero.")
    return result


def check_count(name: str, value) -> int:
    """An integer of at least one."""
    return integer(name, value, 1)


def check_size(rows: int) -> None:
    """An error for problems whose inverse of a basis, a full matrix, would take too much memory."""
    if rows > MOST_ROWS:
        raise InputError(
            f"the problem has {rows} rows, at most {MOST_ROWS} can be solved: the inverse of a "
            f"basis is a full matrix."
        )
