"""Packages of the `rockfall` extra, loaded where they are used."""

from importlib import import_module

from drystone.errors import DrystoneError


def load(module: str, what: str):
    """The module of that name; `what` says what cannot be done without it."""
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        if getattr(error, "name", None) != package:  # it is there, and does not work
            raise DrystoneError(
                f"{what} needs {package}, which cannot be imported: {error}."
            ) from error
        raise DrystoneError(
            f"{what} needs {package}. Install it with: pip install 'drystone[rockfall]'"
        ) from None
