"""All islands with robots, one after the other: impulses, rates of robots, velocities of bodies.

Contacts, limits, dry friction, drives, loops and joints of the world are one problem, on the exact
cone, with the mass matrices of the robots. A contact that bounces has -e times its approach as the
normal velocity after the step (Newton's law), as long as impulses do not make kinetic energy:
with friction that law can [Kane1985], and is then taken with smaller e.
"""

from math import sqrt

import numpy as np

from drystone.constraints.coulomb import slip_at, velocity_at
from drystone.constraints.islands import TALLY_GROUPS
from drystone.constraints.joint_rows import contacts_of
from drystone.constraints.reduced.free_rates import (
    predict_robots,
    servo_force,
    show_rates,
    sleeps,
)
from drystone.constraints.reduced.mass_factor import spread_up
from drystone.jit import inner_kernel, kernel
from drystone.model.arrays import HELD, ROLLING
from drystone.model.robot_arrays import DRIVE_SERVO
from drystone.model.robot_scratch import BLOCK_CONTACT, BLOCK_JOINT, BLOCK_ROLL, BLOCK_SPIN
from drystone.solvers.reduced.blocks import add_contact, add_node, add_robot_rows
from drystone.solvers.reduced.push import push_robots, shift_robot
from drystone.solvers.reduced.tied_problem import carry_all, solve_tied, velocity_of
from drystone.solvers.reduced.torques import (
    add_torques_of,
    give_torques,
    solve_rolling,
    torque_work,
)

# Share of the tolerance to which Newton solves: what a foot creeps in a minute is this times 60 s.
DEEPEST = 1e-6
WEAKER = 4  # times that e is halved where an impact would make energy; then e = 0


@kernel
def _group_of(t, graph):
    b = graph.robot_body[t]
    if b < 0 or graph.island[b] < 0:
        return -1
    return graph.island_robot[graph.island[b]]


@kernel
def _add_nodes(g, graph, joint_work, robots, state, settings, bodies, work, scratch):
    """Joints of the world in group `g`."""
    if joint_work is None:
        return
    n = graph.island.shape[0]
    for node in range(joint_work.node_body.shape[0]):
        for side in range(2):
            b = joint_work.node_body[node, side]
            if b < n and graph.island[b] >= 0:
                if graph.island_robot[graph.island[b]] == g:
                    add_node(node, joint_work, robots, state, settings, bodies, work, scratch)
                break


@kernel
def _start_problem(problem, island):
    problem.count[0], problem.count[2] = 0, 0
    island.bounded[0] = False


@kernel
def _bouncing(n, problem):
    for i in range(n):
        if problem.kind[i] == BLOCK_CONTACT and problem.bounce[i] != 0.0:
            return True
    return False


@kernel
def _set_bounces(n, share, rows, motion, problem, island):
    """Let contacts bounce with this share of their restitution."""
    for i in range(n):
        if problem.kind[i] == BLOCK_CONTACT and problem.bounce[i] != 0.0:
            r = problem.source[i, 0]
            un, _, _ = velocity_at(r, rows.body, rows.frame, rows.arm, motion.free)
            island.q[i, 0] = un + (share * problem.bounce[i] if share > 0.0 else rows.bias[r])


@kernel
def _energy_made(n, rows, motion, problem, island):
    """Kinetic energy that the impulses of contacts make [J]."""
    carry_all(n, problem)
    made, p = 0.0, problem.impulse
    for i in range(n):
        if problem.kind[i] != BLOCK_CONTACT:
            made += 0.5 * torque_work(i, problem, island)
            continue
        r = problem.source[i, 0]
        b0, b1, b2 = slip_at(r, rows, motion.free)
        u0, u1, u2 = velocity_of(i, problem, island)
        made += 0.5 * p[i, 0] * (2.0 * b0 + u0 - island.q[i, 0])
        made += 0.5 * (p[i, 1] * (b1 + u1) + p[i, 2] * (b2 + u2))
    return made


