"""One step from Python: the stages of timestep.py, one method each, in the order of STAGES.

The compiled loop `timestep.advance` and `Step` are two callers of one set of stages. A stepper, or
a solver that is written in Python, is a Step that overrides the stages which it does differently.
"""

from functools import cache

import numpy as np

from drystone import timestep
from drystone.constraints.elliptic_friction import contact_ellipses
from drystone.forces.free_velocity import free_twists
from drystone.jit.clock import tick_seconds, ticks
from drystone.model import capacity
from drystone.model.arrays import (
    INFO_EXCESS,
    INFO_RESIDUAL,
    INFO_SWEEPS,
    INFO_TOLERANCE,
    INFO_WANTED,
    TERRAIN,
    TICKS_PER_SECOND,
    Model,
    Outlines,
)
from drystone.model.state_hash import hash_state
from drystone.solvers.newton.by_bodies import MANY_BODIES
from drystone.steppers import precompile
from drystone.steppers.step_report import step_report
from drystone.timestep import DONE, MORE_PAIRS, MORE_SLOTS, NOT_FINITE, STAGES


class Step:
    """One step, stage by stage. A stage returns nothing, or what its kernel returns.

    external    forces that Python evaluates (forces/evaluate.py), or None
    ellipses    of a world with elliptic friction, or None
    """

    def __init__(self, model, state, work, settings, joint_work=None, external=None, ellipses=None):
        compile_once(joint_work is not None, *contents(model))
        self.model, self.state, self.work, self.settings = model, state, work, settings
        self.joint_work, self.external, self.ellipses = joint_work, external, ellipses
        self.solver = ""  # the name of the one that solved
        note_clock_rate(settings, work)
        self._solid, self._outlines = part(model)

    def run(self):
        """Take the step; returns state, work and report."""
        status = self.run_until(STAGES[-1])
        good = status != NOT_FINITE
        hashes = []
        if self.settings.hashing and good:
            hashes = [np.array([hash_state(self.state)], np.uint64)]
        report = step_report(self.work, int(good), not good, hashes, self.solver)
        return self.state, self.work, report

    def run_until(self, last: str) -> int:
        """Take the stages from the first to `last`; returns the status of that."""
        self.work.log.info[:] = 0.0
        k, end = 0, STAGES.index(last)
        while True:
            status = self._take(k)
            if status in (DONE, NOT_FINITE):
                if k == end or status == NOT_FINITE:
                    return status
                k += 1
            else:
                wanted = int(self.work.log.info[INFO_WANTED])
                self.state, self.work = grow(self.state, self.work, status, wanted)
                k = 0

    def _take(self, k: int) -> int:
        """Stage `k`. Kernels note their own time; what Python takes beside them is added."""
        clock, start = self.work.log.clock, int(ticks())
        noted = int(clock[: len(STAGES)].sum())
        status = getattr(self, STAGES[k])() or DONE
        noted = int(clock[: len(STAGES)].sum()) - noted
        clock[k] += np.uint64(max(int(ticks()) - start - noted, 0))
        return status

    def forces(self):
        if self.external is None:
            return timestep.forces(self._solid, self.state, self.settings, self.work, None)
        self.external.load(self.state, self.work.motion.force)
        free_twists(self.model.bodies, self.state, self.settings, self.work.motion)

    def broadphase(self):
        return timestep.broadphase(self._solid, self.state, self.settings, self.work)

    def narrowphase(self):
        return timestep.narrowphase(
            self._solid, self._outlines, self.state, self.settings, self.work
        )

    def contacts(self):
        return timestep.contacts(self._solid, self._outlines, self.state, self.work)

    def constraints(self):
        timestep.constraints(self._solid, self.state, self.settings, self.work, self.joint_work)

    def impacts(self):
        with contact_ellipses(self.model, self.state, self.work, self.ellipses):
            timestep.impacts(
                self._solid, self._outlines, self.state, self.settings, self.work, self.joint_work
            )

    def rattle(self):
        timestep.rattle(
            self._solid, self._outlines, self.state, self.settings, self.work, self.joint_work
        )

    def solve(self):
        """By the compiled solver; others override this."""
        timestep.solve(self._solid, self.state, self.settings, self.work, self.joint_work)
        log = self.work.log
        timestep.measure_step(log.info, log.measures, self.work.rows, self.work.motion)
        self.solver = compiled_name(self.settings)

    def displace(self):
        timestep.displace(self._solid, self.state, self.settings, self.work, self.joint_work)

    def ccd(self):
        timestep.ccd(self._solid, self._outlines, self.state, self.settings, self.work)

    def finalize(self):
        status = timestep.finalize(
            self._solid, self.state, self.settings, self.work, self.joint_work, None
        )
        if status == DONE and self.external is not None:
            self.external.settle(self.state, self.work.motion.scheme, self.settings.dt)
        return status

    def solved(self, iterations: int, residual: float, solver: str) -> None:
        """What a solver in Python reached, for the stages after it and the report."""
        info = self.work.log.info
        info[INFO_SWEEPS], info[INFO_RESIDUAL], self.solver = iterations, residual, solver
        tolerance = self.settings.tolerance
        info[INFO_TOLERANCE], info[INFO_EXCESS] = tolerance, residual / tolerance


def grow(state, work, status: int, wanted: int):
    """State and work with the capacity that a stage asked for."""
    if status == MORE_PAIRS:
        return capacity.grow_pairs(state, work, wanted)
    if status == MORE_SLOTS:
        return state, capacity.grow_slots(work, wanted)
    return capacity.grow_contacts(state, work, wanted)


def part(model: Model) -> tuple[Model, Outlines | None]:
    """The outlines apart, so that other stages are compiled once for two and three dimensions, and
    without robots, which have stages of their own."""
    return model._replace(outlines=None, robots=None), model.outlines


def contents(model: Model) -> tuple[bool, bool, bool, bool]:
    """Whether there are meshes, signed distance fields of them, many bodies, terrain."""
    shapes, many = model.shapes, len(model.bodies.kind) >= MANY_BODIES
    grounded = bool((shapes.kind == TERRAIN).any())
    return len(shapes.wide_box) > 0, len(shapes.octree_child) > 0, many, grounded


@cache
def compile_once(linked: bool, meshed: bool, fielded: bool, many: bool, grounded: bool) -> None:
    """At the first step of this process, at the first with joints, with meshes, with SDFs, with
    many bodies, with terrain."""
    precompile.compile_engine(linked, meshed, fielded, many, grounded)


def note_clock_rate(settings, work) -> None:
    """What a budget in seconds is in ticks of the clock that kernels read."""
    if settings.budget_time > 0.0:
        work.log.clock[TICKS_PER_SECOND] = int(1.0 / tick_seconds())


def compiled_name(settings) -> str:
    """The name of the compiled solver that `settings` choose."""
    return "auto" if settings.newton == 1 else "nsgs"


def stage_seconds(work) -> dict[str, float]:
    """Wall-clock seconds spent in each stage since `work` was made."""
    spent = work.log.clock[: len(STAGES)] * tick_seconds()
    return dict(zip(STAGES, spent.tolist(), strict=True))
