"""Convergence monitor of an iterative solver: stopping test, best iterate, history of errors."""

from time import perf_counter

import numpy as np

from drystone.constraints.problem import History, SolveInfo, solve_info
from drystone.constraints.residual import measure, relative_error, residual


class ConvergenceMonitor:
    """Measures the iterates of one solve. A solver asks `done` after each iteration.

    solver    its law, tolerance, measure ("velocity": residual(), "relative": relative_error())
              and history count; what is not there is the default
    limit     iterations after which it is done in any case
    """

    def __init__(self, solver, problem, impulse, limit: int, name: str):
        self.problem, self.limit, self.name = problem, limit, name
        self.law, self.facets = solver.law, getattr(solver, "facets", 0)
        self.tolerance, self.measure = solver.tolerance, getattr(solver, "measure", "velocity")
        self.with_history = getattr(solver, "history", False)
        self.iterations, self.work, self.seconds = 0, 0.0, 0.0
        self.best, self.error = impulse.copy(), np.inf
        self.rows = []
        self.since = perf_counter()
        self._evaluate(impulse)

    def done(self, impulse: np.ndarray, work: float = 1.0, count: int = 1) -> bool:
        """Count `count` iterations, which took `work` sweeps; whether the solve is over."""
        self.seconds += perf_counter() - self.since
        self.iterations += count
        self.work += work
        self._evaluate(impulse)
        return self.converged or self.iterations >= self.limit

    @property
    def converged(self) -> bool:
        return self.error <= self.tolerance

    def report(self, impulse: np.ndarray, method: str = "") -> SolveInfo:
        """The best iterate goes into `impulse`; the statistics of the solve are returned."""
        p = self.problem
        impulse[:] = self.best
        return solve_info(
            self.converged, self.iterations, residual(p, impulse, self.law, self.facets),
            p.contact_count, p.gap.min() if p.contact_count else 0.0, measure(p, impulse),
            p.islands().max() + 1 if p.block_count else 0, self.name,
        )._replace(
            method=method, work=self.work, seconds=self.seconds, history=self._history()
        )  # fmt: skip

    def _evaluate(self, impulse) -> None:
        """Evaluate the residual of `impulse`; that time is not counted."""
        p, law, facets = self.problem, self.law, self.facets
        if not np.isfinite(impulse).all():  # it diverges
            self.since = perf_counter()
            return
        if self.measure == "velocity":
            error = residual(p, impulse, law, facets)
        else:
            error = relative_error(p, impulse, law, facets)
        if error < self.error:  # a NaN never is
            self.error = error
            self.best[:] = impulse
        if self.with_history:
            velocity_error = residual(p, impulse, law, facets)
            cost = (self.iterations, self.seconds, self.work)
            self.rows.append((*cost, velocity_error, *measure(p, impulse)))
        self.since = perf_counter()

    def _history(self) -> History | None:
        return History(*np.array(self.rows).T) if self.with_history else None
