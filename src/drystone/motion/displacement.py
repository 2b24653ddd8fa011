"""Displacement of every body in a step: midpoint rule or end-of-step velocity.

A body moves by its displacement twist: the mean of its velocities before and after (midpoint rule)
where its path is straight, which makes a flight and a slide exact; the velocity after (end of step)
where a contact changes its normal velocity.
"""

from drystone.jit import inner_kernel, kernel
from drystone.jit.stage import stage
from drystone.jit.vec import rotate_quaternion, rotation_between
from drystone.model.arrays import CARRIED, END_OF_STEP, HELD, KINEMATIC, RATTLED
from drystone.motion.integrate import rotate_freely

# A contact takes its bodies from the midpoint rule when they parted there as the step began by more
# than this share of what gravity adds in a step ...
PARTING_SHARE = 1e-3

# ... or approached by more than this share and the error of the solver. They had an impact, or
# their path is curved upwards, as that of a ring that swings on a peg: the mean of two velocities,
# each along the tangent at another place, leads below such a path, and being lifted back would add
# energy in every step. Where it is curved downwards the mean only takes energy away.
CLOSING_SHARE = 1e-7


@kernel
def choose_schemes(scheme, rows, count, impacts, settings, residual):
    """Flag the bodies whose contacts change their normal velocity."""
    gravity = abs(settings.gravity_x) + abs(settings.gravity_y) + abs(settings.gravity_z)
    parting = PARTING_SHARE * gravity * settings.dt + 2.0 * settings.tolerance
    meeting = CLOSING_SHARE * gravity * settings.dt + 2.0 * min(residual, settings.tolerance)
    for r in range(count):
        if rows.impulse[r, 0] <= 0.0:
            continue
        # A contact that bounced and holds its bodies all the same came back within the step: the
        # mean would leave them at a height that nothing has paid for.
        bounced = impacts > 0 and rows.impact_impulse[r, 0] > 0.0
        change = rows.bias[r] + rows.approach[r]
        if bounced or change < -meeting or change > parting:
            for side in range(2):
                b = rows.body[r, side]
                scheme[b] = max(scheme[b], END_OF_STEP)


@kernel
def _add_flight(b, rotation, motion, dt):
    """Add the displacement until the last impact of body `b` to that of the rest of the step."""
    rest = 1.0 - motion.impact_time[b] / dt
    move, mean, at = motion.move, motion.mean, motion.impact_rotation
    free = move[b, 3] == mean[b, 0] and move[b, 4] == mean[b, 1] and move[b, 5] == mean[b, 2]
    for k in range(3):
        move[b, k] = motion.impact_displacement[b, k] / dt + rest * move[b, k]
    angle = (rest * dt * move[b, 3], rest * dt * move[b, 4], rest * dt * move[b, 5])
    end = rotate_quaternion((at[b, 0], at[b, 1], at[b, 2], at[b, 3]), angle)
    start = (rotation[b, 0], rotation[b, 1], rotation[b, 2], rotation[b, 3])
    whole = rotation_between(start, end)
    for k in range(3):
        move[b, 3 + k] = whole[k] / dt
        if free:
            mean[b, k] = move[b, 3 + k]  # motion.later is the spin after it


@inner_kernel(inline="always")  # else handing over all these arrays takes as long
def displace_body(b, bodies, old, rotation, motion, impacts, dt):
    """Displacement twist of body `b`; free rotation and the spin after it: motion.mean, later.

    old, rotation  velocities and quaternions at the start of the step
    """
    twist, move = motion.twist, motion.move
    has_impact = motion.scheme[b] == CARRIED or (impacts > 0 and motion.impact_time[b] >= 0.0)
    rest = 1.0 - motion.impact_time[b] / dt if has_impact else 1.0
    spin = (twist[b, 3], twist[b, 4], twist[b, 5])
    if bodies.kind[b] == KINEMATIC or motion.scheme[b] == HELD:
        # What joints hold moves by the velocity that the joints obey; finalize.py has the spin.
        mean, later = spin, spin
    else:
        t = motion.rotation_matrix
        r_wb = (
            t[b, 0], t[b, 1], t[b, 2], t[b, 3], t[b, 4], t[b, 5], t[b, 6], t[b, 7], t[b, 8],
        )  # fmt: skip
        inertia = (bodies.inertia[b, 0], bodies.inertia[b, 1], bodies.inertia[b, 2])
        mean, later = rotate_freely(spin, inertia, r_wb, rest * dt)
    for k in range(3):
        move[b, k] = twist[b, k]
        move[b, 3 + k] = mean[k]
        motion.mean[b, k] = mean[k]
        motion.later[b, k] = later[k]
    if motion.scheme[b] < END_OF_STEP:
        for k in range(6):
            start = motion.after[b, k] if has_impact else old[b, k]
            move[b, k] += 0.5 * (start - twist[b, k])
    if has_impact:
        _add_flight(b, rotation, motion, dt)


@stage
def displace_bodies(bodies, state, motion, impacts, dt):
    """Displacement twists of all bodies."""
    n = bodies.kind.shape[0]
    for b in range(n):
        if state.asleep[b] == 1:
            for k in range(6):
                motion.move[b, k] = 0.0
            for k in range(3):
                motion.mean[b, k] = 0.0
                motion.later[b, k] = 0.0
        elif motion.scheme[b] != RATTLED:  # solvers/articulated/rattle.py has done it
            displace_body(b, bodies, state.twist, state.rotation, motion, impacts, dt)
    for k in range(6):
        motion.move[n, k] = 0.0
