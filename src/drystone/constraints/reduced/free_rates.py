"""What the robots of a world would do in a step if nothing held them.

    (H + dt C + dt² K) (v' - v) = dt (τ - bias - K (q - rest) - C v - dt K v)

C and K are dampers and springs of joints and of servos: linearly implicit, as in CLINE 2.50 to
2.53. A servo of bounded strength that had force to spare in the last step is one of them too; if it
turns out not to have it now (solvers/reduced/), the step is solved again with that servo as a row.

A robot on which only dampers and springs of joints act, and which touches nothing, is integrated by
Nyström's method instead (nystrom.py), which keeps its energy; its links then stand where the step
ends.
"""

from math import copysign, inf, nan

import numpy as np

from drystone.constraints.reduced.dynamics import inverse_dynamics, place_inertias
from drystone.constraints.reduced.kinematics import move_links, place_links, row9
from drystone.constraints.reduced.mass_factor import factor_mass, fill_mass, solve_mass
from drystone.constraints.reduced.nystrom import run_nystrom
from drystone.constraints.reduced.robot_rows import add_rows
from drystone.constraints.reduced.spatial import load6, store6
from drystone.jit import inner_kernel, kernel
from drystone.jit.fused import cross_add, matrix_add
from drystone.jit.vec import add, cross, load, sub
from drystone.model.arrays import INFO_CONTACTS
from drystone.model.robot_arrays import (
    DRIVE_SERVO,
    DRIVE_TORQUE,
    PRISMATIC,
    REVOLUTE,
)

SPARE = 0.9  # of its strength: a servo that needed less in the last step is a spring in this one


@inner_kernel
def set_span(t, robots, scratch):
    """Let the kernels of trees work on robot `t`; the first of its rates and the one after."""
    model, span = robots.model, scratch.tree.span
    span[0], span[1] = model.first_link[t], model.first_link[t + 1]
    return np.int64(model.first_v[span[0]]), np.int64(model.first_v[span[1]])


@kernel
def _stands(lo, hi, q, stood):
    """Whether `stood` has the coordinates lo ... hi of `q`, the signs of zeros too."""
    for k in range(lo, hi):
        if stood[k] != q[k] or (q[k] == 0.0 and copysign(1.0, stood[k]) != copysign(1.0, q[k])):
            return False
    return True


@inner_kernel
def stand(t, robots, q, scratch):
    """place_links() of robot `t` at `q`, unless its links stand there: as a rule every step begins
    where the last one has placed them."""
    model, span, stood = robots.model, scratch.tree.span, scratch.stood
    lo, hi = np.int64(model.first_q[span[0]]), np.int64(model.first_q[span[1]])
    if not _stands(lo, hi, q, stood):
        place_links(model, robots.base, q, scratch.tree)
        for k in range(lo, hi):
            stood[k] = q[k]


@inner_kernel
def sleeps(t, robots, state):
    """Whether robot `t` sleeps: all of its bodies do, or none."""
    for i in range(robots.model.first_link[t], robots.model.first_link[t + 1]):
        if robots.body[i] >= 0:
            return state.asleep[robots.body[i]] == 1
    return False


@kernel
def _mark_touched(count, contact_body, robots, touched):
    """Robots of which a link has a contact in this step."""
    for t in range(touched.shape[0]):
        touched[t] = 0
    for c in range(count):
        for side in range(2):
            b = contact_body[c, side]
            if b >= 0 and robots.link[b] >= 0:
                touched[robots.model.tree[robots.link[b]]] = 1


@kernel
def _mark_joined(joints, robots, touched):
    """Robots of which a link has a joint of the world."""
    n = robots.link.shape[0] - 1
    for j in range(joints.kind.shape[0]):
        for side in range(2):
            b = joints.body[j, side]
            if b < n and robots.link[b] >= 0:
                touched[robots.model.tree[robots.link[b]]] = 1


@kernel
def _take_pushes(t, robots, state, force, scratch):
    """Forces on the bodies of links, moved to the origin of the robot; whether there are any."""
    model, body, push, some = robots.model, robots.body, scratch.push, False
    position, origin = state.position, load(scratch.tree.origin, t)
    for i in range(model.first_link[t], model.first_link[t + 1]):
        b = body[i]
        f, m = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        if b >= 0:
            f, m = load6(force, b)
        if (f[0] != 0.0 or f[1] != 0.0 or f[2] != 0.0) or (
            m[0] != 0.0 or m[1] != 0.0 or m[2] != 0.0
        ):
            some = True
            m = add(m, cross(sub(load(position, b), origin), f))
        store6(push, i, m, f)
    return some


@kernel
def _take_commands(t, lo, hi, robots, state, dt, scratch):
    """Forces at the joints of robot `t` that do not change within the step; what is implicit."""
    tau, soft, first = scratch.tau, scratch.soft, 3 * scratch.tau.shape[0]
    for d in range(lo, hi):
        tau[d] = state.robot_tau[d]
        soft[d] = 0.0
    for k in range(robots.first_drive[t], robots.first_drive[t + 1]):
        d, command = robots.drive_rate[k], state.robot_control[k]
        if robots.drive_kind[k] == DRIVE_TORQUE:
            most = robots.drive[k, 1]
            tau[d] += min(max(robots.drive[k, 0] * command, -most), most)
        elif robots.drive_kind[k] == DRIVE_SERVO:
            most = SPARE * dt * robots.drive[k, 1]
            spare = scratch.unfold[t] == 0 and abs(state.robot_impulse[first + k]) <= most
            scratch.folded[k] = 1 if spare or most == inf else 0
            if scratch.folded[k] == 0:
                continue
            stiffness, damping = robots.drive[k, 2], robots.drive[k, 3]
            tau[d] -= stiffness * (state.robot_q[robots.drive_q[k]] - command)
            soft[d] += dt * damping + dt * dt * stiffness


