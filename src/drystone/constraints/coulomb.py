"""Coulomb's law at one contact: velocity, friction cone, and the exact one-contact solution.

u = W p + q, axes (normal, tangent 1, tangent 2). Coulomb's law with a hard contact:

    0 <= p_n, 0 <= u_n, p_n u_n = 0;   |p_t| <= mu p_n;   u_t = 0 or p_t = -mu p_n u_t / |u_t|

or in one line [DeSaxce1998]: the cone holds p, its dual holds u + mu |u_t| n, and they are at
right angles. Symmetric 3x3 blocks are six floats: nn, n1, n2, 11, 12, 22.
"""

from math import sqrt

from drystone.jit import inner_kernel, kernel
from drystone.model.arrays import MOVING

EXACT = 1e-12  # of slide_step(): all digits but rounding


@inner_kernel(inline="always")
def velocity_at(r, body, frame, arm, twist):
    """Velocity of body B seen from A at contact `r`, in the axes of the contact [m/s]."""
    a, b = body[r, 0], body[r, 1]
    ax, ay, az = arm[r, 0], arm[r, 1], arm[r, 2]
    bx, by, bz = arm[r, 3], arm[r, 4], arm[r, 5]
    x = (
        twist[b, 0] - twist[a, 0]
        + twist[b, 4] * bz - twist[b, 5] * by
        - twist[a, 4] * az + twist[a, 5] * ay
    )  # fmt: skip
    y = (
        twist[b, 1] - twist[a, 1]
        + twist[b, 5] * bx - twist[b, 3] * bz
        - twist[a, 5] * ax + twist[a, 3] * az
    )  # fmt: skip
    z = (
        twist[b, 2] - twist[a, 2]
        + twist[b, 3] * by - twist[b, 4] * bx
        - twist[a, 3] * ay + twist[a, 4] * ax
    )  # fmt: skip
    return (
        frame[r, 0] * x + frame[r, 1] * y + frame[r, 2] * z,
        frame[r, 3] * x + frame[r, 4] * y + frame[r, 5] * z,
        frame[r, 6] * x + frame[r, 7] * y + frame[r, 8] * z,
    )


@inner_kernel(inline="always")
def surface_slip(r, rows):
    """What moving surfaces add to the velocity at contact `r`, along its two tangents [m/s]."""
    frame, v = rows.frame, rows.surface
    return (
        frame[r, 3] * v[r, 0] + frame[r, 4] * v[r, 1] + frame[r, 5] * v[r, 2],
        frame[r, 6] * v[r, 0] + frame[r, 7] * v[r, 1] + frame[r, 8] * v[r, 2],
    )


@inner_kernel(inline="always")
def slip_at(r, rows, twist):
    """velocity_at() row `r` of its surfaces, which may move on their bodies; without the bias."""
    un, u1, u2 = velocity_at(r, rows.body, rows.frame, rows.arm, twist)
    if rows.special[MOVING] == 1:
        s1, s2 = surface_slip(r, rows)
        u1, u2 = u1 + s1, u2 + s2
    return un, u1, u2


@inner_kernel(inline="always")
def normal_velocity_at(r, body, frame, arm, twist):
    """Normal part of velocity_at()."""
    a, b = body[r, 0], body[r, 1]
    nx, ny, nz = frame[r, 0], frame[r, 1], frame[r, 2]
    ax, ay, az = arm[r, 0], arm[r, 1], arm[r, 2]
    bx, by, bz = arm[r, 3], arm[r, 4], arm[r, 5]
    return (
        nx * (twist[b, 0] - twist[a, 0])
        + ny * (twist[b, 1] - twist[a, 1])
        + nz * (twist[b, 2] - twist[a, 2])
        + twist[b, 3] * (by * nz - bz * ny)
        + twist[b, 4] * (bz * nx - bx * nz)
        + twist[b, 5] * (bx * ny - by * nx)
        - twist[a, 3] * (ay * nz - az * ny)
        - twist[a, 4] * (az * nx - ax * nz)
        - twist[a, 5] * (ax * ny - ay * nx)
    )


