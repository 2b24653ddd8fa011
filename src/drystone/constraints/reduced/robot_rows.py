"""Rows of robots within a step: limits, dry friction, drives, coupled joints, loops.

    w = u + soft p + bias,   lower <= p <= upper        as rows of joints (model/joint_arrays.py)

Only limits stand here that the step might reach; what has passed one is moved back
(solvers/reduced/push.py). Loops and coupled joints hold rates; how far they are open is closed by
closing.py after the step.
"""

from math import inf

import numpy as np

from drystone.jit import inner_kernel, kernel
from drystone.model.robot_arrays import (
    DRIVE_RATE,
    DRIVE_SERVO,
    PRISMATIC,
    REVOLUTE,
    ROBOT_COUPLING,
    ROBOT_DRIVE,
    ROBOT_FRICTION,
    ROBOT_LIMIT,
    ROBOT_LOOP,
)

# A limit is a row if the coordinate may reach it in so many steps at its present rate, or is as
# close as this [rad], [m]: what else the step does to the rate rarely is more.
REACH_STEPS, REACH = 2.0, 1e-2


@kernel
def _add_row(t, kind, place, rates, factors, law, rows, last):
    """law: bias, softness, bounds; `last` are the impulses of the last step."""
    r = rows.first[t + 1]
    rows.kind[r], rows.place[r] = kind, place
    rows.rate[r, 0], rows.rate[r, 1] = rates[0], rates[1]
    rows.factor[r, 0], rows.factor[r, 1] = factors
    rows.bias[r], rows.soft[r], rows.lower[r], rows.upper[r] = law
    rows.impulse[r] = min(max(last[place], law[2]), law[3])
    rows.first[t + 1] = r + 1


@kernel
def _add_limits(t, i, robots, state, dt, rows):
    model, last = robots.model, state.robot_impulse
    d = np.int64(model.first_v[i])
    at, speed = state.robot_q[model.first_q[i]], state.robot_v[d]
    reach = REACH_STEPS * dt * abs(speed) + REACH
    low, high = model.limit[d, 0], model.limit[d, 1]
    if at - low < reach:
        rows.gap[rows.first[t + 1]] = at - low
        law = (max(at - low, 0.0) / dt, 0.0, 0.0, inf)
        _add_row(t, ROBOT_LIMIT, 3 * d, (d, -1), (1.0, 0.0), law, rows, last)
    if high - at < reach:
        rows.gap[rows.first[t + 1]] = high - at
        law = (max(high - at, 0.0) / dt, 0.0, 0.0, inf)
        _add_row(t, ROBOT_LIMIT, 3 * d + 1, (d, -1), (-1.0, 0.0), law, rows, last)


@kernel
def _add_drives(t, robots, state, dt, folded, rows):
    last, first = state.robot_impulse, 3 * robots.model.dof_link.shape[0]
    for k in range(robots.first_drive[t], robots.first_drive[t + 1]):
        d, kind = np.int64(robots.drive_rate[k]), robots.drive_kind[k]
        most = dt * robots.drive[k, 1]
        command = state.robot_control[k]
        if kind == DRIVE_RATE:
            law = (-command, 0.0, -most, most)
        elif kind == DRIVE_SERVO and folded[k] == 0:
            stiffness = robots.drive[k, 2]
            total = robots.drive[k, 3] + dt * stiffness
            away = stiffness * (state.robot_q[robots.drive_q[k]] - command) / total
            law = (away, 1.0 / (dt * total), -most, most)
        else:
            continue
        _add_row(t, ROBOT_DRIVE, first + k, (d, -1), (1.0, 0.0), law, rows, last)


@inner_kernel
def add_rows(t, robots, state, dt, scratch):
    """Rows of robot `t`, behind those of the robots before it."""
    model, rows, last = robots.model, scratch.rows, state.robot_impulse
    kind, first_v, friction = model.kind, model.first_v, model.friction
    for i in range(model.first_link[t], model.first_link[t + 1]):
        if kind[i] == REVOLUTE or kind[i] == PRISMATIC:
            _add_limits(t, i, robots, state, dt, rows)
        for d in range(first_v[i], first_v[i + 1]):
            if friction[d] > 0.0:
                most = dt * friction[d]
                law = (0.0, 0.0, -most, most)
                d = np.int64(d)
                _add_row(t, ROBOT_FRICTION, 3 * d + 2, (d, -1), (1.0, 0.0), law, rows, last)
    _add_drives(t, robots, state, dt, scratch.folded, rows)
    nv, hold = model.dof_link.shape[0], (0.0, 0.0, -inf, inf)
    place = 3 * nv + robots.drive_kind.shape[0]
    for k in range(robots.first_couple[t], robots.first_couple[t + 1]):
        pair = (np.int64(robots.couple[k, 0]), np.int64(robots.couple[k, 2]))
        factors = (1.0, -robots.couple_number[k, 0])
        _add_row(t, ROBOT_COUPLING, place + k, pair, factors, hold, rows, last)
    place += robots.couple.shape[0]
    for k in range(robots.first_loop[t], robots.first_loop[t + 1]):
        for axis in range(3):
            number, none = (np.int64(k), np.int64(axis)), (0.0, 0.0)
            _add_row(t, ROBOT_LOOP, place + 3 * k + axis, number, none, hold, rows, last)
