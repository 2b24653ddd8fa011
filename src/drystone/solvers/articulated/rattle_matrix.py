"""RATTLE's linear systems by the Delassus matrix of the island: banded factors of all its rows.

For articulated islands of any shape: loops, sliders, motors with bounds. The scheme is in
rattle.py, the factors are those of the Newton step (solvers/newton/semismooth.py).
"""

from math import isfinite

import numpy as np

from drystone.constraints.joint_rows import push_joint_row, row_velocity
from drystone.constraints.joints.fill_rows import fill_joint
from drystone.forces.free_velocity import set_rotation
from drystone.jit import inner_kernel, kernel
from drystone.model.joint_arrays import ROW_EQUALITY, ROW_LIMIT
from drystone.solvers.articulated.end_poses import fill_end_rows, note_error
from drystone.solvers.articulated.rattle_tree import FITS
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


@kernel
def _at_limit(first, last, joint_work):
    rows = joint_work.rows
    for i in range(joint_work.row_first[first], joint_work.row_first[last]):
        r = joint_work.row_list[i]
        if rows.kind[r] == ROW_LIMIT and rows.impulse[r] != 0.0:
            return True
    return False


@kernel(inline="always")
def _add_answer(n, newton, own):
    """Solve for newton.y with the factors of the last step, and add it to the impulses."""
    refine(n, newton)
    for i in range(n):
        at = newton.row[i]
        for k in range(3):
            if newton.free[i] & (1 << k):
                own[i, k] += newton.y[at]
                at += 1


@kernel
def _take_residual(n, newton):
    """What the answer leaves in the equations, in newton.velocity, becomes their right side."""
    for i in range(n):
        at = newton.row[i]
        for k in range(3):
            if newton.free[i] & (1 << k):
                newton.y[at] = -newton.velocity[i, k]
                at += 1


@kernel(inline="always")
def _push_free(n, first, joint_work, mass, share, work, twist):
    """Give the bodies this share of the impulses that stand in newton.y."""
    newton, links = work.newton, work.links
    for i in range(n):
        node, at = joint_work.node_list[first + links.order[i]], newton.row[i]
        for k in range(3):
            if newton.free[i] & (1 << k):
                r = joint_work.node_row[node, k]
                push_joint_row(r, share * newton.y[at], joint_work.rows, mass, twist)
                at += 1


@kernel(inline="always")
def _fit_start(n, first, joint_work, mass, work):
    """Make the velocities at the start of the step fit the joints, if the user changed them."""
    newton, links, worst, twist = work.newton, work.links, 0.0, joint_work.start_twist
    for i in range(n):
        node, at = joint_work.node_list[first + links.order[i]], newton.row[i]
        for k in range(3):
            if newton.free[i] & (1 << k):
                r = joint_work.node_row[node, k]
                held = joint_work.rows.kind[r] == ROW_EQUALITY
                newton.y[at] = -row_velocity(r, joint_work.rows, twist) if held else 0.0
                worst = max(worst, abs(newton.y[at]))
                at += 1
    if worst < FITS:  # what is left after project_island() is rounding
        return
    refine(n, newton)
    _push_free(n, first, joint_work, mass, 1.0, work, twist)


@kernel(inline="always")
def _factor(first, last, rows, joint_work, goal, work, motion):
    """Matrix, factors and first answer of an island; its error and number of blocks, 0: none."""
    links, island, newton, own = work.links, work.island, work.newton, work.links.impulse
    mass, nodes = motion.mass, last - first
    if not link_group(0, 0, first, nodes, rows, joint_work, mass, links):
        return np.inf, 0
    n = order_island(0, links.first, links.column, links.place, links.order)
    if n < nodes:  # not one island after all: a body between them is kinematic
        return np.inf, 0
    fill_island(0, 0, n, first, rows, joint_work, mass, motion.free, links, island)
    stored, operations = band_numbers(n, island, newton.low, newton.high)
    if stored > newton.matrix.shape[0] or operations > MOST_OPERATIONS:
        return np.inf, 0
    take_impulses(0, 0, n, first, rows, joint_work, links)
    set_velocities(n, island, 0.0, own, own, newton.velocity)
    copy_impulses(n, own, newton.centre)
    good = newton_step(n, island, LEAST_ALPHA, newton, own)
    error = natural_error(n, island, False, newton.velocity, own) if good else np.inf
    if goal < error < np.inf:  # redundant constraints cost digits
        _take_residual(n, newton)
        _add_answer(n, newton, own)
        error = natural_error(n, island, False, newton.velocity, own)
    if not error <= goal:
        take_impulses(0, 0, n, first, rows, joint_work, links)
        error, _ = prox_newton(n, island, False, goal, NEWTON_STEPS, newton, own)
    return error, n


@inner_kernel
def start_island(first, last, rows, joint_work, tolerance, work, motion):
    """Factors, start velocities that fit, velocities with the biases guessed.

    Returns the number of blocks; 0: it cannot be done so, or a limit is reached.
    """
    error, n = _factor(first, last, rows, joint_work, DEEPER * tolerance, work, motion)
    if n == 0:
        return 0
    give_impulses(0, 0, n, first, rows, joint_work, motion.mass, work.links, motion.twist)
    if not error <= tolerance or _at_limit(first, last, joint_work):
        return 0
    _fit_start(n, first, joint_work, motion.mass, work)
    return n


