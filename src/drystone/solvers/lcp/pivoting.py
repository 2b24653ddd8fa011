"""Pivots of Lemke's algorithm on the explicit inverse of the basis: CLINE 2.7.1, 4.8.1, 4.8.3.

All variables and their columns form one sparse matrix T, CLINE eq. 2.36, and T (w, z, z0, x) = q.
With m pairs, w_i is variable i, z_i is m + i, the artificial z0 is 2 m, and the unconstrained x_k
of a mixed problem is 2 m + 1 + k; the rows of the `free` equations of x come first. T is stored by
columns: entries first[v] to first[v + 1] of `row` and `value` are column v.

As long as w_i is basic its column of B is a unit vector, and so is that column of B⁻¹: it is
neither stored nor touched. A pivot then costs N times the number of z in the basis, not N².
"""

from typing import NamedTuple

import numpy as np

from drystone.jit import kernel
from drystone.jit.table import table

# Small-pivot guard, CLINE 4.8.3: an entry of d below this share of the largest is rounding. Where
# contacts are redundant many entries should be zero; 1e-10 let some pass on the Capsules problems.
SMALL_PIVOT = 1e-9

# A pivot below this share of the largest entry multiplies what rounding has done to B⁻¹ so far:
# it is chosen again after B⁻¹ is computed afresh.
DOUBTFUL_PIVOT = 1e-3

# Entries of B⁻¹ that break a tie are taken as known to this share of the largest in their row.
LEXICAL_TIE = 1e-9

PIVOTED, SOLVED, RAY = range(3)


@table
class Tableau(NamedTuple):
    """The columns of T, the basis, and the scratch of a pivot."""

    first: np.ndarray  # (variables + 1,) int32: entries of each column
    row: np.ndarray  # int32
    value: np.ndarray
    q: np.ndarray  # (N,)
    free: int  # equations of x
    start: np.ndarray  # (N,) int32: the first basis
    basis: np.ndarray  # (N,) int32: variable at each place of the basic vector y
    place: np.ndarray  # (variables,) int32: where a variable stands in y, or -1
    inverse: np.ndarray  # (N, N) column j of B⁻¹ in row j, so that the loops run along memory
    y: np.ndarray  # (N,) B⁻¹ q
    d: np.ndarray  # (N,) B⁻¹ c for the column c of the variable that enters
    tied: np.ndarray  # (N,) int32, scratch: places that may leave
    size: np.ndarray  # (N,) scratch: largest entries of their rows of B⁻¹
    key: np.ndarray  # (N,) scratch
    inner: np.ndarray  # (N,) int32, scratch of gather_basis()
    work: np.ndarray  # (1,) multiplications so far, those of tests for ties included


@kernel
def _unit_place(j, place, free):
    """Place of w in y if column j of B⁻¹ is a unit vector, else -1."""
    return place[j - free] if j >= free else -1


@kernel
def find_direction(v, t):
    """d = B⁻¹ c for the column c of variable v."""
    first, row, value, place, inverse, d = t.first, t.row, t.value, t.place, t.inverse, t.d
    n = d.shape[0]
    for p in range(n):
        d[p] = 0.0
    for e in range(first[v], first[v + 1]):
        c = value[e]
        at = _unit_place(row[e], place, t.free)
        if at >= 0:
            d[at] += c
        else:
            t.work[0] += n
            for p in range(n):
                d[p] += c * inverse[row[e], p]


@kernel
def _entry(p, v, t):
    """Entry p of B⁻¹ times the column of variable v."""
    row, value, place = t.row, t.value, t.place
    if place[v] >= 0:
        return 1.0 if place[v] == p else 0.0
    total = 0.0
    for e in range(t.first[v], t.first[v + 1]):
        at = _unit_place(row[e], place, t.free)
        if at < 0:
            total += value[e] * t.inverse[row[e], p]
        elif at == p:
            total += value[e]
    return total


