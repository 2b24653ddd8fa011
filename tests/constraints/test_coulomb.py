"""One contact: the cone, the exact answer on it, and its error."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

import naive
from drystone.constraints.coulomb import (
    EXACT,
    contact_error,
    invert_block,
    project_on_cone,
    slide_step,
    solve_contact,
)
from drystone.jit import kernel

FRICTIONS = [0.0, 0.1, 0.5, 1.0, 2.0]
seeds = st.integers(0, 2**31)


@kernel
def solve_one(un, u1, u2, block, inverse, mu, impulse):
    """solve_contact() is pasted into its caller and has no entry of its own."""
    return solve_contact(0, un, u1, u2, block, inverse, mu, impulse)


def six(matrix):
    """The upper half, as kernels hold it."""
    return np.array([[matrix[i, j] for i in range(3) for j in range(i, 3)]])


def random_block(rng):
    """A symmetric positive block such as bodies have: eigenvalues within a factor of 100."""
    axes = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    return (axes * 10 ** rng.uniform(-1, 1, 3)) @ axes.T


@pytest.mark.parametrize("mu", FRICTIONS)
def test_projection_is_the_closest_point(mu):
    """No point of the cone is closer: searched along its rays in the plane of p and the axis."""
    rng = np.random.default_rng(3)
    for p in rng.normal(size=(200, 3)):
        found = np.array(project_on_cone(*p, mu))
        np.testing.assert_allclose(found, naive.project_on_cone(p, mu), atol=1e-12)
        assert np.hypot(*found[1:]) <= mu * found[0] * (1 + 1e-12) + 1e-12
        side = p[1:] / np.linalg.norm(p[1:])

        def distance(x, p=p, side=side):
            return np.linalg.norm(p - x * np.array([1.0, *(mu * side)]))

        best = minimize_scalar(distance, bounds=(0, 10), method="bounded").fun
        assert np.linalg.norm(p - found) <= best + 1e-6


def test_projection_keeps_the_axis():
    assert project_on_cone(2.0, 0.0, 0.0, 0.3) == (2.0, 0.0, 0.0)
    assert project_on_cone(-2.0, 0.0, 0.0, 0.3) == (0.0, 0.0, 0.0)
    assert project_on_cone(-2.0, 0.0, 0.0, 0.0) == (0.0, 0.0, 0.0)  # without friction as well


@given(seeds, st.sampled_from(FRICTIONS))
@settings(max_examples=300, deadline=None)
def test_answer_for_one_contact_is_exact(seed, mu):
    """The natural map of the answer is zero: 1e-12 of the velocities and impulses at hand.

    From any impulse that it had before: q = u - W p_old is what counts.
    """
    rng = np.random.default_rng(seed)
    w, q = random_block(rng), rng.normal(size=3)
    old = np.array(project_on_cone(*rng.normal(size=3), mu)) * rng.integers(0, 2)
    block, inverse = six(w), np.zeros((1, 6))
    invert_block(0, block, inverse)
    p = np.array(solve_one(*(w @ old + q), block, inverse, mu, old[None, :].copy()))
    u = w @ p + q
    size = 1.0 + np.abs(p).max() * np.linalg.norm(w)
    assert contact_error(*p, *u, mu, 3.0 / np.trace(w)) < 1e-12 * size
    assert p[0] >= 0.0 and u[0] >= -1e-12 * size
    assert abs(p[0] * u[0]) < 1e-12 * size**2


@given(seeds)
@settings(max_examples=100, deadline=None)
def test_answer_equals_the_fixed_point_of_the_natural_map(seed):
    """For mu <= 0.5 and mild blocks the slow iteration converges to the same impulse, 1e-8."""
    rng = np.random.default_rng(seed)
    root = np.eye(3) + 0.15 * rng.normal(size=(3, 3))
    w, q, mu = root @ root.T, rng.normal(size=3), rng.uniform(0.0, 0.5)
    block, inverse = six(w), np.zeros((1, 6))
    invert_block(0, block, inverse)
    p = np.array(solve_one(*q, block, inverse, mu, np.zeros((1, 3))))
    slow = naive.solve_block(w, q, mu, np.zeros(3))
    np.testing.assert_allclose(p, slow, atol=1e-8)


@given(seeds, st.sampled_from(FRICTIONS[1:]), st.sampled_from([0.0, 0.3, 100.0]))
@settings(max_examples=200, deadline=None)
def test_sliding_impulse_is_on_the_cone_against_the_velocity(seed, mu, guess):
    """|p_t| = mu p_n, u_n = 0 and p_t points against u_t, where sticking would leave the cone."""
    rng = np.random.default_rng(seed)
    w, q = random_block(rng), rng.normal(size=3)
    q[0] = -abs(q[0])
    stick = np.linalg.solve(w, -q)
    assume(stick[0] <= 0 or np.hypot(*stick[1:]) > mu * stick[0])
    p = np.array(slide_step(*q, *six(w)[0], mu, guess, EXACT))
    u = w @ p + q
    size = 1.0 + np.abs(p).max() * np.linalg.norm(w)
    assert np.hypot(*p[1:]) == pytest.approx(mu * p[0], rel=1e-12)
    assert abs(u[0]) < 1e-11 * size
    assert p[1:] @ u[1:] == pytest.approx(
        -np.linalg.norm(p[1:]) * np.linalg.norm(u[1:]), abs=1e-11 * size**2
    )


def test_error_is_that_of_the_natural_map():
    rng = np.random.default_rng(5)
    for mu in FRICTIONS:
        for p, u in rng.normal(size=(50, 2, 3)):
            expected = naive.natural_map(p, u, mu, 0.7)
            assert contact_error(*p, *u, mu, 0.7) == pytest.approx(expected, rel=1e-12)


def test_inverse_of_a_block():
    rng = np.random.default_rng(6)
    for _ in range(50):
        w, inverse = random_block(rng), np.zeros((1, 6))
        invert_block(0, six(w), inverse)
        np.testing.assert_allclose(inverse, six(np.linalg.inv(w)), rtol=1e-10, atol=1e-12)
