"""Gravity and constant forces -> the velocities that bodies would have if nothing touched.

The gyroscopic torque is not here: motion/integrate.py turns every body along its free motion, which
conserves momentum and energy, so no torque of that kind is ever added to a velocity.
"""

from drystone.jit import inner_kernel, kernel
from drystone.jit.stage import stage
from drystone.jit.vec import rotation_matrix
from drystone.model.arrays import KINEMATIC


@kernel
def _world_inertia(b, turn, inv_inertia, mass):
    """R diag(1/I) Rᵀ of body `b`, six floats."""
    x, y, z = inv_inertia[b, 0], inv_inertia[b, 1], inv_inertia[b, 2]
    r00, r01, r02 = turn[b, 0], turn[b, 1], turn[b, 2]
    r10, r11, r12 = turn[b, 3], turn[b, 4], turn[b, 5]
    r20, r21, r22 = turn[b, 6], turn[b, 7], turn[b, 8]
    mass[b, 1] = r00 * r00 * x + r01 * r01 * y + r02 * r02 * z
    mass[b, 2] = r00 * r10 * x + r01 * r11 * y + r02 * r12 * z
    mass[b, 3] = r00 * r20 * x + r01 * r21 * y + r02 * r22 * z
    mass[b, 4] = r10 * r10 * x + r11 * r11 * y + r12 * r12 * z
    mass[b, 5] = r10 * r20 * x + r11 * r21 * y + r12 * r22 * z
    mass[b, 6] = r20 * r20 * x + r21 * r21 * y + r22 * r22 * z


@inner_kernel
def turn_body(b, rotation, bodies, turn, mass):
    """Rotation matrix and world inverse mass of body `b` with the quaternion `rotation`."""
    matrix = rotation_matrix(rotation[0], rotation[1], rotation[2], rotation[3])
    for k in range(9):
        turn[b, k] = matrix[k]
    mass[b, 0] = bodies.inv_mass[b]
    _world_inertia(b, turn, bodies.inv_inertia, mass)


@kernel
def _free_range(lo, hi, bodies, state, force, settings, turn, mass, twist):
    dt = settings.dt
    for b in range(lo, hi):
        q = state.rotation
        turn_body(b, (q[b, 0], q[b, 1], q[b, 2], q[b, 3]), bodies, turn, mass)
        for k in range(6):
            twist[b, k] = state.twist[b, k]
        m = bodies.inv_mass[b]
        if bodies.kind[b] == KINEMATIC or state.asleep[b] == 1:
            continue
        twist[b, 0] += dt * (settings.gravity_x + m * force[b, 0])
        twist[b, 1] += dt * (settings.gravity_y + m * force[b, 1])
        twist[b, 2] += dt * (settings.gravity_z + m * force[b, 2])
        x, y, z = force[b, 3], force[b, 4], force[b, 5]
        twist[b, 3] += dt * (mass[b, 1] * x + mass[b, 2] * y + mass[b, 3] * z)
        twist[b, 4] += dt * (mass[b, 2] * x + mass[b, 4] * y + mass[b, 5] * z)
        twist[b, 5] += dt * (mass[b, 3] * x + mass[b, 5] * y + mass[b, 6] * z)


@stage
def free_twists(bodies, state, settings, motion):
    """Rotation matrices, world inverse masses and free twists; the last row is the fixed world."""
    n = bodies.kind.shape[0]
    turn, mass, twist = motion.rotation_matrix, motion.mass, motion.free
    _free_range(0, n, bodies, state, motion.force, settings, turn, mass, twist)
    for k in range(7):
        mass[n, k] = 0.0
    for k in range(6):
        twist[n, k] = 0.0
    for b in range(n + 1):
        for k in range(6):
            motion.twist[b, k] = twist[b, k]
