"""Force elements within a step: their forces at the start of a step, and again at its end.

A step starts with the forces F of the poses and velocities that it finds, which act like the
constant ones of the user: v' = v + dt F / m. Where a body moves smoothly it is displaced by the
mean of v and v', and then

    v' += dt (F' - F) / (2 m)         F': the forces at the new poses and velocities

makes the step that of Verlet: of second order, and without it a spring would gain
energy in every step. Bodies that were struck, or that drift control alone moves, go on with the
velocity after the step, and are left alone: for them v' = v + dt F / m is symplectic as it is.

A world without elements has None in place of them, which lets Numba leave all of this out.
"""

from math import isfinite

from drystone.forces.attractor import pole_force
from drystone.forces.drag import drag_force
from drystone.forces.spring import spring_force
from drystone.forces.table import DRAG, POLE, SPRING
from drystone.jit import inner_kernel, kernel
from drystone.jit.vec import cross, mul, mul_t, rotation_matrix
from drystone.model.arrays import DYNAMIC, END_OF_STEP, KINEMATIC


@kernel
def _push(b, force, torque, sign, out):
    if b < out.shape[0]:
        for k in range(3):
            out[b, k] += sign * force[k]
            out[b, 3 + k] += sign * torque[k]


@kernel
def fill_forces(elements, state, out):
    """Forces and torques (n, 6) of all elements at the poses and velocities of `state`."""
    position, rotation, twist = state.position, state.rotation, state.twist
    for b in range(out.shape[0]):
        for k in range(6):
            out[b, k] = 0.0
    for e in range(elements.kind.shape[0]):
        a, b = elements.body[e, 0], elements.body[e, 1]
        if elements.kind[e] == SPRING:
            arm_a, arm_b, force = spring_force(elements, e, position, rotation, twist)
            _push(a, force, cross(arm_a, force), -1.0, out)
            _push(b, force, cross(arm_b, force), 1.0, out)
        elif elements.kind[e] == DRAG:
            force, torque = drag_force(elements, e, twist)
            _push(a, force, torque, 1.0, out)
        elif elements.kind[e] == POLE:
            _push(a, pole_force(elements, e, position), (0.0, 0.0, 0.0), 1.0, out)


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
def wake_pulled(elements, bodies, state):
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
    wake_pulled(elements, bodies, state)
    fill_forces(elements, state, elements.before)
    for b in range(force.shape[0]):
        for k in range(6):
            force[b, k] += elements.before[b, k]


@kernel
def _kick(b, bodies, state, before, after, dt):
    q = state.rotation
    turn = rotation_matrix(q[b, 0], q[b, 1], q[b, 2], q[b, 3])
    f = 0.5 * dt
    total = 0.0
    for k in range(6):
        total += after[b, k] - before[b, k]
    if not isfinite(total):
        return  # the next step says so, and leaves this state as the last good one
    torque = mul_t(turn, (after[b, 3] - before[b, 3], after[b, 4] - before[b, 4],
                          after[b, 5] - before[b, 5]))  # fmt: skip
    inverse = bodies.inv_inertia
    spin = mul(
        turn, (inverse[b, 0] * torque[0], inverse[b, 1] * torque[1], inverse[b, 2] * torque[2])
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
