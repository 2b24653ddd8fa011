"""Rockfall on triangle-mesh slopes: rigid rocks, hard contact, after ROCFALL."""

from importlib import import_module

# Fetched when they are first used: GDAL and Numba take a second to import.
_HOME = {
    "Barriers": "barriers",
    "Options": "options",
    "Results": "results",
    "Rock": "rock",
    "Scene": "roll",
    "Slope": "slope",
    "Start": "roll",
    "Study": "study",
    "Trajectory": "records",
    "check_study": "check",
    "new_study": "valley",
    "report_study": "report",
    "roll_lumped": "lumped",
    "roll_many": "roll",
    "run_study": "montecarlo",
}
__all__ = sorted(_HOME)


def __getattr__(name: str):
    if name not in _HOME:
        raise AttributeError(f"module 'drystone.rockfall' has no attribute {name!r}")
    return getattr(import_module(f"drystone.rockfall.{_HOME[name]}"), name)
