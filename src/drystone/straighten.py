"""Stage 7 for islands with joints: what joints and contacts miss is corrected by displacements.

Post-stabilization of CLINE 3.3, as a problem of the same kind as that of the velocities: contacts
without friction, limits one-sided, joints both ways, drives and friction of joints absent. The
answer moves bodies and gives them no velocity. It is done before the move, on what the joints will
miss after it, so that the pose at the end of a step is a good one. Where bodies turn by a radian or
more no straight line leads there: a round that makes it worse is undone, and the joints are
closed row by row.
"""

import numpy as np

from drystone.apart import stage
from drystone.articulate import BAUMGARTE, NO_DRIFT
from drystone.coulomb import normal_velocity_at, push
from drystone.drift import room_wanted
from drystone.gather import band_numbers, order_island
from drystone.grasp import straighten_grasped
from drystone.island_matrix import MOST_OPERATIONS, fill_island, link_group
from drystone.jit import kernel
from drystone.joint_sweeps import own_block
from drystone.joints.layout import ROW_EQUALITY, ROW_LIMIT
from drystone.joints.rows import fill_joint
from drystone.linkage import SOFTNESS, push_joint_row
from drystone.newton import prox_newton
from drystone.rattle import NEWTON_STEPS, look_ahead, predict_pose, predict_poses
from drystone.swing import TORN

STRAIGHT = 1e-8  # [m], [rad]: what joints may miss
ROUNDS = 3  # at most; each gains a factor of about spin * dt
SWEEPS = 50  # where that is no gain


@kernel(inline="always")
def _missed(first, last, linkage):
    """The most that the joints of these blocks miss after the step [m], [rad]."""
    worst, ahead = 0.0, linkage.ahead
    for d in range(first, last):
        for k in range(3):
            r = linkage.node_row[linkage.node_list[d], k]
            if r >= 0 and (ahead.kind[r] == ROW_EQUALITY or ahead.kind[r] == ROW_LIMIT):
                worst = max(worst, abs(ahead.error[r]))
    return worst


@kernel(inline="always")
def _place_law(lo, contacts, n, first, rows, linkage, move, share, dt, links, island):
    """Turn the problem of the velocities into that of the displacements."""
    ahead = linkage.ahead
    island.bounded[0] = False
    for i in range(n):
        c = links.order[i]
        for k in range(3):
            links.impulse[i, k] = 0.0
        if c < contacts:
            r = lo + c
            wanted = room_wanted(rows.gap[r], rows.skin[r], share)
            room = rows.gap[r] - wanted
            island.friction[i] = 0.0
            island.q[i, 0] = room / dt + normal_velocity_at(
                r, rows.body, rows.frame, rows.arm, move
            )
            island.q[i, 1], island.q[i, 2] = 0.0, 0.0
            continue
        node = linkage.node_list[first + c - contacts]
        for k in range(3):
            r = linkage.node_row[node, k]
            if r < 0:
                continue
            own = island.own[i, k] - linkage.rows.softness[r]
            island.soft[i, k], island.own[i, k] = SOFTNESS * own, own
            island.q[i, k] = ahead.error[r] / dt
            if ahead.kind[r] == ROW_LIMIT:
                island.q[i, k] += ahead.bias[r]
            elif ahead.kind[r] != ROW_EQUALITY:
                island.lower[i, k], island.upper[i, k] = 0.0, 0.0


@kernel(inline="always")
def _displace(lo, contacts, n, first, rows, linkage, mass, links, move):
    own = links.impulse
    for i in range(n):
        c = links.order[i]
        if c < contacts:
            push(lo + c, own[i, 0], 0.0, 0.0, rows.body, rows.frame, rows.arm, mass, move)
            continue
        node = linkage.node_list[first + c - contacts]
        for k in range(3):
            r = linkage.node_row[node, k]
            if r >= 0:
                push_joint_row(r, own[i, k], linkage.rows, mass, move)


