"""The proximal fixed point: against its dense twin, closed forms, and its own strategies for r."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

import drystone as ds
from drystone.constraints.friction_sections import project_on_ellipse
from drystone.constraints.matrix_problem import MatrixProblem
from drystone.constraints.residual import residual
from drystone.solvers import prox
from drystone.solvers.prox import SCHEMES, STRATEGIES, Prox, block_rows, sweep_sections
from well_posed import cube_tower, make_problem, point_mass, unique_problem


def solve(problem, **options):
    impulse = np.zeros((problem.contact_count, 3))
    return impulse, Prox(**options).solve(problem, impulse)


def slow_iteration(problem, p, r, jacobi):
    """NEWTON eq. 73 with dense matrices, one r for all."""
    w, q, mu = problem.W().toarray(), problem.q().ravel(), problem.friction
    mu_2 = mu if problem.friction_2 is None else problem.friction_2
    new = p.copy()
    for c in range(len(mu)):
        u = (w @ (p if jacobi else new).ravel() + q).reshape(-1, 3)[c]
        pn = max(0.0, p[c, 0] - r * u[0])
        axes = (mu[c] * pn, mu_2[c] * pn)
        new[c] = pn, *project_on_ellipse(p[c, 1] - r * u[1], p[c, 2] - r * u[2], *axes)
    return new


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("friction_2", [None, 0.1])
def test_sweeps_equal_those_of_the_dense_twin(scheme, friction_2):
    """Five iterations from zero at the same r; what remains is rounding: 1e-12 of the impulses."""
    problem = cube_tower([2.0, 1.0], [(1, 0.3, -1), (0, -1, -2)], 0.4, friction_2)
    rows = block_rows(problem.W(), problem)
    r, slow, fast = np.full((8, 2), 0.04), np.zeros((8, 3)), np.zeros((8, 3))
    for _ in range(5):
        before, slow = slow, slow_iteration(problem, slow, 0.02, scheme == "jacobi")
        change = sweep_sections(*rows, r, 0.5, fast.copy() if scheme == "jacobi" else fast, fast)
    np.testing.assert_allclose(fast, slow, atol=1e-12 * np.abs(slow).max())
    assert np.abs(slow[:, 1:]).max() > 0.0
    assert change == pytest.approx(np.linalg.norm(slow - before) / 0.02, rel=1e-10)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("seed", range(3))
def test_every_variant_finds_the_one_answer(scheme, strategy, seed):
    """Velocities to 1e-7 m/s at a residual of 1e-10 m/s, one answer."""
    problem = unique_problem(np.random.default_rng(seed))
    reference, info = solve(problem, tolerance=1e-12, max_iterations=20_000)
    assert info.converged
    found, info = solve(
        problem, tolerance=1e-10, max_iterations=20_000, scheme=scheme, strategy=strategy
    )
    assert info.converged
    np.testing.assert_allclose(problem.velocity(found), problem.velocity(reference), atol=1e-7)


@given(st.integers(0, 2**31), st.floats(0.0, 1.5), st.floats(0.0, 1.5))
@settings(max_examples=200, deadline=None)
def test_unit_mass_has_a_closed_form(seed, mu_1, mu_2):
    """W is the identity: p_n = max(0, -q_n), p_t the projection of -q_t on the ellipse; 1e-9."""
    velocity = np.random.default_rng(seed).normal(size=3)
    problem = point_mass(velocity, mu_1, friction_2=mu_2)
    pn = max(0.0, -velocity[2])
    tangent = project_on_ellipse(-velocity[0], -velocity[1], mu_1 * pn, mu_2 * pn)
    found, info = solve(problem, tolerance=1e-12)
    assert info.converged
    np.testing.assert_allclose(found[0], (pn, *tangent), atol=1e-9)


def test_a_circle_given_as_an_ellipse_is_a_circle():
    problem = cube_tower([1.0, 1.0], [(1, 0.3, -1), (0, -1, -1)], 0.4)
    twice = cube_tower([1.0, 1.0], [(1, 0.3, -1), (0, -1, -1)], 0.4, friction_2=0.4)
    one, info = solve(problem, tolerance=1e-9, max_iterations=20_000)
    two, other = solve(twice, tolerance=1e-9, max_iterations=20_000)
    assert info.converged and other.converged
    np.testing.assert_allclose(problem.velocity(two), problem.velocity(one), atol=1e-7)
    assert residual(problem, two) < 1e-8


def test_impulses_lie_in_their_sections():
    """0 <= p_n and the ellipse hold, converged or not; to rounding."""
    problem = cube_tower([1.0, 2.0, 1.0], [(3, 1, -1), (0, -2, -3), (1, 1, 0)], 0.5, 0.05)
    for count in (10, 50, 500):
        found, _ = solve(problem, max_iterations=count, tolerance=1e-300)
        pn = found[:, 0]
        assert pn.min() >= 0.0 and pn.max() > 0.0
        room = np.hypot(found[:, 1] / 0.5, found[:, 2] / 0.05)
        assert (room <= pn * (1 + 1e-12)).all()


def test_adaptive_factor_tames_a_diverging_iteration():
    """All contacts of a tower at once with r = 1.5 / W_ii diverge; halving finds a factor."""
    problem = cube_tower([1.0] * 4, [(0.5, 0, -1)] * 4, 0.5)
    options = dict(scheme="jacobi", max_iterations=3000, tolerance=1e-6)
    bold = 1.5 / problem.blocks()[:, 0].max()
    _, wild = solve(problem, strategy="fixed", r=bold, history=True, **options)
    assert not wild.converged and wild.history.residual[50] > wild.history.residual[0]
    found, tame = solve(problem, strategy="adaptive", **options)
    assert tame.converged and residual(problem, found) <= 1e-6


def test_adaptive_factor_breaks_a_cycle(monkeypatch):
    """One contact that goes round in circles under over-relaxation, its residual not growing."""
    matrix = [[1.26, -0.73, -0.36], [-0.73, 2.04, -0.22], [-0.36, -0.22, 2.37]]
    velocity = np.array([[-1.04, 0.0, 0.01]])
    problem = MatrixProblem(csr_array(matrix), velocity, np.array([0.49]))
    assert solve(problem, tolerance=1e-9)[1].converged
    monkeypatch.setattr(prox, "PATIENCE", 10**9)
    assert not solve(problem, tolerance=1e-9)[1].converged


def test_not_converging_is_a_result():
    """An r beyond all reason: the best iterate, no NaN, and a report that says so."""
    problem = cube_tower([1.0] * 3, [(0.5, 0, -1)] * 3, 0.5)
    found, info = solve(problem, strategy="fixed", r=1e6, scheme="jacobi", max_iterations=200)
    assert not info.converged and info.iterations == 200
    assert np.isfinite(found).all()
    assert info.residual == residual(problem, found) <= residual(problem, 0 * found)


def test_matrix_problems_are_solved_alike():
    problem = unique_problem(np.random.default_rng(7))
    alone = MatrixProblem(problem.W(), problem.q(), problem.friction)
    one, _ = solve(problem, tolerance=1e-11, max_iterations=20_000)
    two, info = solve(alone, tolerance=1e-11, max_iterations=20_000)
    assert info.converged
    np.testing.assert_allclose(two, one, atol=1e-9)


def test_a_solution_is_kept():
    problem = unique_problem(np.random.default_rng(8))
    impulse, _ = solve(problem, tolerance=1e-10, max_iterations=20_000)
    again = impulse.copy()
    info = Prox(tolerance=1e-9).solve(problem, again)
    assert info.iterations == 0 and (again == impulse).all()


def test_no_contacts_are_no_problem():
    problem = make_problem([], [], [], [], [[0] * 7], [[0] * 6])
    found, info = solve(problem)
    assert info.converged and found.shape == (0, 3)


@pytest.mark.parametrize("option", [dict(scheme="sor"), dict(strategy="bold"), dict(r=-1.0)])
def test_wrong_options_are_named(option):
    with pytest.raises(ds.DrystoneError, match=str(next(iter(option)))):
        Prox(**option)
