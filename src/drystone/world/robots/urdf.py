"""URDF: links, inertials, collision shapes, joints, limits, mimic joints; the rest is reported."""

import os
from math import cos, inf, sin
from pathlib import Path
from typing import Any

import numpy as np

from drystone.errors import InputError
from drystone.jit.vec import quaternion_product
from drystone.model.checks import did_you_mean, shown
from drystone.shapes import Box, ConvexHull, Cylinder, Mesh, Sphere
from drystone.shapes.mesh_repair.files import read_mesh
from drystone.world.robots.description import Actuator, Link, LinkShape, RobotJoint
from drystone.world.robots.robot import Robot

KINDS = {
    "revolute": "revolute", "continuous": "revolute", "prismatic": "prismatic", "fixed": "fixed",
    "floating": "free", "planar": "planar", "spherical": "ball",  # the last is PyBullet's
}  # fmt: skip
# Elements that are read, or are reported, or say nothing about motion; and what they may hold.
KNOWN = {"link", "joint", "material", "transmission", "gazebo", "mujoco"}
INSIDE = {
    "link": {"inertial", "visual", "collision", "contact", "material"},
    "inertial": {"origin", "mass", "inertia"},
    "collision": {"origin", "geometry", "material"},
    "joint": {"origin", "parent", "child", "axis", "limit", "dynamics", "mimic",
              "safety_controller", "calibration"},
}  # fmt: skip
# What PyBullet reads in the <contact> of a link.
CONTACT = {
    "lateral_friction": "friction", "rolling_friction": "rolling_friction",
    "spinning_friction": "spinning_friction", "restitution": "restitution",
}  # fmt: skip


class Reader:
    """One file: names it in every sentence, and collects what is not honoured."""

    def __init__(self, path: Path, packages: dict, meshes: str) -> None:
        self.path, self.packages, self.meshes = path, packages, meshes
        self.ignored: list[str] = []

    def fail(self, message: str) -> InputError:
        return InputError(f"{self.path.name}: {message}")

    def name_of(self, element) -> str:
        name = element.get("name")
        if not name:
            raise self.fail(f"a <{element.tag}> has no name.")
        return name

    def numbers(self, element, attribute: str, who: str, count: int, default=None) -> list[float]:
        """`count` numbers of an attribute."""
        text = None if element is None else element.get(attribute)
        if text is None:
            if default is None:
                raise self.fail(f"{who}: {attribute!r} is missing.")
            return list(default)
        try:
            values = [float(word) for word in text.split()]
        except ValueError:
            raise self.fail(f"{who}: {attribute} is {shown(text)}, must be numbers.") from None
        if len(values) != count:
            raise self.fail(f"{who}: {attribute} is {shown(text)}, must be {count} number(s).")
        if not all(abs(value) < inf for value in values):
            raise self.fail(f"{who}: {attribute} is {shown(text)}, must be finite.")
        return values

    def number(self, element, attribute: str, who: str, default=None) -> float:
        return self.numbers(element, attribute, who, 1, None if default is None else [default])[0]

    def origin(self, element, who: str) -> tuple[list[float], tuple]:
        """Position and quaternion of the <origin> of an element."""
        at = element.find("origin") if element is not None else None
        position = self.numbers(at, "xyz", f"{who}: origin", 3, (0, 0, 0))
        return position, from_rpy(self.numbers(at, "rpy", f"{who}: origin", 3, (0, 0, 0)))


def from_rpy(angles) -> tuple:
    """Quaternion of roll, pitch, yaw about the fixed axes x, y, z in this order."""
    q = (1.0, 0.0, 0.0, 0.0)
    for k, angle in enumerate(angles):
        half = [cos(0.5 * angle), 0.0, 0.0, 0.0]
        half[1 + k] = sin(0.5 * angle)
        q = quaternion_product(tuple(half), q)
    return q