@kernel(inline="always")
def _straighten_group(lo, contacts, first, nodes, rows, linkage, motion, settings, work):
    links, island, room = work.links, work.island, work.newton
    if not link_group(lo, contacts, first, nodes, rows, linkage, motion.mass, links):
        return
    for c in range(contacts + nodes):
        if links.place[c] >= 0:
            continue
        n = order_island(c, links.first, links.column, links.place, links.order)
        fill_island(
            lo, contacts, n, first, rows, linkage, motion.mass, motion.free, links, island
        )
        stored, operations = band_numbers(n, island, room.low, room.high)
        if stored > room.matrix.shape[0] or operations > MOST_OPERATIONS:
            continue
        _place_law(
            lo, contacts, n, first, rows, linkage, motion.move, settings.push_out, settings.dt,
            links, island,
        )  # fmt: skip
        goal = 0.1 * STRAIGHT / settings.dt
        prox_newton(n, island, False, goal, NEWTON_STEPS, room, links.impulse)
        _displace(lo, contacts, n, first, rows, linkage, motion.mass, links, motion.move)


@kernel
def _copy_bodies(lo, hi, first, last, rows, linkage, source, target):
    """Copy the rows of all bodies of a group, which a round may displace."""
    for d in range(first, last):
        for side in range(2):
            b = linkage.node_body[linkage.node_list[d], side]
            for k in range(6):
                target[b, k] = source[b, k]
    for r in range(lo, hi):
        for side in range(2):
            b = rows.body[r, side]
            for k in range(6):
                target[b, k] = source[b, k]


@kernel
def _close(r, joints, j, state, linkage, motion, dt):
    """Displace the two bodies of row `r` until it fits; what it missed [m], [rad]."""
    ahead = linkage.ahead
    for side in range(2):
        b = joints.body[j, side]
        if b < state.position.shape[0]:
            predict_pose(b, state, linkage, motion.move, dt)
    fill_joint(joints, j, linkage.position, linkage.rotation, dt, ahead)
    missed = ahead.error[r] / dt
    if ahead.kind[r] == ROW_LIMIT:
        missed = min(missed + ahead.bias[r], 0.0)
    own = own_block(r, ahead, motion.mass)
    if ahead.kind[r] != ROW_EQUALITY and ahead.kind[r] != ROW_LIMIT or own == 0.0:
        return 0.0
    push_joint_row(r, -missed / own, ahead, motion.mass, motion.move)
    return abs(missed) * dt


@kernel
def _close_one_by_one(first, last, joints, state, linkage, motion, dt):
    """Joints that are torn far apart, where no straight line leads back: row by row."""
    for _ in range(SWEEPS):
        worst = 0.0
        for d in range(first, last):
            node = linkage.node_list[d]
            for k in range(3):
                r = linkage.node_row[node, k]
                if r >= 0:
                    j = np.int64(linkage.node_joint[node])
                    worst = max(worst, _close(r, joints, j, state, linkage, motion, dt))
        if worst <= TORN:
            break


@stage
def straighten(linkage, joints, bodies, state, rows, groups, settings, work, motion):
    """Correct the displacements of all groups with joints."""
    if settings.drift == NO_DRIFT or settings.drift == BAUMGARTE:
        return
    for g in range(groups):
        first, last = np.int64(linkage.group_node[g]), np.int64(linkage.group_node[g + 1])
        if first == last:
            continue
        if linkage.loose[g] == 0:
            continue
        lo = np.int64(rows.slab_first[rows.group_first[g]])
        hi = np.int64(rows.slab_first[rows.group_first[g + 1]])
        before = np.inf
        for k in range(ROUNDS + 1):
            predict_poses(first, last, bodies, state, linkage, motion, False, 0, settings.dt)
            look_ahead(first, last, joints, linkage, settings.dt)
            missed = _missed(first, last, linkage)
            if not missed <= before:
                _copy_bodies(lo, hi, first, last, rows, linkage, motion.before, motion.move)
            if not missed <= before or not missed > STRAIGHT or k == ROUNDS:
                break
            before = missed
            _copy_bodies(lo, hi, first, last, rows, linkage, motion.move, motion.before)
            if not straighten_grasped(
                g, lo, hi - lo, first, last, joints, bodies, rows, linkage, settings, work, motion
            ):
                linkage.forest.count[1] = 0
                _straighten_group(
                    lo, hi - lo, first, last - first, rows, linkage, motion, settings, work
                )
        if min(missed, before) > TORN:
            _close_one_by_one(first, last, joints, state, linkage, motion, settings.dt)
