"""stepper="time-stepping", the default: forces at the start of the step, contacts implicit.

`run_steps` calls the compiled loop `timestep.advance`. `SolverStep` is its twin for solvers and
forces that are written in Python: the same stages, called one by one (driver.py).
"""

from operator import is_

import numpy as np

from drystone.constraints.joint_blocks import keep_impulses
from drystone.constraints.last_step import last_impulse, last_problem
from drystone.constraints.residual import measure
from drystone.forces.evaluate import Forces, elements_of, has_functions
from drystone.jit import entry_of
from drystone.model.arrays import (
    FLAG_WHOLE,
    HELD,
    INFO_CONTACTS,
    INFO_WANTED,
    Model,
    Settings,
    State,
    Work,
)
from drystone.model.state_hash import hash_state
from drystone.steppers.body_velocities import BodyVelocityStep
from drystone.steppers.cut_step import take_parts
from drystone.steppers.driver import (
    Step,
    compile_once,
    compiled_name,
    contents,
    grow,
    note_clock_rate,
    part,
)
from drystone.steppers.interrupt import interruptible
from drystone.steppers.step_report import StepReport, step_report
from drystone.timestep import DONE, NOT_FINITE, TOO_LONG, advance


def take_steps(world, count: int):
    """Up to `count` steps of `world`: new state, work and the report of the engine."""
    built, solver = world._build, world._solver
    if solver.compiled and not has_functions(world):
        elements = elements_of(world) if world._forces else None
        return run_steps(
            built.model, world._state, world._work, world._settings, count, world._joint_work,
            elements, world._loop,
        )  # fmt: skip
    external = Forces(world) if world._forces else None
    kind = BodyVelocityStep if hasattr(solver, "solve_bodies") else SolverStep
    return kind(
        solver, built.model, world._state, world._work, world._settings, world._joint_work,
        external, built.ellipses,
    ).run()  # fmt: skip


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
            self._model, self._parts = model, part(model)
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
    """Run `count` steps, growing arrays where a stage asks for it. Nothing is ever dropped.

    joint_work  scratch of the joints (joint_rows.py); None in a world without: that engine compiles
                sooner
    elements    the force elements (forces/table.py), or None
    loop        of the world; spares time where steps are run one by one
    """
    compile_once(joint_work is not None, *contents(model))
    if settings.hashing and len(work.log.hashes) < count:
        work = work._replace(log=work.log._replace(hashes=np.zeros(count, np.uint64)))
    work.log.info[:] = 0.0
    work.log.flag[FLAG_WHOLE] = int(len(model.shapes.wide_box) > 0 or joint_work is not None)
    note_clock_rate(settings, work)
    done, hashes, loop = 0, [], loop or Loop()
    while True:
        ran, status = loop(model, state, settings, work, joint_work, elements, count - done)
        done += ran
        if settings.hashing:
            hashes.append(work.log.hashes[:ran].copy())
        if status == TOO_LONG:
            state, work, status = take_parts(
                loop, model, state, settings, work, joint_work, elements
            )
            if status == DONE:
                done += 1
                if settings.hashing:
                    hashes.append(np.array([hash_state(state)], np.uint64))
            if status == DONE and done < count:
                continue
        if status in (DONE, NOT_FINITE):
            break
        state, work = grow(state, work, status, int(work.log.info[INFO_WANTED]))
    failed, solver = status == NOT_FINITE, compiled_name(settings)
    return state, work, step_report(work, done, failed, hashes, solver)


class SolverStep(Step):
    """A step with a solver that may be written in Python, and with elliptic friction.

    Under a solver in Python joints are stabilized after the step also where nothing touches.
    """

    def __init__(self, solver, *arrays, **options):
        super().__init__(*arrays, **options)
        self.by = solver

    def rattle(self):
        if self.by.compiled:
            super().rattle()

    def solve(self):
        if self.by.compiled:
            return super().solve()
        model, work, joint_work = self.model, self.work, self.joint_work
        problem = last_problem(model, self.state, work, self.ellipses, joint_work)
        count = int(work.log.info[INFO_CONTACTS])
        impulse = last_impulse(problem, work, joint_work)
        with interruptible():
            solved = self.by.solve(problem, impulse)
        if model.outlines is not None:
            impulse[:count, 2] = 0.0  # rounding of some solvers would leave the plane
        work.rows.impulse[:count] = impulse[:count]
        if problem.joints is not None:
            keep_impulses(problem.joints, impulse[count:], joint_work.rows)
            work.motion.scheme[problem.joints.body] = HELD
            joint_work.curve[problem.joints.row[problem.joints.row >= 0]] = 0.0
            joint_work.stabilize[:] = 1
        work.motion.twist[:, :6] = problem.free + problem.twist_from(impulse)
        work.log.measures[:] = measure(problem, impulse)
        self.solved(solved.iterations, solved.residual, solved.solver)
