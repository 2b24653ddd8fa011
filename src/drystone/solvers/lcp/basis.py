"""Lemke's algorithm: the scaled columns of a complementarity problem, and the basis that it moves.

What the numbers of the variables and the arrays mean is said in pivoting.py.
"""

from typing import NamedTuple

import numpy as np

from drystone.jit import kernel
from drystone.solvers.lcp.pivoting import (
    PIVOTED,
    RAY,
    SMALL_PIVOT,
    SOLVED,
    Tableau,
    exchange,
    fill_artificial,
    find_direction,
    gather_basis,
    pivot,
    spread_inverse,
)

# Pivots between two fresh inverses. Each update adds rounding, and near-singular bases multiply it:
# with 100 a dozen islands of the Capsules problems ended wrong at the first try, with 20 up to 3.
REFRESH = 20

# Multiplications of one call of pivot(), a tenth of a second: Ctrl-C is heard in between.
BREATH = 1e8

# An inverse by LAPACK does so many multiplications in the time in which a pivot does one.
LAPACK_LEAD = 8.0

# y below zero by more than this share of its largest entry is not rounding.
FEASIBLE = 1e-14

ENDINGS = {SOLVED: "solved", RAY: "ray", PIVOTED: "iteration-limit"}


class ScaledColumns(NamedTuple):
    """The columns of CLINE eq. 2.36 after equilibrate(), by columns: w, z, z0, x."""

    first: np.ndarray  # (variables + 1,) int32
    row: np.ndarray  # int32
    value: np.ndarray
    q: np.ndarray  # (N,)
    free: int  # count of unconstrained x, and of their equations
    scale: np.ndarray  # (variables,) a variable of the problem is this times ours
    rows: np.ndarray  # (N,) our rows are this times those of the problem

    @property
    def pairs(self) -> int:
        return len(self.q) - self.free


def scale_columns(matrix, q, free: int) -> ScaledColumns:
    """Of `matrix` (N, N) by columns, x first: equations in its first `free` rows, then w."""
    size = len(q)
    rows, columns = np.ones(size), np.ones(size)
    first, row = matrix.indptr.astype(np.int32), matrix.indices.astype(np.int32)
    equilibrate(first, row, matrix.data, rows, columns, np.zeros(size), np.zeros(size))
    counts = np.diff(first)
    value = -matrix.data * rows[row] * np.repeat(columns, counts)
    cut, every = first[free], np.arange(size, dtype=np.int32)
    count = np.concatenate((np.ones(size - free, int), counts[free:], [size], counts[:free]))
    scale = np.concatenate((1.0 / rows[free:], columns[free:], [1.0], columns[:free]))
    return ScaledColumns(
        np.concatenate(([0], np.cumsum(count))).astype(np.int32),
        np.concatenate((every[free:], row[cut:], every, row[:cut])),
        np.concatenate((np.ones(size - free), value[cut:], np.zeros(size), value[:cut])),
        rows * q, free, scale, rows,
    )  # fmt: skip


@kernel
def equilibrate(first, row, value, rows, columns, row_top, column_top):
    """Factors for rows and columns that bring the largest entry of each near one [Ruiz2001].

    Powers of two: they round nothing and change no decision of the algorithm but what is small.
    """
    n = rows.shape[0]
    for _ in range(4):  # exponents are halved each time: 16 orders of magnitude become one
        for i in range(n):
            row_top[i] = column_top[i] = 0.0
        for j in range(n):
            for e in range(first[j], first[j + 1]):
                size = abs(value[e]) * rows[row[e]] * columns[j]
                row_top[row[e]] = max(row_top[row[e]], size)
                column_top[j] = max(column_top[j], size)
        for i in range(n):
            if row_top[i] > 0.0:
                rows[i] *= 2.0 ** -np.rint(0.5 * np.log2(row_top[i]))
            if column_top[i] > 0.0:
                columns[i] *= 2.0 ** -np.rint(0.5 * np.log2(column_top[i]))


