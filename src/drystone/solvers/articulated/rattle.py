"""Stage 5 for islands of joints that nothing touches: smooth motion, kept exactly.

The step is that of [Andersen1983] (RATTLE),

    q' = q + dt (v + u) / 2,   u = v + M⁻¹ (dt f + J(q)ᵀ p),   such that the joints fit at q',
    v' = u - M⁻¹ J(q)ᵀ p / 2 + M⁻¹ J(q')ᵀ r / 2,               such that J(q') v' = 0.

The first needs J u + bias = 0 with a bias that is found by looking at q' (two to three times, with
the same factors). That keeps the energy over long times, which no correction afterwards does.
"""

import numpy as np

from drystone.constraints.joint_rows import push_joint_row, row_velocity
from drystone.constraints.joints.fill_rows import fill_joint
from drystone.forces.free_velocity import turn_body
from drystone.jit import inner_kernel, kernel
from drystone.jit.stage import stage
from drystone.jit.vec import turn_quaternion
from drystone.model.arrays import LINKED
from drystone.model.joint_arrays import ROW_EQUALITY, ROW_LIMIT
from drystone.motion.stabilization import displace_body
from drystone.solvers.articulated.geometric_stiffness import TAUT, tautness
from drystone.solvers.articulated.rattle_tree import (
    ENOUGH,
    FITS,
    LOOKS,
    TORN,
    fit_tree,
    missed,
    tree_of,
)
from drystone.solvers.gauss_seidel.solve_islands import DEEPER
from drystone.solvers.newton.island_delassus import (
    MOST_OPERATIONS,
    fill_island,
    give_impulses,
    link_group,
    take_impulses,
)
from drystone.solvers.newton.ordering import band_numbers, order_island
from drystone.solvers.newton.semismooth import (
    LEAST_ALPHA,
    copy_impulses,
    natural_error,
    newton_step,
    prox_newton,
    refine,
    set_velocities,
)

NEWTON_STEPS = 100


@inner_kernel
def predict_poses(first, last, bodies, state, linkage, motion, again, impacts, dt):
    """Where the step leads the bodies of the blocks first .. last; if `again`, displace them.

    Returns by how much a body turns at most [rad].
    """
    stamp, mark, most = linkage.mark, linkage.mark.shape[0] - 1, 0.0
    stamp[mark] += 1
    for d in range(first, last):
        node = linkage.node_list[d]
        for side in range(2):
            b = linkage.node_body[node, side]
            if b == state.position.shape[0] or stamp[b] == stamp[mark]:
                continue
            stamp[b] = stamp[mark]
            if again:
                displace_body(b, bodies, state, motion, impacts, dt)
            move, q = motion.move, state.rotation
            for k in range(3):
                linkage.position[b, k] = state.position[b, k] + dt * move[b, k]
            turned = turn_quaternion(
                (q[b, 0], q[b, 1], q[b, 2], q[b, 3]),
                (dt * move[b, 3], dt * move[b, 4], dt * move[b, 5]),
            )
            for k in range(4):
                linkage.rotation[b, k] = turned[k]
            most = max(most, dt * (abs(move[b, 3]) + abs(move[b, 4]) + abs(move[b, 5])))
    return most


@inner_kernel
def look_ahead(first, last, joints, linkage, dt):
    """Rows of the joints of the blocks first .. last at the poses that predict_poses() found."""
    before = -1
    for d in range(first, last):
        j = linkage.node_joint[linkage.node_list[d]]
        if j != before:
            fill_joint(joints, j, linkage.position, linkage.rotation, dt, linkage.ahead)
        before = j


@kernel
def set_guess(first, last, linkage, curve, smooth, reset):
    """Biases by a parabola through the last three steps, for joints that move smoothly."""
    rows = linkage.rows
    for d in range(first, last):
        for k in range(3):
            r = linkage.node_row[linkage.node_list[d], k]
            if r >= 0 and rows.kind[r] == ROW_EQUALITY:
                guess = 3.0 * (curve[r, 0] - curve[r, 1]) + curve[r, 2] if smooth else 0.0
                curve[r, 2] = curve[r, 1] if smooth else 0.0
                curve[r, 1] = curve[r, 0] if smooth else 0.0
                curve[r, 0] = guess
                if smooth or reset:
                    rows.bias[r] = guess


