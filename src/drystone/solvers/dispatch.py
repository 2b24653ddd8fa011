"""Dispatch of solvers by name, and solve() for one problem by itself."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from drystone import solvers
from drystone.constraints.matrix_problem import MatrixProblem
from drystone.constraints.problem import ContactProblem, ContactSolver, SolveInfo
from drystone.errors import InputError
from drystone.model.checks import choice, positive
from drystone.solvers.supported_features import require


def make_solver(solver: Any, tolerance: float | None = None) -> Any:
    """The solver of that name, or the given one, with `tolerance` [m/s] if there is any."""
    if isinstance(solver, str):
        solver = solvers.find_solver(choice("solver", solver, solvers.solver_names()))()
    elif type(solver) not in solvers.SOLVERS.values():
        raise InputError(
            f"solver is {solver!r}, must be a name or a solver with its options. "
            f"Known: {', '.join(solvers.solver_names())}."
        )
    if tolerance is not None:
        solver = replace(solver, tolerance=positive("tolerance", tolerance, "m/s"))
    return solver


def solve(
    problem: ContactProblem | MatrixProblem,
    solver: str | ContactSolver = "auto",
    tolerance: float | None = None,
    measure: str = "velocity",
    guess: ArrayLike | None = None,
    history: bool = False,
) -> tuple[np.ndarray, SolveInfo]:
    """Impulses (nb, 3) [N s] of `problem`, and the statistics of the solve.

    Contacts first, each with its normal first; then the joints, in blocks of three rows.

    solver      a name in SOLVERS, or a solver with its options
    tolerance   where to stop; None: the solver's own
    measure     of what: "velocity": residual() [m/s]; "relative": natural-map error [Acary2018]
    guess       (nb, 3) impulses to start from; None: zero
    history     whether the statistics hold the course of all measures
    """
    if not isinstance(problem, ContactProblem | MatrixProblem):
        raise InputError(f"solve: {problem!r} is no ContactProblem, such as world.problem().")
    shape = (problem.block_count, 3)
    impulse = np.zeros(shape) if guess is None else np.array(guess, dtype=np.float64)
    if impulse.shape != shape or not np.isfinite(impulse).all():
        raise InputError(f"solve: guess must hold {shape[0]} x 3 finite numbers.")
    choice("measure", measure, ("velocity", "relative"))
    chosen = replace(make_solver(solver, tolerance), measure=measure, history=history)
    require(problem, chosen)
    return impulse, chosen.solve(problem, impulse)
