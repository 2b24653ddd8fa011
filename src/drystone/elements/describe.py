"""Force elements as plain values that JSON can hold, and back, bit for bit."""

from dataclasses import fields

from drystone.body import Body, FixedBody
from drystone.elements.attractor import Attractor, Repulsor
from drystone.elements.damper import Damper
from drystone.elements.drag import Drag
from drystone.elements.spring import Spring
from drystone.errors import UnsupportedFeature
from drystone.inputs import choice
from drystone.joints.attach import Attachment

KNOWN = {kind.__name__: kind for kind in (Spring, Damper, Drag, Attractor, Repulsor)}


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
