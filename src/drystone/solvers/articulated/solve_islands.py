"""Stage 5 for islands with joints: contacts, joints, limits and drives as one problem.

Newton's method takes all rows of the island together (solvers/newton/island_delassus.py): along
chains and trees of joints the matrix is dense near its diagonal alone, so that the cost grows in
proportion to their length. Where the matrix would be too wide, and for nsgs, the rows are swept one
by one (solvers/gauss_seidel/joint_sweep.py). Islands that nothing touches move smoothly, and take
the way of rattle.py.
"""

import numpy as np

from drystone.constraints.coulomb import push_rows
from drystone.constraints.joints.fill_rows import fill_joint, is_filled, note_filled
from drystone.jit import kernel
from drystone.jit.stage import stage
from drystone.model.arrays import BAUMGARTE, DEFAULT_DRIFT, HELD
from drystone.model.joint_arrays import PLANAR, ROW_EQUALITY
from drystone.solvers.articulated.geometric_stiffness import has_stiff, stiffen_bodies
from drystone.solvers.articulated.rattle import rattle_island, set_guess
from drystone.solvers.articulated.rattle_tree import rattle_tree, start_again, tree_of
from drystone.solvers.articulated.tree_contacts import solve_tree_contacts
from drystone.solvers.articulated.tree_delassus import WITH_DRIVES
from drystone.solvers.gauss_seidel.joint_sweep import sweep_linked
from drystone.solvers.gauss_seidel.solve_islands import DEEPER, DEEPEST
from drystone.solvers.newton.island_delassus import solve_by_newton

OPEN = 1e-3  # [m], [rad]: joints that miss more are closed before they move smoothly again
FEW = 4  # contacts with which joints are solved to DEEPEST of the tolerance; with more, to DEEPER


@stage
def fill_joint_rows(joint_work, joints, bodies, state, settings, mass):
    """Rows of all joints at the start of a step; bodies on which they pull hard are stiffened."""
    filled, trees, dt = joint_work.filled, joint_work.trees, settings.dt
    for j in range(joints.kind.shape[0]):
        for k in range(3):
            joint_work.rows.value[j, k] = state.joint_value[j, k]
        if not is_filled(joints, j, state.position, state.rotation, dt, filled):
            fill_joint(joints, j, state.position, state.rotation, dt, joint_work.rows)
            note_filled(joints, j, state.position, state.rotation, dt, filled)
            if trees.tree[j] >= 0:
                trees.ready[trees.tree[j]] = 0
    trees.count[1] = 0
    for t in range(trees.ready.shape[0]):
        if trees.ready[t] == WITH_DRIVES:
            trees.ready[t] = 0
    stiffen_bodies(joints, joint_work, bodies, state, mass, settings.dt)
    if settings.drift == BAUMGARTE:
        rows = joint_work.rows
        for r in range(rows.error.shape[0]):
            rows.bias[r] += settings.baumgarte * rows.error[r]
        for j in range(joints.kind.shape[0]):
            filled[j, 14] = 0.0  # not what fill_joint() leaves


@kernel
def store_joints(joint_work, joints, state):
    """Remember what the joints carried and how far they have turned."""
    for j in range(joints.kind.shape[0]):
        for k in range(3):
            state.joint_value[j, k] = joint_work.rows.value[j, k]
    for r in range(joint_work.rows.impulse.shape[0]):
        state.joint_impulse[r] = joint_work.rows.impulse[r]


@kernel
def _mark_held(first, last, joints, joint_work, scheme):
    """Flag the bodies of joints that the mean of two velocities would tear.

    Not those that a plane of the fixed world holds: whatever moves along it, its mean does too.
    """
    for d in range(first, last):
        node = joint_work.node_list[d]
        j = joint_work.node_joint[node]
        held = joints.row_first[j + 1] - joints.row_first[j]
        fixed = joint_work.node_body[node, 0] == scheme.shape[0] - 1
        if joints.kind[j] == PLANAR and held == 3 and fixed:
            continue
        for side in range(2):
            scheme[joint_work.node_body[node, side]] = HELD


