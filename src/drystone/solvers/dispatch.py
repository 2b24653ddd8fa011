"""Dispatch of solvers by name, and solve() for one problem by itself."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from drystone import solvers
from drystone.constraints.matrix_problem import MatrixProblem
from drystone.constraints.problem import ContactProblem, ContactSolver, SolveInfo
from drystone.constraints.problem_checks import check_given, impulses_of
from drystone.constraints.residual import residual
from drystone.errors import DrystoneError, SimulationError
from drystone.model.checks import choice, positive
from drystone.model.files import reason
from drystone.model.signatures import public
from drystone.solvers import own
from drystone.solvers.supported_features import require


def make_solver(solver: Any, tolerance: float | None = None) -> Any:
    """The solver of that name, or the given one, with `tolerance` [m/s] if there is any."""
    if isinstance(solver, str):
        solver = _by_name(solver)
    elif isinstance(solver, type) or (
        not is_force_method(solver)
        and type(solver) not in solvers.SOLVERS.values()
        and not isinstance(solver, own.OwnSolver)
    ):
        solver = own.adopt(solver)
    if tolerance is not None:
        solver = replace(solver, tolerance=positive("tolerance", tolerance, "m/s"))
    return solver


def _by_name(name: str) -> Any:
    """One of ours, one that an installed package announces, or "module:Class"."""
    known = (*solvers.solver_names(), *solvers.FORCE_METHODS)
    if name not in known:
        more = own.announced()
        if ":" in name or name in more:
            return own.find_own(more.get(name, name))
        choice("solver", name, (*known, *more))
    return solvers.find_solver(name)()


def is_force_method(solver: Any) -> bool:
    """Whether it finds forces (solvers.FORCE_METHODS), and solves no contact problem."""
    return getattr(solver, "level", "velocity") == "force"


@public
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

    solver      a name in SOLVERS, a solver with its options, or one of your own
    tolerance   where to stop; None: the solver's own
    measure     of what: "velocity": residual() [m/s]; "relative": natural-map error [Acary2018]
    guess       (nb, 3) impulses to start from; None: zero
    history     whether the statistics hold the course of all measures

    All impulses are finite. Where a solver loses itself, as in a problem with masses of 1e300, the
    answer is the guess, and the statistics say that it did not converge.
    """
    problem = check_given(problem, "solve")
    impulse = (
        np.zeros((problem.block_count, 3))
        if guess is None
        else impulses_of(problem, guess, "solve: guess")
    )
    choice("measure", measure, ("velocity", "relative"))
    method = make_solver(solver, tolerance)
    if is_force_method(method):
        method.solve(problem, impulse)  # says why not
    chosen = replace(method, measure=measure, history=history)
    require(problem, chosen)
    return _finite(problem, chosen, impulse)


def _finite(problem, solver, impulse: np.ndarray) -> tuple[np.ndarray, SolveInfo]:
    """The answer of the solver, or the start if that is not finite."""
    start = impulse.copy()
    try:
        with np.errstate(all="ignore"):  # the measures say what came of it
            info = solver.solve(problem, impulse)
    except (ArithmeticError, ValueError, RuntimeError) as error:
        if isinstance(error, DrystoneError):
            raise
        name = getattr(solver, "name", type(solver).__name__)
        raise SimulationError(
            f"solve: {name} cannot solve this problem ({reason(error)})."
        ) from None
    if not np.isfinite(impulse).all():
        with np.errstate(all="ignore"):
            facets = getattr(solver, "facets", 0)
            left = float(residual(problem, start, solver.law, facets)) if len(start) else 0.0
        return start, info._replace(converged=False, residual=left)
    return impulse, info if np.isfinite(info.residual) else info._replace(converged=False)
