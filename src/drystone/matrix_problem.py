"""A contact problem of which only the matrix is known: u = W p + q, as in the libraries of others.

Two-dimensional problems get a second tangent that nothing couples to: its own entry of W is the
mean of the diagonal and its q is zero, so that its impulse is zero in every solution.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse


@dataclass(frozen=True)
class MatrixProblem:
    """The same seam as ContactProblem, for solvers that need no bodies."""

    matrix: scipy.sparse.csr_array  # (3 nc, 3 nc) W, contact by contact, normal first [1/kg]
    free_velocity: np.ndarray  # (nc, 3) q: contact velocities if no impulse acted [m/s]
    friction: np.ndarray  # (nc,)
    friction_2: np.ndarray | None = None  # (nc,) along tangent 2, if the friction is elliptic
    dim: int = 3  # of the problem that was given

    @property
    def contact_count(self) -> int:
        return len(self.friction)

    @property
    def gap(self) -> np.ndarray:
        """(nc,) [m]; such files tell nothing about overlaps."""
        return np.zeros(self.contact_count)

    def W(self) -> scipy.sparse.csr_array:  # noqa: N802  the name of the operator
        return self.matrix

    def q(self) -> np.ndarray:
        return self.free_velocity.copy()

    def apply_W(self, impulse: np.ndarray) -> np.ndarray:  # noqa: N802
        return (self.matrix @ np.asarray(impulse).reshape(-1)).reshape(-1, 3)

    def velocity(self, impulse: np.ndarray) -> np.ndarray:
        return self.free_velocity + self.apply_W(impulse)

    @cached_property
    def _blocks(self) -> np.ndarray:
        bsr = self.matrix.tobsr(blocksize=(3, 3))
        row = np.repeat(np.arange(self.contact_count), np.diff(bsr.indptr))
        own = bsr.indices == row
        block = np.zeros((self.contact_count, 6))
        picked = bsr.data[own]
        for k, (i, j) in enumerate(((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))):
            block[row[own], k] = 0.5 * (picked[:, i, j] + picked[:, j, i])
        return block

    def blocks(self) -> np.ndarray:
        """(nc, 6) own 3x3 block of W of every contact: nn, n1, n2, 11, 12, 22 [1/kg]."""
        return self._blocks.copy()

    def islands(self) -> np.ndarray:
        """Number of the island of every contact (nc,)."""
        bsr = self.matrix.tobsr(blocksize=(3, 3))
        graph = scipy.sparse.csr_array(
            (np.ones(len(bsr.indices)), bsr.indices, bsr.indptr), shape=(self.contact_count,) * 2
        )
        return scipy.sparse.csgraph.connected_components(graph, directed=False)[1]
