"""What all joints have in common for a person: the two bodies, the checks, and what can be read.

Signs, for every joint: coordinates, speeds and angles are those of B relative to A, zero at
creation; angles are positive by the right hand about the axis. `force` and `torque` are what the
joint exerts on B (the opposite acts on A), in world axes, the torque about the joint's point.

Points and axes are given in world coordinates, at the poses that the bodies have when the joint
is made. They are kept in the frames of the shapes, which stay when a mass is changed.
"""

from dataclasses import fields, replace
from math import inf, isnan, sqrt
from typing import NamedTuple

import numpy as np

from drystone.body import FixedBody, frozen
from drystone.errors import InputError
from drystone.inputs import not_negative
from drystone.joints.drives import check_drive
from drystone.joints.layout import ROW_DRIVE
from drystone.joints.parts import count_turns
from drystone.joints.place import Place, place_between
from drystone.joints.table import Coordinate
from drystone.shapes.checks import vector
from drystone.shapes.rotation import quaternion_from_matrix
from drystone.vec import mul, mul_t, quaternion_product, rotation_matrix, tangents

NO_TURN = (1.0, 0.0, 0.0, 0.0)
HERE = (0.0, 0.0, 0.0)

# A joint's point may be this far from its bodies [m]. The rounding of such an arm is 1e-10 m; it
# is more likely that coordinates of a map met local ones.
FARTHEST = 1e6


class Attachment(NamedTuple):
    """Where a joint sits on its two bodies, in the frames of their shapes."""

    anchors: tuple  # of A, of B: its point [m]
    frames: tuple  # of A, of B: quaternion, joint axes -> shape's axes
    bases: tuple  # of A, of B: quaternion, joint axes -> world axes at creation


class Joint:
    """Readings and checks shared by all joints. `World.add_joint` puts a joint into a world."""

    _world = None  # the world that holds it: .dt, .joint_rows(joint), .joint_values(joint)
    _kind: int
    _held_rows: int  # rows that hold it together
    _measures: tuple = ()  # kernels: place -> value, l, a, b of each free coordinate
    _angles: tuple = ()  # whether each of them counts whole turns

    # What the table asks

    def _coordinates(self) -> tuple[Coordinate, ...]:
        return ()

    def _numbers(self) -> tuple[float, ...]:
        return ()

    @property
    def row_count(self) -> int:
        """Rows in the contact problem; never changes from step to step."""
        return self._held_rows + sum(c.row_count() for c in self._coordinates())

    @property
    def bodies(self) -> tuple:
        """A and B; None is the fixed world."""
        return tuple(None if is_world(body) else body for body in (self.a, self.b))

    # What a person reads

    @property
    def anchor_a(self) -> np.ndarray:
        """The joint's point as fixed to A, where it is now [m]."""
        return self._anchor(0)

    @property
    def anchor_b(self) -> np.ndarray:
        """The joint's point as fixed to B, where it is now [m]."""
        return self._anchor(1)

    @property
    def separation(self) -> float:
        """How far the joint is torn apart [m]; zero but for drift."""
        return float(np.linalg.norm(self._place().apart))

    @property
    def force(self) -> np.ndarray:
        """Force of the joint on B in the last step, drives and limits included [N]."""
        return frozen(force_on_b(*self._loads()))

    @property
    def torque(self) -> np.ndarray:
        """Torque of the joint on B about its point in the last step [N m]."""
        linear, angular, impulse, dt = self._loads()
        return frozen(torque_on_b(linear, angular, impulse, dt, self._arm_b()))

    @property
    def motor_force(self) -> float:
        """Force [N] or torque [N m] of its drive in the last step, along the coordinate."""
        rows = self._owner().joint_rows(self)
        return float(np.sum(rows.impulse[rows.kind == ROW_DRIVE])) / self._world.dt

    def set(self, **changes) -> None:
        """Change limits, motors or friction, also while the world runs.

        joint.set(motor=Motor(speed=3.0, max_torque=5.0))
        """
        fixed = {"a", "b", "attachment"}
        for name in changes:
            if name in fixed or name not in {field.name for field in fields(self)}:
                raise InputError(f"{self._name}: {name!r} cannot be set; make a new joint instead.")
        checked = replace(self, **changes)  # raises before anything is changed
        for name in changes:
            object.__setattr__(self, name, getattr(checked, name))
        if self._world is not None:
            self._world.joint_changed(self)

    # Inside

    @property
    def _name(self) -> str:
        return type(self).__name__

    def _owner(self):
        if self._world is None:
            raise InputError(f"{self._name}: is in no world yet; use world.add_joint(joint).")
        return self._world

    def _place(self) -> Place:
        """Place of the joint, arms from the origins of the shapes' frames."""
        (a, b), at = self.bodies, self.attachment
        pose_a = (HERE, NO_TURN) if a is None else _pose_of(a)
        pose_b = (HERE, NO_TURN) if b is None else _pose_of(b)
        return place_between(*at.anchors, *at.frames, *pose_a, *pose_b)

    def _value(self, k: int) -> float:
        """Coordinate `k` now [rad] or [m]; turns are counted once the joint is in a world."""
        value = self._measures[k](self._place())[0]
        if not self._angles[k] or self._world is None:
            return value
        return count_turns(value, float(self._world.joint_values(self)[k]))

    def _rate(self, k: int) -> float:
        """Rate of coordinate `k` now [rad/s] or [m/s]."""
        _, lin, on_a, on_b = self._measures[k](self._place())
        (a, b) = (_twist_of(body) for body in self.bodies)
        return coordinate_rate(lin, on_a, on_b, a, b)

    def _loads(self):
        """Rows, impulses and step of the last solve."""
        rows = self._owner().joint_rows(self)
        return rows.linear, rows.angular, rows.impulse, self._world.dt

    def _anchor(self, side: int) -> np.ndarray:
        body, anchor = self.bodies[side], self.attachment.anchors[side]
        if body is None:
            return frozen(anchor)
        at, turned = _pose_of(body)
        return frozen(np.add(at, mul(rotation_matrix(*turned), anchor)))

    def _arm_b(self) -> np.ndarray:
        body = self.bodies[1]
        return self.anchor_b - (0.0 if body is None else body.centre)


