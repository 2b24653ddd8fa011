"""Substeps of RATTLE, where bodies on joints rotate far within a step, or are pulled hard.

RATTLE is of second order in the angle by which bodies rotate in a step. What rotates freely does so
exactly (motion/integrate.py), but a joint turns the axis of a gyroscope by a small angle while it
spins by a large one, and the rows of its joint see the poses at both ends alone: with 1.25 rad in a
step a gyroscope lost its energy within a second. So the step of such an island is cut into
parts, in each of which no body rotates by more than a tenth of a radian. It touches nothing in the
whole step, so that nobody else sees what happens between.

Where a chain of light links pulls its ball round like a whip, the time in which it cracks is far
shorter than the rest of the step. So a part that is declined, or whose energy errs, is taken again
by shorter ones, and the parts grow again behind it.

Forces are those of the start of the step, as without substeps; gravity and forces of the user act
in each. The energy is balanced in each. State is used as scratch, and put back: displacements and
velocities after the step stand in Motion, as finalize.py wants them.
"""

from math import ceil, inf

from drystone.constraints.joint_rows import BY_RATTLE, nodes_of, push_joint_row
from drystone.constraints.joints.fill_rows import fill_joint
from drystone.forces.free_velocity import free_twist
from drystone.jit import kernel
from drystone.jit.stage import stage
from drystone.jit.vec import rotation_between
from drystone.motion.finalize import move_body
from drystone.solvers.articulated.energy_balance import (
    BUDGET,
    BY_SCHEME,
    LOST,
    balance_energy,
    draw_budget,
    energy_error,
)
from drystone.solvers.articulated.rattle_island import project_group, shake_island
from drystone.solvers.articulated.secant import forget_factors
from drystone.solvers.articulated.soft_rows import soften_rows

MOST = 256  # parts to begin with: 4000 rad/s in steps of 1/240 s
# Of the step: velocities of shorter parts are made of the last digits of positions.
SHORTEST = 2.0**-14
MOST_TAKEN = 8192  # parts, those taken again too: a step has a bound
# Share of the energy in play by which a part may err before what it lost is given back.
MOST_ERRING = 1e-5
SHORTER_BY = 16.0  # at most: what a part that is far too long says of itself is a guess
PARTED = 2  # JointWork.smooth of a group that was declined here
CALM = 4  # good parts before they become longer again


@kernel
def _list_moving(first, last, joint_work, n):
    """List the bodies of the blocks first .. last, kinematic ones too; how many they are."""
    stamp, mark, count = joint_work.stamp, joint_work.stamp.shape[0] - 1, 0
    stamp[mark] += 1
    for d in range(first, last):
        for side in range(2):
            b = joint_work.node_body[joint_work.node_list[d], side]
            if b < n and stamp[b] != stamp[mark]:
                stamp[b] = stamp[mark]
                joint_work.moving[count] = b
                count += 1
    return count


@kernel
def _keep_state(first, last, count, state, joint_work):
    kept = joint_work.kept_state
    for d in range(first, last):
        j = joint_work.node_joint[joint_work.node_list[d]]
        for k in range(3):
            joint_work.kept_value[j, k] = state.joint_value[j, k]
    for i in range(count):
        b = joint_work.moving[i]
        for k in range(3):
            kept[b, k] = state.position[b, k]
        for k in range(4):
            kept[b, 3 + k] = state.rotation[b, k]
        for k in range(6):
            kept[b, 7 + k] = state.twist[b, k]
            joint_work.kept_start[b, k] = joint_work.start_twist[b, k]


@kernel
def _put_back(first, last, count, bodies, state, joint_work, settings, motion):
    """Poses, velocities and free velocities of the start of the step."""
    kept = joint_work.kept_state
    for d in range(first, last):
        j = joint_work.node_joint[joint_work.node_list[d]]
        for k in range(3):
            state.joint_value[j, k] = joint_work.kept_value[j, k]
    for i in range(count):
        b = joint_work.moving[i]
        for k in range(3):
            state.position[b, k] = kept[b, k]
        for k in range(4):
            state.rotation[b, k] = kept[b, 3 + k]
        for k in range(6):
            state.twist[b, k] = kept[b, 7 + k]
            joint_work.start_twist[b, k] = joint_work.kept_start[b, k]
        free_twist(
            b, bodies, state, motion.force, settings, settings.dt, motion.rotation_matrix,
            motion.mass, motion.free,
        )  # fmt: skip


