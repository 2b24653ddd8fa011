"""The arrays of one island as Newton's method sees it: a problem with its Delassus matrix; scratch.

Float arrays are float64, all C-contiguous, as in model/arrays.py.
"""

from typing import NamedTuple

import numpy as np

from drystone.jit.table import table


@table
class Links(NamedTuple):
    """Which contacts of a group are coupled: sparsity pattern of its Delassus matrix."""

    pair: np.ndarray  # (contacts, 2) int32: their bodies
    slot: np.ndarray  # (n + 1,) int32: number of a body within the group, -1 elsewhere
    body_first: np.ndarray  # (2 contacts + 1,) int32
    body_item: np.ndarray  # (2 contacts,) int32: 2 * contact + side
    mark: np.ndarray  # (contacts,) int32
    first: np.ndarray  # (contacts + 1,) int32: coupled contacts, those of contact c
    column: np.ndarray  # (blocks,) int32
    order: np.ndarray  # (contacts,) int32: see solvers/newton/ordering.py
    place: np.ndarray  # (contacts,) int32
    impulse: np.ndarray  # (contacts, 3) in that order [N s]
    jacobian: np.ndarray  # (contacts, 36): for A and B, of three rows each, six numbers
    answer: np.ndarray  # (contacts, 36): inverse mass times those


@table
class Island(NamedTuple):
    """Contacts that are solved together, numbered from 0, as a problem of its own."""

    first: np.ndarray  # (n + 1,) int32: block rows as in block_matrix.BlockMatrix
    column: np.ndarray  # (blocks,) int32
    value: np.ndarray  # (blocks, 9)
    q: np.ndarray  # (n, 3) free velocities [m/s]
    friction: np.ndarray  # (n,)
    scale: np.ndarray  # (n,) D: a third of the trace of the diagonal block [1/kg]
    flat: np.ndarray  # (n,) bool: nothing couples to tangent 2, as in two dimensions
    # three rows of a joint in place of a contact (system.py)
    joint: np.ndarray  # (n,) bool
    lower: np.ndarray  # (n, 3) bounds of the impulses [N s]
    upper: np.ndarray  # (n, 3)
    soft: np.ndarray  # (n, 3) compliance of each row [1/kg]
    own: np.ndarray  # (n, 3) diagonal of W, compliance included [1/kg]
    bounded: np.ndarray  # (1,) bool: whether any bound is neither zero nor infinite


@table
class NewtonWork(NamedTuple):
    """Scratch for islands of up to n contacts."""

    centre: np.ndarray  # (n, 3) last answer of the proximal point method
    velocity: np.ndarray  # (n, 3)
    best: np.ndarray  # (n, 3)
    status: np.ndarray  # (n,) int32
    free: np.ndarray  # (n,) int32: rows of a joint between their bounds, one bit each
    axis: np.ndarray  # (n, 2) direction in which a contact slides
    drag: np.ndarray  # (n,) x of a sliding contact
    row: np.ndarray  # (n + 1,) int32: first unknown of each contact
    matrix: np.ndarray  # (capacity,) rows of the linear equations, as in banded_lu.py
    low: np.ndarray  # (3 n,) int32
    high: np.ndarray  # (3 n,) int32
    at: np.ndarray  # (3 n,) int32
    y: np.ndarray  # (3 n,)


@table
class IslandWork(NamedTuple):
    """Scratch of the Newton solver, for one island at a time."""

    links: Links
    island: Island
    newton: NewtonWork
