"""MatrixProblem: a contact problem given by its Delassus matrix alone, u = W p + q.

Two-dimensional problems get a second tangent that nothing couples to: its own entry of W is the
mean of the contact's diagonal and its q is zero, so that its impulse is zero in every solution.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import ClassVar

import numpy as np
import scipy  # its parts are loaded when they are used, for they take long

from drystone.errors import InputError
from drystone.model.checks import float_array, shown
from drystone.model.hdf5 import write_arrays
from drystone.model.signatures import public

MATRIX_FORMAT = "drystone-matrix-problem"
MATRIX_FORMAT_VERSION = 1

# Columns of H that global_problem() solves for at a time: all at once would be a dense matrix of
# all velocities times all contacts, 100 MB for a problem of 356 contacts and 2000 bodies.
STRIP = 64

# A file of some kilobytes can describe contacts that all couple with each other, whose W fills any
# memory. It may have so many entries, and so many for each of M and H; those of others have 2.
SPARE_ENTRIES, ENTRIES_EACH = 4_000_000, 100
# The same for the factors of M, of which only their bandwidth is known beforehand.
SPARE_FILL, FILL_EACH = 30_000_000, 300


@public
@dataclass(frozen=True)
class MatrixProblem:
    """The same seam as ContactProblem, for solvers that need no bodies."""

    matrix: scipy.sparse.csr_array  # (3 nc, 3 nc) W, contact by contact, normal first [1/kg]
    free_velocity: np.ndarray  # (nc, 3) q: contact velocities if no impulse acted [m/s]
    friction: np.ndarray  # (nc,)
    friction_2: np.ndarray | None = None  # (nc,) along tangent 2, if the friction is elliptic
    dim: int = 3  # of the problem that was given
    joints: ClassVar[None] = None  # the files know none

    def __post_init__(self) -> None:
        if not scipy.sparse.issparse(self.matrix):
            raise InputError(f"matrix is {shown(self.matrix)}, must be a scipy.sparse.csr_array.")

    def __repr__(self) -> str:
        return f"<MatrixProblem: {self.contact_count} contacts, {self.matrix.nnz} entries>"

    @property
    def contact_count(self) -> int:
        return len(self.friction)

    @property
    def block_count(self) -> int:
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
        impulse = float_array("impulse", impulse)
        if impulse.shape != (self.block_count, 3):
            raise InputError(f"impulse has shape {impulse.shape}, must be {(self.block_count, 3)}.")
        return (self.matrix @ impulse.reshape(-1)).reshape(-1, 3)

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
        """(nc, 6) diagonal 3x3 block of W of every contact: nn, n1, n2, 11, 12, 22 [1/kg]."""
        return self._blocks.copy()

    def islands(self) -> np.ndarray:
        """Number of the island of every contact (nc,)."""
        bsr = self.matrix.tobsr(blocksize=(3, 3))
        graph = scipy.sparse.csr_array(
            (np.ones(len(bsr.indices)), bsr.indices, bsr.indptr), shape=(self.contact_count,) * 2
        )
        return scipy.sparse.csgraph.connected_components(graph, directed=False)[1]

    def save(self, path: str | Path) -> None:
        """Write the problem as HDF5; an older file of that name survives a failure."""
        w = self.matrix.tocsr()
        arrays = dict(
            row_first=w.indptr, column=w.indices, value=w.data, dim=self.dim,
            free_velocity=self.free_velocity, friction=self.friction, friction_2=self.friction_2,
        )  # fmt: skip
        write_arrays(path, MATRIX_FORMAT, MATRIX_FORMAT_VERSION, arrays)

    @classmethod
    def load(cls, path: str | Path) -> MatrixProblem:
        """Read a problem that save() wrote, or one of FCLIB or Siconos; see
        constraints/files/load.py.
        """
        from drystone.constraints.files.load import load_problem

        problem = load_problem(path)
        if not isinstance(problem, cls):
            raise InputError(f"{path}: holds bodies, not a matrix; use ContactProblem.load().")
        return problem


def require_shape(name: str, matrix, shape: tuple[int, int]) -> None:
    if matrix.shape != shape:
        rows, columns = matrix.shape
        raise InputError(f"{name} is {rows} x {columns}, must be {shape[0]} x {shape[1]}.")


def check_matrix_problem(problem: MatrixProblem) -> None:
    """Raise an InputError unless its arrays fit each other and are finite."""
    nc = problem.contact_count
    require_shape("matrix", problem.matrix, (3 * nc, 3 * nc))
    arrays = {"free_velocity": (nc, 3), "friction": (nc,), "friction_2": (nc,)}
    for name, shape in arrays.items():
        array = getattr(problem, name)
        if array is None and name == "friction_2":
            continue
        if np.shape(array) != shape:
            raise InputError(f"{name} has shape {np.shape(array)}, must be {shape}.")
        if not np.isfinite(array).all() or name != "free_velocity" and (array < 0.0).any():
            raise InputError(f"{name} holds numbers that are not finite, or negative friction.")
    if not np.isfinite(problem.matrix.data).all():
        raise InputError("matrix holds numbers that are not finite.")


def local_problem(dim: int, matrix, q, friction, friction_2=None) -> MatrixProblem:
    """u = W p + q with `dim` components per contact, checked and brought to three."""
    nc = len(friction)
    require_shape("W", matrix, (dim * nc, dim * nc))
    if q.shape != (dim * nc,):
        raise InputError(f"q has {q.size} numbers, must have {dim * nc}.")
    matrix = scipy.sparse.csr_array(matrix, dtype=np.float64)
    matrix.sum_duplicates()
    coefficients = [("mu", friction)] + [("mu_2", friction_2)] * (friction_2 is not None)
    for name, values in (("W", matrix.data), ("q", q), *coefficients):
        if not np.isfinite(values).all():
            raise InputError(f"{name} holds numbers that are not finite.")
    for name, values in coefficients:
        if values.shape != (nc,):
            raise InputError(f"{name} has shape {values.shape}, must be {(nc,)}.")
        if nc and values.min() < 0.0:
            raise InputError(f"{name} is {values.min():g} somewhere, must be >= 0.")
    trace = matrix.diagonal().reshape(nc, dim).sum(axis=1)
    if nc and trace.min() <= 0.0:
        raise InputError(
            f"W: contact {trace.argmin()} cannot be pushed apart, the trace of its diagonal block "
            f"is {trace.min():g}, must be > 0."
        )
    free = np.zeros((nc, 3))
    free[:, :dim] = q.reshape(nc, dim)
    if dim == 2:
        matrix = _with_second_tangent(matrix, 0.5 * trace)
    return MatrixProblem(matrix, free, friction, friction_2, dim)


def _with_second_tangent(matrix, own) -> scipy.sparse.csr_array:
    nc = len(own)
    w = matrix.tocoo()
    row, column = (3 * (k.astype(np.int64) // 2) + k % 2 for k in (w.row, w.col))
    extra = 3 * np.arange(nc) + 2
    entries = (
        np.concatenate((w.data, own)),
        (np.concatenate((row, extra)), np.concatenate((column, extra))),
    )
    return scipy.sparse.coo_array(entries, shape=(3 * nc, 3 * nc)).tocsr()


def global_problem(dim: int, mass, h, f, w, friction) -> MatrixProblem:
    """M v = H p + f, u = Hᵀ v + w with the velocities v eliminated.

    W = Hᵀ M⁻¹ H and q = Hᵀ M⁻¹ f + w.
    """
    from scipy.sparse.linalg import splu

    n, rows = len(f), dim * len(friction)
    for name, matrix, shape in (("M", mass, (n, n)), ("H", h, (n, rows))):
        require_shape(name, matrix, shape)
        if not np.isfinite(matrix.data).all():
            raise InputError(f"{name} holds numbers that are not finite.")
    if w.shape != (rows,):
        raise InputError(f"the velocity offset has {w.size} numbers, must have {rows}.")
    _check_fill(mass)
    try:
        factor = splu(scipy.sparse.csc_matrix(mass))
    except RuntimeError:
        raise InputError("M is singular.") from None
    h = scipy.sparse.csc_array(h)
    strips, entries = [], 0
    for a in range(0, rows, STRIP):
        strips.append(h.T @ _solved(factor, h[:, a : a + STRIP]))
        entries += strips[-1].nnz
        if entries > SPARE_ENTRIES + ENTRIES_EACH * (mass.nnz + h.nnz):
            raise InputError(
                f"its W = Hᵀ M⁻¹ H has more than {entries} entries, too many for a problem whose M "
                f"and H have {mass.nnz + h.nnz}: all its contacts couple with each other."
            )
    matrix = scipy.sparse.hstack(strips) if strips else scipy.sparse.csr_array((0, 0))
    return local_problem(dim, matrix, h.T @ factor.solve(f) + w, friction)


def _check_fill(mass) -> None:
    """Refuse a matrix whose factors may be so much larger that they fill the memory."""
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    pattern = scipy.sparse.csr_matrix((np.ones(mass.nnz), mass.indices, mass.indptr), mass.shape)
    place = np.empty(mass.shape[0], dtype=np.int64)
    place[reverse_cuthill_mckee(pattern + pattern.T, symmetric_mode=True)] = np.arange(len(place))
    entry = pattern.tocoo()
    band = int(np.abs(place[entry.row] - place[entry.col]).max(initial=0))
    if len(place) * (2 * band + 1) > SPARE_FILL + FILL_EACH * mass.nnz:
        raise InputError(
            f"M, {len(place)} x {len(place)} with {mass.nnz} entries, couples so many velocities "
            f"that its factors may have {len(place) * (2 * band + 1)}; give the local problem."
        )


def _solved(factor, strip) -> scipy.sparse.csc_array:
    return scipy.sparse.csc_array(factor.solve(strip.toarray()))
