"""Integration of free rotation, conserving energy and momentum [Simo1991]: velocities -> poses."""

from math import atan, inf, sqrt, tan

from drystone.jit import inner_kernel, kernel
from drystone.jit.vec import (
    cross,
    dot,
    mul,
    mul_t,
    rotate_quaternion,
    rotation_matrix,
    scale,
)

_MAX_ITERATIONS = 30  # of the fixed point, or of Newton's method


@kernel
def rotate_freely(spin, inertia, r_wb, dt):
    """Free rotation over `dt`: returns the mean spin (world axes) and the spin afterwards.

    Implicit midpoint rule for Euler's equation in body axes, L' = L x w, which conserves the energy
    and |L| because both are quadratic [Simo1991]. Since L' - L = h (mean L) x (mean w) is a
    rotation of L about the mean w, rotating the body by the same angle in the opposite direction
    conserves L in world axes, whatever the scalar h; we take the h that makes the angle exactly |w|
    dt.
    """
    ix, iy, iz = inertia
    w = mul_t(r_wb, spin)
    if (ix == iy and iy == iz) or dt * dt * (w[0] ** 2 + w[1] ** 2 + w[2] ** 2) == 0.0:
        return spin, spin
    momentum = (ix * w[0], iy * w[1], iz * w[2])
    x, y, z = cross(momentum, w)
    size = abs(momentum[0]) + abs(momentum[1]) + abs(momentum[2])
    if dt * (abs(x) + abs(y) + abs(z)) <= 1e-16 * size:
        return spin, spin  # about a principal axis, but for rounding
    mean, after, good = _rotate_by_fixed_point(momentum, inertia, w, dt)
    if not good:
        mean, after, good = _rotate_by_newton(momentum, inertia, dt)
    if not good:  # about two radians in a step, or more: keep the energy at least
        q = rotate_quaternion((1.0, 0.0, 0.0, 0.0), (dt * w[0], dt * w[1], dt * w[2]))
        start, end = rotation_matrix(1.0, 0.0, 0.0, 0.0), rotation_matrix(q[0], q[1], q[2], q[3])
        return spin, mul(r_wb, carry_spin(w, inertia, start, start, end, False))
    later = (after[0] / ix, after[1] / iy, after[2] / iz)
    angle = dt * sqrt(mean[0] ** 2 + mean[1] ** 2 + mean[2] ** 2)
    if angle > 0.0:
        later = _rotate_by(later, (dt * mean[0], dt * mean[1], dt * mean[2]))
    return mul(r_wb, mean), mul(r_wb, later)


@kernel
def _stride(mean, dt):
    """The h for which a rotation by the mean w has the angle |w| dt."""
    half = 0.5 * dt * sqrt(mean[0] ** 2 + mean[1] ** 2 + mean[2] ** 2)
    if half > 1.5:
        half = 1.5  # over half a revolution in a step: the angle is cut rather than wrong in sign
    return dt * tan(half) / half if half > 1e-9 else dt


@kernel
def _rotate_by_fixed_point(momentum, inertia, mean, dt):
    """Mean w and L afterwards by a fixed point, and whether it was found.

    An iteration gains a factor of about spin * dt * largest / smallest inertia: thin rods lose it.
    """
    after, before = momentum, inf
    for k in range(_MAX_ITERATIONS):
        h = _stride(mean, dt)
        mean = _mean_spin(momentum, after, inertia)
        last = after
        # Solve after = momentum + h (momentum + after)/2 x mean for this mean: a Cayley transform.
        after = _cayley(momentum, (-h * mean[0], -h * mean[1], -h * mean[2]))
        change = abs(after[0] - last[0]) + abs(after[1] - last[1]) + abs(after[2] - last[2])
        size = abs(after[0]) + abs(after[1]) + abs(after[2])
        if change <= 4e-16 * size:
            return mean, after, True
        if k > 2 and change > 0.5 * before and change > 1e-14 * size:
            return mean, after, False
        before = change
    return mean, after, before <= 1e-14 * size


@kernel
def _mean_spin(momentum, after, inertia):
    return (
        0.5 * (momentum[0] + after[0]) / inertia[0],
        0.5 * (momentum[1] + after[1]) / inertia[1],
        0.5 * (momentum[2] + after[2]) / inertia[2],
    )


@kernel
def _rotate_as_rod(momentum, inertia, dt):
    """L afterwards if the two larger moments of inertia were equal: it rotates about the least
    one's axis at a constant rate."""
    ix, iy, iz = inertia
    x, y, z = momentum
    if iy < ix and iy <= iz:
        y, z, x = _rotate_as_rod_along_x(y, z, x, iy, iz, ix, dt)
    elif iz < ix:
        z, x, y = _rotate_as_rod_along_x(z, x, y, iz, ix, iy, dt)
    else:
        x, y, z = _rotate_as_rod_along_x(x, y, z, ix, iy, iz, dt)
    return x, y, z


