"""Many steps in a row: blocks of compiled steps, a progress bar, and Ctrl-C between steps."""

import signal
import threading
from collections.abc import Callable
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from time import perf_counter
from warnings import warn

from drystone.errors import NotConvergedWarning, SimulationError
from drystone.steppers import time_stepping

# A block of steps runs without a look at the keyboard; this long is not felt [s].
BLOCK_SECONDS = 0.15


def run_world(world, seconds: float, progress: bool, callback) -> None:
    """Advance `world` by round(seconds / dt) steps."""
    count = round(seconds / world.dt)
    with _interrupt_flag() as interrupted, _bar(world, count, progress) as show:
        _run_blocks(world, count, callback, interrupted, show)


def _run_blocks(world, count, callback, interrupted, show):
    # With a callback, or if a bad solve must stop the run, every step is looked at.
    singly = callback is not None or world.on_nonconverged == "raise"
    done, block = 0, 1
    while done < count:
        start = perf_counter()
        asked = 1 if singly else min(block, count - done)
        report = world._advance(asked)
        done += report.done
        elapsed = perf_counter() - start
        if report.done == asked:  # a recording may have cut the block short
            # The first block may contain compiling, so growth is gradual both ways.
            block = max(1, int(asked * min(max(BLOCK_SECONDS / (elapsed + 1e-9), 0.1), 8.0)))
        show(done, report)
        if interrupted():
            raise KeyboardInterrupt
        if callback is not None and callback(world):
            return


def fail(world, report):
    """Raise what a non-finite number in a step deserves, after saving the last good step."""
    from drystone.world.io.checkpoint import rescue
    from drystone.world.observables import contact_name

    who = world.bodies[report.failed_body].name if report.failed_body >= 0 else "a body"
    row = report.failed_contact
    contact = f", {contact_name(world, row)}" if row >= 0 else ", no contact"
    step = world.step_count + 1
    raise SimulationError(
        f"{who}: its motion is no longer a finite number in step {step} "
        f"(t = {step * world.dt:g} s{contact}). The world stands at the last good step, "
        f"{step - 1}. {rescue(world)}"
    )


def complain(world, report):
    """Warn or raise, as the world wants it, about solves that stopped short."""
    from drystone.world.observables import worst_contact

    message = (
        f"the contact solve did not converge in {report.nonconverged} of {report.done} steps "
        f"up to step {world.step_count}: residual {report.worst_residual:.2g} m/s, tolerance "
        f"{world.settings.tolerance:.2g} m/s, in the last step worst at {worst_contact(world)}."
    )
    if world.on_nonconverged == "raise":
        raise SimulationError(f"{message} Allow more sweeps, a larger tolerance or a smaller dt.")
    warn(message, NotConvergedWarning, stacklevel=4)


@contextmanager
def _interrupt_flag():
    """While inside, Ctrl-C sets a flag; an exception amid a step would tear the arrays apart."""
    usual = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if not usual or threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return
    pressed = []
    signal.signal(signal.SIGINT, lambda *_: pressed.append(True))
    try:
        yield lambda: bool(pressed)
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _bar(world, count, progress):
    return _world_bar(world, count) if progress else nullcontext(lambda done, report: None)


@contextmanager
def _world_bar(world, count):
    from rich.console import Console

    with progress_bar(Console(stderr=True), count, world.time) as update:
        start = perf_counter()

        def show(done, report):
            pace = 1e3 * (perf_counter() - start) / max(done, 1)
            update(completed=done, time=world.time, contacts=report.contacts, pace=pace)

        yield show


@contextmanager
def progress_bar(screen, steps: int, time: float = 0.0):
    """A bar of steps; yields update(completed=, time= [s], contacts=, pace= [ms/step])."""
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("t = {task.fields[time]:.3f} s"),
        BarColumn(),
        TextColumn("{task.completed:.0f}/{task.total:.0f} steps"),
        TextColumn("{task.fields[contacts]} contacts"),
        TextColumn("{task.fields[pace]:.3f} ms/step"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=screen) as bar:
        yield partial(bar.update, bar.add_task("", total=steps, time=time, contacts=0, pace=0.0))


def stage_seconds(world) -> dict[str, float]:
    """How long each stage of the steps of `world` took, all of them together [s]."""
    world.state  # noqa: B018  makes the arrays if there are none yet
    return time_stepping.stage_seconds(world._work)


@dataclass
class Watch:
    """What the steps of a world amounted to, so far."""

    world: object
    steps: int = 0
    timed_steps: int = 0  # those that count for the pace
    seconds: float = 0.0  # that they took, on the clock of the wall
    before: dict = field(default_factory=dict)  # seconds of each stage that do not count
    nonconverged: int = 0  # steps whose solve stopped above the tolerance
    worst_residual: float = 0.0  # [m/s]
    worst_penetration: float = 0.0  # deepest overlap at the start of any step [m]
    sweeps: int = 0
    block_ms: list = field(default_factory=list)  # ms per step of every block
    residuals: list = field(default_factory=list)  # of the last step of every block [m/s]
    contacts: list = field(default_factory=list)  # likewise

    def advance(self, count: int, timed: bool = True):
        """Run `count` steps in one go and take note; untimed ones may compile."""
        start = perf_counter()
        report = self.world._advance(count)
        elapsed = perf_counter() - start
        self.steps += report.done
        if timed:
            self.timed_steps += report.done
            self.seconds += elapsed
            self.block_ms.append(1e3 * elapsed / max(report.done, 1))
        else:
            self.before = stage_seconds(self.world)
        self.nonconverged += report.nonconverged
        self.worst_residual = max(self.worst_residual, report.worst_residual)
        self.worst_penetration = max(self.worst_penetration, report.worst_penetration)
        self.sweeps += report.sweeps
        self.residuals.append(report.info.residual)
        self.contacts.append(report.info.contacts)
        return report

    def run(self, steps: int, show: Callable[["Watch"], None]) -> None:
        """Run `steps` steps, calling `show` several times a second; Ctrl-C stops between blocks."""
        end, block = self.steps + steps, 1
        with _interrupt_flag() as interrupted:
            while self.steps < end:
                asked = min(block, end - self.steps)
                report = self.advance(asked)
                if report.done == asked:  # a recording may have cut the block short
                    pace = max(self.block_ms[-1], 1e-6) * 1e-3
                    block = max(1, min(int(BLOCK_SECONDS / pace), 8 * asked))
                show(self)
                if interrupted():
                    raise KeyboardInterrupt

    @property
    def stages_ms(self) -> dict[str, float]:
        """Milliseconds of each stage in a step, of those steps that count for the pace."""
        return {
            stage: 1e3 * (seconds - self.before.get(stage, 0.0)) / max(self.timed_steps, 1)
            for stage, seconds in stage_seconds(self.world).items()
        }

    @property
    def ms_per_step(self) -> float:
        return 1e3 * self.seconds / max(self.timed_steps, 1)
