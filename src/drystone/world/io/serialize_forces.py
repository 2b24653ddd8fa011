"""Force elements as plain values that JSON can hold, field by field, and back, bit for bit."""

from dataclasses import fields

from drystone.errors import UnsupportedFeature
from drystone.forces import FORCES
from drystone.model.attachment import Attachment
from drystone.model.checks import choice
from drystone.world.body import Body, FixedBody

KNOWN = {name: force for name, force in FORCES.items() if force._kind is not None}


def describe_force(force) -> dict:
    """What restore_force() makes `force` of; bodies by their numbers."""
    if force._kind is None:
        raise UnsupportedFeature(
            "Force: a Python function cannot be saved or recorded; take it out of the world first "
            "with world.remove(force)."
        )
    values = {field.name: getattr(force, field.name) for field in fields(force)}
    for name, value in values.items():
        if isinstance(value, Body | FixedBody):
            values[name] = value.number if isinstance(value, Body) else None
    return {"is": type(force).__name__, **values}


def restore_force(value: dict, thing_of):
    """The element; `thing_of` finds a body by its number."""
    kind = KNOWN[choice("force", value["is"], KNOWN)]
    given = {name: value[name] for name in value if name != "is"}
    for name in ("a", "b", "body"):
        if given.get(name) is not None:
            given[name] = thing_of(given[name])
    if given.get("attachment") is not None:
        given["attachment"] = Attachment(*(_tuples(part) for part in given["attachment"]))
    return kind(**given)


def _tuples(part):
    return tuple(tuple(row) for row in part)
