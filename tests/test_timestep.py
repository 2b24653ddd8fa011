"""The compiled loop, its Python twin, capacity that grows, and what a run reports."""

import os
import subprocess
import sys
import time

import numpy as np
import pytest

import drystone as ds
from drystone import timestep
from drystone.constraints import last_step
from drystone.model import arrays, capacity
from drystone.model.state_hash import hash_state
from drystone.solvers.nsgs import Nsgs
from drystone.solvers.pgs import Pgs
from drystone.steppers import driver
from drystone.steppers.time_stepping import SolverStep, run_steps
from drystone.world.run import RunStatistics

STONE = ds.Material(friction=0.5, restitution=0.3)


class InPython:
    """Nsgs called as any solver written in Python."""

    compiled = False

    def __init__(self, **options):
        self.inner = Nsgs(**options)
        self.calls = 0

    def solve(self, problem, impulse):
        self.calls += 1
        return self.inner.solve(problem, impulse)


def small_scene(count=3, tolerance=1e-5, **options):
    """A short stack that is hit by a ball."""
    world = ds.World(sleeping=False, tolerance=tolerance, **options)
    world.add_fixed(ds.Plane(), STONE)
    for k in range(count):
        world.add_body(ds.Box(1, 1, 1), STONE, position=(0.02 * k, 0, 0.5 + k))
    world.add_body(ds.Sphere(0.3), STONE, position=(-1.2, 0.1, 0.7), velocity=(6, 0, 0))
    return world


def engine(world):
    return world.model, world.state, capacity.allocate(world.model), world.settings


def test_solver_step_is_the_twin_of_advance():
    """Same stages, same solver: the same motion to 1e-9 m over 60 steps with an impact.

    The loop turns the direction of its sweeps from step to step and the Python call does not, so
    both solve to 1e-13 m/s, where that no longer shows. Balls, whose motion is unique: how four
    corners of a box share its weight is not.
    """
    tolerance, steps = 1e-13, 60
    solver = InPython(tolerance=tolerance, max_sweeps=20_000)
    one, two = (small_scene(0, tolerance=tolerance) for _ in range(2))
    for world in (one, two):
        world.add_body(ds.Sphere(0.5), STONE, position=(0.1, 0, 0.5))
        world.add_body(ds.Sphere(0.3), STONE, position=(0.15, -0.78, 0.3))
    model, state, work, settings = engine(one)
    # No Newton: `auto` alone lets contacts that roll act in the middle of the step.
    settings = settings._replace(max_sweeps=20_000, skin=5e-7, newton=0)
    state, work, _ = run_steps(model, state, work, settings, steps)
    model, other, work, _ = engine(two)
    for _ in range(steps):
        other, work, report = SolverStep(solver, model, other, work, settings).run()
        assert report.done == 1 and not report.failed
    assert solver.calls == steps
    assert np.abs(state.twist[1:, :3]).max(axis=1).min() > 0.01  # the first ball did hit
    np.testing.assert_allclose(other.position, state.position, rtol=0, atol=1e-9)
    np.testing.assert_allclose(other.twist, state.twist, rtol=0, atol=1e-7)


FOLDER = os.path.dirname(__file__)
UNCOMPILED = """
import numpy as np
import test_timestep
world = test_timestep.small_scene()
world.run(30 * world.dt)
print(*np.concatenate([body.position for body in world.bodies]).tolist())
"""


