"""The block matrix, its islands and their order, against SciPy; sweeps against their dense twin."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from drystone.constraints.matrix_problem import MatrixProblem
from drystone.constraints.residual import relative_error, residual
from drystone.model.capacity import new_island
from drystone.solvers.gauss_seidel.block_matrix import (
    block_matrix,
    block_problem,
    island_error,
    islands_of,
    sweep_blocks,
)
from drystone.solvers.newton.ordering import gather_island, order_island
from drystone.solvers.nsgs import Nsgs
from hand_built import box_stack
from well_posed import random_problem


def random_matrix(seed, contacts, fill):
    """W of a random symmetric pattern, single numbers missing inside the blocks too."""
    rng = np.random.default_rng(seed)
    n = 3 * contacts
    pattern = rng.random((n, n)) < fill
    full = np.where(pattern | pattern.T, rng.normal(size=(n, n)), 0.0)
    return scipy.sparse.csr_array(0.5 * (full + full.T) + 2.0 * n * np.eye(n))


def dense(blocks):
    nc = len(blocks.first) - 1
    full = np.zeros((nc, 3, nc, 3))
    for c in range(nc):
        for k in range(blocks.first[c], blocks.first[c + 1]):
            full[c, :, blocks.column[k]] += blocks.value[k].reshape(3, 3)
    return full.reshape(3 * nc, 3 * nc)


@given(st.integers(0, 2**31), st.integers(1, 12), st.floats(0.0, 0.5))
@settings(deadline=None)
def test_blocks_hold_the_matrix(seed, contacts, fill):
    matrix = random_matrix(seed, contacts, fill)
    blocks = block_matrix(matrix)
    np.testing.assert_array_equal(dense(blocks), matrix.toarray())
    for c in range(contacts):
        columns = blocks.column[blocks.first[c] : blocks.first[c + 1]]
        assert len(set(columns)) == len(columns)
    own = MatrixProblem(matrix, np.zeros((contacts, 3)), np.zeros(contacts)).blocks()
    np.testing.assert_array_equal(blocks.own, own)
    np.testing.assert_allclose(blocks.scale, own[:, [0, 3, 5]].mean(axis=1), rtol=1e-12)


@given(st.integers(0, 2**31), st.integers(1, 30), st.floats(0.0, 0.02))
@settings(deadline=None)
def test_islands_are_those_of_scipy(seed, contacts, fill):
    matrix = random_matrix(seed, contacts, fill)
    member, start = islands_of(block_matrix(matrix))
    label = MatrixProblem(matrix, np.zeros((contacts, 3)), np.zeros(contacts)).islands()
    assert sorted(member) == list(range(contacts))
    parts = [member[a:b] for a, b in zip(start[:-1], start[1:], strict=True)]
    assert len(parts) == label.max() + 1
    for part in parts:
        assert len(set(label[part])) == 1
        assert list(part) == sorted(part)


@given(st.integers(0, 2**31), st.integers(1, 30), st.floats(0.0, 0.02))
@settings(deadline=None)
def test_gathered_island_is_a_part_of_the_matrix(seed, contacts, fill):
    """In the order of `order`, which is a permutation of the island."""
    matrix = random_matrix(seed, contacts, fill)
    blocks = block_matrix(matrix)
    member, start = islands_of(blocks)
    order, place = np.zeros(contacts, dtype=np.int32), np.full(contacts, -1, dtype=np.int32)
    n = order_island(member[0], blocks.first, blocks.column, place, order)
    order = order[:n]
    assert sorted(order) == list(member[: start[1]])
    np.testing.assert_array_equal(place[order], np.arange(n))
    q, friction = np.arange(3.0 * contacts).reshape(-1, 3), np.arange(1.0 * contacts)
    island = new_island(n, len(blocks.column))
    gather_island(n, order, place, blocks, q, friction, island)
    rows = (3 * order[:, None] + np.arange(3)).ravel()
    np.testing.assert_array_equal(dense(island), matrix.toarray()[np.ix_(rows, rows)])
    np.testing.assert_array_equal(island.q, q[order])
    np.testing.assert_array_equal(island.friction, friction[order])


def test_order_of_a_chain_follows_it():
    """Contacts numbered at random along a chain: each next to its neighbours."""
    names = np.random.default_rng(0).permutation(40)
    links = scipy.sparse.coo_array((np.ones(39), (names[:-1], names[1:])), shape=(40, 40))
    graph = links + links.T + scipy.sparse.eye_array(40)
    blocks = block_matrix(scipy.sparse.csr_array(scipy.sparse.kron(graph, np.eye(3))))
    order, place = np.zeros(40, dtype=np.int32), np.full(40, -1, dtype=np.int32)
    assert order_island(int(names[17]), blocks.first, blocks.column, place, order) == 40
    assert list(order) in (list(names), list(names[::-1]))


def test_second_tangent_that_nothing_couples_to_is_flat():
    matrix = scipy.sparse.csr_array(np.kron(np.ones((2, 2)), np.diag([1.0, 1, 0])) + np.eye(6))
    for q_2, flat in ((0.0, True), (1.0, False)):
        blocks = block_matrix(matrix)
        order, place = np.zeros(2, dtype=np.int32), np.full(2, -1, dtype=np.int32)
        order_island(0, blocks.first, blocks.column, place, order)
        island = new_island(2, 4)
        q = np.array([[1.0, 2.0, q_2]] * 2)
        gather_island(2, order, place, blocks, q, np.ones(2), island)
        assert (island.flat == flat).all()


def test_errors_are_those_of_residual():
    problem = box_stack([1.0, 3.0], velocity=(0.2, 0.1, 0.0))
    blocks = block_problem(problem)
    member, start = islands_of(blocks.matrix)
    impulse = np.random.default_rng(1).uniform(0, 0.1, (8, 3))
    args = (0, 8, member, blocks, impulse)
    assert island_error(*args, False) == pytest.approx(residual(problem, impulse), rel=1e-12)
    norm = np.linalg.norm(problem.q())
    assert island_error(*args, True) == pytest.approx(relative_error(problem, impulse) * norm)


def test_sweep_equals_that_of_nsgs():
    """One forward sweep over all contacts in their order, by bodies and by blocks."""
    problem = random_problem(np.random.default_rng(4), 4, 8)
    impulse, expected = np.zeros((2, problem.contact_count, 3))
    Nsgs(max_sweeps=1).solve(problem, expected)
    member = np.arange(problem.contact_count, dtype=np.int32)
    sweep_blocks(0, len(member), member, block_problem(problem), impulse)
    assert np.abs(expected).max() > 0.01
    np.testing.assert_allclose(impulse, expected, atol=1e-12)
