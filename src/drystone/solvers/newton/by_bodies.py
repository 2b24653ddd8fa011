"""Newton on an island of any number of contacts, with the velocities of its bodies as unknowns.

semismooth.py has three unknowns a contact and a matrix W that redundant contacts make singular;
its factors grow with the contacts of a layer. Here an island has six unknowns a body, however many
contacts they have: 54 blocks of a Jenga tower with 666 contacts are 324 unknowns in a band of 36.

The law with its cone is made convex by the shift s = mu |u_t| of [DeSaxce1998], held fixed:
then impulses are the answer of a minimisation. Around the last impulses c, with the weight alpha D
of the proximal point method [Rockafellar1976],

    p(v) = the point of the cone nearest to c - (u(v) + s n) / (alpha D),   M (v - v_free) = Jᵀ p(v)

is the gradient of a convex function of v, which Newton's method with a line search finds from
anywhere. Then c and s are set anew and alpha is made smaller; where c, s and p agree, Coulomb's law
holds exactly, for any alpha. The steps of semismooth.py, which has neither convexity nor a line
search, lose themselves on a Jenga tower and on a pyramid of 820 boxes; these do not.

The first step from new c and s takes every contact as it was (fill_prediction): with alpha = 1e-5
a contact that parts at 1e-5 m/s looks open else, and ten short steps are lost to closing it.
"""

from math import sqrt

import numpy as np
from numba import float64, int64
from numba.types import Tuple

from drystone.constraints.coulomb import project_on_cone, push, slip_at
from drystone.jit import inner_kernel, kernel
from drystone.jit.stage import stage
from drystone.solvers.gauss_seidel.sweep import closing_speed, row_error
from drystone.solvers.newton.block_cholesky import factor_blocks, solve_blocks
from drystone.solvers.newton.body_graph import (
    link_bodies,
    links_of_island,
    list_contacts,
    new_body_work,
    new_graph,
    number_island,
    rows_of_island,
)
from drystone.solvers.newton.body_system import (
    contact_scale,
    fill_prediction,
    fill_step,
    momentum_error,
    set_changes,
    set_inertias,
    subtract_momenta,
)
from drystone.solvers.newton.factor_plan import make_plan
from drystone.solvers.newton.min_degree import eliminate, new_elimination
from drystone.solvers.newton.ordering import order_island

# Operations of one factorisation, some 3 ms: heaps of 300 cubes have fewer. One of 1000, which
# sweeps bring to rest, has four times as many.
BODY_OPERATIONS = 3e7
# Newton steps in a step of time, and the operations of all of them, if these are more than a few
# steps: what is left goes on in the next step of time, from where it was.
NEWTON_STEPS, FEW_STEPS, MOST_WORK = 60, 12, 3e9
# Worlds of fewer bodies have no islands that semismooth.py is too small for, and do not wait for
# this to be compiled.
MANY_BODIES = 24
# An island whose contacts close faster than so many tolerances is in motion: what it needs changes
# from step to step, and to solve it to all digits buys nothing that one sees.
MOVING = 1000.0
# The error to aim at, as a share of the tolerance: small enough for an island to fall asleep.
LARGE_GOAL = 0.1
# Where a Newton step takes a tenth of a millisecond, with so many contacts and no more, that much:
# of 30 or 50 stones on top of each other, a little beside the middle, the uppermost creeps by 3 mm
# with an error of 5e-6 m/s, and the top of 100 boxes sways by 0.5 mm with one of 1e-6.
LEAST_TOWER, TOWER, TOWER_GOAL = 40, 2000, 0.01
# An island that is within the tolerance is at rest if its contacts close no faster than so many.
REST = 10.0
# Structures are brought there whenever they are not, as small islands are: each of the 40 layers of
# a pyramid of 820 boxes may slip by 1e-5 m/s on the one below else, and 140 boxes on top of each
# other sway by a millimetre. What begins from so small an error stays there for dozens of steps.
# Factors of n contacts in a plane take operations in proportion to n √n, if not less: 55 n √n for
# that pyramid, 62 for a wall of 2000 stones, 88 for one of 10,000; 290 for a heap of 1000 cubes.
STRUCTURE, FEW_OPERATIONS, LARGEST_STRUCTURE = 90.0, 1e6, 3e9

