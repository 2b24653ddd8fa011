"""In how many parts a step is to be taken because meshes swing on what carries them.

Contacts of meshes stand where they are at the start of the step and do not rotate with the bodies:
carried_contacts.py, which has them in the middle of the step, is for smooth surfaces alone. An arm
on a pin that rotates by 0.05 rad in a step then moves along a tangent, and is pushed back out of
the pin by twice its play. Where it turns round, there is no velocity to give it back what it has
lost (contact_balance.py). It lost 2.3 % of its energy in 4 s of steps of 0.01 s; in parts of a
sixtieth of a radian, of the rotation that it has or that gravity gives such a body, half a percent.

All of the world takes the parts (steppers/cut_step.py). So they are taken only where such islands
are a good deal of it; what lies in a large pile is not looked at either.
"""

from math import ceil, sqrt

import numpy as np
from numba import int64

from drystone.constraints.joint_rows import contacts_of
from drystone.jit import kernel
from drystone.jit.stage import stage
from drystone.model.arrays import DEFAULT_DRIFT, INFO_CONTACTS
from drystone.solvers.stages.impact_times import has_mesh

LARGEST_ANGLE = 0.015  # [rad] by which a mesh that is carried may rotate in a part
LEAST_ANGLE = 3e-5  # [rad] in the step: what rotates less is at rest
MOST_PARTS = 8
MOST_SWINGING = 64  # contacts of an island that is looked at, as of carried_contacts.py
WORTH = 0.25  # of all contacts are to be those of such islands


@kernel
def _angle_of(lo, hi, bodies, state, rows, settings):
    """By how much a body that rows lo..hi carry rotates in the step, or will when it has swung down
    [rad]."""
    n, most, dt = state.position.shape[0], 0.0, settings.dt
    g = sqrt(settings.gravity_x**2 + settings.gravity_y**2 + settings.gravity_z**2)
    for r in range(lo, hi):
        if rows.impulse[r, 0] > 0.0:
            for side in range(2):
                b = rows.body[r, side]
                if b < n and bodies.inv_mass[b] > 0.0:
                    x, y, z = state.twist[b, 3], state.twist[b, 4], state.twist[b, 5]
                    spin = sqrt(x * x + y * y + z * z)
                    if dt * spin > LEAST_ANGLE:
                        most = max(most, spin, sqrt(g / bodies.radius[b]))
    return dt * most


@stage(result=int64)  # a count; compiled with the first world of meshes
def parts_for_swings(kind, bodies, state, groups, settings, work):
    """In how many parts the step is to be taken; 1: whole.

    kind  of all shapes
    """
    rows, most, swinging = work.rows, 0.0, 0
    if settings.newton == 0 or settings.drift != DEFAULT_DRIFT:
        return np.int64(1)
    for g in range(groups):
        lo, hi = contacts_of(g, rows)
        if hi == lo or hi - lo > MOST_SWINGING or rows.group_linked[g] > 0:
            continue
        angle = _angle_of(lo, hi, bodies, state, rows, settings)
        if angle > LARGEST_ANGLE and has_mesh(lo, hi, kind, state.pair, work):
            most, swinging = max(most, angle), swinging + hi - lo
    if swinging == 0 or swinging < WORTH * work.log.info[INFO_CONTACTS]:
        return np.int64(1)
    return np.int64(min(int(ceil(most / LARGEST_ANGLE)), MOST_PARTS))
