"""Mixed linear complementarity problems, by elimination of x or with x in the basis: CLINE 2.7.2.

    0 = A x + C z + a,    w = D x + B z + b,    z >= 0, w >= 0, wᵀz = 0

elimination   x = -A⁻¹ (a + C z) put into the second row leaves w = (B - D A⁻¹ C) z + b - D A⁻¹ a,
              CLINE eq. 2.41 to 2.43. A is factored sparsely and never inverted, 4.8.2: that is
              how to take the rows of joints out of a contact problem.
direct        Lemke's algorithm with the x in the basis from the start, where they stay.

Where A is singular (a circuit without resistor, a loop of joints) some equations are about z alone,
and some x are determined through w alone. We then let as many z_j as needed into the first basis,
with w_j outside, so that together with x they are determined: z_j and w_j exchange their names, a
principal pivot. Directions of x that no equation determines are set to zero.
"""

import warnings
from typing import NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse
from numpy.typing import ArrayLike
from scipy.sparse.linalg import splu

from drystone.model.checks import choice
from drystone.model.signatures import public
from drystone.solvers.lcp.basis import scale_columns
from drystone.solvers.lcp.checks import Matrix, check_cover, check_matrix, check_size, check_vector
from drystone.solvers.lcp.lemke import ACCURATE, follow_path, mixed_error

# Singular values of A below this share of the largest are zero, after rows and columns are scaled.
SINGULAR = 1e-12

METHODS = ("elimination", "direct")


@public
class MixedResult(NamedTuple):
    """What solve_mixed() found; status as in LcpResult, w = D x + B z + b."""

    x: np.ndarray
    z: np.ndarray
    w: np.ndarray
    status: str
    pivots: int


class Start(NamedTuple):
    """A first basis that determines x."""

    matrix: (
        scipy.sparse.csc_array
    )  # (N, N) rows of the equations, then of w; columns of x, then of z
    swapped: np.ndarray  # pairs whose z_j is in the first basis


@public
def solve_mixed(
    A: Matrix,  # noqa: N803
    B: Matrix,  # noqa: N803
    C: Matrix,  # noqa: N803
    D: Matrix,  # noqa: N803
    a: ArrayLike,
    b: ArrayLike,
    method: str = "elimination",
    cover: ArrayLike | None = None,
    limit: int | None = None,
) -> MixedResult:
    """Solve 0 = A x + C z + a, w = D x + B z + b, z >= 0, w >= 0, wᵀz = 0.

    A, B, C, D   arrays or sparse matrices; `solve_mixed(*load(path))` solves a file
    method       "elimination" or "direct"
    cover        (m,) all positive: the column of the artificial variable; None: ones
    limit        pivots after which to give up; None: after about a minute of work
    """
    choice("method", method, METHODS)
    a, b = check_vector("a", a), check_vector("b", b)
    n, m = len(a), len(b)
    check_size(n + m)
    full = scipy.sparse.block_array(
        [
            [check_matrix("A", A, (n, n)), check_matrix("C", C, (n, m))],
            [check_matrix("D", D, (m, n)), check_matrix("B", B, (m, m))],
        ],
        format="csc",
    )
    q, cover = np.concatenate((a, b)), check_cover(cover, m)
    table = scale_columns(full, q, n)
    rows, columns = table.rows, np.concatenate((table.scale[2 * m + 1 :], table.scale[m : 2 * m]))
    scaled = scipy.sparse.diags_array(rows) @ full @ scipy.sparse.diags_array(columns)
    start = find_start(scaled.tocsc(), rows * q, n)
    if start is None:
        return MixedResult(np.zeros(n), np.zeros(m), b.copy(), "singular", 0)
    run = {"elimination": _eliminate, "direct": _solve_direct}[method]
    ours = rows[n:] * cover  # of w; where z and w are exchanged, of z
    ours[start.swapped] = cover[start.swapped] / columns[n + start.swapped]
    xz, status, pivots = run(start, rows * q, n, ours, limit)
    xz *= columns
    if status == "solved" and not mixed_error(full, q, table, xz) <= ACCURATE:
        status = "inaccurate"
    return MixedResult(xz[:n], xz[n:], (full @ xz + q)[n:], status, pivots)