@kernel
def _at_limit(first, last, linkage):
    for d in range(first, last):
        for k in range(3):
            r = linkage.node_row[linkage.node_list[d], k]
            if r >= 0 and linkage.rows.kind[r] == ROW_LIMIT and linkage.rows.impulse[r] != 0.0:
                return True
    return False


@kernel
def _is_taut(first, last, joints, linkage, inv_inertia, dt):
    """Whether joints pull so hard that the scheme for smooth motion would swing up."""
    before = -1
    for d in range(first, last):
        j = linkage.node_joint[linkage.node_list[d]]
        if j == before:
            continue
        before = j
        for side in range(2):
            if tautness(j, side, joints, linkage.rows, inv_inertia, dt) > TAUT:
                return True
    return False


@kernel
def _mark_bodies(first, last, linkage, rough, how):
    for d in range(first, last):
        for side in range(2):
            rough[linkage.node_body[linkage.node_list[d], side]] = how


@kernel(inline="always")
def _fit_old(n, first_node, linkage, mass, work, twist):
    """Make the velocities at the start fit the joints, if somebody has changed them."""
    room, links, worst = work.newton, work.links, 0.0
    for i in range(n):
        node, at = linkage.node_list[first_node + links.order[i]], room.row[i]
        for k in range(3):
            if room.free[i] & (1 << k):
                r = linkage.node_row[node, k]
                held = linkage.rows.kind[r] == ROW_EQUALITY
                room.y[at] = -row_velocity(r, linkage.rows, twist) if held else 0.0
                worst = max(worst, abs(room.y[at]))
                at += 1
    if worst < FITS:  # what is left after fit_velocities() is rounding
        return
    refine(n, work.newton)
    for i in range(n):
        node, at = linkage.node_list[first_node + links.order[i]], room.row[i]
        for k in range(3):
            if room.free[i] & (1 << k):
                r = linkage.node_row[node, k]
                push_joint_row(r, room.y[at], linkage.rows, mass, twist)
                at += 1


@kernel
def _most_missed(first, last, linkage):
    worst, rows = 0.0, linkage.rows
    for d in range(first, last):
        for k in range(3):
            r = linkage.node_row[linkage.node_list[d], k]
            if r >= 0 and rows.kind[r] == ROW_EQUALITY:
                worst = max(worst, abs(missed(rows.error[r], linkage.ahead.error[r])))
    return worst


@kernel(inline="always")
def _bend(n, first_node, linkage, curve, dt, links, island, room):
    """Add what the joints miss at the end of the step to their biases.

    What that changes in the equations goes to room.y.
    """
    rows, ahead = linkage.rows, linkage.ahead
    for i in range(n):
        node, at = linkage.node_list[first_node + links.order[i]], room.row[i]
        for k in range(3):
            if room.free[i] & (1 << k) == 0:
                continue
            r, change = linkage.node_row[node, k], 0.0
            if rows.kind[r] == ROW_EQUALITY:
                change = 2.0 * missed(rows.error[r], ahead.error[r]) / dt
                rows.bias[r] += change
                curve[r, 0] = rows.bias[r]
                island.q[i, k] += change
            room.y[at] = -change
            at += 1


@kernel(inline="always")
def _add_answer(n, room, own):
    """Solve for room.y with the factors of the last step, and add it to the impulses."""
    refine(n, room)
    for i in range(n):
        at = room.row[i]
        for k in range(3):
            if room.free[i] & (1 << k):
                own[i, k] += room.y[at]
                at += 1


@kernel
def _take_residual(n, room):
    """What the answer leaves in the equations, in room.velocity, becomes their right side."""
    for i in range(n):
        at = room.row[i]
        for k in range(3):
            if room.free[i] & (1 << k):
                room.y[at] = -room.velocity[i, k]
                at += 1


