"""Lemke's algorithm, from the problem to a checked answer: CLINE 2.7.1 and 4.8.

Find z with w = M z + q, z >= 0, w >= 0, wᵀz = 0. An artificial z0, which adds cover * z0 to every
row, makes the start feasible; each pivot lets the complement of the variable that just left enter,
until z0 leaves (solved) or nothing leaves (a ray). Ties are broken lexicographically, so no basis
comes twice and the algorithm ends. The pivots are in pivoting.py, the inverse of the basis is in
basis.py. Here the answer is measured, and where rounding spoiled it the algorithm goes on from the
basis that it reached: any basis can be a start, with a column of z0 made for it.
"""

import sys
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from drystone.model.checks import choice
from drystone.model.signatures import public
from drystone.solvers.lcp.basis import Basis, ScaledColumns, scale_columns
from drystone.solvers.lcp.checks import (
    Matrix,
    check_count,
    check_cover,
    check_matrix,
    check_size,
    check_vector,
)

# The answer counts as solved if lcp_error() is below this. Exact bases give 1e-16 to 1e-13.
ACCURATE = 1e-10

# Below this error nothing is left to gain.
PRECISE = 1e-15

# Near-ties (pivoting.find_leaving) of the first try and of those that go on from where it ended.
TIES = (1e-12, 1e-14, 1e-12, 1e-14)

# Cost of about a minute, in multiplications.
MINUTE = 1e11

METHODS = ("lemke",)


@public
class LcpResult(NamedTuple):
    """What solve() found. status says which of these it is:

    "solved"           z and w solve the problem; checked, lcp_error() is at most 1e-10
    "ray"              Lemke's path goes off to infinity. If M is copositive-plus, positive
                       semidefinite for one, the problem has then no solution; else it may have one
                       that another `cover` finds
    "iteration-limit"  stopped after `limit` pivots, or a minute of work
    "inaccurate"       the path ended, but rounding left an answer that fails the check
    "singular"         a mixed problem whose equations do not determine x, or contradict each other

    Unless it is "solved", z is the best place that the path came by; w = M z + q may be negative.
    """

    z: np.ndarray
    w: np.ndarray
    status: str
    pivots: int  # exchanges of two variables, the first one, of z0, included


class Path(NamedTuple):
    """Where Lemke's path ended."""

    status: str
    pivots: int
    value: np.ndarray  # (N,) x, then z
    error: float
    work: float  # multiplications
    cost: float  # the same in time: those in an inverse take less


@public
def solve(
    M: Matrix,  # noqa: N803
    q: ArrayLike,
    method: str = "lemke",
    cover: ArrayLike | None = None,
    limit: int | None = None,
) -> LcpResult:
    """Solve w = M z + q, z >= 0, w >= 0, wᵀz = 0.

    M        (n, n) array or sparse matrix
    q        (n,)
    cover    (n,) all positive: the column of the artificial variable; None: ones
    limit    pivots after which to give up; None: after about a minute of work
    """
    choice("method", method, METHODS)
    q = check_vector("q", q)
    n = len(q)
    matrix = check_matrix("M", M, (n, n))
    check_size(n)
    path = follow_path(matrix, q, 0, np.arange(n), check_cover(cover, n), limit)
    z = path.value
    return LcpResult(z, matrix @ z + q, path.status, path.pivots)


@public
def lcp_error(M: Matrix, q: ArrayLike, z: ArrayLike) -> float:  # noqa: N803
    """How far z is from a solution; without unit, unchanged if M, q or z are scaled.

    Largest |min(z_i, w_i)|, z in units of the largest z and w in units of the largest sum of sizes
    |q_i| + sum |M_ij z_j| of which it is the rest, after rows and columns are brought to a common
    size (basis.equilibrate): rounding alone gives some 1e-16.
    """
    q, z = check_vector("q", q), check_vector("z", z)
    matrix = check_matrix("M", M, (len(z), len(q)))
    return mixed_error(matrix, q, scale_columns(matrix, q, 0), z)


def mixed_error(matrix, q, table: ScaledColumns, xz) -> float:
    """lcp_error() of the pairs, or the error of the equations of x, whichever is larger."""
    free, pairs = table.free, table.pairs
    size = table.rows * (np.abs(q) + abs(matrix) @ np.abs(xz))
    w = table.rows * (matrix @ xz + q) / (size.max(initial=0.0) or 1.0)
    z = xz[free:] / table.scale[pairs : 2 * pairs]
    z /= np.abs(z).max(initial=0.0) or 1.0
    return float(np.abs(np.concatenate((w[:free], np.minimum(z, w[free:])))).max(initial=0.0))


def follow_path(matrix, q, free, start, cover, limit, most=None) -> Path:
    """Lemke's algorithm for checked input.

    matrix   (N, N) by columns: its first `free` rows are equations, its first `free` columns of x
    start    (N,) variables of the first basis, place by place
    cover    (N,) what z0 gives to each variable of the first basis
    limit    pivots; None: as many as fit in `most`
    most     cost after which to give up; None: about a minute if there is no limit of pivots either
    """
    if most is None:
        most = MINUTE if limit is None else np.inf
    table = scale_columns(matrix, q, free)
    limit = sys.maxsize if limit is None else check_count("limit", limit)
    best, pivots, work, cost = None, 0, 0.0, 0.0
    for tie in TIES:
        basis = Basis(table, start, cover, tie)
        status, count = basis.run(limit - pivots, most - cost)
        pivots, work, cost = pivots + count, work + basis.work, cost + basis.cost
        value = basis.values()
        xz = np.concatenate((value[2 * table.pairs + 1 :], value[table.pairs : 2 * table.pairs]))
        if not np.isfinite(xz).all():
            xz[:] = 0.0  # a basis so singular that its inverse overflowed: an answer, if a bad one
        error = mixed_error(matrix, q, table, xz)
        if best is None or error < best.error:
            status = _checked(status, error)
            best = Path(status, pivots, xz, error, work, cost)
        over = error <= PRECISE or pivots >= limit or cost >= most
        if over or basis.is_feasible() or not basis.complete():
            break
        start = basis.tableau.basis
    return best._replace(pivots=pivots, work=work, cost=cost)


def _checked(status: str, error: float) -> str:
    if error <= ACCURATE:  # also a path that was left when z0 was down to rounding
        return "solved"
    return "inaccurate" if status == "solved" else status