@kernel
def _rotate_as_rod_along_x(x, y, z, ix, iy, iz, dt):
    half = 0.5 * dt * x * (0.5 / iy + 0.5 / iz - 1.0 / ix)  # tangent of half the angle
    f = 2.0 / (1.0 + half * half)
    return x, y - f * half * (z + half * y), z + f * half * (y - half * z)


@kernel
def _rotate_by_newton(momentum, inertia, dt):
    """As _rotate_by_fixed_point(): after - momentum = h mid x (mid / inertia), mid the mean of
    both.

    With the h of the spin at the start; the mean is made such that the angle fits that.
    """
    ix, iy, iz = inertia
    h = _stride(_mean_spin(momentum, momentum, inertia), dt)
    c = 0.5 * h
    after = _rotate_as_rod(momentum, inertia, h)
    size = abs(momentum[0]) + abs(momentum[1]) + abs(momentum[2])
    good = False
    for _ in range(_MAX_ITERATIONS):
        mean = _mean_spin(momentum, after, inertia)
        mid = (mean[0] * ix, mean[1] * iy, mean[2] * iz)
        f = cross(mid, mean)
        g = (
            momentum[0] + h * f[0] - after[0],
            momentum[1] + h * f[1] - after[1],
            momentum[2] + h * f[2] - after[2],
        )
        good = abs(g[0]) + abs(g[1]) + abs(g[2]) <= 1e-15 * size
        if good:
            break
        d = _solve_three(
            (1.0, -c * (mean[2] - mid[2] / iy), c * (mean[1] - mid[1] / iz)),
            (c * (mean[2] - mid[2] / ix), 1.0, -c * (mean[0] - mid[0] / iz)),
            (-c * (mean[1] - mid[1] / ix), c * (mean[0] - mid[0] / iy), 1.0),
            g,
        )
        after = (after[0] + d[0], after[1] + d[1], after[2] + d[2])
    mean = _mean_spin(momentum, after, inertia)
    angle = sqrt(mean[0] ** 2 + mean[1] ** 2 + mean[2] ** 2)
    return scale(mean, 2.0 * atan(c * angle) / (dt * angle)), after, good


@kernel
def _solve_three(a, b, c, g):
    """x with a.x, b.x, c.x = g, by Cramer's rule."""
    bc, ca, ab = cross(b, c), cross(c, a), cross(a, b)
    f = 1.0 / dot(a, bc)
    return (
        f * (g[0] * bc[0] + g[1] * ca[0] + g[2] * ab[0]),
        f * (g[0] * bc[1] + g[1] * ca[1] + g[2] * ab[1]),
        f * (g[0] * bc[2] + g[1] * ca[2] + g[2] * ab[2]),
    )


@inner_kernel
def carry_spin(spin, inertia, r_old, r_from, r_new, linked):
    """Spin after a rotation from r_old to r_new that contacts or joints have imposed.

    The angular momentum stays in world axes; if the energy would grow by that, for the rotation is
    not the free one, it is scaled down. Not so for bodies `linked` by joints alone: there gains and
    losses balance over time, and to cut off the gains would be a brake.

    r_from   where the rotation to r_new would have begun without position stabilization. That
             gives no velocity, but a thin rod tilted by a thousandth would take its angular
             momentum as a spin about its length.
    """
    ix, iy, iz = inertia
    w = mul_t(r_old, spin)
    before = ix * w[0] * w[0] + iy * w[1] * w[1] + iz * w[2] * w[2]
    w = mul_t(r_from, spin)
    momentum = mul_t(r_new, mul(r_from, (ix * w[0], iy * w[1], iz * w[2])))
    later = (momentum[0] / ix, momentum[1] / iy, momentum[2] / iz)
    after = dot(momentum, later)
    return mul(r_new, scale(later, sqrt(before / after) if after > before and not linked else 1.0))


@kernel
def _cayley(v, a):
    """Solve x = v + a x (v + x) / 2."""
    c = (0.5 * a[0], 0.5 * a[1], 0.5 * a[2])
    s = c[0] ** 2 + c[1] ** 2 + c[2] ** 2
    cv = cross(c, v)
    ccv = cross(c, cv)
    f = 2.0 / (1.0 + s)
    return v[0] + f * (cv[0] + ccv[0]), v[1] + f * (cv[1] + ccv[1]), v[2] + f * (cv[2] + ccv[2])


@kernel
def _rotate_by(v, angle):
    """Rotate `v` by the rotation vector `angle` [rad]."""
    size = sqrt(angle[0] ** 2 + angle[1] ** 2 + angle[2] ** 2)
    f = 2.0 * tan(0.5 * size) / size
    return _cayley(v, (f * angle[0], f * angle[1], f * angle[2]))
