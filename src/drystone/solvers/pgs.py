"""Projected Gauss-Seidel (PGS), Jacobi and SOR on single rows: NEWTON (WSCG paper) eq. 7 to 18.

With A = W, b = q, lambda the impulses and y = A lambda + b, each row i of a contact has bounds
l_i <= lambda_i <= u_i: 0 and infinity for the normal, -mu lambda_n and mu lambda_n for a tangent.
A splitting A = M - N (eq. 18) makes the iteration (eq. 16), row by row

    lambda_i <- min(u_i, max(l_i, lambda_i - omega y_i / A_ii))

Jacobi takes all y_i and bounds from the last iterate (M = D / omega, N = M - A; the paper's N in
eq. 18a has a misprint), Gauss-Seidel (omega = 1) and SOR the newest ones, in an order of
orderings.py. We keep y up to date and add column i of A to it when lambda_i moves: the sums of
the paper's line 3, but a row that stays at its bound costs nothing and the errors by which the
greedy ordering chooses are there for the asking.

With friction="cone" the two tangents of a contact move together, with the step of the stiffer
direction of their 2x2 block, and are projected on the disc of radius mu lambda_n. One step for
both, else the fixed points would not be those of Coulomb's law.
"""

from dataclasses import dataclass
from math import sqrt
from typing import ClassVar, NamedTuple

import numpy as np

from drystone.constraints.matrix_problem import MatrixProblem
from drystone.constraints.problem import ContactProblem, SolveInfo
from drystone.errors import InputError
from drystone.jit import kernel
from drystone.jit.table import table
from drystone.model.checks import choice
from drystone.solvers.options import check_options, check_relaxation, refuse_elliptic
from drystone.solvers.orderings import AXES, ORDERINGS, STAGGERED, visiting_order

SPLITTINGS = ("jacobi", "gauss-seidel", "sor")
FRICTIONS = ("pyramid", "cone")
JACOBI, GAUSS_SEIDEL, GREEDY, EXTREME = range(4)

# Iterations after which y is computed afresh: rounding adds up by some 1e-16 of y in each of the
# hundred or so updates that an iteration makes to it, so that it stays below 1e-12 of y.
REFRESH = 100


@table
class RowProblem(NamedTuple):
    """A problem by its rows, for kernels."""

    cone: int  # 1: friction on the disc
    rows: np.ndarray  # int32: the rows in the order in which they are visited
    normals: int  # how many of them are normals, where these come first
    start: np.ndarray  # (3 nc + 1,) int32: entries of the columns of A
    index: np.ndarray  # type: ignore[assignment]  # int32; hides tuple.index()
    value: np.ndarray
    step: np.ndarray  # (3 nc,) omega / A_ii
    friction: np.ndarray  # (nc,)
    free: np.ndarray  # (3 nc,) b


@kernel
def _move(i, change, p, velocity):
    """Add to the velocities what `change` of the impulse of row `i` does."""
    if change != 0.0:
        for e in range(p.start[i], p.start[i + 1]):
            velocity[p.index[e]] += p.value[e] * change


@kernel
def _target(i, p, impulse, velocity):
    """Where row `i` goes, and the row after it, which counts only for the tangents of a cone."""
    c, step = i // 3, p.step
    wish = impulse[i] - step[i] * velocity[i]
    if i == 3 * c:
        return max(0.0, wish), 0.0
    bound = p.friction[c] * max(0.0, impulse[3 * c])
    if p.cone == 0:
        return min(bound, max(-bound, wish)), 0.0
    other = impulse[i + 1] - step[i + 1] * velocity[i + 1]
    length = sqrt(wish * wish + other * other)
    if length <= bound:
        return wish, other
    return wish * bound / length, other * bound / length


