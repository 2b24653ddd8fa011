"""Input checks: a clean copy of what the user gave, or one clear sentence."""

import difflib
from math import isfinite
from numbers import Integral, Real

import numpy as np

from drystone.errors import InputError


def not_negative(what: str, value) -> float:
    """A finite float, zero or more."""
    x = number(what, value)
    if x < 0.0:
        raise InputError(f"{what} is {x:g}, must be >= 0.")
    return x


def bits(what: str, value) -> int:
    """A set of groups, one for each bit of an integer; -1 means all of them."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise InputError(f"{what} is {value!r}, must be an integer whose bits are groups.")
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


def frozen(values) -> np.ndarray:
    """An array that cannot be written to: `body.position[2] = 1` would change only a copy."""
    array = np.array(values)
    array.flags.writeable = False
    return array


def check_spring(owner, who: str) -> None:
    """Stiffness and damping of a frozen `owner`: not negative, and not both zero."""
    for field in ("stiffness", "damping"):
        value = not_negative(f"{who}: {field}", getattr(owner, field))
        object.__setattr__(owner, field, value)
    if owner.stiffness + owner.damping == 0.0:
        raise InputError(f"{who}: stiffness and damping are both 0, one must be > 0.")


def number(what: str, value, unit: str = "") -> float:
    """`value` as a finite float; `what` begins the sentence if it is not one."""
    try:
        result = float(value)
    except (TypeError, ValueError):
        raise InputError(f"{what} is {value!r}, must be a number{_in(unit)}.") from None
    if not isfinite(result):
        raise InputError(f"{what} is {result}, must be a finite number{_in(unit)}.")
    return result


def positive(what: str, value, unit: str = "m", fix: str = "") -> float:
    """`value` as a float above zero; `fix` says what to use instead, if anything."""
    result = number(what, value, unit)
    if not result > 0.0:
        raise InputError(f"{what} is {result:g} {unit}, must be > 0. {fix}".rstrip())
    return result


def integer(what: str, value, least: int | None = None, most: int | None = None) -> int:
    """`value` as an int from `least` to `most`; no text, no fraction, neither True nor False."""
    if isinstance(value, bool | np.bool_) or not _is_integer(value):
        raise InputError(f"{what} is {value!r}, must be an integer{_between(least, most)}.")
    result = int(value)
    if (least is not None and result < least) or (most is not None and result > most):
        raise InputError(f"{what} is {result}, must be an integer{_between(least, most)}.")
    return result


def within(what: str, value, least: float | None = None, most: float | None = None) -> float:
    """`value` as a finite float from `least` to `most`."""
    result = number(what, value)
    if (least is not None and result < least) or (most is not None and result > most):
        raise InputError(f"{what} is {result:g}, must be a number{_between(least, most)}.")
    return result


def flag(what: str, value) -> bool:
    """`value` as a bool: True, False, or the numbers 1 and 0; no text, however it reads."""
    if isinstance(value, bool | np.bool_) or (_is_integer(value) and value in (0, 1)):
        return bool(value)
    raise InputError(f"{what} is {value!r}, must be True or False.")


def _is_integer(value) -> bool:
    return isinstance(value, Integral) or (isinstance(value, Real) and float(value).is_integer())


def _between(least, most) -> str:
    if most is None:
        return "" if least is None else f" >= {least}"
    return f" <= {most}" if least is None else f" from {least} to {most}"


def vector(what: str, value, count: int = 3) -> tuple[float, ...]:
    """`value` as a tuple of `count` finite floats."""
    try:
        result = tuple(float(x) for x in value)
    except (TypeError, ValueError):
        raise InputError(f"{what} is {value!r}, must be {count} numbers.") from None
    if len(result) != count:
        raise InputError(f"{what} has {len(result)} numbers, must have {count}: {value!r}.")
    if not all(map(isfinite, result)):
        raise InputError(f"{what} is {result}, all its numbers must be finite.")
    return result


def planar(what: str, value) -> tuple[float, float, float]:
    """`value`, (x, z) or (x, 0, z), as (x, 0.0, z)."""
    try:
        count = len(value)
    except TypeError:
        raise InputError(f"{what} is {value!r}, must be (x, z).") from None
    if count == 2:
        x, z = vector(what, value, 2)
        return x, 0.0, z
    x, y, z = vector(what, value)
    if y != 0.0:
        raise InputError(f"{what} is {(x, y, z)}, must be (x, z), or (x, 0, z), with dim=2.")
    return x, 0.0, z


def point_array(what: str, value, least: int) -> np.ndarray:
    """`value` as a fresh (n, 3) array of finite floats with n >= least."""
    try:
        points = np.array(value, dtype=np.float64, order="C")
    except (TypeError, ValueError):
        raise InputError(f"{what}: must be an array of numbers of shape (n, 3).") from None
    if points.ndim != 2 or points.shape[1] != 3:
        raise InputError(f"{what}: array has shape {points.shape}, must be (n, 3): x, y, z a row.")
    if len(points) < least:
        raise InputError(f"{what}: only {len(points)} given, at least {least} are needed.")
    bad = np.flatnonzero(~np.isfinite(points).all(axis=1))
    if len(bad):
        raise InputError(
            f"{what}: row {bad[0]} is {points[bad[0]].tolist()}, not finite "
            f"({len(bad)} such rows). Remove or repair them."
        )
    return points


def existing_rows(what: str, value, count: int) -> np.ndarray:
    """`value`, from a file, as an array of int64, all of them rows of a table of `count`."""
    array = np.asarray(value)
    if array.dtype.kind != "i" or not array.size or array.min() < 0 or array.max() >= count:
        raise InputError(f"{what}: a corner does not exist.")
    return array.astype(np.int64)


def _in(unit: str) -> str:
    return f" in {unit}" if unit else ""