@kernel
def _solve(n, goal, settings, rows, motion, scratch):
    """Impulses of the blocks 0 ... n; where contacts bounce, less where it would make energy."""
    problem = scratch.problem
    if not _bouncing(n, problem):
        return solve_rolling(n, goal, settings, rows, scratch)
    share, error, sweeps, steps = 1.0, 0.0, 0, 0
    for k in range(WEAKER + 2):
        _set_bounces(n, share, rows, motion, problem, scratch.island)
        error, more, taken = solve_rolling(n, goal, settings, rows, scratch)
        sweeps, steps = sweeps + more, steps + taken
        if share == 0.0 or _energy_made(n, rows, motion, problem, scratch.island) <= 0.0:
            break
        share = 0.5 * share if k < WEAKER else 0.0
    return error, sweeps, steps


@kernel
def _move_robot(t, n, pushed, robots, motion, scratch):
    """Rates of robot `t` after the step, and the velocities of its bodies."""
    model = robots.model
    lo = np.int64(model.first_v[model.first_link[t]])
    hi = np.int64(model.first_v[model.first_link[t + 1]])
    x = scratch.vector
    if n > 0:
        for d in range(lo, hi):
            x[d] = scratch.root[d] * scratch.problem.carried[d]
        spread_up(lo, hi, model.above, robots.mass_first, scratch.mass, x)
    for d in range(lo, hi):
        scratch.rate[d] = scratch.free[d] + (x[d] if n > 0 else 0.0)
    shift_robot(lo, hi, pushed and n > 0, robots, scratch)
    if n > 0:
        show_rates(t, robots, scratch.rate, scratch, motion.twist)
    body, scheme, twist, free = robots.body, motion.scheme, motion.twist, motion.free
    for i in range(model.first_link[t], model.first_link[t + 1]):
        b = body[i]
        if b >= 0:
            scheme[b] = HELD
            if n == 0:
                for k in range(6):
                    twist[b, k] = free[b, k]


@kernel
def _move_body(b, nv, bodies, motion, problem):
    """Velocity of a body that is no link after the step."""
    s, r, o = problem.carried, motion.rotation_matrix, nv + 6 * b
    root = sqrt(bodies.inv_mass[b])
    x = sqrt(bodies.inv_inertia[b, 0]) * s[o + 3]
    y = sqrt(bodies.inv_inertia[b, 1]) * s[o + 4]
    z = sqrt(bodies.inv_inertia[b, 2]) * s[o + 5]
    for k in range(3):
        turned = r[b, 3 * k] * x + r[b, 3 * k + 1] * y + r[b, 3 * k + 2] * z
        motion.twist[b, k] = motion.free[b, k] + root * s[o + k]
        motion.twist[b, 3 + k] = motion.free[b, 3 + k] + turned


@kernel
def _give(n, robots, bodies, joint_work, rows, motion, scratch):
    """Impulses back to where they belong, and velocities to the bodies that are no links."""
    problem, nv = scratch.problem, robots.model.dof_link.shape[0]
    for i in range(n):
        p = problem.impulse
        for side in range(2):
            if problem.width[i, side] > 0 and problem.start[i, side] >= nv:
                b = (problem.start[i, side] - nv) // 6
                _move_body(np.int64(b), nv, bodies, motion, problem)
                if problem.kind[i] == BLOCK_JOINT:
                    motion.scheme[b] = HELD
        if problem.kind[i] == BLOCK_ROLL or problem.kind[i] == BLOCK_SPIN:
            give_torques(i, problem, rows)
            continue
        for k in range(3):
            if problem.kind[i] == BLOCK_CONTACT:
                rows.impulse[problem.source[i, 0], k] = p[i, k]
            elif problem.source[i, k] >= 0:
                if problem.kind[i] == BLOCK_JOINT:
                    if joint_work is not None:
                        joint_work.rows.impulse[problem.source[i, k]] = p[i, k]
                else:
                    scratch.rows.impulse[problem.source[i, k]] = p[i, k]


