"""Kinetic energy of rotation along a trajectory.

Arcs hold the spin but not the orientation of the rock. In flight no torque acts, so the energy of
rotation is that after the last impact, which the impact records (angular drag, eq. 5.1, only
lessens it). Before the first impact and in contact it is taken as ½ I |w|² with the largest
principal moment I, and in contact with the larger spin of the two ends of the arc: exact for a
sphere that rolls with many arcs, and never too small for any other rock.
"""

import numpy as np

from drystone.rockfall.records import FLIGHT, Trajectory


def spin_energy(trajectory: Trajectory, rock) -> np.ndarray:
    """(n,) energy of rotation during each arc [J]."""
    arcs, impacts = trajectory.arcs, trajectory.impacts
    energy = 0.5 * float(np.max(rock.inertia)) * (arcs["w"] ** 2).sum(axis=1)
    following = np.append(energy[1:], 0.0)
    energy = np.where(arcs["kind"] == FLIGHT, energy, np.maximum(energy, following))
    if len(impacts) == 0:
        return energy
    translation = 0.5 * trajectory.end["mass"] * (impacts["v_out"] ** 2).sum(axis=1)
    after = np.maximum(impacts["e_out"] - translation, 0.0)
    last = np.searchsorted(impacts["t"], arcs["t0"], side="right") - 1
    number = np.arange(len(arcs))
    touched = np.maximum.accumulate(np.where(arcs["kind"] == FLIGHT, -1, number))
    since_contact = np.where(touched >= 0, arcs["t1"][np.maximum(touched, 0)], -np.inf)
    known = (last >= 0) & (arcs["kind"] == FLIGHT) & (impacts["t"][last] >= since_contact)
    return np.where(known, np.minimum(after[last], energy), energy)