@kernel
def _add_springs(i_lo, i_hi, model, q, dt, scratch):
    """Dampers and springs of the joints, linearly implicit."""
    for i in range(i_lo, i_hi):
        coordinate = model.kind[i] == REVOLUTE or model.kind[i] == PRISMATIC
        for d in range(model.first_v[i], model.first_v[i + 1]):
            scratch.soft[d] += dt * model.damping[d]
            if coordinate and model.stiffness[d] > 0.0:
                away = q[model.first_q[i]] - model.rest[d]
                scratch.tau[d] -= model.stiffness[d] * away
                scratch.soft[d] += dt * dt * model.stiffness[d]


@kernel
def _find_free(t, lo, hi, robots, state, gravity, dt, scratch):
    """Free rates of robot `t` after place_links() and place_inertias(), and the factors of H."""
    model, tree, free, vector = robots.model, scratch.tree, scratch.free, scratch.vector
    v = state.robot_v
    _add_springs(tree.span[0], tree.span[1], model, state.robot_q, dt, scratch)
    move_links(model, v, tree)
    for d in range(lo, hi):
        vector[d] = 0.0
    inverse_dynamics(model, v, vector, gravity, scratch.push, tree, free)  # the bias forces
    fill_mass(model, robots.mass_first, tree, scratch.mass)
    for d in range(lo, hi):
        scratch.mass[robots.mass_first[d]] += scratch.soft[d]
        free[d] = dt * (scratch.tau[d] - free[d]) - scratch.soft[d] * v[d]
    packed, places = scratch.mass, robots.mass_first
    factor_mass(lo, hi, model.above, places, packed, scratch.inverse, scratch.root)
    solve_mass(lo, hi, model.above, places, packed, scratch.inverse, free)
    for d in range(lo, hi):
        free[d] += v[d]


@kernel
def _run_smoothly(t, lo, hi, robots, state, gravity, dt, scratch):
    """Rates and coordinates of robot `t` after the step; its links stand where it begins."""
    model, tree = robots.model, scratch.tree
    first_q, last_q = model.first_q[tree.span[0]], model.first_q[tree.span[1]]
    for k in range(first_q, last_q):
        scratch.next_q[k], scratch.stood[k] = state.robot_q[k], nan  # its stages move the links
    for d in range(lo, hi):
        scratch.free[d] = state.robot_v[d]
    run_nystrom(
        model, robots.base, scratch.next_q, scratch.free, scratch.tau, gravity, scratch.push, dt, 1,
        tree, scratch.stage,
    )  # fmt: skip


@inner_kernel
def show_rates(t, robots, rate, scratch, twist):
    """Velocities of the bodies of robot `t` where its links stand for `rate`, into `twist`."""
    model, tree = robots.model, scratch.tree
    set_span(t, robots, scratch)
    move_links(model, rate, tree)
    origin, body, centre = load(tree.origin, t), robots.body, robots.centre
    velocity, pose = tree.velocity, tree.pose
    for i in range(tree.span[0], tree.span[1]):
        b = body[i]
        if b < 0:
            continue
        w, u = load6(velocity, i)
        at = sub(matrix_add(row9(pose, i), load(centre, i), load(pose, i)), origin)
        store6(twist, b, cross_add(w, at, u), w)


@inner_kernel
def servo_force(k, robots, state, rate, dt):
    """Force of a servo that is a spring in this step, for the rates after it."""
    stiffness, damping = robots.drive[k, 2], robots.drive[k, 3]
    away = state.robot_q[robots.drive_q[k]] - state.robot_control[k]
    return -stiffness * away - (damping + dt * stiffness) * rate[robots.drive_rate[k]]


@kernel
def predict_robots(robots, joints, state, settings, work, scratch):
    """Free rates and demands of all robots that are awake; motion.free of their bodies."""
    dt, motion, tree, model = settings.dt, work.motion, scratch.tree, robots.model
    gravity = (settings.gravity_x, settings.gravity_y, settings.gravity_z)
    count = int(work.log.info[INFO_CONTACTS])
    _mark_touched(count, work.contact_list.body, robots, scratch.touched)
    _mark_joined(joints, robots, scratch.touched)
    rows = scratch.rows
    rows.first[0] = 0
    for t in range(scratch.touched.shape[0]):
        rows.first[t + 1] = rows.first[t]
        scratch.integrated[t] = 0
        if sleeps(t, robots, state):
            continue
        lo, hi = set_span(t, robots, scratch)
        stand(t, robots, state.robot_q, scratch)
        _take_pushes(t, robots, state, motion.force, scratch)
        _take_commands(t, lo, hi, robots, state, dt, scratch)
        add_rows(t, robots, state, dt, scratch)
        held = rows.first[t + 1] > rows.first[t] or scratch.touched[t] == 1
        if robots.smooth[t] == 1 and not held:
            _run_smoothly(t, lo, hi, robots, state, gravity, dt, scratch)
            stand(t, robots, scratch.next_q, scratch)
            scratch.integrated[t] = 1
        else:
            place_inertias(model, tree)
            _find_free(t, lo, hi, robots, state, gravity, dt, scratch)
        show_rates(t, robots, scratch.free, scratch, motion.free)
