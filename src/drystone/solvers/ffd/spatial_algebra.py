"""Spatial (6-D) vectors and symmetric 6x6 matrices: the algebra of one body's twists.

Six numbers are a tuple, or a part of a row of an array. A matrix is symmetric and stands in a row
of an (n, 27) array: the 21 numbers of its lower triangle, row by row, then a right side.
"""

from math import sqrt

from drystone.jit import inner_kernel

ZERO = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


@inner_kernel
def along(e, axis, row, x):
    """a.x with a: numbers 6 axis to 6 axis + 5 of row `e`."""
    k = 6 * axis
    return (
        row[e, k] * x[0] + row[e, k + 1] * x[1] + row[e, k + 2] * x[2]
        + row[e, k + 3] * x[3] + row[e, k + 4] * x[4] + row[e, k + 5] * x[5]
    )  # fmt: skip


@inner_kernel
def add_row(x, e, axis, row, s):
    """x + s a, with the same a."""
    k = 6 * axis
    return (
        x[0] + s * row[e, k], x[1] + s * row[e, k + 1], x[2] + s * row[e, k + 2],
        x[3] + s * row[e, k + 3], x[4] + s * row[e, k + 4], x[5] + s * row[e, k + 5],
    )  # fmt: skip


@inner_kernel
def square(x):
    return x[0] * x[0] + x[1] * x[1] + x[2] * x[2] + x[3] * x[3] + x[4] * x[4] + x[5] * x[5]


@inner_kernel
def add_scaled(x, y, s):
    """x + s y."""
    return (
        x[0] + s * y[0], x[1] + s * y[1], x[2] + s * y[2],
        x[3] + s * y[3], x[4] + s * y[4], x[5] + s * y[5],
    )  # fmt: skip


@inner_kernel
def dot_at(e, one, two, row):
    """Product of the six numbers of two axes of row `e`."""
    total = 0.0
    for i in range(6):
        total += row[e, 6 * one + i] * row[e, 6 * two + i]
    return total


@inner_kernel
def start_matrix(m, b):
    """The identity, and a right side of zero."""
    for k in range(27):
        m[b, k] = 0.0
    for k in range(6):
        m[b, k * (k + 1) // 2 + k] = 1.0


@inner_kernel
def add_equation(m, b, e, axis, row, stiff, target):
    """Ask that a.y be `target` with that weight: adds stiff a aᵀ, and stiff target a."""
    k, first = 0, 6 * axis
    for i in range(6):
        scaled = stiff * row[e, first + i]
        for j in range(i + 1):
            m[b, k] += scaled * row[e, first + j]
            k += 1
        m[b, 21 + i] += scaled * target


@inner_kernel
def factor(m, b):
    """L of the matrix L Lᵀ in its place, with the inverse of each number on the diagonal."""
    for i in range(6):
        ii = i * (i + 1) // 2
        for j in range(i + 1):
            jj = j * (j + 1) // 2
            total = m[b, ii + j]
            for k in range(j):
                total -= m[b, ii + k] * m[b, jj + k]
            m[b, ii + j] = 1.0 / sqrt(total) if i == j else total * m[b, jj + j]


@inner_kernel
def forward(m, b, r, e, first, out):
    """L⁻¹ r, for six numbers of row `e` of `r` from `first` on, into those of `out`."""
    for i in range(6):
        total = r[e, first + i]
        for k in range(i):
            total -= m[b, i * (i + 1) // 2 + k] * out[e, first + k]
        out[e, first + i] = total * m[b, i * (i + 1) // 2 + i]


@inner_kernel
def backward(m, b, r):
    """L⁻ᵀ r of the six numbers `r`."""
    for i in range(6):
        m[b, 21 + i] = r[i]
    for i in range(5, -1, -1):
        total = m[b, 21 + i]
        for k in range(i + 1, 6):
            total -= m[b, k * (k + 1) // 2 + i] * m[b, 21 + k]
        m[b, 21 + i] = total * m[b, i * (i + 1) // 2 + i]
    return m[b, 21], m[b, 22], m[b, 23], m[b, 24], m[b, 25], m[b, 26]


@inner_kernel
def solve_equations(m, b):
    """The y of all equations that were added."""
    factor(m, b)
    forward(m, b, m, b, 21, m)
    return backward(m, b, (m[b, 21], m[b, 22], m[b, 23], m[b, 24], m[b, 25], m[b, 26]))
