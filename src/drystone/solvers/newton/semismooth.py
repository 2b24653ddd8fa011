"""Semismooth Newton inside a proximal point method, compiled, for one island at a time.

solvers/prox_newton.py is the same method in NumPy with SuperLU: sparse factors carry islands that
are too large for the banded ones here, but cannot be called within a compiled step.

W has no inverse where contacts are redundant, as four under a box are. The proximal point method
[Rockafellar1976] solves instead a sequence of problems with the matrix W + alpha D, D the diagonal
of W contact by contact, around the last answer c:

    u = W p + q + alpha D (p - c)

Each has one answer nearby whatever W is, and with alpha falling tenfold from one to the next a
few of them suffice. Newton's method solves each on the equations of [Alart1991],

    p_n = max(0, p_n - rho u_n),   p_t = the point nearest to p_t - rho u_t with length <= mu p_n,

whose derivative only depends on what each contact does now. With z = p - rho u:

    open    z_n <= 0             p = 0                                           no unknown
    stick   |z_t| <= mu z_n      u = 0                                           3 unknowns
    slide   otherwise            u_n = 0,  p_t = mu p_n a + y b,  u_b + x y = 0  2 unknowns: p_n, y

where a = z_t / |z_t|, b is at right angles to it and x = (|z_t| - mu z_n) / (rho mu z_n). We take
the full step always: a line search on the norm of the equations keeps Newton from leaving a
wrong set of sticking and sliding contacts, and costs ten times the iterations on the worst files.
If Newton does not settle, alpha was too small, and it is raised.
"""

from math import sqrt

import numpy as np

from drystone.constraints.coulomb import contact_error
from drystone.jit import inner_kernel, kernel
from drystone.solvers.gauss_seidel.block_matrix import velocity_in
from drystone.solvers.newton.banded_lu import lu_factor, lu_solve, set_band
from drystone.solvers.newton.system import (
    clamp_row,
    fill_matrix,
    fill_right_side,
    prox_weight,
    read_impulses,
    set_low,
    set_statuses,
)

FIRST_ALPHA = 1e-3  # sweeps before have found most of what is open, sticks and slides
LEAST_ALPHA = 1e-9  # below, W + alpha D has no more than seven digits left
LARGEST_ALPHA = 1e3  # above, a problem moves by less than a thousandth of a sweep
NEWTON_STEPS = 15  # of one problem; those that settle at all take three to ten
EASY = 8  # Newton steps: if one problem took fewer, the next may be harder
SETTLED = 1e-2  # fall of the error that ends one problem; the next starts better from there
PATIENCE = 1  # problems before an alpha that failed is tried again; doubled with each failure
TOUCH = 1e-3  # of the largest velocity: contacts that part no faster are pressed a little at first


@kernel
def set_velocities(n, island, alpha, centre, impulse, velocity):
    """u = W p + q + alpha D (p - c)."""
    for c in range(n):
        un, u1, u2 = velocity_in(c, island.first, island.column, island.value, island.q, impulse)
        if island.joint[c]:
            velocity[c, 0], velocity[c, 1], velocity[c, 2] = un, u1, u2
            for k in range(3):
                moved = impulse[c, k] - centre[c, k]
                velocity[c, k] += island.soft[c, k] * impulse[c, k]
                velocity[c, k] += prox_weight(c, k, island, alpha) * moved
            continue
        a = alpha * island.scale[c]
        velocity[c, 0] = un + a * (impulse[c, 0] - centre[c, 0])
        velocity[c, 1] = u1 + a * (impulse[c, 1] - centre[c, 1])
        velocity[c, 2] = u2 + a * (impulse[c, 2] - centre[c, 2])


@inner_kernel
def joint_error(c, island, alpha, impulse, velocity):
    """How far the rows of joint block `c` are from their law, as a velocity [m/s], [rad/s]."""
    worst = 0.0
    for k in range(3):
        z = clamp_row(c, k, island, alpha, impulse, velocity)
        z = min(max(z, island.lower[c, k]), island.upper[c, k])
        worst = max(worst, abs(impulse[c, k] - z) * island.own[c, k])
    return worst


@inner_kernel
def alart_curnier_error(n, island, alpha, impulse, velocity):
    """Norm of the equations of [Alart1991], divided by rho [m/s]."""
    total = 0.0
    for c in range(n):
        if island.joint[c]:
            total += joint_error(c, island, alpha, impulse, velocity) ** 2
            continue
        s = (1.0 + alpha) * island.scale[c]
        zn = max(0.0, impulse[c, 0] - velocity[c, 0] / s)
        z1, z2 = impulse[c, 1] - velocity[c, 1] / s, impulse[c, 2] - velocity[c, 2] / s
        length, bound = sqrt(z1 * z1 + z2 * z2), island.friction[c] * zn
        shrink = bound / length if length > bound else 1.0
        en, e1, e2 = impulse[c, 0] - zn, impulse[c, 1] - shrink * z1, impulse[c, 2] - shrink * z2
        total += s * s * (en * en + e1 * e1 + e2 * e2)
    return sqrt(total)


