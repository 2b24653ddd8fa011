"""Serialization of shapes, materials and bodies: plain values that JSON can hold, bit for bit.

Arrays go through `put`, which stores one and returns what stands for it; `get` is its inverse.
Nothing that comes from a file is trusted: whatever is wrong raises InputError.
"""

import dataclasses

import numpy as np

from drystone.errors import InputError
from drystone.model.checks import bits, choice, point_array, positive, text, vector
from drystone.model.finding import Finding
from drystone.model.materials import Material
from drystone.shapes import (
    Box,
    Capsule,
    Compound,
    ConvexHull,
    Cylinder,
    Disc,
    Mesh,
    Plane,
    Polygon,
    Segment,
    Sphere,
    Terrain,
    unit_quaternion,
)
from drystone.shapes.polytope import polytope_from_loops
from drystone.shapes.triangle_table import build_table
from drystone.world.body import Body, FixedBody, Start
from drystone.world.inertial_frame import MassFrame

SIMPLE = {
    shape.__name__: shape
    for shape in (Plane, Sphere, Box, Capsule, Cylinder, Disc, Polygon, Segment)
}
KNOWN = (*SIMPLE, "Compound", "ConvexHull", "Mesh", "Terrain")
DEEPEST = 50  # compounds within compounds; only a malicious file has more


def inline(array: np.ndarray):
    """A `put` that writes an array into the JSON itself."""
    return {"shape": array.shape, "dtype": array.dtype.str, "values": array.ravel().tolist()}


def from_inline(value) -> np.ndarray:
    """The `get` of `inline`."""
    return np.array(value["values"], dtype=value["dtype"]).reshape(value["shape"])


def describe_shape(shape, put) -> dict:
    name = type(shape).__name__
    if name in SIMPLE:
        return {"is": name, **dataclasses.asdict(shape)}
    if isinstance(shape, Compound):
        members = [[describe_shape(s, put), p, q] for s, p, q in shape.members]
        return {"is": name, "members": members}
    extra = {}
    if isinstance(shape, ConvexHull):
        p = shape.polytope
        parts = {"vertex": p.vertex, "face_loop": p.face_loop, "loop": p.loop}
    elif isinstance(shape, Terrain):
        parts = {"vertex": shape.table.vertex, "triangle": shape.table.triangle}
    elif isinstance(shape, Mesh):
        parts = {"vertex": shape.table.vertex, "triangle": shape.faces}
        extra = {"generator": shape.generator, "reduce": shape.reduce}
        extra["findings"] = [list(f) for f in shape.findings]
    else:
        raise InputError(f"{shape!r}: shapes of this kind cannot be saved.")
    parts["offset"] = shape.offset
    return {"is": name, **extra, **{key: put(array) for key, array in parts.items()}}


def restore_shape(value: dict, get, depth: int = 0):
    kind = choice("shape", value["is"], KNOWN)
    if kind in SIMPLE:
        fields = {key: x for key, x in value.items() if key != "is"}
        shape = SIMPLE[kind](**fields)
        if kind == "Plane":  # making a unit vector of a unit vector may change its last bit
            _set_exactly(shape, normal=tuple(fields["normal"]))
        return shape
    if kind == "Compound":
        if depth > DEEPEST:
            raise InputError("shape: compounds are nested too deeply.")
        members = [(restore_shape(s, get, depth + 1), p, q) for s, p, q in value["members"]]
        shape = Compound(*members)
        _set_exactly(shape, members=tuple((s, tuple(p), tuple(q)) for s, p, q in members))
        return shape
    vertex = point_array(f"{kind}: vertices", get(value["vertex"]), 3)
    offset = np.array(vector(f"{kind}: offset", get(value["offset"])))
    if kind == "ConvexHull":
        shape = ConvexHull.__new__(ConvexHull)
        loops = _loops(get(value["face_loop"]), get(value["loop"]), len(vertex))
        return _set_exactly(shape, polytope=polytope_from_loops(vertex, loops), offset=offset)
    triangle = _indices(get(value["triangle"]), len(vertex)).reshape(-1, 3)
    if kind == "Mesh":
        findings = [Finding(*map(str, finding)) for finding in value["findings"]]
        how = value["generator"], value.get("reduce", True)
        return Mesh.restored(vertex, offset, triangle, findings, *how)
    shape = Terrain.__new__(Terrain)
    return _set_exactly(shape, table=build_table(vertex, triangle), offset=offset)


def _set_exactly(shape, **fields):
    for name, field in fields.items():
        object.__setattr__(shape, name, field)
    return shape


def _indices(array, count) -> np.ndarray:
    array = np.asarray(array)
    if array.dtype.kind != "i" or not array.size or array.min() < 0 or array.max() >= count:
        raise InputError("shape: a corner does not exist.")
    return array.astype(np.int64)


def _loops(face_loop, loop, vertex_count):
    loop = _indices(loop, vertex_count).tolist()
    faces = [(int(first), int(count)) for first, count in face_loop]
    if any(first < 0 or count < 3 or first + count > len(loop) for first, count in faces):
        raise InputError("shape: a face does not exist.")
    return [loop[first : first + count] for first, count in faces]


def describe_material(material: Material) -> list:
    return list(dataclasses.astuple(material))


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
    return FixedBody(world, int(value["number"]), who, shape, material, group, mask, pose)


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
        tuple(positive(f"{who}: inertia", i, "kg m²") for i in value["inertia"]),
    )
    group, mask = bits(f"{who}: group", value["group"]), bits(f"{who}: mask", value["mask"])
    kinematic = bool(value["kinematic"])
    return Body(
        world, int(value["number"]), who, shape, material, kinematic, group, mask, frame, start
    )


def describe_start(start: Start) -> list:
    return [getattr(start, field) for field in Start.__slots__]


def restore_start(value) -> Start:
    position, orientation, velocity, spin, force, torque, asleep = value
    start = Start(*(tuple(x) for x in (position, orientation, velocity, spin)))
    start.force, start.torque, start.asleep = tuple(force), tuple(torque), bool(asleep)
    return start