def read_urdf(root, path: Path, base: str, packages: dict, meshes: str) -> Robot:
    """The robot of a parsed URDF."""
    reader = Reader(path, packages, meshes)
    name = root.get("name") or path.stem
    links = [_link(reader, element) for element in root.findall("link")]
    if not links:
        raise reader.fail("it has no <link>.")
    joints = [_joint(reader, element) for element in root.findall("joint")]
    _check_names(reader, links, joints)
    children = {joint.child for joint in joints}
    roots = [link.name for link in links if link.name not in children]
    if not roots:
        raise reader.fail("every link is a child of another: the joints form a loop.")
    if len(roots) > 1:
        raise reader.fail(
            f"it has {len(roots)} links that hang on nothing ({', '.join(roots[:3])}); a robot has "
            f"one root."
        )
    kind = "free" if base == "free" else "fixed"
    joints.insert(0, RobotJoint(f"{roots[0]} base", kind, roots[0]))
    for element in root:
        if isinstance(element.tag, str) and element.tag not in KNOWN:
            reader.ignored.append(f"<{element.tag}> is not read")
    _report(reader, root)
    actuators = _actuators(reader, root, joints)
    try:
        return Robot(links, joints, actuators, name=name, ignored=reader.ignored)
    except InputError as error:
        raise reader.fail(str(error)) from None


def _check_names(reader, links, joints) -> None:
    names = dict.fromkeys(link.name for link in links)
    moved = {joint.name for joint in joints}
    for joint in joints:
        for role, link in (("parent", joint.parent), ("child", joint.child)):
            if link not in names:
                raise reader.fail(
                    f"joint {joint.name}: its {role} {link!r} is no link. "
                    f"{did_you_mean(link, names)}"
                )
        if joint.mimic and joint.mimic[0] not in moved:
            raise reader.fail(f"joint {joint.name}: mimics {joint.mimic[0]!r}, which is no joint.")


def _link(reader: Reader, element) -> Link:
    name = reader.name_of(element)
    who, inertial = f"link {name}", element.find("inertial")
    mass, centre, inertia = 0.0, [0.0, 0.0, 0.0], np.zeros((3, 3))
    if inertial is None:
        reader.ignored.append(f"link {name} has no <inertial>: its mass is 0")
    else:
        centre, turned = reader.origin(inertial, who)
        mass = reader.number(inertial.find("mass"), "value", f"{who}: mass")
        if mass < 0.0:
            raise reader.fail(f"{who}: mass is {mass:g} kg, must be >= 0.")
        tensor = inertial.find("inertia")
        if tensor is None and mass > 0.0:
            raise reader.fail(f"{who}: has a mass but no <inertia>.")
        if tensor is not None:
            xx, xy, xz, yy, yz, zz = (
                reader.number(tensor, key, f"{who}: inertia", 0.0 if key in OFF else None)
                for key in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
            )
            axes = _matrix(turned)
            inertia = axes @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ axes.T
    touch = _contact(reader, element.find("contact"), who)
    shapes = [
        shape for k, part in enumerate(element.findall("collision"))
        if (shape := _shape(reader, part, f"{who}: collision {k}", touch)) is not None
    ]  # fmt: skip
    try:
        return Link(name, mass, centre, inertia, shapes)
    except InputError as error:
        raise reader.fail(str(error)) from None


OFF = ("ixy", "ixz", "iyz")  # products of inertia, which may be left out


def _matrix(q) -> np.ndarray:
    from drystone.model.rotation import rotation_matrices

    return rotation_matrices(np.array(q))


def _contact(reader: Reader, element, who: str) -> dict[str, float]:
    """Friction and restitution of a link."""
    found = {}
    for part in () if element is None else element:
        if part.tag in CONTACT:
            found[CONTACT[part.tag]] = reader.number(part, "value", f"{who}: {part.tag}")
        elif isinstance(part.tag, str):
            reader.ignored.append(f"{who}: <{part.tag}> of its <contact> is not read")
    return found


