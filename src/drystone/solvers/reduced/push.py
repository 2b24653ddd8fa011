"""Displacements of robots are corrected: overlaps, passed limits and open joints, without velocity.

As push_apart() does for bodies (motion/stabilization.py): impulses that move and add no kinetic
energy, normals only, and what holds keeps holding. They are found in sweeps over the blocks of the
island that has just been solved; what is left is taken up by the next step. Here robots move; the
other bodies of the island are moved by push_apart().
"""

import numpy as np

from drystone.constraints.reduced.mass_factor import spread_up
from drystone.jit import inner_kernel, kernel
from drystone.model.joint_arrays import ROW_EQUALITY, ROW_LIMIT
from drystone.model.robot_arrays import ROBOT_COUPLING, ROBOT_LIMIT, ROBOT_LOOP
from drystone.model.robot_scratch import (
    BLOCK_CONTACT,
    BLOCK_JOINT,
    BLOCK_ROBOT,
    PUSH_APART,
    PUSH_NEVER,
    PUSH_TOGETHER,
)
from drystone.motion.stabilization import gap_wanted
from drystone.solvers.reduced.blocks import BLIND
from drystone.solvers.reduced.tied_problem import velocity_of

SWEEPS = 20  # at most, in a step
NEGLIGIBLE = 1e-9  # [m], [rad]


@kernel
def _lack_of_contact(i, share, dt, rows, problem, island):
    """Whether contact block `i` overlaps; its lack under the velocities after the step."""
    r = problem.source[i, 0]
    u, _, _ = velocity_of(i, problem, island)
    wanted = gap_wanted(rows.gap[r], rows.skin[r], share)
    problem.side[i, 0] = PUSH_APART
    # q has the free velocity and the bias; the bias is no motion.
    problem.lack[i, 0] = (wanted - rows.gap[r]) / dt - (u - rows.bias[r])
    return rows.gap[r] < -rows.skin[r]


@kernel
def _lack_of_row(i, k, share, dt, joint_work, motion, problem, scratch):
    """Likewise row `k` of another block."""
    r = problem.source[i, k]
    if r < 0:
        return False
    if problem.kind[i] == BLOCK_JOINT:
        if joint_work is None:
            return False
        rows = joint_work.rows
        if rows.kind[r] == ROW_EQUALITY:
            problem.side[i, k] = PUSH_TOGETHER
            problem.lack[i, k] = -share * rows.error[r] / dt
            return abs(rows.error[r]) > NEGLIGIBLE
        if rows.kind[r] == ROW_LIMIT:
            problem.side[i, k] = PUSH_APART
            over = max(-rows.error[r], 0.0)
            problem.lack[i, k] = share * over / dt
            return over > NEGLIGIBLE
        return False
    if problem.kind[i] != BLOCK_ROBOT:
        return False
    rows = scratch.rows
    if rows.kind[r] == ROBOT_LIMIT:
        problem.side[i, k] = PUSH_APART
        problem.lack[i, k] = -share * rows.gap[r] / dt
        return rows.gap[r] < -NEGLIGIBLE
    if rows.kind[r] == ROBOT_LOOP or rows.kind[r] == ROBOT_COUPLING:
        problem.side[i, k] = PUSH_TOGETHER
    return False


@kernel
def _visit(i, k, own, problem):
    """Row `k` of block `i` takes what it lacks; the change of its impulse."""
    lack = problem.lack[i, k]
    for side in range(2):
        width, start = np.int64(problem.width[i, side]), np.int64(problem.start[i, side])
        at = problem.at[i, side] + k * width
        for d in range(width):
            lack -= problem.z[at + d] * problem.pushed[start + d]
    new = problem.push[i, k] + lack / own
    if problem.side[i, k] == PUSH_APART:
        new = max(new, 0.0)
    change = new - problem.push[i, k]
    problem.push[i, k] = new
    if change == 0.0:
        return
    for side in range(2):
        width, start = np.int64(problem.width[i, side]), np.int64(problem.start[i, side])
        at = problem.at[i, side] + k * width
        for d in range(width):
            problem.pushed[start + d] += problem.z[at + d] * change


@kernel
def _find_lacks(n, share, dt, rows, joint_work, motion, scratch):
    """What the rows lack; whether any lacks enough to be moved."""
    problem, some = scratch.problem, False
    for i in range(n):
        for k in range(3):
            problem.side[i, k], problem.lack[i, k] = PUSH_NEVER, 0.0
            problem.push[i, k] = 0.0
        for side in range(2):
            start = np.int64(problem.start[i, side])
            for d in range(problem.width[i, side]):
                problem.pushed[start + d] = 0.0
        if problem.kind[i] == BLOCK_CONTACT:
            if _lack_of_contact(i, share, dt, rows, problem, scratch.island):
                some = True
            continue
        for k in range(3):
            if _lack_of_row(i, k, share, dt, joint_work, motion, problem, scratch):
                some = True
    return some


@inner_kernel
def push_robots(n, settings, rows, joint_work, motion, scratch):
    """Corrections for the blocks 0 ... n into problem.pushed; whether there are any."""
    problem, dt = scratch.problem, settings.dt
    if not _find_lacks(n, settings.push_out, dt, rows, joint_work, motion, scratch):
        return False
    for _ in range(SWEEPS):
        for i in range(n):
            for k in range(3):
                if problem.side[i, k] != PUSH_NEVER:
                    own = problem.own[i, 0 if k == 0 else (3 if k == 1 else 5)]
                    if own > BLIND * (problem.own[i, 0] + problem.own[i, 3] + problem.own[i, 5]):
                        _visit(i, k, own, problem)
    return True


@inner_kernel
def shift_robot(lo, hi, some, robots, scratch):
    """What corrections add to the rates lo ... hi of a robot."""
    shift = scratch.shift
    for d in range(lo, hi):
        shift[d] = scratch.root[d] * scratch.problem.pushed[d] if some else 0.0
    if some:
        spread_up(lo, hi, robots.model.above, robots.mass_first, scratch.mass, shift)
