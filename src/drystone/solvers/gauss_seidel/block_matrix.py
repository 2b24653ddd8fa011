"""The Delassus matrix W in 3x3 blocks, contact by contact, and block Gauss-Seidel sweeps on it.

For problems of which only the matrix is known, and for methods that need its entries. The sweep is
that of [Jourdan1998], as in solvers/nsgs.py, with the velocity of a contact summed from the
blocks in its row. Three rows of a joint are a block as well, whose rows are visited one by one.
Contacts are linked where a block couples them; those that are linked, directly or through others,
are an island, and islands are solved apart from each other.
"""

from typing import NamedTuple

import numpy as np

from drystone.constraints.coulomb import contact_error, invert_block, solve_contact
from drystone.jit import inner_kernel, kernel
from drystone.jit.table import table


@table
class BlockMatrix(NamedTuple):
    """Block row c: blocks first[c] .. first[c + 1], each at column[k] with nine entries."""

    first: np.ndarray  # (nc + 1,) int32
    column: np.ndarray  # (blocks,) int32
    value: np.ndarray  # (blocks, 9) row by row [1/kg]
    own: np.ndarray  # (nc, 6) diagonal blocks, symmetric: nn, n1, n2, 11, 12, 22
    inverse: np.ndarray  # (nc, 6) of those
    scale: np.ndarray  # (nc,) a third of their trace


@table
class BlockProblem(NamedTuple):
    """u = W p + q with nb blocks: contacts, then the rows of joints, three in a block."""

    matrix: BlockMatrix
    q: np.ndarray  # (nb, 3) velocities if no impulse acted [m/s]
    friction: np.ndarray  # (nb,) zero for joints
    joint: np.ndarray  # (nb,) bool
    lower: np.ndarray  # (nb, 3) bounds of the impulses of joints
    upper: np.ndarray  # (nb, 3)


def block_problem(problem) -> BlockProblem:
    """A ContactProblem or MatrixProblem by its blocks."""
    nb, nc = problem.block_count, problem.contact_count
    friction, lower, upper = np.zeros(nb), np.zeros((nb, 3)), np.zeros((nb, 3))
    friction[:nc] = problem.friction
    if problem.joints is not None:
        lower[nc:], upper[nc:] = problem.joints.lower, problem.joints.upper
    joint = np.arange(nb) >= nc
    return BlockProblem(block_matrix(problem.W()), problem.q(), friction, joint, lower, upper)


def block_matrix(matrix) -> BlockMatrix:
    """Blocks of W as problem.W() gives it."""
    nc = matrix.shape[0] // 3
    index, entry = matrix.indptr.astype(np.int32), matrix.indices.astype(np.int32)
    first, mark = np.zeros(nc + 1, dtype=np.int32), np.full(nc, -1, dtype=np.int32)
    count_blocks(index, entry, mark, first)
    column, value = np.zeros(first[nc], dtype=np.int32), np.zeros((first[nc], 9))
    fill_block_rows(index, entry, matrix.data, mark, first, column, value)
    own, inverse, scale = np.zeros((nc, 6)), np.zeros((nc, 6)), np.zeros(nc)
    fill_own(first, column, value, own, inverse, scale)
    return BlockMatrix(first, column, value, own, inverse, scale)


def islands_of(blocks: BlockMatrix) -> tuple[np.ndarray, np.ndarray]:
    """Contacts island by island, in their order, and where each island starts in that list."""
    nc = len(blocks.first) - 1
    member, start = np.zeros(nc, dtype=np.int32), np.zeros(nc + 1, dtype=np.int32)
    parent, place = np.arange(nc, dtype=np.int32), np.zeros(nc + 1, dtype=np.int32)
    count = list_islands(blocks.first, blocks.column, parent, place, member, start)
    return member, start[: count + 1]


@kernel
def count_blocks(index, entry, mark, first):
    """Number the blocks of each row; `index`, `entry` are those of the rows of single numbers."""
    total = 0
    for c in range(first.shape[0] - 1):
        for k in range(index[3 * c], index[3 * c + 3]):
            j = entry[k] // 3
            if mark[j] != c:
                mark[j] = c
                total += 1
        first[c + 1] = total


@kernel
def fill_block_rows(index, entry, data, mark, first, column, value):
    """Sort the entries into their blocks, columns in the order in which they come."""
    for c in range(first.shape[0] - 1):
        used = first[c]
        for r in range(3):
            for k in range(index[3 * c + r], index[3 * c + r + 1]):
                j = entry[k] // 3
                if not (first[c] <= mark[j] < used and column[mark[j]] == j):
                    mark[j] = used
                    column[used] = j
                    used += 1
                value[mark[j], 3 * r + entry[k] - 3 * j] += data[k]


