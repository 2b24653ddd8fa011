"""Options of solvers: checked before they start."""

from dataclasses import fields

from drystone.errors import InputError, UnsupportedFeature
from drystone.model.checks import choice, flag, integer, not_negative

MEASURES = ("velocity", "relative")
# Integers are 1 or more, up to what compiled code counts with, except for these: 0 of a limit
# means as many as usual, and no rounds of pgs-sm leave its sweeps.
LEAST = {"max_sweeps": 0, "max_pivots": 0, "rounds": 0, "tangents": 3, "facets": 4}
MOST = 2**31 - 1


def check_options(solver, name: str) -> None:
    """Every option of a solver as the kind it is declared to be, or InputError.

    An integer becomes a float where one is declared: compiled code has a version for each kind.
    """
    for option in fields(solver):
        what, value = f"{name}: {option.name}", getattr(solver, option.name)
        if option.type is bool:
            value = flag(what, value)
        elif option.type is int:
            value = integer(what, value, LEAST.get(option.name, 1), MOST)
        elif option.type is float:
            value = not_negative(what, value)
        elif option.name == "measure":
            value = choice(what, value, MEASURES)
        object.__setattr__(solver, option.name, value)


def check_relaxation(name: str, value: float) -> None:
    if not 0.0 < value < 2.0:
        raise InputError(f"{name}: relaxation is {value:g}, must be between 0 and 2 to converge.")


def refuse_elliptic(problem, name: str) -> None:
    """For solvers that know one friction coefficient per contact: no ellipse, no wrong answer."""
    if problem.friction_2 is not None:
        raise UnsupportedFeature(
            f"solver {name!r} knows friction that is the same in all directions; this problem has "
            f"elliptic friction (friction_2). Use solver 'prox'."
        )
