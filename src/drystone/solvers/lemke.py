"""Contact by Lemke's algorithm: friction on a polyhedral cone as a linear complementarity problem.

Of a contact the unknowns are its normal impulse p_n, the impulses f_k >= 0 along `facets`
directions d_k of the tangent plane, the first along tangent 1, and gamma, the speed of sliding.
With u = W p + q and p_t = sum f_k d_k (CLINE eq. 2.46 to 2.49, ROCFALL eq. 3.43 to 3.46):

    0 <= u_n                  complementary to  p_n >= 0
    0 <= gamma + d_k . u_t    complementary to  f_k >= 0
    0 <= mu p_n - sum f_k     complementary to  gamma >= 0

so M = G W Gᵀ + C, where G takes velocities to the rows and C holds gamma, mu and the sum. For given
p_n the last two lines say that p_t has the least p_t . u_t in the polygon with corners mu p_n d_k:
the law "polyhedral". A contact without friction has its first row only. Islands do not know of each
other and are solved one by one; a pivot costs the square of an island's contacts, and there are a
few for every contact.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import scipy.sparse

from drystone.constraints.laws import law_errors
from drystone.constraints.matrix_problem import MatrixProblem
from drystone.constraints.problem import ContactProblem, SolveInfo
from drystone.errors import InputError
from drystone.model.checks import positive
from drystone.solvers.convergence import ConvergenceMonitor
from drystone.solvers.lcp.checks import MOST_ROWS
from drystone.solvers.lcp.lemke import follow_path
from drystone.solvers.options import check_options, refuse_elliptic


@dataclass(frozen=True)
class Lemke:
    """Exact on its own law, whatever the masses, in finitely many pivots; for small islands."""

    law: ClassVar[str] = "polyhedral"
    supports: ClassVar[frozenset[str]] = frozenset({"restitution", "surfaces", "2d", "matrix"})
    compiled: ClassVar[bool] = False

    facets: int = (
        8  # corners of the friction polygon; the circle is cut by up to 1 - cos(pi / facets)
    )
    tolerance: float = 1e-8  # on residual() for the law "polyhedral" [m/s]
    max_pivots: int = 0  # of an island; 0: 20 for every row of its problem, where 1 is usual
    max_work: float = 4e9  # multiplications of a solve, 2 to 3 s; small islands are solved first
    measure: str = "velocity"
    history: bool = False

    def __post_init__(self) -> None:
        check_options(self, "lemke")
        if self.facets % 2:
            raise InputError(f"lemke: facets is {self.facets}, must be an even number.")
        positive("lemke: max_work", self.max_work)

    def solve(self, problem: ContactProblem | MatrixProblem, impulse: np.ndarray) -> SolveInfo:
        """Improve `impulse` in place; see problem.ContactSolver.

        Pivoting has no use for a guess, except to see that it solves the problem already.
        """
        refuse_elliptic(problem, "lemke")
        monitor = ConvergenceMonitor(self, problem, impulse, 1, "lemke")
        pivots = 0
        endings: set[str] = set()
        if not monitor.converged:
            answer = np.zeros_like(impulse)
            pivots, multiplications, endings = self._solve_islands(problem, answer)
            self._keep_better(problem, impulse, answer)
            monitor.done(answer, multiplications / max(problem.W().nnz, 1))
            monitor.best[:] = answer  # in no island worse, though perhaps as bad in the worst
        info = monitor.report(impulse, ", ".join(sorted(endings)))
        return info._replace(iterations=pivots)

    def _keep_better(self, problem, guess, answer) -> None:
        """Put the guess into `answer` for islands, given up, of which it is the better one."""
        worst = np.zeros((2, problem.islands().max(initial=-1) + 1))
        for k, impulse in enumerate((guess, answer)):
            velocity = problem.velocity(impulse)
            errors = law_errors(problem, impulse, velocity, self.law, self.facets)
            np.maximum.at(worst[k], problem.islands(), errors)
        better = ~(worst[1] <= worst[0])[problem.islands()]  # a NaN never is
        answer[better] = guess[better]

    def _solve_islands(self, problem, impulse) -> tuple[int, float, set]:
        """Impulses of all islands; most pivots of one, multiplications of all, how they ended."""
        island = problem.islands()
        order = np.argsort(island, kind="stable")  # contacts of an island one after the other
        rows = (3 * order[:, None] + np.arange(3)).ravel()
        W, q = problem.W().tocsr()[rows][:, rows], problem.q()[order].ravel()  # noqa: N806
        G, C, first = contact_rows(problem.friction[order], self.facets)  # noqa: N806
        M, q = (G @ W @ G.T + C).tocsc(), G @ q  # noqa: N806
        edges = np.concatenate(([0], np.cumsum(np.bincount(island))))
        z = np.zeros(len(q))
        pivots, work, cost, endings = 0, 0.0, 0.0, set()
        low, high = first[edges[:-1]], first[edges[1:]]
        for k in np.argsort(high - low, kind="stable"):
            lo, hi = low[k], high[k]
            if hi - lo > MOST_ROWS or cost >= self.max_work:
                endings.add("too-large" if hi - lo > MOST_ROWS else "iteration-limit")
                continue
            part = _diagonal_block(M, lo, hi)
            start, cover = np.arange(hi - lo), np.ones(hi - lo)
            limit = self.max_pivots or 20 * (hi - lo)
            path = follow_path(part, q[lo:hi], 0, start, cover, limit, self.max_work - cost)
            z[lo:hi] = path.value
            pivots, work, cost = max(pivots, path.pivots), work + path.work, cost + path.cost
            endings.add(path.status)
        impulse[order] = (G.T @ z).reshape(-1, 3)
        return pivots, work, endings


def _diagonal_block(matrix, lo, hi) -> scipy.sparse.csc_array:
    """Rows and columns lo..hi of a matrix that is zero beside them; slicing takes far longer."""
    first = matrix.indptr[lo : hi + 1]
    entries = slice(first[0], first[-1])
    parts = matrix.data[entries], matrix.indices[entries] - lo, first - first[0]
    return scipy.sparse.csc_array(parts, shape=(hi - lo, hi - lo))


def contact_rows(friction, facets) -> tuple:
    """G and C of ROCFALL eq. 3.45, 3.46, contact by contact: p_n, then f_k and gamma if mu > 0.

    Also (nc + 1,) the first row of every contact.
    """
    angle = 2.0 * np.pi * np.arange(facets) / facets
    first = np.concatenate(([0], np.cumsum(np.where(friction > 0.0, facets + 2, 1))))
    rough = np.flatnonzero(friction > 0.0)
    normal, gamma = first[rough], first[rough] + facets + 1
    force = normal[:, None] + 1 + np.arange(facets)
    nc = len(friction)
    ones, many = np.ones(nc), np.ones((len(rough), facets))
    G = _sparse(  # noqa: N806
        (first[:-1], 3 * np.arange(nc), ones),
        (force, 3 * rough[:, None] + 1, many * np.cos(angle)),
        (force, 3 * rough[:, None] + 2, many * np.sin(angle)),
        shape=(first[-1], 3 * nc),
    )
    C = _sparse(  # noqa: N806
        (force, gamma[:, None], many),
        (gamma[:, None], force, -many),
        (gamma, normal, friction[rough]),
        shape=(first[-1], first[-1]),
    )
    return G, C, first


def _sparse(*entries, shape) -> scipy.sparse.csr_array:
    """Sparse matrix from groups of rows, columns, values, which are broadcast."""
    groups = [np.broadcast_arrays(*group) for group in entries]
    rows, columns, values = (
        np.concatenate([group[i].ravel() for group in groups]) for i in range(3)
    )
    return scipy.sparse.coo_array((values, (rows, columns)), shape=shape).tocsr()
