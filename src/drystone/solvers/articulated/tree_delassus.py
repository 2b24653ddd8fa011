"""Delassus matrix of contacts and limits on trees of joints: the joints are eliminated from it.

An impulse on a body of a tree goes from joint to joint towards the root. With the factors of the
articulated body algorithm (articulated_body.py) the part that drives free motion k of a joint is
S_k.h; the rest, h - U_k S_k.h, goes on; at the root, L⁻¹ h is left. These numbers of an impulse of
one row make a vector z, and

    W = Z Zᵀ

is the Schur complement that is left when the rows of joints that hold, and dampers, are eliminated.
Rows of joints with a bound, most of them limits, are only taken if they may act.
A body without joints is a tree of its own.
"""

import numpy as np

from drystone.constraints.joint_rows import SOFTNESS, contacts_of, nodes_of
from drystone.constraints.kinematic_trees import MOST_BLOCKS, MOST_MOTIONS
from drystone.jit import inner_kernel, kernel
from drystone.jit.vec import add, cross, mul_t
from drystone.model.joint_arrays import ROW_DRIVE, ROW_EQUALITY
from drystone.solvers.articulated.articulated_body import eliminate, root_half

WITH_DRIVES = 2  # trees.ready after an elimination with drives

# Places of trees.count: trees of the island; 1 + the group whose W stands, the contacts and blocks
# in it; free motions of the island; rows listed in trees.block.
TREES, W_GROUP, W_BLOCKS, MOTIONS, LISTED_ROWS = range(5)


@kernel
def _list_trees(first, last, joint_work):
    """List the trees of a group and number their motions; how many, -1 if joints have no tree."""
    trees, used, count = joint_work.trees, 0, 0
    for d in range(first, last):
        t = trees.tree[joint_work.node_joint[joint_work.node_list[d]]]
        if t < 0:
            return -1
        trees.base[t] = -1
    for d in range(first, last):
        t = trees.tree[joint_work.node_joint[joint_work.node_list[d]]]
        if trees.base[t] < 0:
            trees.base[t], trees.listed[count] = used, t
            used, count = used + trees.width[t], count + 1
    trees.count[TREES] = count
    return used


@kernel
def _is_bounded(r, rows):
    """Whether elimination leaves row `r` out: it has a bound, or is a motor."""
    if rows.kind[r] == ROW_EQUALITY:
        return False
    soft = rows.kind[r] == ROW_DRIVE and rows.softness[r] > 0.0
    return rows.lower[r] > -np.inf or rows.upper[r] < np.inf or not soft


@kernel
def _count_bounded(first, last, joint_work):
    count = 0
    for i in range(joint_work.row_first[first], joint_work.row_first[last]):
        if _is_bounded(joint_work.row_list[i], joint_work.rows):
            count += 1
    return count


@inner_kernel
def number_motions(g, rows, joint_work, mass):
    """Free motions of group `g`; zero if it has joints without a tree, or is too large."""
    (first, last), (lo, hi) = nodes_of(g, joint_work), contacts_of(g, rows)
    trees, used = joint_work.trees, _list_trees(first, last, joint_work)
    trees.count[W_GROUP] = 0
    if used < 0 or used > MOST_MOTIONS:
        return 0
    if 3 * (hi - lo) + _count_bounded(first, last, joint_work) > 3 * MOST_BLOCKS:
        return 0
    for c in range(lo, hi):
        for side in range(2):
            trees.alone[rows.body[c, side]] = -1
    for c in range(lo, hi):
        for side in range(2):
            b = rows.body[c, side]
            if mass[b, 0] > 0.0 and trees.member[b] < 0 and trees.alone[b] < 0:
                trees.alone[b] = used
                used += 6
                if used > MOST_MOTIONS:
                    return 0
    trees.count[MOTIONS] = used
    return used


@inner_kernel
def eliminate_listed(joints, bodies, rotation, joint_work):
    """Eliminate the listed trees with their drives, at the start of the step."""
    trees = joint_work.trees
    for i in range(trees.count[TREES]):
        t = trees.listed[i]
        if trees.ready[t] != WITH_DRIVES:
            driven = trees.driven[t] == 1
            eliminate(
                t,
                joints,
                bodies,
                rotation,
                joint_work.added_inertia,
                joint_work.rows,
                trees,
                driven,
            )
            trees.ready[t] = WITH_DRIVES