def force_on_b(linear, angular, impulse, dt) -> np.ndarray:
    """Sum of l p / dt over the rows [N]."""
    return impulse @ linear / dt


def torque_on_b(linear, angular, impulse, dt, arm_b) -> np.ndarray:
    """Sum of b p / dt over the rows, moved from the centre of mass to the joint's point [N m]."""
    return impulse @ angular[:, 3:] / dt - np.cross(arm_b, force_on_b(linear, angular, impulse, dt))


def coordinate_rate(lin, on_a, on_b, twist_a, twist_b) -> float:
    """u = l.(v_B - v_A) + b.w_B - a.w_A for twists (velocity, spin) as in table.py."""
    (v_a, w_a), (v_b, w_b) = twist_a, twist_b
    moving = sum(x * (q - p) for x, p, q in zip(lin, v_a, v_b, strict=True))
    turning = sum(x * w for x, w in zip(on_b, w_b, strict=True))
    return float(moving + turning - sum(x * w for x, w in zip(on_a, w_a, strict=True)))


def _pose_of(body) -> tuple:
    return tuple(map(float, body.position)), tuple(map(float, body.orientation))


def _twist_of(body) -> tuple:
    """Velocity of the origin of the shape's frame, and spin."""
    if body is None:
        return HERE, HERE
    arm = np.asarray(body.position) - body.centre
    return tuple(body.velocity + np.cross(body.spin, arm)), tuple(body.spin)


# Checks of what a person gave


def is_world(body) -> bool:
    return body is None or isinstance(body, FixedBody)


def check_bodies(who: str, a, b) -> None:
    """Two different bodies of one world, at least one of which can move."""
    for name, body in (("a", a), ("b", b)):
        if not is_world(body) and not hasattr(body, "orientation"):
            raise InputError(
                f"{who}: {name} is {body!r}, must be a body of the world or None for the fixed "
                f"world."
            )
    if is_world(a) and is_world(b):
        raise InputError(f"{who}: both sides are the fixed world; at least one must be a body.")
    if a is b:
        raise InputError(
            f"{who}: a and b are the same body {a.name!r}; a joint needs two, or None for the "
            f"fixed world."
        )
    if all(is_world(body) or getattr(body, "kinematic", False) for body in (a, b)):
        raise InputError(f"{who}: neither side can be moved; at least one must be a dynamic body.")
    worlds = {id(body._world) for body in (a, b) if body is not None}
    if len(worlds) > 1:
        raise InputError(f"{who}: {a.name!r} and {b.name!r} are in different worlds.")


def check_axis(what: str, value) -> tuple[float, float, float]:
    """A unit vector."""
    x, y, z = vector(what, value)
    largest = max(abs(x), abs(y), abs(z))
    if largest == 0.0:
        raise InputError(f"{what} is (0, 0, 0), must point somewhere.")
    x, y, z = x / largest, y / largest, z / largest
    length = sqrt(x * x + y * y + z * z)
    return x / length, y / length, z / length


