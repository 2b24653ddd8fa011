"""Lemke's algorithm, from the problem to a checked answer: CLINE 2.7.1 and 4.8.

Find z with w = M z + q, z >= 0, w >= 0, wᵀz = 0. An artificial z0, which adds cover * z0 to every
row, makes the start feasible; each pivot lets the complement of the variable that just left enter,
until z0 leaves (solved) or nothing leaves (a ray). Ties are broken lexicographically, so no basis
comes twice and the algorithm ends. The pivots are in pivoting.py; this file prepares the columns,
computes B⁻¹ afresh now and then, and measures what came out. A mixed problem (mixed.py) has
unconstrained variables x too, which stay in the basis and are never tested.
"""

from typing import NamedTuple

import numpy as np
import scipy.sparse

from drystone.errors import InputError
from drystone.inputs import choice
from drystone.lcp.pivoting import (
    PIVOTED,
    RAY,
    SOLVED,
    exchange,
    find_direction,
    gather_basis,
    pivot,
    spread_inverse,
)

# Pivots between two fresh inverses. Each update adds rounding, and a fresh inverse costs about as
# much as one update for every z in the basis.
REFRESH = 100

# The answer counts as solved if lcp_error() is below this. Exact bases give 1e-16 to 1e-13.
ACCURATE = 1e-10

METHODS = ("lemke",)


class LcpResult(NamedTuple):
    """What solve() found. status says which of these it is:

    "solved"           z and w solve the problem; checked, lcp_error() is at most 1e-10
    "ray"              Lemke's path goes off to infinity. If M is copositive-plus, positive
                       semidefinite for one, the problem has then no solution; else it may have one
                       that another `cover` finds
    "iteration-limit"  stopped after `limit` pivots
    "inaccurate"       the path ended, but rounding left an answer that fails the check
    "singular"         a mixed problem whose equations do not determine x, or contradict each other

    Unless it is "solved", z is where the path was left, w = M z + q and may be negative.
    """

    z: np.ndarray
    w: np.ndarray
    status: str
    pivots: int  # exchanges of two variables, the first one, of z0, included


class Table(NamedTuple):
    """The columns of CLINE eq. 2.36, scaled; what the numbers of the variables mean: pivoting.py."""

    columns: scipy.sparse.csc_array  # T, of w, z, z0, x
    q: np.ndarray  # (N,)
    free: int  # count of unconstrained x, and of their equations
    start: np.ndarray  # (N,) int32 variables of the first basis, without z0
    scale: np.ndarray  # (variables,) a variable of the problem is this times ours


class Path(NamedTuple):
    """Where Lemke's path ended."""

    status: str
    pivots: int
    value: np.ndarray  # (variables,) of w, z, z0, x
    work: float  # multiplications


def solve(M, q, method: str = "lemke", cover=None, limit: int | None = None) -> LcpResult:  # noqa: N803
    """Solve w = M z + q, z >= 0, w >= 0, wᵀz = 0.

    M        (n, n) array or sparse matrix
    q        (n,)
    cover    (n,) all positive: the column of the artificial variable; None: ones
    limit    pivots after which to give up; None: enough for some minutes of work
    """
    choice("method", method, METHODS)
    matrix, q = check_lcp(M, q)
    path = follow_path(matrix, q, check_cover(cover, len(q)), limit)
    return LcpResult(*path[:4])


def lcp_error(M, q, z) -> float:  # noqa: N803
    """How far z is from a solution; without unit, unchanged if M, q or z are scaled.

    Largest |min(z_i, w_i)|, z in units of the largest z and w in units of the largest sum of sizes
    |q_i| + sum |M_ij z_j| of which it is the rest, after rows and columns are brought to a common
    size (equilibrate): rounding alone gives some 1e-16.
    """
    matrix, q = check_lcp(M, q)
    return mixed_error(matrix, q, 0, check_vector("z", z))