@kernel
def _row_size(p, t):
    """Largest entry of row p of B⁻¹: what the rounding of its other entries is relative to."""
    size = 0.0
    for j in range(t.inverse.shape[0]):
        at = _unit_place(j, t.place, t.free)
        if at < 0:
            size = max(size, abs(t.inverse[j, p]))
        elif at == p:
            size = max(size, 1.0)
    return size


@kernel
def _select_least(count, v, t):
    """Select the tied places with the least ratio in one column of B⁻¹ B0; returns how many."""
    tied, size, key, d = t.tied, t.size, t.key, t.d
    t.work[0] += count * (1 if t.place[v] >= 0 else 1 + t.first[v + 1] - t.first[v])
    reach = 0.0
    for k in range(count):
        p = tied[k]
        key[k] = _entry(p, v, t) / d[p]
        bound = key[k] + LEXICAL_TIE * size[k] / d[p]
        reach = bound if k == 0 else min(reach, bound)
    selected = 0
    for k in range(count):
        if key[k] - LEXICAL_TIE * size[k] / d[tied[k]] <= reach:
            tied[selected], size[selected] = tied[k], size[k]
            selected += 1
    return selected


@kernel
def find_leaving(tie, t):
    """Place of the variable that reaches zero first as the entering one grows; -1: none does.

    Lexicographic minimum ratio test. Places are tied if any of them may leave without that y falls
    below minus `tie` times its largest entry: CLINE 4.8.3 leaves open whether near-ties are ties;
    taken as such they put y wrong by no more than that. Of ties z0 leaves first, which is the end.
    Else they are broken by the columns of B⁻¹ B0, B0 being the basis of `start`; in CLINE B0 = I.
    """
    basis, y, d, tied = t.basis, t.y, t.d, t.tied
    n = y.shape[0]
    pairs = n - t.free
    largest, top = 0.0, 0.0
    for p in range(n):
        if basis[p] <= 2 * pairs:
            largest = max(largest, abs(d[p]))
            top = max(top, y[p])
    found, reach = False, 0.0  # how far v can grow if y may fall to -tie of its largest entry
    for p in range(n):
        if basis[p] <= 2 * pairs and d[p] > SMALL_PIVOT * largest:
            if not found or y[p] + tie * top < reach * d[p]:
                found, reach = True, (y[p] + tie * top) / d[p]
    if not found:
        return -1
    count = 0
    for p in range(n):
        if basis[p] <= 2 * pairs and d[p] > SMALL_PIVOT * largest and y[p] <= reach * d[p]:
            if basis[p] == 2 * pairs:
                return p
            tied[count] = p
            count += 1
    if count > 1:
        t.work[0] += count * n
        for k in range(count):
            t.size[k] = _row_size(tied[k], t)
    for k in range(n):
        if count == 1:
            break
        if t.start[k] <= 2 * pairs:
            count = _select_least(count, t.start[k], t)
    return tied[0]


@kernel
def fill_artificial(cover, pairs, t):
    """Column of z0: minus the first basis times `cover`, so that z0 lifts every y."""
    first, row, value, start = t.first, t.row, t.value, t.start
    z0 = first[2 * pairs]
    for e in range(z0, first[2 * pairs + 1]):
        value[e] = 0.0  # row[e] is e - z0: the column is stored whole
    for p in range(start.shape[0]):
        for e in range(first[start[p]], first[start[p] + 1]):
            value[z0 + row[e]] -= cover[p] * value[e]


@kernel
def exchange(r, v, free, basis, place, inverse, y, d):
    """Variable v takes place r: the rank-one update of B⁻¹, CLINE eq. 4.21.

    There B⁻¹ Δv = d - e_r and 1 + bᵀ Δv = d_r. Returns the number of multiplications.
    """
    n = y.shape[0]
    left = basis[r]
    step = y[r] / d[r]
    work = 0
    for j in range(n):
        at = _unit_place(j, place, free)
        if at >= 0 and at != r:
            continue
        b = 1.0 if at == r else inverse[j, r]
        share = b / d[r]
        if at == r:
            for p in range(n):
                inverse[j, p] = -share * d[p]
        elif share != 0.0:
            for p in range(n):
                inverse[j, p] -= share * d[p]
        inverse[j, r] = share
        work += n
    for p in range(n):
        y[p] -= step * d[p]
    y[r] = step
    place[left] = -1
    basis[r] = v
    place[v] = r
    return work


