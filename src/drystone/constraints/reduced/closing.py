"""Coordinates after a step: along the rates, loops and coupled joints closed, links placed.

Loops are closed by Newton steps in the metric of the mass matrix, so that what is moved is moved as
impulses would.
"""

from math import isfinite, sqrt

import numpy as np

from drystone.constraints.reduced.free_rates import servo_force, set_span, sleeps, stand
from drystone.constraints.reduced.kinematics import move_links, product9, row9, step_links
from drystone.constraints.reduced.mass_factor import spread_down, spread_up
from drystone.constraints.reduced.spatial import load6, store6
from drystone.jit import kernel
from drystone.jit.fused import cross_add, matrix_add
from drystone.jit.vec import add, cross, load, mul, store, sub
from drystone.model.arrays import HELD, INFO_STOPPED, PLACED
from drystone.model.robot_arrays import DRIVE_SERVO

SOFTNESS = 1e-11  # of the largest: what is demanded twice agrees
MOST_PROJECTIONS = 8  # Newton steps that close loops; two or three are usual
CLOSED = 1e-13  # [m], [rad] open loops that are left


@kernel
def _loop_end(number, side, robots, tree):
    """Link of one end of a loop, and its point in world axes from the local origin."""
    link, o = np.int64(robots.loop_link[number, side]), 3 * side
    point = (
        robots.loop_point[number, o], robots.loop_point[number, o + 1],
        robots.loop_point[number, o + 2],
    )  # fmt: skip
    if link < 0:
        return link, point
    return link, add(load(tree.pose, link), mul(row9(tree.pose, link), point))


@kernel
def _see_loops(t, lo, width, robots, q, tree, closing, error_at):
    """Jacobian (k, width) of what is to be closed, and how far it is open; returns k, the worst."""
    k, worst, model = 0, 0.0, robots.model
    for c in range(robots.first_couple[t], robots.first_couple[t + 1]):
        factor, offset = robots.couple_number[c, 0], robots.couple_number[c, 1]
        for d in range(width):
            closing[k * width + d] = 0.0
        closing[k * width + robots.couple[c, 0] - lo] = 1.0
        closing[k * width + robots.couple[c, 2] - lo] -= factor
        error = q[robots.couple[c, 1]] - factor * q[robots.couple[c, 3]] - offset
        closing[error_at + k] = error
        worst, k = max(worst, abs(error)), k + 1
    for number in range(robots.first_loop[t], robots.first_loop[t + 1]):
        apart = (0.0, 0.0, 0.0)
        for d in range(3 * width):
            closing[k * width + d] = 0.0
        for side in range(2):
            sign = 1.0 if side == 1 else -1.0
            j, point = _loop_end(number, side, robots, tree)
            apart = add(apart, (sign * point[0], sign * point[1], sign * point[2]))
            point = sub(point, load(tree.origin, t))
            while j >= 0:
                for d in range(model.first_v[j], model.first_v[j + 1]):
                    a, b = load6(tree.motion, d)
                    v = add(b, cross(a, point))
                    for m in range(3):
                        closing[(k + m) * width + d - lo] += sign * v[m]
                j = model.parent[j]
        for m in range(3):
            closing[error_at + k + m] = apart[m]
            worst = max(worst, abs(apart[m]))
        k += 3
    return k, worst


@kernel
def _solve_dense(n, at, right, a):
    """Symmetric positive definite equations in place, by Cholesky's method without roots."""
    for i in range(n):
        for j in range(i):
            share = a[at + i * n + j] / a[at + j * n + j]
            for k in range(j, n):
                a[at + i * n + k] -= share * a[at + j * n + k]
            a[right + i] -= share * a[right + j]
    for i in range(n - 1, -1, -1):
        for k in range(i + 1, n):
            a[right + i] -= a[at + i * n + k] * a[right + k]
        a[right + i] /= a[at + i * n + i]


@kernel
def _held(t, robots):
    """How many rows loops and coupled joints of robot `t` are."""
    loops = robots.first_loop[t + 1] - robots.first_loop[t]
    return np.int64(3 * loops + robots.first_couple[t + 1] - robots.first_couple[t])


@kernel
def gap_of(t, robots, q, scratch):
    """How far loops and coupled joints of robot `t` are open at `q` [m], [rad]."""
    lo, hi = set_span(t, robots, scratch)
    stand(t, robots, q, scratch)
    error_at = _held(t, robots) * (hi - lo)
    _, worst = _see_loops(t, lo, hi - lo, robots, q, scratch.tree, scratch.closing, error_at)
    return worst


