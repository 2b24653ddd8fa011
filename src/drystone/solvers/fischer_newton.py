"""Generalized (semismooth) Newton on the Fischer-Burmeister function of the pyramid law.

NEWTON, VRIPHYS paper; numbers in brackets are its equations, Alg. 2 and eq. 5x are of NEWTON 4.3.
Complementarity a >= 0, b >= 0, a b = 0 is phi(a, b) = sqrt(a² + b²) - a - b = 0 (21). The pyramid
law, with friction along each tangent between the bounds -mu p_n and mu p_n, is Phi(p) = 0 with

    phi(p_n, u_n)                                          at the normal of every contact
    phi(p_t + mu p_n, phi(-u_t, mu p_n - p_t))             at each of its tangents (28)

and u = W p + q. We solve H step = -Phi (31), H in the generalized Jacobian, and halve the step
until the merit 1/2 |Phi|² (35) has fallen enough (37). H = P + Q W, where P has a 3x3 block for
each contact and Q is diagonal. The directions:

    exact             H is factorised. Where contacts are redundant W is singular and so is H near a
                      solution; then H - shift I is, with a shift that grows until the step is good
    fletcher-reeves   conjugate gradients on (31), H not formed: its products are differences of
                      Phi (53), as if it were symmetric; the best of a few iterates (Alg. 2)

The start is semi-staggered: friction stays as it is until the normal impulses are about right.

Ours: contact c is measured in x = p / sqrt(rho) and sqrt(rho) u with the rho of
constraints/laws.py. That leaves the zeros of Phi where they are and W symmetric, and makes the
merit an energy: light contacts count as much as heavy ones. The ratio beta and the stopping test of
Alg. 2 are inverted in print.
"""

from dataclasses import dataclass
from math import sqrt
from typing import ClassVar

import numpy as np
import scipy.sparse

from drystone.constraints.matrix_problem import MatrixProblem
from drystone.constraints.problem import ContactProblem, SolveInfo
from drystone.jit import kernel
from drystone.model.checks import choice
from drystone.solvers.convergence import ConvergenceMonitor
from drystone.solvers.options import check_options, refuse_elliptic

DIRECTIONS = ("exact", "fletcher-reeves")

# Part of the slope that a step must gain (c of eq. 37): the usual small number.
ARMIJO = 1e-4
# Halvings of a step. A Newton direction that needs more comes from a nearly singular H, and a shift
# of H does better; fletcher-reeves has nothing better and gets more, the paper's Fig. 10 seven.
EXACT_HALVINGS, QUASI_HALVINGS = 6, 12
# Shifts of H, whose entries are of the order 1 in the scaled variables: the least that a
# factorisation feels, the largest (the step is then at most about Phi), and their ratio.
LEAST_SHIFT, LARGEST_SHIFT, SHIFT_RATIO = 1e-10, 1.0, 10.0
# The start is over when the normal parts of Phi are that small [m/s], or after so many iterations.
START_TOLERANCE = 1e-3
START_ITERATIONS = 20


@kernel
def fischer_slopes(a, b):
    """phi (21) and its derivatives by a and b; at the kink (0, 0) their limit along a = b > 0."""
    length = sqrt(a * a + b * b)
    if length == 0.0:
        return 0.0, sqrt(0.5) - 1.0, sqrt(0.5) - 1.0
    return length - a - b, a / length - 1.0, b / length - 1.0


