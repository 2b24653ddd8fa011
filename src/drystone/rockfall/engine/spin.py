"""Rotation along a trajectory: spin and its kinetic energy within an arc.

Arcs hold both at their two ends, as computed with the rock's own moments of inertia. Between them
the spin is linear in time, and so is the root of the energy: exact where a spin grows about a
fixed axis (a rock that rolls down a plane) and in free flight, where no torque acts; within one
time step of a rock that tumbles in contact it lies between the values of the ends.
"""

import numpy as np


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