@kernel
def _is_torn(first, last, joint_work):
    """Whether a joint is so far open that stabilization.py has to close it: smooth motion does
    not.
    """
    rows = joint_work.rows
    for d in range(first, last):
        for k in range(3):
            r = joint_work.node_row[joint_work.node_list[d], k]
            if r >= 0 and rows.kind[r] == ROW_EQUALITY and abs(rows.error[r]) > OPEN:
                return True
    return False


@kernel
def _push_contacts(lo, hi, rows, joint_work, motion):
    """The warm start of contacts lo .. hi, after start_again()."""
    for r in range(lo, hi):
        for side in range(2):
            b = rows.body[r, side]
            if joint_work.trees.member[b] < 0:
                for k in range(6):
                    motion.twist[b, k] = motion.free[b, k]
    push_rows(lo, hi, rows.body, rows.frame, rows.arm, motion.mass, rows.impulse, motion.twist)


@stage
def solve_articulated(joint_work, joints, bodies, state, rows, groups, settings, work, motion):
    """Solve all groups with joints; returns the most sweeps, the largest error, Newton's steps."""
    most, worst, steps, newtons = 0, 0.0, 0, 0
    mass, tolerance = motion.mass, settings.tolerance
    for g in range(groups):
        first, last = np.int64(joint_work.group_node[g]), np.int64(joint_work.group_node[g + 1])
        if first == last:
            continue
        lo = np.int64(rows.slab_first[rows.group_first[g]])
        hi = np.int64(rows.slab_first[rows.group_first[g + 1]])
        error, sweeps = np.inf, 0
        smooth = settings.newton == 1 and lo == hi and settings.drift == DEFAULT_DRIFT
        if (
            smooth
            and not has_stiff(first, last, joint_work)
            and not _is_torn(first, last, joint_work)
        ):
            set_guess(first, last, joint_work, state.joint_curve, True, False)
            t = tree_of(first, joint_work)
            if t >= 0:
                error = rattle_tree(g, t, joints, bodies, state, joint_work, settings, motion)
            else:
                joint_work.trees.count[1] = 0
                error = rattle_island(
                    g, first, last, joints, bodies, state, rows, joint_work, settings, work, motion
                )
            newtons, steps = newtons + 1, steps + 1
            if not error <= tolerance:
                error = np.inf
                start_again(first, last, joint_work, state, motion)
        if not error < np.inf:
            joint_work.loose[g] = 1
            reset = settings.drift == DEFAULT_DRIFT
            set_guess(first, last, joint_work, state.joint_curve, False, reset)
            _mark_held(first, last, joints, joint_work, motion.scheme)
            if settings.newton == 1:
                goal = (DEEPEST if hi - lo <= FEW else DEEPER) * tolerance
                error, taken, done = solve_tree_contacts(
                    g,
                    lo,
                    hi - lo,
                    first,
                    last,
                    joints,
                    bodies,
                    rows,
                    joint_work,
                    goal,
                    work,
                    motion,
                )
                newtons, steps = newtons + done, steps + taken
                if done == 1 and not error <= tolerance:
                    start_again(first, last, joint_work, state, motion)
                    _push_contacts(lo, hi, rows, joint_work, motion)
            if settings.newton == 1 and not error <= tolerance:
                joint_work.trees.count[1] = 0
                error, islands, taken = solve_by_newton(
                    lo, hi - lo, first, last - first, rows, joint_work, mass, motion.free,
                    DEEPER * tolerance, work, motion.twist,
                )  # fmt: skip
                newtons, steps = newtons + islands, steps + taken
        if not error <= tolerance:
            error, sweeps = sweep_linked(
                lo, hi, first, last, rows, joint_work, mass, tolerance, settings.max_sweeps,
                motion.twist,
            )  # fmt: skip
        rows.group_residual[g], rows.group_sweeps[g] = error, sweeps
        most = max(most, sweeps)
        if not error <= worst:
            worst = error
    return most, worst, newtons, steps
