"""Lemke's algorithm for the small dense problems of one rock, in scratch that the caller owns.

Find z with w = M z + q, z >= 0, w >= 0, wᵀz = 0 (ROCFALL eq. 3.27). The same method as
drystone.solvers.lcp, which is sparse and for any size; here a whole solve is one compiled call.
Variable i is w_i, n + i is z_i, 2 n the artificial one. Column j of the inverse of the basis is row
j of `inverse`; as long as w_j is basic it is a unit vector, and neither stored nor touched.
"""

from typing import NamedTuple

import numpy as np

from drystone.jit import kernel

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
GOLDEN = 0.6180339887498949  # multiples of it, less their whole part, are spread evenly


class PivotRoom(NamedTuple):
    """Scratch for problems of up to N pairs."""

    inverse: np.ndarray  # (N, N)
    y: np.ndarray  # (N,)
    d: np.ndarray  # (N,)
    miss: np.ndarray  # (N,)
    basis: np.ndarray  # (N,) int64
    place: np.ndarray  # (2 N + 1,) int64
    tied: np.ndarray  # (N,) int64

    @classmethod
    def of(cls, size: int) -> "PivotRoom":
        ints = [np.zeros(k, dtype=np.int64) for k in (size, 2 * size + 1, size)]
        return cls(np.zeros((size, size)), *np.zeros((3, size)), *ints)


@kernel
def _add_column(n, j, share, room, out):
    """out += share * column j of the inverse of the basis."""
    at = room.place[j]
    if at >= 0:
        out[at] += share
    elif share != 0.0:
        for p in range(n):
            out[p] += share * room.inverse[j, p]


@kernel
def _cover(j, attempt):
    """What z0 adds to row j: one, and at later attempts something near it."""
    return 1.0 if attempt == 0 else 0.75 + 0.5 * (((j + 1) * attempt * GOLDEN) % 1.0)


@kernel
def _find_direction(n, v, attempt, matrix, room):
    """d = B⁻¹ times the column of variable v: e_i of w_i, -M_i of z_i, -cover of z0."""
    for p in range(n):
        room.d[p] = 0.0
    if v < n:
        _add_column(n, v, 1.0, room, room.d)
    else:
        for j in range(n):
            share = -_cover(j, attempt) if v == 2 * n else -matrix[j, v - n]
            _add_column(n, j, share, room, room.d)


@kernel
def _entry(p, j, room):
    at = room.place[j]
    if at >= 0:
        return 1.0 if at == p else 0.0
    return room.inverse[j, p]


@kernel
def _break_ties(n, count, room):
    """Of the tied places the one that is least lexicographically in B⁻¹ / d."""
    for j in range(n):
        if count == 1:
            break
        least, size = np.inf, 0.0
        for k in range(count):
            p = room.tied[k]
            ratio = _entry(p, j, room) / room.d[p]
            least, size = min(least, ratio), max(size, abs(ratio))
        kept = 0
        for k in range(count):
            p = room.tied[k]
            if _entry(p, j, room) / room.d[p] <= least + LEXICAL_TIE * size:
                room.tied[kept] = p
                kept += 1
        count = kept
    return room.tied[0]


@kernel
def _find_leaving(n, room):
    """Place that reaches zero first as the entering variable grows; -1: none does."""
    largest, top = 0.0, 0.0
    for p in range(n):
        largest, top = max(largest, abs(room.d[p])), max(top, room.y[p])
    reach = np.inf
    for p in range(n):
        if room.d[p] > SMALL_PIVOT * largest:
            reach = min(reach, (room.y[p] + TIE * top) / room.d[p])
    count = 0
    for p in range(n):
        if room.d[p] > SMALL_PIVOT * largest and room.y[p] <= reach * room.d[p]:
            if room.basis[p] == 2 * n:
                return p
            room.tied[count] = p
            count += 1
    return _break_ties(n, count, room) if count > 0 else -1


@kernel
def _exchange(n, r, v, room):
    """Variable v takes place r."""
    pivot, step = room.d[r], room.y[r] / room.d[r]
    for j in range(n):
        at = room.place[j]
        if at >= 0 and at != r:
            continue
        share = 1.0 / pivot if at == r else room.inverse[j, r] / pivot
        if at == r:
            for p in range(n):
                room.inverse[j, p] = -share * room.d[p]
        elif share != 0.0:
            for p in range(n):
                room.inverse[j, p] -= share * room.d[p]
        room.inverse[j, r] = share
    for p in range(n):
        room.y[p] -= step * room.d[p]
    room.y[r] = step
    room.place[room.basis[r]] = -1
    room.basis[r] = v
    room.place[v] = r


@kernel
def _refine(n, attempt, matrix, q, room):
    """y += B⁻¹ (q - B y), for what rounding did in the pivots."""
    for j in range(n):
        miss = q[j]
        for p in range(n):
            v = room.basis[p]
            if v == j:
                miss -= room.y[p]
            elif v >= n:
                miss += (matrix[j, v - n] if v < 2 * n else _cover(j, attempt)) * room.y[p]
        room.miss[j] = miss
    for j in range(n):
        _add_column(n, j, room.miss[j], room, room.y)


@kernel
def _is_gone(n, room):
    """Whether the artificial variable is down to rounding: a degenerate problem, but solved."""
    top = 0.0
    for p in range(n):
        top = max(top, abs(room.y[p]))
    return room.y[room.place[2 * n]] <= GONE * top


@kernel
def _follow_path(n, attempt, matrix, q, z, room):
    """One run of the algorithm: SOLVED, RAY or LIMIT."""
    worst = 0
    for p in range(n):
        room.y[p] = q[p]
        room.basis[p] = p
        room.place[p] = p
        room.place[n + p] = -1
        z[p] = 0.0
        # The last of equals: then every row of (y, B⁻¹) is positive.
        if q[p] * _cover(worst, attempt) <= q[worst] * _cover(p, attempt):
            worst = p
    room.place[2 * n] = -1
    if n == 0 or q[worst] >= 0.0:
        return SOLVED
    v, status = 2 * n, LIMIT
    for _ in range(20 * n + 20):
        _find_direction(n, v, attempt, matrix, room)
        r = worst if v == 2 * n else _find_leaving(n, room)
        if r < 0:
            status = SOLVED if _is_gone(n, room) else RAY
            break
        left = room.basis[r]
        _exchange(n, r, v, room)
        if left == 2 * n:
            status = SOLVED
            break
        v = left + n if left < n else left - n
    for _ in range(REFINEMENTS):
        _refine(n, attempt, matrix, q, room)
    for p in range(n):
        if n <= room.basis[p] < 2 * n:
            z[room.basis[p] - n] = max(room.y[p], 0.0)
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
def lemke(n, matrix, q, z, room):
    """Solve the problem of the first `n` rows and columns; SOLVED, RAY, LIMIT or INACCURATE."""
    status = SOLVED
    for attempt in range(ATTEMPTS):
        status = _follow_path(n, attempt, matrix, q, z, room)
        if status == SOLVED:
            if _is_accurate(n, matrix, q, z):
                return SOLVED
            status = INACCURATE
    return status
