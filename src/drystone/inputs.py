"""Checks of names and bits that a person hands in; those of numbers are in shapes/checks.py."""

import difflib

from drystone.errors import InputError
from drystone.shapes.checks import number


def not_negative(what: str, value) -> float:
    """A finite float, zero or more."""
    x = number(what, value)
    if x < 0.0:
        raise InputError(f"{what} is {x:g}, must be >= 0.")
    return x


def bits(what: str, value) -> int:
    """A set of groups, one for each bit of a whole number; -1 means all of them."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise InputError(f"{what} is {value!r}, must be a whole number whose bits are groups.")
    x = value.__index__()
    if not -(2**31) <= x < 2**32:
        raise InputError(f"{what} is {x}, must fit in 32 bits; -1 means all groups.")
    return x


def text(what: str, value) -> str:
    if not isinstance(value, str) or not value:
        raise InputError(f"{what} is {value!r}, must be a text.")
    return value


def choice(what: str, value, known) -> str:
    """One of the names in `known`."""
    if isinstance(value, str) and value in known:
        return value
    raise InputError(f"{what} is {value!r}, which is unknown. {did_you_mean(value, known)}")


def did_you_mean(value, known) -> str:
    """A guess at what was meant, or what there is."""
    known = [str(name) for name in known]
    guess = difflib.get_close_matches(str(value), known, n=1)
    if guess:
        return f"Did you mean {guess[0]!r}?"
    if not known:
        return "There are none."
    more = ", ..." if len(known) > 20 else ""
    return f"Known: {', '.join(known[:20])}{more}."
