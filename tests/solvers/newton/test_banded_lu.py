"""LU factors within a band, against NumPy."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from drystone.solvers.newton.banded_lu import lu_factor, lu_solve, set_band


def pack(full):
    """Band and numbers of a dense matrix whose pattern is symmetric."""
    n = len(full)
    low = np.array([np.flatnonzero(row)[0] for row in full], dtype=np.int32)
    low = np.minimum(low, np.arange(n)).astype(np.int32)
    high, at = np.zeros(n, dtype=np.int32), np.zeros(n, dtype=np.int32)
    matrix = np.zeros(set_band(n, low, high, at))
    for i in range(n):
        matrix[at[i] + low[i] : at[i] + high[i] + 1] = full[i, low[i] : high[i] + 1]
    return matrix, low, high, at


def banded(seed, n, fill):
    """Random, of a random symmetric pattern, with a heavy diagonal."""
    rng = np.random.default_rng(seed)
    pattern = rng.random((n, n)) < fill
    full = np.where(pattern | pattern.T, rng.normal(size=(n, n)), 0.0)
    return full + 2.0 * n * np.eye(n), rng.normal(size=n)


@given(st.integers(0, 2**31), st.integers(1, 40), st.floats(0.0, 1.0))
@settings(deadline=None)
def test_solution_equals_numpys(seed, n, fill):
    """Diagonally dominant, so 1e-12 relative is generous."""
    full, b = banded(seed, n, fill)
    matrix, low, high, at = pack(full)
    x = b.copy()
    assert lu_factor(n, matrix, low, high, at)
    lu_solve(n, matrix, low, high, at, x)
    np.testing.assert_allclose(x, np.linalg.solve(full, b), atol=1e-12 * np.abs(b).max())


def test_factors_stay_in_the_band():
    """Tridiagonal: four numbers a row, and three to look ahead, not n."""
    n = 50
    full = 3.0 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)
    matrix, low, high, at = pack(full)
    assert len(matrix) <= 7 * n
    assert lu_factor(n, matrix, low, high, at)
    x = np.ones(n)
    lu_solve(n, matrix, low, high, at, x)
    np.testing.assert_allclose(full @ x, np.ones(n), atol=1e-12)


def test_singular_matrix_is_reported():
    """Two equal rows and columns."""
    full = np.ones((6, 6)) + np.eye(6)
    full[3], full[:, 3] = full[2], full[:, 2]
    full[3, 3] = full[2, 2]
    assert not lu_factor(6, *pack(full))


def test_nan_is_reported():
    full = np.ones((6, 6)) + np.eye(6)
    full[4, 2] = np.nan
    assert not lu_factor(6, *pack(full))
