"""The linear equations of a Newton step in the velocities of bodies.

(M + sum Jᵀ K J) dv = Jᵀ p - M (v - v_free), with K the derivative of the impulse of a contact by
its velocity: 1 / (alpha D) where it sticks, nothing where it is open, and along the surface of the
cone where it slides. K is symmetric and not negative, so the matrix has an inverse however many
contacts a body has, and factors without pivoting.
"""

from math import sqrt

from drystone.constraints.coulomb import project_on_cone
from drystone.jit import inner_kernel, kernel

# Impulses that use friction up to this share count as sliding where a step is predicted.
USED_UP = 0.999999


@inner_kernel
def contact_scale(r, rows):
    """D: a third of the trace of the diagonal block of W [1/kg]."""
    return (rows.delassus[r, 0] + rows.delassus[r, 3] + rows.delassus[r, 5]) / 3.0


@inner_kernel
def set_inertias(work, mass):
    """Masses and inertias, from their inverses; where a body cannot rotate, one instead."""
    inertia = work.inertia
    for i in range(work.body.shape[0]):
        k = work.body[i]
        inertia[i, 0] = 1.0 / mass[k, 0]
        a, b, c = mass[k, 1], mass[k, 2], mass[k, 3]
        d, e, f = mass[k, 4], mass[k, 5], mass[k, 6]
        a, d, f = a if a != 0.0 else 1.0, d if d != 0.0 else 1.0, f if f != 0.0 else 1.0
        k0, k1, k2 = d * f - e * e, c * e - b * f, b * e - c * d
        det = a * k0 + b * k1 + c * k2
        inertia[i, 1], inertia[i, 2], inertia[i, 3] = k0 / det, k1 / det, k2 / det
        inertia[i, 4], inertia[i, 5] = (a * f - c * c) / det, (b * c - a * e) / det
        inertia[i, 6] = (a * d - b * b) / det


@inner_kernel
def subtract_momenta(work, v, out):
    """out -= M v."""
    inertia = work.inertia
    for i in range(work.body.shape[0]):
        o = 6 * i
        for k in range(3):
            out[o + k] -= inertia[i, 0] * v[o + k]
        a, b, c = v[o + 3], v[o + 4], v[o + 5]
        out[o + 3] -= inertia[i, 1] * a + inertia[i, 2] * b + inertia[i, 3] * c
        out[o + 4] -= inertia[i, 2] * a + inertia[i, 4] * b + inertia[i, 5] * c
        out[o + 5] -= inertia[i, 3] * a + inertia[i, 5] * b + inertia[i, 6] * c


@inner_kernel
def _add_masses(work, matrix):
    inertia = work.inertia
    for i in range(work.body.shape[0]):
        o = 36 * i
        for k in range(3):
            matrix[o + 7 * k] += inertia[i, 0]
        o += 21
        xx, xy, xz = inertia[i, 1], inertia[i, 2], inertia[i, 3]
        yy, yz, zz = inertia[i, 4], inertia[i, 5], inertia[i, 6]
        matrix[o] += xx
        matrix[o + 1] += xy
        matrix[o + 2] += xz
        matrix[o + 6] += xy
        matrix[o + 7] += yy
        matrix[o + 8] += yz
        matrix[o + 12] += xz
        matrix[o + 13] += yz
        matrix[o + 14] += zz


