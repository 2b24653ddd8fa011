"""Articulated islands: contacts, joints, limits and drives of an island as one problem.

An island that RATTLE has not integrated is solved in rounds, with rows that become secants of the
poses before and after the step (secant.py), until its joints fit after it: by the midpoint rule if
RATTLE found that it moves smoothly, or in substeps if that fails; else, or if both fail, with the
displacement of the end of the step. Where rounds do not converge, as in a column that buckles
within the step, the rows of the start are solved, and stabilization.py and energy_balance.py have
the rest.

In each round it is handed down this ladder until its residual is below the tolerance:

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
from drystone.constraints.joint_rows import (
    BY_SECANT,
    BY_SUBSTEPS,
    contacts_of,
    nodes_of,
    start_group,
)
from drystone.constraints.joints.fill_rows import fill_joint, is_filled, note_filled
from drystone.jit import kernel
from drystone.jit.stage import stage
from drystone.model.arrays import (
    BAUMGARTE,
    DEFAULT_DRIFT,
    END_OF_STEP,
    HELD,
    MIDPOINT,
    RATTLED,
    ROLLING,
)
from drystone.model.joint_arrays import (
    BALL,
    FIXED,
    HINGE,
    PLANAR,
    ROW_EQUALITY,
    ROW_LIMIT,
    UNIVERSAL,
)
from drystone.solvers.articulated.end_poses import fill_end_rows, predict_poses
from drystone.solvers.articulated.geometric_stiffness import (
    relax_bodies,
    stiffen_bodies,
    stiffness_defect,
)
from drystone.solvers.articulated.rattle_island import mark_bodies
from drystone.solvers.articulated.secant import (
    CLOSED,
    MAX_ROUNDS,
    MOST_FIRM,
    NEARLY_CLOSED,
    PATIENCE,
    forget_factors,
    keep_iterate,
    set_secant_rows,
    solve_anew,
    start_poses,
    worst_error,
)
from drystone.solvers.articulated.soft_rows import has_springs, soften_rows
from drystone.solvers.articulated.substeps import MOST, PARTED, integrate_substeps
from drystone.solvers.articulated.tree_contacts import solve_tree_contacts
from drystone.solvers.articulated.tree_delassus import W_GROUP, WITH_DRIVES
from drystone.solvers.gauss_seidel.joint_sweep import sweep_linked
from drystone.solvers.gauss_seidel.rolling import add_torques, roll_rows, rolling_error
from drystone.solvers.gauss_seidel.solve_islands import DEEPER, DEEPEST
from drystone.solvers.newton.island_delassus import solve_by_newton

DEFECT = 10.0  # what residual() may see of a stiffness_defect(), on long arms: some 5 times it
LATE = 1.0 / 3.0  # of the step: when the forces are those that RATTLE finds
# How often torques of rolling friction are found anew in a solve. What rolls is there at once; a
# vehicle that is held by it alone takes the most.
MOST_TURNS = 60
FEW = 4  # contacts with which joints are solved to DEEPEST of the tolerance; with more, to DEEPER


@kernel
def _start_step(joint_work, state):
    """What earlier steps have left in the work arrays."""
    for r in range(joint_work.curve.shape[0]):
        for k in range(3):
            joint_work.curve[r, k] = state.joint_curve[r, k]
    for g in range(joint_work.done.shape[0]):
        joint_work.done[g], joint_work.smooth[g] = 0, 0
    trees = joint_work.trees
    trees.count[W_GROUP] = 0
    for t in range(trees.ready.shape[0]):
        if trees.ready[t] == WITH_DRIVES:
            trees.ready[t] = 0


@stage
def fill_joint_rows(joint_work, joints, state, settings):
    """Rows of all joints at the start of a step."""
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
    if settings.drift == BAUMGARTE:
        for r in range(rows.error.shape[0]):
            rows.bias[r] += settings.baumgarte * rows.error[r]
        for j in range(joints.kind.shape[0]):
            filled[j, 14] = 0.0  # not what fill_joint() leaves


@kernel
def _lead_to_end(joints, j, joint_work):
    """Impulses of joint `j`, which RATTLE has integrated twice, as forces at the end of the step
    times dt: what is read beside the poses there. joint_work.bias_change: since the last step.

    Those of RATTLE are those after a third of the step, in the directions of its start. So their
    size is led on by two thirds of what it has changed by, and their direction by all of it.
    """
    rows, change, first = joint_work.rows, joint_work.bias_change, joints.row_first[j]
    smooth = False
    for r in range(first, joints.row_first[j + 1]):
        if rows.kind[r] == ROW_EQUALITY and joint_work.curve[r, 1] != 0.0:
            smooth = True
    if not smooth:
        return
    kind, along, size = joints.kind[j], 0.0, 0.0
    point = kind == BALL or kind == HINGE or kind == UNIVERSAL or kind == FIXED
    for r in range(first, first + 3 if point else first):
        along += rows.impulse[r] * change[r]
        size += rows.impulse[r] ** 2
    for r in range(first, joints.row_first[j + 1]):
        if point and r < first + 3:
            part = along / size * rows.impulse[r] if size > 0.0 else 0.0
            rows.impulse[r] += change[r] - LATE * part
        elif rows.kind[r] == ROW_EQUALITY:
            rows.impulse[r] += (1.0 - LATE) * change[r]


@kernel
def store_joints(joint_work, joints, state):
    """Store coordinates, impulses and biases of the joints: the step is a good one."""
    rows = joint_work.rows
    for j in range(joints.kind.shape[0]):
        for k in range(3):
            state.joint_value[j, k] = rows.value[j, k]
    for r in range(rows.impulse.shape[0]):
        joint_work.bias_change[r] = rows.impulse[r] - state.joint_impulse[r]
        state.joint_impulse[r] = rows.impulse[r]
        for k in range(3):
            state.joint_curve[r, k] = joint_work.curve[r, k]
    for j in range(joints.kind.shape[0]):
        _lead_to_end(joints, j, joint_work)


@kernel
def _mark_held(g, joints, rows, joint_work, scheme, whole):
    """Flag the bodies of joints that the midpoint rule would open, and if `whole` all that touch.

    Not those that a plane of the fixed world holds: whatever moves along it, its mean does too. A
    box that moved by the mean on a bridge that moves by the end of the step would be lifted.
    """
    (first, last), (lo, hi), some = nodes_of(g, joint_work), contacts_of(g, rows), False
    for d in range(first, last):
        node = joint_work.node_list[d]
        j = joint_work.node_joint[node]
        held = joints.row_first[j + 1] - joints.row_first[j]
        fixed = joint_work.node_body[node, 0] == scheme.shape[0] - 1
        if joints.kind[j] == PLANAR and held == 3 and fixed:
            continue
        some = True
        for side in range(2):
            scheme[joint_work.node_body[node, side]] = HELD
    if some and whole:
        for r in range(lo, hi):
            for side in range(2):
                scheme[rows.body[r, side]] = max(scheme[rows.body[r, side]], END_OF_STEP)


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
def _climb_down(g, joints, bodies, state, rows, joint_work, settings, work, motion):
    """Down the ladder; residual, sweeps, islands that needed Newton, its steps."""
    error, sweeps, islands, steps, tolerance = np.inf, 0, 0, 0, settings.tolerance
    if settings.newton == 1:
        error, islands, steps = _try_trees(
            g, joints, bodies, state, rows, joint_work, tolerance, work, motion
        )
    if settings.newton == 1 and not error <= tolerance:
        error, more, taken = _try_newton(g, rows, joint_work, tolerance, work, motion)
        islands, steps = max(islands, more), steps + taken
    if not error <= tolerance:
        error, sweeps = _sweep(g, rows, joint_work, settings, motion)
    return error, sweeps, islands, steps


@kernel
def _climb_rolling(g, joints, bodies, state, rows, joint_work, settings, work, motion):
    """_climb_down(), again until the torques of rolling friction fit, which it takes as given.

    They are part of the free velocities while it runs, and of the solved ones when it is done.
    """
    (lo, hi), mass, rolls = contacts_of(g, rows), motion.mass, rows.special[ROLLING] == 1
    if rolls:
        add_torques(lo, hi, 1.0, rows, mass, motion.twist)
        roll_rows(lo, hi, rows, mass, motion.twist)
        add_torques(lo, hi, 1.0, rows, mass, motion.free)
    most, islands, steps, turn = 0, 0, 0, 0
    while True:
        error, sweeps, more, taken = _climb_down(
            g, joints, bodies, state, rows, joint_work, settings, work, motion
        )
        most, islands, steps, turn = max(most, sweeps), max(islands, more), steps + taken, turn + 1
        if not rolls:
            break
        off = rolling_error(lo, hi, rows, mass, motion.twist)
        add_torques(lo, hi, -1.0, rows, mass, motion.free)
        if not off > settings.tolerance or turn == MOST_TURNS:
            error = off if not off <= error else error
            break
        roll_rows(lo, hi, rows, mass, motion.twist)
        add_torques(lo, hi, 1.0, rows, mass, motion.free)
    return error, most, islands, steps


@kernel
def _iterate(
    g, share, old, impacts, joints, bodies, state, rows, joint_work, settings, work, motion
):  # fmt: skip
    """Solve group `g` with rows that become secants, until its joints fit after the step.

    share   of the solved velocities in the displacement, old   velocities at its start

    Returns whether they do, residual, sweeps, islands, steps.
    """
    (first, last), dt = nodes_of(g, joint_work), settings.dt
    off, error, most, islands, steps, best, since = np.inf, np.inf, 0, 0, 0, np.inf, 0
    near, firm, far = 0.0, 1.0, np.inf
    keep_iterate(first, last, joint_work, old)
    start_poses(first, last, state, joint_work)
    for k in range(MAX_ROUNDS):
        stiff = stiffen_bodies(
            first, last, joints, state, joint_work.end_rotation, joint_work, motion,
            firm * share, dt,
        )  # fmt: skip
        if k > 0 or stiff:
            solve_anew(g, rows, joint_work, motion)
        error, sweeps, more, taken = _climb_rolling(
            g, joints, bodies, state, rows, joint_work, settings, work, motion
        )
        most, islands, steps = max(most, sweeps), max(islands, more), steps + taken
        left = DEFECT * stiffness_defect(first, last, bodies, joint_work, motion.twist)
        relax_bodies(first, last, bodies, state, joint_work, motion)
        keep_iterate(first, last, joint_work, motion.twist)
        predict_poses(first, last, bodies, state, joint_work, motion, True, old, impacts, dt)
        fill_end_rows(first, last, joints, joint_work, dt)
        off = worst_error(first, last, joint_work, motion.move, dt)
        # A solve that leaves an error of the velocities leaves one of the positions too.
        closed = max(CLOSED, 2.0 * dt * error)
        near, error = max(NEARLY_CLOSED, closed), max(error, left / DEFECT)
        last_far, far = far, max(off / closed, left / settings.tolerance)
        if far <= 1.0:
            break
        if far < 0.5 * best:
            best, since = far, 0
        elif far > last_far:  # rounds that go to and fro are damped by more stiffness
            firm = min(2.0 * firm, MOST_FIRM)
        since += 1
        if not far < np.inf or since > PATIENCE or k == MAX_ROUNDS - 1:
            break
        set_secant_rows(first, last, joints, state, joint_work, motion, share, old, dt)
    joint_work.trees.count[W_GROUP] = 0
    return off <= near and error <= settings.tolerance, error, most, islands, steps


@kernel
def _fill_again(g, joints, state, rows, joint_work, motion, dt):
    """Rows at the start of the step and the warm start, for contacts a cold one: rounds that did
    not converge may have left any impulses."""
    (first, last), (lo, hi), before = nodes_of(g, joint_work), contacts_of(g, rows), -1
    for r in range(lo, hi):
        for k in range(3):
            rows.impulse[r, k] = 0.0
    for d in range(first, last):
        j = joint_work.node_joint[joint_work.node_list[d]]
        if j != before:
            fill_joint(joints, j, state.position, state.rotation, dt, joint_work.rows)
        before = j
    soften_rows(first, last, joint_work, state.twist, motion.mass, dt, False)
    start_group(first, last, joint_work, state, motion)
    forget_factors(first, last, joint_work)


@kernel
def _at_limit(first, last, joint_work):
    rows = joint_work.rows
    for i in range(joint_work.row_first[first], joint_work.row_first[last]):
        r = joint_work.row_list[i]
        if rows.kind[r] == ROW_LIMIT and rows.impulse[r] != 0.0:
            return True
    return False


@kernel
def _solve_smooth(g, joints, bodies, state, rows, joint_work, settings, work, motion):
    """Midpoint rule with secants, where nothing touches; whether it went well, and the rest."""
    first, last = nodes_of(g, joint_work)
    mark_bodies(first, last, joint_work, motion, RATTLED)
    good, error, sweeps, islands, steps = _iterate(
        g, 0.5, joint_work.start_twist, 0, joints, bodies, state, rows, joint_work, settings, work,
        motion,
    )  # fmt: skip
    if good and not _at_limit(first, last, joint_work):
        joint_work.done[g], joint_work.residual[g] = BY_SECANT, error
        return True, error, sweeps, islands, steps
    _fill_again(g, joints, state, rows, joint_work, motion, settings.dt)
    if not good and joint_work.smooth[g] != PARTED and not has_springs(first, last, joint_work):
        error = integrate_substeps(
            g, float(MOST), joints, bodies, state, rows, joint_work, settings, work, motion
        )
        if error <= settings.tolerance:
            joint_work.done[g], joint_work.residual[g] = BY_SUBSTEPS, error
            joint_work.stabilize[g] = 0
            return True, error, sweeps, islands, steps
        _fill_again(g, joints, state, rows, joint_work, motion, settings.dt)
        joint_work.stabilize[g] = 1
    mark_bodies(first, last, joint_work, motion, MIDPOINT)
    return False, error, sweeps, islands, steps


@kernel
def _solve_group(
    g, impacts, joints, bodies, state, rows, joint_work, settings, work, motion
):  # fmt: skip
    """Impulses of one group; residual, sweeps, islands that needed Newton, its steps."""
    joint_work.stabilize[g] = 1
    if joint_work.smooth[g] != 0:
        good, error, sweeps, islands, steps = _solve_smooth(
            g, joints, bodies, state, rows, joint_work, settings, work, motion
        )
        if good:
            return error, sweeps, islands, steps
    closes = settings.drift == DEFAULT_DRIFT
    _mark_held(g, joints, rows, joint_work, motion.scheme, closes)
    if closes:
        good, error, sweeps, islands, steps = _iterate(
            g, 1.0, state.twist, impacts, joints, bodies, state, rows, joint_work, settings, work,
            motion,
        )  # fmt: skip
        if good:
            return error, sweeps, islands, steps
        _fill_again(g, joints, state, rows, joint_work, motion, settings.dt)
        solve_anew(g, rows, joint_work, motion)
    return _climb_rolling(g, joints, bodies, state, rows, joint_work, settings, work, motion)


@stage
def solve_articulated(
    joint_work, joints, bodies, state, rows, groups, impacts, settings, work, motion
):  # fmt: skip
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
                g, impacts, joints, bodies, state, rows, joint_work, settings, work, motion
            )
            if rows.special[ROLLING] == 1:
                lo, hi = contacts_of(g, rows)
                add_torques(lo, hi, 1.0, rows, motion.mass, motion.free)
        rows.group_residual[g], rows.group_sweeps[g] = error, sweeps
        islands, steps, most = islands + more, steps + taken, max(most, sweeps)
        if not error <= worst:
            worst = error
    return most, worst, islands, steps