@kernel
def fill_fischer(
    # in
    x, y, friction, frictional,
    # out
    phi, own, across,
):  # fmt: skip
    """Phi (28) at the impulses x and velocities y, all (nc, 3), and H = own + across W.

    own (nc, 3, 3) is P, of which five entries are written; across (nc, 3) the diagonal of Q.
    Unless `frictional`, tangents obey "stay as you are".
    """
    for c in range(x.shape[0]):
        mu, normal = friction[c], x[c, 0]
        phi[c, 0], own[c, 0, 0], across[c, 0] = fischer_slopes(normal, y[c, 0])
        for k in (1, 2):
            if not frictional:
                phi[c, k], own[c, k, 0], own[c, k, k], across[c, k] = 0.0, 0.0, -1.0, 0.0
                continue
            inner, by_y, by_room = fischer_slopes(-y[c, k], mu * normal - x[c, k])
            phi[c, k], by_low, by_inner = fischer_slopes(x[c, k] + mu * normal, inner)
            own[c, k, 0] = mu * (by_low + by_inner * by_room)
            own[c, k, k] = by_low - by_inner * by_room
            across[c, k] = -by_inner * by_y


class FischerEquation:
    """Phi(x) = 0 in the scaled variables, and what its evaluations have cost."""

    def __init__(self, problem):
        block = problem.blocks()
        rho = 3.0 / (block[:, 0] + block[:, 3] + block[:, 5])
        self.scale = np.repeat(np.sqrt(rho), 3)
        self.friction = problem.friction
        self.frictional = True
        diagonal = scipy.sparse.diags_array(self.scale)
        self.matrix = (diagonal @ problem.W() @ diagonal).tocsr()
        self.q = self.scale * problem.q().ravel()
        self.work = 0.0  # in units of one Gauss-Seidel sweep, which is one product with W

    def phi(self, x: np.ndarray) -> np.ndarray:
        return self._fill(x)[0].ravel()

    def merit(self, x: np.ndarray) -> float:
        phi = self.phi(x)
        return 0.5 * (phi @ phi)  # (35)

    def jacobian(self, x: np.ndarray):
        """An element H of the generalized Jacobian."""
        _, own, across = self._fill(x)
        count = len(own)
        blocks = (own, np.arange(count), np.arange(count + 1))
        own = scipy.sparse.bsr_array(blocks, shape=self.matrix.shape).tocsr()
        return (own + scipy.sparse.diags_array(across.ravel()) @ self.matrix).tocsc()

    def _fill(self, x):
        self.work += 1.0
        x = x.reshape(-1, 3)
        y = (self.matrix @ x.ravel() + self.q).reshape(-1, 3)
        phi, own, across = np.zeros_like(x), np.zeros((*x.shape, 3)), np.zeros_like(x)
        fill_fischer(x, y, self.friction, self.frictional, phi, own, across)
        return phi, own, across


def _shortened(equation, x, step, slope: float, halvings: int):
    """The step, halved until it meets Armijo's condition (37); None if it never does."""
    merit = equation.merit(x)
    part = 1.0
    for _ in range(halvings):
        if equation.merit(x + part * step) <= merit + ARMIJO * part * slope:
            return part * step
        part *= 0.5
    return None


def _factorised(equation, jacobian, right):
    """Solution of `jacobian` d = `right` by sparse LU; None if the matrix is singular."""
    from scipy.sparse.linalg import splu  # takes 0.2 s or more, for which others need not wait

    try:
        # Pivots on the diagonal have the fill of the symmetric W, a tenth of what others make
        # of a pile; a direction that they spoil gains nothing, and the next shift is tried.
        factors = splu(jacobian, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0)
    except RuntimeError:
        return None
    below, above = factors.L, factors.U
    products = np.diff(below.indptr) @ np.bincount(above.indices, minlength=len(right))
    equation.work += products / equation.matrix.nnz
    step = factors.solve(right)
    return step if np.isfinite(step).all() else None


def _exact_step(equation, x, shift: float):
    """Newton's step and the shift that it took; no step if none gains."""
    phi, jacobian = equation.phi(x), equation.jacobian(x)
    gradient = jacobian.T @ phi  # (36)
    identity = scipy.sparse.eye_array(len(x), format="csc")
    while shift <= LARGEST_SHIFT:
        step = _factorised(equation, jacobian - shift * identity, -phi)
        if step is not None and gradient @ step < 0.0:
            step = _shortened(equation, x, step, gradient @ step, EXACT_HALVINGS)
            if step is not None:
                return step, shift
        shift = max(SHIFT_RATIO * shift, LEAST_SHIFT)
    return None, shift


