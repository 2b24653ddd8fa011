"""From the robots that the user placed to the arrays of the world (model/robot_arrays.py)."""

from collections.abc import Sequence
from math import inf

import numpy as np

from drystone.constraints.reduced.mass_factor import mass_places
from drystone.model.robot_arrays import (
    DRIVE_RATE,
    DRIVE_SERVO,
    DRIVE_TORQUE,
    RobotModel,
    Robots,
)
from drystone.model.robot_state import ROBOT_STATE
from drystone.model.rotation import rotation_matrices

_DRIVES = {"torque": DRIVE_TORQUE, "velocity": DRIVE_RATE, "position": DRIVE_SERVO}
# Arrays of a RobotModel that name links, rates or places of others: shifted by what stands before.
_LINKS, _RATES = ("parent", "dof_link"), ("above",)


def pack_robots(placed: Sequence, rows: dict, origin, rotation: np.ndarray) -> Robots | None:
    """Table of the robots `placed`; None if there are none.

    rows       of all bodies of the world
    rotation   (n, 4) quaternions of the principal axes of the bodies in the axes of their shapes
    """
    if not placed:
        return None
    model = _forest([one.robot._model for one in placed])
    base = np.concatenate([one._base for one in placed])
    base[:, :3] -= np.array(origin)
    nl = len(model.parent)
    body, link = np.full(nl, -1, np.int32), np.full(len(rows) + 1, -1, np.int32)
    centre, principal = np.zeros((nl, 3)), np.tile(np.eye(3).ravel(), (nl, 1))
    for t, one in enumerate(placed):
        first = int(model.first_link[t])
        for i, spec in enumerate(one.robot.links):
            centre[first + i] = spec.centre
        for name, owner in one._bodies.items():
            i, row = first + one.robot._link_row[name], rows[owner]
            body[i], link[row] = row, i
            principal[i] = rotation_matrices(rotation[row]).ravel()
    drives, couples, loops = _drives(placed, model), _couples(placed, model), _loops(placed, model)
    return Robots(
        model=model, base=base, body=body, link=link, centre=centre, principal=principal,
        mass_first=mass_places(model.above), smooth=_smooth(placed), **drives, **couples, **loops,
    )  # fmt: skip


def _forest(models: list[RobotModel]) -> RobotModel:
    """The arrays of all robots, one after the other."""
    counts = {"link": [len(m.parent) for m in models], "v": [len(m.dof_link) for m in models],
              "q": [int(m.first_q[-1]) for m in models]}  # fmt: skip
    before = {key: np.concatenate([[0], np.cumsum(c)]) for key, c in counts.items()}
    parts: dict[str, np.ndarray] = {}
    for name in RobotModel._fields:
        own = [getattr(m, name) for m in models]
        if name in ("first_q", "first_v"):
            shift = before[name[-1]]
            own = [a[:-1] + s for a, s in zip(own, shift, strict=False)] + [shift[-1:]]
        elif name in _LINKS + _RATES:
            shift = before["link" if name in _LINKS else "v"]
            own = [np.where(a >= 0, a + s, -1) for a, s in zip(own, shift, strict=False)]
        elif name == "tree":
            own = [np.full(len(a), t) for t, a in enumerate(own)]
        elif name == "first_link":
            own = [before["link"]]
        kind = getattr(models[0], name).dtype
        parts[name] = np.ascontiguousarray(np.concatenate(own).astype(kind))
    return RobotModel(**parts)


def _firsts(counts: list[int]) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)


def _smooth(placed) -> np.ndarray:
    """Robots on which nothing acts that a step must solve for, unless it touches something."""
    return np.array(
        [
            all(a.kind == "torque" for a in one.robot.actuators)
            and not one.robot._model.friction.any()
            and not one.robot.loops
            and not any(joint.mimic for joint in one.robot.joints)
            for one in placed
        ],
        np.int32,
    )


def _coordinate(robot, joint: str, t: int, model: RobotModel) -> tuple[int, int]:
    """Rate and coordinate of a joint of robot `t` in the arrays of the world."""
    i = int(model.first_link[t]) + robot._joint_row[joint]
    return int(model.first_v[i]), int(model.first_q[i])