@kernel
def _move_on(n, first, linkage, mass, links, room, move):
    """Displacements after _add_answer(): half of what it has changed the velocities by."""
    for i in range(n):
        node, at = linkage.node_list[first + links.order[i]], room.row[i]
        for k in range(3):
            if room.free[i] & (1 << k):
                push_joint_row(
                    linkage.node_row[node, k], 0.5 * room.y[at], linkage.rows, mass, move
                )
                at += 1


@kernel(inline="always")
def _factor_smooth(first, last, state, rows, linkage, settings, work, motion):
    """Matrix, factors and first answer of an island of joints; its error and number of blocks."""
    links, island, room, own = work.links, work.island, work.newton, work.links.impulse
    mass, goal, nodes = motion.mass, DEEPER * settings.tolerance, last - first
    if not link_group(0, 0, first, nodes, rows, linkage, mass, links):
        return np.inf, 0
    n = order_island(0, links.first, links.column, links.place, links.order)
    if n < nodes:  # not one island after all: a body between them is kinematic
        return np.inf, 0
    fill_island(0, 0, n, first, rows, linkage, mass, motion.free, links, island)
    stored, operations = band_numbers(n, island, room.low, room.high)
    if stored > room.matrix.shape[0] or operations > MOST_OPERATIONS:
        return np.inf, 0
    take_impulses(0, 0, n, first, rows, linkage, links)
    set_velocities(n, island, 0.0, own, own, room.velocity)
    copy_impulses(n, own, room.centre)
    good = newton_step(n, island, LEAST_ALPHA, room, own)
    error = natural_error(n, island, False, room.velocity, own) if good else np.inf
    if goal < error < np.inf:  # joints that say the same thing twice cost digits
        _take_residual(n, room)
        _add_answer(n, room, own)
        error = natural_error(n, island, False, room.velocity, own)
    if not error <= goal:
        take_impulses(0, 0, n, first, rows, linkage, links)
        error, _ = prox_newton(n, island, False, goal, NEWTON_STEPS, room, own)
    return error, n


@kernel(inline="always")
def solve_smooth(g, first, last, joints, bodies, state, rows, linkage, settings, work, motion):
    """An island of joints alone; returns its error, infinite if it has to be swept."""
    links, island, room, own = work.links, work.island, work.newton, work.links.impulse
    mass, dt = motion.mass, settings.dt
    error, n = _factor_smooth(first, last, state, rows, linkage, settings, work, motion)
    if n == 0:
        return error
    give_impulses(0, 0, n, first, rows, linkage, mass, links, motion.twist)
    if not error <= settings.tolerance or _at_limit(first, last, linkage):
        return np.inf
    _mark_bodies(first, last, linkage, motion.rough, LINKED)
    _fit_old(n, first, linkage, mass, work, state.twist)
    linkage.loose[g] = 1
    for _ in range(LOOKS):
        turn = predict_poses(first, last, bodies, state, linkage, motion, True, 0, dt)
        look_ahead(first, last, joints, linkage, dt)
        worst = _most_missed(first, last, linkage)
        _bend(n, first, linkage, state.joint_curve, dt, links, island, room)
        _add_answer(n, room, own)
        give_impulses(0, 0, n, first, rows, linkage, mass, links, motion.twist)
        if worst * turn <= ENOUGH:
            _move_on(n, first, linkage, mass, links, room, motion.move)
            linkage.loose[g] = 0
            break
    if linkage.loose[g] == 1 and not _most_missed(first, last, linkage) < TORN:
        return np.inf
    if _is_taut(first, last, joints, linkage, bodies.inv_inertia, dt):
        return np.inf
    error = natural_error(n, island, False, room.velocity, own)
    _keep_curve(first, last, linkage, motion.twist, state.joint_curve)
    _take_half(first, last, linkage, mass, motion.twist)
    return error


@kernel
def _keep_curve(first, last, linkage, twist, curve):
    """Biases of this step as the velocities have them.

    Where joints say the same thing twice, biases may contradict each other by rounding. No look
    sees that, and a parabola through the last steps would let it grow.
    """
    rows = linkage.rows
    for d in range(first, last):
        for k in range(3):
            r = linkage.node_row[linkage.node_list[d], k]
            if r >= 0 and rows.kind[r] == ROW_EQUALITY:
                curve[r, 0] = -row_velocity(r, rows, twist)


