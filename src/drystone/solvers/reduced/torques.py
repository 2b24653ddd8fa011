"""Rolling and spinning friction of contacts of robots: torques, as blocks of the same problem.

The law is that of gauss_seidel/rolling.py. Given p_n, what resists rolling lies in a disc of radius
a p_n, which is a section of a friction cone: a contact with friction 1 whose normal sees nothing
and bears a p_n. What resists spinning is a row between the bounds -b p_n and b p_n. The bounds are
those of the answer before; where they have moved the problem is solved again. A torque moves p_n by
the share that its arm is of the robot, so each turn gains as many digits.

Rows of torques are multiplied by the radius of gyration that the contact sees: impulses and
velocities of theirs have the units of those of contacts.
"""

from math import sqrt

from drystone.constraints.coulomb import invert_block
from drystone.jit import inner_kernel, kernel
from drystone.jit.vec import dot, scale, sub
from drystone.model.robot_scratch import BLOCK_ROLL, BLOCK_SPIN
from drystone.solvers.reduced.blocks import (
    close_block,
    new_block,
    no_row,
    own_block,
    scale_robots,
    see,
    set_law,
)
from drystone.solvers.reduced.tied_problem import (
    carry_all,
    solve_tied,
    swept_error,
    velocity_of,
)

NOTHING = (0.0, 0.0, 0.0)
# Turns of a solve, and how little of the tolerance the last may have changed. Four do for a cart.
MOST_TURNS = 20


@inner_kernel
def add_torques_of(n, robots, state, bodies, work, scratch):
    """Blocks for the torques of the contact blocks 0 ... n."""
    rolling = work.rows.rolling
    for i in range(n):
        r = scratch.problem.source[i, 0]
        if rolling[r, 0] > 0.0:
            _add_roll(i, r, robots, state, bodies, work, scratch)
        if rolling[r, 1] > 0.0:
            _add_spin(i, r, robots, state, bodies, work, scratch)


@kernel
def _axis(r, k, rows):
    return rows.frame[r, 3 * k], rows.frame[r, 3 * k + 1], rows.frame[r, 3 * k + 2]


@kernel
def _see_spin(i, k, r, axis, robots, state, bodies, work, scratch):
    """Row `k` of block `i` sees the spin about `axis` of B from A at contact `r`."""
    for side in range(2):
        along = scale(axis, 1.0 if side == 1 else -1.0)
        b = work.rows.body[r, side]
        see(i, side, k, b, NOTHING, along, robots, state, bodies, work.motion, scratch)


@kernel
def _spin_about(r, axis, rows, twist):
    a, b = rows.body[r, 0], rows.body[r, 1]
    wa, wb = (twist[a, 3], twist[a, 4], twist[a, 5]), (twist[b, 3], twist[b, 4], twist[b, 5])
    return dot(axis, sub(wb, wa))


@kernel
def _new_torque(kind, contact, r, robots, scratch):
    """A block for contact block `contact`, of row `r`."""
    problem = scratch.problem
    i = new_block(kind, problem)
    problem.source[i, 0], problem.source[i, 1], problem.source[i, 2] = r, contact, -1
    return i


@kernel
def _stretch(i, contact, problem):
    """Multiply the rows of block `i` by the radius of gyration; which is kept [m]."""
    own, z = problem.own, problem.z
    most = max(own[i, 0], own[i, 3], own[i, 5])
    length = sqrt(own[contact, 0] / most) if most > 0.0 and own[contact, 0] > 0.0 else 1.0
    problem.reach[i] = length
    for side in range(2):
        at = problem.at[i, side]
        for d in range(3 * problem.width[i, side]):
            z[at + d] *= length
    for k in range(6):
        own[i, k] *= length * length
    return length


@kernel
def _add_roll(contact, r, robots, state, bodies, work, scratch):
    """The torque of contact row `r` across its normal."""
    problem, island, rows = scratch.problem, scratch.island, work.rows
    i = _new_torque(BLOCK_ROLL, contact, r, robots, scratch)
    _see_spin(i, 0, r, NOTHING, robots, state, bodies, work, scratch)
    for k in range(1, 3):
        _see_spin(i, k, r, _axis(r, k, rows), robots, state, bodies, work, scratch)
    scale_robots(i, robots, scratch)
    own_block(i, problem)
    length, own = _stretch(i, contact, problem), problem.own
    island.friction[i] = 1.0
    if own[i, 3] + own[i, 5] == 0.0:  # no torque turns what touches here
        island.friction[i], own[i, 3], own[i, 5] = 0.0, 1.0, 1.0
    least = 1e-12 * (own[i, 3] + own[i, 5]) + 1e-300
    own[i, 3], own[i, 5] = own[i, 3] + least, own[i, 5] + least
    own[i, 0] = 0.5 * (own[i, 3] + own[i, 5])
    invert_block(i, own, problem.inverse)
    for k in range(1, 3):
        free = _spin_about(r, _axis(r, k, rows), rows, work.motion.free)
        island.q[i, k], problem.impulse[i, k] = length * free, 0.0
    island.q[i, 0], problem.impulse[i, 0] = 0.0, 0.0
    island.soft[i, 0] = own[i, 0]  # see velocity_of()
    island.scale[i] = own[i, 0]
    island.flat[i], island.joint[i] = False, False


