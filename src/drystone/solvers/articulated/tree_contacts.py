"""Contacts and limits on trees of joints: Newton's method after elimination of the joints.

The joints are eliminated by the articulated body algorithm (articulated_body.py), and Newton's
method has the Schur complement of contacts and limits alone (tree_delassus.py). Displacements that
correct the position errors of joints and contacts are found with the same inertia, dampers
included.
"""

import numpy as np

from drystone.constraints.contact_rows import inertia_times
from drystone.constraints.coulomb import normal_velocity_at, push, slip_at
from drystone.constraints.joint_rows import (
    contacts_of,
    nodes_of,
    push_joint_row,
    row_velocity,
)
from drystone.jit import inner_kernel, kernel
from drystone.jit.vec import cross
from drystone.model.joint_arrays import ROW_EQUALITY, ROW_LIMIT
from drystone.motion.stabilization import gap_wanted
from drystone.solvers.articulated.articulated_body import held_error, set_impulses, solve_tree
from drystone.solvers.articulated.rattle_tree import load_momenta, take_velocities
from drystone.solvers.articulated.tree_delassus import (
    TREES,
    W_BLOCKS,
    W_GROUP,
    choose_rows,
    condense,
    eliminate_listed,
    number_motions,
    set_law,
)
from drystone.solvers.newton.semismooth import newton_from

NEWTON_STEPS = 100
ALPHA = 1e-6  # no redundant joints are left in W, and guesses are good
PLACED = 1e-9  # [m], [rad]: position errors of contacts and limits that are small enough
MAX_ROUNDS = 4  # of adding limits that were passed; with more, Newton takes the whole island


@kernel
def _add(b, s, f, m, target):
    for k in range(3):
        target[b, k] += s * f[k]
        target[b, 3 + k] += s * m[k]


@kernel
def _load_contact(r, pn, p1, p2, rows, mass, trees, twist):
    """Impulse of contact `r` to the flow of trees; bodies without joints change at once."""
    f, a = rows.frame, rows.arm
    p = (
        f[r, 0] * pn + f[r, 3] * p1 + f[r, 6] * p2,
        f[r, 1] * pn + f[r, 4] * p1 + f[r, 7] * p2,
        f[r, 2] * pn + f[r, 5] * p1 + f[r, 8] * p2,
    )
    for side in range(2):
        b, s, o = rows.body[r, side], 1.0 if side == 1 else -1.0, 3 * side
        if mass[b, 0] == 0.0:
            continue
        m = cross((a[r, o], a[r, o + 1], a[r, o + 2]), p)
        if trees.member[b] >= 0:
            _add(b, s, p, m, trees.flow)
        else:
            v = (mass[b, 0] * p[0], mass[b, 0] * p[1], mass[b, 0] * p[2])
            _add(b, s, v, inertia_times(b, m, mass), twist)


@kernel
def _load_row(r, p, rows, trees):
    for side in range(2):
        b, s, o = rows.body[r, side], p if side == 1 else -p, 3 * side
        if b < trees.member.shape[0] and trees.member[b] >= 0:
            _add(
                b, s, (rows.linear[r, 0], rows.linear[r, 1], rows.linear[r, 2]),
                (rows.angular[r, o], rows.angular[r, o + 1], rows.angular[r, o + 2]), trees.flow,
            )  # fmt: skip


@kernel
def _clear_flow(g, joint_work):
    first, last = nodes_of(g, joint_work)
    for d in range(first, last):
        for side in range(2):
            b = joint_work.node_body[joint_work.node_list[d], side]
            for k in range(6):
                joint_work.trees.flow[b, k] = 0.0


@kernel
def _respond(g, n, joints, rows, joint_work, mass, own, twist):
    """Add what the impulses `own` of contacts and listed blocks do to the bodies."""
    trees, (lo, hi) = joint_work.trees, contacts_of(g, rows)
    _clear_flow(g, joint_work)
    for c in range(hi - lo):
        _load_contact(lo + c, own[c, 0], own[c, 1], own[c, 2], rows, mass, trees, twist)
    for i in range(hi - lo, n):
        for k in range(3):
            if trees.block[i, k] >= 0:
                _load_row(trees.block[i, k], own[i, k], joint_work.rows, trees)
    for i in range(trees.count[TREES]):
        t = trees.listed[i]
        driven = trees.driven[t] == 1
        solve_tree(t, joints, joint_work.rows, joint_work.zero, twist, trees, False, driven, False)
        take_velocities(t, trees, True, twist)


