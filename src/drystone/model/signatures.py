"""Calls that do not fit: a misspelt, missing or surplus argument becomes one clear sentence.

Python raises a bare TypeError. `public` wraps a function, or what is public of a class, and turns
such an error of the call itself into an ArgumentError; one from inside passes as it is. A call that
fits costs 0.1 us more. Signatures, docstrings and hints stay visible.
"""

import inspect
import sys
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from drystone.errors import ArgumentError
from drystone.model.checks import did_you_mean, shown

Thing = TypeVar("Thing")
_PACKAGE = __name__.partition(".")[0] + "."


def public(thing: Thing) -> Thing:
    """`thing`, a function or a class (changed in place), so that wrong calls get a sentence."""
    if not isinstance(thing, type):
        return _wrapped(thing)
    # What takes the arguments of thing(...), perhaps inherited.
    maker = "__new__" if issubclass(thing, tuple) else "__init__"
    made = getattr(thing, maker)
    if inspect.isfunction(made):
        made = _wrapped(made, thing.__name__)
        setattr(thing, maker, staticmethod(made) if maker == "__new__" else made)
    for name in dir(thing):  # also what it inherits: World is one class in several files
        member = inspect.getattr_static(thing, name)
        if name.startswith("_"):
            continue
        if isinstance(member, staticmethod | classmethod):
            setattr(thing, name, type(member)(_wrapped(member.__func__)))
        elif inspect.isfunction(member) and not hasattr(member, "is_public"):
            setattr(thing, name, _wrapped(member, f"{thing.__name__}.{name}"))
    return thing


def level_of_caller() -> int:
    """The stacklevel with which warn() points at who called into the package, however deep."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(_PACKAGE):
        frame, level = frame.f_back, level + 1
    return level


def _wrapped(function: Any, name: str = "") -> Any:
    """`function`, which is called `name` in sentences; left as it is if it was wrapped before."""
    if hasattr(function, "is_public"):
        return function
    name = name or function.__qualname__

    @wraps(function)
    def call(*args, **keywords):
        try:
            return function(*args, **keywords)
        except TypeError as error:
            # The traceback ends here if the arguments did not fit, so that nothing was called.
            if error.__traceback__.tb_next is not None:
                raise
            raise ArgumentError(_complaint(name, function, args, keywords, error)) from None

    call.is_public = True  # type: ignore[attr-defined]
    return call


def _complaint(name: str, function: Callable, args: tuple, keywords: dict, error: TypeError) -> str:
    """What is wrong with the call, and what was meant."""
    parameters = list(inspect.signature(function).parameters.values())
    if parameters and parameters[0].name in ("self", "cls", "_cls"):
        parameters, args = parameters[1:], args[1:]
    names = [p.name for p in parameters]
    takes = f"It takes {', '.join(names)}." if names else "It takes none."
    for key in keywords:
        if key not in names:
            meant = did_you_mean(key, names) if names else takes
            return f"{name}() has no argument {shown(key)}. {meant}"
    if len(args) > len(names):
        return f"{name}() was given {len(args)} arguments, {len(names)} at most. {takes}"
    for key in names[: len(args)]:
        if key in keywords:
            return f"{name}() was given {key} twice, by its place and by its name."
    missing = [p.name for p in parameters[len(args) :]
               if p.default is p.empty and p.name not in keywords]  # fmt: skip
    if missing:
        return f"{name}() needs {' and '.join(missing)} as well. {takes}"
    return f"{name}() cannot be called so: {error}."
