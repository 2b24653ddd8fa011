"""Anderson acceleration: exact on a linear map, against its dense twin, and worth its price."""

import numpy as np
import pytest

from drystone.solvers.gauss_seidel.anderson import (
    DEPTH,
    accelerate,
    anderson_work,
    restart,
    store_start,
)
from drystone.solvers.gauss_seidel.block_matrix import (
    block_problem,
    island_error,
    islands_of,
    sweep_blocks,
)
from hand_built import box_stack

ALL = np.arange(4, dtype=np.int32)
HUGE = np.full(4, 1e9)  # friction that cuts nothing


def run(step, x, count, friction=HUGE):
    """Accelerated iterates of `step` on four contacts of scale 1."""
    work = anderson_work(4)
    course = [x.copy()]
    for _ in range(count):
        store_start(0, 4, ALL, x, work)
        x[:] = step(x)
        accelerate(0, 4, ALL, np.ones(4), friction, work, x)
        course.append(x.copy())
    return np.array(course)


def contraction(seed, modes):
    """x -> A x + b with few different eigenvalues below 1, and where it stays."""
    rng = np.random.default_rng(seed)
    basis = np.linalg.qr(rng.normal(size=(12, 12)))[0]
    values = np.resize(np.linspace(0.5, 0.99, modes), 12)
    a = basis @ np.diag(values) @ basis.T
    fixed = rng.uniform(5.0, 6.0, (4, 3))
    return lambda x: fixed + (a @ (x - fixed).ravel()).reshape(4, 3), fixed


@pytest.mark.parametrize("modes", [1, 2, 3, 4])
def test_linear_map_of_few_modes_is_solved_at_once(modes):
    """As GMRES: one mode for each difference that is stored; plain sweeps would leave 0.99^6."""
    step, fixed = contraction(modes, modes)
    course = run(step, fixed + 1.0, modes + 2)
    assert np.abs(course[-1] - fixed).max() < 1e-4
    assert np.abs(course[1] - fixed).max() > 1e-2


def test_accelerated_step_equals_least_squares():
    """Against the formula with dense matrices, up to the share that keeps them solvable."""
    step, fixed = contraction(0, 12)
    course = run(step, fixed + np.random.default_rng(1).normal(size=(4, 3)), 4)
    g = np.array([step(x).ravel() for x in course[:4]])
    f = g - course[:4].reshape(4, 12)
    weights = np.linalg.lstsq(np.diff(f, axis=0).T, f[-1], rcond=None)[0]
    expected = g[-1] - weights @ np.diff(g, axis=0)
    np.testing.assert_allclose(course[4].ravel(), expected, atol=1e-6)


def test_growing_change_brings_back_the_last_sweep():
    """The second sweep changes ten times as much as the first: its start was bad."""
    work, x = anderson_work(4), np.ones((4, 3))
    store_start(0, 4, ALL, x, work)
    x += 1.0
    accelerate(0, 4, ALL, np.ones(4), HUGE, work, x)
    first = x.copy()
    store_start(0, 4, ALL, x, work)
    x += 10.0
    accelerate(0, 4, ALL, np.ones(4), HUGE, work, x)
    np.testing.assert_array_equal(x, first)
    assert work.count[0] == 0


def test_accelerated_step_stays_in_the_cones():
    step, fixed = contraction(2, 12)
    course = run(step, fixed - 20.0, 6, friction=np.full(4, 0.3))[2:]
    assert (course[..., 0] >= 0.0).all()
    assert (np.hypot(course[..., 1], course[..., 2]) <= 0.3 * course[..., 0] + 1e-12).all()


def test_sweeps_of_a_stack_fall_faster():
    """Ten boxes, 60 sweeps: a tenth of the error that plain ones leave, or less."""
    problem = box_stack([1.0] * 10)
    blocks = block_problem(problem)
    member, start = islands_of(blocks.matrix)
    n, errors = len(member), []
    for depth in (0, DEPTH):
        impulse, work = np.zeros((n, 3)), anderson_work(n)
        restart(work)
        for _ in range(60):
            store_start(0, n, member, impulse, work)
            sweep_blocks(0, n, member, blocks, impulse)
            if depth:
                accelerate(0, n, member, blocks.matrix.scale, blocks.friction, work, impulse)
        sweep_blocks(0, n, member, blocks, impulse)
        errors.append(island_error(0, n, member, blocks, impulse, False))
    assert errors[1] < 0.1 * errors[0], errors
