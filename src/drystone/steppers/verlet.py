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

Bodies that could pass through others within half a step are swept in both
halves (collision/ccd.py), for which the first one looks for pairs of its own.
"""

import numpy as np

from drystone.collision.swept_motion import FAST, FREE
from drystone.constraints.last_step import last_problem
from drystone.errors import UnsupportedFeature
from drystone.forces.evaluate import Forces
from drystone.model.arrays import COUNTER_STEP, END_OF_STEP, INFO_CONTACTS, INFO_STOPPED
from drystone.model.state_hash import hash_state
from drystone.motion.displacement import displace_bodies
from drystone.motion.finalize import move_bodies
from drystone.steppers.body_velocities import solve_rows, with_info
from drystone.steppers.driver import Step

FAR = 1e6  # [m], [m/s]: the gap and the bias of a contact that is not to act


def take_steps(world, count: int):
    """One step of `world`: state, work and report."""
    if world._joints:
        raise UnsupportedFeature("stepper 'verlet' does not support joints; use 'time-stepping'.")
    settings, old = world._settings, world._state
    begin = [array.copy() for array in (old.position, old.rotation, old.twist)]
    half = settings._replace(
        dt=0.5 * settings.dt, sleep_delay=0.5 * settings.sleep_delay, hashing=0,
        ccd=FREE if settings.ccd else 0,
    )  # fmt: skip
    state, work, stopped, flown = _first_half(world._build.model, old, world._work, half)
    step = _SecondHalf(world, state, work, half)
    try:
        state, work, report = step.run()
    except BaseException:  # of a solver in Python, or Ctrl-C in it
        _put_back(state, begin)
        raise
    if report.failed:
        _put_back(state, begin)
    else:
        flown = 0.5 * (flown + _share_gone(work, report.info.stopped))
        _take_back_fall(state, work, begin[2], flown)
        if settings.hashing:
            report = report._replace(hashes=np.array([hash_state(state)], np.uint64))
    report = report._replace(info=report.info._replace(stopped=report.info.stopped + stopped))
    return state, work, report if step.info is None else with_info(report, step.info)


def _put_back(state, begin) -> None:
    for array, before in zip((state.position, state.rotation, state.twist), begin, strict=True):
        array[:] = before


def _first_half(model, state, work, half):
    """The first half step, of half.dt: bodies move freely, and stop where they meet.

    Returns state, work, how many pairs met, and what share (n,) of its path each body has gone.
    """
    bodies, fast = model.bodies, half.ccd and _may_pass(model, state, half.dt)
    step = Step(model, state, work, half)
    step.run_until("contacts" if fast else "forces")
    state, work, motion = step.state, step.work, step.work.motion
    motion.twist[:-1, :6], motion.scheme[:] = state.twist, END_OF_STEP
    displace_bodies(bodies, state, motion, 0, half.dt)
    stopped = 0
    if fast:
        step.ccd()
        stopped = int(work.log.info[INFO_STOPPED])
    move_bodies(bodies, state, motion, half.dt)
    state.counter[COUNTER_STEP] -= 1  # it was no whole step
    return state, work, stopped, _share_gone(work, stopped)


class _SecondHalf(Step):
    """Forces of the whole step at its middle, the solve, and the second half of the motion."""

    def __init__(self, world, state, work, half):
        external = Forces(world) if world._forces else None
        if external is not None:
            external.ahead = half.dt
        super().__init__(
            world._build.model, state, work, world._settings, None, external, world._build.ellipses
        )
        self.by, self.half, self.info = world._solver, half, None

    def constraints(self):
        super().constraints()
        self.share = _take_restitution(self.work, self.settings)

    def impacts(self):
        super().impacts()
        self.work.motion.scheme[:] = (
            END_OF_STEP  # they move with the velocity after, for half a step
        )

    def solve(self):
        if hasattr(self.by, "solve_bodies"):
            self.info = solve_rows(self, self.by, _poisson_share(self))
        else:
            rows, count = self.work.rows, len(self.share)
            rows.bias[:count] += self.share * rows.approach[:count]
            if self.by.compiled:
                super().solve()
            else:
                self.info = solve_rows(self, self.by)
        if self.info is not None:
            self.solved(self.info.iterations, self.info.residual, self.info.solver)
        self.settings, self.external = self.half, None


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


def _poisson_share(step: _SecondHalf) -> np.ndarray:
    """The share of a normal impulse that comes back: not of what only bears the forces of the step,
    else a ball would gain their impulse at every bounce."""
    share, work = step.share, step.work
    if not share.any():
        return share
    closing = last_problem(step.model, step.state, work).relative(work.motion.free)[:, 0]
    approach = work.rows.approach[: len(share)]
    return share * np.clip(approach / np.minimum(closing, approach), 0.0, 1.0)
