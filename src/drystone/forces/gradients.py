"""Stiffness and damping matrices of all forces, dF/dx and dF/dv of CLINE 2.51, for implicit steps.

Only what holds bodies back enters: of the gradients of every element the symmetric part, without
the directions in which the force grows with the displacement. A spring that is pressed together
pushes ever harder sideways; to anticipate that over a long step would make M - dt² dF/dx indefinite
and the step would explode. Such forces act as in the explicit step.
"""

import numpy as np
import scipy.sparse

from drystone.forces.dispatch import element_gradients


def all_gradients(forces, state):
    """element_gradients(), and those of functions of the user, of an evaluate.Forces."""
    if forces.elements is not None:
        yield from element_gradients(forces.elements, state)
    for force in forces.functions:
        rows = forces.rows(force)
        by_pose, by_twist = force.gradients(forces.view(state, rows))
        yield rows[None, :], by_pose[None], by_twist[None]


def holding_back(matrix: np.ndarray) -> np.ndarray:
    """Symmetric parts of matrices (m, k, k), without their positive eigenvalues."""
    values, vectors = np.linalg.eigh(0.5 * (matrix + matrix.transpose(0, 2, 1)))
    return (vectors * np.minimum(values, 0.0)[:, None, :]) @ vectors.transpose(0, 2, 1)


def stiffness(forces, state) -> tuple[scipy.sparse.csr_array, scipy.sparse.csr_array]:
    """dF/dx and dF/dv of all bodies (6n, 6n), symmetric and negative semidefinite."""
    n = len(state.position)
    entries = [], []
    for body, *matrices in all_gradients(forces, state):
        column = (6 * body[:, :, None].astype(np.int64) + np.arange(6)).reshape(len(body), -1)
        inside = (column[:, :, None] < 6 * n) & (column[:, None, :] < 6 * n)
        shape = inside.shape
        row = np.broadcast_to(column[:, :, None], shape)[inside]
        column = np.broadcast_to(column[:, None, :], shape)[inside]
        for part, matrix in zip(entries, matrices, strict=True):
            # The fixed world does not move, so it has no rows.
            part.append((holding_back(np.where(inside, matrix, 0.0))[inside], row, column))
    return tuple(_sparse(part, 6 * n) for part in entries)


def _sparse(entries, size: int) -> scipy.sparse.csr_array:
    if not entries:
        return scipy.sparse.csr_array((size, size))
    values, row, column = (np.concatenate(part) for part in zip(*entries, strict=True))
    return scipy.sparse.coo_array((values, (row, column)), shape=(size, size)).tocsr()
