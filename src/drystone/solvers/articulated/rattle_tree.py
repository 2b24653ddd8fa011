"""Stage 5 for trees of joints that nothing touches: the step of rattle.py, without a matrix.

Elimination along the tree (articulated_body.py) gives the velocities at once. It holds for the
poses of the bodies, so that the one at the end of a step also is that at the start of the next: it
is done anew only if somebody has moved a body meanwhile. Limits must be out of reach, and drives
without bounds; else, and where joints pull hard on light bodies, rattle.py and solve_islands.py
have it.
"""

import numpy as np

from drystone.constraints.joint_rows import push_joint_row, row_velocity
from drystone.constraints.joints.fill_rows import fill_listed, note_filled
from drystone.constraints.joints.position_error import missed_point, missed_turn
from drystone.forces.free_velocity import turn_body
from drystone.jit import inner_kernel, kernel
from drystone.jit.vec import turn_quaternion
from drystone.model.arrays import RATTLED
from drystone.model.joint_arrays import ROW_DRIVE, ROW_LIMIT
from drystone.motion.displacement import displace_body
from drystone.solvers.articulated.articulated_body import (
    eliminate,
    held_error,
    member,
    momentum_of,
    set_impulses,
    solve_tree,
)
from drystone.solvers.articulated.geometric_stiffness import TAUT, tautness

FITS = 1e-11  # [m/s], [rad/s]
TINY = 1e-7  # [m], [rad]: errors up to here are taken away with that
TORN = 1e-5  # [m], [rad]: what they may miss after all looks; stabilization.py takes it away
LOOKS = 10  # at the end of the step; each gains two digits or more
ENOUGH = 1e-9  # [m], [rad]: a correction that will leave no more than that is the last


@inner_kernel
def missed(before, after):
    """What a joint misses at the end of the step, and missed at its start [m], [rad].

    An error that was there before is left to stabilization.py unless it is tiny: to take it away by
    a velocity would add energy.
    """
    return after - (before if abs(before) > TINY else 0.0)


@inner_kernel
def tree_of(first, joint_work):
    """The tree of the joints of a group that nothing touches, -1 if none."""
    trees = joint_work.trees
    t = trees.tree[joint_work.node_joint[joint_work.node_list[first]]]
    return t if t >= 0 and trees.plain[t] == 1 else np.int32(-1)


@inner_kernel
def load_momenta(t, bodies, turn, stiff, twist, trees):
    for k in range(trees.first[t], trees.first[t + 1] + 1):
        b = member(t, k, trees)
        if b >= 0:
            f, m = momentum_of(
                b, bodies, turn, stiff, (twist[b, 0], twist[b, 1], twist[b, 2]),
                (twist[b, 3], twist[b, 4], twist[b, 5]),
            )  # fmt: skip
            for i in range(3):
                trees.flow[b, i], trees.flow[b, 3 + i] = f[i], m[i]


@inner_kernel
def take_velocities(t, trees, keep, twist):
    """Velocities that solve_tree() has found, added to what is there if `keep`."""
    for k in range(trees.first[t], trees.first[t + 1] + 1):
        b = member(t, k, trees)
        if b >= 0:
            for i in range(6):
                twist[b, i] = (twist[b, i] if keep else 0.0) + trees.flow[b, i]


@kernel
def _hits_limit(t, joints, joint_work, twist):
    trees, rows = joint_work.trees, joint_work.rows
    for k in range(trees.first[t], trees.first[t + 1]):
        j = trees.joint[k]
        for r in range(joints.row_first[j], joints.row_first[j + 1]):
            if rows.kind[r] == ROW_LIMIT and row_velocity(r, rows, twist) + rows.bias[r] < 0.0:
                return True
    return False


@kernel
def _pulls_hard(t, joints, joint_work, inv_inertia, dt):
    """Whether joints pull so hard that the scheme for smooth motion would swing up."""
    trees = joint_work.trees
    for k in range(trees.first[t], trees.first[t + 1]):
        for side in range(2):
            if tautness(trees.joint[k], side, joints, joint_work.rows, inv_inertia, dt) > TAUT:
                return True
    return False