@kernel
def _start_free(g, joints, bodies, rows, joint_work, motion):
    """Velocities of all bodies if contacts and limits did nothing."""
    trees, twist, free = joint_work.trees, motion.twist, motion.free
    lo, hi = contacts_of(g, rows)
    for c in range(lo, hi):
        for side in range(2):
            b = rows.body[c, side]
            for k in range(6):
                twist[b, k] = free[b, k]
    for i in range(trees.count[TREES]):
        t = trees.listed[i]
        load_momenta(t, bodies, motion.rotation_matrix, joint_work.added_inertia, free, trees)
        solve_tree(
            t, joints, joint_work.rows, joint_work.rows.bias, free, trees, True,
            trees.driven[t] == 1, True,
        )  # fmt: skip
        take_velocities(t, trees, False, twist)


@kernel
def _set_slack(g, joint_work, twist):
    rows, (first, last) = joint_work.rows, nodes_of(g, joint_work)
    for i in range(joint_work.row_first[first], joint_work.row_first[last]):
        r = joint_work.row_list[i]
        if rows.kind[r] != ROW_EQUALITY:
            joint_work.slack[r] = row_velocity(r, rows, twist) + rows.bias[r]


@kernel
def _take_law(g, n, rows, joint_work, twist, own, island):
    """Free velocities of the problem, and its guess: the impulses of the last step."""
    trees, (lo, hi) = joint_work.trees, contacts_of(g, rows)
    for i in range(n):
        if i < hi - lo:
            r = lo + i
            un, u1, u2 = slip_at(r, rows, twist)
            island.q[i, 0], island.q[i, 1], island.q[i, 2] = un + rows.bias[r], u1, u2
            for k in range(3):
                own[i, k] = rows.impulse[r, k]
            continue
        for k in range(3):
            r = trees.block[i, k]
            island.q[i, k] = joint_work.slack[r] if r >= 0 else 0.0
            own[i, k] = joint_work.rows.impulse[r] if r >= 0 else 0.0


@kernel
def _keep_impulses(g, n, joints, bodies, rows, joint_work, motion, own):
    """Impulses of contacts, of listed rows, and of the joints that go with them."""
    trees, pushed, (lo, hi) = joint_work.trees, motion.move, contacts_of(g, rows)
    contacts = hi - lo
    for i in range(trees.count[TREES]):
        t = trees.listed[i]
        for k in range(trees.first[t], trees.first[t + 1]):
            for b in (trees.child[trees.joint[k]], trees.parent[trees.joint[k]]):
                for m in range(6):
                    pushed[b, m] = motion.free[b, m]
    for c in range(contacts):
        r = lo + c
        push(
            r, own[c, 0], own[c, 1], own[c, 2], rows.body, rows.frame, rows.arm, motion.mass,
            pushed,
        )  # fmt: skip
        for k in range(3):
            rows.impulse[r, k] = own[c, k]
    for i in range(contacts, n):
        for k in range(3):
            if trees.block[i, k] >= 0:
                push_joint_row(trees.block[i, k], own[i, k], joint_work.rows, motion.mass, pushed)
    for i in range(trees.count[TREES]):
        set_impulses(
            trees.listed[i], joints, bodies, motion.rotation_matrix, joint_work.added_inertia,
            joint_work.rows, pushed, motion.twist, trees,
        )  # fmt: skip
    for i in range(contacts, n):
        for k in range(3):
            if trees.block[i, k] >= 0:
                joint_work.rows.impulse[trees.block[i, k]] = own[i, k]


@kernel
def _solve_listed(g, n, joints, bodies, rows, joint_work, goal, work, motion):
    """Newton on the contacts and the listed rows; velocities; residual and steps."""
    island, own, twist = work.island, work.links.impulse, motion.twist
    condense(g, n, rows, joint_work, bodies, motion, island)
    set_law(g, n, rows, joint_work, island)
    _take_law(g, n, rows, joint_work, twist, own, island)
    error, steps = newton_from(ALPHA, n, island, False, goal, NEWTON_STEPS, work.newton, own)
    _respond(g, n, joints, rows, joint_work, motion.mass, own, twist)
    return error, steps


@inner_kernel
def solve_tree_contacts(g, joints, bodies, rows, joint_work, goal, work, motion):
    """Velocities of an island of trees and contacts: their residual, Newton's steps, 1 if tried.

    The residual is infinite if it cannot be done so; if it was tried, velocities have changed.
    """
    own, twist, steps, (lo, hi) = work.links.impulse, motion.twist, 0, contacts_of(g, rows)
    if number_motions(g, rows, joint_work, motion.mass) == 0:
        return np.inf, 0, 0
    eliminate_listed(joints, bodies, motion.rotation_matrix, joint_work)
    _start_free(g, joints, bodies, rows, joint_work, motion)
    _set_slack(g, joint_work, twist)
    n = choose_rows(g, hi - lo, joint_work, False, False)
    for _ in range(MAX_ROUNDS):
        error = 0.0
        if n > 0:
            error, taken = _solve_listed(g, n, joints, bodies, rows, joint_work, goal, work, motion)
            steps += taken
        _keep_impulses(g, n, joints, bodies, rows, joint_work, motion, own)
        _set_slack(g, joint_work, twist)
        more = choose_rows(g, hi - lo, joint_work, False, True)
        if more == 0:
            return max(error, _joint_error(joints, joint_work, twist)), steps, 1
        n = more
        _start_free(g, joints, bodies, rows, joint_work, motion)
        _set_slack(g, joint_work, twist)
    return np.inf, steps, 1


