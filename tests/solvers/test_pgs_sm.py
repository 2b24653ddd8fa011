"""Subspace minimisation: its sets, its reduced solves, and never worse than its sweeps."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from drystone.constraints.residual import residual
from drystone.errors import InputError, UnsupportedFeature
from drystone.solvers.pgs import Pgs
from drystone.solvers.pgs_sm import PgsSm, Subspace, conjugate_gradients
from hand_built import box_stack, random_problem


def solve(problem, solver):
    impulse = np.zeros((problem.contact_count, 3))
    info = solver.solve(problem, impulse)
    return impulse, info


def test_sets_of_a_contact_that_slides_sticks_or_is_off():
    """Eq. 19, with mu = 0.4: bounds come from the normal, a negative normal counts as zero."""
    subspace = Subspace(PgsSm(), random_problem(0, 3))
    impulse = np.array([2.0, 0.8, -0.8, 1.0, 0.1, -0.39, -1.0, 0.0, 0.0])
    low, high = subspace.bounds(impulse)
    np.testing.assert_allclose(high, [np.inf, 0.8, 0.8, np.inf, 0.4, 0.4, np.inf, 0.0, 0.0])
    np.testing.assert_allclose(low, [0.0, -0.8, -0.8, 0.0, -0.4, -0.4, 0.0, 0.0, 0.0])
    sets = subspace.index_sets(impulse, low, high)
    assert sets.tolist() == [0, 1, -1, 0, 0, 0, -1, -1, -1]


@pytest.mark.parametrize("reduced", ["cg", "factorisation"])
def test_reduced_solve_makes_the_active_velocities_vanish(reduced):
    """Eq. 22, also where four contacts of a box make A_AA singular; the others stay."""
    problem = box_stack([1.0, 3.0])
    subspace = Subspace(PgsSm(reduced=reduced), problem)
    start = np.abs(np.random.default_rng(0).normal(size=24))
    active = np.arange(24) % 5 != 0
    answer, work = subspace.solve(start, active)
    velocity = problem.velocity(answer.reshape(-1, 3)).ravel()
    assert np.abs(velocity[active]).max() < 1e-9 and work > 1.0
    assert (answer[~active] == start[~active]).all()


@pytest.mark.parametrize("reduced", ["cg", "factorisation"])
@pytest.mark.parametrize("damped", ["friction", "all"])
def test_regularisation_is_gamma_on_the_diagonal(reduced, damped):
    """A'_AA = A_AA + gamma I, on the rows that were asked for, and a dense solve agrees."""
    problem = random_problem(5, 4)
    options = PgsSm(reduced=reduced, regularisation=0.3, damped=damped)
    a, b = problem.W().toarray(), problem.q().ravel()
    gamma = 0.3 * np.diag(a).mean() * np.ones(12)
    if damped == "friction":
        gamma[::3] = 0.0
    answer, _ = Subspace(options, problem).solve(np.ones(12), np.full(12, True))
    np.testing.assert_allclose(answer, np.linalg.solve(a + np.diag(gamma), -b), atol=1e-8)


@given(st.integers(0, 10_000), st.integers(1, 12), st.integers(1, 12))
@settings(max_examples=60, deadline=None)
def test_conjugate_gradients_solve_singular_systems_within_reach(seed, n, rank):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(n, min(n, rank)))
    matrix, right = root @ root.T, root @ rng.normal(size=min(n, rank))
    x, products = conjugate_gradients(scipy.sparse.csr_array(matrix), right, 1e-15)
    spread = np.linalg.svd(root, compute_uv=False)
    if spread[0] < 50 * spread[-1]:  # rounding spoils the n-step property beyond that
        assert np.linalg.norm(matrix @ x - right) <= 1e-5 * np.linalg.norm(right)
    assert products <= n


