"""What one trajectory leaves behind: its arcs, impacts, barrier crossings and its end.

All lengths in m, local coordinates (world = local + slope.origin), z up, SI units.
"""

from typing import NamedTuple

import numpy as np

from drystone.model.signatures import public

# Kinds of arcs.
FLIGHT = 0
CONTACT = 1  # a step in resting, sliding or rolling contact

# What a barrier did to a rock. Of a wall (a contact barrier): STOPPED and PASSED are known at the
# end of the trajectory, see wall_outcomes.py.
STOPPED = 0  # the rock lost all its translational energy; a wall: it came to rest before it
PASSED = 1  # it went through, slower; a wall: it was hit, and got round its end
OVERTOPPED = 2  # its centre of mass flew over the top: nothing taken
HIT = 3  # an impact on a wall

OUTCOMES = ("stopped", "passed", "overtopped", "hit")

# Why a trajectory ended: the four conditions of ROCFALL 5.2, then ours.
POSITION = 0  # 5.2.1: left the bounding box of the slope through the bottom or a side
VELOCITY = 1  # 5.2.2: no velocity, and the forces in balance
JITTER = 2  # 5.2.3: three points of the rock stayed within small boxes
STEPS = 3  # 5.2.4: the largest number of time steps
LEFT = 4  # inside the box, but past the rim of the terrain or in a hole of it
BARRIER = 5  # stopped by a barrier
TIME = 6  # the largest simulated time
FAILED = 7  # a number that is not finite, or a contact problem without a solution

REASONS = ("position", "velocity", "jitter", "steps", "left", "barrier", "time", "failed")

# A run that ended for one of these came to rest; of all others it is only known how far it got.
AT_REST = (VELOCITY, JITTER, BARRIER)

# Motion within an arc is x + v s + a s²/2, s in [0, t1 - t0]. The root of the energy of rotation is
# linear in s: exact for a spin that grows about a fixed axis and for free flight.
ARC = np.dtype(
    [
        ("t0", "f8"),  # [s]
        ("t1", "f8"),  # [s]
        ("x", "f8", 3),  # centre of mass at t0 [m]
        ("v", "f8", 3),  # its velocity at t0 [m/s]
        ("a", "f8", 3),  # constant acceleration [m/s²]
        ("w", "f8", 3),  # spin at t0 [rad/s]
        ("w_end", "f8", 3),  # and at t1
        ("e_spin", "f8", 2),  # kinetic energy of rotation at t0 and at t1 [J]
        ("kind", "i8"),  # FLIGHT or CONTACT
        ("q", "f8", 4),  # orientation at t0, as in STATE
    ]
)

IMPACT = np.dtype(
    [
        ("t", "f8"),  # [s]
        ("x", "f8", 3),  # contact point (of several: the one with the largest impulse) [m]
        ("normal", "f8", 3),  # of the slope there, outward
        ("v_in", "f8", 3),  # velocity of the centre of mass before [m/s]
        ("v_out", "f8", 3),  # and after
        ("w_in", "f8", 3),  # spin before [rad/s]
        ("w_out", "f8", 3),  # and after
        ("e_in", "f8"),  # kinetic energy before, translation and rotation [J]
        ("e_out", "f8"),  # and after
        ("triangle", "i8"),  # of the terrain
        ("material", "i8"),
    ]
)

CROSSING = np.dtype(
    [
        ("t", "f8"),  # [s]
        ("barrier", "i8"),
        ("x", "f8", 3),  # centre of mass [m]
        ("v", "f8", 3),  # its velocity before the barrier acts [m/s]
        ("w", "f8", 3),  # spin [rad/s]
        ("height", "f8"),  # centre of mass above the barrier's foot [m]
        ("energy", "f8"),  # kinetic, translation and rotation, before [J]
        ("taken", "f8"),  # energy taken by the barrier, of translation; by a hit, of all [J]
        ("outcome", "i8"),  # index into OUTCOMES
    ]
)

STATE = np.dtype(
    [
        ("t", "f8"),  # [s]
        ("x", "f8", 3),  # centre of mass [m]
        ("q", "f8", 4),  # orientation (w, x, y, z) of the rock's own (principal) axes
        ("v", "f8", 3),  # velocity of the centre of mass [m/s]
        ("w", "f8", 3),  # spin [rad/s]
    ]
)

END = np.dtype(
    [
        ("t", "f8"),  # [s]
        ("x", "f8", 3),  # centre of mass [m]
        ("q", "f8", 4),  # orientation (w, x, y, z) of the rock's own (principal) axes
        ("reason", "i8"),  # index into REASONS
        ("mass", "f8"),  # [kg]
        ("arcs", "i8"),  # counts of what is recorded
        ("impacts", "i8"),
        ("crossings", "i8"),
    ]
)


@public
class Trajectory(NamedTuple):
    """The trajectory of one rock."""

    arcs: np.ndarray  # (n,) of ARC
    impacts: np.ndarray  # (k,) of IMPACT
    crossings: np.ndarray  # (c,) of CROSSING
    end: np.void  # one record of END
    states: np.ndarray | None = None  # (p,) of STATE, one a time step, if asked for
