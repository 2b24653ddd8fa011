"""How the forces of all elements change with poses and velocities: the matrices of CLINE 2.51.

Only what holds bodies back is kept: of the gradients of every element the symmetric part, without
the directions in which the force grows with the way. A spring that is pressed together pushes
ever harder sideways; to anticipate that over a long step would turn M - dt² dF/dx indefinite and
the step would explode. Such forces act as in the explicit step.
"""

import numpy as np
import scipy.sparse

from drystone.forces.attractor import pole_gradients
from drystone.forces.drag import drag_gradients
from drystone.forces.pack import away_from, ends_of
from drystone.forces.spring import spring_gradients
from drystone.forces.table import DRAG, POLE, SPRING


def element_gradients(elements, state):
    """Yields bodies (m, k) and dF/dx, dF/dv, each (m, 6k, 6k), kind by kind, as they are."""
    of = np.flatnonzero(elements.kind == SPRING)
    if len(of):
        yield (
            elements.body[of],
            *spring_gradients(elements.number[of], *ends_of(elements, of, state)),
        )
    of = np.flatnonzero(elements.kind == DRAG)
    if len(of):
        body = elements.body[of, :1]
        by_twist = drag_gradients(elements.number[of], state.twist[body[:, 0]])
        yield body, np.zeros_like(by_twist), by_twist
    of = np.flatnonzero(elements.kind == POLE)
    if len(of):
        by_pose = np.zeros((len(of), 6, 6))
        by_pose[:, :3, :3] = pole_gradients(elements.number[of], away_from(elements, of, state))
        yield elements.body[of, :1], by_pose, np.zeros_like(by_pose)


def all_gradients(forces, state):
    """The same with the functions of the user, from forced.Forces."""
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
        for kept, matrix in zip(entries, matrices, strict=True):
            # The fixed world does not give way, so it has no say in what is kept.
            kept.append((holding_back(np.where(inside, matrix, 0.0))[inside], row, column))
    return tuple(_sparse(kept, 6 * n) for kept in entries)


def _sparse(entries, size: int) -> scipy.sparse.csr_array:
    if not entries:
        return scipy.sparse.csr_array((size, size))
    values, row, column = (np.concatenate(part) for part in zip(*entries, strict=True))
    return scipy.sparse.coo_array((values, (row, column)), shape=(size, size)).tocsr()
