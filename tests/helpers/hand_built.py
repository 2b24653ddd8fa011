"""Contact problems written down by hand: they need no engine, and one can check them by eye."""

import numpy as np
import scipy.sparse

from drystone.constraints.matrix_problem import MatrixProblem
from drystone.constraints.problem import ContactProblem

DT = 0.01  # [s]
GRAVITY = 9.81


def box_stack(masses, velocity=(0.0, 0.0, 0.0), friction=0.5) -> ContactProblem:
    """Unit cubes of these masses [kg] on top of each other, on the ground, four contacts each.

    All move with `velocity` [m/s], and gravity has acted for DT.
    """
    n = len(masses)
    body, arm = [], []
    for k in range(n):
        for x, y in ((-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)):
            body.append((n if k == 0 else k - 1, k))
            below = (0.0, 0.0, 0.0) if k == 0 else (x, y, 0.5)
            arm.append((*below, x, y, -0.5))
    nc = len(body)
    mass = np.zeros((n + 1, 7))
    mass[:n, 0] = 1.0 / np.asarray(masses)
    mass[:n, [1, 4, 6]] = 6.0 / np.asarray(masses)[:, None]
    free = np.zeros((n + 1, 6))
    free[:n, :3] = np.array(velocity) - (0.0, 0.0, GRAVITY * DT)
    return ContactProblem(
        body=np.array(body, dtype=np.int32).reshape(-1, 2),
        frame=np.tile([0.0, 0, 1, 1, 0, 0, 0, 1, 0], (nc, 1)),
        arm=np.array(arm, dtype=float).reshape(-1, 6),
        friction=np.full(nc, friction), bias=np.zeros(nc), gap=np.zeros(nc), mass=mass, free=free,
        slab_first=np.array([0, nc], dtype=np.int32), group_first=np.array([0, 1], dtype=np.int32),
    )  # fmt: skip


def random_problem(seed, contacts, coupling=0.5, friction=0.4) -> MatrixProblem:
    """W with a unit diagonal or more and off-diagonals that weaken with `coupling`; never singular.

    At 0.5 the rows are dominated by their diagonal however many contacts there are, so that every
    splitting contracts and the solution is unique.
    """
    rng = np.random.default_rng(seed)
    n = 3 * contacts
    root = rng.normal(size=(n, n))
    root /= np.abs(root @ root.T).sum(axis=1).max() ** 0.5
    matrix = np.eye(n) + coupling * root @ root.T
    q = rng.normal(size=(contacts, 3)) - (1.0, 0.0, 0.0)
    return MatrixProblem(scipy.sparse.csr_array(matrix), q, np.full(contacts, friction))


def point_mass(mass, velocity, friction) -> MatrixProblem:
    """A particle [kg] that meets the ground with `velocity` (normal, tangent 1, tangent 2)."""
    matrix = scipy.sparse.csr_array(np.eye(3) / mass)
    return MatrixProblem(matrix, np.array([velocity], dtype=float), np.array([friction]))