@kernel(inline="always")
def _climb(row, b, f, m, bodies, rotation, mass, trees):
    """Add z of the impulse (f, m) on body `b` to row `row` of zeta."""
    z = trees.zeta
    if mass[b, 0] == 0.0:
        return
    t = trees.member[b]
    if t < 0:
        o = trees.alone[b]
        r = (
            rotation[b, 0], rotation[b, 1], rotation[b, 2], rotation[b, 3], rotation[b, 4],
            rotation[b, 5], rotation[b, 6], rotation[b, 7], rotation[b, 8],
        )  # fmt: skip
        w = mul_t(r, m)
        for k in range(3):
            z[row, o + k] += np.sqrt(bodies.inv_mass[b]) * f[k]
            z[row, o + 3 + k] += np.sqrt(bodies.inv_inertia[b, k]) * w[k]
        return
    while trees.up[b] >= 0:
        j = trees.up[b]
        o = trees.base[t] + trees.place[j]
        x, y = f, m
        for k in range(trees.held[j, 2]):
            i, s, u = 6 * k, trees.step, trees.seen
            q = s[j, i] * x[0] + s[j, i + 1] * x[1] + s[j, i + 2] * x[2]
            q += s[j, i + 3] * y[0] + s[j, i + 4] * y[1] + s[j, i + 5] * y[2]
            z[row, o + k] += q
            f = (f[0] - q * u[j, i], f[1] - q * u[j, i + 1], f[2] - q * u[j, i + 2])
            m = (m[0] - q * u[j, i + 3], m[1] - q * u[j, i + 4], m[2] - q * u[j, i + 5])
        d = trees.lever
        m = add(m, cross((d[j, 0], d[j, 1], d[j, 2]), f))
        b = trees.parent[j]
    if trees.root[t] >= 0:
        x = trees.half
        x[0], x[1], x[2], x[3], x[4], x[5] = f[0], f[1], f[2], m[0], m[1], m[2]
        root_half(t, x, trees.root_factor)
        o = trees.base[t] + trees.width[t] - 6
        for k in range(6):
            z[row, o + k] += x[k]


@kernel
def _climb_contact(i, r, rows, bodies, rotation, mass, trees):
    for k in range(3):
        n = (rows.frame[r, 3 * k], rows.frame[r, 3 * k + 1], rows.frame[r, 3 * k + 2])
        for side in range(2):
            o, s = 3 * side, 1.0 if side == 1 else -1.0
            arm = (rows.arm[r, o], rows.arm[r, o + 1], rows.arm[r, o + 2])
            m = cross(arm, n)
            _climb(
                3 * i + k, rows.body[r, side], (s * n[0], s * n[1], s * n[2]),
                (s * m[0], s * m[1], s * m[2]), bodies, rotation, mass, trees,
            )  # fmt: skip


@kernel
def _climb_row(i, k, r, rows, bodies, rotation, mass, trees):
    for side in range(2):
        o, s = 3 * side, 1.0 if side == 1 else -1.0
        _climb(
            3 * i + k, rows.body[r, side],
            (s * rows.linear[r, 0], s * rows.linear[r, 1], s * rows.linear[r, 2]),
            (s * rows.angular[r, o], s * rows.angular[r, o + 1], s * rows.angular[r, o + 2]),
            bodies, rotation, mass, trees,
        )  # fmt: skip


@kernel
def _list_driven(i, width, zeta, driven):
    """List the motions that the rows of block `i` drive, those between them and the root."""
    count = 0
    for d in range(width):
        if zeta[3 * i, d] != 0.0 or zeta[3 * i + 1, d] != 0.0 or zeta[3 * i + 2, d] != 0.0:
            driven[count] = d
            count += 1
    return count


@kernel
def _multiply(n, width, zeta, driven, island):
    """All blocks of Z Zᵀ."""
    for i in range(n):
        island.first[i] = i * n
        count = _list_driven(i, width, zeta, driven)
        for j in range(i + 1):
            a, b = 3 * i, 3 * j
            w00, w01, w02, w10, w11, w12 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
            w20, w21, w22 = 0.0, 0.0, 0.0
            for m in range(count):
                d = driven[m]
                x, y, z = zeta[a, d], zeta[a + 1, d], zeta[a + 2, d]
                u, v, w = zeta[b, d], zeta[b + 1, d], zeta[b + 2, d]
                w00, w01, w02 = w00 + x * u, w01 + x * v, w02 + x * w
                w10, w11, w12 = w10 + y * u, w11 + y * v, w12 + y * w
                w20, w21, w22 = w20 + z * u, w21 + z * v, w22 + z * w
            k, t, v = i * n + j, j * n + i, island.value
            island.column[k], island.column[t] = j, i
            v[k, 0], v[k, 1], v[k, 2], v[k, 3], v[k, 4] = w00, w01, w02, w10, w11
            v[k, 5], v[k, 6], v[k, 7], v[k, 8] = w12, w20, w21, w22
            v[t, 0], v[t, 3], v[t, 6], v[t, 1], v[t, 4] = w00, w01, w02, w10, w11
            v[t, 7], v[t, 2], v[t, 5], v[t, 8] = w12, w20, w21, w22
    island.first[n] = n * n


