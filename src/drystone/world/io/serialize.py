"""Serialization of shapes, materials and bodies: plain values that JSON can hold, bit for bit.

Arrays go through `put`, which stores one and returns what stands for it; `get` is its inverse.
Nothing that comes from a file is trusted: whatever is wrong raises InputError.
"""

import dataclasses

import numpy as np

from drystone.errors import InputError, UnsupportedFeature
from drystone.model.checks import bits, choice, integer, positive, text, vector
from drystone.model.materials import ARMS, Material
from drystone.shapes import SHAPES, Compound, unit_quaternion
from drystone.solvers import FORCE_METHODS, SOLVERS, find_solver
from drystone.solvers.dispatch import is_force_method
from drystone.world.body import Body, FixedBody, Start
from drystone.world.inertial_frame import MassFrame

INLINE_KINDS = ("<f8", "<i8", "<i4", "|b1", "|u1")  # of the arrays that shapes consist of
MOST_NUMBER = 2**62  # of a body: they are counted up
DEEPEST = 50  # compounds within compounds; only a malicious file has more


def inline(array: np.ndarray):
    """A `put` that writes an array into the JSON itself."""
    return {"shape": array.shape, "dtype": array.dtype.str, "values": array.ravel().tolist()}


def from_inline(value) -> np.ndarray:
    """The `get` of `inline`."""
    kind = choice("array", value["dtype"], INLINE_KINDS)
    return np.array(value["values"], dtype=kind).reshape(value["shape"])


def describe_shape(shape, put) -> dict:
    """A shape describes itself by describe(), or its fields are all that there is to it."""
    name = type(shape).__name__
    if type(shape) is not SHAPES.get(name):
        raise InputError(f"{shape!r}: shapes of this kind cannot be saved.")
    if isinstance(shape, Compound):
        members = [[describe_shape(s, put), p, q] for s, p, q in shape.members]
        return {"is": name, "members": members}
    fields = shape.describe(put) if hasattr(shape, "describe") else dataclasses.asdict(shape)
    return {"is": name, **fields}


def restore_shape(value: dict, get, depth: int = 0):
    shape = SHAPES[choice("shape", value["is"], SHAPES)]
    if shape is Compound:
        if depth > DEEPEST:
            raise InputError("shape: compounds are nested too deeply.")
        members = [(restore_shape(s, get, depth + 1), p, q) for s, p, q in value["members"]]
        compound = Compound(*members)  # checks them, but may change the last bit of a quaternion
        exact = tuple((s, tuple(p), tuple(q)) for s, p, q in members)
        object.__setattr__(compound, "members", exact)
        return compound
    fields = {key: x for key, x in value.items() if key != "is"}
    return shape.restored(fields, get) if hasattr(shape, "restored") else shape(**fields)


def describe_material(material: Material) -> list:
    values = list(dataclasses.astuple(material))
    # As before there were these: such a file is read by older versions too.
    return values if any(getattr(material, name) for name in ARMS) else values[: -len(ARMS)]


def restore_material(value) -> Material:
    return Material(*value)


def describe_fixed(thing: FixedBody) -> dict:
    return {
        "number": thing._number,
        "name": thing._name,
        "group": thing._group,
        "mask": thing._mask,
        "position": thing._pose[0],
        "orientation": thing._pose[1],
    }


def restore_fixed(world, value: dict, shape, material) -> FixedBody:
    who = text("name", value["name"])
    unit_quaternion(f"{who}: orientation", value["orientation"])
    pose = vector(f"{who}: position", value["position"]), tuple(value["orientation"])
    group, mask = bits(f"{who}: group", value["group"]), bits(f"{who}: mask", value["mask"])
    number = integer(f"{who}: number", value["number"], 0, MOST_NUMBER)
    return FixedBody(world, number, who, shape, material, group, mask, pose)


def describe_body(body: Body) -> dict:
    """What does not change while a world runs, shape and material apart."""
    frame = body._frame
    return {
        "number": body._number,
        "name": body._name,
        "kinematic": body._kinematic,
        "group": body._group,
        "mask": body._mask,
        "mass": frame.mass,
        "offset": frame.offset,
        "turn": frame.principal_rotation,  # the name in files
        "inertia": frame.inertia,
    }


def restore_body(world, value: dict, shape, material, start=None) -> Body:
    who = text("name", value["name"])
    shape.mass_properties()  # refuses what can only be fixed
    unit_quaternion(f"{who}: principal axes", value["turn"])
    frame = MassFrame(
        positive(f"{who}: mass", value["mass"], "kg"),
        vector(f"{who}: centre", value["offset"]),
        tuple(value["turn"]),
        tuple(
            positive(f"{who}: inertia", i, "kg m²")
            for i in vector(f"{who}: inertia", value["inertia"])
        ),
    )
    group, mask = bits(f"{who}: group", value["group"]), bits(f"{who}: mask", value["mask"])
    kinematic = bool(value["kinematic"])
    number = integer(f"{who}: number", value["number"], 0, MOST_NUMBER)
    return Body(world, number, who, shape, material, kinematic, group, mask, frame, start)


def describe_solver(solver) -> list:
    """Name and options of a solver of ours; one of the user's own cannot be kept in a file."""
    if is_force_method(solver):
        return [solver.name, dataclasses.asdict(solver)]
    for name, kind in SOLVERS.items():
        if kind is type(solver):
            return [name, dataclasses.asdict(solver)]
    raise UnsupportedFeature(
        f"{type(solver).__name__}: a solver of your own can be neither saved nor recorded; "
        f"set world.solver to one of {', '.join(SOLVERS)} first."
    )


def restore_solver(value):
    name, options = value
    return find_solver(choice("solver", name, (*SOLVERS, *FORCE_METHODS)))(**options)


def describe_start(start: Start) -> list:
    return [getattr(start, field) for field in Start.__slots__]


def restore_start(value) -> Start:
    *given, asleep = value
    fields = Start.__slots__[:-1]
    counts = [4 if name == "orientation" else 3 for name in fields]
    exact = {f: vector(f, x, n) for f, x, n in zip(fields, given, counts, strict=True)}
    unit_quaternion("orientation", exact["orientation"])
    start = Start(*(exact[name] for name in ("position", "orientation", "velocity", "spin")))
    start.force, start.torque, start.asleep = exact["force"], exact["torque"], bool(asleep)
    return start
