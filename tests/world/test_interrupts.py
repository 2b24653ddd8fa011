"""Ctrl-C: a run ends between two steps, or in a solver in Python; the world goes on from there."""

import signal
import sys
import threading
from pathlib import Path
from time import sleep

import numpy as np
import pytest

import drystone as ds
from box_worlds import box_world


@pytest.fixture
def usual_ctrl_c():
    """Ctrl-C as users have it: a job in the background of a shell would ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_ctrl_c_leaves_a_consistent_world(usual_ctrl_c):
    world = box_world(sleeping=False)
    world.step()
    timer = threading.Timer(0.3, signal.raise_signal, [signal.SIGINT])
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        world.run(1e6)
    count = world.step_count
    assert 0 < count < 1e6 * 240
    world.step()
    assert world.step_count == count + 1 and np.isfinite(world.positions).all()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


class Slow:
    """A solver of a user that hangs in its third solve, once."""

    supports = frozenset({"restitution", "matrix"})

    def __init__(self, ending):
        self.solves, self.ending = 0, ending

    def __copy__(self):
        return self

    def solve(self, problem, impulse):
        self.solves += 1
        if self.solves == 3:
            self.ending()
        ds.SOLVERS["pgs"]().solve(problem, impulse)


def _press_and_wait():
    threading.Timer(0.2, signal.raise_signal, [signal.SIGINT]).start()
    for _ in range(200):
        sleep(0.05)
    raise AssertionError("Ctrl-C was not heard")


def _raise():
    raise ZeroDivisionError


@pytest.mark.parametrize("stepper", ["time-stepping", "implicit", "verlet"])
@pytest.mark.parametrize(
    "ending, error", [(_press_and_wait, KeyboardInterrupt), (_raise, ZeroDivisionError)]
)
def test_a_step_whose_solver_is_interrupted_was_not_taken(usual_ctrl_c, stepper, ending, error):
    """And the run that goes on has the bits of one that was left alone."""
    worlds = [box_world(solver=Slow(end), stepper=stepper) for end in (ending, lambda: None)]
    for world in worlds:
        world["crate"].velocity = (1.0, 0.0, 0.0)
    with pytest.raises(error):
        worlds[0].run(6 / 240)
    assert worlds[0].step_count == 2
    worlds[0].run(4 / 240)
    worlds[1].run(6 / 240)
    assert worlds[0].step_count == 6 and worlds[0].hash() == worlds[1].hash()


def test_ctrl_c_anywhere_in_a_step_of_ones_own_loop_is_no_crash():
    """Whatever line of ours it is raised in: the world goes on, from before or after the step."""
    package = str(Path(ds.__file__).parent)

    def world():
        made = box_world(sleeping=False)
        made.run(2 * made.dt)
        return made

    def step(made, raise_at):
        lines = 0

        def trace(frame, event, _):
            nonlocal lines
            if not frame.f_code.co_filename.startswith(package):
                return None
            lines += event == "line"
            if event == "line" and lines == raise_at:
                sys.settrace(None)
                raise KeyboardInterrupt
            return trace

        sys.settrace(trace)
        try:
            made.step()
        except KeyboardInterrupt:
            pass
        finally:
            sys.settrace(None)
        return lines

    reference, hashes = world(), {}
    for _ in range(4):
        hashes[reference.step_count] = reference.hash()
        reference.step()
    count = step(world(), 0)
    assert count > 20
    for line in range(1, count + 1):
        made = world()
        step(made, line)
        while made.step_count < 5:
            assert made.hash() == hashes[made.step_count], line
            made.step()
