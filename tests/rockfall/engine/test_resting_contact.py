"""ROCFALL 3.44: the compiled resting contact against ds.solve and closed forms."""

import numpy as np
import pytest
import scipy.sparse

import drystone as ds
from drystone.constraints.matrix_problem import MatrixProblem
from drystone.rockfall.engine.lemke_dense import SOLVED, LemkeWorkspace, lemke
from drystone.rockfall.engine.resting_contact import RestingWorkspace, hold
from drystone.solvers.lcp import lcp_error, solve
from drystone.solvers.lemke import Lemke
from rock_scenes import GRAVITY, rows_of


def press_down(arms, normals, tangents, gyration, friction, twist, directions=8, target=None):
    """hold() for contacts at arms; twist after it and normal impulses per mass."""
    k = len(arms)
    normal = rows_of(normals, arms, gyration)
    other = np.cross(normals, tangents)
    tangent = np.empty((2 * k, 6))
    tangent[0::2] = rows_of(tangents, arms, gyration)
    tangent[1::2] = rows_of(other, arms, gyration)
    z, p = np.array(twist, dtype=np.float64), np.zeros(k)
    target = np.zeros(k) if target is None else target
    room = RestingWorkspace.of(k, directions)
    assert hold(k, normal, tangent, np.array(friction, float), target, directions, z, p, room)
    return z, p


def test_pivots_solve_what_lcp_solves():
    rng = np.random.default_rng(0)
    for n in (1, 2, 5, 12, 30):
        for _ in range(20):
            half = rng.normal(size=(n, max(n // 2, 1)))  # positive semidefinite, singular
            skew = rng.normal(size=(n, n))
            M = half @ half.T + skew - skew.T  # noqa: N806
            w, z0 = rng.uniform(0, 1, n), rng.uniform(0, 1, n)
            keep = rng.uniform(size=n) < 0.5
            q = np.where(keep, 0.0, w) - M @ np.where(keep, z0, 0.0)
            z, room = np.zeros(n), LemkeWorkspace.of(n)
            assert lemke(n, M, q, z, room) == SOLVED
            assert lcp_error(M, q, z) < 1e-10
            assert solve(M, q).status == "solved"


@pytest.mark.parametrize("directions", [4, 8, 16])
def test_the_same_as_the_lemke_solver_of_drystone(directions):
    """Contacts of a rock as a problem for ds.solve(..., "lemke"), and for hold()."""
    rng = np.random.default_rng(directions)
    for _ in range(25):
        k = rng.integers(1, 5)
        gyration, mu = rng.uniform(0.2, 0.6, 3), rng.uniform(0.1, 1.2, k)
        arms = rng.normal(size=(k, 3)) * 0.3 - [0, 0, 0.5]
        normals = rng.normal(size=(k, 3)) * 0.3 + [0, 0, 1.0]
        normals /= np.linalg.norm(normals, axis=1)[:, None]
        tangents = np.cross(normals, [0.0, 1.0, 0.0])
        tangents /= np.linalg.norm(tangents, axis=1)[:, None]
        free = rng.normal(size=6) * 0.3 - [0, 0, 0.1, 0, 0, 0]
        z, p = press_down(arms, normals, tangents, gyration, mu, free, directions)
        frame = np.stack([normals, tangents, np.cross(normals, tangents)], axis=1).reshape(-1, 3)
        rows = rows_of(frame, np.repeat(arms, 3, axis=0), gyration)
        problem = MatrixProblem(
            scipy.sparse.csr_array(rows @ rows.T), (rows @ free).reshape(-1, 3), mu
        )
        impulse, info = ds.solve(problem, solver=Lemke(facets=directions))
        assert info.converged
        assert np.abs(z - free - rows.T @ impulse.ravel()).max() < 1e-8
        assert p == pytest.approx(impulse[:, 0], abs=1e-8)


@pytest.mark.parametrize("mu", [0.2, 0.5, 0.8, 0.99])
def test_forces_under_a_sliding_square_block(mu):
    """Leine et al. 2014, 5.1: (1 -+ mu) / 2 m g cos a at the rear and at the front, a = 45 deg."""
    rear, front = leine_block(mu)
    assert rear == pytest.approx(0.5 * (1.0 - mu), abs=1e-9)
    assert front == pytest.approx(0.5 * (1.0 + mu), abs=1e-9)


@pytest.mark.parametrize("mu", [1.01, 1.2])
def test_the_rear_of_the_block_opens_when_friction_passes_one(mu):
    rear, front = leine_block(mu)
    assert rear == 0.0
    assert front > 0.0


def leine_block(mu):
    """Normal forces of both edges as parts of m g cos a, in the plane's axes, x down the slope."""
    arms = np.array([[x, y, -1.0] for x in (-1.0, 1.0) for y in (-5.0, 5.0)])
    gyration = np.sqrt(np.array([816_000.0, 32_000.0, 816_000.0]) / 80_000.0)
    h, weight = 1e-3, GRAVITY * np.sqrt(0.5)
    free = np.array([5.0 + h * weight, 0, -h * weight, 0, 0, 0])
    tile = np.ones((4, 1))
    _, p = press_down(arms, tile * [0, 0, 1.0], tile * [1.0, 0, 0], gyration, np.full(4, mu), free)
    return p[:2].sum() / (h * weight), p[2:].sum() / (h * weight)


def test_a_block_below_the_friction_angle_gets_no_velocity():
    arms = np.array([[x, y, -0.3] for x in (-0.5, 0.5) for y in (-0.4, 0.4)])
    a, tile = np.radians(25.0), np.ones((4, 1))
    free = 0.01 * GRAVITY * np.array([np.sin(a), 0, -np.cos(a), 0, 0, 0])
    for mu, moves in ((0.5, False), (0.4, True)):
        z, _ = press_down(
            arms, tile * [0, 0, 1.0], tile * [1.0, 0, 0], np.full(3, 0.3), np.full(4, mu), free
        )
        assert (np.abs(z).max() > 1e-6) == moves
        if not moves:
            assert np.abs(z).max() < 1e-12
