"""Many steps in a row: blocks of compiled steps, a progress bar, and Ctrl-C between steps."""

import signal
import threading
from contextlib import contextmanager, nullcontext
from functools import partial
from time import perf_counter
from warnings import warn

from drystone.errors import NotConvergedWarning, SimulationError

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
    from drystone.checkpoint import rescue
    from drystone.measure import contact_name

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
    from drystone.measure import worst_contact

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
