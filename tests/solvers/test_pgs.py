"""Projected Gauss-Seidel against the pseudocode of its paper, closed forms and its own law."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drystone.constraints.residual import residual
from drystone.errors import InputError, UnsupportedFeature
from drystone.solvers.orderings import ORDERINGS, visiting_order
from drystone.solvers.pgs import REFRESH, Iteration, Pgs
from hand_built import box_stack, point_mass, random_problem

PROBLEMS = {
    "random": random_problem(3, 6),
    "stack": box_stack([1.0, 2.0, 5.0], velocity=(0.03, 0.02, 0.0)),
}


def zeros(problem):
    return np.zeros((problem.contact_count, 3))


def solve(problem, solver, impulse=None):
    impulse = zeros(problem) if impulse is None else impulse.copy()
    info = solver.solve(problem, impulse)
    return impulse, info


def pseudocode(problem, order, iterations, omega=1.0):
    """WSCG paper, section 4, line by line, with the permutation of section 5."""
    a, b = problem.W().toarray(), problem.q().ravel()
    x = np.zeros_like(b)
    for _ in range(iterations):
        for i in order:
            others = a[i] @ x - a[i, i] * x[i]
            new = (1.0 - omega) * x[i] + omega * (-others - b[i]) / a[i, i]
            x[i] = clip_row(problem, x, i, new)
    return x


def clip_row(problem, x, i, value):
    if i % 3 == 0:
        return max(0.0, value)
    bound = problem.friction[i // 3] * x[3 * (i // 3)]
    return min(bound, max(-bound, value))


@pytest.mark.parametrize(
    ("name", "ordering"),
    [("random", o) for o in ORDERINGS[:2]] + [("stack", o) for o in ORDERINGS[:3]],
)
@pytest.mark.parametrize("omega", [1.0, 1.3])
def test_sweeps_are_those_of_the_pseudocode(name, ordering, omega):
    problem = PROBLEMS[name]
    splitting = "gauss-seidel" if omega == 1.0 else "sor"
    solver = Pgs(ordering=ordering, splitting=splitting, relaxation=omega)
    run = Iteration(solver, problem, zeros(problem))
    run.run(7)
    order = visiting_order(problem, zeros(problem), ordering)
    np.testing.assert_allclose(run.impulse, pseudocode(problem, order, 7, omega), atol=1e-12)


def test_jacobi_uses_the_last_iterate_alone():
    problem = PROBLEMS["random"]
    a, b = problem.W().toarray(), problem.q().ravel()
    x = np.zeros_like(b)
    for _ in range(5):
        wish = x - 0.7 * (a @ x + b) / np.diag(a)
        x = np.array([clip_row(problem, x, i, wish[i]) for i in range(len(x))])
    run = Iteration(Pgs(splitting="jacobi", relaxation=0.7), problem, zeros(problem))
    run.run(5)
    np.testing.assert_allclose(run.impulse, x, atol=1e-12)


def subproblems(problem):
    a, b = problem.W().toarray(), problem.q().ravel()
    n = np.arange(0, len(b), 3)
    t = np.setdiff1d(np.arange(len(b)), n)
    return a, b, n, t


def sweep_normals(problem, x):
    """Eq. 20: A_nn alone, with the tangents in the constant b'."""
    a, b, n, t = subproblems(problem)
    constant = a[np.ix_(n, t)] @ x[t] + b[n]
    inner, y = a[np.ix_(n, n)], x[n]
    for i in range(len(n)):
        y[i] = max(0.0, y[i] - (inner[i] @ y + constant[i]) / inner[i, i])
    x[n] = y


def sweep_tangents(problem, x):
    """Eq. 21: A_tt alone, with the normals in the constant b' and in the bounds."""
    a, b, n, t = subproblems(problem)
    constant = a[np.ix_(t, n)] @ x[n] + b[t]
    bound = np.repeat(problem.friction * x[n], 2)
    inner, y = a[np.ix_(t, t)], x[t]
    for i in range(len(t)):
        wish = y[i] - (inner[i] @ y + constant[i]) / inner[i, i]
        y[i] = min(bound[i], max(-bound[i], wish))
    x[t] = y


