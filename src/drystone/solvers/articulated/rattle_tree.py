"""RATTLE's linear systems on a tree of joints, by the articulated body algorithm: no matrix.

The recursion (articulated_body.py, [Featherstone1983]) gives the velocities at once. Its factors
hold for the poses of the bodies, so that those at the end of a step also are those at the start of
the next: they are computed anew only if a body was moved meanwhile. Limits must be out of reach,
and drives without bounds; else rattle_matrix.py and solve_islands.py have it. The scheme is in
rattle.py.
"""

from math import isfinite

import numpy as np

from drystone.constraints.joint_rows import push_joint_row, row_velocity
from drystone.constraints.joints.fill_rows import direction_errors, fill_listed, note_filled
from drystone.constraints.joints.position_error import point_error
from drystone.forces.free_velocity import set_rotation
from drystone.jit import inner_kernel, kernel
from drystone.model.joint_arrays import ROW_DRIVE, ROW_LIMIT
from drystone.solvers.articulated.articulated_body import (
    eliminate,
    held_error,
    member,
    momentum_of,
    set_impulses,
    solve_tree,
)
from drystone.solvers.articulated.end_poses import note_error

FITS = 1e-11  # [m/s], [rad/s]: velocities that are not farther from fitting the joints fit them


@inner_kernel
def tree_of(first, joint_work):
    """The tree of the joints of a group that nothing touches, -1 if none."""
    trees = joint_work.trees
    t = trees.tree[joint_work.node_joint[joint_work.node_list[first]]]
    return t if t >= 0 and trees.plain[t] == 1 else np.int32(-1)