@kernel
def _set_jacobian(r, rows, mass, jacobian):
    """Velocities at contact `r` from those of its bodies; nothing where one cannot rotate."""
    for side in range(2):
        sign = 1.0 if side == 1 else -1.0
        b, o = rows.body[r, side], 3 * side
        lx, ly, lz = rows.arm[r, o], rows.arm[r, o + 1], rows.arm[r, o + 2]
        sx = 0.0 if mass[b, 1] == 0.0 else sign
        sy = 0.0 if mass[b, 4] == 0.0 else sign
        sz = 0.0 if mass[b, 6] == 0.0 else sign
        for k in range(3):
            x, y, z = rows.frame[r, 3 * k], rows.frame[r, 3 * k + 1], rows.frame[r, 3 * k + 2]
            jacobian[side, k, 0], jacobian[side, k, 1] = sign * x, sign * y
            jacobian[side, k, 2] = sign * z
            jacobian[side, k, 3] = sx * (ly * z - lz * y)
            jacobian[side, k, 4] = sy * (lz * x - lx * z)
            jacobian[side, k, 5] = sz * (lx * y - ly * x)


@kernel
def _cone_stiffness(zn, z1, z2, mu, s):
    """s times the derivative of project_on_cone(): nn, n1, n2, 11, 12, 22."""
    zt = sqrt(z1 * z1 + z2 * z2)
    if zt <= mu * zn and zn >= 0.0:
        return s, 0.0, 0.0, s, 0.0, s
    if mu * zt <= -zn:
        return 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    if zt == 0.0 or mu == 0.0:
        return s, 0.0, 0.0, 0.0, 0.0, 0.0
    x, y = z1 / zt, z2 / zt
    f = s / (1.0 + mu * mu)
    g, t = f * mu * mu, f * mu * (zn + mu * zt) / zt  # along the cone, and round it
    return (
        f, f * mu * x, f * mu * y,
        g * x * x + t * y * y, (g - t) * x * y, g * y * y + t * x * x,
    )  # fmt: skip


@kernel
def _add_block(o, side, other, work, matrix):
    """Jᵀ K J of the bodies on two sides of a contact to the block at matrix[o]."""
    jac, stiff = work.jacobian, work.stiff
    for j in range(6):
        a, b, c = jac[side, 0, j], jac[side, 1, j], jac[side, 2, j]
        for k in range(6):
            matrix[o + 6 * j + k] += (
                a * stiff[other, 0, k] + b * stiff[other, 1, k] + c * stiff[other, 2, k]
            )


@kernel
def _add_contact(i, rows, mass, stiffness, p, work, matrix):
    """Jᵀ K J of contact `i` to the matrix and Jᵀ p to the right side."""
    r = work.row[i]
    k00, k01, k02, k11, k12, k22 = stiffness
    jac, stiff = work.jacobian, work.stiff
    _set_jacobian(r, rows, mass, jac)
    for side in range(2):
        for j in range(6):
            a, b, c = jac[side, 0, j], jac[side, 1, j], jac[side, 2, j]
            stiff[side, 0, j] = k00 * a + k01 * b + k02 * c
            stiff[side, 1, j] = k01 * a + k11 * b + k12 * c
            stiff[side, 2, j] = k02 * a + k12 * b + k22 * c
    for side in range(2):
        if mass[rows.body[r, side], 0] == 0.0:
            continue
        place = work.place[rows.body[r, side]]
        o = 6 * place
        for j in range(6):
            work.y[o + j] += (
                jac[side, 0, j] * p[0] + jac[side, 1, j] * p[1] + jac[side, 2, j] * p[2]
            )
        _add_block(36 * place, side, side, work, matrix)
    if work.pair[i] >= 0:
        lower = 0 if work.place[rows.body[r, 0]] < work.place[rows.body[r, 1]] else 1
        _add_block(36 * work.pair[i], lower, 1 - lower, work, matrix)