@pytest.mark.parametrize("name", PROBLEMS)
def test_extreme_staggered_solves_the_two_subproblems_in_turns(name):
    problem = PROBLEMS[name]
    x = np.zeros(3 * problem.contact_count)
    run = Iteration(Pgs(ordering="extreme-staggered"), problem, zeros(problem))
    for k in range(8):
        (sweep_normals if k % 2 == 0 else sweep_tangents)(problem, x)
        run.run(1)
        np.testing.assert_allclose(run.impulse, x, atol=1e-12)


@pytest.mark.parametrize("name", PROBLEMS)
def test_greedy_staggered_goes_where_the_error_is_larger(name):
    """Eq. 22 and 23 for either set, from the dense matrix."""
    problem = PROBLEMS[name]
    a, b, n, t = subproblems(problem)
    x = np.zeros(len(b))
    run = Iteration(Pgs(ordering="greedy-staggered"), problem, zeros(problem))
    went = []
    for _ in range(20):
        y = a @ x + b
        bound = np.repeat(problem.friction * x[n], 2)
        of_normals = (np.minimum(x[n], y[n]) ** 2).sum()
        of_tangents = (np.minimum(bound - x[t], -np.minimum(x[t] + bound, y[t])) ** 2).sum()
        went.append(of_normals >= of_tangents)
        (sweep_normals if went[-1] else sweep_tangents)(problem, x)
        run.run(1)
        np.testing.assert_allclose(run.impulse, x, atol=1e-12)
    assert {True, False} == set(went) and run.normal_visits == sum(went)


@given(st.integers(0, 10_000), st.integers(1, 6), st.floats(0.0, 0.8))
@settings(max_examples=40, deadline=None)
def test_every_variant_reaches_its_law(seed, contacts, mu):
    """Splittings, orderings and friction sets alike, to 1e-10 m/s; equal laws, equal impulses."""
    problem = random_problem(seed, contacts, friction=mu)
    for friction in ("pyramid", "cone"):
        plain = Pgs(friction=friction, tolerance=1e-10, max_iterations=2000)
        answer, info = solve(problem, plain)
        assert info.converged and info.residual <= 1e-10
        assert residual(problem, answer, plain.law) == info.residual
        for change in (
            {"splitting": "jacobi", "relaxation": 0.8},
            {"splitting": "sor", "relaxation": 1.2},
            {"ordering": "impulse-propagation"},
            {"ordering": "greedy-staggered"},
            {"ordering": "extreme-staggered"},
        ):
            other, info = solve(problem, replace(plain, **change))
            assert info.converged, change
            np.testing.assert_allclose(other, answer, atol=1e-8)


@pytest.mark.parametrize("friction", ["pyramid", "cone"])
def test_a_sliding_particle(friction):
    """Closed form: p_n = m v_n; a cone brakes against the motion, a pyramid in each direction."""
    mass, mu = 2.0, 0.3
    problem = point_mass(mass, (-1.0, 3.0, 4.0), mu)
    impulse, info = solve(problem, Pgs(friction=friction, tolerance=1e-12))
    expect = (-3 / 5, -4 / 5) if friction == "cone" else (-1.0, -1.0)
    assert info.converged
    np.testing.assert_allclose(impulse, mass * np.array([[1.0, mu * expect[0], mu * expect[1]]]))


def test_a_particle_that_leaves_is_let_go():
    impulse, info = solve(point_mass(1.0, (0.5, 1.0, 0.0), 0.3), Pgs())
    assert info.converged and (impulse == 0.0).all()


def test_a_sticking_stack_carries_its_weight():
    """Four contacts share m g dt of all that is above, whatever the four parts are."""
    problem = box_stack([1.0, 2.0, 5.0])
    impulse, info = solve(problem, Pgs(tolerance=1e-9, max_iterations=5000))
    assert info.converged
    carried = impulse[:, 0].reshape(3, 4).sum(axis=1)
    np.testing.assert_allclose(carried, 9.81 * 0.01 * np.array([8.0, 7.0, 5.0]), rtol=1e-6)


