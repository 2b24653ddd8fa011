"""prox-newton: closed forms, its compiled twin, redundant contacts, problems of other people."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import nnls

import drystone as ds
from drystone.constraints.files.load import load_problem
from drystone.constraints.matrix_problem import MatrixProblem
from drystone.constraints.residual import residual
from drystone.model.capacity import new_island, newton_work
from drystone.solvers.gauss_seidel.block_matrix import block_matrix
from drystone.solvers.newton.ordering import gather_island, order_island
from drystone.solvers.newton.semismooth import newton_step, prox_newton, set_velocities
from drystone.solvers.prox_newton import Equations, ProxNewton
from hand_built import DT, GRAVITY, box_stack, point_mass
from shared_data import PROBLEM_FILES, needs_problems
from well_posed import random_problem


def solve(problem, **options):
    impulse = np.zeros((problem.contact_count, 3))
    return impulse, ProxNewton(**options).solve(problem, impulse)


def compiled(problem):
    """The island of contact 0 for solvers/newton/semismooth.py, its scratch, and the order of its
    contacts.
    """
    blocks = block_matrix(problem.W())
    nc = problem.contact_count
    order, place = np.zeros(nc, dtype=np.int32), np.full(nc, -1, dtype=np.int32)
    n = order_island(0, blocks.first, blocks.column, place, order)
    island = new_island(n, len(blocks.column))
    gather_island(n, order, place, blocks, problem.q(), problem.friction, island)
    return n, island, newton_work(n, 9 * n * (n + 1)), order[:n]


@pytest.mark.parametrize(
    ("velocity", "expected"),
    [
        ((1.0, 0.3, 0.0), (0.0, 0.0, 0.0)),  # parts
        ((-1.0, 0.3, 0.4), (2.0, -0.6, -0.8)),  # sticks: |p_t| = 1 <= 0.6 * 2
        ((-1.0, 3.0, 4.0), (2.0, -0.72, -0.96)),  # slides: p_t = -0.6 * 2 along the motion
        ((-1.0, 0.0, 0.0), (2.0, 0.0, 0.0)),
    ],
)
def test_particle(velocity, expected):
    """2 kg, W = 1/2: p_n = 2 |u_n|. Each step leaves 1e-3 of the error, the last one 1e-12."""
    impulse, info = solve(point_mass(2.0, velocity, 0.6), tolerance=1e-11)
    assert info.converged
    np.testing.assert_allclose(impulse[0], expected, atol=1e-10)


@pytest.mark.parametrize("top", [1.0, 1000.0])
def test_stack_carries_its_weight(top):
    """Four contacts each, W singular: the normal impulses of a layer carry all that is above."""
    masses = [1.0] * 9 + [top]
    problem = box_stack(masses)
    impulse, info = solve(problem, tolerance=1e-10)
    assert info.converged
    assert info.iterations < 20
    layers = impulse[:, 0].reshape(10, 4).sum(axis=1)
    above = np.cumsum(masses[::-1])[::-1]
    np.testing.assert_allclose(layers, above * GRAVITY * DT, rtol=1e-8)


def test_frictionless_contacts_equal_a_quadratic_program():
    """min p W p / 2 + q p, p >= 0, by nonnegative least squares on a square root of W."""
    rng = np.random.default_rng(3)
    root = rng.normal(size=(12, 12))
    q = rng.normal(size=12)
    full = np.kron(root @ root.T, np.diag([1.0, 0.0, 0.0])) + np.kron(
        np.eye(12), np.diag([0, 1, 1])
    )
    velocity = np.column_stack((q, rng.normal(size=(12, 2))))
    problem = MatrixProblem(scipy.sparse.csr_array(full), velocity, np.zeros(12))
    impulse, info = solve(problem, tolerance=1e-11)
    assert info.converged
    expected = nnls(root.T, -np.linalg.solve(root, q))[0]
    np.testing.assert_allclose(impulse[:, 0], expected, atol=1e-8)
    assert np.abs(impulse[:, 1:]).max() == 0.0


@given(st.integers(0, 2**31), st.sampled_from([1e-1, 1e-4]))
@settings(max_examples=40, deadline=None)
def test_step_equals_its_compiled_twin(seed, alpha):
    """One Newton step from a random point, all contacts in one island; 1e-8 for W of rank 12."""
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, 2, 3)
    n, island, work, order = compiled(problem)
    assume(n == problem.contact_count)  # else its islands would be solved apart
    centre, start = rng.uniform(0, 1, (2, n, 3)) * (1.0, 0.3, 0.3)
    slow = start.copy()
    Equations(problem).newton_step(slow, centre, alpha)
    fast = start[order].copy()
    work.centre[:] = centre[order]
    set_velocities(n, island, alpha, work.centre, fast, work.velocity)
    assert newton_step(n, island, alpha, work, fast)
    np.testing.assert_allclose(fast, slow[order], atol=1e-8 * max(1.0, np.abs(slow).max()))


def test_compiled_twin_solves_a_stack():
    """Its error is that of residual(), but for rounding at 1000 : 1."""
    problem = box_stack([1.0, 1.0, 1000.0])
    n, island, work, order = compiled(problem)
    own, impulse = np.zeros((n, 3)), np.zeros((n, 3))
    error, steps = prox_newton(n, island, False, 1e-10, 100, work, own)
    impulse[order] = own
    assert 0 < steps < 30
    assert error <= 1e-10
    assert residual(problem, impulse) == pytest.approx(error, abs=1e-12)


def test_convergence_is_superlinear():
    """Eight boxes that slide on each other: the last step takes two digits or more."""
    problem = box_stack([1.0] * 8, velocity=(0.7, 0.4, 0.0), friction=0.3)
    _, info = solve(problem, tolerance=1e-12, history=True)
    assert info.converged
    fall = np.diff(np.log10(np.maximum(info.history.residual, 1e-16)))
    assert fall[-1] < -2.0
    assert info.iterations < 40


def test_best_iterate_remains():
    """One step is not enough; what comes back is no worse than what went in, and finite."""
    problem = box_stack([1.0] * 5)
    impulse, info = solve(problem, max_iterations=1)
    assert not info.converged
    assert info.iterations == 1
    assert np.isfinite(impulse).all()
    assert info.residual <= residual(problem, np.zeros_like(impulse))


def test_good_guess_costs_nothing():
    problem = box_stack([1.0] * 3)
    impulse, info = solve(problem, tolerance=1e-9)
    again = ProxNewton(tolerance=1e-9).solve(problem, impulse)
    assert info.iterations > 0
    assert again.iterations == 0
    assert again.converged


def test_no_contacts():
    problem = MatrixProblem(scipy.sparse.csr_array((0, 0)), np.zeros((0, 3)), np.zeros(0))
    impulse, info = solve(problem)
    assert info.converged
    assert impulse.shape == (0, 3)


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
    assert info.natural_map <= 1e-8