def mixed_error(matrix, q, free, xz) -> float:
    """lcp_error() if the first `free` rows are equations and the first `free` unknowns any number."""
    rows, columns = equilibrate(matrix)
    size = rows * (np.abs(q) + abs(matrix) @ np.abs(xz))
    w = rows * (matrix @ xz + q) / (size.max(initial=0.0) or 1.0)
    z = xz[free:] / columns[free:]
    z /= np.abs(z).max(initial=0.0) or 1.0
    return float(np.abs(np.concatenate((w[:free], np.minimum(z, w[free:])))).max(initial=0.0))


def follow_path(matrix, q, cover, limit) -> tuple:
    """z, w, status, pivots and multiplications for checked input."""
    n = len(q)
    table = make_table(matrix, q, 0, np.arange(n), cover)
    path = run(table, limit)
    z = path.value[n : 2 * n]
    status = path.status
    if status == "solved" and not lcp_error(matrix, q, z) <= ACCURATE:
        status = "inaccurate"
    return z, matrix @ z + q, status, path.pivots, path.work


def make_table(matrix, q, free, start, cover) -> Table:
    """Columns for rows that say 0 = (first `free` rows of matrix (x, z) + q), w = (the others).

    start    variables of the first basis, place by place
    cover    (N,) what z0 gives to each variable of the first basis; z0's own column is made from it
    """
    rows, columns = equilibrate(matrix)
    pairs = len(q) - free
    scaled = scipy.sparse.diags_array(rows) @ matrix @ scipy.sparse.diags_array(columns)
    unit = scipy.sparse.eye_array(len(q), format="csc")[:, free:]
    scale = np.concatenate((1.0 / rows[free:], columns[free:], [1.0], columns[:free]))
    table = scipy.sparse.hstack((unit, -scaled[:, free:], np.zeros((len(q), 1)), -scaled[:, :free]))
    table = table.tocsc()
    artificial = table[:, start] @ (-cover / scale[start])
    table = scipy.sparse.hstack(
        (table[:, : 2 * pairs], artificial[:, None], table[:, 2 * pairs + 1 :]), format="csc"
    )
    return Table(table, rows * q, free, start.astype(np.int32), scale)


def equilibrate(matrix) -> tuple[np.ndarray, np.ndarray]:
    """Powers of two for rows and columns that bring the largest entry of each near one [Ruiz2001].

    They change no decision of the algorithm, only what counts as small, and round nothing.
    """
    size = abs(matrix).tocsc().astype(np.float64)
    rows, columns = np.ones(matrix.shape[0]), np.ones(matrix.shape[1])
    for _ in range(4):  # the exponent is halved each time; 16 orders of magnitude become one
        scaled = scipy.sparse.diags_array(rows) @ size @ scipy.sparse.diags_array(columns)
        for factor, axis in ((rows, 1), (columns, 0)):
            largest = scaled.max(axis=axis).toarray().ravel() if scaled.shape[0] else np.zeros(0)
            largest[largest == 0.0] = 1.0
            factor *= np.exp2(-np.round(np.log2(largest) / 2.0))
    return rows, columns


