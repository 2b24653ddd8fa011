"""Gauss-Seidel on problems given by their matrix: its twin, its counts, its limits."""

import os

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

import drystone as ds
import naive
from drystone.constraints.matrix_problem import MatrixProblem, local_problem
from drystone.constraints.problem import ContactProblem
from drystone.constraints.residual import measure, residual
from drystone.solvers.gauss_seidel.block_sweep import FLATTEST, lifted_problem, sweep_many
from drystone.solvers.nsgs import Nsgs
from shared_data import PROBLEMS, needs_problems

# Sweeps of a plain block Gauss-Seidel from zero to a relative natural-map error of 1e-4, 1e-6 and
# 1e-8: the table beside the data.
SWEEPS = {
    "Capsules-i100-1090.dat": (10, 140, 4580),
    "Capsules-i101-404.dat": (20, 160, 8330),
    "Capsules-i122-1617.dat": (9, 560, 16460),
    "KaplasTower-i1061-4.hdf5.dat": (210, 610, 1060),
    "FrictionContactProblem00237.dat": (130, 240, 350),
    "OneObject-i100000-316.hdf5.dat": (110, 370, 770),
    "Spheres-i099-356-679.hdf5": (100, 170, 240),
    "local_problem_test.hdf5": (34350, 148220, 168780),
    "fc2d_granularflowonwall_02020_00213.dat": (570, 1070),
}


def random_problem(nc=4, bodies=3, seed=0, skew=0.0, mu=0.5):
    """W = J J' of `nc` contacts between few bodies, so that it is singular, and a bit of skew."""
    rng = np.random.default_rng(seed)
    jacobian = rng.normal(size=(3 * nc, 6 * bodies))
    w = jacobian @ jacobian.T
    w += skew * np.abs(w).max() * rng.normal(size=w.shape)
    q = jacobian @ rng.normal(size=6 * bodies)
    return local_problem(3, scipy.sparse.csr_array(w), q, np.full(nc, mu))


def boxes(count=3, slide=0.3):
    """A stack of unit cubes with 1 kg each, four contacts below each, pushed sideways."""
    corners = [(x, y) for x in (-0.5, 0.5) for y in (-0.5, 0.5)]
    body, arm = [], []
    for k in range(count):
        for x, y in corners:
            body.append((k - 1 if k else count, k))
            arm.append(((x, y, 0.5) if k else (0, 0, 0)) + (x, y, -0.5))
    nc = len(body)
    mass = np.tile([1.0, 6, 0, 0, 6, 0, 6], (count + 1, 1))
    free = np.zeros((count + 1, 6))
    free[:count, 2], free[:count, 0] = -0.04, slide * np.arange(1, count + 1)
    mass[count] = 0.0
    return ContactProblem(
        body=np.array(body, np.int32), frame=np.tile([0.0, 0, 1, 1, 0, 0, 0, 1, 0], (nc, 1)),
        arm=np.array(arm, float), friction=np.full(nc, 0.5), bias=np.zeros(nc), gap=np.zeros(nc),
        mass=mass, free=free, slab_first=np.array([0, nc], np.int32),
        group_first=np.array([0, 1], np.int32),
    )  # fmt: skip


def slow_sweeps(problem, sweeps):
    """The same method with dense matrices and the slow one-contact solution of naive.py."""
    w, q, mu = problem.W().toarray(), problem.q().ravel(), problem.friction
    p = np.zeros((problem.contact_count, 3))
    for _ in range(sweeps):
        for c in range(len(p)):
            rows = slice(3 * c, 3 * c + 3)
            block = 0.5 * (w[rows, rows] + w[rows, rows].T)
            eigenvalue = np.linalg.eigvalsh(block)
            block = block + max(0.0, FLATTEST * eigenvalue[2] - eigenvalue[0]) * np.eye(3)
            u = w[rows] @ p.ravel() + q[rows]
            p[c] = naive.solve_block(block, u - block @ p[c], mu[c], p[c])
    return p


def fast_sweeps(problem, sweeps):
    p = np.zeros((problem.contact_count, 3))
    sweep_many(sweeps, lifted_problem(problem), np.arange(len(p), dtype=np.int32), p)
    return p


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("skew", [0.0, 1e-3])
def test_sweeps_equal_those_of_the_slow_twin(seed, skew):
    """The impulses after 1 and 5 sweeps, not only the answer; 1e-6 of the largest."""
    problem = random_problem(seed=seed, skew=skew)
    for sweeps in (1, 5):
        slow, fast = slow_sweeps(problem, sweeps), fast_sweeps(problem, sweeps)
        np.testing.assert_allclose(fast, slow, atol=1e-6 * np.abs(slow).max())


@pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="takes hours uncompiled")
@needs_problems
@pytest.mark.parametrize("name", SWEEPS)
def test_sweep_counts_of_the_literature(name):
    """Within 20 % of the table, and the error asked for is reached."""
    problem = ds.ContactProblem.load(PROBLEMS / name)
    for tolerance, expected in zip((1e-4, 1e-6, 1e-8), SWEEPS[name], strict=False):
        impulse, info = ds.solve(problem, "nsgs", tolerance=tolerance, measure="relative")
        assert info.converged
        assert measure(problem, impulse)[0] == info.natural_map <= tolerance
        assert info.iterations == info.work == pytest.approx(expected, rel=0.2)


@pytest.mark.parametrize("mu", [0.0, 0.3, 1.5])
def test_one_contact_takes_one_sweep(mu):
    """The step of one contact is exact, unless its block is flatter than FLATTEST."""
    rng = np.random.default_rng(3)
    for _ in range(20):
        jacobian = np.eye(3) + 0.15 * rng.normal(size=(3, 3))
        w = jacobian @ jacobian.T
        assert 1.0 / np.linalg.cond(w) > FLATTEST
        q = np.array([-1.0, 1, 1]) * rng.uniform(0.1, 1.0, 3)
        problem = local_problem(3, scipy.sparse.csr_array(w), q, np.array([mu]))
        impulse, info = ds.solve(problem, "nsgs", tolerance=1e-10)
        assert info.converged and info.iterations == 1
        assert residual(problem, impulse) <= 1e-10


def test_bodies_and_their_matrix_give_the_same_velocities():
    problem = boxes()
    matrix = MatrixProblem(problem.W(), problem.q(), problem.friction)
    by_body, info_1 = ds.solve(problem, "nsgs", tolerance=1e-9)
    by_matrix, info_2 = ds.solve(matrix, "nsgs", tolerance=1e-9)
    assert info_1.converged and info_2.converged
    # 1e-7 m/s: a residual of 1e-9 in a stack, times its condition.
    np.testing.assert_allclose(problem.velocity(by_body), matrix.velocity(by_matrix), atol=1e-7)


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    nc=st.integers(1, 6),
    rank=st.integers(1, 3),
    skew=st.sampled_from([0.0, 1e-3, 1.0]),
    mu=st.sampled_from([0.0, 0.5, 3.0]),
)
def test_flat_and_skew_blocks_give_no_nan(seed, nc, rank, skew, mu):
    """Own blocks of rank 1 to 3, W not symmetric nor positive: finite, and honest about it."""
    rng = np.random.default_rng(seed)
    jacobian = rng.normal(size=(3 * nc, rank))
    w = jacobian @ jacobian.T + skew * rng.normal(size=(3 * nc, 3 * nc))
    w[np.diag_indices(3 * nc)] = np.abs(w.diagonal()) + 1e-9
    problem = local_problem(3, scipy.sparse.csr_array(w), rng.normal(size=3 * nc), np.full(nc, mu))
    impulse, info = ds.solve(problem, Nsgs(tolerance=1e-8, max_sweeps=500))
    assert np.isfinite(impulse).all() and np.isfinite(info.residual)
    assert info.residual == residual(problem, impulse)
    assert info.converged == (info.residual <= 1e-8)
    assert info.residual <= residual(problem, np.zeros((nc, 3)))  # the best iterate is kept
    assert (impulse[:, 0] >= 0.0).all()


def test_a_matrix_that_makes_it_diverge_is_admitted():
    """Two contacts that push each other harder than themselves: impulses overflow, it stops."""
    w = np.kron([[1.0, -3.0], [-3.0, 1.0]], np.eye(3))
    problem = local_problem(3, scipy.sparse.csr_array(w), np.full(6, -1.0), np.zeros(2))
    impulse, info = ds.solve(problem, "nsgs")
    assert not info.converged and info.iterations < 10_000
    assert np.isfinite(impulse).all() and np.isfinite(info.residual)


