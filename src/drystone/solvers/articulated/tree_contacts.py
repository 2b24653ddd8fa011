"""Stage 5 and 7 for trees of joints that something touches, or that are at their limits.

The joints are eliminated (articulated_body.py), and Newton's method has contacts and limits alone
(tree_delassus.py). Displacements that correct what joints and contacts miss are found with the same
inertia, dampers included.
"""

import numpy as np

from drystone.constraints.contact_rows import inertia_times
from drystone.constraints.coulomb import normal_velocity_at, push, velocity_at
from drystone.constraints.joint_rows import push_joint_row, row_velocity
from drystone.jit import inner_kernel, kernel
from drystone.jit.vec import cross
from drystone.model.joint_arrays import ROW_EQUALITY, ROW_LIMIT
from drystone.motion.stabilization import room_wanted
from drystone.solvers.articulated.articulated_body import held_error, set_impulses, solve_tree
from drystone.solvers.articulated.rattle_tree import load_momenta, take_velocities
from drystone.solvers.articulated.tree_delassus import (
    choose_rows,
    condense,
    eliminate_listed,
    number_motions,
    set_law,
)
from drystone.solvers.newton.semismooth import newton_from

NEWTON_STEPS = 100
ALPHA = 1e-6  # W has no joints left that say the same thing twice, and guesses are good
PLACED = 1e-9  # [m], [rad]: what a displacement leaves to contacts and limits
ROUNDS = 4  # of adding limits that were passed; if there are still more, the old way is taken


@kernel
def _add(b, s, f, m, target):
    for k in range(3):
        target[b, k] += s * f[k]
        target[b, 3 + k] += s * m[k]


@kernel
def _load_contact(r, pn, p1, p2, rows, mass, forest, twist):
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
        if forest.member[b] >= 0:
            _add(b, s, p, m, forest.flow)
        else:
            v = (mass[b, 0] * p[0], mass[b, 0] * p[1], mass[b, 0] * p[2])
            _add(b, s, v, inertia_times(b, m, mass), twist)


@kernel
def _load_row(r, p, rows, forest):
    for side in range(2):
        b, s, o = rows.body[r, side], p if side == 1 else -p, 3 * side
        if b < forest.member.shape[0] and forest.member[b] >= 0:
            _add(
                b, s, (rows.linear[r, 0], rows.linear[r, 1], rows.linear[r, 2]),
                (rows.angular[r, o], rows.angular[r, o + 1], rows.angular[r, o + 2]), forest.flow,
            )  # fmt: skip


@kernel
def _clear_flow(first, last, linkage):
    for d in range(first, last):
        for side in range(2):
            b = linkage.node_body[linkage.node_list[d], side]
            for k in range(6):
                linkage.forest.flow[b, k] = 0.0


@kernel
def _respond(lo, contacts, n, first, last, joints, rows, linkage, mass, own, twist):
    """Add what the impulses `own` of contacts and listed blocks do to the bodies."""
    forest = linkage.forest
    _clear_flow(first, last, linkage)
    for c in range(contacts):
        _load_contact(lo + c, own[c, 0], own[c, 1], own[c, 2], rows, mass, forest, twist)
    for i in range(contacts, n):
        for k in range(3):
            if forest.block[i, k] >= 0:
                _load_row(forest.block[i, k], own[i, k], linkage.rows, forest)
    for i in range(forest.count[0]):
        t = forest.listed[i]
        driven = forest.driven[t] == 1
        solve_tree(t, joints, linkage.rows, linkage.none, twist, forest, False, driven, False)
        take_velocities(t, forest, True, twist)


@kernel
def _start_free(lo, contacts, joints, bodies, rows, linkage, motion):
    """Velocities of all bodies if contacts and limits did nothing."""
    forest, twist, free = linkage.forest, motion.twist, motion.free
    for c in range(lo, lo + contacts):
        for side in range(2):
            b = rows.body[c, side]
            for k in range(6):
                twist[b, k] = free[b, k]
    for i in range(forest.count[0]):
        t = forest.listed[i]
        load_momenta(t, bodies, motion.turn, linkage.stiff, free, forest)
        solve_tree(
            t, joints, linkage.rows, linkage.rows.bias, free, forest, True, forest.driven[t] == 1,
            True,
        )  # fmt: skip
        take_velocities(t, forest, False, twist)


