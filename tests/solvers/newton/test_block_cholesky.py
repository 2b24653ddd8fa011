"""Minimum degree, fronts and sparse factors, against dense algebra."""

import numpy as np
import pytest

from drystone.solvers.newton.block_cholesky import factor_blocks, solve_blocks
from drystone.solvers.newton.factor_plan import make_plan
from drystone.solvers.newton.min_degree import BLOCK_OPERATIONS, eliminate, new_elimination


def grid(rows, columns):
    """A wall in running bond: every stone on two."""
    n = rows * columns
    pairs = [
        (c * columns + k, (c + 1) * columns + k + d)
        for c in range(rows - 1)
        for k in range(columns)
        for d in (0, 1 if c % 2 else -1)
        if 0 <= k + d < columns
    ]
    return n, pairs


def anything(n, links, seed):
    rng = np.random.default_rng(seed)
    return n, [(a, b) for a, b in rng.integers(0, n, (links, 2)) if a != b]


GRAPHS = {
    "one": (1, []),
    "apart": (3, []),
    "pair": (2, [(0, 1)]),
    "row": (30, [(k, k + 1) for k in range(29)]),
    "star": (20, [(0, k) for k in range(1, 20)]),
    "all": (9, [(a, b) for a in range(9) for b in range(a)]),
    "wall": grid(9, 7),
    "heap": anything(60, 150, 1),
    "loose": anything(50, 30, 2),
}


def linked(n, pairs):
    near = [set() for _ in range(n)]
    for a, b in pairs:
        near[a].add(int(b))
        near[b].add(int(a))
    first = np.cumsum([0, *map(len, near)]).astype(np.int32)
    return near, first, np.array([j for links in near for j in sorted(links)], np.int32)


def planned(n, pairs):
    near, first, link = linked(n, pairs)
    elimination = new_elimination(n, len(link))
    columns, operations = eliminate(n, first, link, np.inf, elimination)
    order = np.empty(n, np.int32)
    plan = make_plan(n, columns, elimination, order)
    number = np.argsort(order)
    above = [sorted(number[j] for j in near[i] if number[j] > number[i]) for i in order]
    above_first = np.cumsum([0, *map(len, above)]).astype(np.int32)
    column = np.array([j for part in above for j in part], np.int32)
    return order, plan, operations, above_first, column


@pytest.mark.parametrize("name", GRAPHS)
def test_solution_is_that_of_dense_algebra(name):
    n, pairs = GRAPHS[name]
    order, plan, _, first, column = planned(n, pairs)
    assert sorted(order) == list(range(n))
    rng = np.random.default_rng(0)
    matrix, dense = np.zeros((n + len(column), 6, 6)), np.zeros((n, 6, n, 6))
    for i in range(n):
        block = rng.normal(size=(6, 6))
        matrix[i] = dense[i, :, i] = block @ block.T + 200 * np.eye(6)
        for m in range(first[i], first[i + 1]):
            matrix[n + m] = block = rng.normal(size=(6, 6))
            dense[i, :, column[m]], dense[column[m], :, i] = block, block.T
    wanted = rng.normal(size=6 * n)
    given = dense.reshape(6 * n, 6 * n) @ wanted
    assert factor_blocks(n, first, column, matrix.ravel(), plan)
    solve_blocks(plan, given)
    assert np.allclose(given, wanted, rtol=0, atol=1e-12)
    matrix[0] = -np.eye(6)
    assert not factor_blocks(n, first, column, matrix.ravel(), plan)
    matrix[0] = np.nan
    assert not factor_blocks(n, first, column, matrix.ravel(), plan)


def test_order_has_little_fill():
    row = planned(*GRAPHS["row"])[2]
    assert row <= 30 * 4 * BLOCK_OPERATIONS  # a chain couples no more than it does
    assert planned(*GRAPHS["star"])[2] <= 20 * 4 * BLOCK_OPERATIONS  # its middle comes last
    n, pairs = grid(40, 50)
    band = n * 41**2 * BLOCK_OPERATIONS  # in the order of the courses, or across them
    assert planned(n, pairs)[2] < 0.2 * band


def test_what_takes_too_long_ends_early():
    n, pairs = grid(20, 20)
    _, first, link = linked(n, pairs)
    _, operations = eliminate(n, first, link, 1e5, new_elimination(n, len(link)))
    assert 1e5 < operations < 2e5
