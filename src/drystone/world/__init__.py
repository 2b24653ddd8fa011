"""What a user builds, edits, runs, reads and saves.

The modules of this folder are one class in several files: they may touch what begins with an
underscore in a World or a Body, and nobody else may.
"""

from importlib import import_module
from typing import Any


def __getattr__(name: str) -> Any:
    if name != "World":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module("drystone.world.world").World
