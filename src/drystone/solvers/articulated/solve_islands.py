"""Articulated islands: contacts, joints, limits and drives of an island as one problem.

Each island is handed down this ladder until its residual is below the tolerance:

    method                  tried if                          why
    ----------------------  --------------------------------  -------------------------------------
    RATTLE (rattle.py),     nothing touches the island, no    joints hold exactly and energy is
    before the solve        limit is reached, `auto`,         conserved over long times
                            drift by default
    contacts on trees       `auto`, joints in trees, few      joints are eliminated: Newton has
    (tree_contacts.py)      contacts and limits               contacts and limits alone
    Newton on the island    `auto`, a matrix that fits        joints, loops too, and contacts at
    (newton/                                                  once; along chains the matrix is
    island_delassus.py)                                       dense near its diagonal alone
    Gauss-Seidel sweeps     always                            any size, and all there is for
    (joint_sweep.py)                                          `nsgs`

A method that fails hands on as follows. RATTLE and the contacts on trees have changed velocities
and impulses of the joints all over: the next method starts from the free velocities and the
impulses of the last step again. Newton's best iterate is the start of the sweeps. What sweeps leave
is reported.

The solve writes neither State nor Model: rows of joints are filled before it, and store_joints()
stores them when the step is finalized.
"""

import numpy as np

from drystone.constraints.coulomb import push_rows
from drystone.constraints.joint_rows import contacts_of, nodes_of, start_group
from drystone.constraints.joints.fill_rows import fill_joint, is_filled, note_filled
from drystone.jit import kernel
from drystone.jit.stage import stage
from drystone.model.arrays import BAUMGARTE, HELD
from drystone.model.joint_arrays import PLANAR
from drystone.solvers.articulated.geometric_stiffness import add_inertia
from drystone.solvers.articulated.tree_contacts import solve_tree_contacts
from drystone.solvers.articulated.tree_delassus import W_GROUP, WITH_DRIVES
from drystone.solvers.gauss_seidel.joint_sweep import sweep_linked
from drystone.solvers.gauss_seidel.solve_islands import DEEPER, DEEPEST
from drystone.solvers.newton.island_delassus import solve_by_newton

FEW = 4  # contacts with which joints are solved to DEEPEST of the tolerance; with more, to DEEPER


@kernel
def _start_step(joint_work, state):
    """What earlier steps have left in the work arrays."""
    for r in range(joint_work.curve.shape[0]):
        for k in range(3):
            joint_work.curve[r, k] = state.joint_curve[r, k]
    for g in range(joint_work.done.shape[0]):
        joint_work.done[g] = 0
    trees = joint_work.trees
    trees.count[W_GROUP] = 0
    for t in range(trees.ready.shape[0]):
        if trees.ready[t] == WITH_DRIVES:
            trees.ready[t] = 0


@stage
def fill_joint_rows(joint_work, joints, bodies, state, settings, mass):
    """Rows of all joints at the start of a step; added inertia of bodies on which they pull."""
    rows, filled, trees, dt = joint_work.rows, joint_work.filled, joint_work.trees, settings.dt
    _start_step(joint_work, state)
    for j in range(joints.kind.shape[0]):
        for k in range(3):
            rows.value[j, k] = state.joint_value[j, k]
        if not is_filled(joints, j, state.position, state.rotation, dt, filled):
            fill_joint(joints, j, state.position, state.rotation, dt, rows)
            note_filled(joints, j, state.position, state.rotation, dt, filled)
            if trees.tree[j] >= 0:
                trees.ready[trees.tree[j]] = 0
    add_inertia(joints, joint_work, bodies, state, mass, dt)
    if settings.drift == BAUMGARTE:
        for r in range(rows.error.shape[0]):
            rows.bias[r] += settings.baumgarte * rows.error[r]
        for j in range(joints.kind.shape[0]):
            filled[j, 14] = 0.0  # not what fill_joint() leaves


@kernel
def store_joints(joint_work, joints, state):
    """Store coordinates, impulses and biases of the joints: the step is a good one."""
    rows = joint_work.rows
    for j in range(joints.kind.shape[0]):
        for k in range(3):
            state.joint_value[j, k] = rows.value[j, k]
    for r in range(rows.impulse.shape[0]):
        state.joint_impulse[r] = rows.impulse[r]
        for k in range(3):
            state.joint_curve[r, k] = joint_work.curve[r, k]


