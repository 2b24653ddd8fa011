"""Consoles of the command line, and how errors that a user caused are shown.

Talk and progress go to stderr, results to stdout; wrong input exits with 2.
"""

import functools
from contextlib import contextmanager

import typer
from rich.console import Console

from drystone.errors import DrystoneError

screen = Console(stderr=True, highlight=False)
results = Console(highlight=False)


class Debug:
    """Whether errors are shown with their traceback; set by --debug."""

    on = False


def plainly(command):
    """Turn errors that a user can cause into one sentence and exit code 2."""

    @functools.wraps(command)
    def wrapper(*args, **kwargs):
        try:
            return command(*args, **kwargs)
        except DrystoneError as error:
            if Debug.on:
                raise
            screen.print(f"error: {error}", style="red", markup=False, soft_wrap=True)
            raise typer.Exit(2) from None

    return wrapper


@contextmanager
def compiling(screen):
    """Say so while the engine is compiled, which happens once after an installation."""
    from drystone.steppers.precompile import is_compiled, log  # Numba: --help does not wait for it

    if is_compiled():
        yield
        return
    from numba.core import event

    class Listener(event.Listener):
        count = 0

        def on_start(self, entry):
            self.count += 1
            status.update(f"Compiling the engine, once only: {self.count} functions so far ...")

        def on_end(self, entry):
            pass

    screen.print("Compiling the engine for the first time; this takes a minute or two.")
    log.disabled = True  # it would say the same again
    try:
        with (
            screen.status("Compiling the engine ...") as status,
            event.install_listener("numba:compile", Listener()),
        ):
            yield
    finally:
        log.disabled = False
