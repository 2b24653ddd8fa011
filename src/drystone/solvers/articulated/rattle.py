"""RATTLE [Andersen1983]: articulated islands that nothing touches are integrated before the solve.

Their motion is smooth, and the joints hold exactly, at the poses after the step too:

    q' = q + dt (v + u) / 2,   u = v + M⁻¹ (dt f + J(q)ᵀ p),   such that the joints fit at q',
    v' = u - M⁻¹ J(q)ᵀ p / 2 + M⁻¹ J(q')ᵀ r / 2,               such that J(q') v' = 0.

The first line (SHAKE) needs J u + bias = 0 with a bias that is found by predicting q' and adding
the position errors there, two or three times with the same factors. That conserves the energy over
long times, which no correction afterwards does. The second line is the velocity projection.

The scheme is in this file. What differs between its two back ends is how a linear system in the
rows of the joints is solved: rattle_tree.py by the articulated body algorithm where the joints form
a tree, rattle_matrix.py by banded factors of the Delassus matrix of the island.

An island is declined, and left to solve_islands.py as it was found, if something touches it, a
limit is reached, joints are far open, or the iterations do not converge; and if joints pull hard on
light bodies (geometric_stiffness.py) or bodies rotate far in the step, where RATTLE may gain energy
without bound, or if there are springs between points: such islands are smooth, and secant.py has
them. Nothing here writes State but
project_velocities(), which is part of the end of the step: the rest goes to JointWork.
"""

import numpy as np

from drystone.constraints.joint_rows import BY_RATTLE, contacts_of, nodes_of, start_group
from drystone.jit import inner_kernel, kernel
from drystone.jit.stage import stage
from drystone.model.arrays import DEFAULT_DRIFT, MIDPOINT, RATTLED
from drystone.model.joint_arrays import ROW_EQUALITY
from drystone.solvers.articulated.end_poses import predict_poses
from drystone.solvers.articulated.geometric_stiffness import is_stiff
from drystone.solvers.articulated.rattle_matrix import (
    correct_island,
    displace_island,
    halve_island,
    island_errors,
    island_residual,
    project_island,
    start_island,
)
from drystone.solvers.articulated.rattle_tree import (
    correct_tree,
    displace_tree,
    halve_tree,
    project_tree,
    set_tree_impulses,
    start_tree,
    tree_errors,
    tree_of,
    tree_residual,
)
from drystone.solvers.articulated.soft_rows import has_springs, soften_rows

MAX_ITERATIONS = 10  # of the position errors; each gains two digits or more
CONVERGED = 1e-9  # [m], [rad]: a correction that will leave no more than that is the last
LARGEST_ERROR = 1e-5  # [m], [rad]: may be left after all iterations, for stabilization.py
LARGEST_ANGLE = 0.2  # [rad] by which bodies may rotate: the energy errs by about its cube / 24
OPEN_JOINT = 1e-3  # [m], [rad]: joints with a larger position error are closed by it first


@kernel
def _is_open(first, last, joint_work):
    """Whether a position error is so large that only stabilization.py can take it away."""
    rows = joint_work.rows
    for i in range(joint_work.row_first[first], joint_work.row_first[last]):
        r = joint_work.row_list[i]
        if rows.kind[r] == ROW_EQUALITY and abs(rows.error[r]) > OPEN_JOINT:
            return True
    return False


@kernel
def _is_smooth(g, rows, joint_work, settings):
    """Whether the motion of group `g` may be smooth: that shows in full when it is integrated."""
    if settings.newton == 0 or settings.drift != DEFAULT_DRIFT:
        return False
    (first, last), (lo, hi) = nodes_of(g, joint_work), contacts_of(g, rows)
    if lo < hi:
        return False
    return not _is_open(first, last, joint_work)


@kernel
def _guess_biases(first, last, joint_work):
    """Biases by a parabola through those of the last three steps."""
    rows, curve = joint_work.rows, joint_work.curve
    for i in range(joint_work.row_first[first], joint_work.row_first[last]):
        r = joint_work.row_list[i]
        if rows.kind[r] == ROW_EQUALITY:
            guess = 3.0 * (curve[r, 0] - curve[r, 1]) + curve[r, 2]
            curve[r, 2], curve[r, 1], curve[r, 0] = curve[r, 1], curve[r, 0], guess
            rows.bias[r] = guess


@kernel
def _clear_biases(first, last, joint_work, tried):
    """No guess for the next step; and none in this one, where it was tried."""
    rows, curve = joint_work.rows, joint_work.curve
    for i in range(joint_work.row_first[first], joint_work.row_first[last]):
        r = joint_work.row_list[i]
        if rows.kind[r] == ROW_EQUALITY:
            curve[r, 0], curve[r, 1], curve[r, 2] = 0.0, 0.0, 0.0
            if tried:
                rows.bias[r] = 0.0


@kernel
def _correct_biases(first, last, joint_work):
    """Add to the biases what the position errors ask for."""
    rows, change = joint_work.rows, joint_work.bias_change
    for i in range(joint_work.row_first[first], joint_work.row_first[last]):
        r = joint_work.row_list[i]
        if rows.kind[r] == ROW_EQUALITY:
            rows.bias[r] += change[r]
            joint_work.curve[r, 0] = rows.bias[r]


