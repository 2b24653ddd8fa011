"""What all commands share: two screens, and how an error that a user caused is told.

Talk and progress go to stderr, results to stdout; wrong input exits with 2.
"""

import functools

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