@kernel
def _start_substep(first, last, count, joints, bodies, state, joint_work, settings, motion, h):
    """Free velocities, rows and the warm start."""
    rows, before = joint_work.rows, -1
    for i in range(count):
        b = joint_work.moving[i]
        free_twist(
            b, bodies, state, motion.force, settings, h, motion.rotation_matrix, motion.mass,
            motion.free,
        )  # fmt: skip
        for k in range(6):
            motion.twist[b, k] = motion.free[b, k]
    for d in range(first, last):
        j = joint_work.node_joint[joint_work.node_list[d]]
        if j != before:
            fill_joint(joints, j, state.position, state.rotation, h, rows)
            joint_work.filled[j, 14] = 0.0  # it is not for the whole step
        before = j
    soften_rows(first, last, joint_work, state.twist, motion.mass, h, True)
    for i in range(joint_work.row_first[first], joint_work.row_first[last]):
        r = joint_work.row_list[i]
        rows.impulse[r] = min(max(rows.impulse[r], rows.lower[r]), rows.upper[r])
        push_joint_row(r, rows.impulse[r], rows, motion.mass, motion.twist)


@kernel
def _start_joints(first, last, state, joint_work, share):
    """Coordinates and impulses of the joints as the last step left them."""
    rows = joint_work.rows
    for d in range(first, last):
        j = joint_work.node_joint[joint_work.node_list[d]]
        for k in range(3):
            rows.value[j, k] = state.joint_value[j, k]
    for i in range(joint_work.row_first[first], joint_work.row_first[last]):
        r = joint_work.row_list[i]
        rows.impulse[r] = share * state.joint_impulse[r]
        for k in range(3):
            joint_work.curve[r, k] = 0.0


@kernel
def _keep_part(first, last, count, state, joint_work):
    """What a part changes, to take it again by shorter ones."""
    kept, rows = joint_work.part_state, joint_work.rows
    for d in range(first, last):
        j = joint_work.node_joint[joint_work.node_list[d]]
        for k in range(3):
            joint_work.part_value[j, k] = state.joint_value[j, k]
    for i in range(joint_work.row_first[first], joint_work.row_first[last]):
        r = joint_work.row_list[i]
        joint_work.part_row[r, 0] = rows.impulse[r]
        for k in range(3):
            joint_work.part_row[r, 1 + k] = joint_work.curve[r, k]
    for i in range(count):
        b = joint_work.moving[i]
        for k in range(3):
            kept[b, k] = state.position[b, k]
        for k in range(4):
            kept[b, 3 + k] = state.rotation[b, k]
        for k in range(6):
            kept[b, 7 + k] = state.twist[b, k]


@kernel
def _back_to_part(first, last, count, state, joint_work):
    kept, rows = joint_work.part_state, joint_work.rows
    for d in range(first, last):
        j = joint_work.node_joint[joint_work.node_list[d]]
        for k in range(3):
            rows.value[j, k] = state.joint_value[j, k] = joint_work.part_value[j, k]
    for i in range(joint_work.row_first[first], joint_work.row_first[last]):
        r = joint_work.row_list[i]
        rows.impulse[r] = joint_work.part_row[r, 0]
        for k in range(3):
            joint_work.curve[r, k] = joint_work.part_row[r, 1 + k]
    for i in range(count):
        b = joint_work.moving[i]
        for k in range(3):
            state.position[b, k] = kept[b, k]
        for k in range(4):
            state.rotation[b, k] = kept[b, 3 + k]
        for k in range(6):
            state.twist[b, k] = kept[b, 7 + k]
    forget_factors(first, last, joint_work)


@kernel
def _scale_guesses(first, last, joint_work, by):
    """Impulses and biases that the last part leaves to one of another length."""
    for i in range(joint_work.row_first[first], joint_work.row_first[last]):
        r = joint_work.row_list[i]
        joint_work.rows.impulse[r] *= by
        for k in range(3):
            joint_work.curve[r, k] *= by


@kernel
def _take_part(
    g, h, count, joints, bodies, state, rows, joint_work, settings, work, motion
):  # fmt: skip
    """A part of group `g` over `h`, on State, whose energy is still to be balanced. The residual of
    its velocities [m/s], infinite: declined; by how much shorter it would have to be, 0 where
    nobody knows; and the share by which its energy errs."""
    first, last = nodes_of(g, joint_work)
    _start_substep(first, last, count, joints, bodies, state, joint_work, settings, motion, h)
    error, shorter = shake_island(
        g, joints, bodies, state, rows, joint_work, settings, work, motion, h
    )
    if not error <= settings.tolerance or joint_work.stabilize[g] == 1:
        return inf, shorter, 0.0
    joint_work.done[g] = BY_RATTLE
    draw_budget(g, bodies, state, rows, joint_work, settings, motion, h)
    for i in range(count):
        move_body(joint_work.moving[i], bodies, state, motion, h)
    project_group(g, joints, bodies, state, rows, joint_work, work, motion, h)
    return error, 0.0, energy_error(g, bodies, state, rows, joint_work)


