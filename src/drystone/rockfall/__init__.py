"""Rockfall on triangle-mesh slopes: rigid rocks, hard contact, after ROCFALL."""

from importlib import import_module

# Fetched when they are first used: GDAL and Numba take a second to import.
_HOME = {
    "SOILS": "terrain.soils",
    "Barriers": "engine.barriers",
    "DesignFactors": "study.barrier_design",
    "Options": "engine.options",
    "Results": "results.results",
    "Rock": "engine.rock",
    "Scene": "engine.roll",
    "Slope": "terrain.slope",
    "Start": "engine.roll",
    "Study": "study.study",
    "Trajectory": "engine.records",
    "build_forest": "engine.forest_drag",
    "build_surface": "terrain.materials",
    "check_study": "study.check",
    "design_values": "study.barrier_design",
    "energy_line_velocity": "results.energy_line",
    "new_study": "study.valley",
    "report_study": "report.html",
    "roll": "engine.roll",
    "roll_lumped": "engine.lumped_mass",
    "roll_many": "engine.roll",
    "run_study": "run.montecarlo",
    "uniform_surface": "terrain.materials",
    "verify_barrier": "study.barrier_design",
}
__all__ = sorted(_HOME)


def __getattr__(name: str):
    if name not in _HOME:
        raise AttributeError(f"module 'drystone.rockfall' has no attribute {name!r}")
    return getattr(import_module(f"drystone.rockfall.{_HOME[name]}"), name)
