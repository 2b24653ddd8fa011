"""Nonsmooth Gauss-Seidel in two dimensions: contacts with one tangent, in closed form.

As sweep.sweep_rows() and coulomb.solve_contact(), but velocities have the parts x, z and the spin
about y alone, and a contact two rows. One that slides has p_1 = s mu p_n with s = ±1, so that

    u_n = 0:  p_n = -q_n / (W_nn + s mu W_n1),   s = - sign(q_1 - W_n1 q_n / W_nn);

the divisor is positive wherever the contact does not stick.
"""

from drystone.jit import inner_kernel, kernel
from drystone.model.arrays import MOVING


@kernel(inline="always")
def _solve_contact_2d(r, un, u1, block, inverse, mu, impulse):
    """Impulse (p_n, p_1) of contact `r` that obeys Coulomb's law while all others stay."""
    on, o1 = impulse[r, 0], impulse[r, 1]
    wnn, wn1 = block[r, 0], block[r, 1]
    qn = un - wnn * on - wn1 * o1
    if qn >= 0.0:
        return 0.0, 0.0
    pn = on - inverse[r, 0] * un - inverse[r, 1] * u1
    p1 = o1 - inverse[r, 1] * un - inverse[r, 3] * u1
    if pn > 0.0 and abs(p1) <= mu * pn:
        return pn, p1
    q1 = u1 - wn1 * on - block[r, 3] * o1
    slope = -mu if q1 * wnn > wn1 * qn else mu
    pn = -qn / (wnn + slope * wn1)
    return pn, slope * pn


@kernel(inline="always")
def _push_2d(b, side, x, z, ax, az, mass, twist):
    m = mass[b, 0]
    if m != 0.0:
        twist[b, 0] += side * m * x
        twist[b, 2] += side * m * z
        twist[b, 4] += side * mass[b, 4] * (az * x - ax * z)


@inner_kernel
def sweep_rows_2d(lo, hi, backward, rows, mass, twist):
    """Visit rows lo..hi once; returns the largest velocity that a visit had to correct [m/s]."""
    body, frame, arm, block, impulse = rows.body, rows.frame, rows.arm, rows.delassus, rows.impulse
    inverse, bias, friction = rows.inverse, rows.bias, rows.friction
    worst, moving = 0.0, rows.special[MOVING] == 1
    for i in range(hi - lo):
        r = hi - 1 - i if backward else lo + i
        a, b = body[r, 0], body[r, 1]
        nx, nz, tx, tz = frame[r, 0], frame[r, 2], frame[r, 3], frame[r, 5]
        ax, az, bx, bz = arm[r, 0], arm[r, 2], arm[r, 3], arm[r, 5]
        x = twist[b, 0] - twist[a, 0] + twist[b, 4] * bz - twist[a, 4] * az
        z = twist[b, 2] - twist[a, 2] - twist[b, 4] * bx + twist[a, 4] * ax
        un, u1 = nx * x + nz * z + bias[r], tx * x + tz * z
        if moving:
            u1 += tx * rows.surface[r, 0] + tz * rows.surface[r, 2]
        pn, p1 = _solve_contact_2d(r, un, u1, block, inverse, friction[r], impulse)
        dn, d1 = pn - impulse[r, 0], p1 - impulse[r, 1]
        if dn != 0.0 or d1 != 0.0:
            worst = max(worst, (abs(dn) + abs(d1)) * block[r, 0])
            x, z = nx * dn + tx * d1, nz * dn + tz * d1
            _push_2d(b, 1.0, x, z, bx, bz, mass, twist)
            _push_2d(a, -1.0, x, z, ax, az, mass, twist)
            impulse[r, 0], impulse[r, 1] = pn, p1
    return worst