FIRST_ALPHA, LEAST_ALPHA, LARGEST_ALPHA = 1e-3, 1e-7, 1e3
# alpha to begin with is so much [s/m] times the error: a guess that is good needs no soft start.
ALPHA_SHARE = 10.0
EASY = 10  # Newton steps: if one problem took fewer, the next may be harder
MOST_STEPS = 25  # of one problem
OVERSHOOT = 1.5  # of the centre beyond the answer: relaxation of the proximal point method
CLOSE = 0.1  # of the error: how exactly one problem is solved
FLAT_SLOPE = 0.1  # where a line search ends, as a share of the slope that it began with
SEARCHES = 20


@kernel
def _worst_error(row, rows, twist):
    worst = 0.0
    for i in range(row.shape[0]):
        error = row_error(row[i], rows, twist)
        if not error <= worst:  # also takes a NaN
            worst = error
    return worst


@kernel
def _set_twists(work, rows, mass, free, twist):
    """Velocities of the bodies from the impulses of the rows."""
    for i in range(work.body.shape[0]):
        b = work.body[i]
        for k in range(6):
            twist[b, k] = free[b, k]
    impulse = rows.impulse
    for i in range(work.row.shape[0]):
        r = work.row[i]
        push(
            r, impulse[r, 0], impulse[r, 1], impulse[r, 2], rows.body, rows.frame, rows.arm, mass,
            twist,
        )  # fmt: skip


@kernel
def _take_impulses(work, impulse, own):
    for i in range(work.row.shape[0]):
        for k in range(3):
            own[i, k] = impulse[work.row[i], k]


@kernel
def _give_impulses(work, own, impulse):
    for i in range(work.row.shape[0]):
        for k in range(3):
            impulse[work.row[i], k] = own[i, k]


@kernel
def _start_velocities(work, rows, free, twist):
    """Those of the bodies and at the contacts, as the impulses of the rows have them."""
    for i in range(work.body.shape[0]):
        b = work.body[i]
        for k in range(6):
            work.added[6 * i + k] = twist[b, k] - free[b, k]
    for i in range(work.row.shape[0]):
        r = work.row[i]
        un, u1, u2 = slip_at(r, rows, twist)
        work.velocity[i, 0], work.velocity[i, 1] = un + rows.bias[r], u1
        work.velocity[i, 2] = u2


@kernel
def _set_shifts(noise, work, friction):
    """Contacts that slip by no more than `noise` [m/s], the error, may as well stick.

    Their slip is part of the error, and the next answer would keep it.
    """
    for i in range(work.row.shape[0]):
        u1, u2 = work.velocity[i, 1], work.velocity[i, 2]
        slip = sqrt(u1 * u1 + u2 * u2)
        work.shift[i] = friction[work.row[i]] * slip if slip > noise else 0.0


@kernel
def _move(share, work):
    """Take that share of the step work.y."""
    for k in range(work.y.shape[0]):
        work.added[k] += share * work.y[k]
    for i in range(work.row.shape[0]):
        for k in range(3):
            work.velocity[i, k] += share * work.change[i, k]


@kernel
def _impulse_slope(share, rows, alpha, work):
    """The part of the slope along the step that contacts have, after that share of it [J]."""
    total = 0.0
    centre, u, du = work.centre, work.velocity, work.change
    for i in range(work.row.shape[0]):
        r = work.row[i]
        s = 1.0 / (alpha * contact_scale(r, rows))
        p0, p1, p2 = project_on_cone(
            centre[i, 0] - s * (u[i, 0] + share * du[i, 0] + work.shift[i]),
            centre[i, 1] - s * (u[i, 1] + share * du[i, 1]),
            centre[i, 2] - s * (u[i, 2] + share * du[i, 2]),
            rows.friction[r],
        )
        total -= p0 * du[i, 0] + p1 * du[i, 1] + p2 * du[i, 2]
    return total


