"""Attributes that a user may set; a misspelt one becomes one clear sentence.

Python would take `world.gravty = ...` without a word, and nothing would come of it.
"""

from drystone.errors import AttributeMistake
from drystone.model.checks import did_you_mean


def check_settable(thing, name: str) -> None:
    """Raise an AttributeMistake unless `name` is an attribute of `thing` that can be set."""
    kind = type(thing)
    member = getattr(kind, name, None)
    if member is None and not hasattr(kind, name):
        meant = did_you_mean(name, settable_names(kind))
        raise AttributeMistake(f"{kind.__name__} has no attribute {name!r} to set. {meant}")
    if callable(member):
        raise AttributeMistake(
            f"{kind.__name__}.{name} is a function, which cannot be replaced; call {name}(...)."
        )
    if isinstance(member, property) and member.fset is None:
        can = ", ".join(settable_names(kind))
        raise AttributeMistake(f"{kind.__name__}.{name} can only be read; to be set are: {can}.")


def settable_names(kind: type) -> list[str]:
    """Public attributes of a class that can be set."""
    names = []
    for name in dir(kind):
        member = getattr(kind, name)
        if name.startswith("_") or callable(member):
            continue
        if not isinstance(member, property) or member.fset is not None:
            names.append(name)
    return names
