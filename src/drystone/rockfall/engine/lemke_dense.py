"""Lemke's algorithm for the small dense LCPs of one rock, in a workspace that the caller owns.

Find z with w = M z + q, z >= 0, w >= 0, wᵀz = 0 (ROCFALL eq. 3.27). The basis, its explicit inverse
and the pivots are those of drystone.solvers.lcp (pivoting.py), with no free variables. Its driver
is not: it is Python, stores M by sparse columns and factors the basis afresh with SciPy. Here M is
dense, of 2 to 80 rows, and a whole solve is one compiled call without allocation, inside a time
step of microseconds. The ratio test is simpler too: the first basis is always w.
"""

from typing import NamedTuple

import numpy as np

from drystone.jit import kernel
from drystone.solvers.lcp.pivoting import add_solution, exchange

SOLVED, RAY, LIMIT, INACCURATE = range(4)

# An entry of the direction below this share of the largest is rounding (CLINE 4.8.3).
SMALL_PIVOT = 1e-10

# Places are tied if any of them may leave with y falling below zero by this share at most.
TIE = 1e-13

# Entries of the inverse that break a tie are taken as known to this share of the largest.
LEXICAL_TIE = 1e-11

# Share of the largest value at which the artificial variable counts as zero.
GONE = 1e-12

REFINEMENTS = 2  # of the final values, by the residual of the basis

# An answer counts if no |min(z, w)| is above this share of the largest z, or of the sums that make
# w. Paths over near-singular bases can end wrong; another column of z0 then takes another path.
ACCURATE = 1e-9
ATTEMPTS = 4
GOLDEN = 0.6180339887498949  # multiples of it, less their integer part, are spread evenly


class LemkeWorkspace(NamedTuple):
    """Scratch for problems of up to N pairs."""

    inverse: np.ndarray  # (N, N)
    y: np.ndarray  # (N,)
    d: np.ndarray  # (N,)
    column: np.ndarray  # (N,)
    basis: np.ndarray  # (N,) int32
    place: np.ndarray  # (2 N + 1,) int32
    tied: np.ndarray  # (N,) int32

    @classmethod
    def of(cls, size: int) -> "LemkeWorkspace":
        ints = [np.zeros(k, dtype=np.int32) for k in (size, 2 * size + 1, size)]
        return cls(np.zeros((size, size)), *np.zeros((3, size)), *ints)


@kernel
def _cover(j, attempt):
    """What z0 adds to row j: one, and at later attempts something near it."""
    return 1.0 if attempt == 0 else 0.75 + 0.5 * (((j + 1) * attempt * GOLDEN) % 1.0)


@kernel
def _find_direction(n, v, attempt, matrix, work):
    """d = B⁻¹ times the column of variable v: e_i of w_i, -M_i of z_i, -cover of z0."""
    column = work.column[:n]
    for j in range(n):
        if v < n:
            column[j] = 1.0 if v == j else 0.0
        else:
            column[j] = -_cover(j, attempt) if v == 2 * n else -matrix[j, v - n]
        work.d[j] = 0.0
    add_solution(column, 0, work.place, work.inverse, work.d[:n])


@kernel
def _entry(p, j, work):
    at = work.place[j]
    if at >= 0:
        return 1.0 if at == p else 0.0
    return work.inverse[j, p]


@kernel
def _break_ties(n, count, work):
    """Of the tied places the one that is least lexicographically in B⁻¹ / d."""
    for j in range(n):
        if count == 1:
            break
        least, size = np.inf, 0.0
        for k in range(count):
            p = work.tied[k]
            ratio = _entry(p, j, work) / work.d[p]
            least, size = min(least, ratio), max(size, abs(ratio))
        kept = 0
        for k in range(count):
            p = work.tied[k]
            if _entry(p, j, work) / work.d[p] <= least + LEXICAL_TIE * size:
                work.tied[kept] = p
                kept += 1
        count = kept
    return work.tied[0]


