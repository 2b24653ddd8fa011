"""Rockfall on triangle-mesh slopes: rigid rocks, hard contact, after ROCFALL."""

from importlib import import_module

# Fetched when they are first used: GDAL and Numba take a second to import.
_HOME = {
    "Barriers": "engine.barriers",
    "Options": "engine.options",
    "Results": "results.results",
    "Rock": "engine.rock",
    "Scene": "engine.roll",
    "Slope": "terrain.slope",
    "Start": "engine.roll",
    "Study": "study.study",
    "Trajectory": "engine.records",
    "check_study": "study.check",
    "new_study": "study.valley",
    "report_study": "report.html",
    "roll_lumped": "engine.lumped_mass",
    "roll_many": "engine.roll",
    "run_study": "run.montecarlo",
}
__all__ = sorted(_HOME)


def __getattr__(name: str):
    if name not in _HOME:
        raise AttributeError(f"module 'drystone.rockfall' has no attribute {name!r}")
    return getattr(import_module(f"drystone.rockfall.{_HOME[name]}"), name)
