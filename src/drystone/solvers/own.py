"""Solvers of the user's own: a class with `solve(problem, impulse)`, and what is taken for granted.

A solver may have, and if it has them they are heeded:

    law          "coulomb" (default), "convex", "pyramid", ...: what it solves, see laws.py
    supports     set of FEATURES that it honours; default: restitution, and problems by their matrix
    tolerance    [m/s] where it should stop; set to what ds.solve() or the world asks for
    max_iterations, max_sweeps or max_pivots   set by `drystone compare`, which lets it grow

solve() improves `impulse` (nb, 3) in place. It may return a SolveInfo, the number of its
iterations, or nothing: the residual is always measured here, so that no solver judges itself.
"""

import copy
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any

import numpy as np

from drystone.constraints.laws import LAWS
from drystone.constraints.problem import SolveInfo
from drystone.errors import InputError
from drystone.model.checks import choice, shown
from drystone.solvers.convergence import ConvergenceMonitor
from drystone.solvers.supported_features import FEATURES

ENTRY_POINTS = "drystone.solvers"  # group under which packages announce their solvers
LIMITS = ("max_iterations", "max_sweeps", "max_pivots")
DEFAULT_TOLERANCE = 1e-5  # [m/s], that of our own
DEFAULT_SUPPORTS = frozenset({"restitution", "matrix"})


@dataclass(frozen=True)
class OwnSolver:
    """A solver of the user, with all that the rest of the program asks of a solver."""

    given: Any
    tolerance: float = DEFAULT_TOLERANCE
    measure: str = "velocity"
    history: bool = False
    max_iterations: int = 0  # 0: as many as the solver takes by itself

    compiled = False

    @property
    def name(self) -> str:
        return type(self.given).__name__

    @property
    def law(self) -> str:
        return getattr(self.given, "law", "coulomb")

    @property
    def supports(self) -> frozenset:
        return frozenset(getattr(self.given, "supports", DEFAULT_SUPPORTS))

    def solve(self, problem: Any, impulse: np.ndarray) -> SolveInfo:
        solver = self._set_up()
        monitor = ConvergenceMonitor(self, problem, impulse, 1, self.name)
        said = solver.solve(problem, impulse)
        monitor.done(impulse)
        info = monitor.report(impulse)
        return info._replace(iterations=_iterations(said), solver=self.name)

    def _set_up(self) -> Any:
        """A copy with the tolerance and the bound that are asked for, where it knows them."""
        solver = copy.copy(self.given)
        if hasattr(solver, "tolerance"):
            object.__setattr__(solver, "tolerance", self.tolerance)
        limit = next((name for name in LIMITS if hasattr(solver, name)), None)
        if limit is not None and self.max_iterations:
            object.__setattr__(solver, limit, self.max_iterations)
        return solver


def adopt(solver: Any) -> OwnSolver:
    """The solver of a user, checked."""
    if isinstance(solver, type):
        raise InputError(
            f"solver is the class {solver.__name__}, must be a solver: {solver.__name__}()."
        )
    if not callable(getattr(solver, "solve", None)):
        raise InputError(
            f"solver is {shown(solver)}, must be a name, a solver with its options, or an object "
            f"with solve(problem, impulse)."
        )
    own = OwnSolver(solver, float(getattr(solver, "tolerance", DEFAULT_TOLERANCE)))
    choice(f"{own.name}: law", own.law, LAWS)
    for feature in sorted(own.supports):
        choice(f"{own.name}: supports", feature, FEATURES)
    return own


def find_own(place: str) -> Any:
    """The solver at "module:Class", made without arguments."""
    module, _, name = place.partition(":")
    try:
        made = getattr(import_module(module), name)()
    except ImportError as error:
        raise InputError(f"solver {place!r}: the module cannot be imported ({error}).") from None
    except AttributeError:
        raise InputError(f"solver {place!r}: {module} has no class {name!r}.") from None
    except TypeError as error:
        raise InputError(f"solver {place!r} cannot be made without arguments ({error}).") from None
    return adopt(made)


def announced() -> dict[str, str]:
    """Solvers that installed packages announce: {name: "module:Class"}."""
    return {entry.name: entry.value for entry in entry_points(group=ENTRY_POINTS)}


def _iterations(said: Any) -> int:
    if isinstance(said, SolveInfo):
        return said.iterations
    return int(said) if isinstance(said, int | np.integer) else 1