@kernel
def _find_leaving(n, work):
    """Place that reaches zero first as the entering variable grows; -1: none does."""
    largest, top = 0.0, 0.0
    for p in range(n):
        largest, top = max(largest, abs(work.d[p])), max(top, work.y[p])
    reach = np.inf
    for p in range(n):
        if work.d[p] > SMALL_PIVOT * largest:
            reach = min(reach, (work.y[p] + TIE * top) / work.d[p])
    count = 0
    for p in range(n):
        if work.d[p] > SMALL_PIVOT * largest and work.y[p] <= reach * work.d[p]:
            if work.basis[p] == 2 * n:
                return p
            work.tied[count] = p
            count += 1
    return _break_ties(n, count, work) if count > 0 else -1


@kernel
def _refine(n, attempt, matrix, q, work):
    """y += B⁻¹ (q - B y), for what rounding did in the pivots."""
    residual = work.column[:n]
    for j in range(n):
        r = q[j]
        for p in range(n):
            v = work.basis[p]
            if v == j:
                r -= work.y[p]
            elif v >= n:
                r += (matrix[j, v - n] if v < 2 * n else _cover(j, attempt)) * work.y[p]
        residual[j] = r
    add_solution(residual, 0, work.place, work.inverse, work.y[:n])


@kernel
def _is_gone(n, work):
    """Whether the artificial variable is down to rounding: a degenerate problem, but solved."""
    top = 0.0
    for p in range(n):
        top = max(top, abs(work.y[p]))
    return work.y[work.place[2 * n]] <= GONE * top


@kernel
def _follow_path(n, attempt, matrix, q, z, work):
    """One run of the algorithm: SOLVED, RAY or LIMIT."""
    worst = 0
    for p in range(n):
        work.y[p] = q[p]
        work.basis[p] = p
        work.place[p] = p
        work.place[n + p] = -1
        z[p] = 0.0
        # The last of equals: then every row of (y, B⁻¹) is positive.
        if q[p] * _cover(worst, attempt) <= q[worst] * _cover(p, attempt):
            worst = p
    work.place[2 * n] = -1
    if n == 0 or q[worst] >= 0.0:
        return SOLVED
    v, status = 2 * n, LIMIT
    for _ in range(20 * n + 20):
        _find_direction(n, v, attempt, matrix, work)
        r = worst if v == 2 * n else _find_leaving(n, work)
        if r < 0:
            status = SOLVED if _is_gone(n, work) else RAY
            break
        left = work.basis[r]
        exchange(r, v, 0, work.basis, work.place, work.inverse, work.y[:n], work.d)
        if left == 2 * n:
            status = SOLVED
            break
        v = left + n if left < n else left - n
    for _ in range(REFINEMENTS):
        _refine(n, attempt, matrix, q, work)
    for p in range(n):
        if n <= work.basis[p] < 2 * n:
            z[work.basis[p] - n] = max(work.y[p], 0.0)
    return status


@kernel
def _is_accurate(n, matrix, q, z):
    """Whether z solves the problem, up to rounding."""
    top, sums = 0.0, 0.0
    for i in range(n):
        size = abs(q[i])
        for j in range(n):
            size += abs(matrix[i, j]) * z[j]
        top, sums = max(top, z[i]), max(sums, size)
    for i in range(n):
        w = q[i]
        for j in range(n):
            w += matrix[i, j] * z[j]
        # Written so that NaN is not accurate.
        if not (w >= -ACCURATE * sums and (w <= ACCURATE * sums or z[i] <= ACCURATE * top)):
            return False
    return True


@kernel
def lemke(n, matrix, q, z, work):
    """Solve the problem of the first `n` rows and columns; SOLVED, RAY, LIMIT or INACCURATE."""
    status = SOLVED
    for attempt in range(ATTEMPTS):
        status = _follow_path(n, attempt, matrix, q, z, work)
        if status == SOLVED:
            if _is_accurate(n, matrix, q, z):
                return SOLVED
            status = INACCURATE
    return status
