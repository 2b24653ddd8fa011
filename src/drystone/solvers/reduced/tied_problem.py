"""The problem of an island with robots once its blocks are there: its matrix, and how it is solved.

    u = Z carried + q,   carried = Zᵀ p,   W = Z Zᵀ

Newton's method (newton/semismooth.py) solves it where the matrix is not too large, from the
impulses of the last step; if that fails, sweeps improve them first. Sweeps visit the blocks one by
one, as gauss_seidel/ does, with `carried` in place of velocities.
"""

import numpy as np

from drystone.constraints.coulomb import contact_error, solve_contact
from drystone.jit import inner_kernel, kernel
from drystone.solvers.newton.semismooth import natural_error, newton_from, prox_newton

GOOD_ALPHA = 1e-8  # the first, from the impulses of the last step: see newton_from()
NEWTON_STEPS = 60
FIRST_SWEEPS, MOST_SWEEPS = 20, 2000


@kernel
def _couple(i, j, problem, island, used):
    """Block (i, j) of W at place `used`; False if they have nothing in common."""
    z, common = problem.z, False
    for side in range(2):
        width, start = np.int64(problem.width[i, side]), problem.start[i, side]
        if width == 0:
            continue
        for other in range(2):
            if problem.width[j, other] == 0 or problem.start[j, other] != start:
                continue
            if not common:
                for k in range(9):
                    island.value[used, k] = 0.0
            common = True
            a, b = problem.at[i, side], problem.at[j, other]
            _add_products(a, b, width, z, used, island.value)
    return common


@kernel
def _add_products(a, b, width, z, used, value):
    """Three rows of Z from `a` times three from `b`: nine sums side by side, for the processor
    waits for each sum of its own."""
    s00 = s01 = s02 = s10 = s11 = s12 = s20 = s21 = s22 = 0.0
    for d in range(width):
        x0, x1, x2 = z[a + d], z[a + width + d], z[a + 2 * width + d]
        y0, y1, y2 = z[b + d], z[b + width + d], z[b + 2 * width + d]
        s00, s01, s02 = s00 + x0 * y0, s01 + x0 * y1, s02 + x0 * y2
        s10, s11, s12 = s10 + x1 * y0, s11 + x1 * y1, s12 + x1 * y2
        s20, s21, s22 = s20 + x2 * y0, s21 + x2 * y1, s22 + x2 * y2
    value[used, 0], value[used, 1], value[used, 2] = (
        value[used, 0] + s00, value[used, 1] + s01, value[used, 2] + s02
    )  # fmt: skip
    value[used, 3], value[used, 4], value[used, 5] = (
        value[used, 3] + s10, value[used, 4] + s11, value[used, 5] + s12
    )  # fmt: skip
    value[used, 6], value[used, 7], value[used, 8] = (
        value[used, 6] + s20, value[used, 7] + s21, value[used, 8] + s22
    )  # fmt: skip


@kernel
def _couple_itself(i, problem, island, used):
    own = problem.own
    place = (0, 1, 2, 1, 3, 4, 2, 4, 5)
    for k in range(9):
        island.value[used, k] = own[i, place[k]]


@inner_kernel
def fill_matrix(n, problem, island):
    """W of the blocks 0 ... n, with its zeros left out; False if there is no room for it."""
    used = 0
    for i in range(n):
        island.first[i] = used
        for j in range(n):
            if used == island.column.shape[0]:
                return False
            if i == j:
                _couple_itself(i, problem, island, used)
            elif not _couple(i, j, problem, island, used):
                continue
            island.column[used] = j
            used += 1
    island.first[n] = used
    return True


@kernel
def _add_carried(i, p0, p1, p2, problem):
    """Zᵀ of a change of the impulse of block `i`."""
    for side in range(2):
        width, at = np.int64(problem.width[i, side]), problem.at[i, side]
        start = np.int64(problem.start[i, side])
        for d in range(width):
            problem.carried[start + d] += (
                problem.z[at + d] * p0
                + problem.z[at + width + d] * p1
                + problem.z[at + 2 * width + d] * p2
            )


@inner_kernel
def carry_all(n, problem):
    """`carried` of all impulses."""
    for i in range(n):
        for side in range(2):
            start = np.int64(problem.start[i, side])
            for d in range(problem.width[i, side]):
                problem.carried[start + d] = 0.0
    for i in range(n):
        p = problem.impulse
        _add_carried(i, p[i, 0], p[i, 1], p[i, 2], problem)


@inner_kernel
def velocity_of(i, problem, island):
    """u of block `i`."""
    u0, u1, u2 = island.q[i, 0], island.q[i, 1], island.q[i, 2]
    u0 += island.soft[i, 0] * problem.impulse[i, 0]
    for side in range(2):
        width, at = np.int64(problem.width[i, side]), problem.at[i, side]
        start = np.int64(problem.start[i, side])
        for d in range(width):
            s = problem.carried[start + d]
            u0 += problem.z[at + d] * s
            u1 += problem.z[at + width + d] * s
            u2 += problem.z[at + 2 * width + d] * s
    return u0, u1, u2