@kernel
def _take_half(first, last, linkage, mass, twist):
    """Half of the impulses of joints belongs to the end of the step: fit_velocities() gives it."""
    rows = linkage.rows
    for d in range(first, last):
        for k in range(3):
            r = linkage.node_row[linkage.node_list[d], k]
            if r >= 0 and rows.kind[r] == ROW_EQUALITY:
                push_joint_row(r, -0.5 * rows.impulse[r], rows, mass, twist)


@kernel(inline="always")
def _stand_anew(first, last, joints, bodies, state, linkage, motion, dt):
    """Inertia of the bodies and rows of the joints at the poses after the step."""
    stamp, mark, before = linkage.mark, linkage.mark.shape[0] - 1, -1
    stamp[mark] += 1
    for d in range(first, last):
        node = linkage.node_list[d]
        for side in range(2):
            b = linkage.node_body[node, side]
            if b == state.position.shape[0] or stamp[b] == stamp[mark]:
                continue
            stamp[b] = stamp[mark]
            q = state.rotation
            turn_body(b, (q[b, 0], q[b, 1], q[b, 2], q[b, 3]), bodies, motion.turn, motion.mass)
    for d in range(first, last):
        j = linkage.node_joint[linkage.node_list[d]]
        if j != before:
            fill_joint(joints, j, state.position, state.rotation, dt, linkage.rows)
        before = j


@kernel(inline="always")
def _hold_only(n, first, linkage, links, island, velocity, twist):
    """Turn the problem into: fit the velocities `twist` to the joints; no limits, no drives."""
    rows = linkage.rows
    island.bounded[0] = False
    for i in range(n):
        node = linkage.node_list[first + links.order[i]]
        for k in range(3):
            r = linkage.node_row[node, k]
            links.impulse[i, k], velocity[i, k] = 0.0, 0.0
            if r >= 0 and rows.kind[r] == ROW_EQUALITY:
                velocity[i, k] = island.q[i, k] = row_velocity(r, rows, twist)
            else:
                island.lower[i, k], island.upper[i, k] = 0.0, 0.0


@kernel(inline="always")
def _fit_group(first, last, joints, bodies, state, rows, linkage, settings, work, motion):
    links, island, room, own = work.links, work.island, work.newton, work.links.impulse
    _stand_anew(first, last, joints, bodies, state, linkage, motion, settings.dt)
    if not link_group(0, 0, first, last - first, rows, linkage, motion.mass, links):
        return
    n = order_island(0, links.first, links.column, links.place, links.order)
    fill_island(0, 0, n, first, rows, linkage, motion.mass, motion.free, links, island)
    _hold_only(n, first, linkage, links, island, room.velocity, state.twist)
    copy_impulses(n, own, room.centre)
    if newton_step(n, island, LEAST_ALPHA, room, own):
        for i in range(n):
            node = linkage.node_list[first + links.order[i]]
            for k in range(3):
                r = linkage.node_row[node, k]
                if r >= 0:
                    push_joint_row(r, own[i, k], linkage.rows, motion.mass, state.twist)


@stage
def fit_velocities(linkage, joints, bodies, state, rows, groups, settings, work, motion):
    """The second half of a smooth step: velocities that fit the joints where they are now."""
    for g in range(groups):
        first, last = np.int64(linkage.group_node[g]), np.int64(linkage.group_node[g + 1])
        if first == last:
            continue
        a = linkage.node_body[linkage.node_list[first], 0]
        b = linkage.node_body[linkage.node_list[first], 1]
        if motion.rough[a] != LINKED and motion.rough[b] != LINKED:
            continue
        t = tree_of(first, linkage)
        if t >= 0:
            fit_tree(t, joints, bodies, state, linkage, motion, settings.dt)
        else:
            _fit_group(first, last, joints, bodies, state, rows, linkage, settings, work, motion)