@kernel
def gather_group(g, robots, bodies, state, settings, work, joint_work, scratch):
    """The blocks of group `g`, -1: of no robot yet; returns how many."""
    rows, problem = work.rows, scratch.problem
    _start_problem(problem, scratch.island)
    lo, hi = contacts_of(g, rows)
    for r in range(lo, hi):
        add_contact(r, robots, state, settings, bodies, work, scratch)
    problem.count[1] = hi - lo
    if rows.special[ROLLING] == 1:
        add_torques_of(hi - lo, robots, state, bodies, work, scratch)
    _add_nodes(g, work.graph, joint_work, robots, state, settings, bodies, work, scratch)
    for t in range(scratch.touched.shape[0]):
        if _group_of(t, work.graph) == g and not sleeps(t, robots, state):
            add_robot_rows(t, robots, scratch)
    return problem.count[0]


@kernel
def give_group(g, n, robots, bodies, state, settings, work, joint_work, scratch):
    """What the solved blocks 0 ... n of group `g` do."""
    carry_all(n, scratch.problem)
    pushed = push_robots(n, settings, work.rows, joint_work, work.motion, scratch)
    _give(n, robots, bodies, joint_work, work.rows, work.motion, scratch)
    for t in range(scratch.touched.shape[0]):
        if _group_of(t, work.graph) == g and not sleeps(t, robots, state):
            some = scratch.rows.first[t + 1] > scratch.rows.first[t] or scratch.touched[t] == 1
            _move_robot(t, n if some else 0, pushed, robots, work.motion, scratch)


@inner_kernel
def gather_alone(t, robots, scratch):
    """The blocks of a robot without any body, or of one body that touches nothing."""
    _start_problem(scratch.problem, scratch.island)
    scratch.problem.count[1] = 0
    add_robot_rows(t, robots, scratch)
    return scratch.problem.count[0]


@kernel
def find_overloaded(robots, state, dt, scratch):
    """Whether a servo that was taken for a spring pulls harder than it can; its robot's servos are
    to be rows then."""
    some = False
    for t in range(scratch.touched.shape[0]):
        if sleeps(t, robots, state):
            continue
        for k in range(robots.first_drive[t], robots.first_drive[t + 1]):
            if robots.drive_kind[k] == DRIVE_SERVO and scratch.folded[k] == 1:
                if abs(servo_force(k, robots, state, scratch.rate, dt)) > robots.drive[k, 1]:
                    scratch.unfold[t], some = 1, True
    return some


@kernel
def solve_robots(robots, joints, bodies, state, settings, work, joint_work, scratch):
    """Solve all islands with robots; the worst error, sweeps, islands of Newton, its steps."""
    worst, sweeps, islands, steps = _solve_all(
        robots, bodies, state, settings, work, joint_work, scratch
    )
    if find_overloaded(robots, state, settings.dt, scratch):
        predict_robots(robots, joints, state, settings, work, scratch)
        worst, more, islands, taken = _solve_all(
            robots, bodies, state, settings, work, joint_work, scratch
        )
        sweeps, steps = sweeps + more, steps + taken
    return worst, sweeps, islands, steps


@kernel
def _solve_all(robots, bodies, state, settings, work, joint_work, scratch):
    """Every island with robots once."""
    rows, motion, graph = work.rows, work.motion, work.graph
    goal, worst, most, islands, total = DEEPEST * settings.tolerance, 0.0, 0, 0, 0
    for g in range(graph.tally[TALLY_GROUPS]):
        if rows.group_linked[g] != 2:
            continue
        n = gather_group(g, robots, bodies, state, settings, work, joint_work, scratch)
        error, sweeps, steps = _solve(n, goal, settings, rows, motion, scratch)
        give_group(g, n, robots, bodies, state, settings, work, joint_work, scratch)
        rows.group_residual[g], rows.group_sweeps[g] = error, sweeps
        most, total, islands = max(most, sweeps), total + steps, islands + (1 if steps > 0 else 0)
        if not error <= worst:
            worst = error
    for t in range(scratch.touched.shape[0]):
        if _group_of(t, graph) >= 0 or sleeps(t, robots, state):
            continue
        n = gather_alone(t, robots, scratch)
        error, _, _ = solve_tied(n, goal, settings.tolerance, settings.newton == 1, scratch)
        carry_all(n, scratch.problem)
        pushed = push_robots(n, settings, rows, None, motion, scratch)
        _give(n, robots, bodies, None, rows, motion, scratch)
        _move_robot(t, n, pushed, robots, motion, scratch)
        if not error <= worst:
            worst = error
    return worst, most, islands, total
