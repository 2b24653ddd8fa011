"""Secant Jacobians: impulses of joints that do no work, and joints that fit after the step.

A joint g(q) = 0 pushes along the rows of J(q). Where bodies rotate by an angle that is not small,
J at the start of the step is not the direction in which they move, and the joint has opened at its
end. With the secant Jacobian G of the start q and the end q',

    G (q' - q) = g(q') - g(q),

and velocities v' such that G times the displacement is zero, both are mended at once: the joint is
closed after the step, and its impulse p does the work pᵀ G (q' - q) = 0. So with displacements by

    dt v'             (end of step)   the energy changes by -|v' - v|² / 2 in the norm of the mass,
    dt (v + v') / 2   (midpoint)      it does not change,

whatever the angles, the mass ratios and the pulls [Gonzalez1996]; contacts, which know the end of
step alone, take their share as always. For a point at the arm r of a body that rotates by the angle
vector dt w, G is the mean of the arms before and after, times tan(x) / x, x = dt |w| / 2; other
rows take the mean of J at both ends, which is G but for terms of third order.

G depends on q', which depends on v'. We iterate: solve with the rows at hand, predict q', make the
rows anew, with a bias that takes away the position error found there. What joints do to the
directions of arms within the step is in geometric_stiffness.py. Three to six rounds leave 1e-9.
"""

from math import sqrt, tan

from drystone.constraints.coulomb import push_rows
from drystone.constraints.joint_rows import contacts_of, nodes_of, push_joint_row, row_velocity
from drystone.constraints.joints.fill_rows import fill_joint
from drystone.jit import inner_kernel, kernel
from drystone.model.joint_arrays import ROW_EQUALITY, ROW_SPRING
from drystone.solvers.articulated.end_poses import error_made
from drystone.solvers.articulated.soft_rows import soften_rows

MAX_ROUNDS = 40  # of solving with rows that are made anew
CLOSED = 1e-8  # [m], [rad]: position errors with which rows are good enough
NEARLY_CLOSED = 1e-6  # [m], [rad]: with which the last of them are, for stabilization.py
MOST_FIRM = 16.0  # times the geometric stiffness, where rounds go to and fro
PATIENCE = 12  # rounds in which errors must fall by half; else there is no answer nearby
LARGEST_HALF = 1.3  # [rad] half angles beyond it count as this: tan(x) / x has a pole at pi / 2


@inner_kernel
def worst_error(first, last, joint_work, move, dt):
    """Largest position error of end_rows that the step has made [m], [rad]; of springs, by how
    much their length differs from what their rows saw of the displacements `move`."""
    worst, rows = 0.0, joint_work.rows
    for i in range(joint_work.row_first[first], joint_work.row_first[last]):
        r = joint_work.row_list[i]
        if rows.kind[r] == ROW_EQUALITY:
            off = abs(error_made(r, joint_work.end_rows.error[r], joint_work))
        elif rows.kind[r] == ROW_SPRING:
            seen = rows.spring[r, 0] + dt * row_velocity(r, rows, move)
            off = abs(joint_work.end_rows.spring[r, 0] - seen)
        else:
            continue
        if not off <= worst:
            worst = off
    return worst


@kernel
def _stretch(b, move, dt):
    """tan(x) / x for half the angle by which body `b` rotates."""
    if b >= move.shape[0] - 1:
        return 1.0
    x, y, z = move[b, 3], move[b, 4], move[b, 5]
    half = min(0.5 * dt * sqrt(x * x + y * y + z * z), LARGEST_HALF)
    return tan(half) / half if half > 1e-6 else 1.0


@inner_kernel
def set_secant_rows(first, last, joints, state, joint_work, motion, share, old, dt):
    """Rows of the blocks first .. last as secants of the start of the step and of end_rows.

    share   of the solved velocities in the displacement: 1, or 1/2 for the midpoint rule
    old     velocities at the start of the step
    """
    rows, end, before = joint_work.rows, joint_work.end_rows, -1
    for d in range(first, last):
        j = joint_work.node_joint[joint_work.node_list[d]]
        if j != before:
            fill_joint(joints, j, state.position, state.rotation, dt, rows)
            joint_work.filled[j, 14] = 0.0  # not what fill_joint() leaves
        before = j
    for i in range(joint_work.row_first[first], joint_work.row_first[last]):
        r = joint_work.row_list[i]
        if rows.kind[r] != ROW_EQUALITY and rows.kind[r] != ROW_SPRING:
            continue
        size = 0.0
        for k in range(3):
            rows.linear[r, k] = 0.5 * (rows.linear[r, k] + end.linear[r, k])
            size += abs(rows.linear[r, k])
        for side in range(2):
            # Rows of directions see relative spins alone, and have the same numbers for A and B.
            f = 0.5 * (_stretch(rows.body[r, side], motion.move, dt) if size > 0.0 else 1.0)
            for k in range(3 * side, 3 * side + 3):
                rows.angular[r, k] = f * (rows.angular[r, k] + end.angular[r, k])
        if rows.kind[r] == ROW_EQUALITY:
            off = error_made(r, end.error[r], joint_work)
            rows.bias[r] = off / (share * dt) - row_velocity(r, rows, motion.twist)
    soften_rows(first, last, joint_work, old, motion.mass, dt, share < 1.0)


@inner_kernel
def solve_anew(g, rows, joint_work, motion):
    """Velocities from the impulses at hand, for rows or masses that have changed."""
    (first, last), (lo, hi) = nodes_of(g, joint_work), contacts_of(g, rows)
    twist, free = motion.twist, motion.free
    for d in range(first, last):
        for side in range(2):
            b = joint_work.node_body[joint_work.node_list[d], side]
            for k in range(6):
                twist[b, k] = free[b, k]
    for r in range(lo, hi):
        for side in range(2):
            b = rows.body[r, side]
            for k in range(6):
                twist[b, k] = free[b, k]
    for i in range(joint_work.row_first[first], joint_work.row_first[last]):
        r = joint_work.row_list[i]
        push_joint_row(r, joint_work.rows.impulse[r], joint_work.rows, motion.mass, twist)
    push_rows(lo, hi, rows.body, rows.frame, rows.arm, motion.mass, rows.impulse, twist)
    forget_factors(first, last, joint_work)


@inner_kernel
def forget_factors(first, last, joint_work):
    """The factors of trees of the blocks first .. last no longer hold."""
    trees = joint_work.trees
    for d in range(first, last):
        t = trees.tree[joint_work.node_joint[joint_work.node_list[d]]]
        if t >= 0:
            trees.ready[t] = 0


@inner_kernel
def keep_iterate(first, last, joint_work, twist):
    """Note the velocities of this iterate."""
    for d in range(first, last):
        for side in range(2):
            b = joint_work.node_body[joint_work.node_list[d], side]
            if b < twist.shape[0]:
                for k in range(6):
                    joint_work.last_twist[b, k] = twist[b, k]


@inner_kernel
def start_poses(first, last, state, joint_work):
    """Poses after the step before there is an iterate: those of the start."""
    for d in range(first, last):
        for side in range(2):
            b = joint_work.node_body[joint_work.node_list[d], side]
            if b < state.rotation.shape[0]:
                for k in range(4):
                    joint_work.end_rotation[b, k] = state.rotation[b, k]
