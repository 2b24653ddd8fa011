"""An island with robots as a problem of contacts alone, for solvers that know nothing else.

What holds without bounds (loops, joints) is eliminated. Limits are contacts without friction. A row
of bounded strength, dry friction or a drive, is a contact too: its normal sees nothing and its
impulse can only be the bound, and the row is a tangent. So every solver of the exact cone takes it.
"""

from typing import NamedTuple

import numpy as np
import scipy.sparse

from drystone.constraints.matrix_problem import MatrixProblem


class Places(NamedTuple):
    """Where the rows of the island went."""

    matrix: np.ndarray  # (3 n, 3 n) of all rows, softness included
    q: np.ndarray  # (3 n,)
    held: np.ndarray  # rows that are eliminated
    choose: np.ndarray  # (3 m, 3 n) rows of the contacts of the problem
    shift: np.ndarray  # (3 n,) the middle between bounds that do not lie about zero


def contact_problem(
    n: int, scratch, across: np.ndarray | None = None
) -> tuple[MatrixProblem, np.ndarray, Places]:
    """The blocks 0 ... n as contacts, a guess, and what take_impulses() needs.

    across  friction of all contact rows along tangent 2, if it is elliptic
    """
    problem, island = scratch.problem, scratch.island
    jacobian = _jacobian(n, problem)
    joint = island.joint[:n]
    soft = np.where(joint[:, None], island.soft[:n], 0.0).ravel()
    matrix = (jacobian @ jacobian.T).toarray() + np.diag(soft)
    q = island.q[:n].ravel().copy()
    lower, upper = island.lower[:n].ravel(), island.upper[:n].ravel()
    there = np.repeat(joint, 3) & (lower < upper)
    free = there & np.isinf(lower) & np.isinf(upper)
    held = np.flatnonzero(free)
    chosen: list = []  # (block, axis, row, sign)
    friction, friction_2, bounds, shift = [], [], [], np.zeros(3 * n)
    for i in np.flatnonzero(~joint):
        chosen += [(len(friction), k, 3 * i + k, 1.0) for k in range(3)]
        friction.append(island.friction[i])
        if across is not None:
            friction_2.append(across[problem.source[i, 0]])
        bounds.append(0.0)
    for r in np.flatnonzero(there & ~free):
        if np.isinf(upper[r]) or np.isinf(lower[r]):
            shift[r] = lower[r] if np.isinf(upper[r]) else upper[r]
            chosen.append((len(friction), 0, r, 1.0 if np.isinf(upper[r]) else -1.0))
            friction.append(0.0)
            bounds.append(0.0)
        else:
            shift[r] = 0.5 * (lower[r] + upper[r])
            chosen.append((len(friction), 1, r, 1.0))
            friction.append(1.0)
            bounds.append(0.5 * (upper[r] - lower[r]))
    m = len(friction)
    friction_2 += friction[len(friction_2) :]
    choose = np.zeros((3 * m, 3 * n))
    for block, axis, row, sign in chosen:
        choose[3 * block + axis, row] = sign
    places = Places(matrix, q, held, choose, shift)
    inner = matrix - matrix[:, held] @ _solved(places, matrix[held])
    moved = q + matrix @ shift
    moved -= matrix[:, held] @ _solved(places, moved[held])
    w = choose @ inner @ choose.T
    free_velocity = choose @ moved
    for block, bound in enumerate(bounds):
        for k in range(3):
            if not choose[3 * block + k].any():
                w[3 * block + k, 3 * block + k] = 1.0
        if bound > 0.0:
            free_velocity[3 * block] = -bound
    guess = choose @ (problem.impulse[:n].ravel() - shift)
    guess[::3] = np.maximum(guess[::3], bounds)
    given = MatrixProblem(
        scipy.sparse.csr_array(w),
        free_velocity.reshape(-1, 3),
        np.array(friction),
        None if across is None else np.array(friction_2),
    )
    return given, guess.reshape(-1, 3), places


def take_impulses(n: int, answer: np.ndarray, places: Places, scratch) -> None:
    """The impulses of all rows from those of the contacts, into the island."""
    p = places.choose.T @ answer.ravel() + places.shift
    if len(places.held):
        velocity = places.q + places.matrix @ p
        p[places.held] = -_solved(places, velocity[places.held])
    scratch.problem.impulse[:n] = p.reshape(-1, 3)


def _solved(places: Places, right: np.ndarray) -> np.ndarray:
    if not len(places.held):
        return right
    return np.linalg.solve(places.matrix[np.ix_(places.held, places.held)], right)


def _jacobian(n: int, problem) -> scipy.sparse.csr_array:
    """(3 n, columns) Z."""
    rows, columns, values = [], [], []
    for i in range(n):
        for side in range(2):
            width, start, at = (int(x[i, side]) for x in (problem.width, problem.start, problem.at))
            if width:
                rows.append(np.repeat(3 * i + np.arange(3), width))
                columns.append(np.tile(start + np.arange(width), 3))
                values.append(problem.z[at : at + 3 * width])
    shape = (3 * n, len(problem.carried))
    if not rows:
        return scipy.sparse.csr_array(shape)
    entries = np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))
    return scipy.sparse.coo_array(entries, shape=shape).tocsr()