@kernel
def _joint_error(joints, joint_work, twist):
    worst, trees, rows = 0.0, joint_work.trees, joint_work.rows
    for i in range(trees.count[TREES]):
        worst = max(worst, held_error(trees.listed[i], joints, rows, rows.bias, twist, trees))
    return worst


@kernel
def _close_joints(g, joints, joint_work, dt, move):
    """Displace the trees so that joints fit after the step; slack of the limits."""
    trees, rows, slack = joint_work.trees, joint_work.rows, joint_work.slack
    end_rows, (first, last) = joint_work.end_rows, nodes_of(g, joint_work)
    for i in range(joint_work.row_first[first], joint_work.row_first[last]):
        r = joint_work.row_list[i]
        joint_work.bias_change[r] = end_rows.error[r] / dt
        slack[r] = end_rows.error[r] / dt + end_rows.bias[r] - row_velocity(r, rows, move)
    _clear_flow(g, joint_work)
    for i in range(trees.count[TREES]):
        t = trees.listed[i]
        driven = trees.driven[t] == 1
        solve_tree(t, joints, rows, joint_work.bias_change, move, trees, True, driven, False)
        take_velocities(t, trees, True, move)
    for i in range(joint_work.row_first[first], joint_work.row_first[last]):
        r = joint_work.row_list[i]
        if end_rows.kind[r] == ROW_LIMIT:
            slack[r] += row_velocity(r, rows, move)


@kernel
def _position_law(g, n, rows, joint_work, move, settings, own, island):
    """The problem of the displacements in place of that of the velocities; its largest error."""
    trees, worst, dt, (lo, hi) = joint_work.trees, 0.0, settings.dt, contacts_of(g, rows)
    island.bounded[0] = False
    for i in range(n):
        for k in range(3):
            own[i, k], island.q[i, k] = 0.0, 0.0
        island.friction[i] = 0.0
        if i < hi - lo:
            r = lo + i
            gap = rows.gap[r] - gap_wanted(rows.gap[r], rows.skin[r], settings.push_out)
            u = gap / dt + normal_velocity_at(r, rows.body, rows.frame, rows.arm, move)
            island.q[i, 0], worst = u, max(worst, -u)
            continue
        for k in range(3):
            r = trees.block[i, k]
            limit = r >= 0 and joint_work.rows.kind[r] == ROW_LIMIT
            island.lower[i, k], island.upper[i, k] = 0.0, np.inf if limit else 0.0
            if limit:
                island.q[i, k], worst = joint_work.slack[r], max(worst, -joint_work.slack[r])
    return worst


@inner_kernel
def stabilize_tree_contacts(g, joints, bodies, rows, joint_work, settings, work, motion):
    """Displacements after which joints, contacts and limits fit; False: it cannot be done so."""
    island, own, move, dt = work.island, work.links.impulse, motion.move, settings.dt
    trees, goal, (lo, hi) = joint_work.trees, PLACED / dt, contacts_of(g, rows)
    known = trees.count[W_GROUP] == g + 1
    if not known and number_motions(g, rows, joint_work, motion.mass) == 0:
        return False
    eliminate_listed(joints, bodies, motion.rotation_matrix, joint_work)
    _close_joints(g, joints, joint_work, dt, move)
    n = choose_rows(g, hi - lo, joint_work, True, known)
    fresh = known and n == 0
    n = trees.count[W_BLOCKS] if fresh else n
    if n == 0:
        return True
    if _position_law(g, n, rows, joint_work, move, settings, own, island) <= goal:
        trees.count[W_GROUP] = g + 1 if fresh else 0
        return True
    if not fresh:
        condense(g, n, rows, joint_work, bodies, motion, island)
    set_law(g, n, rows, joint_work, island)
    _position_law(g, n, rows, joint_work, move, settings, own, island)
    newton_from(ALPHA, n, island, False, goal, NEWTON_STEPS, work.newton, own)
    for i in range(hi - lo):
        own[i, 1], own[i, 2] = 0.0, 0.0
    _respond(g, n, joints, rows, joint_work, motion.mass, own, move)
    return True