@kernel
def _close(t, robots, q, scratch):
    """Move `q` until all loops of robot `t` fit; the factors of its mass matrix are there."""
    lo, hi = set_span(t, robots, scratch)
    model, tree, a, x = robots.model, scratch.tree, scratch.closing, scratch.vector
    width = hi - lo
    most = _held(t, robots)
    error_at = most * width
    matrix_at = error_at + most
    for _ in range(MOST_PROJECTIONS):
        stand(t, robots, q, scratch)
        k, worst = _see_loops(t, lo, width, robots, q, tree, a, error_at)
        if worst < CLOSED:
            return
        for m in range(k):
            o = m * width - lo
            spread_down(lo, hi, model.above, robots.mass_first, scratch.mass, a, o)
            for d in range(lo, hi):
                a[o + d] *= scratch.root[d]
        largest = 0.0
        for i in range(k):
            for j in range(k):
                total = 0.0
                for d in range(width):
                    total += a[i * width + d] * a[j * width + d]
                a[matrix_at + i * k + j] = total
                largest = max(largest, total)
        for i in range(k):  # loops in a plane demand some things twice, or nothing at all
            a[matrix_at + i * k + i] += SOFTNESS * largest
        _solve_dense(k, matrix_at, error_at, a)
        for d in range(lo, hi):
            x[d] = 0.0
            for m in range(k):
                x[d] -= scratch.root[d] * a[m * width + d - lo] * a[error_at + m]
        spread_up(lo, hi, model.above, robots.mass_first, scratch.mass, x)
        step_links(tree.span[0], tree.span[1], model, q, x, 1.0, q)


@kernel
def _share_moved(t, robots, fraction):
    """Share of the step that robot `t` moves: CCD may have stopped one of its links."""
    share = 1.0
    for i in range(robots.model.first_link[t], robots.model.first_link[t + 1]):
        if robots.body[i] >= 0:
            share = min(share, fraction[robots.body[i]])
    return share


@kernel
def _principal(r, p):
    """Quaternion, of any length, of the body: axes of the link `r` times principal axes `p`."""
    m = product9(r, p)
    trace = m[0] + m[4] + m[8]
    if trace >= m[0] and trace >= m[4] and trace >= m[8]:  # [Shepperd1978]
        q = (1.0 + trace, m[7] - m[5], m[2] - m[6], m[3] - m[1])
    elif m[0] >= m[4] and m[0] >= m[8]:
        q = (m[7] - m[5], 1.0 + 2.0 * m[0] - trace, m[1] + m[3], m[2] + m[6])
    elif m[4] >= m[8]:
        q = (m[2] - m[6], m[1] + m[3], 1.0 + 2.0 * m[4] - trace, m[5] + m[7])
    else:
        q = (m[3] - m[1], m[2] + m[6], m[5] + m[7], 1.0 + 2.0 * m[8] - trace)
    return q


@kernel
def place_bodies(t, robots, state, scratch):
    """Poses and velocities of the bodies of robot `t`, from its coordinates and rates."""
    set_span(t, robots, scratch)
    stand(t, robots, state.robot_q, scratch)
    move_links(robots.model, state.robot_v, scratch.tree)
    _show_bodies(t, robots, state, scratch)


@kernel
def _show_bodies(t, robots, state, scratch):
    """Poses and velocities of the bodies of robot `t`, from those of its links."""
    tree = scratch.tree
    origin, pose, velocity = load(tree.origin, t), tree.pose, tree.velocity
    body, centre, p = robots.body, robots.centre, robots.principal
    position, rotation, twist = state.position, state.rotation, state.twist
    for i in range(tree.span[0], tree.span[1]):
        b = body[i]
        if b < 0:
            continue
        axes = row9(pose, i)
        at = matrix_add(axes, load(centre, i), load(pose, i))
        w, u = load6(velocity, i)
        own = (
            p[i, 0], p[i, 1], p[i, 2], p[i, 3], p[i, 4], p[i, 5], p[i, 6], p[i, 7], p[i, 8],
        )  # fmt: skip
        rotation[b, 0], rotation[b, 1], rotation[b, 2], rotation[b, 3] = _principal(axes, own)
        store(position, b, at)
        store6(twist, b, cross_add(w, sub(at, origin), u), w)
    # Of length 1, in a loop of its own: roots take long, and several are then under way.
    for i in range(tree.span[0], tree.span[1]):
        b = body[i]
        if b >= 0:
            w, x, y, z = rotation[b, 0], rotation[b, 1], rotation[b, 2], rotation[b, 3]
            size = 1.0 / sqrt(w * w + x * x + y * y + z * z)
            rotation[b, 0], rotation[b, 1] = size * w, size * x
            rotation[b, 2], rotation[b, 3] = size * y, size * z