def run(table: Table, limit: int | None) -> Path:
    """Pivot until z0 leaves, nothing can leave, or the limit is reached."""
    n = len(table.q)
    limit = max(50 * n, 10**9 // max(n, 1) ** 2) if limit is None else limit
    basis = Basis(table)
    if not basis.refresh():
        return Path("inaccurate", 0, basis.values(), basis.work)
    v = basis.enter_artificial()
    if v < 0:
        return Path("solved", 0, basis.values(), basis.work)
    pivots, code = 1, PIVOTED
    while pivots < limit and code != SOLVED:
        code, done, v = basis.pivot(v, min(REFRESH, limit - pivots))
        pivots += done
        if code == RAY and done == 0:  # so says a fresh inverse too
            break
        if not basis.refresh():
            return Path("inaccurate", pivots, basis.values(), basis.work)
    status = {SOLVED: "solved", RAY: "ray", PIVOTED: "iteration-limit"}[code]
    return Path(status, pivots, basis.values(), basis.work)


class Basis:
    """The basic vector, the inverse of its basis, and room for the pivots."""

    def __init__(self, table: Table):
        n, variables = len(table.q), table.columns.shape[1]
        csc = table.columns
        self.table = table
        self.columns = csc.indptr.astype(np.int32), csc.indices.astype(np.int32), csc.data
        self.basis = table.start.copy()
        self.place = np.full(variables, -1, dtype=np.int32)
        self.place[self.basis] = np.arange(n, dtype=np.int32)
        self.inverse = np.zeros((n, n))
        self.y, self.d, self.size, self.key = np.zeros((4, n))
        self.tied = np.zeros(n, dtype=np.int32)
        self.inner = np.zeros(n, dtype=np.int32)
        self.work = 0.0

    def refresh(self) -> bool:
        """Compute B⁻¹ and y afresh; False if B is singular."""
        t = self.table
        size = int((self.basis >= len(t.q) - t.free).sum())
        small = np.zeros((size, size))
        gather_basis(*self.columns, t.free, self.basis, self.place, self.inner, small)
        try:
            small = np.linalg.inv(small)
        except np.linalg.LinAlgError:
            return False
        if not np.isfinite(small).all():
            return False
        spread_inverse(
            *self.columns, t.q, t.free, self.basis, self.place, self.inner, small,
            self.inverse, self.y,
        )  # fmt: skip
        self.work += 2.0 * size**3
        return True

    def enter_artificial(self) -> int:
        """z0 enters and the lexicographically least y / cover leaves.

        Returns the complement of what left, or -1 if no y is negative: then z0 is not needed.
        """
        t = self.table
        pairs = len(t.q) - t.free
        find_direction(2 * pairs, *self.columns, self.place, self.inverse, t.free, self.d)
        tested = np.flatnonzero(self.basis < 2 * pairs)
        if (self.y[tested] >= 0.0).all():
            return -1
        ratio = -self.y[tested] / self.d[tested]
        r = tested[np.flatnonzero(ratio == ratio.min())[-1]]  # the last: rows of B⁻¹ B0 then are > 0
        left = int(self.basis[r])
        exchange(r, 2 * pairs, t.free, self.basis, self.place, self.inverse, self.y, self.d)
        return left + pairs if left < pairs else left - pairs

    def pivot(self, v: int, count: int) -> tuple[int, int, int]:
        t = self.table
        code, done, v, work = pivot(
            v, count, t.start, *self.columns, t.free, self.basis, self.place, self.inverse, self.y,
            self.d, self.tied, self.size, self.key,
        )  # fmt: skip
        self.work += work
        return code, done, v

    def values(self) -> np.ndarray:
        """Values of all variables, in the units of the problem."""
        t = self.table
        value = np.zeros(t.columns.shape[1])
        value[self.basis] = self.y
        bounded = 2 * (len(t.q) - t.free) + 1
        value[:bounded] = np.maximum(value[:bounded], 0.0)
        return value * t.scale


def check_lcp(M, q):  # noqa: N803
    """M as a sparse matrix by columns and q as an array; InputError if they cannot be."""
    q = check_vector("q", q)
    return check_matrix("M", M, (len(q), len(q))), q


def check_matrix(name, matrix, shape) -> scipy.sparse.csc_array:
    try:
        result = scipy.sparse.csc_array(matrix, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{name} must be a matrix of numbers.") from None
    if result.shape != shape:
        raise InputError(f"{name} has shape {result.shape}, must have {shape}.")
    if not np.isfinite(result.data).all():
        raise InputError(f"{name} holds a number that is not finite.")
    return result


def check_vector(name, vector) -> np.ndarray:
    try:
        result = np.array(vector, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{name} must be a vector of numbers.") from None
    if result.ndim != 1:
        raise InputError(f"{name} has shape {result.shape}, must be a vector.")
    if not np.isfinite(result).all():
        raise InputError(f"{name} holds a number that is not finite.")
    return result


def check_cover(cover, n) -> np.ndarray:
    if cover is None:
        return np.ones(n)
    result = check_vector("cover", cover)
    if result.shape != (n,) or not (result > 0.0).all():
        raise InputError(f"cover must hold {n} numbers above zero.")
    return result
