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
from drystone.model.arrays import RATTLED
from drystone.model.joint_arrays import ROW_EQUALITY, ROW_LIMIT
from drystone.motion.displacement import displace_body
from drystone.solvers.articulated.geometric_stiffness import TAUT, tautness
from drystone.solvers.articulated.rattle_tree import (
    ENOUGH,
    FITS,
    LOOKS,
    TORN,
    missed,
    project_tree,
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
def predict_poses(first, last, bodies, state, joint_work, motion, again, impacts, dt):
    """Where the step leads the bodies of the blocks first .. last; if `again`, displace them.

    Returns by how much a body turns at most [rad].
    """
    stamp, mark, most = joint_work.mark, joint_work.mark.shape[0] - 1, 0.0
    stamp[mark] += 1
    for d in range(first, last):
        node = joint_work.node_list[d]
        for side in range(2):
            b = joint_work.node_body[node, side]
            if b == state.position.shape[0] or stamp[b] == stamp[mark]:
                continue
            stamp[b] = stamp[mark]
            if again:
                displace_body(b, bodies, state, motion, impacts, dt)
            move, q = motion.move, state.rotation
            for k in range(3):
                joint_work.position[b, k] = state.position[b, k] + dt * move[b, k]
            turned = turn_quaternion(
                (q[b, 0], q[b, 1], q[b, 2], q[b, 3]),
                (dt * move[b, 3], dt * move[b, 4], dt * move[b, 5]),
            )
            for k in range(4):
                joint_work.rotation[b, k] = turned[k]
            most = max(most, dt * (abs(move[b, 3]) + abs(move[b, 4]) + abs(move[b, 5])))
    return most


@inner_kernel
def look_ahead(first, last, joints, joint_work, dt):
    """Rows of the joints of the blocks first .. last at the poses that predict_poses() found."""
    before = -1
    for d in range(first, last):
        j = joint_work.node_joint[joint_work.node_list[d]]
        if j != before:
            fill_joint(joints, j, joint_work.position, joint_work.rotation, dt, joint_work.ahead)
        before = j


@kernel
def set_guess(first, last, joint_work, curve, smooth, reset):
    """Biases by a parabola through the last three steps, for joints that move smoothly."""
    rows = joint_work.rows
    for d in range(first, last):
        for k in range(3):
            r = joint_work.node_row[joint_work.node_list[d], k]
            if r >= 0 and rows.kind[r] == ROW_EQUALITY:
                guess = 3.0 * (curve[r, 0] - curve[r, 1]) + curve[r, 2] if smooth else 0.0
                curve[r, 2] = curve[r, 1] if smooth else 0.0
                curve[r, 1] = curve[r, 0] if smooth else 0.0
                curve[r, 0] = guess
                if smooth or reset:
                    rows.bias[r] = guess


@kernel
def _at_limit(first, last, joint_work):
    for d in range(first, last):
        for k in range(3):
            r = joint_work.node_row[joint_work.node_list[d], k]
            if (
                r >= 0
                and joint_work.rows.kind[r] == ROW_LIMIT
                and joint_work.rows.impulse[r] != 0.0
            ):
                return True
    return False


@kernel
def _is_taut(first, last, joints, joint_work, inv_inertia, dt):
    """Whether joints pull so hard that the scheme for smooth motion would swing up."""
    before = -1
    for d in range(first, last):
        j = joint_work.node_joint[joint_work.node_list[d]]
        if j == before:
            continue
        before = j
        for side in range(2):
            if tautness(j, side, joints, joint_work.rows, inv_inertia, dt) > TAUT:
                return True
    return False


@kernel
def _mark_bodies(first, last, joint_work, scheme, how):
    for d in range(first, last):
        for side in range(2):
            scheme[joint_work.node_body[joint_work.node_list[d], side]] = how


@kernel(inline="always")
def _fit_old(n, first_node, joint_work, mass, work, twist):
    """Make the velocities at the start fit the joints, if somebody has changed them."""
    room, links, worst = work.newton, work.links, 0.0
    for i in range(n):
        node, at = joint_work.node_list[first_node + links.order[i]], room.row[i]
        for k in range(3):
            if room.free[i] & (1 << k):
                r = joint_work.node_row[node, k]
                held = joint_work.rows.kind[r] == ROW_EQUALITY
                room.y[at] = -row_velocity(r, joint_work.rows, twist) if held else 0.0
                worst = max(worst, abs(room.y[at]))
                at += 1
    if worst < FITS:  # what is left after fit_velocities() is rounding
        return
    refine(n, work.newton)
    for i in range(n):
        node, at = joint_work.node_list[first_node + links.order[i]], room.row[i]
        for k in range(3):
            if room.free[i] & (1 << k):
                r = joint_work.node_row[node, k]
                push_joint_row(r, room.y[at], joint_work.rows, mass, twist)
                at += 1


@kernel
def _most_missed(first, last, joint_work):
    worst, rows = 0.0, joint_work.rows
    for d in range(first, last):
        for k in range(3):
            r = joint_work.node_row[joint_work.node_list[d], k]
            if r >= 0 and rows.kind[r] == ROW_EQUALITY:
                worst = max(worst, abs(missed(rows.error[r], joint_work.ahead.error[r])))
    return worst


@kernel(inline="always")
def _bend(n, first_node, joint_work, curve, dt, links, island, room):
    """Add what the joints miss at the end of the step to their biases.

    What that changes in the equations goes to room.y.
    """
    rows, ahead = joint_work.rows, joint_work.ahead
    for i in range(n):
        node, at = joint_work.node_list[first_node + links.order[i]], room.row[i]
        for k in range(3):
            if room.free[i] & (1 << k) == 0:
                continue
            r, change = joint_work.node_row[node, k], 0.0
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
def _move_on(n, first, joint_work, mass, links, room, move):
    """Displacements after _add_answer(): half of what it has changed the velocities by."""
    for i in range(n):
        node, at = joint_work.node_list[first + links.order[i]], room.row[i]
        for k in range(3):
            if room.free[i] & (1 << k):
                push_joint_row(
                    joint_work.node_row[node, k], 0.5 * room.y[at], joint_work.rows, mass, move
                )
                at += 1


@kernel(inline="always")
def _factor_smooth(first, last, state, rows, joint_work, settings, work, motion):
    """Matrix, factors and first answer of an island of joints; its error and number of blocks."""
    links, island, room, own = work.links, work.island, work.newton, work.links.impulse
    mass, goal, nodes = motion.mass, DEEPER * settings.tolerance, last - first
    if not link_group(0, 0, first, nodes, rows, joint_work, mass, links):
        return np.inf, 0
    n = order_island(0, links.first, links.column, links.place, links.order)
    if n < nodes:  # not one island after all: a body between them is kinematic
        return np.inf, 0
    fill_island(0, 0, n, first, rows, joint_work, mass, motion.free, links, island)
    stored, operations = band_numbers(n, island, room.low, room.high)
    if stored > room.matrix.shape[0] or operations > MOST_OPERATIONS:
        return np.inf, 0
    take_impulses(0, 0, n, first, rows, joint_work, links)
    set_velocities(n, island, 0.0, own, own, room.velocity)
    copy_impulses(n, own, room.centre)
    good = newton_step(n, island, LEAST_ALPHA, room, own)
    error = natural_error(n, island, False, room.velocity, own) if good else np.inf
    if goal < error < np.inf:  # joints that say the same thing twice cost digits
        _take_residual(n, room)
        _add_answer(n, room, own)
        error = natural_error(n, island, False, room.velocity, own)
    if not error <= goal:
        take_impulses(0, 0, n, first, rows, joint_work, links)
        error, _ = prox_newton(n, island, False, goal, NEWTON_STEPS, room, own)
    return error, n


@kernel(inline="always")
def rattle_island(g, first, last, joints, bodies, state, rows, joint_work, settings, work, motion):
    """An island of joints alone; returns its error, infinite if it has to be swept."""
    links, island, room, own = work.links, work.island, work.newton, work.links.impulse
    mass, dt = motion.mass, settings.dt
    error, n = _factor_smooth(first, last, state, rows, joint_work, settings, work, motion)
    if n == 0:
        return error
    give_impulses(0, 0, n, first, rows, joint_work, mass, links, motion.twist)
    if not error <= settings.tolerance or _at_limit(first, last, joint_work):
        return np.inf
    _mark_bodies(first, last, joint_work, motion.scheme, RATTLED)
    _fit_old(n, first, joint_work, mass, work, state.twist)
    joint_work.loose[g] = 1
    for _ in range(LOOKS):
        turn = predict_poses(first, last, bodies, state, joint_work, motion, True, 0, dt)
        look_ahead(first, last, joints, joint_work, dt)
        worst = _most_missed(first, last, joint_work)
        _bend(n, first, joint_work, state.joint_curve, dt, links, island, room)
        _add_answer(n, room, own)
        give_impulses(0, 0, n, first, rows, joint_work, mass, links, motion.twist)
        if worst * turn <= ENOUGH:
            _move_on(n, first, joint_work, mass, links, room, motion.move)
            joint_work.loose[g] = 0
            break
    if joint_work.loose[g] == 1 and not _most_missed(first, last, joint_work) < TORN:
        return np.inf
    if _is_taut(first, last, joints, joint_work, bodies.inv_inertia, dt):
        return np.inf
    error = natural_error(n, island, False, room.velocity, own)
    _keep_curve(first, last, joint_work, motion.twist, state.joint_curve)
    _take_half(first, last, joint_work, mass, motion.twist)
    return error


@kernel
def _keep_curve(first, last, joint_work, twist, curve):
    """Biases of this step as the velocities have them.

    Where joints say the same thing twice, biases may contradict each other by rounding. No look
    sees that, and a parabola through the last steps would let it grow.
    """
    rows = joint_work.rows
    for d in range(first, last):
        for k in range(3):
            r = joint_work.node_row[joint_work.node_list[d], k]
            if r >= 0 and rows.kind[r] == ROW_EQUALITY:
                curve[r, 0] = -row_velocity(r, rows, twist)


@kernel
def _take_half(first, last, joint_work, mass, twist):
    """Half of the impulses of joints belongs to the end of the step: fit_velocities() gives it."""
    rows = joint_work.rows
    for d in range(first, last):
        for k in range(3):
            r = joint_work.node_row[joint_work.node_list[d], k]
            if r >= 0 and rows.kind[r] == ROW_EQUALITY:
                push_joint_row(r, -0.5 * rows.impulse[r], rows, mass, twist)


@kernel(inline="always")
def _stand_anew(first, last, joints, bodies, state, joint_work, motion, dt):
    """Inertia of the bodies and rows of the joints at the poses after the step."""
    stamp, mark, before = joint_work.mark, joint_work.mark.shape[0] - 1, -1
    stamp[mark] += 1
    for d in range(first, last):
        node = joint_work.node_list[d]
        for side in range(2):
            b = joint_work.node_body[node, side]
            if b == state.position.shape[0] or stamp[b] == stamp[mark]:
                continue
            stamp[b] = stamp[mark]
            q = state.rotation
            turn_body(
                b, (q[b, 0], q[b, 1], q[b, 2], q[b, 3]), bodies, motion.rotation_matrix, motion.mass
            )
    for d in range(first, last):
        j = joint_work.node_joint[joint_work.node_list[d]]
        if j != before:
            fill_joint(joints, j, state.position, state.rotation, dt, joint_work.rows)
        before = j


@kernel(inline="always")
def _hold_only(n, first, joint_work, links, island, velocity, twist):
    """Turn the problem into: fit the velocities `twist` to the joints; no limits, no drives."""
    rows = joint_work.rows
    island.bounded[0] = False
    for i in range(n):
        node = joint_work.node_list[first + links.order[i]]
        for k in range(3):
            r = joint_work.node_row[node, k]
            links.impulse[i, k], velocity[i, k] = 0.0, 0.0
            if r >= 0 and rows.kind[r] == ROW_EQUALITY:
                velocity[i, k] = island.q[i, k] = row_velocity(r, rows, twist)
            else:
                island.lower[i, k], island.upper[i, k] = 0.0, 0.0


@kernel(inline="always")
def _fit_group(first, last, joints, bodies, state, rows, joint_work, settings, work, motion):
    links, island, room, own = work.links, work.island, work.newton, work.links.impulse
    _stand_anew(first, last, joints, bodies, state, joint_work, motion, settings.dt)
    if not link_group(0, 0, first, last - first, rows, joint_work, motion.mass, links):
        return
    n = order_island(0, links.first, links.column, links.place, links.order)
    fill_island(0, 0, n, first, rows, joint_work, motion.mass, motion.free, links, island)
    _hold_only(n, first, joint_work, links, island, room.velocity, state.twist)
    copy_impulses(n, own, room.centre)
    if newton_step(n, island, LEAST_ALPHA, room, own):
        for i in range(n):
            node = joint_work.node_list[first + links.order[i]]
            for k in range(3):
                r = joint_work.node_row[node, k]
                if r >= 0:
                    push_joint_row(r, own[i, k], joint_work.rows, motion.mass, state.twist)


@stage
def project_velocities(joint_work, joints, bodies, state, rows, groups, settings, work, motion):
    """The second half of a smooth step: velocities that fit the joints where they are now."""
    for g in range(groups):
        first, last = np.int64(joint_work.group_node[g]), np.int64(joint_work.group_node[g + 1])
        if first == last:
            continue
        a = joint_work.node_body[joint_work.node_list[first], 0]
        b = joint_work.node_body[joint_work.node_list[first], 1]
        if motion.scheme[a] != RATTLED and motion.scheme[b] != RATTLED:
            continue
        t = tree_of(first, joint_work)
        if t >= 0:
            project_tree(t, joints, bodies, state, joint_work, motion, settings.dt)
        else:
            _fit_group(first, last, joints, bodies, state, rows, joint_work, settings, work, motion)