def test_a_cone_is_fixed_where_coulomb_is():
    """Tangents of unequal stiffness: two steps of their own would miss the law, one does not."""
    problem = box_stack([1.0], velocity=(0.6, 0.2, 0.0))
    assert not np.isclose(problem.blocks()[0, 4], 0.0)
    impulse, info = solve(problem, Pgs(friction="cone", tolerance=1e-10, max_iterations=20_000))
    assert info.converged and residual(problem, impulse, "coulomb") <= 1e-10


def test_velocities_do_not_drift_between_refreshes():
    problem = PROBLEMS["stack"]
    run = Iteration(Pgs(), problem, zeros(problem))
    run.run(REFRESH - 1)
    exact = problem.velocity(run.impulse.reshape(-1, 3)).ravel()
    np.testing.assert_allclose(run.velocity, exact, atol=1e-12)
    run.velocity += 1.0  # what a refresh must repair
    run.run(1)
    run.run(1)
    exact = problem.velocity(run.impulse.reshape(-1, 3)).ravel()
    np.testing.assert_allclose(run.velocity, exact, atol=1e-12)


def test_work_counts_the_rows_that_were_visited():
    problem = box_stack([1.0, 1.0])
    for ordering, per_two in (("none", 2.0), ("extreme-staggered", 1.0)):
        run = Iteration(Pgs(ordering=ordering), problem, zeros(problem))
        assert run.run(2) == pytest.approx(per_two)


def test_jacobi_that_overshoots_never_returns_worse_than_it_began():
    """Four contacts carry a box: each alone would take it all, together they take four times."""
    problem = box_stack([1.0, 1.0, 1.0], velocity=(0.1, 0.0, 0.0))
    start = residual(problem, zeros(problem), "pyramid")
    impulse, info = solve(problem, Pgs(splitting="jacobi", max_iterations=3000))
    assert np.isfinite(impulse).all() and info.residual <= start and not info.converged
    _, info = solve(problem, Pgs(splitting="jacobi", relaxation=0.2, max_iterations=3000))
    assert info.converged


def test_a_solution_is_kept():
    problem = PROBLEMS["random"]
    solver = Pgs(tolerance=1e-9, max_iterations=1000)
    answer, _ = solve(problem, solver)
    again, info = solve(problem, solver, answer)
    assert info.iterations == 0 and (again == answer).all()


def test_too_few_iterations_are_admitted():
    _, info = solve(box_stack([1.0, 1000.0]), Pgs())
    assert not info.converged and info.iterations == 150 and info.residual > 1e-3


def test_history_has_every_iteration():
    _, info = solve(PROBLEMS["random"], Pgs(history=True, ordering="extreme-staggered"))
    assert len(info.history.residual) == info.iterations + 1
    assert info.history.work[2] == pytest.approx(1.0)
    assert info.history.residual.min() == pytest.approx(info.residual)


@pytest.mark.parametrize("friction", ["pyramid", "cone"])
def test_no_contacts_are_no_problem(friction):
    impulse, info = solve(box_stack([]), Pgs(friction=friction))
    assert impulse.shape == (0, 3) and info.converged


def test_elliptic_friction_is_refused():
    problem = replace(PROBLEMS["random"], friction_2=np.full(6, 0.1))
    with pytest.raises(UnsupportedFeature, match="elliptic"):
        solve(problem, Pgs())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"splitting": "gauss-siedel"}, "Did you mean 'gauss-seidel'"),
        ({"friction": "conic"}, "Did you mean 'cone'"),
        ({"ordering": "greedy"}, "unknown"),
        ({"relaxation": 1.3}, "splitting 'sor'"),
        ({"splitting": "sor", "relaxation": 2.0}, "must be between 0 and 2"),
        ({"splitting": "jacobi", "ordering": "coordinate"}, "has no ordering"),
    ],
)
def test_options_that_make_no_sense_are_refused(options, message):
    with pytest.raises(InputError, match=message):
        Pgs(**options)
