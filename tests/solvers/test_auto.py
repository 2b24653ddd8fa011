"""auto: every problem to its tolerance, by the method that it says, the best iterate if not."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

import drystone as ds
from drystone.constraints import last_step
from drystone.constraints.error_measures import MEASURE_NATURAL
from drystone.constraints.files.load import load_problem
from drystone.constraints.matrix_problem import MatrixProblem
from drystone.constraints.residual import measure, residual
from drystone.solvers import auto
from drystone.solvers.auto import Auto
from drystone.solvers.newton import hybrid
from drystone.solvers.prox_newton import ProxNewton
from drystone.steppers.time_stepping import SolverStep
from hand_built import DT, GRAVITY, box_stack, point_mass
from shared_data import PROBLEM_FILES, needs_problems
from well_posed import random_problem


def solve(problem, **options):
    impulse = np.zeros((problem.contact_count, 3))
    return impulse, Auto(**options).solve(problem, impulse)


def side_by_side(*problems):
    """One problem of parts that have nothing to do with each other."""
    return MatrixProblem(
        scipy.sparse.block_diag([p.W() for p in problems], format="csr"),
        np.concatenate([p.q() for p in problems]),
        np.concatenate([p.friction for p in problems]),
    )


def test_particle_slides():
    """2 kg at 1 m/s down and 5 m/s along, mu = 0.6: p_n = 2, p_t = 1.2 against the motion."""
    impulse, info = solve(point_mass(2.0, (-1.0, 3.0, 4.0), 0.6), tolerance=1e-12)
    assert info.converged
    assert info.method == "hybrid: sweeps 1 island"
    np.testing.assert_allclose(impulse[0], (2.0, -0.72, -0.96), atol=1e-11)


def test_heavy_box_on_a_light_stack():
    """1000 kg on nine boxes of 1 kg: sweeps stall, Newton carries the weight."""
    masses = [1.0] * 9 + [1000.0]
    impulse, info = solve(box_stack(masses), tolerance=1e-9)
    assert info.converged
    assert info.method.startswith("newton 1 island (")
    layers = impulse[:, 0].reshape(10, 4).sum(axis=1)
    np.testing.assert_allclose(layers, np.cumsum(masses[::-1])[::-1] * GRAVITY * DT, rtol=1e-7)


def test_islands_get_what_they_need():
    """Particles by a visit, a stack by Newton; all of it in one report."""
    easy = [point_mass(1.0, (-1.0, 0.1 * k, 0.2), 0.5) for k in range(3)]
    problem = side_by_side(easy[0], box_stack([1.0] * 9 + [1000.0]), *easy[1:])
    impulse, info = solve(problem, tolerance=1e-9)
    assert info.converged
    assert info.islands == 4
    assert info.method.startswith("hybrid: sweeps 3 islands, newton 1 island (")
    assert residual(problem, impulse) <= 1e-9


@given(st.integers(0, 2**31))
@settings(max_examples=60, deadline=None)
def test_random_problems(seed):
    """Redundant, jammed, with friction up to 1; the law holds to 1e-9 m/s, whoever solved it."""
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, rng.integers(1, 6), rng.integers(1, 16))
    impulse, info = solve(problem, tolerance=1e-9)
    assert info.converged
    assert info.residual == residual(problem, impulse) <= 1e-9
    assert info.natural_map == pytest.approx(measure(problem, impulse)[MEASURE_NATURAL])


def test_relative_measure_adds_up_over_islands():
    """Ten stacks, each with its share of the error."""
    parts = [box_stack([1.0] * 3, velocity=(0.1 * k, 0.0, 0.0)) for k in range(10)]
    problem = side_by_side(*parts)
    _, info = solve(problem, tolerance=1e-8, measure="relative")
    assert info.converged
    assert info.natural_map <= 1e-8


def test_large_island_goes_to_sparse_factors(monkeypatch):
    """As if the factors did not fit."""
    problem = side_by_side(box_stack([1.0] * 9 + [1000.0]))
    monkeypatch.setattr(auto, "hybrid_work", small_work)
    impulse, info = solve(problem, tolerance=1e-9)
    assert info.converged
    assert info.method.startswith("hybrid: sparse newton 1 island (")
    assert residual(problem, impulse) <= 1e-9


def small_work(matrix, member, start):
    work = hybrid.hybrid_work(matrix, member, start)
    return work._replace(newton=work.newton._replace(matrix=np.zeros(10)))


def test_what_cannot_be_solved_is_said():
    """A contact that is pressed together by velocities it cannot change: no impulse helps."""
    matrix = np.diag([1.0, 1, 1, 0, 0, 0]) + 1e-30 * np.eye(6)
    matrix[0, 3] = matrix[3, 0] = -1.0  # indefinite: pushing one pulls at the other
    problem = MatrixProblem(
        scipy.sparse.csr_array(matrix), np.array([[-1.0, 0, 0], [-1.0, 0, 0]]), np.zeros(2)
    )
    impulse, info = solve(problem, tolerance=1e-9, max_sweeps=50)
    assert not info.converged
    assert "not converged 1 island" in info.method
    assert np.isfinite(impulse).all()


def test_best_iterate_remains():
    problem = side_by_side(box_stack([1.0] * 9 + [1000.0]))
    start = residual(problem, np.zeros((problem.contact_count, 3)))
    impulse, info = solve(problem, tolerance=1e-12, max_sweeps=10)
    assert not info.converged
    assert info.residual == residual(problem, impulse) < start


@pytest.mark.parametrize("masses", [[1.0], [1.0] * 9 + [1000.0]], ids=["sweeps", "newton"])
def test_problems_are_solved_as_the_step_of_a_world_solves_them(masses):
    """From the same start, the same kernels: the impulses of the step, but for rounding."""
    world = ds.World(sleeping=False, tolerance=1e-9)
    world.add_fixed(ds.Plane())
    for k, mass in enumerate(masses):
        world.add_body(ds.Box(1, 1, 1), mass=mass, position=(0, 0, 0.5 + k))
    step = SolverStep(world.solver, world.model, world.state, world._work, world.settings)
    step.run_until("impacts")
    problem = last_step.last_problem(step.model, step.state, step.work)
    impulse = step.work.rows.impulse[: problem.contact_count].copy()
    step.solve()
    info = world.solver.solve(problem, impulse)
    assert info.converged and "hybrid" not in info.method
    assert ("newton" in info.method) == (len(masses) > 1)
    np.testing.assert_allclose(
        impulse, step.work.rows.impulse[: problem.contact_count], rtol=0, atol=1e-12 * impulse.max()
    )


def test_what_the_step_leaves_unconverged_goes_to_the_hybrid(monkeypatch):
    """Contacts beyond what Newton takes within a step: a stack of 140 boxes, 560 contacts, where
    factors of its bodies would take too long."""
    monkeypatch.setattr("drystone.solvers.auto.ISLAND_OPERATIONS", 0.0)
    impulse, info = solve(box_stack([1.0] * 140), tolerance=1e-8)
    assert info.converged and info.method.startswith("hybrid: ")


def test_good_guess_costs_nothing():
    problem = box_stack([1.0] * 4)
    impulse, info = solve(problem, tolerance=1e-8)
    before = impulse.copy()
    again = Auto(tolerance=1e-8).solve(problem, impulse)
    assert info.iterations > 0
    assert again.iterations == 0
    assert again.work == 0.0
    np.testing.assert_array_equal(impulse, before)


def test_two_dimensions_take_no_second_tangent():
    """The padded tangent of a MatrixProblem has no impulse, by Newton as well."""
    flat = np.array(
        [[2.0, -0.4, -1.0, 0.3], [-0.4, 1.5, 0.1, 0.2], [-1.0, 0.1, 1.2, 0], [0.3, 0.2, 0, 1]]
    )
    full = np.zeros((6, 6))
    keep = [0, 1, 3, 4]
    full[np.ix_(keep, keep)] = flat
    full[2, 2] = full[5, 5] = 1.4
    q = np.array([[-1.0, 0.5, 0.0], [-0.8, -0.1, 0.0]])
    problem = MatrixProblem(scipy.sparse.csr_array(full), q, np.full(2, 0.3), dim=2)
    for solver in (Auto(tolerance=1e-12), ProxNewton(tolerance=1e-12)):
        impulse = np.zeros((2, 3))
        assert solver.solve(problem, impulse).converged
        assert (impulse[:, 2] == 0.0).all()


def test_report_holds_the_course():
    problem = box_stack([1.0] * 3)
    _, info = solve(problem, tolerance=1e-8, history=True)
    assert info.history.residual[0] == residual(problem, np.zeros((12, 3)))
    assert info.history.residual[-1] == info.residual
    assert info.history.work[-1] == info.work > 0.0
    assert info.solver == "auto"


def test_no_contacts():
    problem = MatrixProblem(scipy.sparse.csr_array((0, 0)), np.zeros((0, 3)), np.zeros(0))
    impulse, info = solve(problem)
    assert info.converged
    assert info.islands == 0


def test_elliptic_friction_is_refused():
    problem = MatrixProblem(
        scipy.sparse.csr_array(np.eye(3)), np.zeros((1, 3)), np.ones(1), friction_2=np.ones(1)
    )
    with pytest.raises(ds.UnsupportedFeature, match="elliptic"):
        solve(problem)


@needs_problems
@pytest.mark.parametrize("path", PROBLEM_FILES, ids=lambda path: path.name.split(".")[0])
def test_problems_of_other_people(path):
    """From zero to the relative natural-map error 1e-8 of [Acary2018]."""
    problem = load_problem(path)
    impulse, info = solve(problem, tolerance=1e-8, measure="relative")
    assert info.converged
    assert measure(problem, impulse)[MEASURE_NATURAL] <= 1e-8
