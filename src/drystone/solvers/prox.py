"""Proximal fixed-point iteration (projected Jacobi and Gauss-Seidel, contact by contact).

Each contact's impulse less r times its velocity is projected: NEWTON eq. 73, with the velocities u
= q + W p in place of 73a:

    p_n <- max(0, p_n - r_n u_n)                          73b
    p_t <- projection of p_t - r_t u_t on the section     73c, of the size mu times the new p_n

"jacobi" takes u from the last iteration, "gauss-seidel" from the impulses of this moment. Any
convex section will do if its projection is known: constraints/friction_sections.py. The source
leaves the choice of r [kg] to [Foerg2006]; here it is one of

    fixed       one r for all contacts: the option `r`, or the smallest r of "diagonal"
    diagonal    an r for each contact, from its own rows of W. gauss-seidel: r_n = 1 / W_nn and
                r_t = 1 / largest eigenvalue of W_tt, the step that solves for that row alone.
                jacobi: 1 / sum of |W_ij| over the row, so that all contacts may move at once
    adaptive    gauss-seidel's diagonal r, for either scheme, times one factor for all contacts,
                which starts large and is halved when the residual has grown, as in [Erleben2017].
                We let it double before we call it grown, do not undo the iteration, and let the
                factor recover: residuals rise a little now and then, and under the plain
                rule the factor went to zero, and the solve stood still, on half of our scenes.
                A residual that does not fall for long is a cycle, and counts as grown, too.
"""

from dataclasses import dataclass
from math import sqrt
from typing import ClassVar

import numpy as np

from drystone.constraints.friction_sections import project_on_section
from drystone.constraints.matrix_problem import MatrixProblem
from drystone.constraints.problem import ContactProblem, SolveInfo
from drystone.jit import kernel
from drystone.model.checks import choice, positive
from drystone.solvers.convergence import ConvergenceMonitor
from drystone.solvers.options import check_options

STRATEGIES = ("fixed", "diagonal", "adaptive")
SCHEMES = ("jacobi", "gauss-seidel")

# Of "adaptive". 1.5 is over-relaxation, as far as it pays on our scenes (with 1.8 stacks and walls
# converge slower than with 1). A residual has grown when it is twice the least since the last
# change, or has not been below that for 50 iterations. In 35 good iterations the factor doubles,
# but after each halving it stays a little farther below where it began.
START_FACTOR = 1.5
GROWTH = 2.0
PATIENCE = 50
RECOVERY = 1.02
CAUTION = 0.95


@kernel
def sweep_sections(
    # problem
    first, column, block, q, friction, friction_2,
    # in
    r, factor, old,
    # out; the same array as `old` for Gauss-Seidel
    new,
):  # fmt: skip
    """One iteration of NEWTON eq. 73; returns the norm of (change of p) / r [m/s].

    Row c of W holds the 3x3 blocks first[c] to first[c + 1], block k in the columns of contact
    column[k]; r (nc, 2) [kg], of the normal and of the tangents, is multiplied by `factor`.
    """
    total = 0.0
    for c in range(q.shape[0]):
        un, u1, u2 = q[c, 0], q[c, 1], q[c, 2]
        for k in range(first[c], first[c + 1]):
            j = column[k]
            pn, p1, p2 = old[j, 0], old[j, 1], old[j, 2]
            un += block[k, 0, 0] * pn + block[k, 0, 1] * p1 + block[k, 0, 2] * p2
            u1 += block[k, 1, 0] * pn + block[k, 1, 1] * p1 + block[k, 1, 2] * p2
            u2 += block[k, 2, 0] * pn + block[k, 2, 1] * p1 + block[k, 2, 2] * p2
        rn, rt = factor * r[c, 0], factor * r[c, 1]
        on, o1, o2 = old[c, 0], old[c, 1], old[c, 2]
        pn = max(0.0, on - rn * un)
        a, b = friction[c] * pn, friction_2[c] * pn
        p1, p2 = project_on_section(o1 - rt * u1, o2 - rt * u2, a, b)
        new[c, 0], new[c, 1], new[c, 2] = pn, p1, p2
        total += ((pn - on) / rn) ** 2 + ((p1 - o1) ** 2 + (p2 - o2) ** 2) / (rt * rt)
    return sqrt(total)


