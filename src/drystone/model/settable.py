"""Attributes that a user may set; a misspelt one becomes one clear sentence.

Python would take `world.gravty = ...` without a word, and nothing would come of it.
"""

from inspect import get_annotations
from typing import Any

from drystone.errors import AttributeMistake
from drystone.model.checks import did_you_mean


class Settable:
    """What a user reaches: public attributes are those that its class declares, and properties."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name[0] != "_" and name not in _declared(type(self)):
            check_settable(self, name)
        object.__setattr__(self, name, value)


def check_settable(thing, name: str) -> None:
    """Raise an AttributeMistake unless `name` is an attribute of `thing` that can be set."""
    kind = type(thing)
    member = getattr(kind, name, None)
    if member is None and not hasattr(kind, name):
        can = settable_names(kind)
        meant = did_you_mean(name, can) if can else "It has none that can be set."
        raise AttributeMistake(f"{kind.__name__} has no attribute {name!r} to set. {meant}")
    if callable(member):
        raise AttributeMistake(
            f"{kind.__name__}.{name} is a function, which cannot be replaced; call {name}(...)."
        )
    if isinstance(member, property) and member.fset is None:
        known = ", ".join(settable_names(kind)) or "none"
        raise AttributeMistake(f"{kind.__name__}.{name} can only be read; to be set are: {known}.")


def settable_names(kind: type) -> list[str]:
    """Public attributes of a class that can be set."""
    own = _declared(kind) if issubclass(kind, Settable) else []
    names = [name for name in own if name[0] != "_"]
    for name in sorted(set(dir(kind)).difference(names)):
        member = getattr(kind, name)
        if name.startswith("_") or callable(member):
            continue
        if not isinstance(member, property) or member.fset is not None:
            names.append(name)
    return names


def _declared(kind: type) -> list[str]:
    """Names that a class and its bases declare with a type."""
    return [name for base in kind.__mro__ for name in get_annotations(base)]
