"""Solvers of Coulomb's law agree wherever it has one answer.

The problems: one to five random bodies, a contact for each of some random pairs of them and of the
fixed world, masses and sizes within a factor of four, W of full rank with a condition below 100,
and friction scaled down, from up to 1, so that well_posed.coupling() < 0.9: there the law is a
strongly monotone complementarity problem and its answer unique.
"""

from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drystone.constraints.residual import residual
from drystone.solvers import SOLVERS
from drystone.solvers.prox import Prox
from well_posed import coupling, cube_tower, unique_problem

COULOMB_SOLVERS = [kind for kind in SOLVERS.values() if kind().law == "coulomb"]

# [m/s]; with the condition and the coupling above, velocities are then good to 1e-6 m/s.
TOLERANCE = 1e-10
MANY = 100_000


def precise(solver):
    """The solver with that tolerance, and as many iterations as it wants."""
    limits = {"max_sweeps", "max_iterations"} & {field.name for field in fields(solver)}
    return solver(tolerance=TOLERANCE, **dict.fromkeys(limits, MANY))


def draw_problem(rng, share):
    bodies = rng.integers(1, 6)
    return unique_problem(rng, bodies, rng.integers(1, bodies + 2), share)


@st.composite
def well_posed_problems(draw):
    seed, share = draw(st.integers(0, 2**31)), draw(st.just(0.0) | st.floats(1e-6, 0.9))
    return draw_problem(np.random.default_rng(seed), share)


def velocities(problem, solver):
    """Twists of all bodies (n + 1, 6) [m/s, rad/s] after the impulses of `solver`."""
    impulse = np.zeros((problem.contact_count, 3))
    info = precise(solver).solve(problem, impulse)
    assert info.converged, (solver.__name__, info.residual)
    assert residual(problem, impulse) <= TOLERANCE
    return problem.free + problem.twist_from(impulse)


@given(well_posed_problems())
@settings(max_examples=200, deadline=None)
@pytest.mark.slow
def test_solvers_agree_on_the_velocities(problem):
    """1e-6 m/s and rad/s, each against the first."""
    first, *others = [velocities(problem, solver) for solver in COULOMB_SOLVERS]
    for other in others:
        np.testing.assert_allclose(other, first, atol=1e-6, rtol=0.0)


def test_problems_have_contacts_of_every_kind():
    """Sticking, sliding and open ones: each is at least a twentieth in a hundred problems."""
    kinds = np.zeros(3)
    for seed in range(100):
        rng = np.random.default_rng(seed)
        problem = draw_problem(rng, rng.uniform(0.0, 0.9))
        impulse = np.zeros((problem.contact_count, 3))
        precise(Prox).solve(problem, impulse)
        speed = np.hypot(*problem.velocity(impulse).T[1:])
        closed = impulse[:, 0] > 1e-8
        slides = speed > 1e-6
        kinds += [(closed & ~slides).sum(), (closed & slides).sum(), (~closed).sum()]
    assert (kinds > 0.05 * kinds.sum()).all(), kinds


def test_criterion_sees_when_there_is_no_one_answer():
    """Redundant contacts: W is singular and many impulses do."""
    assert coupling(cube_tower([1.0], [(0, 0, -1)], 0.1)) == np.inf


@pytest.mark.parametrize("solver", COULOMB_SOLVERS)
def test_solvers_are_of_that_law(solver):
    assert solver.law == "coulomb"