@kernel
def _mark_held(first, last, joints, joint_work, scheme):
    """Flag the bodies of joints that the midpoint rule would open.

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
def _start_again(g, rows, joint_work, state, motion):
    """Free velocities and the warm start for the joints and contacts of group `g`."""
    (first, last), (lo, hi) = nodes_of(g, joint_work), contacts_of(g, rows)
    start_group(first, last, joint_work, state, motion)
    for r in range(lo, hi):
        for side in range(2):
            b = rows.body[r, side]
            if joint_work.trees.member[b] < 0:
                for k in range(6):
                    motion.twist[b, k] = motion.free[b, k]
    push_rows(lo, hi, rows.body, rows.frame, rows.arm, motion.mass, rows.impulse, motion.twist)


@kernel
def _try_trees(g, joints, bodies, state, rows, joint_work, tolerance, work, motion):
    """Contacts on trees; residual, islands that needed Newton, its steps."""
    lo, hi = contacts_of(g, rows)
    goal = (DEEPEST if hi - lo <= FEW else DEEPER) * tolerance
    error, steps, tried = solve_tree_contacts(
        g, joints, bodies, rows, joint_work, goal, work, motion
    )
    if tried == 1 and not error <= tolerance:
        _start_again(g, rows, joint_work, state, motion)
    return error, tried, steps


@kernel
def _try_newton(g, rows, joint_work, tolerance, work, motion):
    """Newton on the matrix of the island; residual, islands that needed it, its steps."""
    (first, last), (lo, hi) = nodes_of(g, joint_work), contacts_of(g, rows)
    joint_work.trees.count[W_GROUP] = 0
    return solve_by_newton(
        lo, hi - lo, first, last - first, rows, joint_work, motion.mass, motion.free,
        DEEPER * tolerance, work, motion.twist,
    )  # fmt: skip


@kernel
def _sweep(g, rows, joint_work, settings, motion):
    """Gauss-Seidel; residual and sweeps."""
    (first, last), (lo, hi) = nodes_of(g, joint_work), contacts_of(g, rows)
    return sweep_linked(
        lo, hi, first, last, rows, joint_work, motion.mass, settings.tolerance,
        settings.max_sweeps, motion.twist,
    )  # fmt: skip


@kernel
def _solve_group(g, joints, bodies, state, rows, joint_work, settings, work, motion):
    """Down the ladder; residual, sweeps, islands that needed Newton, its steps."""
    first, last = nodes_of(g, joint_work)
    error, sweeps, islands, steps, tolerance = np.inf, 0, 0, 0, settings.tolerance
    joint_work.stabilize[g] = 1
    _mark_held(first, last, joints, joint_work, motion.scheme)
    if settings.newton == 1:
        error, islands, steps = _try_trees(
            g, joints, bodies, state, rows, joint_work, tolerance, work, motion
        )
    if settings.newton == 1 and not error <= tolerance:
        error, more, taken = _try_newton(g, rows, joint_work, tolerance, work, motion)
        islands, steps = islands + more, steps + taken
    if not error <= tolerance:
        error, sweeps = _sweep(g, rows, joint_work, settings, motion)
    return error, sweeps, islands, steps


@stage
def solve_articulated(joint_work, joints, bodies, state, rows, groups, settings, work, motion):
    """Solve all groups with joints that RATTLE has not integrated.

    Returns the most sweeps, the largest residual, islands that needed Newton, its steps.
    """
    most, worst, islands, steps = 0, 0.0, 0, 0
    for g in range(groups):
        first, last = nodes_of(g, joint_work)
        if first == last:
            continue
        error, sweeps, more, taken = joint_work.residual[g], 0, 0, 0
        if joint_work.done[g] == 0:
            error, sweeps, more, taken = _solve_group(
                g, joints, bodies, state, rows, joint_work, settings, work, motion
            )
        rows.group_residual[g], rows.group_sweeps[g] = error, sweeps
        islands, steps, most = islands + more, steps + taken, max(most, sweeps)
        if not error <= worst:
            worst = error
    return most, worst, islands, steps
