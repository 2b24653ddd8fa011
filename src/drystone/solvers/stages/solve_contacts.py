"""The solve of the contacts of a step: sweeps, Newton where they stall, torques of rolling."""

from drystone.constraints.joint_rows import contacts_of
from drystone.jit import inner_kernel, kernel
from drystone.model.arrays import ROLLING
from drystone.solvers.gauss_seidel.rolling import add_torques, roll_rows, rolling_error
from drystone.solvers.gauss_seidel.solve_islands import solve_rows
from drystone.solvers.gauss_seidel.sweep import is_bounded
from drystone.solvers.newton.by_bodies import TOWER_GOAL
from drystone.solvers.newton.island_delassus import finish_groups

# How often Newton's method, which takes torques of rolling friction as given, and sweeps, which
# have both, may take turns in a step.
MOST_TURNS = 3


@kernel
def _roll_groups(groups, rows, motion, visit):
    """Visit the torques of all groups without joints, or measure how far they are off [m/s]."""
    worst = 0.0
    for g in range(groups):
        if rows.group_linked[g] == 0:
            lo, hi = contacts_of(g, rows)
            if visit:
                off = roll_rows(lo, hi, rows, motion.mass, motion.twist)
            else:
                off = rolling_error(lo, hi, rows, motion.mass, motion.twist)
            if not off <= worst:  # also takes a NaN
                worst = off
    return worst


@inner_kernel(inline="always")
def solve_contacts(backward, bounds, state, settings, work, groups, count):
    """Gauss-Seidel sweeps, and Newton where they stall; sweeps, residual, and that of torques."""
    motion, rows, info, torques = work.motion, work.rows, work.log.info, 0.0
    newton = settings.newton == 1  # then sweeps give up where it would be quicker
    rolls, turn = rows.special[ROLLING] == 1, 0
    if rolls:  # the torques that go with the warm start
        _roll_groups(groups, rows, motion, True)
    while True:
        sweeps, residual = solve_rows(
            rows, groups, count, backward, motion.mass, settings.tolerance,
            settings.relative_tolerance, bounds, newton and not rolls, motion.twist,
        )  # fmt: skip
        if rolls:  # from here on torques are given loads
            add_torques(0, count, 1.0, rows, motion.mass, motion.free)
            rows.special[ROLLING] = 0
        if newton and residual > TOWER_GOAL * settings.tolerance and not is_bounded(bounds):
            sweeps, residual = finish_groups(
                rows, groups, count, backward, motion.mass, motion.free, settings.tolerance,
                bounds, work.island, motion.twist, info,
            )  # fmt: skip
        if not rolls:
            break
        rows.special[ROLLING], turn = 1, turn + 1
        torques = _roll_groups(groups, rows, motion, False)
        if torques <= settings.tolerance or turn == MOST_TURNS or torques != torques:
            break
        add_torques(0, count, -1.0, rows, motion.mass, motion.free)
    return sweeps, residual, torques