def test_conjugate_gradients_out_of_reach_return_the_best_they_met():
    matrix = scipy.sparse.diags_array([1.0, 2.0, 0.0]).tocsr()
    right = np.array([1.0, 1.0, 1.0])
    x, _ = conjugate_gradients(matrix, right, 1e-15)
    assert np.isfinite(x).all()
    assert np.linalg.norm(matrix @ x - right) <= np.linalg.norm(right)


@pytest.mark.parametrize("reduced", ["cg", "factorisation"])
@pytest.mark.parametrize("lazy_bounds", [False, True])
def test_stands_a_thousand_kilograms_on_one(reduced, lazy_bounds):
    """The paper's strong case: large mass ratio, few contacts. Plain sweeps are nowhere near."""
    problem = box_stack([1.0, 1000.0])
    solver = PgsSm(tolerance=1e-8, reduced=reduced, lazy_bounds=lazy_bounds)
    impulse, info = solve(problem, solver)
    assert info.converged and residual(problem, impulse, "pyramid") == info.residual
    np.testing.assert_allclose(impulse[:4, 0].sum(), 9.81 * 0.01 * 1001.0, rtol=1e-6)
    _, plain = solve(problem, Pgs(tolerance=1e-8))
    assert plain.residual > 1e4 * info.residual


@given(st.integers(0, 10_000), st.integers(1, 5), st.floats(0.0, 0.8))
@settings(max_examples=30, deadline=None)
def test_agrees_with_plain_sweeps(seed, contacts, mu):
    problem = random_problem(seed, contacts, friction=mu)
    answer, _ = solve(problem, Pgs(tolerance=1e-11, max_iterations=2000))
    for options in ({}, {"reduced": "factorisation"}, {"lazy_bounds": True}, {"fallback": False}):
        solver = PgsSm(tolerance=1e-10, sweeps=3, max_iterations=2000, **options)
        other, info = solve(problem, solver)
        assert info.converged, options
        np.testing.assert_allclose(other, answer, atol=1e-8)


def test_a_bad_phase_is_undone(monkeypatch):
    """Whatever the reduced solves do, what comes out is what the sweeps alone would have given."""
    monkeypatch.setattr(Subspace, "solve", lambda self, p, active: (p + 1e3 * active, 1.0))
    problem = box_stack([1.0, 50.0, 1.0])
    impulse, info = solve(problem, PgsSm(tolerance=1e-12, max_iterations=90))
    sweeps = 25 * 3  # 25 sweeps and 5 reduced solves, three times
    plain, _ = solve(problem, Pgs(tolerance=1e-12, max_iterations=sweeps))
    assert info.iterations == 90
    np.testing.assert_allclose(impulse, plain, rtol=1e-9, atol=1e-12)


def test_nothing_active_is_no_problem():
    """All contacts leave: every row is at its lower bound."""
    problem = box_stack([1.0], velocity=(0.0, 0.0, 2.0))
    impulse, info = solve(problem, PgsSm())
    assert info.converged and (impulse == 0.0).all()
    answer, _ = Subspace(PgsSm(), problem).solve(np.zeros(12), np.full(12, False))
    assert (answer == 0.0).all()


def test_no_contacts_are_no_problem():
    impulse, info = solve(box_stack([]), PgsSm())
    assert impulse.shape == (0, 3) and info.converged


def test_history_counts_the_work_of_reduced_solves():
    _, info = solve(box_stack([1.0, 1000.0]), PgsSm(tolerance=1e-8, history=True))
    assert info.history.work[-1] == info.work > info.iterations
    assert (np.diff(info.history.work) >= 1.0).all()


def test_elliptic_friction_is_refused():
    problem = replace(random_problem(0, 2), friction_2=np.full(2, 0.1))
    with pytest.raises(UnsupportedFeature, match="elliptic"):
        solve(problem, PgsSm())


def test_options_that_make_no_sense_are_refused():
    with pytest.raises(InputError, match="Did you mean 'factorisation'"):
        PgsSm(reduced="factorization")
    with pytest.raises(InputError, match="must be >= 0"):
        PgsSm(regularisation=-1.0)
