"""Stage 7 for islands with joints: what joints and contacts miss is corrected by displacements.

Post-stabilization of CLINE 3.3, as a problem of the same kind as that of the velocities: contacts
without friction, limits one-sided, joints both ways, drives and friction of joints absent. The
answer moves bodies and gives them no velocity. It is done before the move, on what the joints will
miss after it, so that the pose at the end of a step is a good one. Where bodies turn by radians no
straight line leads there: what has torn joints wider open in the end is undone.
"""

import numpy as np

from drystone.constraints.coulomb import normal_velocity_at, push
from drystone.constraints.joint_rows import SOFTNESS, push_joint_row
from drystone.jit import kernel
from drystone.jit.stage import stage
from drystone.model.arrays import BAUMGARTE, NO_DRIFT
from drystone.model.joint_arrays import ROW_EQUALITY, ROW_LIMIT
from drystone.motion.stabilization import gap_wanted
from drystone.solvers.articulated.rattle import NEWTON_STEPS, look_ahead, predict_poses
from drystone.solvers.articulated.solve_islands import OPEN
from drystone.solvers.articulated.tree_contacts import stabilize_tree_contacts
from drystone.solvers.newton.island_delassus import MOST_OPERATIONS, fill_island, link_group
from drystone.solvers.newton.ordering import band_numbers, order_island
from drystone.solvers.newton.semismooth import prox_newton

CLOSED = 1e-8  # [m], [rad]: what joints may miss
ROUNDS = 3  # at most; each gains a factor of about spin * dt


@kernel
def _look(first, last, joints, bodies, state, joint_work, motion, dt):
    """Rows of the joints of these blocks after the step; the most that they miss [m], [rad]."""
    predict_poses(first, last, bodies, state, joint_work, motion, False, 0, dt)
    look_ahead(first, last, joints, joint_work, dt)
    worst, ahead = 0.0, joint_work.ahead
    for d in range(first, last):
        for k in range(3):
            r = joint_work.node_row[joint_work.node_list[d], k]
            if r >= 0 and (ahead.kind[r] == ROW_EQUALITY or ahead.kind[r] == ROW_LIMIT):
                worst = max(worst, abs(ahead.error[r]))
    return worst


@kernel(inline="always")
def _place_law(lo, contacts, n, first, rows, joint_work, move, share, dt, links, island):
    """Turn the problem of the velocities into that of the displacements."""
    ahead = joint_work.ahead
    island.bounded[0] = False
    for i in range(n):
        c = links.order[i]
        for k in range(3):
            links.impulse[i, k] = 0.0
        if c < contacts:
            r = lo + c
            wanted = gap_wanted(rows.gap[r], rows.skin[r], share)
            room = rows.gap[r] - wanted
            island.friction[i] = 0.0
            island.q[i, 0] = room / dt + normal_velocity_at(
                r, rows.body, rows.frame, rows.arm, move
            )
            island.q[i, 1], island.q[i, 2] = 0.0, 0.0
            continue
        node = joint_work.node_list[first + c - contacts]
        for k in range(3):
            r = joint_work.node_row[node, k]
            if r < 0:
                continue
            own = island.own[i, k] - joint_work.rows.softness[r]
            island.soft[i, k], island.own[i, k] = SOFTNESS * own, own
            island.q[i, k] = ahead.error[r] / dt
            if ahead.kind[r] == ROW_LIMIT:
                island.q[i, k] += ahead.bias[r]
            elif ahead.kind[r] != ROW_EQUALITY:
                island.lower[i, k], island.upper[i, k] = 0.0, 0.0


@kernel(inline="always")
def _displace(lo, contacts, n, first, rows, joint_work, mass, links, move):
    own = links.impulse
    for i in range(n):
        c = links.order[i]
        if c < contacts:
            push(lo + c, own[i, 0], 0.0, 0.0, rows.body, rows.frame, rows.arm, mass, move)
            continue
        node = joint_work.node_list[first + c - contacts]
        for k in range(3):
            r = joint_work.node_row[node, k]
            if r >= 0:
                push_joint_row(r, own[i, k], joint_work.rows, mass, move)


@kernel(inline="always")
def _straighten_group(lo, contacts, first, nodes, rows, joint_work, motion, settings, work):
    links, island, room = work.links, work.island, work.newton
    if not link_group(lo, contacts, first, nodes, rows, joint_work, motion.mass, links):
        return
    for c in range(contacts + nodes):
        if links.place[c] >= 0:
            continue
        n = order_island(c, links.first, links.column, links.place, links.order)
        fill_island(
            lo, contacts, n, first, rows, joint_work, motion.mass, motion.free, links, island
        )
        stored, operations = band_numbers(n, island, room.low, room.high)
        if stored > room.matrix.shape[0] or operations > MOST_OPERATIONS:
            continue
        _place_law(
            lo, contacts, n, first, rows, joint_work, motion.move, settings.push_out, settings.dt,
            links, island,
        )  # fmt: skip
        goal = 0.1 * CLOSED / settings.dt
        prox_newton(n, island, False, goal, NEWTON_STEPS, room, links.impulse)
        _displace(lo, contacts, n, first, rows, joint_work, motion.mass, links, motion.move)


@kernel
def _copy_bodies(lo, hi, first, last, rows, joint_work, source, target):
    """Copy the rows of all bodies of a group."""
    for d in range(first, last):
        for side in range(2):
            b = joint_work.node_body[joint_work.node_list[d], side]
            for k in range(6):
                target[b, k] = source[b, k]
    for r in range(lo, hi):
        for side in range(2):
            b = rows.body[r, side]
            for k in range(6):
                target[b, k] = source[b, k]


@stage
def stabilize_joints(joint_work, joints, bodies, state, rows, groups, settings, work, motion):
    """Correct the displacements of all groups with joints."""
    if settings.drift == NO_DRIFT or settings.drift == BAUMGARTE:
        return
    for g in range(groups):
        first, last = np.int64(joint_work.group_node[g]), np.int64(joint_work.group_node[g + 1])
        if first == last:
            continue
        if joint_work.loose[g] == 0:
            continue
        lo = np.int64(rows.slab_first[rows.group_first[g]])
        hi = np.int64(rows.slab_first[rows.group_first[g + 1]])
        start = missed = _look(first, last, joints, bodies, state, joint_work, motion, settings.dt)
        if not start > CLOSED:
            continue
        _copy_bodies(lo, hi, first, last, rows, joint_work, motion.move, motion.before)
        for _ in range(ROUNDS):
            if not stabilize_tree_contacts(
                g,
                lo,
                hi - lo,
                first,
                last,
                joints,
                bodies,
                rows,
                joint_work,
                settings,
                work,
                motion,
            ):
                joint_work.trees.count[1] = 0
                _straighten_group(
                    lo, hi - lo, first, last - first, rows, joint_work, motion, settings, work
                )
            missed = _look(first, last, joints, bodies, state, joint_work, motion, settings.dt)
            if not missed > CLOSED:
                break
        if missed > max(OPEN, start):
            _copy_bodies(lo, hi, first, last, rows, joint_work, motion.before, motion.move)