@inner_kernel
def choose_rows(g, contacts, joint_work, limits, again):
    """List the rows of joints that may act, three to a block behind the contacts: trees.block.

    limits   only limits, no friction and no motors
    again    keep those that are listed, add those that have passed their bound

    joint_work.slack are their velocities above the bound. Returns the number of contacts and
    blocks; zero if none was added again.
    """
    trees, rows, (first, last) = joint_work.trees, joint_work.rows, nodes_of(g, joint_work)
    count = trees.count[LISTED_ROWS] if again else 0
    before = count
    for i in range(joint_work.row_first[first], joint_work.row_first[last]):
        r = joint_work.row_list[i]
        if not _is_bounded(r, rows):
            continue
        if not again:
            trees.acts[r] = 0
        if trees.acts[r] == 1:
            continue
        limit = rows.lower[r] == 0.0
        acts = joint_work.slack[r] < 0.0 or (not again and rows.impulse[r] != 0.0)
        if (limit and acts) or (not limit and not limits):
            trees.acts[r] = 1
            trees.block[contacts + count // 3, count % 3] = r
            count += 1
    n = contacts + (count + 2) // 3
    for k in range(count, 3 * (n - contacts)):
        trees.block[n - 1, k % 3] = -1
    trees.count[LISTED_ROWS] = count
    return n if count > before or not again else 0


@inner_kernel
def condense(g, n, rows, joint_work, bodies, motion, island):
    """W of the contacts of group `g` and of the blocks that choose_rows() has listed."""
    trees, own, (lo, hi) = joint_work.trees, joint_work.rows, contacts_of(g, rows)
    rotation, mass, contacts = motion.rotation_matrix, motion.mass, hi - lo
    width = trees.count[MOTIONS]
    for i in range(3 * n):
        for d in range(width):
            trees.zeta[i, d] = 0.0
    for c in range(contacts):
        _climb_contact(c, lo + c, rows, bodies, rotation, mass, trees)
    for i in range(contacts, n):
        for k in range(3):
            if trees.block[i, k] >= 0:
                _climb_row(i, k, trees.block[i, k], own, bodies, rotation, mass, trees)
    _multiply(n, width, trees.zeta, trees.motion, island)
    trees.count[W_GROUP], trees.count[W_BLOCKS] = g + 1, n


@inner_kernel
def set_law(g, n, rows, joint_work, island):
    """Friction, bounds and softness of the problem whose W stands in `island`."""
    lo, hi = contacts_of(g, rows)
    contacts = hi - lo
    island.bounded[0] = False
    for i in range(n):
        k = i * n + i
        island.joint[i], island.flat[i] = i >= contacts, rows.flat[0] == 1
        value = island.value
        island.scale[i] = (value[k, 0] + value[k, 4] + value[k, 8]) / 3.0
        if i < contacts:
            # A limb that is held all round moves for no impulse, but must be divided by.
            least = rows.delassus[lo + i, 0] + rows.delassus[lo + i, 3] + rows.delassus[lo + i, 5]
            island.scale[i] = max(island.scale[i], 1e-9 * least)
            island.friction[i] = rows.friction[lo + i]
            continue
        island.friction[i] = 0.0
        _set_bounds(i, value[k, 0], value[k, 4], value[k, 8], joint_work, island)


@kernel
def _set_bounds(i, x, y, z, joint_work, island):
    trees, rows = joint_work.trees, joint_work.rows
    for k in range(3):
        r, own = trees.block[i, k], x if k == 0 else (y if k == 1 else z)
        if r < 0:
            island.soft[i, k], island.own[i, k] = 0.0, 1.0
            island.lower[i, k], island.upper[i, k] = 0.0, 0.0
            continue
        island.soft[i, k] = rows.softness[r] + SOFTNESS * own
        island.own[i, k] = max(own, 1e-12) + island.soft[i, k]
        island.lower[i, k], island.upper[i, k] = rows.lower[r], rows.upper[r]
        for bound in (rows.lower[r], rows.upper[r]):
            if bound != 0.0 and abs(bound) < np.inf:
                island.bounded[0] = True