@kernel
def _predict(t, bodies, state, joint_work, motion, dt):
    """Where the step leads the bodies of tree `t`; returns by how much one turns at most [rad]."""
    trees, q, move, most = joint_work.trees, state.rotation, motion.move, 0.0
    for k in range(trees.first[t], trees.first[t + 1] + 1):
        b = member(t, k, trees)
        if b < 0:  # what the tree hangs on: the fixed world, or a body that moves as it likes
            b = trees.parent[trees.joint[trees.first[t]]]
        if b == state.position.shape[0]:
            continue
        displace_body(b, bodies, state, motion, 0, dt)
        for i in range(3):
            joint_work.position[b, i] = state.position[b, i] + dt * move[b, i]
        turned = turn_quaternion(
            (q[b, 0], q[b, 1], q[b, 2], q[b, 3]),
            (dt * move[b, 3], dt * move[b, 4], dt * move[b, 5]),
        )
        for i in range(4):
            joint_work.rotation[b, i] = turned[i]
        most = max(most, dt * (abs(move[b, 3]) + abs(move[b, 4]) + abs(move[b, 5])))
    return most


@kernel(inline="always")
def _note(r, error, rows, change, dt):
    """Bias that takes away what row `r` misses at the end of the step; how much that is."""
    off = missed(rows.error[r], error)
    change[r] = 2.0 * off / dt
    return abs(off)


@kernel
def _look(t, joints, joint_work, change, dt):
    """What the joints miss at the end of the step, as biases in `change`; the worst [m], [rad]."""
    trees, rows, worst = joint_work.trees, joint_work.rows, 0.0
    position, rotation = joint_work.position, joint_work.rotation
    for k in range(trees.first[t], trees.first[t + 1]):
        j = trees.joint[k]
        r, points, held = joints.row_first[j], trees.held[j, 0], trees.held[j, 1]
        x, y, z = missed_point(joints, j, position, rotation)
        off = max(_note(r, x, rows, change, dt), _note(r + points - 1, z, rows, change, dt))
        if points == 3:
            off = max(off, _note(r + 1, y, rows, change, dt))
        if held > 0:
            x, y, z = missed_turn(joints, j, rotation)
            off = max(off, _note(r + points, x, rows, change, dt))
            if held > 1:
                off = max(off, _note(r + points + 1, y, rows, change, dt))
            if held > 2:
                off = max(off, _note(r + points + 2, z, rows, change, dt))
        if not off <= worst:
            worst = off
    return worst


@kernel
def _bend(t, joints, joint_work, curve, twist):
    """Correct the velocities by what the last look has found."""
    trees, rows = joint_work.trees, joint_work.rows
    change = joint_work.change
    for k in range(trees.first[t], trees.first[t + 1]):
        j = trees.joint[k]
        r = joints.row_first[j]
        for i in range(r, r + trees.held[j, 0] + trees.held[j, 1]):
            rows.bias[i] += change[i]
            curve[i, 0] = rows.bias[i]
    for k in range(trees.first[t], trees.first[t + 1] + 1):
        b = member(t, k, trees)
        if b >= 0:
            for i in range(6):
                trees.flow[b, i] = 0.0
    solve_tree(t, joints, rows, change, twist, trees, True, trees.driven[t] == 1, False)
    take_velocities(t, trees, True, twist)


@kernel
def _move_on(t, trees, move):
    """Displacements after _bend(): half of what it has changed the velocities by."""
    for k in range(trees.first[t], trees.first[t + 1] + 1):
        b = member(t, k, trees)
        if b >= 0:
            for i in range(6):
                move[b, i] += 0.5 * trees.flow[b, i]


@kernel
def _close(t, joints, bodies, state, joint_work, motion, dt):
    """Look at the end of the step and correct, until the joints fit there; False: they do not."""
    worst = np.inf
    for _ in range(LOOKS):
        turn = _predict(t, bodies, state, joint_work, motion, dt)
        worst = _look(t, joints, joint_work, joint_work.change, dt)
        _bend(t, joints, joint_work, state.joint_curve, motion.twist)
        # It used the rows at the start of the step, which turn by so much until its end.
        if worst * turn <= ENOUGH:
            _move_on(t, joint_work.trees, motion.move)
            return True
    return worst < TORN


@kernel
def _fit_old(t, joints, bodies, state, joint_work, motion):
    """Make the velocities at the start fit the joints, if somebody has changed them."""
    trees, rows, none = joint_work.trees, joint_work.rows, joint_work.none
    if held_error(t, joints, rows, none, state.twist, trees) < FITS:
        return  # what is left after fit_tree() is rounding
    load_momenta(t, bodies, motion.rotation_matrix, joint_work.stiff, state.twist, trees)
    solve_tree(t, joints, rows, none, state.twist, trees, False, False, True)
    take_velocities(t, trees, False, state.twist)