def check_limits(what: str, value, unit: str = "rad", least: float = -inf) -> tuple:
    """(lower, upper) with ∓inf where there is none."""
    if value is None:
        return -inf, inf
    try:
        lower, upper = value
        lower = -inf if lower is None else float(lower)
        upper = inf if upper is None else float(upper)
    except (TypeError, ValueError):
        raise InputError(
            f"{what} is {value!r}, must be (lower, upper) in {unit}; None for a side without limit."
        ) from None
    if isnan(lower) or isnan(upper) or lower == inf or upper == -inf:
        raise InputError(f"{what} is {value!r}, must be numbers in {unit}, or None for no limit.")
    if lower > upper:
        raise InputError(
            f"{what} is ({lower:g}, {upper:g}) {unit}, the lower is above the upper; "
            f"write ({upper:g}, {lower:g})."
        )
    if upper < least:
        raise InputError(f"{what} is ({lower:g}, {upper:g}) {unit}, must be >= {least:g}.")
    return lower, upper


def check_free(joint, suffix: str = "", unit: str = "rad", drives: int = 1) -> None:
    """Limits, motor and friction of one coordinate of a frozen joint, in place."""
    who = type(joint).__name__
    limits, motor, friction = (f"{name}{suffix}" for name in ("limits", "motor", "friction"))
    given = check_limits(f"{who}: {limits}", getattr(joint, limits), unit)
    object.__setattr__(joint, limits, given if getattr(joint, limits) is not None else None)
    check_drive(f"{who}: {motor}", getattr(joint, motor), drives)
    value = not_negative(f"{who}: {friction}", getattr(joint, friction))
    object.__setattr__(joint, friction, value)


def free_coordinate(joint, suffix: str = "") -> Coordinate:
    """What check_free() has checked."""
    limits = getattr(joint, f"limits{suffix}")
    return Coordinate(
        (-inf, inf) if limits is None else limits,
        getattr(joint, f"motor{suffix}"),
        getattr(joint, f"friction{suffix}"),
    )


# Fixing a joint to its bodies


def axes_along(x, hint=None) -> np.ndarray:
    """Right-handed axes as columns; the first is the unit vector `x`, the second near `hint`."""
    x = np.array(x)
    if hint is None:
        y, _ = tangents(tuple(x.tolist()))
    else:
        y = np.asarray(hint) - x * (x @ np.asarray(hint))
        y = y / np.linalg.norm(y)
    return np.column_stack([x, y, np.cross(x, y)])


def fix_to_bodies(joint, point_a, point_b, axes_a, axes_b) -> None:
    """Set joint.attachment from points and axes (columns) in world coordinates, unless given."""
    if joint.attachment is not None:
        return
    turns = [tuple(quaternion_from_matrix(axes).tolist()) for axes in (axes_a, axes_b)]
    anchors, frames = [], []
    for body, point, turn in zip(joint.bodies, (point_a, point_b), turns, strict=True):
        if body is not None:
            _check_near(joint, body, point)
            at, (w, x, y, z) = _pose_of(body)
            arm = tuple(p - c for p, c in zip(point, at, strict=True))
            point = mul_t(rotation_matrix(w, x, y, z), arm)
            turn = quaternion_product((w, -x, -y, -z), turn)
        anchors.append(tuple(point))
        frames.append(tuple(turn))
    attachment = Attachment(tuple(anchors), tuple(frames), tuple(turns))
    object.__setattr__(joint, "attachment", attachment)


def _check_near(joint, body, point) -> None:
    distance = float(np.linalg.norm(np.subtract(point, body.centre)))
    if distance > FARTHEST:
        raise InputError(
            f"{type(joint).__name__}: its point {tuple(point)} is {distance:.3g} m away from "
            f"{body.name!r}, must be within {FARTHEST:g} m; points are in world coordinates."
        )


def point_or_centre(joint) -> tuple[float, float, float]:
    """The joint's point, set to the centre of mass of B (of A if B is the world) if not given."""
    point = joint.point
    if point is None:
        a, b = joint.bodies
        point = tuple(map(float, (a if b is None else b).centre))
    point = vector(f"{type(joint).__name__}: point", point)
    object.__setattr__(joint, "point", point)
    return point


def set_points(joint) -> float:
    """Check point_a and point_b of a frozen joint, in place; returns their distance [m]."""
    for name in ("point_a", "point_b"):
        point = vector(f"{type(joint).__name__}: {name}", getattr(joint, name))
        object.__setattr__(joint, name, point)
    return float(np.linalg.norm(np.subtract(joint.point_b, joint.point_a)))
