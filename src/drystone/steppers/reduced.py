"""The step of worlds with robots: rates of robots and velocities of bodies in one contact problem.

    A (y' - y_free) = Eᵀ λ + Jᵀ p,    E y' = e,    (J y' + bias, p) obey Coulomb's law

y are rates of robots and twists of other bodies, A the mass matrices of robots (with dampers,
springs and servos, linearly implicit as in CLINE 2.50 to 2.53) and bodies. E holds loops, coupled
joints and the joints of the world. The compiled loop (robot_loop.py) makes many steps in one call;
solvers and forces that are written in Python have the same stages, one by one.
"""

from operator import is_

import numpy as np

from drystone.constraints.islands import TALLY_GROUPS
from drystone.constraints.reduced.closing import end_robots, find_broken, store_robots
from drystone.constraints.reduced.free_rates import predict_robots
from drystone.forces.evaluate import Forces, elements_of, has_functions
from drystone.jit import entry_of
from drystone.model.arrays import INFO_FAILED_BODY, INFO_WANTED
from drystone.solvers.reduced.as_contacts import contact_problem, take_impulses
from drystone.solvers.reduced.scratch import grown_scratch
from drystone.solvers.reduced.solve_robots import find_overloaded, gather_group, give_group
from drystone.solvers.supported_features import require_features
from drystone.steppers.driver import compile_once, compiled_name, contents, grow, part
from drystone.steppers.interrupt import interruptible
from drystone.steppers.precompile import LINKED_ROBOTS, ROBOTS, first_time
from drystone.steppers.robot_loop import (
    MORE_BLOCKS,
    advance_robots,
    note_solved,
    predict,
    room_for_blocks,
    solve_with_robots,
)
from drystone.steppers.step_report import step_report
from drystone.steppers.time_stepping import SolverStep
from drystone.timestep import DONE, NOT_FINITE


def take_steps(world, count: int):
    """Up to `count` steps of `world`: state, work and report."""
    if world._solver.compiled and not has_functions(world):
        return _run(world, count)
    if not world._solver.compiled:
        require_features(("matrix",), world._solver)
    return RobotStep(world).run()


class RobotLoop:
    """advance_robots() for a world that is stepped again and again; see time_stepping.Loop."""

    def __init__(self) -> None:
        self._model, self._part, self._given, self._entry = None, None, (), None

    def __call__(self, model, *rest):
        if model is not self._model:
            self._model, self._part = model, part(model)[0]
        *arrays, steps = rest
        given = (self._part, model.robots, *arrays)
        if len(given) != len(self._given) or not all(map(is_, given, self._given)):
            self._given, self._entry = given, None
            return advance_robots(*given, steps)
        if self._entry is None:
            self._entry = entry_of(advance_robots, (*given, steps))
        return self._entry(*given, steps)

    def __reduce__(self):
        return RobotLoop, ()


def _run(world, count: int):
    model, settings, joint_work = world._build.model, world._settings, world._joint_work
    state, work = world._state, world._work
    compile_once(joint_work is not None, *contents(model))
    if settings.hashing and len(work.log.hashes) < count:
        work = work._replace(log=work.log._replace(hashes=np.zeros(count, np.uint64)))
    elements = elements_of(world) if world._forces else None
    work.log.info[:] = 0.0
    done, hashes = 0, []
    if not isinstance(world._loop, RobotLoop):
        world._loop = RobotLoop()
    _compile_robots(model, state, settings, work, joint_work, world._robot_work)
    while True:
        ran, status = world._loop(
            model, state, settings, work, joint_work, elements, world._robot_work, count - done
        )
        done += ran
        if settings.hashing:
            hashes.append(work.log.hashes[:ran].copy())
        if status in (DONE, NOT_FINITE):
            break
        wanted = int(work.log.info[INFO_WANTED])
        if status == MORE_BLOCKS:
            world._robot_work = grown_scratch(model, wanted, _nodes(joint_work))
        else:
            state, work = grow(state, work, status, wanted)
    failed, solver = status == NOT_FINITE, compiled_name(settings)
    return state, work, step_report(work, done, failed, hashes, solver)


_COMPILED: set[str] = set()


def _compile_robots(model, state, settings, work, joint_work, scratch) -> None:
    """At the first step with robots of this process, and the first with joints beside them."""
    part_name = ROBOTS if joint_work is None else LINKED_ROBOTS
    if part_name not in _COMPILED:
        with first_time(part_name):
            advance_robots(
                part(model)[0], model.robots, state, settings, work, joint_work, None, scratch, 0
            )
        _COMPILED.add(part_name)


def _nodes(joint_work) -> int:
    return 0 if joint_work is None else len(joint_work.node_body)


class RobotStep(SolverStep):
    """A step with robots, stage by stage: for solvers and forces in Python."""

    def __init__(self, world) -> None:
        super().__init__(
            world._solver, world._build.model, world._state, world._work, world._settings,
            world._joint_work, Forces(world) if world._forces else None, world._build.ellipses,
        )  # fmt: skip
        self.world, self.robots = world, world._build.model.robots

    def contacts(self):
        pairing, scratch = self.model.pairing, self.world._robot_work
        if not room_for_blocks(pairing, self.joint_work, self.work, scratch):
            wanted = int(self.work.log.info[INFO_WANTED])
            self.world._robot_work = grown_scratch(self.model, wanted, _nodes(self.joint_work))
        status = super().contacts()
        if status == DONE:
            predict(
                self._solid, self.robots, self.state, self.settings, self.work,
                self.world._robot_work,
            )  # fmt: skip
        return status

    def solve(self):
        super().solve()
        scratch = self.world._robot_work
        if self.by.compiled:
            solve_with_robots(
                self._solid, self.robots, self.state, self.settings, self.work, self.joint_work,
                scratch,
            )  # fmt: skip
            return
        self._solve_islands(scratch)
        if find_overloaded(self.robots, self.state, self.settings.dt, scratch):
            predict_robots(
                self.robots, self.model.joints, self.state, self.settings, self.work, scratch
            )
            self._solve_islands(scratch)

    def _solve_islands(self, scratch):
        """Every island with robots by the solver of the world."""
        groups = np.flatnonzero(self.work.rows.group_linked == 2)
        arguments = self.robots, self.model.bodies, self.state
        for g in groups[groups < self.work.graph.tally[TALLY_GROUPS]]:
            n = gather_group(int(g), *arguments, self.settings, self.work, self.joint_work, scratch)
            worst, iterations = self._solve_group(n, scratch)
            give_group(
                int(g), n, *arguments, self.settings, self.work, self.joint_work, scratch
            )  # fmt: skip
            note_solved(self.work.log.info, self.settings.tolerance, worst, iterations, 0, 0)

    def _solve_group(self, n: int, scratch):
        """One island with robots by the solver of the world; residual and iterations."""
        across = None
        if self.ellipses is not None:
            across = self.ellipses.friction_of_rows(self.work)[1]
        problem, guess, places = contact_problem(n, scratch, across)
        if not problem.block_count:
            take_impulses(n, guess, places, scratch)
            return 0.0, 0
        with interruptible():
            solved = self.by.solve(problem, guess)
        take_impulses(n, guess, places, scratch)
        return solved.residual, solved.iterations

    def finalize(self):
        scratch = self.world._robot_work
        end_robots(self.robots, self.state, self.settings, self.work, scratch)
        if find_broken(self.robots, scratch) >= 0:
            self.work.log.info[INFO_FAILED_BODY] = -1.0
            return NOT_FINITE
        status = super().finalize()
        if (status or DONE) == DONE:
            store_robots(self.robots, self.state, scratch)
        return status
