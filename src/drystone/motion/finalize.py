"""End of a step: the check that every number is finite, then new poses and velocities."""

from math import isfinite

from drystone.jit import inner_kernel, kernel
from drystone.jit.stage import stage
from drystone.jit.vec import load, rotate_quaternion, rotation_matrix
from drystone.model.arrays import COUNTER_STEP, HELD, KINEMATIC, PLACED, RATTLED
from drystone.motion.integrate import carry_spin


@kernel
def find_nonfinite(position, rotation, twist, move, later):
    """First body whose pose, new velocity or displacement is not a finite number, or -1."""
    for b in range(twist.shape[0] - 1):
        total = 0.0
        for k in range(6):
            total += twist[b, k] + move[b, k]
        for k in range(3):
            total += later[b, k] + position[b, k] + rotation[b, k]
        total += rotation[b, 3]
        if not isfinite(total):
            return b
    return -1


@kernel
def _rotate_body(b, bodies, state, motion, dt):
    """Orientation and spin of body `b` after its displacement."""
    rotation, move, mean = state.rotation, motion.move, motion.mean
    q = rotate_quaternion(
        (rotation[b, 0], rotation[b, 1], rotation[b, 2], rotation[b, 3]),
        (dt * move[b, 3], dt * move[b, 4], dt * move[b, 5]),
    )
    later = load(motion.later, b)
    inertia = load(bodies.inertia, b)
    spin = (motion.twist[b, 3], motion.twist[b, 4], motion.twist[b, 5])
    free = move[b, 3] == mean[b, 0] and move[b, 4] == mean[b, 1] and move[b, 5] == mean[b, 2]
    if inertia[0] == inertia[1] and inertia[1] == inertia[2]:
        later = spin  # joints may have changed it since motion.later
    elif not free or (motion.scheme[b] == HELD and bodies.kind[b] != KINEMATIC):
        t = motion.rotation_matrix
        r_old = (
            t[b, 0], t[b, 1], t[b, 2], t[b, 3], t[b, 4], t[b, 5], t[b, 6], t[b, 7], t[b, 8],
        )  # fmt: skip
        r_from = r_old
        if motion.scheme[b] == HELD:
            p = rotate_quaternion(q, (-dt * spin[0], -dt * spin[1], -dt * spin[2]))
            r_from = rotation_matrix(p[0], p[1], p[2], p[3])
        r_new, linked = rotation_matrix(q[0], q[1], q[2], q[3]), motion.scheme[b] == RATTLED
        later = carry_spin(spin, inertia, r_old, r_from, r_new, linked)
    for k in range(3):
        state.twist[b, 3 + k] = later[k]
    for k in range(4):
        rotation[b, k] = q[k]


@inner_kernel
def move_body(b, bodies, state, motion, dt):
    """Velocity and pose of body `b` after its displacement over `dt`."""
    for k in range(3):
        state.position[b, k] += dt * motion.move[b, k]
        state.twist[b, k] = motion.twist[b, k]
    if motion.scheme[b] == PLACED:
        for k in range(3, 6):
            state.twist[b, k] = motion.twist[b, k]
        return
    _rotate_body(b, bodies, state, motion, dt)


@stage
def move_bodies(bodies, state, motion, dt):
    """Velocities and poses of the step that has just been solved."""
    for b in range(state.position.shape[0]):
        if state.asleep[b] == 0:
            move_body(b, bodies, state, motion, dt)
    state.counter[COUNTER_STEP] += 1
