"""Momentum, energy and rigid motion of several bodies: what the balances of an island are made of.

`listed` holds the numbers of its dynamic bodies, `count` how many they are.
"""

from math import sqrt

from drystone.jit import inner_kernel
from drystone.jit.vec import add, cross, dot, mad, mul, mul_t, rotation_matrix, scale, sub

_ZERO = (0.0, 0.0, 0.0)


@inner_kernel
def angular_momentum(b, bodies, q, w):
    """Of body `b` about its centre of mass, with the spin `w`."""
    m, i = rotation_matrix(q[b, 0], q[b, 1], q[b, 2], q[b, 3]), bodies.inertia
    own = mul_t(m, w)
    return mul(m, (i[b, 0] * own[0], i[b, 1] * own[1], i[b, 2] * own[2]))


@inner_kernel
def kinetic_energy(b, bodies, q, twist):
    v, w = (twist[b, 0], twist[b, 1], twist[b, 2]), (twist[b, 3], twist[b, 4], twist[b, 5])
    return 0.5 * (dot(v, v) / bodies.inv_mass[b] + dot(w, angular_momentum(b, bodies, q, w)))


@inner_kernel
def scale_motion(count, factor, centre, velocity, spin, state, listed):
    """Scale velocities relative to the rigid motion with this velocity of `centre` and spin."""
    twist, x = state.twist, state.position
    for k in range(count):
        b = listed[k]
        v = add(velocity, cross(spin, sub((x[b, 0], x[b, 1], x[b, 2]), centre)))
        for i in range(3):
            twist[b, i] = v[i] + factor * (twist[b, i] - v[i])
            twist[b, 3 + i] = spin[i] + factor * (twist[b, 3 + i] - spin[i])


@inner_kernel
def centre_of(count, bodies, state, listed):
    """Mass, centre of mass and its velocity, of the listed bodies."""
    mass, centre, velocity, x, t = 0.0, _ZERO, _ZERO, state.position, state.twist
    for k in range(count):
        b = listed[k]
        m = 1.0 / bodies.inv_mass[b]
        mass += m
        centre = mad(centre, (x[b, 0], x[b, 1], x[b, 2]), m)
        velocity = mad(velocity, (t[b, 0], t[b, 1], t[b, 2]), m)
    return mass, scale(centre, 1.0 / mass), scale(velocity, 1.0 / mass)


@inner_kernel
def momentum_about(centre, count, bodies, state, listed):
    """Angular momentum of the listed bodies about their centre of mass."""
    x, t, q, momentum = state.position, state.twist, state.rotation, _ZERO
    for k in range(count):
        b = listed[k]
        arm = sub((x[b, 0], x[b, 1], x[b, 2]), centre)
        own = angular_momentum(b, bodies, q, (t[b, 3], t[b, 4], t[b, 5]))
        orbit = cross(arm, (t[b, 0], t[b, 1], t[b, 2]))
        momentum = mad(add(momentum, own), orbit, 1.0 / bodies.inv_mass[b])
    return momentum


@inner_kernel
def rigid_spin(momentum, centre, count, bodies, state, listed):
    """Spin of the rigid motion of the listed bodies that has that angular momentum."""
    x, q, one, two, three = state.position, state.rotation, _ZERO, _ZERO, _ZERO  # rows of inertia
    for k in range(count):
        b = listed[k]
        m, arm = 1.0 / bodies.inv_mass[b], sub((x[b, 0], x[b, 1], x[b, 2]), centre)
        one = add(one, angular_momentum(b, bodies, q, (1.0, 0.0, 0.0)))
        two = add(two, angular_momentum(b, bodies, q, (0.0, 1.0, 0.0)))
        three = add(three, angular_momentum(b, bodies, q, (0.0, 0.0, 1.0)))
        square = m * dot(arm, arm)
        one = mad((one[0] + square, one[1], one[2]), arm, -m * arm[0])
        two = mad((two[0], two[1] + square, two[2]), arm, -m * arm[1])
        three = mad((three[0], three[1], three[2] + square), arm, -m * arm[2])
    bc = cross(two, three)
    determinant = dot(one, bc)
    if not determinant > 0.0:
        return _ZERO
    spin = scale(bc, momentum[0] / determinant)
    spin = mad(spin, cross(three, one), momentum[1] / determinant)
    return mad(spin, cross(one, two), momentum[2] / determinant)


@inner_kernel
def add_rigid_motion(velocity, spin, centre, count, state, listed):
    """Add a rigid motion to the velocities: it changes none of them relative to another."""
    twist, x = state.twist, state.position
    for k in range(count):
        b = listed[k]
        v = add(velocity, cross(spin, sub((x[b, 0], x[b, 1], x[b, 2]), centre)))
        for i in range(3):
            twist[b, i] += v[i]
            twist[b, 3 + i] += spin[i]


@inner_kernel
def scale_factor(kinetic, change):
    """By which velocities of this kinetic energy have that `change` of it, as far as it goes."""
    return sqrt(max(kinetic + change, 0.0) / kinetic) if kinetic > 0.0 else 1.0
