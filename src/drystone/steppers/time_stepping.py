"""Steps as Python asks for them: by the compiled loop, or one by one with a solver in Python.

`run_steps` calls `timestep.advance`. `step_with` is its twin for solvers and functions written in
Python: the same stages, called one by one.
"""

from functools import cache
from operator import is_

import numpy as np

from drystone.constraints.elliptic_friction import contact_ellipses
from drystone.constraints.joint_blocks import keep_impulses
from drystone.constraints.last_step import last_impulse, last_problem
from drystone.constraints.residual import measure
from drystone.jit import entry_of
from drystone.jit.clock import tick_seconds, ticks
from drystone.model import capacity
from drystone.model.arrays import HELD, INFO_CONTACTS, Model, Outlines, Settings, State, Work
from drystone.model.state_hash import hash_state
from drystone.steppers import precompile
from drystone.steppers.step_report import StepReport, step_report
from drystone.timestep import (
    DONE,
    MORE_PAIRS,
    MORE_SLOTS,
    NOT_FINITE,
    STAGES,
    advance,
    detect,
    finish,
    follow_bodies,
    measure_step,
    pose_rows,
    solve,
    start_rows,
)

# A place of the clock behind the stages: when the contacts were found, less what was noted by then.
FOUND = len(STAGES)


class Loop:
    """advance() for a world that is stepped again and again.

    To choose a version of a kernel Numba asks every argument of a call for its type: 30 of the
    44 us that one step of a box took. If all are those of the call before, and of the one before
    that, the version is known.
    """

    def __init__(self):
        self._model, self._parts, self._given, self._entry = None, None, (), None

    def __call__(self, model, state, settings, work, joint_work, elements, steps):
        if model is not self._model:
            self._model, self._parts = model, _part(model)
        given = (*self._parts, state, settings, work, joint_work, elements)
        if len(given) != len(self._given) or not all(map(is_, given, self._given)):
            self._given, self._entry = given, None
            return advance(*given, steps)
        if self._entry is None:
            self._entry = entry_of(advance, (*given, steps))
        return self._entry(*given, steps)

    def __reduce__(self):  # an entry cannot be pickled; the next process looks it up
        return Loop, ()


def run_steps(
    model: Model,
    state: State,
    work: Work,
    settings: Settings,
    count: int,
    joint_work=None,
    elements=None,
    loop: Loop | None = None,
) -> tuple[State, Work, StepReport]:
    """Run `count` steps, making room where a stage asks for it. Nothing is ever dropped.

    linkage     the joints (constraints/joint_rows.py); None in a world without: that engine
    compiles sooner elements    the force elements (forces/table.py), or None
    loop        of the world; spares time where steps are run one by one
    """
    _compile_once(joint_work is not None, *_surfaces(model.shapes))
    if settings.hashing and len(work.log.hashes) < count:
        work = work._replace(log=work.log._replace(hashes=np.zeros(count, np.uint64)))
    work.log.info[:] = 0.0
    done, hashes, loop = 0, [], loop or Loop()
    while True:
        ran, status, number = loop(model, state, settings, work, joint_work, elements, count - done)
        done += ran
        if settings.hashing:
            hashes.append(work.log.hashes[:ran].copy())
        if status in (DONE, NOT_FINITE):
            break
        state, work = _grow(state, work, status, int(number))
    solver = "auto" if settings.newton == 1 else "nsgs"
    return state, work, step_report(work, settings, done, status == NOT_FINITE, hashes, solver)


def _part(model: Model) -> tuple[Model, Outlines | None]:
    """The outlines apart, so that other stages are compiled once for two and three dimensions."""
    return model._replace(outlines=None), model.outlines


def _surfaces(shapes) -> tuple[bool, bool]:
    """Whether there are meshes, and fields of them."""
    return len(shapes.lane_box) > 0, len(shapes.octree_child) > 0


@cache
def _compile_once(linked: bool, meshed: bool, fielded: bool) -> None:
    """At the first step of this process, at the first with joints, with meshes, with fields."""
    precompile.compile_engine(linked, meshed, fielded)


