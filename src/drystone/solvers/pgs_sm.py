"""Projected Gauss-Seidel with subspace minimisation: NEWTON (GRAPP paper) section 4.

Sweeps of projected Gauss-Seidel (pgs.py) guess which rows are at a bound (eq. 19),

    L: lambda_i = l_i     U: lambda_i = u_i     A: between them, where y_i should be zero

then the rows in A are solved for all at once (eq. 22) with the others held at their bounds, and
put back between their bounds (eq. 24). A few rounds of that, and sweeps again. What is solved is
the law of the friction pyramid.

A_AA is singular as soon as a body has more contacts than it needs. We therefore solve for the
step s = lambda_A - (old lambda_A): A_AA s = -y_A, which has the same solutions, but keeps what no
velocity depends on as it was. Conjugate gradients do so by starting from zero, the
factorisation by a small shift of the diagonal that acts on s alone. `regularisation` is the
paper's gamma (section 5.1): it acts on lambda itself and damps it.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import scipy.sparse
import scipy.sparse.linalg

from drystone.constraints.matrix_problem import MatrixProblem
from drystone.constraints.problem import ContactProblem, SolveInfo
from drystone.model.checks import choice
from drystone.solvers.options import check_options, refuse_elliptic
from drystone.solvers.pgs import Iteration, Pgs

REDUCED = ("factorisation", "cg")
DAMPED = ("friction", "all")

# Of the mean diagonal. What no velocity depends on moves by (what is out of reach) / SHIFT, which
# at 1e-10 moved contacts with unequal gaps by more than they carry. What does matter falls short by
# SHIFT / (its share of the mean), cubed by refining twice; at 1e-4 that hindered 1000 kg on 1 kg
# from converging. From 1e-8 to 1e-6 all but the largest of our problems converge.
SHIFT = 1e-7
REFINEMENTS = 2


@dataclass(frozen=True)
class PgsSm:
    """Sweeps that guess what sticks and slides, then all sticking rows at once."""

    law: ClassVar[str] = "pyramid"
    supports: ClassVar[frozenset[str]] = frozenset({"restitution", "surfaces", "2d", "matrix"})
    compiled: ClassVar[bool] = False

    tolerance: float = 1e-5  # on residual() of the pyramid law [m/s], as for nsgs
    max_iterations: int = 150  # sweeps and reduced solves together
    sweeps: int = 25  # k_pgs, before each phase of reduced solves
    rounds: int = 5  # k_sm, reduced solves of such a phase
    reduced: str = "factorisation"  # or "cg", the paper's: how A_AA is solved
    cg_tolerance: float = 1e-15  # residual of the conjugate gradients, relative to the first
    regularisation: float = 0.0  # gamma, in units of the mean diagonal of A
    damped: str = "friction"  # or "all": the rows that gamma acts on
    lazy_bounds: bool = False  # friction bounds stay as the sweeps left them during the rounds
    fallback: bool = True  # a phase that made it worse is undone before the next sweeps
    measure: str = "velocity"
    history: bool = False

    def __post_init__(self) -> None:
        check_options(self, "pgs-sm")
        choice("pgs-sm: reduced", self.reduced, REDUCED)
        choice("pgs-sm: damped", self.damped, DAMPED)

    def solve(self, problem: ContactProblem | MatrixProblem, impulse: np.ndarray) -> SolveInfo:
        """Improve `impulse` in place; see problem.ContactSolver."""
        from drystone.solvers.convergence import ConvergenceMonitor

        refuse_elliptic(problem, "pgs-sm")
        monitor = ConvergenceMonitor(self, problem, impulse, self.max_iterations, "pgs-sm")
        if not monitor.converged:
            iteration = Iteration(Pgs(), problem, impulse)
            subspace = Subspace(self, problem)
            over = False
            while not over:
                over = self._sweep(iteration, monitor)
                over = over or self._minimise(iteration, subspace, monitor)
                if self.fallback:
                    iteration.impulse[:] = monitor.best.reshape(-1)
                iteration.done = 0  # the impulses were changed behind its back
        return monitor.report(impulse)

    def _sweep(self, iteration, monitor) -> bool:
        """Lines 2 to 5 of the algorithm in section 4.3; whether the solve is over."""
        for _ in range(self.sweeps):
            work = iteration.run(1)
            if monitor.done(iteration.impulse.reshape(-1, 3), work):
                return True
        return False

    def _minimise(self, iteration, subspace, monitor) -> bool:
        """Lines 6 to 19; whether the solve is over."""
        low, high = subspace.bounds(iteration.impulse)
        before = None
        for _ in range(self.rounds):
            sets = subspace.index_sets(iteration.impulse, low, high)
            active, upper = sets == 0, sets > 0
            # Eq. 26, and no bound that could still move: the answer would be the same.
            if before is not None and np.array_equal(sets, before) and not upper.any():
                break
            before = sets
            trial, work = subspace.solve(iteration.impulse, active)
            if not np.isfinite(trial).all():
                break
            if not self.lazy_bounds:
                low, high = subspace.bounds(trial)
            trial = np.where(active, np.clip(trial, low, high), np.where(upper, high, low))
            iteration.impulse[:] = trial
            if monitor.done(trial.reshape(-1, 3), work):
                return True
        return False


class Subspace:
    """The reduced problems of one solve."""

    def __init__(self, options: PgsSm, problem):
        self.options = options
        self.matrix = problem.W().tocsr()
        self.free = problem.q().reshape(-1)
        self.friction = problem.friction
        scale = self.matrix.diagonal().mean() if self.free.size else 1.0
        self.shift = SHIFT * scale
        self.gamma = np.full(self.free.size, options.regularisation * scale)
        if options.damped == "friction":
            self.gamma[::3] = 0.0

    def bounds(self, impulse):
        """l and u of every row, from the normal impulses; a negative one counts as zero."""
        high = np.full(self.free.size, np.inf)
        high[1::3] = high[2::3] = self.friction * np.maximum(impulse[::3], 0.0)
        low = -high
        low[::3] = 0.0
        return low, high

    def index_sets(self, impulse, low, high):
        """-1 for the rows in L, 0 in A, 1 in U (eq. 19). Rows whose bounds are equal are in L."""
        return np.where(impulse <= low, -1, np.where(impulse >= high, 1, 0))

    def solve(self, impulse, active):
        """Impulses with those of the active rows solved for (eq. 22), and the work in sweeps."""
        where = np.flatnonzero(active)
        if len(where) == 0:
            return impulse.copy(), 1.0
        velocity = self.matrix @ impulse + self.free
        gamma = self.gamma[where]
        inner = self.matrix[where][:, where] + scipy.sparse.diags_array(gamma)
        right = -velocity[where] - gamma * impulse[where]
        if self.options.reduced == "cg":
            step, products = conjugate_gradients(inner, right, self.options.cg_tolerance)
            cost = products * inner.nnz
        else:
            step, cost = self._factorised(inner, right)
        answer = impulse.copy()
        answer[where] += step
        return answer, 1.0 + cost / self.matrix.nnz

    def _factorised(self, inner, right):
        """The step by a sparse factorisation, and how many products it took."""
        shifted = inner + self.shift * scipy.sparse.eye_array(len(right))
        factors = scipy.sparse.linalg.splu(
            shifted.tocsc(), permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0,
            options={"SymmetricMode": True},
        )  # fmt: skip
        step = factors.solve(right)
        for _ in range(REFINEMENTS):
            step += factors.solve(right - inner @ step)
        lengths = np.diff(factors.L.indptr).astype(float)
        solves = (1 + REFINEMENTS) * 4.0 * lengths.sum() + REFINEMENTS * inner.nnz
        return step, (lengths**2).sum() + solves


def conjugate_gradients(matrix, right, tolerance: float):
    """x with the smallest residual of matrix x = right that was met, and the products it took.

    Without preconditioner and for at most as many steps as there are rows, as in the paper. A
    biased velocity may be out of reach of a singular matrix; the residual then grows again.
    """
    x = np.zeros_like(right)
    residual = right.copy()
    direction = residual.copy()
    square = residual @ residual
    limit = tolerance**2 * square
    best, best_square = x, square
    for products in range(len(right)):
        if square <= limit:
            return best, products
        image = matrix @ direction
        curvature = direction @ image
        if curvature <= 0.0:
            return best, products + 1
        length = square / curvature
        x = x + length * direction
        residual -= length * image
        square, last = residual @ residual, square
        direction = residual + (square / last) * direction
        if square < best_square:
            best, best_square = x, square
    return best, len(right)