def _shape(reader: Reader, element, who: str, touch: dict) -> LinkShape | None:
    position, orientation = reader.origin(element, who)
    geometry = element.find("geometry")
    if geometry is None or not len(geometry):
        raise reader.fail(f"{who}: has no <geometry>.")
    form = geometry[0]
    shape: Any
    if form.tag == "box":
        shape = Box(*_sizes(reader, form, "size", who, 3))
    elif form.tag == "sphere":
        shape = Sphere(*_sizes(reader, form, "radius", who, 1))
    elif form.tag == "cylinder":
        radius, length = (_sizes(reader, form, key, who, 1)[0] for key in ("radius", "length"))
        shape = Cylinder(radius, length)
    elif form.tag == "mesh":
        shape = _mesh(reader, form, who)
    else:
        reader.ignored.append(f"{who}: <{form.tag}> is no shape that is read")
        return None
    try:
        return LinkShape(shape, position, orientation, name=element.get("name") or "", **touch)
    except InputError as error:
        raise reader.fail(f"{who}: {str(error).removeprefix('LinkShape: ')}") from None


def _sizes(reader, form, key, who, count) -> list[float]:
    values = reader.numbers(form, key, who, count)
    if not all(value > 0.0 for value in values):
        raise reader.fail(f"{who}: {key} is {form.get(key)!r}, must be > 0.")
    return values


def _mesh(reader: Reader, form, who: str):
    """The mesh of a file, exact or as its hull, scaled."""
    name = form.get("filename")
    if not name:
        raise reader.fail(f"{who}: its mesh has no filename.")
    vertices, faces = read_mesh(_find(reader, name, who), f"{reader.path.name}: {who}")
    vertices = vertices * np.array(reader.numbers(form, "scale", who, 3, (1, 1, 1)))
    if reader.meshes == "exact":
        return Mesh(vertices, faces)
    reader.ignored.append(f"{who}: mesh {Path(name).name} is used as its convex hull")
    return ConvexHull(vertices)


def _find(reader: Reader, name: str, who: str) -> Path:
    """The file of a mesh: package://, file://, relative to the URDF or to a folder above it."""
    folder = reader.path.parent
    if name.startswith("package://"):
        package, _, rest = name.removeprefix("package://").partition("/")
        if package in reader.packages:
            tried = [reader.packages[package] / rest]
        else:
            above = [folder, *folder.parents]
            tried = [p / package / rest for p in above] + [p / rest for p in above]
    else:
        plain = Path(name.removeprefix("file://"))
        tried = [plain if plain.is_absolute() else folder / plain]
    for path in tried:
        if os.path.isfile(path):  # False too where the name is none
            return path
    raise reader.fail(
        f"{who}: mesh {name} was not found"
        + ("; say where it is by packages={'" + name[10:].split("/")[0] + "': folder}."
           if name.startswith("package://") else f" at {tried[0]}.")
    )  # fmt: skip


