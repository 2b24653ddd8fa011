"""Contact solvers by name. To add one: write its file, add its line here, run the tests."""

from importlib import import_module
from typing import Any

SOLVERS: dict[str, type[Any]]

# Where the class of each solver is. SOLVERS, {name: class}, is made of it when it is first asked
# for: the compiled step needs the kernels in this folder, but neither Lemke nor SuperLU.
_HOME = {
    "auto": "auto.Auto",
    "nsgs": "nsgs.Nsgs",
    "prox-newton": "prox_newton.ProxNewton",
    "prox": "prox.Prox",
    "pgs": "pgs.Pgs",
    "pgs-sm": "pgs_sm.PgsSm",
    "fischer-newton": "fischer_newton.FischerNewton",
    "lemke": "lemke.Lemke",
    "ffd": "ffd.solver.Ffd",
}


def __getattr__(name: str) -> Any:
    if name != "SOLVERS":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    solvers = {}
    for solver, place in _HOME.items():
        module, _, cls = place.rpartition(".")
        solvers[solver] = getattr(import_module(f"{__name__}.{module}"), cls)
    return globals().setdefault("SOLVERS", solvers)