@kernel
def _search_share(rows, alpha, work):
    """Which share of the step work.y to take: where the slope is next to nothing.

    The slope rises along the step, from below zero; regula falsi, one end halved (Illinois).
    """
    own, along = 0.0, 0.0
    for k in range(work.y.shape[0]):
        work.force[k] = 0.0
    subtract_momenta(work, work.y, work.force)
    for k in range(work.y.shape[0]):
        own -= work.force[k] * work.added[k]
        along -= work.force[k] * work.y[k]
    low_slope = own + _impulse_slope(0.0, rows, alpha, work)
    high_slope = own + along + _impulse_slope(1.0, rows, alpha, work)
    flat = FLAT_SLOPE * abs(low_slope)
    if not high_slope > flat:
        return 1.0
    low, high, share = 0.0, 1.0, 1.0
    for _ in range(SEARCHES):
        share = (low * high_slope - high * low_slope) / (high_slope - low_slope)
        slope = own + share * along + _impulse_slope(share, rows, alpha, work)
        if abs(slope) <= flat:
            break
        if slope > 0.0:
            high, high_slope = share, slope
            low_slope *= 0.5
        else:
            low, low_slope = share, slope
            high_slope *= 0.5
    return share


@kernel
def _solve_near_centre(rows, mass, alpha, enough, work, plan, matrix):
    """Newton on the convex problem around work.centre; its steps, negative if it did not settle.

    enough    lack of momentum at which it may stop [m/s]
    """
    size = work.body.shape[0]
    fill_prediction(rows, mass, alpha, work, matrix)
    for step in range(1, MOST_STEPS + 1):
        if not factor_blocks(size, work.first, work.column, matrix, plan):
            return -step
        solve_blocks(plan, work.y)
        set_changes(rows, mass, work)
        _move(1.0 if step == 1 else _search_share(rows, alpha, work), work)
        fill_step(rows, mass, alpha, work, matrix)
        error = momentum_error(work, mass)
        if error <= enough:
            return step
        if not error < np.inf:
            return -step
    return -MOST_STEPS


@kernel
def _improve(rows, mass, free, goal, tolerance, most, work, plan, matrix, twist):
    """Newton on the island in `work`; the best impulses remain. Returns their error and the steps.

    It ends at `goal`, or below `tolerance` where a problem gains less than half, or after `most`
    steps.
    """
    error = best = _worst_error(work.row, rows, twist)
    _take_impulses(work, rows.impulse, work.best)
    _take_impulses(work, rows.impulse, work.centre)
    _start_velocities(work, rows, free, twist)
    alpha, least = min(FIRST_ALPHA, max(100.0 * LEAST_ALPHA, ALPHA_SHARE * error)), LEAST_ALPHA
    steps = 0
    while not best <= goal and steps < most and alpha <= LARGEST_ALPHA:
        _set_shifts(error, work, rows.friction)
        enough = max(CLOSE * error, 0.1 * goal)
        taken = _solve_near_centre(rows, mass, alpha, enough, work, plan, matrix)
        steps += abs(taken)
        if taken < 0:  # alpha was too small
            alpha, least = 10.0 * alpha, 10.0 * alpha
            _start_velocities(work, rows, free, twist)
            continue
        _give_impulses(work, work.impulse, rows.impulse)
        _set_twists(work, rows, mass, free, twist)
        before, error = error, _worst_error(work.row, rows, twist)
        if error < best:
            best = error
            _take_impulses(work, rows.impulse, work.best)
        if best <= tolerance and error > 0.5 * before:
            break
        for i in range(work.row.shape[0]):
            for k in range(3):
                work.centre[i, k] += OVERSHOOT * (work.impulse[i, k] - work.centre[i, k])
        if taken < EASY:
            alpha, least = max(0.1 * alpha, least), LEAST_ALPHA
    _give_impulses(work, work.best, rows.impulse)
    _set_twists(work, rows, mass, free, twist)
    return best, steps