@kernel
def _sweep(lo, hi, p, impulse, velocity):
    """Visit p.rows[lo:hi] one after the other."""
    for k in range(lo, hi):
        i = p.rows[k]
        new, other = _target(i, p, impulse, velocity)
        change = new - impulse[i]
        impulse[i] = new
        if p.cone == 1 and i % 3 == 1:
            change_other = other - impulse[i + 1]
            impulse[i + 1] = other
            _move(i + 1, change_other, p, velocity)
        _move(i, change, p, velocity)


@kernel
def _move_all(p, impulse, velocity, change):
    """Jacobi: all rows at once, with velocities and bounds of the last iterate."""
    for k in range(p.rows.shape[0]):
        i = p.rows[k]
        new, other = _target(i, p, impulse, velocity)
        change[i] = new - impulse[i]
        if p.cone == 1 and i % 3 == 1:
            change[i + 1] = other - impulse[i + 1]
    for i in range(impulse.shape[0]):
        impulse[i] += change[i]
        _move(i, change[i], p, velocity)


@kernel
def _set_errors(p, impulse, velocity):
    """Sums of squares of the min map (eq. 22) over the normals, and over the tangents."""
    normals, tangents, friction = 0.0, 0.0, p.friction
    for c in range(friction.shape[0]):
        pn, p1, p2 = impulse[3 * c], impulse[3 * c + 1], impulse[3 * c + 2]
        u1, u2 = velocity[3 * c + 1], velocity[3 * c + 2]
        normals += min(pn, velocity[3 * c]) ** 2
        bound = friction[c] * pn
        if p.cone == 1:
            q1, q2 = p1 - u1, p2 - u2
            length = sqrt(q1 * q1 + q2 * q2)
            if length > bound:
                q1, q2 = q1 * bound / length, q2 * bound / length
            tangents += (p1 - q1) ** 2 + (p2 - q2) ** 2
        else:
            tangents += min(bound - p1, -min(p1 + bound, u1)) ** 2
            tangents += min(bound - p2, -min(p2 + bound, u2)) ** 2
    return normals, tangents


@kernel
def iterate(count, done, scheme, p, impulse, velocity, change):
    """Iterate `count` times after the first `done`; how often the normals alone were visited.

    p         RowProblem
    change    scratch
    """
    visits = 0
    for k in range(done, done + count):
        if k % REFRESH == 0:
            for i in range(p.free.shape[0]):
                velocity[i] = p.free[i]
            for i in range(p.free.shape[0]):
                _move(i, impulse[i], p, velocity)
        if scheme == JACOBI:
            _move_all(p, impulse, velocity, change)
            continue
        lo, hi = 0, p.rows.shape[0]
        if scheme != GAUSS_SEIDEL:
            normals_next = k % 2 == 0
            if scheme == GREEDY:
                of_normals, of_tangents = _set_errors(p, impulse, velocity)
                normals_next = of_normals >= of_tangents
            if normals_next:
                hi = p.normals
                visits += 1
            else:
                lo = p.normals
        _sweep(lo, hi, p, impulse, velocity)
    return visits


class Iteration:
    """One solve by `solver`: its arrays, and iterations on them."""

    def __init__(self, solver: "Pgs", problem, impulse: np.ndarray):
        columns, cone = problem.W().tocsc(), solver.friction == "cone"
        stiffness = row_stiffness(problem.blocks(), cone)
        step = np.zeros_like(stiffness)  # a row that nothing moves stays where it is
        np.divide(solver.relaxation, stiffness, out=step, where=stiffness > 0.0)
        rows = visiting_order(problem, impulse, solver.ordering, solver.axis)
        self.problem = RowProblem(
            cone=int(cone),
            rows=rows[rows % 3 != 2] if cone else rows,
            normals=problem.contact_count,
            start=columns.indptr.astype(np.int32),
            index=columns.indices.astype(np.int32),
            value=np.ascontiguousarray(columns.data, dtype=np.float64),
            step=step,
            friction=np.ascontiguousarray(problem.friction, dtype=np.float64),
            free=problem.q().reshape(-1),
        )
        self.scheme = JACOBI if solver.splitting == "jacobi" else GAUSS_SEIDEL
        if solver.ordering in STAGGERED:
            self.scheme = (GREEDY, EXTREME)[STAGGERED.index(solver.ordering)]
        self.impulse = np.array(impulse, dtype=np.float64).reshape(-1)
        self.velocity, self.change = np.zeros((2, len(self.impulse)))
        entries = np.diff(self.problem.start)
        self.normal_share = entries[::3].sum() / max(1, entries.sum())
        self.done = 0
        self.normal_visits = 0  # iterations of a staggered ordering that went to the normals

    def run(self, count: int) -> float:
        """Iterate `count` times; the work of it in sweeps over all rows."""
        visits = iterate(
            count, self.done, self.scheme, self.problem, self.impulse, self.velocity, self.change
        )
        self.done += count
        self.normal_visits += visits
        if self.scheme in (JACOBI, GAUSS_SEIDEL):
            return float(count)
        return visits * self.normal_share + (count - visits) * (1.0 - self.normal_share)