@kernel
def newton_step(n, island, alpha, work, impulse):
    """One full step from `impulse`, whose velocities stand in `work`; False: it cannot be."""
    r = work
    size = set_statuses(
        n, island, alpha, impulse, r.velocity, r.status, r.free, r.axis, r.drag, r.row
    )
    set_low(n, island, r.row, r.low)
    used = set_band(size, r.low, r.high, r.at)
    if used > r.matrix.shape[0]:
        return False
    for k in range(used):
        r.matrix[k] = 0.0
    fill_matrix(n, island, alpha, r.status, r.free, r.axis, r.drag, r.row, r.at, r.matrix)
    fill_right_side(n, island, alpha, r.centre, r.status, r.free, r.axis, r.row, impulse, r.y)
    if not lu_factor(size, r.matrix, r.low, r.high, r.at):
        return False
    lu_solve(size, r.matrix, r.low, r.high, r.at, r.y)
    read_impulses(n, island.friction, r.status, r.free, r.axis, r.row, r.y, impulse)
    return True


@inner_kernel
def refine(n, work):
    """Solve once more for work.y, with the factors of the last newton_step() of `n` contacts."""
    lu_solve(work.row[n], work.matrix, work.low, work.high, work.at, work.y)


@inner_kernel(inline="always")  # see find_touching() in timestep.py
def solve_near_centre(n, island, alpha, enough, work, impulse):
    """Newton on the problem around work.centre; its steps, negative if it did not settle."""
    set_velocities(n, island, alpha, work.centre, impulse, work.velocity)
    start = alart_curnier_error(n, island, alpha, impulse, work.velocity)
    for step in range(1, NEWTON_STEPS + 1):
        if not newton_step(n, island, alpha, work, impulse):
            return -step
        set_velocities(n, island, alpha, work.centre, impulse, work.velocity)
        error = alart_curnier_error(n, island, alpha, impulse, work.velocity)
        if error <= max(SETTLED * start, enough):
            return step
        if not error < np.inf:
            return -step
    return -NEWTON_STEPS


@kernel
def cut_to_cones(n, joint, friction, impulse):
    """Shorten tangential impulses of contacts to what friction can hold."""
    for c in range(n):
        if joint[c]:
            continue
        pn = impulse[c, 0]
        length = sqrt(impulse[c, 1] ** 2 + impulse[c, 2] ** 2)
        keep = 1.0
        if not pn > 0.0:
            keep = impulse[c, 0] = 0.0
        elif length > friction[c] * pn:
            keep = friction[c] * pn / length
        impulse[c, 1] *= keep
        impulse[c, 2] *= keep


@inner_kernel
def natural_error(n, island, relative, velocity, impulse):
    """Error of the island: a norm with step 1 if `relative`, else the worst contact [m/s]."""
    total = 0.0
    set_velocities(n, island, 0.0, impulse, impulse, velocity)
    for c in range(n):
        if island.joint[c]:
            error = joint_error(c, island, 0.0, impulse, velocity)
        else:
            rho = 1.0 if relative else 1.0 / island.scale[c]
            error = contact_error(
                impulse[c, 0], impulse[c, 1], impulse[c, 2],
                velocity[c, 0], velocity[c, 1], velocity[c, 2], island.friction[c], rho,
            )  # fmt: skip
        if relative:
            total += error * error
        elif not error <= total:  # also takes a NaN
            total = error
    return sqrt(total) if relative else total


@inner_kernel
def copy_impulses(n, source, target):
    for c in range(n):
        target[c, 0], target[c, 1], target[c, 2] = source[c, 0], source[c, 1], source[c, 2]


@kernel
def press_touching(n, joint, scale, velocity, impulse):
    """Give an impulse to contacts that have none and do not part: Newton then sees them as closed.

    Else a stack that starts from zero closes one layer with each step.
    """
    fastest = 0.0
    for c in range(n):
        for k in range(3):
            fastest = max(fastest, abs(velocity[c, k]))
    for c in range(n):
        if not joint[c] and impulse[c, 0] == 0.0 and velocity[c, 0] < TOUCH * fastest:
            impulse[c, 0] = TOUCH * fastest / scale[c]


@kernel
def prox_newton(n, island, relative, goal, max_steps, work, impulse):
    """Improve `impulse` until the error of the island is at most `goal`.

    The best iterate is what remains. Returns its error and the Newton steps taken.
    """
    return newton_from(FIRST_ALPHA, n, island, relative, goal, max_steps, work, impulse)


@inner_kernel
def newton_from(alpha, n, island, relative, goal, max_steps, work, impulse):
    """The same from another first alpha; a small one suits a guess that is good."""
    error = best = natural_error(n, island, relative, work.velocity, impulse)
    copy_impulses(n, impulse, work.best)
    floor = LEAST_ALPHA
    steps, patience, waited = 0, PATIENCE, 0
    press_touching(n, island.joint, island.scale, work.velocity, impulse)
    while not best <= goal and steps < max_steps and alpha <= LARGEST_ALPHA:
        copy_impulses(n, impulse, work.centre)
        taken = solve_near_centre(n, island, alpha, 0.1 * goal, work, impulse)
        steps += abs(taken)
        cut_to_cones(n, island.joint, island.friction, impulse)
        error = natural_error(n, island, relative, work.velocity, impulse)
        if error < best:
            best = error
            copy_impulses(n, impulse, work.best)
        if taken < 0:
            copy_impulses(n, work.centre, impulse)
            alpha *= 10.0
            floor, patience, waited = alpha, 2 * patience, 0
            continue
        waited += 1
        if alpha <= floor and waited >= patience:
            floor, waited = max(LEAST_ALPHA, 0.1 * floor), 0
        if taken < EASY:
            alpha = max(0.1 * alpha, floor)
    copy_impulses(n, work.best, impulse)
    return best, steps
