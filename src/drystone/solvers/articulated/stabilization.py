"""Post-stabilization (CLINE 3.3) of articulated islands: position errors become displacements.

As a problem of the same kind as that of the velocities: contacts without friction, limits
one-sided, joints two-sided, drives and friction of joints absent. The answer moves bodies and gives
them no velocity. It is found before the move, from the position errors that the joints will have
after it, so that the pose at the end of a step is a good one.

Gauss-Newton in the norm of the masses: the first round has the rows of the solve, those after it
the rows at the poses that were reached; a round after which the position errors are larger is
taken again by half. What is left is reported (finalize of timestep.py).
"""

from drystone.constraints.coulomb import normal_velocity_at, push
from drystone.constraints.joint_rows import SOFTNESS, contacts_of, nodes_of, push_joint_row
from drystone.jit import kernel
from drystone.jit.stage import stage
from drystone.model.arrays import BAUMGARTE, NO_DRIFT
from drystone.model.joint_arrays import ROW_EQUALITY, ROW_LIMIT
from drystone.motion.stabilization import gap_wanted
from drystone.solvers.articulated.end_poses import fill_end_rows, predict_poses
from drystone.solvers.articulated.rattle_matrix import NEWTON_STEPS
from drystone.solvers.articulated.secant import forget_factors
from drystone.solvers.articulated.tree_contacts import stabilize_tree_contacts
from drystone.solvers.articulated.tree_delassus import W_GROUP
from drystone.solvers.newton.island_delassus import MOST_OPERATIONS, fill_island, link_group
from drystone.solvers.newton.ordering import band_numbers, order_island
from drystone.solvers.newton.semismooth import prox_newton

CLOSED = 1e-8  # [m], [rad]: position errors that are small enough
MAX_ITERATIONS = 10  # each gains a factor of about spin * dt
HALVINGS = 5  # of a round


@kernel
def _largest_error(g, joints, bodies, state, joint_work, motion, dt):
    """Rows of the joints of group `g` after the step; their largest position error [m], [rad]."""
    first, last = nodes_of(g, joint_work)
    predict_poses(first, last, bodies, state, joint_work, motion, False, state.twist, 0, dt)
    fill_end_rows(first, last, joints, joint_work, dt)
    worst, end_rows = 0.0, joint_work.end_rows
    for i in range(joint_work.row_first[first], joint_work.row_first[last]):
        r = joint_work.row_list[i]
        if end_rows.kind[r] == ROW_EQUALITY or end_rows.kind[r] == ROW_LIMIT:
            worst = max(worst, abs(end_rows.error[r]))
    return worst


@kernel(inline="always")
def _position_law(lo, contacts, n, first, rows, joint_work, move, settings, links, island):
    """The problem of the displacements in place of that of the velocities."""
    end_rows, dt = joint_work.end_rows, settings.dt
    island.bounded[0] = False
    for i in range(n):
        c = links.order[i]
        for k in range(3):
            links.impulse[i, k] = 0.0
        if c < contacts:
            r = lo + c
            gap = rows.gap[r] - gap_wanted(rows.gap[r], rows.skin[r], settings.push_out)
            island.friction[i] = 0.0
            island.q[i, 0] = gap / dt + normal_velocity_at(r, rows.body, rows.frame, rows.arm, move)
            island.q[i, 1], island.q[i, 2] = 0.0, 0.0
            continue
        node = joint_work.node_list[first + c - contacts]
        for k in range(3):
            r = joint_work.node_row[node, k]
            if r < 0:
                continue
            own = island.own[i, k] - joint_work.rows.softness[r]
            island.soft[i, k], island.own[i, k] = SOFTNESS * own, own
            island.q[i, k] = end_rows.error[r] / dt
            if end_rows.kind[r] == ROW_LIMIT:
                island.q[i, k] += end_rows.bias[r]
            elif end_rows.kind[r] != ROW_EQUALITY:
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
def _stabilize_group(g, rows, joint_work, motion, settings, work):
    """Displacements from the matrix of the island, where it fits."""
    links, island, newton = work.links, work.island, work.newton
    (first, last), (lo, hi) = nodes_of(g, joint_work), contacts_of(g, rows)
    contacts, nodes = hi - lo, last - first
    if not link_group(lo, contacts, first, nodes, rows, joint_work, motion.mass, links):
        return
    for c in range(contacts + nodes):
        if links.place[c] >= 0:
            continue
        n = order_island(c, links.first, links.column, links.place, links.order)
        fill_island(
            lo, contacts, n, first, rows, joint_work, motion.mass, motion.free, links, island
        )
        stored, operations = band_numbers(n, island, newton.low, newton.high)
        if stored > newton.matrix.shape[0] or operations > MOST_OPERATIONS:
            continue
        _position_law(
            lo, contacts, n, first, rows, joint_work, motion.move, settings, links, island
        )
        goal = 0.1 * CLOSED / settings.dt
        prox_newton(n, island, False, goal, NEWTON_STEPS, newton, links.impulse)
        _displace(lo, contacts, n, first, rows, joint_work, motion.mass, links, motion.move)


