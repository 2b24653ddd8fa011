"""Robots as plain values that JSON can hold, and back, bit for bit.

A description is made anew with all its checks, and then given the very bits that were saved: unit
vectors would be made once more. A placed robot is its description, its base and the numbers of the
bodies of its links; coordinates and commands are in the State.
"""

from dataclasses import fields
from math import inf
from typing import Any

import numpy as np

from drystone.errors import InputError
from drystone.model.checks import float_array, shown
from drystone.world.io import serialize as to
from drystone.world.robots.description import Actuator, Link, LinkShape, Loop, RobotJoint
from drystone.world.robots.placed import PlacedRobot
from drystone.world.robots.robot import Robot

ROUNDING = 1e-12  # how far a field may be from what its check makes of it


def describe_robot(robot: Robot, put) -> dict:
    """A description; shapes go through `put` (see serialize.py)."""
    return {
        "name": robot.name,
        "links": [_link(link, put) for link in robot.links],
        "joints": [_plain(joint) for joint in robot.joints],
        "actuators": [_plain(actuator) for actuator in robot.actuators],
        "loops": [_plain(loop) for loop in robot.loops],
        "base": robot._base.ravel().tolist(),
        "zero": None if robot._zero is None else robot._zero.tolist(),
        "keyframes": {name: q.tolist() for name, q in robot.keyframes.items()},
        "ignored": list(robot.ignored),
    }


def describe_placed(placed: PlacedRobot, put) -> dict:
    """A robot in a world."""
    return {
        "robot": describe_robot(placed.robot, put),
        "base": placed._base.ravel().tolist(),
        "bodies": {name: body.number for name, body in placed._bodies.items()},
    }


def restore_robot(value: dict, get) -> Robot:
    """The description that describe_robot() described."""
    links = [_restored_link(link, get) for link in value["links"]]
    robot = Robot(
        links,
        [_exactly(RobotJoint, joint) for joint in value["joints"]],
        [_exactly(Actuator, actuator) for actuator in value["actuators"]],
        [_exactly(Loop, loop) for loop in value["loops"]],
        name=value["name"], ignored=value["ignored"],
    )  # fmt: skip
    robot._base = _pose(robot.name, value["base"])
    if value["zero"] is not None:
        robot._zero = robot._coordinates(value["zero"], "zero")
    robot.keyframes = {
        key: robot._coordinates(q, f"keyframe {key}") for key, q in value["keyframes"].items()
    }
    return robot


def restore_placed(value: dict, get, world, things: dict) -> PlacedRobot:
    """The robot in `world`; `things` are its bodies by number."""
    robot = restore_robot(value["robot"], get)
    bodies = {}
    for name, number in value["bodies"].items():
        robot._row(robot._link_row, name, "link")
        if type(number) is not int or number not in things:
            raise InputError(f"{robot.name}: link {name} is body {shown(number)}, which is not "
                             f"there.")  # fmt: skip
        bodies[name] = things[number]
    if len({id(body) for body in bodies.values()}) < len(bodies):
        raise InputError(f"{robot.name}: two of its links are the same body.")
    return PlacedRobot(world, robot, bodies, _pose(robot.name, value["base"]))


def _pose(name: str, value) -> np.ndarray:
    given = float_array(f"{name}: base", value)
    if given.shape != (12,) or not np.isfinite(given).all():
        raise InputError(f"{name}: base must be 12 finite numbers.")
    axes = given[3:].reshape(3, 3)
    if not np.allclose(axes @ axes.T, np.eye(3), rtol=0.0, atol=1e-9):
        raise InputError(f"{name}: base is no rotation.")
    return given.reshape(1, 12)


def _link(link: Link, put) -> dict:
    shapes = [
        {name: x for name, x in _plain(shape).items() if name != "shape"}
        | {"shape": to.describe_shape(shape.shape, put)}
        for shape in link.shapes
    ]
    return {
        "name": link.name,
        "mass": link.mass,
        "centre": list(link.centre),
        "inertia": np.asarray(link.inertia).tolist(),
        "shapes": shapes,
    }


def _plain(thing) -> dict:
    """The fields of a dataclass; infinite limits are None, for JSON has no such number."""
    return {field.name: _value(getattr(thing, field.name)) for field in fields(thing)}


def _value(value: Any) -> Any:
    if isinstance(value, tuple | list | np.ndarray):
        return [_value(x) for x in value]
    if isinstance(value, float | np.floating):
        number = float(value)
        return number if abs(number) < inf else ("inf" if number > 0.0 else "-inf")
    return value


def _number(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(_number(x) for x in value)
    return {"inf": inf, "-inf": -inf}.get(value, value) if isinstance(value, str) else value


def _restored_link(value: dict, get) -> Link:
    shapes = [
        _exactly(LinkShape, shape, {"shape": to.restore_shape(shape["shape"], get)})
        for shape in value["shapes"]
    ]
    return Link(value["name"], value["mass"], value["centre"], value["inertia"], shapes)


_WORDS = ("name", "kind", "child", "parent", "joint", "link_a", "link_b", "mimic", "shape")


def _exactly(kind, value: dict, made: dict | None = None):
    """The thing made with all its checks, then with the very bits that were saved."""
    given = {
        name: x if name in _WORDS else _number(x) for name, x in value.items() if name != "shape"
    }
    if given.get("mimic"):
        given["mimic"] = tuple(given["mimic"])
    thing = kind(**given, **(made or {}))
    for name, x in given.items():
        own = getattr(thing, name)
        if isinstance(x, tuple) and name != "mimic" and not _is_close(own, x):
            raise InputError(f"{kind.__name__}: {name} is {shown(x)}, must be {shown(own)}.")
        if isinstance(x, tuple):
            object.__setattr__(thing, name, x)
    return thing


def _is_close(a, b) -> bool:
    return np.shape(a) == np.shape(b) and bool(
        np.all((np.asarray(a) == np.asarray(b)) | np.isclose(a, b, rtol=0.0, atol=ROUNDING))
    )
