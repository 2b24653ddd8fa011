"""Fast Frictional Dynamics: every body resolved by itself, in time linear in the contacts.

FFD sections 4 to 7. Two projections in the space of a body's twists for each body and pass:
ffd_sides.py has the rows of the contacts, ffd_project.py the projections, ffd_passes.py the
passes. What is solved is feasibility: no contact closes. The two sides of a contact come to
impulses of their own; SolveInfo.momentum_error says how far they are apart.
"""

from dataclasses import dataclass
from time import perf_counter
from typing import ClassVar

import numpy as np

from drystone.errors import InputError
from drystone.ffd_passes import (
    agree,
    bounce_back,
    momentum_gap,
    resolve_bodies,
    share_impulses,
    store_answers,
)
from drystone.ffd_sides import fill_sides, side_room
from drystone.inputs import choice
from drystone.judge import Judge
from drystone.laws import law_errors
from drystone.problem import measures_of, solve_info

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

    tolerance: float = 1e-5  # on residual() of the law [m/s], as for nsgs
    max_iterations: int = 10  # passes over all bodies; 1 as published
    tangents: int = 8  # sampled at each contact
    limit: str = "impulse"  # of friction; or "velocity", as published (24)
    projection: str = "exact"  # or "surrogate", as published
    max_rounds: int = 100  # surrogates of a projection
    relaxation: float = 1.0  # of a move onto a surrogate, 0 to 2
    warm_start: bool = True  # from the impulses of the last step
    measure: str = "velocity"
    history: bool = False

    def __post_init__(self):
        choice("ffd: projection", self.projection, PROJECTIONS)
        choice("ffd: limit", self.limit, LIMITS)
        if not self.tangents >= 3:
            raise InputError(f"ffd: tangents is {self.tangents!r}, must be 3 or more.")
        if not 0.0 < self.relaxation < 2.0:
            raise InputError(f"ffd: relaxation is {self.relaxation!r}, must be between 0 and 2.")

    def solve(self, problem, impulse):
        """Improve `impulse` in place; see problem.ContactSolver."""
        bodies = Bodywise(self, problem)
        judge = Judge(self, problem, impulse, self.max_iterations, "ffd")
        if not self.warm_start:
            impulse[:] = 0.0
        shared, over = impulse.copy(), problem.contact_count == 0
        while not over:
            bodies.run(shared, 1)
            over = judge.done(shared)
        return judge.report(impulse)._replace(momentum_error=bodies.momentum_error())

    def solve_bodies(self, problem, impulse, bounce=None):
        """The same for a step: returns the twists (n + 1, 6) of the bodies, and the report.

        `impulse` becomes the mean of both sides. The report is of the twists, which are those of
        each body's own side. `bounce` (nc,): what of a normal impulse comes back.
        """
        start = perf_counter()
        bodies = Bodywise(self, problem)
        if not self.warm_start:
            impulse[:] = 0.0
        done = bodies.run(impulse, self.max_iterations)
        if bounce is not None and bounce.any():
            bodies.bounce(bounce, impulse)
        return bodies.twist, self._report(bodies, impulse, done, perf_counter() - start)

    def _report(self, bodies, impulse, passes, seconds):
        p = bodies.problem
        velocity, q = p.relative(bodies.twist), p.q()
        velocity[:, 0] += p.bias
        errors = law_errors(p, impulse, velocity, self.law)
        error = errors.max(initial=0.0)
        return solve_info(
            error <= self.tolerance, passes, error, p.contact_count,
            p.gap.min() if p.contact_count else 0.0, measures_of(p, impulse, q, velocity), 0, "ffd",
        )._replace(
            work=float(passes), seconds=seconds, momentum_error=bodies.momentum_error()
        )  # fmt: skip


class Bodywise:
    """The bodies of one solve."""

    def __init__(self, options: Ffd, problem):
        p = self.problem = problem
        self.options = options
        self.sides = side_room(p, options.tangents)
        fill_sides(p.body, p.frame, p.arm, p.mass, options.max_iterations == 1, self.sides)
        angle = 2.0 * np.pi * np.arange(options.tangents) / options.tangents
        self.circle = np.column_stack((np.cos(angle), np.sin(angle)))
        self.twist = p.free.copy()
        self.pace = np.ones(1)

    def run(self, impulse, passes: int) -> int:
        """Up to so many passes from the shared `impulse`; how many it took."""
        p, o, sides = self.problem, self.options, self.sides
        friction_2 = p.friction if p.friction_2 is None else p.friction_2
        ahead, done = impulse.copy(), 0
        while done < passes:
            share_impulses(p.free, ahead, sides, self.twist)
            resolve_bodies(
                p.body, p.frame, p.arm, p.bias, p.friction, friction_2,
                self.circle, o.projection == "exact", o.limit == "velocity", o.relaxation,
                INNER_SHARE * o.tolerance, o.max_rounds,
                ahead, self.twist,
                sides,
            )  # fmt: skip
            done += 1
            if agree(impulse, ahead, self.pace, sides) <= o.tolerance:
                break
        store_answers(p.free, sides, self.twist)
        return done

    def bounce(self, share, impulse) -> None:
        bounce_back(share, impulse, self.sides)
        store_answers(self.problem.free, self.sides, self.twist)

    def momentum_error(self) -> float:
        """Impulses between bodies that their two sides do not share, as a part of all."""
        gap, total = momentum_gap(self.sides)
        return gap / total if total > 0.0 else 0.0