def _quasi_step(equation, x, inner_iterations: int):
    """A step by NEWTON Alg. 2, or if that gains nothing by its first iterate; else None."""
    phi = equation.phi(x)
    iterates = _conjugate_iterates(equation, x, phi, inner_iterations)
    if not iterates:
        return None
    best = min(iterates, key=lambda iterate: iterate[1] @ iterate[1])
    for step, rest in (best, iterates[0]):
        slope = phi @ (rest - phi)  # of the merit along the step: (36), with H step = rest - phi
        if slope < 0.0:
            step = _shortened(equation, x, step, slope, QUASI_HALVINGS)
            if step is not None:
                return step
    return None


def _conjugate_iterates(equation, x, phi, count: int) -> list:
    """Pairs (step, rest = H step + phi) of conjugate gradients with -H, which has the sign of W."""
    iterates = []
    step, rest, direction = np.zeros_like(x), phi, phi
    for _ in range(count):
        # (53); the length of the difference balances its error against that of rounding.
        h = sqrt(np.finfo(float).eps) * (1.0 + np.linalg.norm(x)) / np.linalg.norm(direction)
        product = (phi - equation.phi(x + h * direction)) / h
        curvature, size = direction @ product, rest @ rest
        if curvature == 0.0:
            break
        step = step + size / curvature * direction
        rest = rest - size / curvature * product
        iterates.append((step, rest))
        if not 0.0 < rest @ rest < np.inf:  # solved, or lost
            break
        direction = rest + rest @ rest / size * direction
    return iterates


@dataclass(frozen=True)
class FischerNewton:
    """Many digits for small and middling problems, heavy on light among them; the pyramid law."""

    law: ClassVar[str] = "pyramid"
    supports: ClassVar[frozenset[str]] = frozenset({"restitution", "surfaces", "2d", "matrix"})
    compiled: ClassVar[bool] = False

    tolerance: float = 1e-5  # on residual() [m/s], as for nsgs
    max_iterations: int = 100
    direction: str = "exact"  # or "fletcher-reeves"
    inner_iterations: int = 15  # of fletcher-reeves, for one step; as in the paper's Fig. 10
    staggered: bool = True  # normal impulses first, then all
    measure: str = "velocity"
    history: bool = False

    def __post_init__(self) -> None:
        check_options(self, "fischer-newton")
        choice("fischer-newton: direction", self.direction, DIRECTIONS)

    def solve(self, problem: ContactProblem | MatrixProblem, impulse: np.ndarray) -> SolveInfo:
        """Improve `impulse` in place; see problem.ContactSolver."""
        refuse_elliptic(problem, "fischer-newton")
        monitor = ConvergenceMonitor(self, problem, impulse, self.max_iterations, "fischer-newton")
        if monitor.converged:
            return monitor.report(impulse)
        equation = FischerEquation(problem)
        x = impulse.ravel() / equation.scale
        equation.frictional = not self.staggered
        shift, done = 0.0, False
        while not done:
            if not equation.frictional:
                normal_error = np.abs(equation.phi(x) / equation.scale).max()
                equation.frictional = (
                    normal_error <= START_TOLERANCE or monitor.iterations >= START_ITERATIONS
                )
            if self.direction == "exact":
                step, shift = _exact_step(equation, x, shift)
                # The next step tries a smaller one, down to none: else it would not be quadratic.
                shift = shift / SHIFT_RATIO if shift > LEAST_SHIFT else 0.0
            else:
                step = _quasi_step(equation, x, self.inner_iterations)
            if step is None and equation.frictional:
                break  # a local minimum of the merit: the method has nothing more to offer
            if step is None:
                equation.frictional = True
                continue
            x = x + step
            done = monitor.done((equation.scale * x).reshape(-1, 3), equation.work)
            equation.work = 0.0
        return monitor.report(impulse)