def test_a_sweep_that_changes_nothing_is_the_last():
    """An error below rounding is out of reach: the solve ends all the same, at a fixed point."""
    problem = random_problem(nc=2, bodies=4, seed=5)
    impulse, info = ds.solve(problem, Nsgs(tolerance=1e-300))
    assert info.iterations < 100_000
    assert residual(problem, impulse) < 1e-12


def test_two_dimensions_stay_two():
    rng = np.random.default_rng(1)
    jacobian = rng.normal(size=(10, 9))
    w, q = jacobian @ jacobian.T, jacobian @ rng.normal(size=9)
    problem = local_problem(2, scipy.sparse.csr_array(w), q, np.full(5, 0.4))
    impulse, info = ds.solve(problem, "nsgs", tolerance=1e-9)
    assert info.converged
    assert not impulse[:, 2].any() and impulse[:, 0].any()
    u = (w @ impulse[:, :2].ravel() + q).reshape(5, 2)
    for (pn, pt), (un, ut) in zip(impulse[:, :2], u, strict=True):
        assert pn >= 0 and un > -1e-8 and abs(pn * un) < 1e-7  # [m/s], [J]
        assert abs(pt) <= 0.4 * pn + 1e-12
        if abs(ut) > 1e-6:  # it slides: on the edge of the cone, against the velocity
            assert pt == pytest.approx(-0.4 * pn * np.sign(ut), abs=1e-6)


@pytest.mark.parametrize("problem", [boxes(), random_problem(nc=8)], ids=["bodies", "matrix"])
@pytest.mark.parametrize("kind", ["velocity", "relative"])
def test_history_tells_the_course(problem, kind):
    """From the start to the reported end; the answer does not depend on being watched."""
    impulse, info = ds.solve(problem, "nsgs", tolerance=1e-7, measure=kind, history=True)
    course = info.history
    assert info.converged
    error = course.residual if kind == "velocity" else course.natural_map
    assert error[-1] <= 1e-7 < error[0]
    if kind == "relative":  # else every group sweeps on below the tolerance
        assert 1e-7 < error[:-1].min()
    assert course.iteration[0] == 0 and course.iteration[-1] == info.iterations
    assert (np.diff(course.iteration) > 0).all() and (np.diff(course.seconds) >= 0).all()
    np.testing.assert_array_equal(course.iteration, course.work)
    start = np.zeros_like(impulse)
    assert course.residual[0] == residual(problem, start)
    assert course.natural_map[0] == measure(problem, start)[0]
    assert course.residual[-1] == info.residual and course.natural_map[-1] == info.natural_map
    alone = ds.solve(problem, "nsgs", tolerance=1e-7, measure=kind)[0]
    np.testing.assert_allclose(problem.velocity(alone), problem.velocity(impulse), atol=1e-5)


def test_relative_measure_on_bodies():
    problem = boxes()
    for tolerance in (1e-3, 1e-6):
        impulse, info = ds.solve(problem, "nsgs", tolerance=tolerance, measure="relative")
        assert info.converged
        assert measure(problem, impulse)[0] == info.natural_map <= tolerance
        assert info.seconds > 0.0 and info.work == info.iterations > 0


@pytest.mark.parametrize("problem", [boxes(), random_problem(nc=8)], ids=["bodies", "matrix"])
@pytest.mark.parametrize("kind", ["velocity", "relative"])
def test_too_few_sweeps_are_admitted(problem, kind):
    _, info = ds.solve(problem, Nsgs(max_sweeps=7), tolerance=1e-12, measure=kind)
    assert info.iterations == 7 and not info.converged


def test_nothing_to_do():
    none = local_problem(3, scipy.sparse.csr_array((0, 0)), np.zeros(0), np.zeros(0))
    for kind in ("velocity", "relative"):
        impulse, info = ds.solve(none, "nsgs", measure=kind, history=True)
        assert impulse.shape == (0, 3) and info.converged and info.iterations == 0
    problem = random_problem()
    impulse, _ = ds.solve(problem, "nsgs", tolerance=1e-9)
    again, info = ds.solve(problem, "nsgs", tolerance=1e-8, guess=impulse)
    assert info.converged and info.iterations == 0
    np.testing.assert_array_equal(again, impulse)


def test_elliptic_friction_is_refused():
    p = random_problem()
    problem = MatrixProblem(p.matrix, p.free_velocity, p.friction, 0.5 * p.friction)
    with pytest.raises(ds.UnsupportedFeature, match="nsgs"):
        ds.solve(problem, "nsgs")
