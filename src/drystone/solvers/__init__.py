"""Contact solvers by name. To add one: write its file, add its line here, run the tests.

Beside them stand the methods that find forces and solve no contact problem (FORCE_METHODS).
"""

from importlib import import_module
from typing import Any, NamedTuple

from drystone.model.signatures import public

SOLVERS: dict[str, type[Any]]

# What a problem may ask of a solver.
MEANING = {
    "joints": "joints",
    "limits": "limits of joints",
    "restitution": "restitution",
    "elliptic": "elliptic friction",
    "rolling": "rolling and spinning friction",
    "surfaces": "surfaces that move on their bodies",
    "2d": "two-dimensional problems",
    "matrix": "problems given by their matrix alone",
}
FEATURES = tuple(MEANING)


class Listed(NamedTuple):
    """A solver as `drystone solvers` lists it; that needs no kernels, so it does not import it."""

    place: str  # module and class
    law: str  # what it solves, unless its options say otherwise
    supports: frozenset[str]  # as its class says, which is what counts; a test compares them


def _listed(place: str, law: str, supports: str) -> Listed:
    return Listed(place, law, frozenset(supports.split()))


# Where the class of each solver is. They are imported, and SOLVERS, {name: class}, is made of them,
# when they are first asked for: the step needs other files of this folder, but neither Lemke nor
# SuperLU.
_MOST = "restitution surfaces 2d matrix"
LISTED = {
    "auto": _listed("auto.Auto", "coulomb", f"joints limits rolling {_MOST}"),
    "nsgs": _listed("nsgs.Nsgs", "coulomb", f"joints limits rolling {_MOST}"),
    "prox-newton": _listed("prox_newton.ProxNewton", "coulomb", f"joints limits {_MOST}"),
    "prox": _listed("prox.Prox", "coulomb", f"elliptic {_MOST}"),
    "pgs": _listed("pgs.Pgs", "pyramid", _MOST),
    "pgs-sm": _listed("pgs_sm.PgsSm", "pyramid", _MOST),
    "fischer-newton": _listed("fischer_newton.FischerNewton", "pyramid", _MOST),
    "lemke": _listed("lemke.Lemke", "polyhedral", _MOST),
    "ffd": _listed("ffd.solver.Ffd", "feasible", "restitution elliptic 2d"),
}
_HOME = {name: listed.place for name, listed in LISTED.items()}
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