@kernel
def _add_spin(contact, r, robots, state, bodies, work, scratch):
    """The torque of contact row `r` about its normal."""
    problem, rows = scratch.problem, work.rows
    i = _new_torque(BLOCK_SPIN, contact, r, robots, scratch)
    normal = _axis(r, 0, rows)
    _see_spin(i, 0, r, normal, robots, state, bodies, work, scratch)
    scale_robots(i, robots, scratch)
    own_block(i, problem)
    length = _stretch(i, contact, problem)
    free = _spin_about(r, normal, rows, work.motion.free)
    set_law(i, 0, length * free, 0.0, 0.0, 0.0, 0.0, scratch)
    no_row(i, 1, scratch)
    no_row(i, 2, scratch)
    close_block(i, scratch)


@kernel
def _bound_torques(n, rows, problem, island):
    """The bounds that go with the normal impulses; whether there are any torques."""
    some, p = False, problem.impulse
    for i in range(n):
        if problem.kind[i] != BLOCK_ROLL and problem.kind[i] != BLOCK_SPIN:
            continue
        some, r = True, problem.source[i, 0]
        bears = max(p[problem.source[i, 1], 0], 0.0) / problem.reach[i]
        if problem.kind[i] == BLOCK_ROLL:
            bound = rows.rolling[r, 0] * bears
            length = sqrt(p[i, 1] * p[i, 1] + p[i, 2] * p[i, 2])
            keep = bound / length if length > bound else 1.0
            island.q[i, 0] = -problem.own[i, 0] * bound
            p[i, 0], p[i, 1], p[i, 2] = bound, keep * p[i, 1], keep * p[i, 2]
        else:
            bound = rows.rolling[r, 1] * bears
            island.lower[i, 0], island.upper[i, 0] = -bound, bound
            island.bounded[0] = True
            p[i, 0] = min(max(p[i, 0], -bound), bound)
    return some


@inner_kernel
def solve_rolling(n, goal, settings, rows, scratch):
    """solve_tied(), and again until the bounds of torques fit: error, sweeps, steps of Newton."""
    newton, tolerance = settings.newton == 1, settings.tolerance
    problem, island = scratch.problem, scratch.island
    sweeps, steps = 0, 0
    for _ in range(MOST_TURNS):
        some = _bound_torques(n, rows, problem, island)
        error, more, taken = solve_tied(n, goal, tolerance, newton, scratch)
        sweeps, steps = sweeps + more, steps + taken
        if not some or more + taken == 0:
            return error, sweeps, steps
    # The bounds still move: the error is that of the answer with the bounds that go with it.
    _bound_torques(n, rows, problem, island)
    carry_all(n, problem)
    return swept_error(n, problem, island), sweeps, steps


@inner_kernel
def torque_work(i, problem, island):
    """Kinetic energy that the torques of block `i` make [J], twice."""
    if problem.kind[i] != BLOCK_ROLL and problem.kind[i] != BLOCK_SPIN:
        return 0.0
    p, q = problem.impulse, island.q
    u0, u1, u2 = velocity_of(i, problem, island)
    if problem.kind[i] == BLOCK_SPIN:
        return p[i, 0] * (q[i, 0] + u0)
    return p[i, 1] * (q[i, 1] + u1) + p[i, 2] * (q[i, 2] + u2)


@inner_kernel
def give_torques(i, problem, rows):
    """The impulses of torque block `i` into the rows of its contact [N m s]."""
    r, length = problem.source[i, 0], problem.reach[i]
    if problem.kind[i] == BLOCK_SPIN:
        rows.torque[r, 0] = length * problem.impulse[i, 0]
    else:
        rows.torque[r, 1] = length * problem.impulse[i, 1]
        rows.torque[r, 2] = length * problem.impulse[i, 2]
