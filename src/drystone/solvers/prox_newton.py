"""Semismooth Newton on the proximal equations of all contacts, with sparse factors.

NEWTON 6.2 names it as what is to follow its fixed-point scheme (73); the equations are those of
[Alart1991]. W is singular where contacts are redundant, so Newton works on a sequence of problems
with the matrix W + alpha D around the last answer, the proximal point method [Rockafellar1976]; all
of it is explained in solvers/newton/semismooth.py, which does the same compiled, for one island at
a time, because a compiled step cannot call SuperLU. Here all contacts are taken together, and the
linear equations go to SuperLU, whose sparse factors fit where banded ones do not. Rows of joints
between their bounds have the unknown p and the equation w = 0, those at a bound have none
(solvers/newton/system.py); trees of joints fill up no factors, so that their cost grows with their
length.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import scipy.sparse
from scipy.sparse.linalg import splu

from drystone.constraints.matrix_problem import MatrixProblem
from drystone.constraints.problem import ContactProblem, SolveInfo
from drystone.solvers.convergence import ConvergenceMonitor
from drystone.solvers.newton.semismooth import (
    EASY,
    FIRST_ALPHA,
    LARGEST_ALPHA,
    LEAST_ALPHA,
    NEWTON_STEPS,
    PATIENCE,
    SETTLED,
    cut_to_cones,
    press_touching,
)
from drystone.solvers.options import check_options, refuse_elliptic


@dataclass(frozen=True)
class ProxNewton:
    """The accurate one: a handful of linear solves to all digits, whatever the mass ratios."""

    law: ClassVar[str] = "coulomb"
    supports: ClassVar[frozenset[str]] = frozenset(
        {"joints", "limits", "restitution", "surfaces", "2d", "matrix"}
    )
    compiled: ClassVar[bool] = False

    tolerance: float = 1e-8  # on residual() [m/s], or relative
    max_iterations: int = 500  # Newton steps; problems of others took 2 to 230
    measure: str = "velocity"
    history: bool = False

    def __post_init__(self) -> None:
        check_options(self, "prox-newton")

    def solve(self, problem: ContactProblem | MatrixProblem, impulse: np.ndarray) -> SolveInfo:
        """Improve `impulse` in place; see problem.ContactSolver."""
        refuse_elliptic(problem, "prox-newton")
        monitor = ConvergenceMonitor(self, problem, impulse, self.max_iterations, "prox-newton")
        equations = Equations(problem)
        alpha, floor, patience, waited = FIRST_ALPHA, LEAST_ALPHA, PATIENCE, 0
        centre = impulse.copy()
        velocity = problem.velocity(centre)
        press_touching(len(centre), equations.joint, equations.scale, velocity, centre)
        over = monitor.converged
        while not over and alpha <= LARGEST_ALPHA:
            steps, settled, answer, over = equations.solve_near(centre, alpha, monitor)
            if not settled:
                alpha *= 10.0
                floor, patience, waited = alpha, 2 * patience, 0
                continue
            centre, waited = answer, waited + 1
            if alpha <= floor and waited >= patience:
                floor, waited = max(LEAST_ALPHA, 0.1 * floor), 0
            if steps < EASY:
                alpha = max(0.1 * alpha, floor)
        return monitor.report(impulse)


class Equations:
    """The equations of [Alart1991] for W + alpha D and their derivative."""

    def __init__(self, problem):
        block, nc, joints = problem.blocks(), problem.contact_count, problem.joints
        self.matrix, self.q, self.count = problem.W().tocsr(), problem.q(), nc
        self.friction = np.append(problem.friction, np.zeros(len(block) - nc))
        self.scale = block[:, [0, 3, 5]].mean(axis=1)
        self.joint = np.arange(len(block)) >= nc
        self.proximal = np.where(self.joint, 0.0, self.scale)  # joints are soft already
        self.own = block[nc:, [0, 3, 5]]
        bounds = (np.zeros((0, 3)),) * 2 if joints is None else (joints.lower, joints.upper)
        self.lower, self.upper = bounds

    def solve_near(self, centre, alpha, monitor):
        """Newton around `centre`: steps, whether it settled, the answer, whether all is done."""
        p = centre.copy()
        start = np.linalg.norm(self.errors(p, self.velocity(p, centre, alpha), alpha))
        for step in range(1, NEWTON_STEPS + 1):
            work = self.newton_step(p, centre, alpha)
            u = self.velocity(p, centre, alpha)
            error = np.linalg.norm(self.errors(p, u, alpha))
            answer = p.copy()
            cut_to_cones(len(answer), self.joint, self.friction, answer)
            over = monitor.done(answer, work)
            if over or error <= SETTLED * start or not np.isfinite(error):
                return step, error <= SETTLED * start, answer, over
        return step, False, answer, over

    def velocity(self, p, centre, alpha):
        u = self.q + (self.matrix @ p.ravel()).reshape(-1, 3)
        return u + alpha * self.proximal[:, None] * (p - centre)

    def target(self, p, u, alpha):
        """z = p - rho u of the contacts, the length of its tangential part, and its bound."""
        nc = self.count
        z = p[:nc] - u[:nc] / ((1.0 + alpha) * self.scale[:nc, None])
        return z, np.hypot(z[:, 1], z[:, 2]), self.friction[:nc] * np.maximum(z[:, 0], 0.0)

    def errors(self, p, u, alpha):
        """p minus what it should be, divided by rho (nb, 3) [m/s]."""
        nc = self.count
        z, length, bound = self.target(p, u, alpha)
        shrink = bound / np.maximum(np.maximum(length, bound), np.finfo(float).tiny)
        wanted = np.column_stack((np.maximum(z[:, 0], 0.0), z[:, 1:] * shrink[:, None]))
        held = np.clip(p[nc:] - u[nc:] / self.own, self.lower, self.upper)
        off = (p[:nc] - wanted) * ((1.0 + alpha) * self.scale[:nc, None])
        return np.vstack([off, (p[nc:] - held) * self.own])

    def newton_step(self, p, centre, alpha) -> float:
        """Replace `p` by the full step from it; returns its work in sweeps."""
        u = self.velocity(p, centre, alpha)
        free, known = self.joint_rows(p, u)
        unknown, equation, drag = self.bases(p, u, alpha, free)
        diagonal = np.repeat(alpha * self.proximal, 3)
        regular = self.matrix + scipy.sparse.diags_array(diagonal)
        matrix = (equation.T @ regular @ unknown + scipy.sparse.diags_array(drag)).tocsc()
        right = diagonal * centre.ravel() - self.q.ravel()
        if known.any():
            right -= self.matrix @ known
        if matrix.shape[0] == 0:
            p[:] = known.reshape(-1, 3)
            return 0.0
        try:  # the diagonal is a good pivot but for contacts that friction jams
            factors = splu(
                matrix, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.01,
                options={"SymmetricMode": True},
            )  # fmt: skip
        except RuntimeError:  # exactly singular
            p[:] = np.nan
            return 0.0
        p[:] = (unknown @ factors.solve(equation.T @ right) + known).reshape(-1, 3)
        return factors.nnz**2 / (matrix.shape[0] * self.matrix.nnz)

    def joint_rows(self, p, u):
        """Rows of joints between their bounds, as numbers, and the impulses (3 nb,) of others."""
        nc = self.count
        z = p[nc:] - u[nc:] / self.own
        free = (self.lower < z) & (z < self.upper)
        known = np.zeros(p.shape)
        known[nc:] = np.where(free, 0.0, np.where(z <= self.lower, self.lower, self.upper))
        return 3 * nc + np.flatnonzero(free), known.ravel()

    def bases(self, p, u, alpha, free):
        """Directions of the unknowns and of the equations (3 nb, m), and the drag on each."""
        z, length, bound = self.target(p, u, alpha)
        friction = self.friction[: self.count]
        closed = z[:, 0] > 0.0
        stick = np.flatnonzero(closed & (length <= bound) & (friction > 0.0))
        slide = np.flatnonzero(closed & ((length > bound) | (friction == 0.0)))
        length, bound = np.maximum(length[slide], np.finfo(float).tiny), bound[slide]
        a = z[slide, 1:] / length[:, None]
        b = np.column_stack((-a[:, 1], a[:, 0]))
        firm = bound > 1e-12 * length
        drag = (1.0 + alpha) * self.scale[slide[firm]] * (length - bound)[firm] / bound[firm]
        rows = np.append((3 * stick[:, None] + np.arange(3)).ravel(), free)
        sizes = len(rows), len(slide), int(firm.sum())
        numbers = np.split(np.arange(sum(sizes)), np.cumsum(sizes)[:-1])
        tangents = 3 * slide[:, None] + np.array((1, 2))
        entries = [
            (rows, numbers[0], np.ones(len(rows))),
            (3 * slide, numbers[1], np.ones(len(slide))),
            (tangents[firm].ravel(), np.repeat(numbers[2], 2), b[firm].ravel()),
        ]
        grip = friction[slide, None] * a
        bent = [*entries, (tangents.ravel(), np.repeat(numbers[1], 2), grip.ravel())]
        shape = (p.size, sum(sizes))
        drags = np.concatenate((np.zeros(sizes[0] + sizes[1]), drag))
        return _sparse(bent, shape), _sparse(entries, shape), drags


def _sparse(entries, shape):
    rows, columns, values = (np.concatenate(part) for part in zip(*entries, strict=True))
    return scipy.sparse.coo_array((values, (rows, columns)), shape=shape).tocsr()