@dataclass(frozen=True)
class Prox:
    """Simple, and the one that takes any friction section; as quick and as slow as Gauss-Seidel."""

    law: ClassVar[str] = "coulomb"
    supports: ClassVar[frozenset[str]] = frozenset(
        {"restitution", "elliptic", "surfaces", "2d", "matrix"}
    )
    compiled: ClassVar[bool] = False

    tolerance: float = 1e-5  # on residual() [m/s], as for nsgs
    max_iterations: int = 1000
    scheme: str = "gauss-seidel"  # or "jacobi"
    strategy: str = "adaptive"  # for r: or "diagonal", "fixed"
    r: float | None = None  # [kg] of the strategy "fixed"; None: the smallest of "diagonal"
    measure: str = "velocity"
    history: bool = False

    def __post_init__(self) -> None:
        check_options(self, "prox")
        choice("prox: scheme", self.scheme, SCHEMES)
        choice("prox: strategy", self.strategy, STRATEGIES)
        if self.r is not None:
            object.__setattr__(self, "r", positive("prox: r", self.r, "kg"))

    def solve(self, problem: ContactProblem | MatrixProblem, impulse: np.ndarray) -> SolveInfo:
        """Improve `impulse` in place; see problem.ContactSolver."""
        monitor = ConvergenceMonitor(self, problem, impulse, self.max_iterations, "prox")
        if monitor.converged:
            return monitor.report(impulse)
        matrix = problem.W()
        rows = block_rows(matrix, problem)
        r = self._r_factors(matrix, problem.blocks())
        factor = _Factor()
        new = np.ascontiguousarray(impulse, dtype=np.float64)
        done = False
        while not done:
            old = new if self.scheme == "gauss-seidel" else new.copy()
            times = factor.value if self.strategy == "adaptive" else 1.0
            factor.learn(sweep_sections(*rows, r, times, old, new))
            done = monitor.done(new)
        return monitor.report(impulse)

    def _r_factors(self, matrix, block) -> np.ndarray:
        """(nc, 2) r of the normal and of the tangents of every contact [kg]."""
        if self.scheme == "jacobi" and self.strategy != "adaptive":
            row = np.asarray(abs(matrix).sum(axis=1)).reshape(-1, 3)
            stiff = np.column_stack((row[:, 0], row[:, 1:].max(axis=1)))
        else:
            mean, half = 0.5 * (block[:, 3] + block[:, 5]), 0.5 * (block[:, 3] - block[:, 5])
            stiff = np.column_stack((block[:, 0], mean + np.hypot(half, block[:, 4])))
        r = 1.0 / stiff
        if self.strategy == "fixed":
            r[:] = r.min() if self.r is None else self.r
        return r


def block_rows(matrix, problem) -> tuple:
    """What sweep_sections() needs of the problem."""
    rows = matrix.tobsr(blocksize=(3, 3))
    friction_2 = problem.friction if problem.friction_2 is None else problem.friction_2
    return rows.indptr, rows.indices, rows.data, problem.q(), problem.friction, friction_2


class _Factor:
    """What "adaptive" multiplies all r by."""

    def __init__(self):
        self.value = self.ceiling = START_FACTOR
        self.least, self.age = np.inf, 0  # residual since the last halving, iterations since then

    def learn(self, residual: float) -> None:
        """Choose the factor of the next iteration after one with that residual."""
        self.age = 0 if residual < self.least else self.age + 1
        if residual > GROWTH * self.least or self.age >= PATIENCE:
            self.value, self.ceiling = 0.5 * self.value, CAUTION * self.ceiling
            self.least, self.age = residual, 0
        else:
            self.value = min(RECOVERY * self.value, self.ceiling)
            self.least = min(self.least, residual)