@kernel
def end_robot(t, robots, state, settings, work, scratch):
    """Coordinates of robot `t` after the step, into scratch.next_q; the state is not written."""
    model, share = robots.model, 1.0
    if work.log.info[INFO_STOPPED] > 0:
        share = _share_moved(t, robots, work.ccd.fraction)
    if scratch.integrated[t] == 1 and share == 1.0:
        return
    scratch.integrated[t] = 0
    for k in range(robots.first_drive[t], robots.first_drive[t + 1]):
        if robots.drive_kind[k] == DRIVE_SERVO and scratch.folded[k] == 1:
            force = servo_force(k, robots, state, scratch.rate, settings.dt)
            scratch.pulled[k] = settings.dt * force
    lo, hi = set_span(t, robots, scratch)
    for d in range(lo, hi):
        scratch.vector[d] = scratch.rate[d] + scratch.shift[d]
    step_links(
        scratch.tree.span[0], scratch.tree.span[1], model, state.robot_q, scratch.vector,
        share * settings.dt, scratch.next_q,
    )  # fmt: skip
    if _held(t, robots) > 0:
        _close(t, robots, scratch.next_q, scratch)


@kernel
def store_robot(t, robots, state, scratch):
    """The step was good: coordinates, rates, impulses of rows and bodies of robot `t`."""
    model, rows = robots.model, scratch.rows
    lo, hi = model.first_link[t], model.first_link[t + 1]
    still = False  # its bodies have just fallen asleep
    for i in range(lo, hi):
        if robots.body[i] >= 0:
            still = state.asleep[robots.body[i]] == 1
            break
    q, v, impulse, next_q = state.robot_q, state.robot_v, state.robot_impulse, scratch.next_q
    for k in range(model.first_q[lo], model.first_q[hi]):
        q[k] = next_q[k]
    rate, first, last = scratch.rate, np.int64(model.first_v[lo]), np.int64(model.first_v[hi])
    for d in range(first, last):
        v[d] = 0.0 if still else rate[d]
    for k in range(3 * first, 3 * last):
        impulse[k] = 0.0  # of limits that no row was made for
    for r in range(rows.first[t], rows.first[t + 1]):
        state.robot_impulse[rows.place[r]] = rows.impulse[r]
    first = 3 * model.dof_link.shape[0]
    for k in range(robots.first_drive[t], robots.first_drive[t + 1]):
        if robots.drive_kind[k] == DRIVE_SERVO and scratch.folded[k] == 1:
            state.robot_impulse[first + k] = scratch.pulled[k]
    if scratch.integrated[t] == 1 and not still:  # its links are there already
        set_span(t, robots, scratch)
        _show_bodies(t, robots, state, scratch)
    else:
        place_bodies(t, robots, state, scratch)


@kernel
def leave_rotations(robots, scheme):
    """Links are rotated by their robots alone; what finalize.py would do is not looked at."""
    body = robots.body
    for i in range(body.shape[0]):
        if body[i] >= 0 and scheme[body[i]] == HELD:
            scheme[body[i]] = PLACED


@kernel
def end_robots(robots, state, settings, work, scratch):
    """Coordinates of all robots after the step."""
    for t in range(scratch.touched.shape[0]):
        scratch.active[t] = 0 if sleeps(t, robots, state) else 1
        if scratch.active[t] == 1:
            end_robot(t, robots, state, settings, work, scratch)


@kernel
def find_broken(robots, scratch):
    """First robot whose coordinates or rates after the step are no finite numbers, or -1: those of
    its bodies are looked at elsewhere, but it need not have any."""
    model = robots.model
    for t in range(scratch.touched.shape[0]):
        if scratch.active[t] == 0:
            continue
        lo, hi, total = model.first_link[t], model.first_link[t + 1], 0.0
        q, rate = scratch.next_q, scratch.rate
        for k in range(model.first_q[lo], model.first_q[hi]):
            total += q[k]
        for d in range(model.first_v[lo], model.first_v[hi]):
            total += rate[d]
        if not isfinite(total):
            return t
    return -1


@kernel
def store_robots(robots, state, scratch):
    """Write the state of all robots that were awake in this step."""
    for t in range(scratch.touched.shape[0]):
        if scratch.active[t] == 1:
            store_robot(t, robots, state, scratch)