@kernel
def _take_half(t, joints, joint_work, mass, free, twist):
    """Half of the impulses of joints belongs to the end of the step: fit_tree() gives it."""
    trees, rows = joint_work.trees, joint_work.rows
    for k in range(trees.first[t], trees.first[t + 1] + 1):
        b = member(t, k, trees)
        if b >= 0:
            for i in range(6):
                twist[b, i] = 0.5 * (twist[b, i] + free[b, i])
    if trees.driven[t] == 0:
        return
    for k in range(trees.first[t], trees.first[t + 1]):
        j = trees.joint[k]
        for r in range(joints.row_first[j], joints.row_first[j + 1]):
            if rows.kind[r] == ROW_DRIVE:
                push_joint_row(r, 0.5 * rows.impulse[r], rows, mass, twist)


@kernel
def _mark_linked(t, trees, scheme):
    for k in range(trees.first[t], trees.first[t + 1] + 1):
        b = member(t, k, trees)
        if b >= 0:
            scheme[b] = RATTLED


@inner_kernel
def rattle_tree(g, t, joints, bodies, state, joint_work, settings, motion):
    """A tree of joints alone; returns its error, infinite if the step is not smooth for it."""
    trees, rows, twist, stiff = joint_work.trees, joint_work.rows, motion.twist, joint_work.stiff
    driven = trees.driven[t] == 1
    if trees.ready[t] != 1:
        eliminate(t, joints, bodies, motion.rotation_matrix, stiff, rows, trees, False)
    _fit_old(t, joints, bodies, state, joint_work, motion)
    if driven:
        eliminate(t, joints, bodies, motion.rotation_matrix, stiff, rows, trees, True)
    trees.ready[t] = 0
    load_momenta(t, bodies, motion.rotation_matrix, stiff, motion.free, trees)
    solve_tree(t, joints, rows, rows.bias, motion.free, trees, True, driven, True)
    take_velocities(t, trees, False, twist)
    if _hits_limit(t, joints, joint_work, twist):
        return np.inf
    _mark_linked(t, trees, motion.scheme)
    if not _close(t, joints, bodies, state, joint_work, motion, settings.dt):
        return np.inf
    error = held_error(t, joints, rows, rows.bias, twist, trees)
    set_impulses(t, joints, bodies, motion.rotation_matrix, stiff, rows, motion.free, twist, trees)
    if _pulls_hard(t, joints, joint_work, bodies.inv_inertia, settings.dt):
        return np.inf
    joint_work.loose[g] = 0
    _take_half(t, joints, joint_work, motion.mass, motion.free, twist)
    return error


@inner_kernel
def start_again(first, last, joint_work, state, motion):
    """Free velocities and the warm start for blocks first .. last, as start_joints() left them."""
    rows = joint_work.rows
    for d in range(first, last):
        for side in range(2):
            b = joint_work.node_body[joint_work.node_list[d], side]
            for i in range(6):
                motion.twist[b, i] = motion.free[b, i]
    for d in range(first, last):
        for k in range(3):
            r = joint_work.node_row[joint_work.node_list[d], k]
            if r >= 0:
                p = min(max(state.joint_impulse[r], rows.lower[r]), rows.upper[r])
                rows.impulse[r] = p
                push_joint_row(r, p, rows, motion.mass, motion.twist)


@inner_kernel
def project_tree(t, joints, bodies, state, joint_work, motion, dt):
    """The second half of the step: velocities that fit the joints where they are now."""
    trees, rows, q = joint_work.trees, joint_work.rows, state.rotation
    for k in range(trees.first[t], trees.first[t + 1] + 1):
        b = member(t, k, trees)
        if b >= 0:
            turn_body(
                b, (q[b, 0], q[b, 1], q[b, 2], q[b, 3]), bodies, motion.rotation_matrix, motion.mass
            )
    first, last = trees.first[t], trees.first[t + 1]
    fill_listed(joints, trees.joint, first, last, state.position, q, dt, rows)
    for k in range(first, last):
        j = trees.joint[k]
        note_filled(joints, j, state.position, q, dt, joint_work.filled)
        for i in range(3):
            state.joint_value[j, i] = rows.value[j, i]
    eliminate(t, joints, bodies, motion.rotation_matrix, joint_work.stiff, rows, trees, False)
    trees.ready[t] = 1
    load_momenta(t, bodies, motion.rotation_matrix, joint_work.stiff, state.twist, trees)
    solve_tree(t, joints, rows, joint_work.none, state.twist, trees, False, False, True)
    take_velocities(t, trees, False, state.twist)
