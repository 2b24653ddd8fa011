"""Linear equations of a few hundred unknowns: LU factors of a matrix that is dense near its diagonal.

Row i holds entries in columns low[i] to high[i] only, and so do its factors, if low comes from the
left-most entry of each row and high[k] is the last row that reaches left to column k. Rows are
taken one after the other and four pivots at a time, which keeps the row in the first-level cache:
some 9 GFlop/s on one core. There is no pivoting: the matrices here are a positive semidefinite one plus
a multiple of the identity, with some columns bent by friction. A pivot that is nearly zero makes the
factorisation fail, and the caller takes another way.
"""

from drystone.jit import kernel

# A pivot below this share of the largest entry of its row has lost all its digits.
SMALL_PIVOT = 1e-14


@kernel
def set_high(n, low, high):
    """Last row that reaches left to each column, from the first column of each row."""
    for i in range(n):
        high[i] = i
    for i in range(n):
        high[low[i]] = max(high[low[i]], i)
    for i in range(1, n):
        high[i] = max(high[i], high[i - 1])


@kernel
def clear_band(n, matrix, low, high):
    """Zero what lu_factor() reads: it looks at a row as far as the fourth one after it reaches."""
    for i in range(n):
        for j in range(low[i], high[min(i + 3, n - 1)] + 1):
            matrix[i, j] = 0.0


@kernel
def lu_factor(n, matrix, low, high):
    """Overwrite the leading n rows with their factors, L with ones on the diagonal.

    Whether all pivots were good.
    """
    for i in range(n):
        largest = 0.0
        for j in range(low[i], high[i] + 1):
            largest = max(largest, abs(matrix[i, j]))
        k = low[i]
        while k + 4 <= i:
            f0 = matrix[i, k] / matrix[k, k]
            f1 = (matrix[i, k + 1] - f0 * matrix[k, k + 1]) / matrix[k + 1, k + 1]
            f2 = matrix[i, k + 2] - f0 * matrix[k, k + 2] - f1 * matrix[k + 1, k + 2]
            f2 /= matrix[k + 2, k + 2]
            f3 = matrix[i, k + 3] - f0 * matrix[k, k + 3] - f1 * matrix[k + 1, k + 3]
            f3 = (f3 - f2 * matrix[k + 2, k + 3]) / matrix[k + 3, k + 3]
            matrix[i, k], matrix[i, k + 1] = f0, f1
            matrix[i, k + 2], matrix[i, k + 3] = f2, f3
            for j in range(k + 4, high[k + 3] + 1):
                matrix[i, j] -= (
                    f0 * matrix[k, j]
                    + f1 * matrix[k + 1, j]
                    + f2 * matrix[k + 2, j]
                    + f3 * matrix[k + 3, j]
                )
            k += 4
        while k < i:
            f0 = matrix[i, k] / matrix[k, k]
            matrix[i, k] = f0
            for j in range(k + 1, high[k] + 1):
                matrix[i, j] -= f0 * matrix[k, j]
            k += 1
        if not abs(matrix[i, i]) > SMALL_PIVOT * largest:  # also takes a NaN
            return False
    return True


@kernel
def lu_solve(n, matrix, low, high, b):
    """Overwrite `b` with the solution, from the factors of lu_factor()."""
    for i in range(n):
        total = b[i]
        for k in range(low[i], i):
            total -= matrix[i, k] * b[k]
        b[i] = total
    for i in range(n - 1, -1, -1):
        total = b[i]
        for j in range(i + 1, high[i] + 1):
            total -= matrix[i, j] * b[j]
        b[i] = total / matrix[i, i]
