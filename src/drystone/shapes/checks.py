"""Checks of numbers and arrays that a person handed in: a clean copy, or one clear sentence."""

from math import isfinite
from numbers import Integral, Real

import numpy as np

from drystone.errors import InputError


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


def whole(what: str, value, least: int | None = None, most: int | None = None) -> int:
    """`value` as an int from `least` to `most`; no text, no fraction, neither True nor False."""
    if isinstance(value, bool | np.bool_) or not _is_whole(value):
        raise InputError(f"{what} is {value!r}, must be a whole number{_between(least, most)}.")
    result = int(value)
    if (least is not None and result < least) or (most is not None and result > most):
        raise InputError(f"{what} is {result}, must be a whole number{_between(least, most)}.")
    return result


def within(what: str, value, least: float | None = None, most: float | None = None) -> float:
    """`value` as a finite float from `least` to `most`."""
    result = number(what, value)
    if (least is not None and result < least) or (most is not None and result > most):
        raise InputError(f"{what} is {result:g}, must be a number{_between(least, most)}.")
    return result


def flag(what: str, value) -> bool:
    """`value` as a bool: True, False, or the numbers 1 and 0; no text, however it reads."""
    if isinstance(value, bool | np.bool_) or (_is_whole(value) and value in (0, 1)):
        return bool(value)
    raise InputError(f"{what} is {value!r}, must be True or False.")


def _is_whole(value) -> bool:
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


def _in(unit: str) -> str:
    return f" in {unit}" if unit else ""
