"""Consoles of the command line, and how errors that a user caused are shown.

Talk and progress go to stderr, results to stdout; wrong input exits with 2.
"""

import functools
import os
import sys
from contextlib import contextmanager, suppress

import typer
from rich.console import Console

from drystone.errors import DrystoneError
from drystone.model.files import reason

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
            result = command(*args, **kwargs)
            if sys.stdout is not None:  # closed by who began it
                sys.stdout.flush()  # here a full disk can still be said
            return result
        except (BrokenPipeError, DrystoneError, OSError) as error:
            if Debug.on or isinstance(error, BrokenPipeError):  # who reads knows that he left
                raise
            _drop_results()
            screen.print(f"error: {_sentence(error)}", style="red", markup=False, soft_wrap=True)
            raise typer.Exit(2) from None

    return wrapper


def _sentence(error: Exception) -> str:
    """What no part of the program said better: mostly a file that cannot be written."""
    if isinstance(error, DrystoneError):
        return str(error)
    where = getattr(error, "filename", None) or "what is written"
    return f"{where}: {reason(error)}."


def _drop_results() -> None:
    """If the results cannot be written, let Python not try again when it ends."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError:
        with suppress(OSError):
            sink = os.open(os.devnull, os.O_WRONLY)
            os.dup2(sink, sys.stdout.fileno())
            os.close(sink)


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