@kernel
def _set_slack(first, last, linkage, slack, twist):
    rows = linkage.rows
    for d in range(first, last):
        for k in range(3):
            r = linkage.node_row[linkage.node_list[d], k]
            if r >= 0 and rows.kind[r] != ROW_EQUALITY:
                slack[r] = row_velocity(r, rows, twist) + rows.bias[r]


@kernel
def _take_law(lo, contacts, n, rows, linkage, twist, own, island):
    """Free velocities of the problem, and its guess: the impulses of the last step."""
    forest = linkage.forest
    for i in range(n):
        if i < contacts:
            r = lo + i
            un, u1, u2 = velocity_at(r, rows.body, rows.frame, rows.arm, twist)
            island.q[i, 0], island.q[i, 1], island.q[i, 2] = un + rows.bias[r], u1, u2
            for k in range(3):
                own[i, k] = rows.impulse[r, k]
            continue
        for k in range(3):
            r = forest.block[i, k]
            island.q[i, k] = linkage.slack[r] if r >= 0 else 0.0
            own[i, k] = linkage.rows.impulse[r] if r >= 0 else 0.0


@kernel
def _keep_impulses(lo, contacts, n, joints, bodies, rows, linkage, motion, own):
    """Impulses of contacts, of listed rows, and of the joints that go with them."""
    forest, pushed = linkage.forest, motion.move
    for i in range(forest.count[0]):
        t = forest.listed[i]
        for k in range(forest.first[t], forest.first[t + 1]):
            for b in (forest.child[forest.joint[k]], forest.parent[forest.joint[k]]):
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
            if forest.block[i, k] >= 0:
                push_joint_row(forest.block[i, k], own[i, k], linkage.rows, motion.mass, pushed)
    for i in range(forest.count[0]):
        set_impulses(
            forest.listed[i], joints, bodies, motion.turn, linkage.stiff, linkage.rows, pushed,
            motion.twist, forest,
        )  # fmt: skip
    for i in range(contacts, n):
        for k in range(3):
            if forest.block[i, k] >= 0:
                linkage.rows.impulse[forest.block[i, k]] = own[i, k]


@inner_kernel
def solve_grasped(g, lo, contacts, first, last, joints, bodies, rows, linkage, goal, work, motion):
    """Velocities of an island of trees and contacts: their error, Newton's steps, 1 if tried.

    The error is infinite if it cannot be done this way; if it was tried, velocities have changed.
    """
    island, own, twist, steps = work.island, work.links.impulse, motion.twist, 0
    if number_motions(lo, contacts, first, last, rows, linkage, motion.mass) == 0:
        return np.inf, 0, 0
    eliminate_listed(joints, bodies, motion.turn, linkage)
    _start_free(lo, contacts, joints, bodies, rows, linkage, motion)
    _set_slack(first, last, linkage, linkage.slack, twist)
    n = choose_rows(contacts, first, last, linkage, linkage.slack, False, False)
    for _ in range(ROUNDS):
        error = 0.0
        if n > 0:
            condense(g, lo, contacts, n, rows, linkage, bodies, motion.turn, motion.mass, island)
            set_law(lo, contacts, n, rows, linkage, island)
            _take_law(lo, contacts, n, rows, linkage, twist, own, island)
            error, taken = newton_from(
                ALPHA, n, island, False, goal, NEWTON_STEPS, work.newton, own
            )
            steps += taken
            _respond(lo, contacts, n, first, last, joints, rows, linkage, motion.mass, own, twist)
        _keep_impulses(lo, contacts, n, joints, bodies, rows, linkage, motion, own)
        _set_slack(first, last, linkage, linkage.slack, twist)
        more = choose_rows(contacts, first, last, linkage, linkage.slack, False, True)
        if more == 0:
            return max(error, _joint_error(joints, linkage, twist)), steps, 1
        n = more
        _start_free(lo, contacts, joints, bodies, rows, linkage, motion)
        _set_slack(first, last, linkage, linkage.slack, twist)
    return np.inf, steps, 1


