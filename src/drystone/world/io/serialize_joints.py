"""Joints as plain values that JSON can hold, and back, bit for bit.

A joint is the name of its kind, the numbers of its two bodies and the fields of its dataclass, with
the attachment, so that nothing depends on where the bodies are when it is made again.
"""

from dataclasses import fields

import numpy as np

from drystone.constraints.joints import fill_rows
from drystone.constraints.joints.drives import Motor, Servo
from drystone.constraints.joints.joint import Joint
from drystone.constraints.joints.swing_twist import SwingTwist
from drystone.errors import InputError
from drystone.model.attachment import Attachment
from drystone.model.checks import choice, shown, vector
from drystone.shapes import unit_quaternion

JOINTS = {kind.__name__: kind for kind in fill_rows.JOINTS}
PARTS = {kind.__name__: kind for kind in (Motor, Servo, SwingTwist)}

# How far a field may be from what its check makes of it: unit vectors are made once more.
ROUNDING = 1e-12


def describe_joint(joint: Joint) -> dict:
    """`joint` with the numbers of its bodies; None is the fixed world."""
    return {"is": type(joint).__name__} | {
        field.name: _plain(getattr(joint, field.name)) for field in fields(joint)
    }


def _plain(value):
    if isinstance(value, Attachment):
        return [list(part) for part in value]
    if type(value).__name__ in PARTS:
        return {"is": type(value).__name__} | {
            field.name: getattr(value, field.name) for field in fields(value)
        }
    if hasattr(value, "_number"):  # a fixed thing that was removed is the fixed world
        return None if value._world is None else value._number
    return value


def restore_joint(value: dict, things: dict) -> Joint:
    """The joint that describe_joint() described; `things` are bodies and fixed ones by number."""
    kind = choice("joint", value["is"], JOINTS)
    given = {name: _restored(kind, x) for name, x in value.items() if name != "is"}
    for side in ("a", "b"):
        given[side] = _thing(kind, side, value[side], things)
    given["attachment"] = _attachment(kind, value["attachment"])
    return _exactly(kind, JOINTS[kind], given)


def change_joint(joint: Joint, wanted: Joint) -> None:
    """Give `joint` the settings of `wanted`; its bodies and where it sits on them stay."""
    if type(joint) is not type(wanted) or joint.bodies != wanted.bodies:
        raise InputError(f"a {type(joint).__name__} cannot become another joint.")
    for field in fields(joint):
        if field.name not in ("a", "b", "attachment"):
            object.__setattr__(joint, field.name, getattr(wanted, field.name))


def _restored(kind: str, value):
    if isinstance(value, dict):
        part = choice(f"{kind}: part", value["is"], PARTS)
        given = {name: _restored(part, x) for name, x in value.items() if name != "is"}
        return _exactly(part, PARTS[part], given)
    return tuple(_restored(kind, x) for x in value) if isinstance(value, list) else value


def _exactly(name: str, kind, given: dict):
    """The thing made with all its checks, then with the very bits that were given."""
    made = kind(**given)
    for field, value in given.items():
        own = getattr(made, field)
        if not isinstance(value, tuple) or isinstance(value, Attachment):
            continue
        if not isinstance(own, tuple) or not np.allclose(own, value, rtol=0.0, atol=ROUNDING):
            raise InputError(f"{name}: {field} is {shown(value)}, must be {shown(own)}.")
        object.__setattr__(made, field, value)
    return made


def _thing(kind: str, side: str, number, things: dict):
    if number is None:
        return None
    if type(number) is not int or number not in things:
        raise InputError(f"{kind}: {side} is body {shown(number)}, which is not there.")
    return things[number]


def _attachment(kind: str, value) -> Attachment:
    anchors, frames, bases = value
    for part in (anchors, frames, bases):
        if len(part) != 2:
            raise InputError(f"{kind}: its attachment has {len(part)} sides, must have 2.")
    for rotation in (*frames, *bases):
        unit_quaternion(f"{kind}: frame", rotation)
    return Attachment(
        tuple(vector(f"{kind}: anchor", point) for point in anchors),
        *(
            tuple(vector(f"{kind}: frame", rotation, 4) for rotation in part)
            for part in (frames, bases)
        ),
    )