@kernel
def _take_parts(
    g, n, count, joints, bodies, state, rows, joint_work, settings, work, motion
):  # fmt: skip
    """Parts of group `g` on State, the `n`-th of the step long or shorter. The worst residual of
    its velocities [m/s], infinite if it was declined; and the length of the last part [s]."""
    (first, last), dt, energy = nodes_of(g, joint_work), settings.dt, joint_work.energy
    left, length, part, calm = dt, dt / n, dt / n, 0
    worst, kinetic, lost, by_scheme, balanced = 0.0, 0.0, 0.0, 0.0, True
    for _ in range(MOST_TAKEN):
        h = left / max(ceil(left / length - 1e-6), 1)
        if h != part:
            _scale_guesses(first, last, joint_work, h / part)
            part = h
        _keep_part(first, last, count, state, joint_work)
        error, shorter, erring = _take_part(
            g, h, count, joints, bodies, state, rows, joint_work, settings, work, motion
        )
        shortest = h < SHORTEST * dt
        if not error < inf or (erring > MOST_ERRING and not shortest):
            joint_work.done[g] = 0
            if shortest:
                return inf, h
            _back_to_part(first, last, count, state, joint_work)
            length, calm = h / min(max(2.0, shorter), SHORTER_BY), 0
            continue
        worst = max(worst, error)
        kinetic, _, beyond = balance_energy(g, bodies, state, rows, joint_work)
        joint_work.done[g] = 0
        balanced = balanced and abs(energy[g, BUDGET]) < inf
        lost, by_scheme = lost + energy[g, LOST], by_scheme + energy[g, BY_SCHEME]
        if not beyond < inf:
            return inf, h
        left -= h
        if left <= 1e-9 * dt:
            # What is done to the island from now on, in continuous collision detection, may add
            # nothing.
            energy[g, BUDGET], energy[g, LOST] = kinetic if balanced else inf, lost
            energy[g, BY_SCHEME] = by_scheme
            return worst, h
        calm += 1
        if calm == CALM:
            length, calm = min(2.0 * h, dt / n), 0
    return inf, part


@kernel
def _hand_over(first, last, count, state, joint_work, motion, n, dt):
    """The motion over all substeps as the displacement of a step, and velocities after it."""
    rows, kept, move = joint_work.rows, joint_work.kept_state, motion.move
    for i in range(count):
        b = joint_work.moving[i]
        p, q = kept, state.rotation
        turned = rotation_between(
            (p[b, 3], p[b, 4], p[b, 5], p[b, 6]), (q[b, 0], q[b, 1], q[b, 2], q[b, 3])
        )
        for k in range(3):
            move[b, k] = (state.position[b, k] - p[b, k]) / dt
            move[b, 3 + k] = turned[k] / dt
            # as for a free rotation: its spin stays as it is
            motion.mean[b, k] = move[b, 3 + k]
            motion.later[b, k] = state.twist[b, 3 + k]
        for k in range(6):
            motion.twist[b, k] = state.twist[b, k]
    for i in range(joint_work.row_first[first], joint_work.row_first[last]):
        rows.impulse[joint_work.row_list[i]] *= n  # the last force, over the whole step


@kernel
def _fill_again(first, last, joints, state, joint_work, motion, dt):
    """Rows at the start of the step, as fill_joint_rows() and rattle_islands() leave them."""
    before = -1
    for d in range(first, last):
        j = joint_work.node_joint[joint_work.node_list[d]]
        if j != before:
            fill_joint(joints, j, state.position, state.rotation, dt, joint_work.rows)
        before = j
    soften_rows(first, last, joint_work, state.twist, motion.mass, dt, True)
    forget_factors(first, last, joint_work)


@stage
def integrate_substeps(
    g, shorter, joints, bodies, state, rows, joint_work, settings, work, motion
):  # fmt: skip
    """Integrate group `g` in substeps, which are so many times `shorter` than the step at least, or
    the MOST-th part of it.

    Returns the residual of its velocities [m/s], infinite: declined, and it is as it was found.
    """
    first, last = nodes_of(g, joint_work)
    n = int(ceil(min(shorter, MOST)))
    count = _list_moving(first, last, joint_work, state.position.shape[0])
    _keep_state(first, last, count, state, joint_work)
    _start_joints(first, last, state, joint_work, 1.0 / n)
    error, h = _take_parts(
        g, n, count, joints, bodies, state, rows, joint_work, settings, work, motion
    )
    if error < inf:
        _hand_over(first, last, count, state, joint_work, motion, settings.dt / h, settings.dt)
    _put_back(first, last, count, bodies, state, joint_work, settings, motion)
    if not error < inf:
        _start_joints(first, last, state, joint_work, 1.0)
        _fill_again(first, last, joints, state, joint_work, motion, settings.dt)
    return error
