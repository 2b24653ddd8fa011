"""Bodies under forces: accelerations, and the stages of the classical Runge-Kutta method."""

from math import sqrt

from drystone.jit import kernel
from drystone.jit.vec import cross, mul, mul_t
from drystone.model.arrays import DYNAMIC

# Times of the stages within the step, and what their slopes count.
STAGE_TIMES = (0.0, 0.5, 0.5, 1.0)
STAGE_WEIGHTS = (1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0)


@kernel
def accelerate_bodies(bodies, held, place, twist, force, wrench, gravity, out):
    """Newton-Euler, out (n, 6); bodies that are `held` keep their velocity, as kinematic ones do.

    force    (n, 6) of the user and of force elements
    wrench   (n + 1, 6) of contacts
    """
    for b in range(bodies.kind.shape[0]):
        for k in range(6):
            out[b, k] = 0.0
        if bodies.kind[b] != DYNAMIC or held[b] == 1:
            continue
        for k in range(3):
            out[b, k] = gravity[k] + bodies.inv_mass[b] * (force[b, k] + wrench[b, k])
        m = (
            place[b, 3], place[b, 4], place[b, 5], place[b, 6], place[b, 7], place[b, 8],
            place[b, 9], place[b, 10], place[b, 11],
        )  # fmt: skip
        w = mul_t(m, (twist[b, 3], twist[b, 4], twist[b, 5]))
        t = mul_t(m, (
            force[b, 3] + wrench[b, 3], force[b, 4] + wrench[b, 4], force[b, 5] + wrench[b, 5],
        ))  # fmt: skip
        i, v = bodies.inertia, bodies.inv_inertia
        g = cross(w, (i[b, 0] * w[0], i[b, 1] * w[1], i[b, 2] * w[2]))
        a = mul(m, (v[b, 0] * (t[0] - g[0]), v[b, 1] * (t[1] - g[1]), v[b, 2] * (t[2] - g[2])))
        out[b, 3], out[b, 4], out[b, 5] = a


@kernel
def _turn_rate(q, b, w, out):
    """Half of the spin w, in world axes, times the quaternion in row `b`."""
    a, x, y, z = q[b, 0], q[b, 1], q[b, 2], q[b, 3]
    out[b, 0] = -0.5 * (w[0] * x + w[1] * y + w[2] * z)
    out[b, 1] = 0.5 * (w[0] * a + w[1] * z - w[2] * y)
    out[b, 2] = 0.5 * (w[1] * a + w[2] * x - w[0] * z)
    out[b, 3] = 0.5 * (w[2] * a + w[0] * y - w[1] * x)


@kernel
def add_slopes(weight, position, rotation, twist, acceleration, turn, sums, motionless):
    """Slopes of this stage: `turn` (n, 4), and `weight` of all of them into `sums` (n, 13)."""
    for b in range(position.shape[0]):
        for k in range(4):
            turn[b, k] = 0.0
        if motionless[b] == 1:
            continue
        _turn_rate(rotation, b, (twist[b, 3], twist[b, 4], twist[b, 5]), turn)
        for k in range(3):
            sums[b, k] += weight * twist[b, k]
        for k in range(4):
            sums[b, 3 + k] += weight * turn[b, k]
        for k in range(6):
            sums[b, 7 + k] += weight * acceleration[b, k]


@kernel
def step_from(start, reach, velocity, turn, acceleration, out, motionless):
    """Poses and velocities `reach` [s] after `start`, each (position, rotation, twist)."""
    position, rotation, twist = start
    at, turned, moving = out
    for b in range(position.shape[0]):
        h = 0.0 if motionless[b] == 1 else reach
        for k in range(3):
            at[b, k] = position[b, k] + h * velocity[b, k]
        size = 0.0
        for k in range(4):
            turned[b, k] = rotation[b, k] + h * turn[b, k]
            size += turned[b, k] ** 2
        for k in range(4):
            turned[b, k] /= sqrt(size)
        for k in range(6):
            moving[b, k] = twist[b, k] + h * acceleration[b, k]
