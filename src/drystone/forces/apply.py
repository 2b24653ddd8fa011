"""Velocity Verlet with force elements: their forces at the start of a step, and again at its end.

A step starts with the forces F of the poses and velocities that it finds, which act like the
constant ones of the user: v' = v + dt F / m. Where a body moves smoothly it is displaced by the
mean of v and v', and then

    v' += dt (F' - F) / (2 m)         F': the forces at the new poses and velocities

makes the step that of Verlet: of second order, and without it a spring would gain
energy in every step. Bodies with an impact, or that drift control alone moves, go on with the
velocity after the step, and are left alone: for them v' = v + dt F / m is symplectic as it is.

A world without elements has None in place of them, which lets Numba leave all of this out.
"""

from math import isfinite

from drystone.forces.dispatch import fill_forces
from drystone.jit import inner_kernel, kernel
from drystone.jit.vec import mul, mul_t, rotation_matrix
from drystone.model.arrays import DYNAMIC, END_OF_STEP, KINEMATIC


@kernel
def _moves(b, bodies, state):
    """Whether body `b` is so fast that it cannot fall asleep."""
    if b == bodies.kind.shape[0] or state.asleep[b] == 1:
        return False
    if bodies.kind[b] == KINEMATIC:
        total = 0.0
        for k in range(6):
            total += abs(state.twist[b, k])
        return total > 0.0
    return state.rest_time[b] == 0.0


@kernel
def wake_connected(elements, bodies, state):
    """The two ends of a spring sleep together or not at all."""
    for e in range(elements.kind.shape[0]):
        a, b = elements.body[e, 0], elements.body[e, 1]
        for side in range(2):
            one, other = (a, b) if side == 0 else (b, a)
            if one < bodies.kind.shape[0] and _moves(other, bodies, state):
                state.asleep[one] = 0
                state.rest_time[one] = 0.0


@inner_kernel
def total_forces(elements, bodies, state, force):
    """The constant forces that the user gave, and those of the elements beside them."""
    for b in range(force.shape[0]):
        for k in range(6):
            force[b, k] = state.force[b, k]
    if elements is None:
        return
    wake_connected(elements, bodies, state)
    fill_forces(elements, state, elements.before)
    for b in range(force.shape[0]):
        for k in range(6):
            force[b, k] += elements.before[b, k]


@kernel
def _kick(b, bodies, state, before, after, dt):
    q = state.rotation
    matrix = rotation_matrix(q[b, 0], q[b, 1], q[b, 2], q[b, 3])
    f = 0.5 * dt
    total = 0.0
    for k in range(6):
        total += after[b, k] - before[b, k]
    if not isfinite(total):
        return  # the next step says so, and leaves this state as the last good one
    torque = (after[b, 3] - before[b, 3], after[b, 4] - before[b, 4], after[b, 5] - before[b, 5])
    torque = mul_t(matrix, torque)
    inverse = bodies.inv_inertia
    spin = mul(
        matrix, (inverse[b, 0] * torque[0], inverse[b, 1] * torque[1], inverse[b, 2] * torque[2])
    )
    for k in range(3):
        state.twist[b, k] += f * bodies.inv_mass[b] * (after[b, k] - before[b, k])
        state.twist[b, 3 + k] += f * spin[k]


@kernel
def kick_bodies(bodies, state, scheme, before, after, dt):
    """Velocities of bodies that moved smoothly, by half of what the forces have changed."""
    for b in range(bodies.kind.shape[0]):
        if bodies.kind[b] == DYNAMIC and state.asleep[b] == 0 and scheme[b] < END_OF_STEP:
            _kick(b, bodies, state, before, after, dt)


@inner_kernel
def settle_forces(elements, bodies, state, scheme, dt):
    """The second half of a step with elements."""
    if elements is None:
        return
    fill_forces(elements, state, elements.after)
    kick_bodies(bodies, state, scheme, elements.before, elements.after, dt)