def _joint(reader: Reader, element) -> RobotJoint:
    name = reader.name_of(element)
    who, kind = f"joint {name}", element.get("type")
    if kind not in KINDS:
        known = ", ".join(KINDS)
        raise reader.fail(f"{who}: type is {shown(kind)}, must be one of {known}.")
    ends = []
    for role in ("parent", "child"):
        end = element.find(role)
        link = None if end is None else end.get("link")
        if not link:
            raise reader.fail(f"{who}: has no <{role} link=...>.")
        ends.append(link)
    position, orientation = reader.origin(element, who)
    axis = reader.numbers(element.find("axis"), "xyz", f"{who}: axis", 3, (1, 0, 0))
    if KINDS[kind] in ("fixed", "free"):
        axis = [0.0, 0.0, 1.0]  # files write anything there
    limit, moved = element.find("limit"), KINDS[kind] in ("revolute", "prismatic")
    damped = moved or KINDS[kind] == "ball"
    if limit is not None and KINDS[kind] == "ball":
        reader.ignored.append(f"{who}: the limit of a ball joint is not honoured")
    limits = None
    if moved and kind != "continuous" and limit is not None:
        low = reader.number(limit, "lower", f"{who}: limit", 0.0)
        high = reader.number(limit, "upper", f"{who}: limit", 0.0)
        limits = (low, high)
        if limit.get("lower") is None and limit.get("upper") is None:
            limits = None
            reader.ignored.append(f"{who}: its <limit> has no lower and upper: it moves freely")
    elif kind in ("revolute", "prismatic"):
        raise reader.fail(f"{who}: a {kind} joint needs a <limit>.")
    dynamics = element.find("dynamics")
    if kind == "planar" and axis != [0.0, 0.0, 1.0]:
        reader.ignored.append(f"{who}: a planar joint moves across z of its frame, not {axis}")
    resists = {
        key: reader.number(dynamics, key, f"{who}: dynamics", 0.0) if damped else 0.0
        for key in ("damping", "friction")
    }
    try:
        return RobotJoint(
            name, KINDS[kind], ends[1], ends[0], position, orientation, axis, limits, **resists,
            mimic=_mimic(reader, element, who) if moved else None,
        )  # fmt: skip
    except InputError as error:
        raise reader.fail(str(error)) from None


def _mimic(reader: Reader, element, who: str) -> tuple[str, float, float] | None:
    mimic = element.find("mimic")
    if mimic is None:
        return None
    if not mimic.get("joint"):
        raise reader.fail(f"{who}: its <mimic> names no joint.")
    factor = reader.number(mimic, "multiplier", f"{who}: mimic", 1.0)
    return mimic.get("joint"), factor, reader.number(mimic, "offset", f"{who}: mimic", 0.0)


def _actuators(reader: Reader, root, joints) -> list[Actuator]:
    """A torque actuator for each joint with an effort, or named by a transmission."""
    efforts = {}
    for element in root.findall("joint"):
        limit = element.find("limit")
        if limit is not None and limit.get("effort") is not None:
            who = f"joint {element.get('name')}: limit"
            efforts[element.get("name")] = reader.number(limit, "effort", who)
    return [
        Actuator(joint.name, joint.name, max_force=efforts[joint.name] or None)
        for joint in joints
        if joint.name in efforts and joint.rates == 1 and joint.mimic is None
    ]


def _report(reader: Reader, root) -> None:
    """What a URDF says beside masses, shapes and joints."""
    for tag in ("transmission", "gazebo"):
        for element in root.findall(tag):
            name = element.get("name") or element.get("reference") or ""
            reader.ignored.append(f"<{tag}> {name}".rstrip() + " is not read")
    drawn = sum(link.find("visual") is not None for link in root.findall("link"))
    if drawn:
        reader.ignored.append(f"<visual> of {drawn} link(s) is not read: what collides is drawn")
    for element in root:
        if element.tag in ("link", "joint"):
            _report_inside(reader, f"{element.tag} {element.get('name')}", element)
    for element in root.findall("joint"):
        name, limit = element.get("name"), element.find("limit")
        if limit is not None and limit.get("velocity") is not None:
            reader.ignored.append(f"joint {name}: the velocity limit is not honoured")
        for tag in ("safety_controller", "calibration"):
            if element.find(tag) is not None:
                reader.ignored.append(f"joint {name}: <{tag}> is not read")


def _report_inside(reader: Reader, who: str, element) -> None:
    """Elements of a link or a joint that nobody reads."""
    known = INSIDE[element.tag]
    for part in element:
        if part.tag in INSIDE:
            _report_inside(reader, who, part)
        if isinstance(part.tag, str) and part.tag not in known:
            reader.ignored.append(f"{who}: <{part.tag}> is not read")