def find_start(matrix, q, n) -> Start | None:
    """A basis of x, and z_j where A is singular, that determines x; None if there is none."""
    inner = matrix[:n, :n].tocsc()
    if n == 0 or _is_regular(inner):
        return Start(matrix, np.zeros(0, dtype=int))
    left, size, right = scipy.linalg.svd(inner.toarray())
    rank = int((size > SINGULAR * max(size[0], 1.0)).sum())
    left, right = left[:, rank:], right[rank:].T  # what A cannot say, and what it does not see
    of_z, of_x = left.T @ matrix[:n, n:].toarray(), matrix[n:, :n] @ right
    swapped, rest_left, rest_right = _pair_up(of_z, of_x)
    # Equations left over must say nothing: 0 = 0. The x that they do not determine are put to zero.
    left, right = left @ rest_left, right @ rest_right
    empty = np.column_stack((left.T @ matrix[:n, n:].toarray(), left.T @ q[:n]))
    if np.abs(empty).max(initial=0.0) > np.sqrt(SINGULAR) * max(1.0, np.abs(q).max(initial=0.0)):
        return None
    fixed = matrix.toarray()
    fixed[:n, :n] += left @ right.T
    return Start(scipy.sparse.csc_array(fixed), swapped)


def _is_regular(inner) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            factor = splu(inner)
    except RuntimeError:
        return False
    pivots = np.abs(factor.U.diagonal())
    return bool(pivots.min() > SINGULAR * pivots.max())


def _pair_up(of_z, of_x) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Pairs j that tie one equation, by its entry of z_j, and one x, by its entry in w_j, together.

    of_z   (k, m) the k equations that A does not reach
    of_x   (m, k) the k directions of x that it does not determine
    Gaussian elimination on both at once, largest product first. Returns the pairs, and the
    combinations of equations (k, rest) and of directions (k, rest) for which there is no pair.
    """
    of_z, of_x = of_z.copy(), of_x.copy()
    k = len(of_z)
    rows, columns = np.eye(k), np.eye(k)  # combinations so far, as columns
    open_rows, open_columns, pairs = list(range(k)), list(range(k)), []
    while open_rows and of_z.shape[1]:
        score = np.abs(of_z[open_rows]).max(axis=0) * np.abs(of_x[:, open_columns]).max(axis=1)
        j = int(score.argmax())
        if not score[j] > SINGULAR:
            break
        e = open_rows[int(np.abs(of_z[open_rows, j]).argmax())]
        f = open_columns[int(np.abs(of_x[j, open_columns]).argmax())]
        pairs.append(j)
        open_rows.remove(e)
        open_columns.remove(f)
        for other in open_rows:
            share = of_z[other, j] / of_z[e, j]
            of_z[other] -= share * of_z[e]
            rows[:, other] -= share * rows[:, e]
        for other in open_columns:
            share = of_x[j, other] / of_x[j, f]
            of_x[:, other] -= share * of_x[:, f]
            columns[:, other] -= share * columns[:, f]
    return np.array(pairs, dtype=int), rows[:, open_rows], columns[:, open_columns]


def _eliminate(start: Start, q, n, cover, limit):
    """The pure problem in the pairs, z and w of the swapped ones exchanged; x from its answer."""
    full, swapped, size = start.matrix, start.swapped, len(q)
    inside = np.concatenate((np.arange(n), n + swapped))
    rest = np.setdiff1d(np.arange(n, size), inside)
    factor = splu(full[inside][:, inside].tocsc())
    unit = np.zeros((len(inside), len(swapped)))
    unit[n:] = np.eye(len(swapped))
    # (x, z of the swapped) = base + gain (w of the swapped, z of the rest), CLINE 4.8.2 steps 2, 3
    base = -factor.solve(q[inside])
    gain = factor.solve(np.hstack((unit, -full[inside][:, rest].toarray())))
    tail = full[rest][:, inside]
    pure = np.vstack((gain[n:], tail @ gain))
    pure[len(swapped) :, len(swapped) :] += full[rest][:, rest].toarray()
    pure_q = np.concatenate((base[n:], tail @ base + q[rest]))
    order = np.concatenate((swapped, rest - n))
    path = follow_path(
        scipy.sparse.csc_array(pure), pure_q, 0, np.arange(len(order)), cover[order], limit
    )
    z = path.value
    xz = np.zeros(size)
    xz[inside] = base + gain @ z
    xz[n + swapped] = np.where(z[: len(swapped)] > 0.0, 0.0, np.maximum(xz[n + swapped], 0.0))
    xz[rest] = z[len(swapped) :]
    return xz, path.status, path.pivots


def _solve_direct(start: Start, q, n, cover, limit):
    """Lemke's algorithm on all rows, x in the basis for good: CLINE 2.7.2, the three changes."""
    m = len(q) - n
    first = np.arange(m)
    first[start.swapped] += m
    variables = np.concatenate((2 * m + 1 + np.arange(n), first))
    path = follow_path(start.matrix, q, n, variables, np.concatenate((np.zeros(n), cover)), limit)
    return path.value, path.status, path.pivots
