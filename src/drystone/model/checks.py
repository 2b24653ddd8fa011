"""Input checks: a clean copy of what the user gave, or one clear sentence."""

import difflib
import operator
from itertools import islice
from math import isfinite
from numbers import Integral, Real

import numpy as np

from drystone.errors import InputError

_NO_NUMBERS = (str, bytes, bytearray, complex, np.complexfloating)
_NO_VECTORS = (str, bytes, bytearray, dict, set, frozenset)  # texts, and what has no order
_MOST_LISTED = 10_000_000  # things of a list: one that is made while it is read may never end
_SHOWN = 120  # characters of a value in a sentence: more than a vector or a path has


def shown(value) -> str:
    """`value` as a sentence can hold it: what is long is cut, and no repr() need work.

    That of an integer with more than 4300 digits does not, nor of objects with their own.
    """
    try:
        said = " ".join(repr(value).split())  # arrays have lines
    except Exception:
        said = f"something of type {type(value).__name__}"
    return said if len(said) <= _SHOWN else f"{said[:_SHOWN]}..."


def not_negative(what: str, value) -> float:
    """A finite float, zero or more."""
    x = number(what, value)
    if x < 0.0:
        raise InputError(f"{what} is {x:g}, must be >= 0.")
    return x


def bits(what: str, value) -> int:
    """A set of groups, one for each bit of an integer; -1 means all of them."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise InputError(f"{what} is {shown(value)}, must be an integer whose bits are groups.")
    x = _converted(what, value, operator.index, "an integer whose bits are groups")
    if not -(2**31) <= x < 2**32:
        raise InputError(f"{what} is {shown(x)}, must fit in 32 bits; -1 means all groups.")
    return x


def text(what: str, value) -> str:
    if not isinstance(value, str) or not value:
        raise InputError(f"{what} is {shown(value)}, must be a text.")
    try:
        value.encode()
    except UnicodeEncodeError:  # half of a pair of surrogates: no file can hold it
        raise InputError(f"{what} is {shown(value)}, must be a text in Unicode.") from None
    if "\0" in value:  # HDF5 ends a text there
        raise InputError(f"{what} is {shown(value)}, must be a text without null characters.")
    return value


def choice(what: str, value, known) -> str:
    """One of the names in `known`."""
    if isinstance(value, str) and value in known:
        return value
    raise InputError(f"{what} is {shown(value)}, which is unknown. {did_you_mean(value, known)}")


def did_you_mean(value, known) -> str:
    """A guess at what was meant, or what there is."""
    known = [str(name) for name in known]
    said = value if isinstance(value, str) else shown(value)
    guess = difflib.get_close_matches(said[:_SHOWN], known, n=1)
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
    result = as_float(what, value, f"a number{_in(unit)}")
    if not isfinite(result):
        raise InputError(f"{what} is {result}, must be a finite number{_in(unit)}.")
    return result


def read_number(what: str, word: str) -> float:
    """`word`, of a file, as a finite float."""
    return number(what, _converted(what, word, float, "a number"))


def as_float(what: str, value, must: str) -> float:
    """`value` as a float, which may be NaN or infinite; `must` ends the sentence if it is none."""
    # Python reads texts, and NumPy drops imaginary parts and takes arrays of one number: neither
    # is a number to us.
    if isinstance(value, _NO_NUMBERS) or getattr(value, "ndim", 0):
        raise InputError(f"{what} is {shown(value)}, must be {must}.")
    return _converted(what, value, float, must)


def _converted(what: str, value, convert, must: str):
    """convert(value); whatever is wrong with `value` becomes one sentence.

    Any exception counts: 10**400 is beyond floats (OverflowError), and objects of others may raise
    what they like where they are asked for a number.
    """
    try:
        return convert(value)
    except OverflowError:
        raise InputError(f"{what} is {shown(value)}, beyond what a float can hold.") from None
    except Exception:
        raise InputError(f"{what} is {shown(value)}, must be {must}.") from None


def positive(what: str, value, unit: str = "m", fix: str = "") -> float:
    """`value` as a float above zero; `fix` says what to use instead, if anything."""
    result = number(what, value, unit)
    if not result > 0.0:
        raise InputError(f"{what} is {result:g} {unit}, must be > 0. {fix}".rstrip())
    return result


def integer(what: str, value, least: int | None = None, most: int | None = None) -> int:
    """`value` as an int from `least` to `most`; no text, no fraction, neither True nor False."""
    if isinstance(value, bool | np.bool_) or not _is_integer(value):
        raise InputError(f"{what} is {shown(value)}, must be an integer{_between(least, most)}.")
    result = _converted(what, value, int, f"an integer{_between(least, most)}")
    if (least is not None and result < least) or (most is not None and result > most):
        raise InputError(f"{what} is {shown(result)}, must be an integer{_between(least, most)}.")
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
    raise InputError(f"{what} is {shown(value)}, must be True or False.")


def _is_integer(value) -> bool:
    if isinstance(value, Integral):
        return True
    try:
        return isinstance(value, Real) and float(value).is_integer()
    except Exception:  # a fraction beyond floats
        return False


def _between(least, most) -> str:
    if most is None:
        return "" if least is None else f" >= {least}"
    return f" <= {most}" if least is None else f" from {least} to {most}"


def vector(what: str, value, count: int = 3) -> tuple[float, ...]:
    """`value` as a tuple of `count` finite floats."""
    must = f"{count} numbers"
    if isinstance(value, _NO_VECTORS):
        raise InputError(f"{what} is {shown(value)}, must be {must}.")
    # One more than there may be: what is given may never end.
    given = _converted(what, value, lambda value: list(islice(iter(value), count + 1)), must)
    result = tuple(as_float(what, x, must) for x in given)
    if len(result) != count:
        told = _length(value, len(result))
        raise InputError(f"{what} has {told} numbers, must have {count}: {shown(value)}.")
    if not all(map(isfinite, result)):
        raise InputError(f"{what} is {result}, all its numbers must be finite.")
    return result


def _length(value, at_least: int) -> str:
    try:
        return str(len(value))
    except Exception:
        return str(at_least)


def float_array(what: str, value, must: str = "numbers") -> np.ndarray:
    """`value` as a fresh array of float64, of any shape; NaN and infinities are still in it."""
    if isinstance(value, _NO_VECTORS):
        raise InputError(f"{what} is {shown(value)}, must be {must}.")
    array = _converted(what, value, lambda value: np.array(value, order="C"), must)
    if array.dtype.kind not in "biufO":
        raise InputError(f"{what} holds {array.dtype}, must be {must}.")
    return _converted(what, array, lambda array: array.astype(np.float64, copy=False), must)


def planar(what: str, value) -> tuple[float, float, float]:
    """`value`, (x, z) or (x, 0, z), as (x, 0.0, z)."""
    count = _converted(what, value, len, "(x, z)")
    if count == 2:
        x, z = vector(what, value, 2)
        return x, 0.0, z
    x, y, z = vector(what, value)
    if y != 0.0:
        raise InputError(f"{what} is {(x, y, z)}, must be (x, z), or (x, 0, z), with dim=2.")
    return x, 0.0, z


def point_array(what: str, value, least: int) -> np.ndarray:
    """`value` as a fresh (n, 3) array of finite floats with n >= least."""
    points = float_array(what, value, "an array of numbers of shape (n, 3)")
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


def index_rows(what: str, value, count: int, width: int = 3) -> np.ndarray:
    """`value` as a fresh (m, width) array of int64, all of them rows of a table of `count`."""
    must = f"an array of integers of shape (m, {width})"
    array = _converted(what, value, lambda value: np.array(value, order="C"), must)
    if array.dtype.kind not in "iu":
        raise InputError(f"{what} is {shown(value)}, must be {must}.")
    if array.ndim != 2 or array.shape[1] != width or not len(array):
        raise InputError(f"{what} has shape {array.shape}, must be (m, {width}), m > 0.")
    bad = np.flatnonzero(((array < 0) | (array >= count)).any(axis=1))
    if len(bad):
        raise InputError(
            f"{what}: row {bad[0]} is {array[bad[0]].tolist()}, but there are only {count}, "
            f"from 0 ({len(bad)} such rows)."
        )
    return array.astype(np.int64)


def of_kind(what: str, value, kind, must: str):
    """`value`, if it is an instance of `kind`."""
    if not isinstance(value, kind):
        raise InputError(f"{what} is {shown(value)}, must be {must}.")
    return value


def things(what: str, value, kind: type) -> tuple:
    """A list or tuple of things of this kind, as a tuple."""
    if not isinstance(value, list | tuple) or not all(isinstance(each, kind) for each in value):
        raise InputError(f"{what} is {shown(value)}, must be a list of {kind.__name__}.")
    return tuple(value)


def listed(what: str, value, must: str = "a list") -> list:
    """What is in `value`, in its order."""
    if isinstance(value, _NO_VECTORS):
        raise InputError(f"{what} is {shown(value)}, must be {must}.")
    result = _converted(what, value, lambda value: list(islice(iter(value), _MOST_LISTED)), must)
    if len(result) == _MOST_LISTED:
        raise InputError(f"{what} is {shown(value)}, which has {_MOST_LISTED} things or more.")
    return result


def function(what: str, value):
    """`value`, if it can be called, or None."""
    if value is not None and not callable(value):
        raise InputError(f"{what} is {shown(value)}, must be a function, or None.")
    return value


def existing_rows(what: str, value, count: int) -> np.ndarray:
    """`value`, from a file, as an array of int64, all of them rows of a table of `count`."""
    array = np.asarray(value)
    if array.dtype.kind != "i" or not array.size or array.min() < 0 or array.max() >= count:
        raise InputError(f"{what}: a corner does not exist.")
    return array.astype(np.int64)


def _in(unit: str) -> str:
    return f" in {unit}" if unit else ""