def row_stiffness(block: np.ndarray, cone: bool) -> np.ndarray:
    """(3 nc,) A_ii of every row [1/kg]; for the tangents of a cone the largest of their block."""
    stiffness = block[:, [0, 3, 5]]
    if cone:
        mean, half = (block[:, 3] + block[:, 5]) / 2, (block[:, 3] - block[:, 5]) / 2
        stiffness[:, 1:] = (mean + np.hypot(half, block[:, 4]))[:, None]
    return stiffness.reshape(-1)


@dataclass(frozen=True)
class Pgs:
    """The method of the game engines: cheap rows, a few digits soon, the rest very slowly."""

    compiled: ClassVar[bool] = False
    supports: ClassVar[frozenset[str]] = frozenset({"restitution", "surfaces", "2d", "matrix"})

    tolerance: float = 1e-5  # on residual() of its law [m/s], as for nsgs
    max_iterations: int = 150  # what NEWTON's VRIPHYS paper gives it per frame (Fig. 10)
    splitting: str = "gauss-seidel"  # or "jacobi", "sor"
    relaxation: float = 1.0  # omega of "sor" and "jacobi"
    friction: str = "pyramid"  # or "cone"
    ordering: str = "none"  # see orderings.py
    axis: str = "-y"  # of the ordering "coordinate"; "-" descends
    measure: str = "velocity"
    history: bool = False

    def __post_init__(self) -> None:
        check_options(self, "pgs")
        choice("pgs: splitting", self.splitting, SPLITTINGS)
        choice("pgs: friction", self.friction, FRICTIONS)
        choice("pgs: ordering", self.ordering, ORDERINGS)
        choice("pgs: axis", self.axis, AXES)
        check_relaxation("pgs", self.relaxation)
        if self.splitting == "gauss-seidel" and self.relaxation != 1.0:
            raise InputError(
                f"pgs: relaxation is {self.relaxation:g}, which makes it splitting 'sor'; say so."
            )
        if self.splitting == "jacobi" and self.ordering != "none":
            raise InputError("pgs: splitting 'jacobi' moves all rows at once and has no ordering.")

    @property
    def law(self) -> str:
        return "coulomb" if self.friction == "cone" else "pyramid"

    def solve(self, problem: ContactProblem | MatrixProblem, impulse: np.ndarray) -> SolveInfo:
        """Improve `impulse` in place; see problem.ContactSolver."""
        from drystone.solvers.convergence import ConvergenceMonitor

        refuse_elliptic(problem, "pgs")
        monitor = ConvergenceMonitor(self, problem, impulse, self.max_iterations, "pgs")
        if not monitor.converged:
            iteration = Iteration(self, problem, impulse)
            while True:
                work = iteration.run(1)
                # Jacobi with too long a step grows until it overflows; the best iterate counts.
                if not np.isfinite(iteration.impulse).all():
                    break
                if monitor.done(iteration.impulse.reshape(-1, 3), work):
                    break
        return monitor.report(impulse)
