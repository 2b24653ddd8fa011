"""Fischer-Newton: its Jacobian, its order of convergence, and redundant contacts."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import drystone as ds
from drystone.constraints.matrix_problem import MatrixProblem
from drystone.constraints.residual import residual
from drystone.solvers.fischer_newton import DIRECTIONS, FischerEquation, FischerNewton
from well_posed import (
    cube_tower,
    gauss_seidel_pyramid,
    make_problem,
    point_mass,
    two_spheres,
    unique_problem,
)


def solve(problem, **options):
    impulse = np.zeros((problem.contact_count, 3))
    return impulse, FischerNewton(**options).solve(problem, impulse)


def rolling_spheres():
    """A heavy sphere comes down on a light one, slides on it and sets it rolling."""
    return two_spheres([1.0, 4.0], [(0, 0, -1), (2, 1, -1)], [(0, 0, 0), (1, 0, 0)], [0.6, 0.3])


def test_convergence_is_quadratic():
    """The last three iterations double the exponent of the error, as in the paper's Fig. 2.

    The error e is the residual over that of the start; e' = C e² makes log e' / log e tend to 2.
    """
    problem = rolling_spheres()
    assert np.linalg.matrix_rank(problem.W().toarray()) == 6
    _, info = solve(problem, tolerance=1e-13, history=True)
    assert info.converged
    error = info.history.residual / info.history.residual[0]
    last = np.flatnonzero(error > 1e-14)[-1]  # below, rounding has the word
    exponent = np.log10(error[last - 3 : last + 1])
    ratio = exponent[1:] / exponent[:-1]
    assert (ratio > 1.9).all() and (ratio < 2.2).all(), (error, ratio)
    assert error[last] < 1e-10
    # The merit is a square: its own exponent is twice that of the error.
    assert info.history.fischer[last] < 1e-20 * info.history.fischer[0]


def test_history_has_a_row_for_every_iteration():
    _, info = solve(rolling_spheres(), tolerance=1e-14, history=True)
    history = info.history
    assert history.iteration.tolist() == list(range(info.iterations + 1))
    assert (np.diff(history.work) > 0).all() and history.work[-1] == info.work
    assert history.residual[-1] == info.residual


@given(st.integers(0, 2**31), st.booleans())
@settings(max_examples=100, deadline=None)
def test_jacobian_is_the_derivative(seed, frictional):
    """H against central differences of Phi at a random point, where it is smooth: 1e-6."""
    rng = np.random.default_rng(seed)
    equation = FischerEquation(unique_problem(rng))
    equation.frictional = frictional
    x = rng.normal(size=len(equation.q))
    jacobian = equation.jacobian(x).toarray()
    h = 1e-6
    for k in range(len(x)):
        step = h * np.eye(len(x))[k]
        slope = (equation.phi(x + step) - equation.phi(x - step)) / (2 * h)
        if not frictional:  # a held tangent: Phi is zero, and H keeps it where it is
            slope[k] -= 1.0 if k % 3 else 0.0
        # A kink within 1e-3 of the point would spoil the difference, and makes slopes large.
        np.testing.assert_allclose(jacobian[:, k], slope, atol=1e-4, rtol=1e-4)


def test_kinks_have_a_finite_slope():
    """Zero impulse and zero velocity: the kink of every function at once."""
    equation = FischerEquation(point_mass((0, 0, 0), 0.5))
    assert np.isfinite(equation.jacobian(np.zeros(3)).toarray()).all()
    assert (equation.phi(np.zeros(3)) == 0.0).all()


@given(st.integers(0, 2**31), st.floats(0.0, 1.5), st.sampled_from(DIRECTIONS))
@settings(max_examples=200, deadline=None)
def test_unit_mass_has_a_closed_form(seed, mu, direction):
    """W is the identity: p_n = max(0, -q_n), each p_t = -q_t cut at mu p_n; 1e-8.

    H is not symmetric even here, so that Fletcher-Reeves may stop, one time in some thousand.
    """
    velocity = np.random.default_rng(seed).normal(size=3)
    found, info = solve(point_mass(velocity, mu), tolerance=1e-10, direction=direction)
    assert info.converged or direction == "fletcher-reeves"
    assume(info.converged)
    pn = max(0.0, -velocity[2])
    tangent = np.clip(-velocity[:2], -mu * pn, mu * pn)
    np.testing.assert_allclose(found[0], (pn, *tangent), atol=1e-8)


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("seed", range(8))
def test_answers_equal_those_of_the_slow_twin(direction, seed):
    """Velocities of full-rank problems to 1e-6 m/s, from residuals below 1e-9 m/s."""
    problem = unique_problem(np.random.default_rng(seed), share=0.7)
    found, info = solve(problem, tolerance=1e-10, direction=direction)
    assert info.converged and info.residual == residual(problem, found, "pyramid")
    slow = gauss_seidel_pyramid(problem, 2000)
    assert residual(problem, slow, "pyramid") < 1e-9
    np.testing.assert_allclose(problem.velocity(found), problem.velocity(slow), atol=1e-6)


@pytest.mark.parametrize("staggered", [True, False])
@pytest.mark.parametrize("mass", [1.0, 1000.0])
def test_redundant_contacts_are_solved(mass, staggered):
    """Four contacts under each cube, three would do; a heavy cube on a light one: 1e-9 m/s."""
    problem = cube_tower([1.0, mass], [(0.3, 0.1, -0.04), (0, 0, -0.04)], 0.5)
    assert np.linalg.matrix_rank(problem.W().toarray()) <= 12 < 24
    found, info = solve(problem, tolerance=1e-9, staggered=staggered)
    assert info.converged and residual(problem, found, "pyramid") <= 1e-9


def test_start_leaves_friction_alone():
    """One iteration from zero: the normals have moved, the tangents have not."""
    problem = point_mass((0.1, 0, -1), 0.5)
    found, _ = solve(problem, max_iterations=1)
    assert (found[:, 0] > 0).any() and (found[:, 1:] == 0).all()
    found, _ = solve(problem, max_iterations=1, staggered=False)
    assert (found[:, 1:] != 0).any()


@given(st.integers(0, 2**31), st.sampled_from(DIRECTIONS))
@settings(max_examples=40, deadline=None)
def test_hard_problems_give_no_nan(seed, direction):
    """Mass ratios up to 1e8, friction up to 5: converged or not, never worse than the start."""
    rng = np.random.default_rng(seed)
    count = rng.integers(1, 4)
    velocities = rng.normal(size=(count, 3)) * 10.0 ** rng.uniform(-3, 2)
    problem = cube_tower(10 ** rng.uniform(-4, 4, count), velocities, rng.uniform(0, 5))
    found, info = solve(problem, direction=direction, max_iterations=20)
    assert np.isfinite(found).all() and np.isfinite(info.residual)
    assert info.residual <= residual(problem, 0 * found, "pyramid")


def test_matrix_problems_are_solved_alike():
    problem = rolling_spheres()
    alone = MatrixProblem(problem.W(), problem.q(), problem.friction)
    one, _ = solve(problem, tolerance=1e-11)
    two, info = solve(alone, tolerance=1e-11)
    assert info.converged
    np.testing.assert_allclose(two, one, atol=1e-9)


def test_no_contacts_are_no_problem():
    found, info = solve(make_problem([], [], [], [], [[0] * 7], [[0] * 6]))
    assert info.converged and found.shape == (0, 3)


def test_what_it_cannot_do_it_refuses():
    with pytest.raises(ds.UnsupportedFeature, match="fischer-newton"):
        solve(point_mass((0, 0, -1), 0.5, friction_2=0.2))
    with pytest.raises(ds.DrystoneError, match="direction"):
        FischerNewton(direction="steepest")