@kernel(_nrt=True)
def _solve_island(lo, size, graph, rows, mass, free, aims, twist):
    """Newton on the bodies graph.order[:size]; the error and the steps, none if it is too large."""
    goal, tolerance, most_operations = aims
    row = rows_of_island(lo, size, graph)
    error = _worst_error(row, rows, twist)
    if error <= tolerance:
        return error, 0
    first, link = links_of_island(size, graph)
    elimination = new_elimination(size, link.shape[0])
    columns, operations = eliminate(size, first, link, most_operations, elimination)
    if operations > most_operations:
        return error, 0
    order = np.empty(size, np.int32)
    plan = make_plan(size, columns, elimination, order)
    work = new_body_work(graph, row, size, link.shape[0] // 2)
    number_island(order, first, link, graph, rows, mass, work)
    set_inertias(work, mass)
    matrix = np.empty(36 * (size + work.column.shape[0]))
    most = min(NEWTON_STEPS, max(FEW_STEPS, int(MOST_WORK / operations)))
    return _improve(rows, mass, free, goal, tolerance, most, work, plan, matrix, twist)


@kernel(_nrt=True)
def _solve_chosen(lo, n, chosen, rows, mass, free, aims, twist):
    """solve_by_bodies() for the chosen rows; without them the velocities are `free`."""
    graph = new_graph(mass.shape[0] - 1, n)
    count = list_contacts(lo, n, chosen, rows, mass, graph)
    link_bodies(count, rows, mass, graph)
    worst, islands, steps = 0.0, 0, 0
    for k in range(count):
        if graph.place[k] >= 0:
            continue
        size = order_island(k, graph.link_first, graph.link, graph.place, graph.order)
        error, taken = _solve_island(lo, size, graph, rows, mass, free, aims, twist)
        if not error <= worst:
            worst = error
        steps += taken
        islands += 1 if taken > 0 else 0
    return worst, islands, steps


@stage(result=Tuple((float64, int64, int64)), _nrt=True)
def solve_by_bodies(lo, n, rows, mass, free, aims, twist):
    """Bring the islands among the contacts lo .. lo + n to a small error.

    aims    the error that is wanted and the one that will do [m/s], and the most operations of a
            factorisation

    Returns the largest error [m/s], how many islands needed Newton, and its steps.
    """
    return _solve_chosen(lo, n, np.ones(n, np.int8), rows, mass, free, aims, twist)


@kernel(_nrt=True)
def solve_worst(lo, n, level, rows, mass, aims, twist):
    """The same for all contacts of those bodies that have one with an error above `level` [m/s].

    Impulses of the other contacts stay as they are, and bodies beyond are loads.
    """
    chosen, wrong = np.zeros(n, np.int8), np.zeros(mass.shape[0], np.int8)
    for r in range(lo, lo + n):
        if not row_error(r, rows, twist) <= level:
            for side in range(2):
                b = rows.body[r, side]
                wrong[b] = 1 if mass[b, 0] > 0.0 else 0
    free, impulse = twist.copy(), rows.impulse
    for r in range(lo, lo + n):
        if wrong[rows.body[r, 0]] + wrong[rows.body[r, 1]] > 0:
            chosen[r - lo] = 1
            push(
                r, -impulse[r, 0], -impulse[r, 1], -impulse[r, 2], rows.body, rows.frame, rows.arm,
                mass, free,
            )  # fmt: skip
    return _solve_chosen(lo, n, chosen, rows, mass, free, aims, twist)


@inner_kernel
def structure_operations(n):
    """Operations up to which an island of `n` contacts counts as a structure, not as a heap."""
    return min(max(STRUCTURE * n * sqrt(float(n)), FEW_OPERATIONS), LARGEST_STRUCTURE)


@inner_kernel
def is_moving(lo, n, rows, tolerance):
    """Whether the contacts lo .. lo + n close as those of bodies in motion do."""
    return closing_speed(lo, lo + n, rows) > MOVING * tolerance
