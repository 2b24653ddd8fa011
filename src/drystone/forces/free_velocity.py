"""Free velocities: what gravity and forces give the bodies if nothing touches.

The gyroscopic torque is not here: motion/integrate.py rotates every body along its free motion,
which conserves momentum and energy, so no torque of that kind is ever added to a velocity.
"""

from drystone.jit import inner_kernel
from drystone.jit.stage import stage
from drystone.jit.vec import rotation_matrix, world_inertia
from drystone.model.arrays import KINEMATIC


@inner_kernel
def set_rotation(b, rotation, bodies, matrices, mass):
    """Rotation matrix and world inverse mass of body `b` with the quaternion `rotation`."""
    matrix = rotation_matrix(rotation[0], rotation[1], rotation[2], rotation[3])
    for k in range(9):
        matrices[b, k] = matrix[k]
    inverse = bodies.inv_inertia
    tensor = world_inertia(matrix, inverse[b, 0], inverse[b, 1], inverse[b, 2])
    mass[b, 0] = bodies.inv_mass[b]
    for k in range(6):
        mass[b, 1 + k] = tensor[k]


@inner_kernel
def _accelerate(b, force, fall, dt, mass, twist):
    m = mass[b, 0]
    for k in range(3):
        twist[b, k] += dt * (fall[k] + m * force[b, k])
    x, y, z = force[b, 3], force[b, 4], force[b, 5]
    twist[b, 3] += dt * (mass[b, 1] * x + mass[b, 2] * y + mass[b, 3] * z)
    twist[b, 4] += dt * (mass[b, 2] * x + mass[b, 4] * y + mass[b, 5] * z)
    twist[b, 5] += dt * (mass[b, 3] * x + mass[b, 5] * y + mass[b, 6] * z)


@inner_kernel
def free_twist(b, bodies, state, force, settings, dt, matrices, mass, twist):
    """Rotation matrix, world inverse mass and free twist of body `b` over `dt`."""
    q = state.rotation
    set_rotation(b, (q[b, 0], q[b, 1], q[b, 2], q[b, 3]), bodies, matrices, mass)
    for k in range(6):
        twist[b, k] = state.twist[b, k]
    if bodies.kind[b] == KINEMATIC or state.asleep[b] == 1:
        return
    fall = (settings.gravity_x, settings.gravity_y, settings.gravity_z)
    _accelerate(b, force, fall, dt, mass, twist)


@stage
def free_twists(bodies, state, settings, motion):
    """Rotation matrices, world inverse masses and free twists; the last row is the fixed world."""
    n = bodies.kind.shape[0]
    mass, free, matrices, force = motion.mass, motion.free, motion.rotation_matrix, motion.force
    kind, asleep, q, given, twist = (
        bodies.kind, state.asleep, state.rotation, state.twist, motion.twist,
    )  # fmt: skip
    dt, fall = settings.dt, (settings.gravity_x, settings.gravity_y, settings.gravity_z)
    for b in range(n):
        set_rotation(b, (q[b, 0], q[b, 1], q[b, 2], q[b, 3]), bodies, matrices, mass)
        for k in range(6):
            free[b, k] = given[b, k]
        if kind[b] != KINEMATIC and asleep[b] == 0:
            _accelerate(b, force, fall, dt, mass, free)
    for k in range(7):
        mass[n, k] = 0.0
    for k in range(6):
        free[n, k] = 0.0
    for b in range(n + 1):
        for k in range(6):
            twist[b, k] = free[b, k]