@kernel
def _row_velocity(i, k, problem, island):
    u = island.q[i, k] + island.soft[i, k] * problem.impulse[i, k]
    for side in range(2):
        width = np.int64(problem.width[i, side])
        at, start = problem.at[i, side] + k * width, np.int64(problem.start[i, side])
        for d in range(width):
            u += problem.z[at + d] * problem.carried[start + d]
    return u


@kernel
def _visit_rows(i, problem, island):
    """The rows of a block that is no contact, one after the other."""
    p = problem.impulse
    for k in range(3):
        if island.lower[i, k] == 0.0 and island.upper[i, k] == 0.0:
            continue
        u = _row_velocity(i, k, problem, island)
        new = p[i, k] - u / island.own[i, k]
        new = min(max(new, island.lower[i, k]), island.upper[i, k])
        change = new - p[i, k]
        p[i, k] = new
        _add_carried(
            i, change if k == 0 else 0.0, change if k == 1 else 0.0, change if k == 2 else 0.0,
            problem,
        )  # fmt: skip


@kernel
def _sweep(n, backward, problem, island):
    p = problem.impulse
    for m in range(n):
        i = n - 1 - m if backward else m
        if island.joint[i]:
            _visit_rows(i, problem, island)
            continue
        un, u1, u2 = velocity_of(i, problem, island)
        pn, p1, p2 = solve_contact(
            i, un, u1, u2, problem.own, problem.inverse, island.friction[i], p
        )  # fmt: skip
        d0, d1, d2 = pn - p[i, 0], p1 - p[i, 1], p2 - p[i, 2]
        if d0 != 0.0 or d1 != 0.0 or d2 != 0.0:
            _add_carried(i, d0, d1, d2, problem)
        p[i, 0], p[i, 1], p[i, 2] = pn, p1, p2


@inner_kernel
def swept_error(n, problem, island):
    """The worst error of a block, as natural_error() finds it with a matrix [m/s]."""
    worst, p = 0.0, problem.impulse
    for i in range(n):
        error = 0.0
        if island.joint[i]:
            for k in range(3):
                u = _row_velocity(i, k, problem, island)
                z = p[i, k] - u / island.own[i, k]
                z = min(max(z, island.lower[i, k]), island.upper[i, k])
                error = max(error, abs(p[i, k] - z) * island.own[i, k])
        else:
            un, u1, u2 = velocity_of(i, problem, island)
            error = contact_error(
                p[i, 0], p[i, 1], p[i, 2], un, u1, u2, island.friction[i], 1.0 / island.scale[i]
            )
        if not error <= worst:
            worst = error
    return worst


@kernel
def _sweep_all(n, goal, most, problem, island):
    """Up to `most` sweeps, forth and back; error and how many."""
    carry_all(n, problem)
    error = swept_error(n, problem, island)
    sweeps = 0
    while not error <= goal and sweeps < most:
        for k in range(10):
            _sweep(n, k % 2 == 1, problem, island)
        sweeps += 10
        error = swept_error(n, problem, island)
    return error, sweeps


@inner_kernel
def solve_tied(n, goal, tolerance, newton, scratch):
    """Improve problem.impulse of the blocks 0 ... n to `goal`, at least to `tolerance`.

    newton   whether Newton's method may be used
    Returns the error, sweeps and Newton steps.
    """
    problem, island, work = scratch.problem, scratch.island, scratch.newton
    carry_all(n, problem)
    error = swept_error(n, problem, island)
    if error <= goal:  # a robot that stands needs no matrix
        return error, 0, 0
    if not newton or not fill_matrix(n, problem, island):
        error, sweeps = _sweep_all(n, tolerance, MOST_SWEEPS, problem, island)
        return error, sweeps, 0
    error = natural_error(n, island, False, work.velocity, problem.impulse)
    steps, sweeps = 0, 0
    if error <= goal:
        return error, 0, 0
    error, steps = newton_from(
        GOOD_ALPHA, n, island, False, goal, NEWTON_STEPS, work, problem.impulse
    )
    if not error <= tolerance:
        _, sweeps = _sweep_all(n, goal, FIRST_SWEEPS, problem, island)
        error, more = prox_newton(
            n, island, False, goal, 2 * NEWTON_STEPS, work, problem.impulse
        )  # fmt: skip
        steps += more
    if not error <= tolerance:
        error, more = _sweep_all(n, tolerance, MOST_SWEEPS, problem, island)
        sweeps += more
    return error, sweeps, steps