@kernel
def _largest(d):
    top = 0.0
    for p in range(d.shape[0]):
        top = max(top, abs(d[p]))
    return top


@kernel
def pivot(v, count, tie, most, t):
    """Up to `count` pivots, v entering first; fewer if B⁻¹ must be computed afresh, or if t.work
    has come to `most`: Python hears Ctrl-C only between two calls.

    Returns PIVOTED, SOLVED or RAY, the pivots made, and the next variable to enter.
    """
    pairs = t.y.shape[0] - t.free
    for done in range(count):
        find_direction(v, t)
        r = find_leaving(tie, t)
        if r < 0:
            return RAY, done, v
        if done > 0 and t.d[r] < DOUBTFUL_PIVOT * _largest(t.d):
            return PIVOTED, done, v
        left = t.basis[r]
        t.work[0] += exchange(r, v, t.free, t.basis, t.place, t.inverse, t.y, t.d)
        if left == 2 * pairs:
            return SOLVED, done + 1, v
        v = left + pairs if left < pairs else left - pairs
        if t.work[0] >= most:
            return PIVOTED, done + 1, v
    return PIVOTED, count, v


@kernel
def gather_basis(t, small):
    """The square part of B without its unit columns, into `small`.

    t.inner (N,): number of a row of the system in `small`, or -1 where a unit column covers it.
    """
    first, row, basis, inner = t.first, t.row, t.basis, t.inner
    n = basis.shape[0]
    rows = 0
    for j in range(n):
        inner[j] = -1
        if _unit_place(j, t.place, t.free) < 0:
            inner[j] = rows
            rows += 1
    for i in range(rows):
        for k in range(rows):
            small[i, k] = 0.0
    column = 0
    pairs = n - t.free
    for p in range(n):
        if basis[p] >= pairs:
            for e in range(first[basis[p]], first[basis[p] + 1]):
                if inner[row[e]] >= 0:
                    small[inner[row[e]], column] = t.value[e]
            column += 1


@kernel
def spread_inverse(t, small):
    """B⁻¹ and y = B⁻¹ q from the inverse `small` of the part that gather_basis() took.

    y is refined once by B⁻¹ (q - B y); t.key holds the difference.
    """
    first, row, value, basis, inverse = t.first, t.row, t.value, t.basis, t.inverse
    inner, y, difference = t.inner, t.y, t.key
    n = basis.shape[0]
    pairs = n - t.free
    for j in range(n):
        if inner[j] < 0:
            continue
        for p in range(n):
            inverse[j, p] = 0.0
        column = 0
        for p in range(n):
            if basis[p] >= pairs:
                share = small[column, inner[j]]
                column += 1
                if share == 0.0:
                    continue
                inverse[j, p] = share
                for e in range(first[basis[p]], first[basis[p] + 1]):
                    at = _unit_place(row[e], t.place, t.free)
                    if at >= 0:
                        inverse[j, at] -= value[e] * share
    for p in range(n):
        y[p] = 0.0
        difference[p] = t.q[p]
    add_solution(difference, t.free, t.place, t.inverse, t.y)
    for p in range(n):
        for e in range(first[basis[p]], first[basis[p] + 1]):
            difference[row[e]] -= value[e] * y[p]
    add_solution(difference, t.free, t.place, t.inverse, t.y)


@kernel
def add_solution(b, free, place, inverse, y):
    """y += B⁻¹ b."""
    n = y.shape[0]
    for j in range(n):
        at = _unit_place(j, place, free)
        if at >= 0:
            y[at] += b[j]
        elif b[j] != 0.0:
            for p in range(n):
                y[p] += b[j] * inverse[j, p]
