"""Dispatch of force elements by kind: the force of every row, its gradients, its energy."""

import numpy as np

from drystone.forces.attractor import POLE, pole_energy, pole_force, pole_gradients
from drystone.forces.drag import DRAG, drag_force, drag_gradients
from drystone.forces.spring import SPRING, spring_energy, spring_force, spring_gradients
from drystone.jit import kernel
from drystone.jit.vec import cross

# Functions of (elements, rows of that kind, state). What has no potential is not in ENERGIES.
GRADIENTS = {SPRING: spring_gradients, DRAG: drag_gradients, POLE: pole_gradients}
ENERGIES = {SPRING: spring_energy, POLE: pole_energy}


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


def element_gradients(elements, state):
    """Yields bodies (m, k) and dF/dx, dF/dv, each (m, 6k, 6k), kind by kind, as they are."""
    for kind, gradients in GRADIENTS.items():
        of = np.flatnonzero(elements.kind == kind)
        if len(of):
            yield gradients(elements, of, state)


def stored_energy(elements, state) -> float:
    """Potential energy of all elements [J]; zero if `elements` is None."""
    total = 0.0
    for kind, energy in ENERGIES.items() if elements is not None else ():
        of = np.flatnonzero(elements.kind == kind)
        if len(of):
            total += float(energy(elements, of, state).sum())
    return total