class Basis:
    """The basic vector, the inverse of its basis, and the scratch of the pivots."""

    def __init__(self, table: ScaledColumns, start, cover, tie: float):
        """Start with the variables `start` (N,); z0 gives `cover` (N,) to each of them."""
        n, variables = len(table.q), len(table.scale)
        self.table, self.tie = table, tie
        start = np.array(start, dtype=np.int32)
        place = np.full(variables, -1, dtype=np.int32)
        place[start] = np.arange(n, dtype=np.int32)
        y, d, size, key = np.zeros((4, n))
        tied, inner = np.zeros((2, n), dtype=np.int32)
        self.tableau = Tableau(
            first=table.first, row=table.row, value=table.value.copy(), q=table.q,
            free=int(table.free), start=start, basis=start.copy(), place=place,
            inverse=np.zeros((n, n)), y=y, d=d, tied=tied, size=size, key=key, inner=inner,
            work=np.zeros(1),
        )  # fmt: skip
        self.entering, self.inverting = -1, 0.0
        fill_artificial(cover / table.scale[start], table.pairs, self.tableau)

    @property
    def work(self) -> float:
        """Multiplications so far."""
        return float(self.tableau.work[0]) + self.inverting

    @property
    def cost(self) -> float:
        """The same in time: those of LAPACK count less."""
        return float(self.tableau.work[0]) + self.inverting / LAPACK_LEAD

    def run(self, limit: int, most: float) -> tuple[str, int]:
        """Pivot until z0 leaves, nothing can leave, the limit, or until `cost` is at `most`.

        Returns how it ended, and the pivots.
        """
        if not self.refresh():
            return "inaccurate", 0
        if self.is_feasible():
            return "solved", 0
        self._enter_artificial()
        pivots, code = 1, PIVOTED
        while pivots < limit and code != SOLVED and self.cost < most:
            code, done, self.entering = pivot(
                self.entering, min(REFRESH, limit - pivots), self.tie,
                self.tableau.work[0] + min(BREATH, most - self.cost), self.tableau,
            )  # fmt: skip
            pivots += done
            if code == RAY and done == 0:  # seen with a fresh inverse
                break
            if not self.refresh():
                return "inaccurate", pivots
        return ENDINGS[code], pivots

    def refresh(self) -> bool:
        """Compute B⁻¹ and y afresh; False if B is singular."""
        size = int((self.tableau.basis >= self.table.pairs).sum())
        small = np.zeros((size, size))
        gather_basis(self.tableau, small)
        try:
            small = np.linalg.inv(small)
        except np.linalg.LinAlgError:
            return False
        if not np.isfinite(small).all():
            return False
        spread_inverse(self.tableau, small)
        self.inverting += 2.0 * size**3
        return True

    def is_feasible(self) -> bool:
        """Whether z0 is out of the basis and y has no negative entry, but for x."""
        t, z0 = self.tableau, 2 * self.table.pairs
        tested = t.y[t.basis < z0]
        least = tested.min(initial=0.0)
        return bool(t.place[z0] < 0 and least >= -FEASIBLE * tested.max(initial=0.0))

    def _enter_artificial(self) -> None:
        """z0 enters, the lexicographically least y / cover leaves, its complement is next."""
        t, z0 = self.tableau, 2 * self.table.pairs
        find_direction(z0, t)
        tested = np.flatnonzero(t.basis < z0)
        ratio = -t.y[tested] / t.d[tested]
        tied = tested[ratio <= ratio.min() + self.tie * np.abs(ratio).max()]
        r = tied[-1]  # the last: then the first entry of every row of B⁻¹ (q, B0) is positive
        self.entering = self.complement(t.basis[r])
        exchange(r, z0, t.free, t.basis, t.place, t.inverse, t.y, t.d)

    def complement(self, v) -> int:
        return int(v) + self.table.pairs if v < self.table.pairs else int(v) - self.table.pairs

    def complete(self) -> bool:
        """Let z0 leave for one of the pair that is missing, wherever y goes; False if none can."""
        t = self.tableau
        r = t.place[2 * self.table.pairs]
        if r < 0:
            return True
        share = {}
        for v in (self.entering, self.complement(self.entering)):
            find_direction(v, t)
            share[v] = abs(t.d[r]) / (np.abs(t.d).max() or 1.0)
        v = max(share, key=share.get)
        t.basis[r] = v
        return share[v] > SMALL_PIVOT

    def values(self) -> np.ndarray:
        """Values of all variables, in the units of the problem."""
        t = self.table
        value = np.zeros(len(t.scale))
        value[self.tableau.basis] = self.tableau.y
        bounded = 2 * t.pairs + 1
        value[:bounded] = np.maximum(value[:bounded], 0.0)
        return value * t.scale
