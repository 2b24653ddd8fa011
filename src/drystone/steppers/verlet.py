"""stepper="verlet": half steps around one collision check at the middle (FFD Fig. 7).

    q½ = q exp(h/2 φ)      φ' = solve(φ + h a(q½), contacts at q½)      q' = q½ exp(h/2 φ')

Without contacts that is the leapfrog scheme of [Verlet1967], of second order and symplectic. With
contacts velocities obey FFD (18) to (20): they get the forces of a whole step and are then
resolved. (Fig. 7 gives half of it to bodies in contact, which then weigh half.) A body turns as
it does when it is free, for which the exponential map of its mean spin is exact in momentum and
energy (integrate.py); the explicit gyroscopic term of FFD (15) could blow up.

A contact that bounces is left alone until it touches at a middle: overlaps by up to speed * h are
resolved when they are there. Then `ffd` gives back Poisson's share of the normal impulse (line
34); with the others the normal velocity after is -e times the one before, CLINE 4.16.
"""

import numpy as np

from drystone import stepping, timestep
from drystone.arrays import INFO_CONTACTS, KINEMATIC
from drystone.capabilities import solver_name
from drystone.drift import ROUGH
from drystone.elliptic import contact_ellipses
from drystone.errors import UnsupportedFeature
from drystone.forced import Forces
from drystone.integrate import turn_freely, turn_quaternion
from drystone.jit import kernel
from drystone.readout import last_problem
from drystone.steppers.bodywise import solve_rows, with_info
from drystone.vec import load, rotation_matrix

FAR = 1e6  # [m], [m/s]: the gap and the bias of a contact that is not to act


def step(world):
    """One step of `world`: state, work and report."""
    if world._joints:
        raise UnsupportedFeature("stepper 'verlet' does not support joints; use 'time-stepping'.")
    model, settings, old = world._build.model, world._settings, world._state
    begin = [array.copy() for array in (old.position, old.rotation, old.twist)]
    drift_bodies(model.bodies, old, 0.5 * settings.dt)
    forces = Forces(world) if world._forces else None
    if forces is not None:
        forces.ahead = 0.5 * settings.dt
    state, work = stepping.find_contacts(model, old, world._work, settings, None, forces)
    timestep.pose_rows(model, state, settings, work, None)
    share = _take_restitution(work, settings)
    with contact_ellipses(model, state, work, world._build.ellipses):
        timestep.start_rows(state, settings, work, None)
    work.motion.rough[:] = ROUGH  # they move with the velocity after, for half a step
    info, solved = _solve(world, state, work, share)
    half = settings._replace(dt=0.5 * settings.dt, sleep_delay=0.5 * settings.sleep_delay)
    state, work, report = stepping.end_step(model, state, work, half, None, None, solved)
    if report.failed:
        for array, before in zip((state.position, state.rotation, state.twist), begin, strict=True):
            array[:] = before
    return state, work, report if info is None else with_info(report, info)


@kernel
def drift_bodies(bodies, state, dt):
    """Move all bodies that are awake freely, without any force, for `dt` [s]."""
    position, rotation, twist = state.position, state.rotation, state.twist
    for b in range(position.shape[0]):
        if state.asleep[b] == 1:
            continue
        spin = (twist[b, 3], twist[b, 4], twist[b, 5])
        q = (rotation[b, 0], rotation[b, 1], rotation[b, 2], rotation[b, 3])
        mean, later = spin, spin
        if bodies.kind[b] != KINEMATIC:
            r_wb = rotation_matrix(q[0], q[1], q[2], q[3])
            mean, later = turn_freely(spin, load(bodies.inertia, b), r_wb, dt)
        q = turn_quaternion(q, (dt * mean[0], dt * mean[1], dt * mean[2]))
        for k in range(3):
            position[b, k] += dt * twist[b, k]
            twist[b, 3 + k] = later[k]
        for k in range(4):
            rotation[b, k] = q[k]


def _take_restitution(work, settings) -> np.ndarray:
    """Restitution (nc,) of the contacts that bounce now, taken out of the rows.

    Contacts that will bounce but do not touch yet are put out of action.
    """
    rows, count = work.rows, int(work.log.info[INFO_CONTACTS])
    gap, bounces = rows.gap[:count], rows.approach[:count] < -settings.bounce_speed
    bounces &= rows.restitution[:count] > 0.0
    apart = np.flatnonzero(bounces & (gap > rows.skin[:count]))
    rows.gap[apart], rows.bias[apart], rows.impulse[apart] = FAR, FAR, 0.0
    share = np.where(bounces, rows.restitution[:count], 0.0)
    share[apart] = 0.0
    rows.restitution[:count] = 0.0
    return share


def _solve(world, state, work, share):
    """What the solver says, if it is not compiled; and iterations, residual and its name."""
    solver, rows, count = world._solver, work.rows, len(share)
    if hasattr(solver, "solve_bodies"):
        info = solve_rows(world, state, work, _poisson_share(world, state, work, share))
    else:
        rows.bias[:count] += share * rows.approach[:count]
        if solver.compiled:
            model, settings = world._build.model, world._settings
            sweeps, residual = timestep.solve(model, state, settings, work, None)
            timestep.measure_step(work.log.info, work.log.measures, rows, work.motion)
            return None, (sweeps, residual, solver_name(solver))
        info = solve_rows(world, state, work)
    return info, (info.iterations, info.residual, info.solver)


def _poisson_share(world, state, work, share) -> np.ndarray:
    """The share of a normal impulse that comes back: not of what only bears the forces of the step,
    else a ball would gain their impulse at every bounce."""
    if not share.any():
        return share
    closing = last_problem(world._build.model, state, work).relative(work.motion.free)[:, 0]
    approach = work.rows.approach[: len(share)]
    return share * np.clip(approach / np.minimum(closing, approach), 0.0, 1.0)
