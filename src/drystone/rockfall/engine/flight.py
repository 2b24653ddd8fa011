"""Free flight: position, rotation, and how long a step may be (ROCFALL 2.3, 5.1).

The centre of mass moves on x + v s + a s²/2, exact where ROCFALL eq. 2.5, 2.9 are first order. The
rock rotates about its mean spin over a step, which `rotate_freely` chooses such that angular
momentum and rotational energy stay: eq. 2.8 and 2.11 are its first order. Then the drag torque of
eq. 5.1 acts, written so that no step can overshoot. Trees are a drag on the centre of mass.

Arcs hold spin and rotational energy at both ends, as computed with the rock's own moments of
inertia. Between them the spin is linear in time, and so is the root of the energy: exact where a
spin grows about a fixed axis (a rock that rolls down a plane) and in free flight, where no torque
acts; within one time step of a rock that tumbles in contact it lies between the values of the ends.
"""

from math import cos, exp, sin, sqrt

import numpy as np

from drystone.jit import kernel
from drystone.jit.vec import mul, mul_t, quaternion_product, rotation_matrix
from drystone.motion.integrate import rotate_freely

# A step whose rotational energy grows by more than this part shrinks (5.1.2): far above rounding.
GROWTH = 1e-9
SHRINK = 0.5  # factor of the step when the energy grew
RECOVER = 1.1  # and of later steps, until the largest is reached again


@kernel
def place_at(x, v, a, s):
    """Position after `s` seconds of constant acceleration."""
    h = 0.5 * s * s
    return (
        x[0] + s * v[0] + h * a[0],
        x[1] + s * v[1] + h * a[1],
        x[2] + s * v[2] + h * a[2],
    )


@kernel
def zero_between(c, v, a, start, end):
    """The zero of c + v s + a s²/2 in start..end, where it changes sign but for rounding."""
    root = sqrt(max(v * v - 2.0 * a * c, 0.0))
    q = -(v + root) if v >= 0.0 else -(v - root)
    one = q / a if a != 0.0 else end
    two = 2.0 * c / q if q != 0.0 else end
    away_one = max(max(start - one, one - end), 0.0)
    away_two = max(max(start - two, two - end), 0.0)
    return min(max(one if away_one < away_two else two, start), end)


@kernel
def rotated(q, w, s):
    """Orientation after `s` seconds at the constant spin `w` [rad/s], world axes; unit."""
    angle = 0.5 * s * sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2])
    f = 0.5 * s * (sin(angle) / angle if angle > 1e-8 else 1.0)
    p = quaternion_product((cos(angle), f * w[0], f * w[1], f * w[2]), q)
    size = 1.0 / sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2] + p[3] * p[3])
    return size * p[0], size * p[1], size * p[2], size * p[3]


@kernel
def spin_energy(q, w, inertia):
    """Rotational energy [J]."""
    b = mul_t(rotation_matrix(q[0], q[1], q[2], q[3]), w)
    return 0.5 * (inertia[0] * b[0] * b[0] + inertia[1] * b[1] * b[1] + inertia[2] * b[2] * b[2])


@kernel
def spin_step(q, w, inertia, drag, h):
    """Mean spin over a free step, the spin after it, and whether the energy did not grow.

    drag   angular drag coefficient of eq. 5.1 [N m s]
    """
    m = rotation_matrix(q[0], q[1], q[2], q[3])
    mean, after = rotate_freely(w, inertia, m, h)
    end = rotated(q, mean, h)
    before = spin_energy(q, w, inertia)
    m = rotation_matrix(end[0], end[1], end[2], end[3])
    b = mul_t(m, after)
    b = (
        b[0] / (1.0 + h * drag / inertia[0]),
        b[1] / (1.0 + h * drag / inertia[1]),
        b[2] / (1.0 + h * drag / inertia[2]),
    )
    after = mul(m, b)
    return mean, after, spin_energy(end, after, inertia) <= (1.0 + GROWTH) * before


@kernel
def fall(v, gravity, rate, h):
    """Acceleration that, constant for `h` seconds, ends at the exact speed of a fall through trees.

    rate   drag force per speed and mass [1/s], 0 without trees
    """
    if rate <= 0.0:
        return 0.0, 0.0, -gravity
    f = (1.0 - exp(-rate * h)) / h
    return -f * v[0], -f * v[1], -f * (v[2] + gravity / rate)


def spin_roots(arcs: np.ndarray) -> np.ndarray:
    """(n, 2) root of the energy of rotation at both ends of each arc [J^½]."""
    return np.sqrt(arcs["e_spin"])


def _share(arcs, arc, s) -> np.ndarray:
    """Where in its arc a time is, 0 to 1."""
    length = arcs["t1"][arc] - arcs["t0"][arc]
    return np.divide(s, length, out=np.zeros(len(arc)), where=length > 0.0)


def spin_energy_at(arcs: np.ndarray, arc: np.ndarray, s: np.ndarray) -> np.ndarray:
    """(k,) energy of rotation [J] `s` (k,) seconds after the start of the arcs numbered `arc`."""
    root, share = spin_roots(arcs)[arc], _share(arcs, arc, s)
    return (root[:, 0] + share * (root[:, 1] - root[:, 0])) ** 2


def spin_at(arcs: np.ndarray, arc: np.ndarray, s: np.ndarray) -> np.ndarray:
    """(k, 3) spin [rad/s] at those times."""
    share = _share(arcs, arc, s)[:, None]
    return arcs["w"][arc] + share * (arcs["w_end"][arc] - arcs["w"][arc])
