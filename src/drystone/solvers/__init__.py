"""Contact solvers by name. To add one: write its file, add its line here, run the tests."""

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


def __getattr__(name: str) -> Any:
    if name == "SOLVERS":
        return globals().setdefault(name, {key: _find(place) for key, place in _HOME.items()})
    for place in _HOME.values():
        if place.endswith(f".{name}"):
            return _find(place)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def solver_names() -> tuple[str, ...]:
    return tuple(globals().get("SOLVERS", _HOME))


def find_solver(name: str) -> type[Any]:
    """The class of that name, without those of all others."""
    known = globals().get("SOLVERS")
    return known[name] if known else _find(_HOME[name])


def _find(place: str) -> type[Any]:
    module, _, name = place.rpartition(".")
    return public(getattr(import_module(f"{__name__}.{module}"), name))