@inner_kernel
def load_momenta(t, bodies, rotation, added, twist, trees):
    for k in range(trees.first[t], trees.first[t + 1] + 1):
        b = member(t, k, trees)
        if b >= 0:
            f, m = momentum_of(
                b, bodies, rotation, added, (twist[b, 0], twist[b, 1], twist[b, 2]),
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
    """Whether these velocities, which know no limits, would pass one."""
    trees, rows = joint_work.trees, joint_work.rows
    for k in range(trees.first[t], trees.first[t + 1]):
        j = trees.joint[k]
        for r in range(joints.row_first[j], joints.row_first[j + 1]):
            if rows.kind[r] == ROW_LIMIT and row_velocity(r, rows, twist) + rows.bias[r] < 0.0:
                return True
    return False


@kernel
def _fit_start(t, joints, bodies, joint_work, motion):
    """Make the velocities at the start of the step fit the joints, if the user changed them."""
    trees, rows, zero = joint_work.trees, joint_work.rows, joint_work.zero
    twist = joint_work.start_twist
    if held_error(t, joints, rows, zero, twist, trees) < FITS:
        return  # what is left after project_tree() is rounding
    load_momenta(t, bodies, motion.rotation_matrix, joint_work.added_inertia, twist, trees)
    solve_tree(t, joints, rows, zero, twist, trees, False, False, True)
    take_velocities(t, trees, False, twist)


@inner_kernel
def start_tree(t, joints, bodies, joint_work, motion):
    """Factors, start velocities that fit, velocities with the biases guessed.

    Returns False if a limit is reached.
    """
    trees, rows, added = joint_work.trees, joint_work.rows, joint_work.added_inertia
    driven, rotation = trees.driven[t] == 1, motion.rotation_matrix
    if trees.ready[t] != 1:
        eliminate(t, joints, bodies, rotation, added, rows, trees, False)
    _fit_start(t, joints, bodies, joint_work, motion)
    if driven:
        eliminate(t, joints, bodies, rotation, added, rows, trees, True)
    trees.ready[t] = 0
    load_momenta(t, bodies, rotation, added, motion.free, trees)
    solve_tree(t, joints, rows, rows.bias, motion.free, trees, True, driven, True)
    take_velocities(t, trees, False, motion.twist)
    return not _hits_limit(t, joints, joint_work, motion.twist)


@inner_kernel
def tree_errors(t, joints, joint_work, dt):
    """Position errors at the end of the step, as changes of the biases; the worst [m], [rad]."""
    trees, work, worst = joint_work.trees, joint_work, 0.0
    position, rotation = work.end_position, work.end_rotation
    for k in range(trees.first[t], trees.first[t + 1]):
        j = trees.joint[k]
        r, points, held = joints.row_first[j], trees.held[j, 0], trees.held[j, 1]
        x, y, z = point_error(joints, j, position, rotation)
        off = max(note_error(r, x, work, dt), note_error(r + points - 1, z, work, dt))
        if points == 3:
            off = max(off, note_error(r + 1, y, work, dt))
        if held > 0:
            x, y, z = direction_errors(joints, j, rotation)
            off = max(off, note_error(r + points, x, work, dt))
            if held > 1:
                off = max(off, note_error(r + points + 1, y, work, dt))
            if held > 2:
                off = max(off, note_error(r + points + 2, z, work, dt))
        if not off <= worst:
            worst = off
    return worst


@inner_kernel
def correct_tree(t, joints, joint_work, twist):
    """Velocities that obey the biases, which have changed."""
    trees, driven = joint_work.trees, joint_work.trees.driven[t] == 1
    for k in range(trees.first[t], trees.first[t + 1] + 1):
        b = member(t, k, trees)
        if b >= 0:
            for i in range(6):
                trees.flow[b, i] = 0.0
    change = joint_work.bias_change
    solve_tree(t, joints, joint_work.rows, change, twist, trees, True, driven, False)
    take_velocities(t, trees, True, twist)


@inner_kernel
def displace_tree(t, trees, move):
    """Displacements after correct_tree(): half of what it has changed the velocities by."""
    for k in range(trees.first[t], trees.first[t + 1] + 1):
        b = member(t, k, trees)
        if b >= 0:
            for i in range(6):
                move[b, i] += 0.5 * trees.flow[b, i]


@inner_kernel
def set_tree_impulses(t, joints, bodies, joint_work, motion):
    """Impulses of all rows of the tree, from what the velocities have changed by."""
    set_impulses(
        t, joints, bodies, motion.rotation_matrix, joint_work.added_inertia, joint_work.rows,
        motion.free, motion.twist, joint_work.trees,
    )  # fmt: skip


@inner_kernel
def tree_residual(t, joints, joint_work, twist):
    """Residual of the velocities [m/s], [rad/s]."""
    rows = joint_work.rows
    return held_error(t, joints, rows, rows.bias, twist, joint_work.trees)


@inner_kernel
def halve_tree(t, joints, joint_work, motion):
    """Half of the impulses belongs to the end of the step: project_tree() gives it."""
    trees, rows, twist, free = joint_work.trees, joint_work.rows, motion.twist, motion.free
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
                push_joint_row(r, 0.5 * rows.impulse[r], rows, motion.mass, twist)


@kernel
def _is_finite(t, trees):
    total = 0.0
    for k in range(trees.first[t], trees.first[t + 1] + 1):
        b = member(t, k, trees)
        if b >= 0:
            for i in range(6):
                total += trees.flow[b, i]
    return isfinite(total)


@inner_kernel
def project_tree(t, joints, bodies, state, joint_work, motion, dt):
    """Velocities that fit the joints after the step; factors for the start of the next."""
    trees, rows, q = joint_work.trees, joint_work.rows, state.rotation
    for k in range(trees.first[t], trees.first[t + 1] + 1):
        b = member(t, k, trees)
        if b >= 0:
            set_rotation(
                b, (q[b, 0], q[b, 1], q[b, 2], q[b, 3]), bodies, motion.rotation_matrix, motion.mass
            )
    first, last = trees.first[t], trees.first[t + 1]
    fill_listed(joints, trees.joint, first, last, state.position, q, dt, rows)
    for k in range(first, last):
        j = trees.joint[k]
        note_filled(joints, j, state.position, q, dt, joint_work.filled)
        for i in range(3):
            state.joint_value[j, i] = rows.value[j, i]
    eliminate(
        t, joints, bodies, motion.rotation_matrix, joint_work.added_inertia, rows, trees, False
    )
    trees.ready[t] = 1
    load_momenta(t, bodies, motion.rotation_matrix, joint_work.added_inertia, state.twist, trees)
    solve_tree(t, joints, rows, joint_work.zero, state.twist, trees, False, False, True)
    if _is_finite(t, trees):
        take_velocities(t, trees, False, state.twist)