@inner_kernel
def fill_step(rows, mass, alpha, work, matrix):
    """Equations of a Newton step from the velocities as they are; work.impulse is what they give.

    z = c - (u + s) / (alpha D), and the point of the cone nearest to it is the impulse.
    """
    _start(work, matrix)
    for i in range(work.row.shape[0]):
        r = work.row[i]
        s, mu = 1.0 / (alpha * contact_scale(r, rows)), rows.friction[r]
        zn = work.centre[i, 0] - s * (work.velocity[i, 0] + work.shift[i])
        z1 = work.centre[i, 1] - s * work.velocity[i, 1]
        z2 = work.centre[i, 2] - s * work.velocity[i, 2]
        p = project_on_cone(zn, z1, z2, mu)
        work.impulse[i, 0], work.impulse[i, 1], work.impulse[i, 2] = p
        stiffness = _cone_stiffness(zn, z1, z2, mu, s)
        if stiffness[0] > 0.0:
            _add_contact(i, rows, mass, stiffness, p, work, matrix)
    subtract_momenta(work, work.added, work.y)


@inner_kernel
def fill_prediction(rows, mass, alpha, work, matrix):
    """The same if every contact goes on as its impulse has it now: open, sticking or sliding."""
    _start(work, matrix)
    for i in range(work.row.shape[0]):
        r = work.row[i]
        s, mu = 1.0 / (alpha * contact_scale(r, rows)), rows.friction[r]
        zn, z1, z2 = rows.impulse[r, 0], rows.impulse[r, 1], rows.impulse[r, 2]
        if not zn > 0.0:
            continue
        if z1 * z1 + z2 * z2 >= (USED_UP * mu * zn) ** 2:
            z1, z2 = z1 * (2.0 - USED_UP) / USED_UP, z2 * (2.0 - USED_UP) / USED_UP
        k = _cone_stiffness(zn, z1, z2, mu, s)
        un, u1, u2 = work.velocity[i, 0] + work.shift[i], work.velocity[i, 1], work.velocity[i, 2]
        p = (
            work.centre[i, 0] - (k[0] * un + k[1] * u1 + k[2] * u2),
            work.centre[i, 1] - (k[1] * un + k[3] * u1 + k[4] * u2),
            work.centre[i, 2] - (k[2] * un + k[4] * u1 + k[5] * u2),
        )
        _add_contact(i, rows, mass, k, p, work, matrix)
    subtract_momenta(work, work.added, work.y)


@kernel
def _start(work, matrix):
    for k in range(matrix.shape[0]):
        matrix[k] = 0.0
    for k in range(work.y.shape[0]):
        work.y[k] = 0.0
    _add_masses(work, matrix)


@inner_kernel
def set_changes(rows, mass, work):
    """What the change work.y of the velocities of bodies does at the contacts."""
    jac, y = work.jacobian, work.y
    for i in range(work.row.shape[0]):
        r = work.row[i]
        _set_jacobian(r, rows, mass, jac)
        d0, d1, d2 = 0.0, 0.0, 0.0
        for side in range(2):
            if mass[rows.body[r, side], 0] == 0.0:
                continue
            o = 6 * work.place[rows.body[r, side]]
            for k in range(6):
                d0 += jac[side, 0, k] * y[o + k]
                d1 += jac[side, 1, k] * y[o + k]
                d2 += jac[side, 2, k] * y[o + k]
        work.change[i, 0], work.change[i, 1], work.change[i, 2] = d0, d1, d2


@inner_kernel
def momentum_error(work, mass):
    """Largest velocity by which work.y, a lack of momentum, changes a body [m/s]."""
    worst = 0.0
    for i in range(work.body.shape[0]):
        b, o = work.body[i], 6 * i
        for k in range(3):
            worst = max(worst, abs(work.y[o + k]) * mass[b, 0])
        x, y, z = work.y[o + 3], work.y[o + 4], work.y[o + 5]
        squared = (
            x * (mass[b, 1] * x + mass[b, 2] * y + mass[b, 3] * z)
            + y * (mass[b, 2] * x + mass[b, 4] * y + mass[b, 5] * z)
            + z * (mass[b, 3] * x + mass[b, 5] * y + mass[b, 6] * z)
        )  # twice the energy; a rotation as the translation of the same energy
        speed = sqrt(abs(squared) * mass[b, 0])
        if not speed <= worst:  # also takes a NaN
            worst = speed
    return worst