@kernel
def _joint_error(joints, linkage, twist):
    worst, forest, rows = 0.0, linkage.forest, linkage.rows
    for i in range(forest.count[0]):
        worst = max(worst, held_error(forest.listed[i], joints, rows, rows.bias, twist, forest))
    return worst


@kernel
def _close_joints(first, last, joints, linkage, dt, move):
    """Displace the trees so that joints fit after the step; slack of the limits."""
    forest, rows, ahead, slack = linkage.forest, linkage.rows, linkage.ahead, linkage.slack
    for d in range(first, last):
        for k in range(3):
            r = linkage.node_row[linkage.node_list[d], k]
            if r >= 0:
                linkage.change[r] = ahead.error[r] / dt
                slack[r] = ahead.error[r] / dt + ahead.bias[r] - row_velocity(r, rows, move)
    _clear_flow(first, last, linkage)
    for i in range(forest.count[0]):
        t = forest.listed[i]
        driven = forest.driven[t] == 1
        solve_tree(t, joints, rows, linkage.change, move, forest, True, driven, False)
        take_velocities(t, forest, True, move)
    for d in range(first, last):
        for k in range(3):
            r = linkage.node_row[linkage.node_list[d], k]
            if r >= 0 and ahead.kind[r] == ROW_LIMIT:
                slack[r] += row_velocity(r, rows, move)


@kernel
def _place_law(lo, contacts, n, rows, linkage, move, share, dt, own, island):
    """Turn the problem of the velocities into that of displacements; the most that is missed."""
    forest, worst = linkage.forest, 0.0
    island.bounded[0] = False
    for i in range(n):
        for k in range(3):
            own[i, k], island.q[i, k] = 0.0, 0.0
        island.friction[i] = 0.0
        if i < contacts:
            r = lo + i
            room = rows.gap[r] - room_wanted(rows.gap[r], rows.skin[r], share)
            u = room / dt + normal_velocity_at(r, rows.body, rows.frame, rows.arm, move)
            island.q[i, 0], worst = u, max(worst, -u)
            continue
        for k in range(3):
            r = forest.block[i, k]
            limit = r >= 0 and linkage.rows.kind[r] == ROW_LIMIT
            island.lower[i, k], island.upper[i, k] = 0.0, np.inf if limit else 0.0
            if limit:
                island.q[i, k], worst = linkage.slack[r], max(worst, -linkage.slack[r])
    return worst


@inner_kernel
def straighten_grasped(
    g, lo, contacts, first, last, joints, bodies, rows, linkage, settings, work, motion
):
    """Displacements after which joints, contacts and limits fit; False: it cannot be done so."""
    island, own, move, dt = work.island, work.links.impulse, motion.move, settings.dt
    forest, goal = linkage.forest, PLACED / dt
    known = forest.count[1] == g + 1
    if not known and number_motions(lo, contacts, first, last, rows, linkage, motion.mass) == 0:
        return False
    eliminate_listed(joints, bodies, motion.turn, linkage)
    _close_joints(first, last, joints, linkage, dt, move)
    n = choose_rows(contacts, first, last, linkage, linkage.slack, True, known)
    fresh = known and n == 0
    n = forest.count[2] if fresh else n
    if n == 0:
        return True
    if _place_law(lo, contacts, n, rows, linkage, move, settings.push_out, dt, own, island) <= goal:
        forest.count[1] = g + 1 if fresh else 0
        return True
    if not fresh:
        condense(g, lo, contacts, n, rows, linkage, bodies, motion.turn, motion.mass, island)
    set_law(lo, contacts, n, rows, linkage, island)
    _place_law(lo, contacts, n, rows, linkage, move, settings.push_out, dt, own, island)
    newton_from(ALPHA, n, island, False, goal, NEWTON_STEPS, work.newton, own)
    for i in range(contacts):
        own[i, 1], own[i, 2] = 0.0, 0.0
    _respond(lo, contacts, n, first, last, joints, rows, linkage, motion.mass, own, move)
    return True