def test_kernels_run_without_being_compiled():
    """As a debugger wants them: the same motion. Stages differ in their last digits only."""
    world = small_scene()
    world.run(30 * world.dt)
    path = os.pathsep.join([FOLDER, *sys.path])
    run = subprocess.run(
        [sys.executable, "-c", UNCOMPILED], capture_output=True, text=True,
        env=os.environ | {"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": path}, timeout=300,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    there = np.array(run.stdout.split(), float)
    here = np.concatenate([body.position for body in world.bodies])
    assert np.abs(there - here).max() < 1e-9


def test_solver_step_reports_what_the_solver_said():
    model, state, work, settings = engine(small_scene())
    state, work, report = SolverStep(InPython(max_sweeps=1), model, state, work, settings).run()
    assert report.info.solver == "nsgs" and report.info.iterations == 1
    assert report.nonconverged == 1 and not report.info.converged
    assert report.info.residual > settings.tolerance


def test_capacity_does_not_change_the_bits():
    """Started with no capacity at all or with more than enough: the same hash after every step."""
    hashes = []
    for ample in (False, True):
        model, state, work, settings = engine(small_scene(6))
        if ample:
            state, work = capacity.grow_pairs(state, work, 1000)
            work = capacity.grow_slots(work, 1000)
            state, work = capacity.grow_contacts(state, work, 1000)
        settings = settings._replace(hashing=1)
        state, work, report = run_steps(model, state, work, settings, 80)
        assert report.done == len(report.hashes) == 80
        hashes.append(report.hashes)
    assert len(set(hashes[0].tolist())) == 80
    assert np.array_equal(*hashes)


def test_calls_of_any_length_give_the_same_bits():
    model, state, work, settings = engine(small_scene())
    state, work, _ = run_steps(model, state, work, settings, 60)
    expected = hash_state(state)
    model, state, work, settings = engine(small_scene())
    for count in (1, 7, 0, 30, 22):
        state, work, report = run_steps(model, state, work, settings, count)
        assert report.done == count
    assert hash_state(state) == expected


def test_report_sums_over_its_steps():
    """Sweeps, worst residual and steps that fell short are those of the single steps together."""
    steps, single = 40, []
    model, state, work, settings = engine(small_scene(5))
    settings = settings._replace(max_sweeps=12, newton=0)
    for _ in range(steps):
        state, work, report = run_steps(model, state, work, settings, 1)
        single.append(report)
    model, state, work, _ = engine(small_scene(5))
    state, work, report = run_steps(model, state, work, settings, steps)
    assert report.sweeps == sum(r.sweeps for r in single)
    assert report.nonconverged == sum(r.nonconverged for r in single) > 0
    assert report.worst_residual == max(r.info.residual for r in single)
    assert report.worst_penetration == max(r.info.penetration for r in single)
    assert report.contacts == report.info.contacts == single[-1].contacts > 0
    assert not report.failed and report.failed_body == -1


def test_a_number_that_is_not_finite_stops_the_run():
    """The state is that of the last good step, and the body is named."""
    model, state, work, settings = engine(small_scene())
    state, work, _ = run_steps(model, state, work, settings, 5)
    state.force[2, 0] = np.nan
    before = state.position.copy()
    state, work, report = run_steps(model, state, work, settings, 10)
    assert report.failed and report.done == 0
    assert np.array_equal(state.position, before)
    assert report.failed_body in range(4)


def test_contact_arrays_are_those_of_the_problem():
    """Contact row_contact[i] is row i of the problem, and moves with J v + W p.

    Bodies of two more stacks in turn, so that rows, by islands, are not in the order of contacts.
    """
    world = small_scene()
    for k in range(3):
        for x in (5.0, 9.0):
            world.add_body(ds.Box(1, 1, 1), STONE, position=(x, 0, 0.5 + k))
    world.run(0.1)
    raw, problem = last_step.contact_arrays(world.model, world.state, world._work), world.problem()
    count = problem.contact_count
    assert len(raw.gap) == world.info.contacts == count > 4
    contact = world._work.contact_list.row_contact[:count]
    assert sorted(contact) == list(range(count)) != contact.tolist()
    fixed = np.where(problem.mass[problem.body, 0] > 0, problem.body, arrays.FIXED)
    assert np.array_equal(raw.body[contact], fixed)
    assert np.array_equal(raw.gap[contact], problem.gap)
    assert np.array_equal(raw.friction[contact], problem.friction)
    assert np.array_equal(raw.frame[contact], problem.frame.reshape(count, 3, 3))
    # Impacts within the step are part of what is read, and of the free velocities.
    solved = last_step.last_impulse(problem, world._work)
    velocity = problem.W() @ solved.ravel() + problem.relative(problem.free).ravel()
    speed = np.abs(velocity).max()
    np.testing.assert_allclose(raw.velocity[contact].ravel(), velocity, atol=1e-10 * speed)
    slip = np.hypot(raw.impulse[:, 1], raw.impulse[:, 2])
    assert (slip <= raw.friction * raw.impulse[:, 0] + 1e-9).all()
    assert raw.velocity[raw.gap <= 0, 0].min() > -1e-4


def test_stage_seconds_name_all_stages():
    world = small_scene()
    world.run(0.1)
    seconds = driver.stage_seconds(world._work)
    assert tuple(seconds) == timestep.STAGES
    assert all(value >= 0 for value in seconds.values()) and seconds["solve"] > 0


@pytest.mark.parametrize("solver", ["ffd", "pgs", "nsgs"])
def test_stage_seconds_know_solvers_in_python(solver):
    """Every stage has its time, and all together take no more than the steps do.

    Half as much again is allowed: how long a tick is was measured on a machine that may be busy.
    """
    world = small_scene(solver=solver)
    statistics = RunStatistics(world)
    statistics.advance(1, timed=False)
    for _ in range(20):
        statistics.advance(1)
    assert tuple(statistics.stages_ms) == timestep.STAGES and statistics.stages_ms["solve"] > 0.0
    assert sum(statistics.stages_ms.values()) <= 1.5 * statistics.ms_per_step


def test_time_in_a_solver_in_python_is_that_of_the_solve(monkeypatch):
    """A solver that sleeps for 20 ms in each step: they are found under `solve`, not elsewhere."""
    slept, solve = 20.0, Pgs.solve

    def sleepy(self, *args):
        time.sleep(1e-3 * slept)
        return solve(self, *args)

    monkeypatch.setattr(Pgs, "solve", sleepy)
    world = small_scene(solver="pgs")
    statistics = RunStatistics(world)
    statistics.advance(1, timed=False)
    for _ in range(5):
        statistics.advance(1)
    assert statistics.stages_ms["solve"] > 0.6 * slept


@pytest.mark.parametrize("dt", [1 / 60, 1 / 240])
def test_counter_counts_steps(dt):
    world = small_scene(dt=dt)
    world.run(1.0)
    assert world.state.counter[arrays.COUNTER_STEP] == round(1.0 / dt)