@inner_kernel
def island_errors(first, last, joints, joint_work, dt):
    """Position errors at the end of the step, as changes of the biases; the worst [m], [rad]."""
    fill_end_rows(first, last, joints, joint_work, dt)
    worst, rows = 0.0, joint_work.rows
    for i in range(joint_work.row_first[first], joint_work.row_first[last]):
        r = joint_work.row_list[i]
        if rows.kind[r] == ROW_EQUALITY:
            off = note_error(r, joint_work.end_rows.error[r], joint_work, dt)
            if not off <= worst:
                worst = off
    return worst


@inner_kernel
def correct_island(n, first, rows, joint_work, work, motion):
    """Velocities and impulses that obey the biases, which have changed."""
    links, island, newton = work.links, work.island, work.newton
    for i in range(n):
        node, at = joint_work.node_list[first + links.order[i]], newton.row[i]
        for k in range(3):
            if newton.free[i] & (1 << k) == 0:
                continue
            r, change = joint_work.node_row[node, k], 0.0
            if joint_work.rows.kind[r] == ROW_EQUALITY:
                change = joint_work.bias_change[r]
                island.q[i, k] += change
            newton.y[at] = -change
            at += 1
    _add_answer(n, newton, links.impulse)
    give_impulses(0, 0, n, first, rows, joint_work, motion.mass, links, motion.twist)


@inner_kernel
def displace_island(n, first, joint_work, work, motion):
    """Displacements after correct_island(): half of what it has changed the velocities by."""
    _push_free(n, first, joint_work, motion.mass, 0.5, work, motion.move)


@inner_kernel
def island_residual(n, first, last, joint_work, work, twist):
    """Residual of the velocities [m/s], [rad/s]; biases of this step as the velocities have them.

    With redundant constraints biases may contradict each other by rounding. No iteration sees
    that, and a parabola through the last steps would let it grow.
    """
    rows = joint_work.rows
    error = natural_error(n, work.island, False, work.newton.velocity, work.links.impulse)
    for i in range(joint_work.row_first[first], joint_work.row_first[last]):
        r = joint_work.row_list[i]
        if rows.kind[r] == ROW_EQUALITY:
            joint_work.curve[r, 0] = -row_velocity(r, rows, twist)
    return error


@inner_kernel
def halve_island(first, last, joint_work, motion):
    """Half of the impulses belongs to the end of the step: project_island() gives it."""
    rows = joint_work.rows
    for i in range(joint_work.row_first[first], joint_work.row_first[last]):
        r = joint_work.row_list[i]
        if rows.kind[r] == ROW_EQUALITY:
            push_joint_row(r, -0.5 * rows.impulse[r], rows, motion.mass, motion.twist)


@kernel(inline="always")
def _fill_anew(first, last, joints, bodies, state, joint_work, motion, dt):
    """Inertia of the bodies and rows of the joints at the poses after the step."""
    stamp, mark, before = joint_work.stamp, joint_work.stamp.shape[0] - 1, -1
    stamp[mark] += 1
    for d in range(first, last):
        node = joint_work.node_list[d]
        for side in range(2):
            b = joint_work.node_body[node, side]
            if b == state.position.shape[0] or stamp[b] == stamp[mark]:
                continue
            stamp[b] = stamp[mark]
            q = state.rotation
            set_rotation(
                b, (q[b, 0], q[b, 1], q[b, 2], q[b, 3]), bodies, motion.rotation_matrix, motion.mass
            )
    for d in range(first, last):
        j = joint_work.node_joint[joint_work.node_list[d]]
        if j != before:
            fill_joint(joints, j, state.position, state.rotation, dt, joint_work.rows)
        before = j


@kernel(inline="always")
def _hold_only(n, first, joint_work, links, island, velocity, twist):
    """The problem of fitting the velocities `twist` to the joints alone: no limits, no drives."""
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


@kernel
def _keep_finite(first, last, joint_work, twist):
    """Take over the projected velocities if all are finite."""
    total, start = 0.0, joint_work.start_twist
    for d in range(first, last):
        for side in range(2):
            b = joint_work.node_body[joint_work.node_list[d], side]
            if b < twist.shape[0]:
                for k in range(6):
                    total += start[b, k]
    if not isfinite(total):
        return
    for d in range(first, last):
        for side in range(2):
            b = joint_work.node_body[joint_work.node_list[d], side]
            if b < twist.shape[0]:
                for k in range(6):
                    twist[b, k] = start[b, k]


@inner_kernel
def project_island(
    first, last, joints, bodies, state, rows, joint_work, dt, work, motion
):  # fmt: skip
    """Velocities that fit the joints after the step, from those in joint_work.start_twist."""
    links, island, newton, own = work.links, work.island, work.newton, work.links.impulse
    twist = joint_work.start_twist
    _fill_anew(first, last, joints, bodies, state, joint_work, motion, dt)
    if not link_group(0, 0, first, last - first, rows, joint_work, motion.mass, links):
        return
    n = order_island(0, links.first, links.column, links.place, links.order)
    fill_island(0, 0, n, first, rows, joint_work, motion.mass, motion.free, links, island)
    _hold_only(n, first, joint_work, links, island, newton.velocity, twist)
    copy_impulses(n, own, newton.centre)
    if newton_step(n, island, LEAST_ALPHA, newton, own):
        for i in range(n):
            node = joint_work.node_list[first + links.order[i]]
            for k in range(3):
                r = joint_work.node_row[node, k]
                if r >= 0:
                    push_joint_row(r, own[i, k], joint_work.rows, motion.mass, twist)
        _keep_finite(first, last, joint_work, state.twist)
