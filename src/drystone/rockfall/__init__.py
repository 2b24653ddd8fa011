"""Rockfall on triangle-mesh slopes: rigid rocks, hard contact, after ROCFALL."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # the same names, for type checkers and editors
    from drystone.rockfall.engine.barriers import Barriers as Barriers
    from drystone.rockfall.engine.forest_drag import build_forest as build_forest
    from drystone.rockfall.engine.lumped_mass import roll_lumped as roll_lumped
    from drystone.rockfall.engine.options import Options as Options
    from drystone.rockfall.engine.records import Trajectory as Trajectory
    from drystone.rockfall.engine.rock import Rock as Rock
    from drystone.rockfall.engine.roll import Scene as Scene
    from drystone.rockfall.engine.roll import Start as Start
    from drystone.rockfall.engine.roll import roll_many as roll_many
    from drystone.rockfall.fit.fit import fit_study as fit_study
    from drystone.rockfall.report.html import report_study as report_study
    from drystone.rockfall.report.view import write_view as write_view
    from drystone.rockfall.results.energy_line import energy_line_velocity as energy_line_velocity
    from drystone.rockfall.results.results import Results as Results
    from drystone.rockfall.run.montecarlo import run_study as run_study
    from drystone.rockfall.run.sweep import sweep_study as sweep_study
    from drystone.rockfall.study.barrier_design import DesignFactors as DesignFactors
    from drystone.rockfall.study.barrier_design import design_values as design_values
    from drystone.rockfall.study.barrier_design import verify_barrier as verify_barrier
    from drystone.rockfall.study.check import check_study as check_study
    from drystone.rockfall.study.study import Study as Study
    from drystone.rockfall.study.valley import new_study as new_study
    from drystone.rockfall.terrain.materials import build_surface as build_surface
    from drystone.rockfall.terrain.materials import uniform_surface as uniform_surface
    from drystone.rockfall.terrain.slope import Slope as Slope

# Fetched when they are first used: GDAL and Numba take a second to import.
_HOME = {
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
    "fit_study": "fit.fit",
    "new_study": "study.valley",
    "report_study": "report.html",
    "roll_lumped": "engine.lumped_mass",
    "roll_many": "engine.roll",
    "run_study": "run.montecarlo",
    "sweep_study": "run.sweep",
    "uniform_surface": "terrain.materials",
    "verify_barrier": "study.barrier_design",
    "write_view": "report.view",
}
__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'drystone.rockfall' has no attribute {name!r}")
    return getattr(import_module(f"drystone.rockfall.{_HOME[name]}"), name)
