"""Fast frictional dynamics (FFD): every body resolved by itself, in time linear in the contacts.

FFD sections 4 to 7. Two projections in the space of a body's twists for each body and pass:
body_contacts.py has the rows of the contacts, normal_projection.py and friction.py the projections,
passes.py the passes. The two sides of a contact come to impulses of their own;
SolveInfo.momentum_error says how far they are apart.
"""

from dataclasses import dataclass
from time import perf_counter
from typing import Any, ClassVar

import numpy as np

from drystone.constraints.laws import law_errors
from drystone.constraints.problem import ContactProblem, History, SolveInfo, solve_info
from drystone.constraints.residual import measure, measures_of, relative_error, residual
from drystone.model.checks import choice
from drystone.solvers.ffd.body_contacts import Projection, contacts_of, fill_sides, new_sides
from drystone.solvers.ffd.passes import (
    agree,
    bounce_back,
    momentum_gap,
    resolve_bodies,
    share_impulses,
    store_answers,
)
from drystone.solvers.options import check_options, check_relaxation

PROJECTIONS = ("exact", "surrogate")
LIMITS = ("impulse", "velocity")

# Of the tolerance, what a projection may leave of a violation: the passes must see the rest.
INNER_SHARE = 0.1


@dataclass(frozen=True)
class Ffd:
    """Each body alone against what it touches: cheap, parallel, approximate."""

    law: ClassVar[str] = "feasible"
    supports: ClassVar[frozenset[str]] = frozenset({"restitution", "elliptic", "2d"})
    compiled: ClassVar[bool] = False

    tolerance: float = 1e-5  # on what a pass still changes, and on residual() of the law [m/s]
    max_iterations: int = 10  # passes over all bodies
    projection: str = "exact"  # of the normals; or "surrogate" (FFD section 7)
    limit: str = "impulse"  # of friction: mu times the normal impulse; or "velocity" (24)
    tangents: int = 8  # sampled at each contact, for that limit; FFD does not say how many
    max_rounds: int = 100  # surrogates of a projection, or visits of each contact
    relaxation: float = 1.0  # of a move onto a surrogate, 0 to 2
    warm_start: bool = True  # from the impulses of the last step
    measure: str = "velocity"
    history: bool = False

    def __post_init__(self) -> None:
        check_options(self, "ffd")
        choice("ffd: projection", self.projection, PROJECTIONS)
        choice("ffd: limit", self.limit, LIMITS)
        check_relaxation("ffd", self.relaxation)

    @classmethod
    def published(cls, **options: Any) -> "Ffd":
        """As in the paper: one pass of surrogates from zero, friction limited by velocities."""
        paper: dict[str, Any] = dict(
            max_iterations=1, projection="surrogate", limit="velocity", warm_start=False
        )
        return cls(**paper | options)

    def solve(self, problem: ContactProblem, impulse: np.ndarray) -> SolveInfo:
        """Improve `impulse` in place, the mean of both sides; see problem.ContactSolver."""
        p, start, measuring, done, settled = problem, perf_counter(), 0.0, 0, False
        bodies, rows = Bodywise(self, p, impulse), []
        while True:
            since = perf_counter()
            if self.history:
                rows.append((done, since - start - measuring, done, *self._errors(p, impulse)))
            measuring += perf_counter() - since
            if settled or done == self.max_iterations:
                break
            more, settled = bodies.run(1)
            done += more
        seconds = perf_counter() - start - measuring
        error = residual(p, impulse, self.law)
        counts = error if self.measure == "velocity" else relative_error(p, impulse, self.law)
        islands = p.islands().max() + 1 if p.contact_count else 0
        return solve_info(
            counts <= self.tolerance, done, error, p.contact_count,
            p.gap.min() if p.contact_count else 0.0, measure(p, impulse), islands, "ffd",
        )._replace(
            work=float(done), seconds=seconds, momentum_error=bodies.momentum_error(),
            history=History(*np.array(rows).T) if self.history else None,
        )  # fmt: skip

    def solve_bodies(
        self, problem: ContactProblem, impulse: np.ndarray, bounce: np.ndarray | None = None
    ) -> tuple[np.ndarray, SolveInfo]:
        """The same for a step: returns the twists (n + 1, 6) of the bodies, and the report.

        The twists are those of each body's own side, and the statistics are of them; `impulse`
        becomes the mean of both sides. `bounce` (nc,): what of a normal impulse comes back.
        """
        start = perf_counter()
        bodies = Bodywise(self, problem, impulse)
        done, _ = bodies.run(self.max_iterations)
        if bounce is not None and bounce.any():
            bodies.bounce(bounce)
        return bodies.twist, self._report(bodies, done, perf_counter() - start)

    def _errors(self, problem, impulse):
        return residual(problem, impulse, self.law), *measure(problem, impulse)

    def _report(self, bodies, passes, seconds):
        p, impulse = bodies.problem, bodies.impulse
        velocity, q = p.relative(bodies.twist), p.q()
        velocity[:, 0] += p.bias
        error = law_errors(p, impulse, velocity, self.law).max(initial=0.0)
        return solve_info(
            error <= self.tolerance, passes, error, p.contact_count,
            p.gap.min() if p.contact_count else 0.0, measures_of(p, impulse, q, velocity), 0, "ffd",
        )._replace(
            work=float(passes), seconds=seconds, momentum_error=bodies.momentum_error()
        )  # fmt: skip


class Bodywise:
    """The bodies of one solve. `impulse` is what both sides share; it stays up to date."""

    def __init__(self, options: Ffd, problem, impulse):
        p = problem
        self.options, self.problem, self.impulse = options, problem, impulse
        if not options.warm_start:
            impulse[:] = 0.0
        self.sides = new_sides(p, options.tangents)
        fill_sides(p.body, p.frame, p.arm, p.mass, options.max_iterations == 1, self.sides)
        angle = 2.0 * np.pi * np.arange(options.tangents) / options.tangents
        self.contacts = contacts_of(p)
        self.projection = Projection(
            circle=np.column_stack((np.cos(angle), np.sin(angle))),
            exact=int(options.projection == "exact"),
            by_velocity=int(options.limit == "velocity"),
            relaxation=options.relaxation,
            precision=INNER_SHARE * options.tolerance,
            limit=options.max_rounds,
        )
        self.twist = p.free.copy()
        self.ahead, self.pace = impulse.copy(), np.array([1.0, np.inf])

    def run(self, passes: int) -> tuple[int, bool]:
        """Up to so many passes; how many it took, and whether nothing changes any more."""
        p, o, sides = self.problem, self.options, self.sides
        done, settled = 0, p.contact_count == 0
        while done < passes and not settled:
            share_impulses(p.free, self.ahead, sides, self.twist)
            resolve_bodies(self.contacts, self.projection, self.ahead, self.twist, sides)
            done += 1
            settled = agree(self.impulse, self.ahead, self.pace, sides) <= o.tolerance
        store_answers(p.free, sides, self.twist)
        return done, settled

    def bounce(self, share) -> None:
        """Poisson's restitution: that share (nc,) of what pushed pushes again."""
        bounce_back(share, self.impulse, self.sides)
        store_answers(self.problem.free, self.sides, self.twist)

    def momentum_error(self) -> float:
        """Impulses between bodies that their two sides do not share, as a part of all."""
        gap, total = momentum_gap(self.sides)
        return gap / total if total > 0.0 else 0.0
