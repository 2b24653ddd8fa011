"""LU factorisation of a banded (skyline) matrix, for linear equations of some hundred unknowns.

Not LAPACK's dgbtrf: it must run inside compiled kernels without allocation.

Row i has entries in columns low[i] to high[i] alone, and so have its factors, if low[i] is the
left-most entry of the row and high[k] the last row that reaches left to column k. Entry (i, j)
stands at matrix[at[i] + j]. Rows are taken one after the other and four pivots at a time, so that
the row stays in registers and the first cache: 10 to 20 GFlop/s on one core from 60 unknowns on.
There is no pivoting: the matrices here are a positive semidefinite one plus a positive diagonal,
with some columns bent by friction. A pivot that has lost its digits makes the factorisation fail,
and the caller takes another method.
"""

import numpy as np

from drystone.jit import kernel

# A pivot below this share of the largest entry of its row has lost all its digits.
SMALL_PIVOT = 1e-14


@kernel
def set_band(n, low, high, at):
    """Extent and place of every row, from the first column of each; returns how many numbers."""
    for i in range(n):
        high[i] = i
    for i in range(n):
        high[low[i]] = max(high[low[i]], i)
    for i in range(1, n):
        high[i] = max(high[i], high[i - 1])
    total = 0
    for i in range(n):
        at[i] = total - low[i]
        # lu_factor() reads a row as far as the fourth from it reaches.
        total += high[min(i + 3, n - 1)] - low[i] + 1
    return total


@kernel
def _subtract_rows(count, matrix, row, row_0, row_1, row_2, row_3, f0, f1, f2, f3):
    """Subtract multiples of four rows from a row. Unsigned places let the compiler use vectors."""
    row, row_0, row_1 = np.uint64(row), np.uint64(row_0), np.uint64(row_1)
    row_2, row_3 = np.uint64(row_2), np.uint64(row_3)
    for k in range(count):
        j = np.uint64(k)
        matrix[row + j] -= (
            f0 * matrix[row_0 + j]
            + f1 * matrix[row_1 + j]
            + f2 * matrix[row_2 + j]
            + f3 * matrix[row_3 + j]
        )


@kernel
def _eliminate_four(i, k, matrix, at, high):
    """Clear columns k to k + 3 of row i; their places take the factors."""
    r, p0, p1, p2, p3 = at[i], at[k], at[k + 1], at[k + 2], at[k + 3]
    f0 = matrix[r + k] / matrix[p0 + k]
    f1 = (matrix[r + k + 1] - f0 * matrix[p0 + k + 1]) / matrix[p1 + k + 1]
    f2 = matrix[r + k + 2] - f0 * matrix[p0 + k + 2] - f1 * matrix[p1 + k + 2]
    f2 /= matrix[p2 + k + 2]
    f3 = matrix[r + k + 3] - f0 * matrix[p0 + k + 3] - f1 * matrix[p1 + k + 3]
    f3 = (f3 - f2 * matrix[p2 + k + 3]) / matrix[p3 + k + 3]
    matrix[r + k], matrix[r + k + 1] = f0, f1
    matrix[r + k + 2], matrix[r + k + 3] = f2, f3
    j = k + 4
    _subtract_rows(
        high[k + 3] + 1 - j, matrix, r + j, p0 + j, p1 + j, p2 + j, p3 + j, f0, f1, f2, f3
    )  # fmt: skip


@kernel
def lu_factor(n, matrix, low, high, at):
    """Overwrite `matrix` with its factors, L with ones on the diagonal; whether all went well."""
    for i in range(n):
        r, largest = at[i], 0.0
        for j in range(low[i], high[i] + 1):
            largest = max(largest, abs(matrix[r + j]))
        k = low[i]
        while k + 4 <= i:
            _eliminate_four(i, k, matrix, at, high)
            k += 4
        while k < i:
            p = at[k]
            factor = matrix[r + k] / matrix[p + k]
            matrix[r + k] = factor
            for j in range(k + 1, high[k] + 1):
                matrix[r + j] -= factor * matrix[p + j]
            k += 1
        if not abs(matrix[r + i]) > SMALL_PIVOT * largest:  # also takes a NaN
            return False
    return True


@kernel
def lu_solve(n, matrix, low, high, at, b):
    """Overwrite `b` with the solution, from the factors of lu_factor()."""
    for i in range(n):
        r, total = at[i], b[i]
        for k in range(low[i], i):
            total -= matrix[r + k] * b[k]
        b[i] = total
    for i in range(n - 1, -1, -1):
        r, total = at[i], b[i]
        for j in range(i + 1, high[i] + 1):
            total -= matrix[r + j] * b[j]
        b[i] = total / matrix[r + i]
