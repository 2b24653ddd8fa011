"""RATTLE [Andersen1983] over one island of joints that nothing touches, and over any time.

    q' = q + dt (v + u) / 2,   u = v + M⁻¹ (dt f + J(q)ᵀ p),   such that the joints fit at q',
    v' = u - M⁻¹ J(q)ᵀ p / 2 + M⁻¹ J(q')ᵀ r / 2,               such that J(q') v' = 0.

The first line (SHAKE, shake_island()) needs J u + bias = 0 with a bias that is found by predicting
q' and adding the position errors there, two or three times with the same factors. That conserves
the energy over long times, which no correction afterwards does. The second line is the velocity
projection (project_group()).

What differs between its two back ends is how a linear system in the rows of the joints is solved:
rattle_tree.py by the articulated body algorithm where the joints form a tree, rattle_matrix.py by
banded factors of the Delassus matrix of the island.
"""

from math import sqrt

import numpy as np

from drystone.constraints.joint_rows import nodes_of
from drystone.jit import inner_kernel, kernel
from drystone.jit.stage import stage
from drystone.model.arrays import RATTLED
from drystone.model.joint_arrays import ROW_EQUALITY
from drystone.solvers.articulated.end_poses import predict_poses
from drystone.solvers.articulated.geometric_stiffness import stiffest
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
from drystone.solvers.articulated.soft_rows import has_springs

MAX_ITERATIONS = 30  # of the position errors; each gains two digits, but where a whip cracks
CONVERGED = 1e-9  # [m], [rad]: a correction that will leave no more than that is the last
LARGEST_ERROR = 1e-5  # [m], [rad]: may be left after all iterations, for stabilization.py
# [rad] by which bodies may rotate: the energy errs by about its cube / 24, near dead centres of
# linkages by some percent of it with 0.2 rad. A gyroscope precesses right to a thousandth.
LARGEST_ANGLE = 0.1
# dt² F r / I (geometric_stiffness.py): RATTLE, explicit in the direction of the arms, is stable
# below 4. The secants that take over cost four times as much (S9, 50 links of 0.2 kg: 0.37).
LARGEST_STIFFNESS = 1.0
FINER = 2.0  # times shorter than that are the substeps that are taken else
# From here on substeps are too many, 128. Secants cost less from 16 on, but they do not close a
# chain of links of 50 g with a ball of 50 kg in steps of 1/60 s (122).
TOO_STIFF = 4096.0


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
def _correct_biases(first, last, joint_work):
    """Add to the biases what the position errors ask for."""
    rows, change = joint_work.rows, joint_work.bias_change
    for i in range(joint_work.row_first[first], joint_work.row_first[last]):
        r = joint_work.row_list[i]
        if rows.kind[r] == ROW_EQUALITY:
            rows.bias[r] += change[r]
            joint_work.curve[r, 0] = rows.bias[r]


@inner_kernel
def take_start(first, last, joint_work, twist):
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
def _close_joints(g, t, n, joints, bodies, state, rows, joint_work, work, motion, dt):
    """Iterate until the joints fit after `dt`: 0 if they do, 1 if only a small error is left, -1 if
    a large one. And by what the angles are too large, or 2 if something else is.

    t  the tree of the island, -1: it has the matrix of `n` blocks
    """
    (first, last), error, angle = nodes_of(g, joint_work), np.inf, 0.0
    for _ in range(MAX_ITERATIONS):
        angle = predict_poses(
            first, last, bodies, state, joint_work, motion, True, joint_work.start_twist, 0, dt
        )
        if not angle <= LARGEST_ANGLE:
            return -1, angle / LARGEST_ANGLE
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
            return 0, 1.0
    return (1, 1.0) if error < LARGEST_ERROR else (-1, 2.0)


@stage
def shake_island(g, joints, bodies, state, rows, joint_work, settings, work, motion, dt):
    """SHAKE for one island over `dt`, from the free velocities.

    Returns the residual of its velocities [m/s], infinite: declined; and how many times shorter a
    step would have to be, 0 where that is no cure.
    """
    (first, last), n = nodes_of(g, joint_work), 0
    t = tree_of(first, joint_work)
    _guess_biases(first, last, joint_work)
    take_start(first, last, joint_work, state.twist)
    if t >= 0:
        good = start_tree(t, joints, bodies, joint_work, motion)
    else:
        n = start_island(first, last, rows, joint_work, settings.tolerance, work, motion)
        good = n > 0
    if not good:
        return np.inf, 0.0
    mark_bodies(first, last, joint_work, motion, RATTLED)
    joint_work.smooth[g] = 1
    left, shorter = _close_joints(
        g, t, n, joints, bodies, state, rows, joint_work, work, motion, dt
    )
    if has_springs(first, last, joint_work):
        return np.inf, 0.0
    if left < 0:
        return np.inf, shorter
    if t >= 0:
        set_tree_impulses(t, joints, bodies, joint_work, motion)
    stiffness = stiffest(first, last, joints, joint_work, bodies.inv_inertia, dt)
    if not stiffness <= LARGEST_STIFFNESS:
        return np.inf, FINER * sqrt(stiffness / LARGEST_STIFFNESS) if stiffness < TOO_STIFF else 0.0
    joint_work.stabilize[g] = left
    if t >= 0:
        error = tree_residual(t, joints, joint_work, motion.twist)
        halve_tree(t, joints, joint_work, motion)
    else:
        error = island_residual(n, first, last, joint_work, work, motion.twist)
        halve_island(first, last, joint_work, motion)
    return error, 0.0


@stage
def project_group(g, joints, bodies, state, rows, joint_work, work, motion, dt):
    """The second half of RATTLE: velocities that fit the joints where they are after the step.

    Where they would not be finite they stay as they are: the next step will fail, and leave the
    state of this one as the last good one.
    """
    first, last = nodes_of(g, joint_work)
    t = tree_of(first, joint_work)
    if t >= 0:
        project_tree(t, joints, bodies, state, joint_work, motion, dt)
    else:
        take_start(first, last, joint_work, state.twist)
        project_island(first, last, joints, bodies, state, rows, joint_work, dt, work, motion)