@inner_kernel(inline="always")
def push_body(b, side, x, y, z, ax, ay, az, mass, twist):
    """Impulse side * (x, y, z) [N s] at arm (ax, ay, az) on body `b`; nothing if it cannot move."""
    m = mass[b, 0]
    if m != 0.0:
        m *= side
        tx, ty, tz = side * (ay * z - az * y), side * (az * x - ax * z), side * (ax * y - ay * x)
        twist[b, 0] += m * x
        twist[b, 1] += m * y
        twist[b, 2] += m * z
        twist[b, 3] += mass[b, 1] * tx + mass[b, 2] * ty + mass[b, 3] * tz
        twist[b, 4] += mass[b, 2] * tx + mass[b, 4] * ty + mass[b, 5] * tz
        twist[b, 5] += mass[b, 3] * tx + mass[b, 5] * ty + mass[b, 6] * tz


@kernel(inline="always")
def push(r, pn, p1, p2, body, frame, arm, mass, twist):
    """Apply the impulse (pn, p1, p2) of contact `r` to its two bodies."""
    x = frame[r, 0] * pn + frame[r, 3] * p1 + frame[r, 6] * p2
    y = frame[r, 1] * pn + frame[r, 4] * p1 + frame[r, 7] * p2
    z = frame[r, 2] * pn + frame[r, 5] * p1 + frame[r, 8] * p2
    push_body(body[r, 1], 1.0, x, y, z, arm[r, 3], arm[r, 4], arm[r, 5], mass, twist)
    push_body(body[r, 0], -1.0, x, y, z, arm[r, 0], arm[r, 1], arm[r, 2], mass, twist)


@kernel
def project_on_cone(pn, p1, p2, mu):
    """Closest point to (pn, p1, p2) in the friction cone |p_t| <= mu p_n."""
    pt = sqrt(p1 * p1 + p2 * p2)
    if pt <= mu * pn and pn >= 0.0:  # without friction 0 <= -0 holds for what pulls
        return pn, p1, p2
    if mu * pt <= -pn:  # in the polar cone: everything is cut away
        return 0.0, 0.0, 0.0
    qn = (pn + mu * pt) / (1.0 + mu * mu)
    if pt == 0.0:
        return qn, 0.0, 0.0
    return qn, mu * qn * p1 / pt, mu * qn * p2 / pt


@kernel
def contact_error(pn, p1, p2, un, u1, u2, mu, rho):
    """Natural map of the De Saxce form with step `rho`, divided by it: a velocity [m/s].

    Zero at a solution, | p - P(p - rho (u + mu |u_t| n)) | / rho elsewhere [Acary2018].
    """
    shifted = un + mu * sqrt(u1 * u1 + u2 * u2)
    qn, q1, q2 = project_on_cone(pn - rho * shifted, p1 - rho * u1, p2 - rho * u2, mu)
    return sqrt((pn - qn) ** 2 + (p1 - q1) ** 2 + (p2 - q2) ** 2) / rho


@kernel
def slide_step(qn, q1, q2, wnn, wn1, wn2, w11, w12, w22, mu, x, exact):
    """Impulse of a contact that slides: on the cone, against the velocity, u_n = 0.

    With p_n eliminated, p_t = -(S + x I)^-1 c with x = |u_t| / |p_t| > 0, and the cone gives one
    equation for x. We solve mu p_n / |p_t| = 1: nearly linear in x, so Newton's method, within
    a bracket, needs two or three iterations from the guess `x`, fewer when it is the last
    visit's answer. [Bonnefon2011] solve the same as a quartic.

    exact   how far mu p_n / |p_t| may be from 1 where it ends; the answer is on the cone anyhow
    """
    s11, s12, s22 = w11 - wn1 * wn1 / wnn, w12 - wn1 * wn2 / wnn, w22 - wn2 * wn2 / wnn
    c1, c2 = q1 - wn1 * qn / wnn, q2 - wn2 * qn / wnn
    low, high = 0.0, -1.0
    pn, p1, p2 = -qn / wnn, 0.0, 0.0
    for _ in range(60):  # bisection alone would have ended by then
        a11, a22 = s11 + x, s22 + x
        det = a11 * a22 - s12 * s12
        p1, p2 = (s12 * c2 - a22 * c1) / det, (s12 * c1 - a11 * c2) / det
        pn = (-qn - wn1 * p1 - wn2 * p2) / wnn
        pt = sqrt(p1 * p1 + p2 * p2)
        if pt == 0.0:
            break
        h = mu * pn / pt - 1.0
        if abs(h) < exact:
            break
        if h < 0.0:
            low = x
        else:
            high = x
        y1, y2 = (a22 * p1 - s12 * p2) / det, (a11 * p2 - s12 * p1) / det
        slope_pn = (wn1 * y1 + wn2 * y2) / wnn
        slope_pt = -(p1 * y1 + p2 * y2) / pt
        slope = mu * (slope_pn * pt - pn * slope_pt) / (pt * pt)
        new = x - h / slope if slope > 0.0 else -1.0
        if new <= low or (high >= 0.0 and new >= high):
            new = 0.5 * (low + high) if high >= 0.0 else 2.0 * low + s11 + s22
        if abs(new - x) <= 1e-15 * (s11 + s22 + x):
            break
        x = new
    pt = sqrt(p1 * p1 + p2 * p2)
    if pn <= 0.0 or pt == 0.0:
        return max(pn, 0.0), 0.0, 0.0
    return pn, mu * pn * p1 / pt, mu * pn * p2 / pt


