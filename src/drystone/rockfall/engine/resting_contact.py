"""Resting, sliding and rolling: one time step with friction on a polyhedral cone (ROCFALL 3.44).

Per contact the unknowns are the normal impulse p_n, impulses f_k >= 0 along P directions d_k of the
tangent plane, and beta, the speed of sliding (eq. 3.43):

    0 <= v_n - target        complementary to  p_n >= 0
    0 <= beta + v_k          complementary to  f_k >= 0
    0 <= mu p_n - sum f_k    complementary to  beta >= 0

solved by pivoting. Rows and the twist z are those of impact.py, impulses per mass. The first
direction is the one in which the contact would slide, so that a polygon of any number of sides has
the friction of the circle for it.
"""

from math import cos, pi, sin
from typing import NamedTuple

import numpy as np

from drystone.jit import kernel
from drystone.rockfall.engine.impact import push, row_dot, row_speed
from drystone.rockfall.engine.lemke_dense import SOLVED, LemkeWorkspace, lemke


class RestingWorkspace(NamedTuple):
    """Scratch for K contacts with P directions."""

    row: np.ndarray  # (K (P + 1), 6) of each contact the normal, then its directions
    matrix: np.ndarray  # (N, N), N = K (P + 2)
    q: np.ndarray  # (N,)
    x: np.ndarray  # (N,)
    first: np.ndarray  # (K + 1,) int64 first unknown of a contact
    pivots: LemkeWorkspace

    @classmethod
    def of(cls, contacts: int, directions: int) -> "RestingWorkspace":
        n = contacts * (directions + 2)
        rows = contacts * (directions + 1)
        first = np.zeros(contacts + 1, dtype=np.int64)
        return cls(
            np.zeros((rows, 6)),
            np.zeros((n, n)),
            np.zeros(n),
            np.zeros(n),
            first,
            LemkeWorkspace.of(n),
        )


@kernel
def _fill_rows(count, normal, tangent, directions, work):
    """All rows of all contacts; `tangent` (2 count, 6) has two rows for each."""
    stride = directions + 1
    for i in range(count):
        for k in range(6):
            work.row[i * stride, k] = normal[i, k]
        for d in range(directions):
            angle = 2.0 * pi * d / directions
            c, s = cos(angle), sin(angle)
            for k in range(6):
                work.row[i * stride + 1 + d, k] = c * tangent[2 * i, k] + s * tangent[2 * i + 1, k]


@kernel
def _fill_matrix(count, friction, directions, work):
    """M and the first unknown of each contact; one without friction has p_n alone."""
    stride = directions + 1
    n = 0
    for i in range(count):
        work.first[i] = n
        n += directions + 2 if friction[i] > 0.0 else 1
    work.first[count] = n
    for i in range(n):
        for j in range(n):
            work.matrix[i, j] = 0.0
    for i in range(count):
        rows_i = stride if friction[i] > 0.0 else 1
        at = work.first[i]
        for j in range(i + 1):
            rows_j = stride if friction[j] > 0.0 else 1
            for a in range(rows_i):
                for b in range(rows_j):
                    value = row_dot(work.row, i * stride + a, work.row, j * stride + b)
                    work.matrix[at + a, work.first[j] + b] = value
                    work.matrix[work.first[j] + b, at + a] = value
        if friction[i] > 0.0:
            beta = at + directions + 1
            work.matrix[beta, at] = friction[i]
            for d in range(directions):
                work.matrix[at + 1 + d, beta] = 1.0
                work.matrix[beta, at + 1 + d] = -1.0
    return n


@kernel
def hold(count, normal, tangent, friction, target, directions, z, impulse, work):
    """Impulses of one step that keep and slow all contacts; z goes from free to final twist.

    tangent   (2 count, 6) rows of two tangents of each contact, the first where it would slide
    target    (count,) least normal velocity after the step [m/s]
    impulse   (count,) normal, per mass [m/s]
    Returns False, and leaves z as it was, if the problem was not solved.
    """
    _fill_rows(count, normal, tangent, directions, work)
    n = _fill_matrix(count, friction, directions, work)
    stride = directions + 1
    for i in range(count):
        at = work.first[i]
        work.q[at] = row_speed(work.row, i * stride, z) - target[i]
        if friction[i] > 0.0:
            for d in range(directions):
                work.q[at + 1 + d] = row_speed(work.row, i * stride + 1 + d, z)
            work.q[at + directions + 1] = 0.0
    if lemke(n, work.matrix, work.q, work.x, work.pivots) != SOLVED:
        return False
    for i in range(count):
        at = work.first[i]
        impulse[i] = work.x[at]
        push(work.row, i * stride, work.x[at], z)
        if friction[i] > 0.0:
            for d in range(directions):
                push(work.row, i * stride + 1 + d, work.x[at + 1 + d], z)
    return True