@kernel
def _root(c, parent):
    while parent[c] != c:
        parent[c] = parent[parent[c]]
        c = parent[c]
    return c


@kernel
def list_islands(first, column, parent, place, member, start):
    """Fill what islands_of() returns; the number of islands."""
    nc = member.shape[0]
    for c in range(nc):
        for k in range(first[c], first[c + 1]):
            a, b = _root(c, parent), _root(column[k], parent)
            parent[max(a, b)] = min(a, b)  # the root is the first contact of its island
    count = 0
    for c in range(nc):
        root = _root(c, parent)
        if root == c:
            place[c] = count
            count += 1
        else:
            place[c] = place[root]
        start[place[c] + 1] += 1
    for i in range(count):
        start[i + 1] += start[i]
    for c in range(nc - 1, -1, -1):  # start[i + 1] walks down to the start of island i
        i = place[c] + 1
        start[i] -= 1
        member[start[i]] = c
    for i in range(count):
        start[i] = start[i + 1]
    start[count] = nc
    return count


@kernel
def fill_own(first, column, value, own, inverse, scale):
    """The diagonal blocks: the mean of both halves, their inverse, a third of the trace."""
    for c in range(own.shape[0]):
        for k in range(first[c], first[c + 1]):
            if column[k] == c:
                own[c, 0] = value[k, 0]
                own[c, 1] = 0.5 * (value[k, 1] + value[k, 3])
                own[c, 2] = 0.5 * (value[k, 2] + value[k, 6])
                own[c, 3] = value[k, 4]
                own[c, 4] = 0.5 * (value[k, 5] + value[k, 7])
                own[c, 5] = value[k, 8]
        invert_block(c, own, inverse)
        scale[c] = (own[c, 0] + own[c, 3] + own[c, 5]) / 3.0


@inner_kernel
def velocity_in(c, first, column, value, q, impulse):
    """Velocity of contact `c` under all impulses [m/s]."""
    un, u1, u2 = q[c, 0], q[c, 1], q[c, 2]
    for k in range(first[c], first[c + 1]):
        j = column[k]
        pn, p1, p2 = impulse[j, 0], impulse[j, 1], impulse[j, 2]
        un += value[k, 0] * pn + value[k, 1] * p1 + value[k, 2] * p2
        u1 += value[k, 3] * pn + value[k, 4] * p1 + value[k, 5] * p2
        u2 += value[k, 6] * pn + value[k, 7] * p1 + value[k, 8] * p2
    return un, u1, u2


@kernel
def sweep_blocks(lo, hi, member, problem, impulse):
    """Visit blocks member[lo:hi] once, forth; whether that changed anything."""
    m, changed = problem.matrix, False
    for i in range(lo, hi):
        c = member[i]
        if problem.joint[c]:
            changed = _visit_joint_rows(c, problem, impulse) or changed
            continue
        un, u1, u2 = velocity_in(c, m.first, m.column, m.value, problem.q, impulse)
        mu = problem.friction[c]
        pn, p1, p2 = solve_contact(c, un, u1, u2, m.own, m.inverse, mu, impulse)
        if pn != impulse[c, 0] or p1 != impulse[c, 1] or p2 != impulse[c, 2]:
            changed = True
            impulse[c, 0], impulse[c, 1], impulse[c, 2] = pn, p1, p2
    return changed


@kernel
def _visit_joint_rows(c, problem, impulse):
    """Visit the three rows of joint block `c`; whether that changed anything."""
    m, changed = problem.matrix, False
    for k in range(3):
        u = velocity_in(c, m.first, m.column, m.value, problem.q, impulse)
        own = m.own[c, 0 if k == 0 else 2 * k + 1]
        p = min(max(impulse[c, k] - u[k] / own, problem.lower[c, k]), problem.upper[c, k])
        changed = changed or p != impulse[c, k]
        impulse[c, k] = p
    return changed


@kernel
def island_error(lo, hi, member, problem, impulse, relative):
    """Error of contacts member[lo:hi].

    relative    the norm of their natural maps with step 1, as [Acary2018] sums them; else the
                largest contact_error(), in m/s, as residual() has it
    """
    m, total = problem.matrix, 0.0
    for i in range(lo, hi):
        c = member[i]
        un, u1, u2 = velocity_in(c, m.first, m.column, m.value, problem.q, impulse)
        rho = 1.0 if relative else 1.0 / m.scale[c]
        error = contact_error(
            impulse[c, 0], impulse[c, 1], impulse[c, 2], un, u1, u2, problem.friction[c], rho
        )
        if relative:
            total += error * error
        elif not error <= total:  # also takes a NaN
            total = error
    return np.sqrt(total) if relative else total