def step_with(
    model: Model,
    state: State,
    work: Work,
    settings: Settings,
    solver,
    ellipses=None,
    joint_work=None,
    forces=None,
) -> tuple[State, Work, StepReport]:
    """One step, stage by stage: the twin of advance() for what is written in Python.

    That is solvers, and with `forces` (forced.Forces) functions of the user; elliptic friction too.
    Under a solver in Python joints are straightened after the step also where nothing touches.
    """
    state, work = find_contacts(model, state, work, settings, joint_work, forces)
    pose_rows(model, state, settings, work, joint_work)
    with contact_ellipses(model, state, work, ellipses):
        start_rows(state, settings, work, joint_work)
    if getattr(solver, "compiled", False):
        sweeps, residual = solve(model, state, settings, work, joint_work)
        measure_step(work.log.info, work.log.measures, work.rows, work.motion)
        name = "auto" if settings.newton == 1 else "nsgs"
    else:
        sweeps, residual, name = _solve_in_python(model, state, work, solver, ellipses, joint_work)
    return end_step(model, state, work, settings, joint_work, forces, (sweeps, residual, name))


def find_contacts(model, state, work, settings, joint_work=None, forces=None) -> tuple[State, Work]:
    """Stages 1 to 4 from Python, with room for all contacts."""
    _compile_once(joint_work is not None, *_surfaces(model.shapes))
    work.log.info[:] = 0.0
    model, outlines = _part(model)
    while True:
        if forces is not None:
            forces.add(state)
        status, number = detect(model, outlines, state, settings, work)
        if forces is not None:
            forces.drop(state)
        if status == DONE:
            work.log.clock[FOUND] = _unnoted(work)
            return state, work
        state, work = _grow(state, work, status, int(number))


def stop_fast_bodies(model, state, work, settings) -> int:
    """Stage 7b from Python, for the displacements in work.motion.move; how many pairs it stops."""
    model, outlines = _part(model)
    return follow_bodies(model, outlines, state, settings, work)


def end_step(
    model, state, work, settings, joint_work, forces, solved
) -> tuple[State, Work, StepReport]:
    """Stages 6 to 8 from Python, and the report; `solved`: sweeps, residual, name of the solver."""
    sweeps, residual, name = solved
    # Compiled stages note their own time. What nobody noted since the contacts were found is that
    # of a solver in Python.
    clock = work.log.clock
    clock[STAGES.index("solve")] += np.uint64(_unnoted(work) - int(clock[FOUND]))
    model, outlines = _part(model)
    good = finish(model, outlines, state, settings, work, joint_work, sweeps, residual)
    if good and forces is not None:
        forces.settle(state, work.motion.scheme, settings.dt)
    hashes = [np.array([hash_state(state)], np.uint64)] if settings.hashing and good else []
    return state, work, step_report(work, settings, int(good), not good, hashes, name)


def _unnoted(work: Work) -> int:
    """Ticks by now that no stage has noted; only a difference of two such numbers has a meaning."""
    return int(ticks()) - int(work.log.clock[: len(STAGES)].sum())


def _solve_in_python(model, state, work, solver, ellipses, joint_work):
    problem = last_problem(model, state, work, ellipses, joint_work)
    count = int(work.log.info[INFO_CONTACTS])
    impulse = last_impulse(problem, work, joint_work)
    solved = solver.solve(problem, impulse)
    if model.outlines is not None:
        impulse[:count, 2] = 0.0  # rounding of some solvers would leave the plane
    work.rows.impulse[:count] = impulse[:count]
    if problem.joints is not None:
        keep_impulses(problem.joints, impulse[count:], joint_work.rows)
        work.motion.scheme[problem.joints.body] = HELD
        state.joint_curve[problem.joints.row[problem.joints.row >= 0]] = 0.0
        joint_work.loose[:] = 1
    work.motion.twist[:, :6] = problem.free + problem.twist_from(impulse)
    work.log.measures[:] = measure(problem, impulse)
    return solved.iterations, solved.residual, solved.solver


def _grow(state: State, work: Work, status: int, wanted: int) -> tuple[State, Work]:
    if status == MORE_PAIRS:
        return capacity.grow_pairs(state, work, wanted)
    if status == MORE_SLOTS:
        return state, capacity.grow_slots(work, wanted)
    return capacity.grow_contacts(state, work, wanted)


def stage_seconds(work: Work) -> dict[str, float]:
    """Seconds spent in each stage since `work` was made."""
    spent = work.log.clock[: len(STAGES)] * tick_seconds()
    return dict(zip(STAGES, spent.tolist(), strict=True))