@kernel
def _copy_bodies(g, rows, joint_work, source, target):
    """Copy the rows of all bodies of a group."""
    (first, last), (lo, hi) = nodes_of(g, joint_work), contacts_of(g, rows)
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


@kernel
def _keep_rows(g, joint_work, back):
    """Keep the Jacobians of the solve, or put them `back`."""
    (first, last), rows = nodes_of(g, joint_work), joint_work.rows
    for i in range(joint_work.row_first[first], joint_work.row_first[last]):
        r = joint_work.row_list[i]
        for k in range(3):
            if back:
                rows.linear[r, k] = joint_work.kept_linear[r, k]
            else:
                joint_work.kept_linear[r, k] = rows.linear[r, k]
        for k in range(6):
            if back:
                rows.angular[r, k] = joint_work.kept_angular[r, k]
            else:
                joint_work.kept_angular[r, k] = rows.angular[r, k]


@kernel
def _use_end_rows(g, joint_work):
    """Jacobians at the poses that were reached, in place of those of the solve."""
    (first, last), rows, end = nodes_of(g, joint_work), joint_work.rows, joint_work.end_rows
    for i in range(joint_work.row_first[first], joint_work.row_first[last]):
        r = joint_work.row_list[i]
        for k in range(3):
            rows.linear[r, k] = end.linear[r, k]
        for k in range(6):
            rows.angular[r, k] = end.angular[r, k]
    forget_factors(first, last, joint_work)
    joint_work.trees.count[W_GROUP] = 0


@kernel
def _halve(g, rows, joint_work, motion):
    """Half of what a round has changed the displacements by."""
    (first, last), (lo, hi) = nodes_of(g, joint_work), contacts_of(g, rows)
    stamp, mark = joint_work.stamp, joint_work.stamp.shape[0] - 1
    stamp[mark] += 1
    for i in range(last - first + hi - lo):
        for side in range(2):
            if i < last - first:
                b = joint_work.node_body[joint_work.node_list[first + i], side]
            else:
                b = rows.body[lo + i - (last - first), side]
            if stamp[b] == stamp[mark]:
                continue
            stamp[b] = stamp[mark]
            for k in range(6):
                motion.move[b, k] = 0.5 * (motion.move[b, k] + motion.before[b, k])


@kernel
def _one_round(g, joints, bodies, state, rows, joint_work, settings, work, motion, error):
    """A round of Gauss-Newton; the position error after it, not above `error` before it."""
    _copy_bodies(g, rows, joint_work, motion.move, motion.before)
    if not stabilize_tree_contacts(g, joints, bodies, rows, joint_work, settings, work, motion):
        joint_work.trees.count[W_GROUP] = 0
        _stabilize_group(g, rows, joint_work, motion, settings, work)
    left = _largest_error(g, joints, bodies, state, joint_work, motion, settings.dt)
    for _ in range(HALVINGS):
        if left < error:
            return left
        _halve(g, rows, joint_work, motion)
        left = _largest_error(g, joints, bodies, state, joint_work, motion, settings.dt)
    if not left < error:
        _copy_bodies(g, rows, joint_work, motion.before, motion.move)
        left = _largest_error(g, joints, bodies, state, joint_work, motion, settings.dt)
    return left


@stage
def stabilize_joints(joint_work, joints, bodies, state, rows, groups, settings, work, motion):
    """Correct the displacements of all groups whose joints have position errors."""
    if settings.drift == NO_DRIFT or settings.drift == BAUMGARTE:
        return
    for g in range(groups):
        first, last = nodes_of(g, joint_work)
        if first == last or joint_work.stabilize[g] == 0:
            continue
        error = _largest_error(g, joints, bodies, state, joint_work, motion, settings.dt)
        if not error > CLOSED:
            continue
        _keep_rows(g, joint_work, False)
        for k in range(MAX_ITERATIONS):
            if k > 0:
                _use_end_rows(g, joint_work)
            left = _one_round(
                g, joints, bodies, state, rows, joint_work, settings, work, motion, error
            )
            stuck, error = not left < 0.9 * error, left
            if not error > CLOSED or (k > 0 and stuck):
                break
        _keep_rows(g, joint_work, True)
        forget_factors(first, last, joint_work)