@kernel(inline="always")
def solve_contact(r, un, u1, u2, block, inverse, mu, impulse):
    """solve_contact_to() all digits."""
    return solve_contact_to(EXACT, r, un, u1, u2, block, inverse, mu, impulse)


@kernel(inline="always")
def solve_contact_to(exact, r, un, u1, u2, block, inverse, mu, impulse):
    """Impulse of contact `r` that obeys Coulomb's law exactly while all others stay as they are.

    exact         see slide_step()
    (un, u1, u2)  its velocity now, under the impulse that it has now
    """
    on, o1, o2 = impulse[r, 0], impulse[r, 1], impulse[r, 2]
    wnn, wn1, wn2 = block[r, 0], block[r, 1], block[r, 2]
    qn = un - wnn * on - wn1 * o1 - wn2 * o2
    if qn >= 0.0:
        return 0.0, 0.0, 0.0
    pn = on - inverse[r, 0] * un - inverse[r, 1] * u1 - inverse[r, 2] * u2
    p1 = o1 - inverse[r, 1] * un - inverse[r, 3] * u1 - inverse[r, 4] * u2
    p2 = o2 - inverse[r, 2] * un - inverse[r, 4] * u1 - inverse[r, 5] * u2
    if pn > 0.0 and p1 * p1 + p2 * p2 <= (mu * pn) ** 2:
        return pn, p1, p2
    if mu < 1e-150:  # its square is no number any more
        return -qn / wnn, 0.0, 0.0
    w11, w12, w22 = block[r, 3], block[r, 4], block[r, 5]
    q1 = u1 - wn1 * on - w11 * o1 - w12 * o2
    q2 = u2 - wn2 * on - w12 * o1 - w22 * o2
    old = o1 * o1 + o2 * o2
    guess = sqrt((u1 * u1 + u2 * u2) / old) if old > 0.0 else 0.0
    return slide_step(qn, q1, q2, wnn, wn1, wn2, w11, w12, w22, mu, guess, exact)


@kernel
def invert_block(r, block, inverse):
    """Inverse of the symmetric 3x3 block of contact `r`."""
    a, b, c = block[r, 0], block[r, 1], block[r, 2]
    d, e, f = block[r, 3], block[r, 4], block[r, 5]
    k0, k1, k2 = d * f - e * e, c * e - b * f, b * e - c * d
    det = a * k0 + b * k1 + c * k2
    inverse[r, 0] = k0 / det
    inverse[r, 1] = k1 / det
    inverse[r, 2] = k2 / det
    inverse[r, 3] = (a * f - c * c) / det
    inverse[r, 4] = (b * c - a * e) / det
    inverse[r, 5] = (a * d - b * b) / det


@kernel
def push_rows(lo, hi, body, frame, arm, mass, impulse, twist):
    """Add to the twists what the impulses of rows lo..hi do."""
    for r in range(lo, hi):
        push(r, impulse[r, 0], impulse[r, 1], impulse[r, 2], body, frame, arm, mass, twist)
