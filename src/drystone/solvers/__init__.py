"""Contact solvers by name. To add one: write its file, add its line here, run the tests.

Beside them stand the methods that find forces and solve no contact problem (FORCE_METHODS).
"""

from importlib import import_module
from typing import Any

from drystone.model.signatures import public

SOLVERS: dict[str, type[Any]]

# Where the class of each solver is. They are imported, and SOLVERS, {name: class}, is made of them,
# when they are first asked for: the step needs other files of this folder, but neither Lemke nor
# SuperLU.
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
# Methods that find contact forces from how deep bodies overlap: for World(solver=...) alone.
FORCE_METHODS = {"penalty": "penalty.options.Penalty"}


def __getattr__(name: str) -> Any:
    if name == "SOLVERS":
        return globals().setdefault(name, {key: _find(place) for key, place in _HOME.items()})
    for place in (*_HOME.values(), *FORCE_METHODS.values()):
        if place.endswith(f".{name}"):
            return _find(place)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def solver_names() -> tuple[str, ...]:
    return tuple(globals().get("SOLVERS", _HOME))


def find_solver(name: str) -> type[Any]:
    """The class of that name, without those of all others."""
    if name in FORCE_METHODS:
        return _find(FORCE_METHODS[name])
    known = globals().get("SOLVERS")
    return known[name] if known else _find(_HOME[name])


def _find(place: str) -> type[Any]:
    module, _, name = place.rpartition(".")
    return public(getattr(import_module(f"{__name__}.{module}"), name))