@kernel
def _take_start(first, last, joint_work, twist):
    """Velocities at the start of the step, which the back ends make fit the joints."""
    for d in range(first, last):
        for side in range(2):
            b = joint_work.node_body[joint_work.node_list[d], side]
            if b < twist.shape[0]:
                for k in range(6):
                    joint_work.start_twist[b, k] = twist[b, k]


@inner_kernel
def mark_bodies(first, last, joint_work, motion, scheme):
    for d in range(first, last):
        for side in range(2):
            b = joint_work.node_body[joint_work.node_list[d], side]
            if motion.mass[b, 0] > 0.0:
                motion.scheme[b] = scheme


@kernel
def _close_joints(g, t, n, joints, bodies, state, rows, joint_work, settings, work, motion):
    """Iterate until the joints fit at the end of the step: 0 if they do, 1 if only a small error
    is left, -1 if a large one.

    t  the tree of the island, -1: it has the matrix of `n` blocks
    """
    (first, last), error, dt = nodes_of(g, joint_work), np.inf, settings.dt
    for _ in range(MAX_ITERATIONS):
        angle = predict_poses(
            first, last, bodies, state, joint_work, motion, True, joint_work.start_twist, 0, dt
        )
        if not angle <= LARGEST_ANGLE:
            return -1
        if t >= 0:
            error = tree_errors(t, joints, joint_work, dt)
        else:
            error = island_errors(first, last, joints, joint_work, dt)
        _correct_biases(first, last, joint_work)
        if t >= 0:
            correct_tree(t, joints, joint_work, motion.twist)
        else:
            correct_island(n, first, rows, joint_work, work, motion)
        # It used the rows at the start of the step, which rotate by the angle until its end.
        if error * angle <= CONVERGED:
            if t >= 0:
                displace_tree(t, joint_work.trees, motion.move)
            else:
                displace_island(n, first, joint_work, work, motion)
            return 0
    return 1 if error < LARGEST_ERROR else -1


@kernel
def _rattle_island(g, joints, bodies, state, rows, joint_work, settings, work, motion):
    """SHAKE for one island; returns the residual of its velocities [m/s], infinite: declined."""
    (first, last), n = nodes_of(g, joint_work), 0
    t = tree_of(first, joint_work)
    _guess_biases(first, last, joint_work)
    _take_start(first, last, joint_work, state.twist)
    if t >= 0:
        good = start_tree(t, joints, bodies, joint_work, motion)
    else:
        n = start_island(first, last, rows, joint_work, settings.tolerance, work, motion)
        good = n > 0
    if not good:
        return np.inf
    mark_bodies(first, last, joint_work, motion, RATTLED)
    joint_work.smooth[g] = 1
    left = _close_joints(g, t, n, joints, bodies, state, rows, joint_work, settings, work, motion)
    if left < 0:
        return np.inf
    if t >= 0:
        set_tree_impulses(t, joints, bodies, joint_work, motion)
    if has_springs(first, last, joint_work) or is_stiff(
        first, last, joints, joint_work, bodies.inv_inertia, settings.dt
    ):
        return np.inf
    joint_work.stabilize[g] = left
    if t >= 0:
        error = tree_residual(t, joints, joint_work, motion.twist)
        halve_tree(t, joints, joint_work, motion)
    else:
        error = island_residual(n, first, last, joint_work, work, motion.twist)
        halve_island(first, last, joint_work, motion)
    return error


@stage
def rattle_islands(joint_work, joints, bodies, state, rows, groups, settings, work, motion):
    """Integrate the articulated islands that are alone and smooth; returns how many were tried.

    joint_work.done says which are integrated, joint_work.residual how well.
    """
    tried = 0
    for g in range(groups):
        first, last = nodes_of(g, joint_work)
        if first == last:
            continue
        smooth, error = _is_smooth(g, rows, joint_work, settings), np.inf
        soften_rows(first, last, joint_work, state.twist, motion.mass, settings.dt, smooth)
        if smooth:
            tried += 1
            error = _rattle_island(
                g, joints, bodies, state, rows, joint_work, settings, work, motion
            )
        if error <= settings.tolerance:
            joint_work.done[g], joint_work.residual[g] = BY_RATTLE, error
            continue
        _clear_biases(first, last, joint_work, smooth)
        if smooth:  # leave it as it was found
            if joint_work.smooth[g] == 0:
                soften_rows(first, last, joint_work, state.twist, motion.mass, settings.dt, False)
            mark_bodies(first, last, joint_work, motion, MIDPOINT)
            start_group(first, last, joint_work, state, motion)
    return tried


@stage
def project_velocities(joint_work, joints, bodies, state, rows, groups, settings, work, motion):
    """The second half of RATTLE: velocities that fit the joints where they are after the step.

    Where they would not be finite they stay as they are: the next step will fail, and leave the
    state of this one as the last good one.
    """
    for g in range(groups):
        if joint_work.done[g] == 0:
            continue
        first, last = nodes_of(g, joint_work)
        t = tree_of(first, joint_work)
        if t >= 0:
            project_tree(t, joints, bodies, state, joint_work, motion, settings.dt)
        else:
            _take_start(first, last, joint_work, state.twist)
            project_island(
                first, last, joints, bodies, state, rows, joint_work, settings.dt, work, motion
            )
