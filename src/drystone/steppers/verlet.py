"""stepper="verlet": half steps around one collision check at the middle (FFD Fig. 7).

    q½ = q exp(h/2 φ)      φ' = solve(φ + h a(q½), contacts at q½)      q' = q½ exp(h/2 φ')

Without contacts that is the leapfrog scheme of [Verlet1967], of second order and symplectic. With
contacts velocities obey FFD (18) to (20): they get the forces of a whole step and are then
resolved. (Fig. 7 gives half of it to bodies in contact, which then weigh half.) A body turns as
it does when it is free, for which the exponential map of its mean spin is exact in momentum and
energy (motion/integrate.py); the explicit gyroscopic term of FFD (15) could blow up.

A contact that bounces is left alone until it touches at a middle: overlaps by up to speed * h are
resolved when they are there. Then `ffd` gives back Poisson's share of the normal impulse (line
34); with the others the normal velocity after is -e times the one before, CLINE 4.16.

Bodies that could pass through others within half a step are followed along their way in both
halves (collision/ccd.py), for which the first one looks for pairs of its own.
"""

import numpy as np

from drystone import timestep
from drystone.collision.swept_motion import FAST, FREE
from drystone.constraints.elliptic_friction import contact_ellipses
from drystone.constraints.last_step import last_problem
from drystone.errors import UnsupportedFeature
from drystone.forces.evaluate import Forces
from drystone.forces.free_velocity import free_twists
from drystone.model.arrays import COUNTER_STEP, END_OF_STEP, INFO_CONTACTS
from drystone.motion.displacement import displace_bodies
from drystone.motion.finalize import move_bodies
from drystone.solvers.supported_features import solver_name
from drystone.steppers import time_stepping
from drystone.steppers.body_velocities import solve_rows, with_info

FAR = 1e6  # [m], [m/s]: the gap and the bias of a contact that is not to act


def step(world):
    """One step of `world`: state, work and report."""
    if world._joints:
        raise UnsupportedFeature("stepper 'verlet' does not support joints; use 'time-stepping'.")
    model, settings, old = world._build.model, world._settings, world._state
    begin = [array.copy() for array in (old.position, old.rotation, old.twist)]
    half = settings._replace(
        dt=0.5 * settings.dt, sleep_delay=0.5 * settings.sleep_delay, hashing=0,
        ccd=FREE if settings.ccd else 0,
    )  # fmt: skip
    state, work, met, flown = _drift(model, old, world._work, half)
    forces = Forces(world) if world._forces else None
    if forces is not None:
        forces.ahead = 0.5 * settings.dt
    state, work = time_stepping.find_contacts(model, state, work, settings, None, forces)
    timestep.pose_rows(model, state, settings, work, None)
    share = _take_restitution(work, settings)
    with contact_ellipses(model, state, work, world._build.ellipses):
        timestep.start_rows(state, settings, work, None)
    work.motion.scheme[:] = END_OF_STEP  # they move with the velocity after, for half a step
    info, solved = _solve(world, state, work, share)
    state, work, report = time_stepping.end_step(model, state, work, half, None, None, solved)
    if report.failed:
        for array, before in zip((state.position, state.rotation, state.twist), begin, strict=True):
            array[:] = before
    else:
        flown = 0.5 * (flown + _share_gone(work, report.info.stopped))
        _take_back_fall(state, work, begin[2], flown)
        if settings.hashing:
            report = report._replace(hashes=np.array([timestep.hash_state(state)], np.uint64))
    report = report._replace(info=report.info._replace(stopped=report.info.stopped + met))
    return state, work, report if info is None else with_info(report, info)


def _drift(model, state, work, half):
    """The first half step, of half.dt: bodies move freely, and stop where they meet.

    Returns state, work, how many pairs met, and what share (n,) of its way each body has gone.
    """
    bodies = model.bodies
    follow = half.ccd and _may_pass(model, state, half.dt)
    if follow:
        state, work = time_stepping.find_contacts(model, state, work, half)
    else:
        free_twists(bodies, state, half, work.motion)
    motion = work.motion
    motion.twist[:-1, :6], motion.scheme[:] = state.twist, END_OF_STEP
    displace_bodies(bodies, state, motion, 0, half.dt)
    met = time_stepping.stop_fast_bodies(model, state, work, half) if follow else 0
    move_bodies(bodies, state, motion, half.dt)
    state.counter[COUNTER_STEP] -= 1  # it was no whole step
    return state, work, met, _share_gone(work, met)


def _may_pass(model, state, dt) -> bool:
    """Whether any body is so fast that it has to be followed past the thinnest of all shapes."""
    spin = np.linalg.norm(state.twist[:, 3:], axis=1)
    speed = np.linalg.norm(state.twist[:, :3], axis=1) + model.bodies.radius * spin
    thinnest = model.shapes.thickness.min(initial=np.inf)
    return bool(2.0 * dt * speed.max(initial=0.0) > FAST * thinnest)


def _share_gone(work, stopped: int) -> np.ndarray:
    """What share (n,) of the half step each body has gone, if so many pairs were stopped."""
    fraction = work.ccd.fraction
    return fraction.copy() if stopped else np.ones_like(fraction)


def _take_back_fall(state, work, old, flown) -> None:
    """Bodies in flight that were stopped get the forces of the time they flew.

    They would else gain the energy of a fall that they have not done.
    """
    rows, count = work.rows, int(work.log.info[INFO_CONTACTS])
    stopped = np.append(flown < 1.0, False)
    stopped[rows.body[:count][rows.impulse[:count, 0] > 0.0]] = False
    b = np.flatnonzero(stopped)
    state.twist[b, :3] = old[b, :3] + flown[b, None] * (state.twist[b, :3] - old[b, :3])


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