def _drives(placed, model) -> dict[str, np.ndarray]:
    kinds, at, numbers = [], [], []
    for t, one in enumerate(placed):
        for a in one.robot.actuators:
            kinds.append(_DRIVES[a.kind])
            at.append(_coordinate(one.robot, a.joint, t, model))
            most = inf if a.max_force is None else a.max_force
            numbers.append((a.gear, most, a.stiffness, a.damping))
    places = np.array(at, np.int32).reshape(-1, 2)
    return {
        "drive_kind": np.array(kinds, np.int32),
        "drive_rate": np.ascontiguousarray(places[:, 0]),
        "drive_q": np.ascontiguousarray(places[:, 1]),
        "drive": np.array(numbers, np.float64).reshape(-1, 4),
        "first_drive": _firsts([len(one.robot.actuators) for one in placed]),
    }


def _couples(placed, model) -> dict[str, np.ndarray]:
    at, numbers, counts = [], [], []
    for t, one in enumerate(placed):
        own = [joint for joint in one.robot.joints if joint.mimic]
        counts.append(len(own))
        for joint in own:
            leader, factor, offset = joint.mimic
            at.append((*_coordinate(one.robot, joint.name, t, model),
                       *_coordinate(one.robot, leader, t, model)))  # fmt: skip
            numbers.append((factor, offset))
    return {
        "couple": np.array(at, np.int32).reshape(-1, 4),
        "couple_number": np.array(numbers, np.float64).reshape(-1, 2),
        "first_couple": _firsts(counts),
    }


def _loops(placed, model) -> dict[str, np.ndarray]:
    links, points = [], []
    for t, one in enumerate(placed):
        for loop in one.robot.loops:
            links.append([_row(one.robot, name, t, model) for name in (loop.link_a, loop.link_b)])
            points.append([_point(one, loop.link_a, loop.point_a),
                           _point(one, loop.link_b, loop.point_b)])  # fmt: skip
    return {
        "loop_link": np.array(links, np.int32).reshape(-1, 2),
        "loop_point": np.array(points, np.float64).reshape(-1, 6),
        "first_loop": _firsts([len(one.robot.loops) for one in placed]),
    }


def _row(robot, name, t: int, model) -> int:
    return -1 if name is None else int(model.first_link[t]) + robot._link_row[name]


def _point(one, link, point) -> np.ndarray:
    """In the frame of its link, or in the world from its local origin."""
    given = np.asarray(point, np.float64)
    return given - np.array(one._world._origin) if link is None else given


def slices_of(robots: Robots, t: int) -> dict[str, slice]:
    """Where robot `t` stands in the arrays of State, its impulses aside."""
    model = robots.model
    a, b = model.first_link[t], model.first_link[t + 1]
    rates = slice(int(model.first_v[a]), int(model.first_v[b]))
    return {
        "robot_q": slice(int(model.first_q[a]), int(model.first_q[b])),
        "robot_v": rates,
        "robot_tau": rates,
        "robot_control": slice(int(robots.first_drive[t]), int(robots.first_drive[t + 1])),
    }


def _impulses_of(robots: Robots, t: int) -> np.ndarray:
    """Places of robot `t` in State.robot_impulse."""
    rates, nv = slices_of(robots, t)["robot_v"], len(robots.model.dof_link)
    places = [np.arange(3 * rates.start, 3 * rates.stop)]
    first = 3 * nv
    for firsts, rows in ((robots.first_drive, 1), (robots.first_couple, 1), (robots.first_loop, 3)):
        places.append(first + np.arange(rows * firsts[t], rows * firsts[t + 1]))
        first += rows * int(firsts[-1])
    return np.concatenate(places)


def carry_robots(world, old_build, old, built, new) -> None:
    """Coordinates, commands and impulses of robots that were in the old state, into the new one;
    the others stand at their start."""
    robots = built.model.robots
    for t, one in enumerate(world._robots):
        slices = slices_of(robots, t)
        known = old is not None and bool(one._slices)
        for name in ROBOT_STATE[:-1]:
            source = getattr(old, name)[one._slices[name]] if known else one._start[name]
            getattr(new, name)[slices[name]] = source
        if known:
            before = _impulses_of(old_build.model.robots, t)
            new.robot_impulse[_impulses_of(robots, t)] = old.robot_impulse[before]
        else:
            one._fresh = True
        one._slices = slices
