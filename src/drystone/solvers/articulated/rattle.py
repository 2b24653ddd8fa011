"""RATTLE [Andersen1983]: articulated islands that nothing touches are integrated before the solve.

Their motion is smooth, and the joints hold exactly, at the poses after the step too
(rattle_island.py). Where bodies rotate far in the step, or joints pull hard on light bodies, it is
cut into substeps (substeps.py).

An island is declined, and left to solve_islands.py as it was found, if something touches it, a
limit is reached, joints are far open, or the iterations do not converge; or if there are springs
between points: such islands are smooth, and secant.py has them. Nothing here writes State but
project_velocities(), which is part of the end of the step: the rest goes to JointWork.
"""

import numpy as np

from drystone.constraints.joint_rows import (
    BY_RATTLE,
    BY_SUBSTEPS,
    contacts_of,
    nodes_of,
    start_group,
)
from drystone.jit import kernel
from drystone.jit.stage import stage
from drystone.model.arrays import DEFAULT_DRIFT, MIDPOINT
from drystone.model.joint_arrays import ROW_EQUALITY
from drystone.solvers.articulated.end_poses import SMALL_ERROR
from drystone.solvers.articulated.energy_balance import CONSERVES
from drystone.solvers.articulated.joint_error import JOINT_TOLERANCE, open_share
from drystone.solvers.articulated.rattle_island import mark_bodies, project_group, shake_island
from drystone.solvers.articulated.soft_rows import soften_rows
from drystone.solvers.articulated.substeps import PARTED, integrate_substeps


@kernel
def _is_smooth(g, joints, bodies, rows, joint_work, settings):
    """Whether the motion of group `g` may be smooth: that shows in full when it is integrated. A
    position error beyond the tolerance can only be taken away by stabilization.py."""
    if settings.newton == 0 or settings.drift != DEFAULT_DRIFT:
        return False
    (first, last), (lo, hi) = nodes_of(g, joint_work), contacts_of(g, rows)
    if lo < hi:
        return False
    return open_share(first, last, joints, bodies, joint_work) <= JOINT_TOLERANCE


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
def _finish(g, by, error, joint_work):
    """Group `g` is integrated. RATTLE keeps a position error that was there before, for it would
    make a velocity of it: that is left to stabilization.py."""
    joint_work.done[g], joint_work.residual[g] = by, error
    (first, last), rows = nodes_of(g, joint_work), joint_work.rows
    for i in range(joint_work.row_first[first], joint_work.row_first[last]):
        r = joint_work.row_list[i]
        if rows.kind[r] == ROW_EQUALITY and abs(rows.error[r]) > SMALL_ERROR:
            joint_work.stabilize[g] = 1


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
        smooth, error, shorter = (
            _is_smooth(g, joints, bodies, rows, joint_work, settings),
            np.inf,
            0.0,
        )
        soften_rows(first, last, joint_work, state.twist, motion.mass, settings.dt, smooth)
        if smooth:
            tried += 1
            error, shorter = shake_island(
                g, joints, bodies, state, rows, joint_work, settings, work, motion, settings.dt
            )
        if error <= settings.tolerance:
            _finish(g, BY_RATTLE, error, joint_work)
            continue
        _clear_biases(first, last, joint_work, smooth)
        if smooth and shorter > 1.0:
            error = integrate_substeps(
                g, shorter, joints, bodies, state, rows, joint_work, settings, work, motion
            )
            _clear_biases(first, last, joint_work, True)
            if error <= settings.tolerance:
                _finish(g, BY_SUBSTEPS, error, joint_work)
                continue
            joint_work.smooth[g] = PARTED if joint_work.smooth[g] != 0 else 0
        if smooth:  # leave it as it was found
            if joint_work.smooth[g] == 0:
                soften_rows(first, last, joint_work, state.twist, motion.mass, settings.dt, False)
            mark_bodies(first, last, joint_work, motion, MIDPOINT)
            start_group(first, last, joint_work, state, motion)
    return tried


@stage
def project_velocities(joint_work, joints, bodies, state, rows, groups, settings, work, motion):
    """The second half of RATTLE, of all groups that move smoothly; and of those that nothing
    touches, so that what the safe step leaves in velocities that do not fit is lost in that step.
    """
    for g in range(groups):
        first, last = nodes_of(g, joint_work)
        if first < last and (joint_work.done[g] != 0 or joint_work.energy[g, CONSERVES] == 1.0):
            project_group(g, joints, bodies, state, rows, joint_work, work, motion, settings.dt)
