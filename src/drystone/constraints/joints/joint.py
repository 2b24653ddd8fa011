"""What all joints have in common for the user: the two bodies, and what can be read.

Signs, for every joint: coordinates, speeds and angles are those of B relative to A, zero at
creation; angles are positive by the right hand about the axis. `force` and `torque` are what the
joint exerts on B (the opposite acts on A), in world axes, the torque about the joint's point.
"""

import inspect
from dataclasses import replace
from math import inf
from typing import Any, ClassVar, NamedTuple

import numpy as np

from drystone.constraints.joints.drives import Motor, Servo
from drystone.constraints.joints.pack import Coordinate
from drystone.constraints.joints.pose import Place, place_between
from drystone.constraints.joints.row_blocks import across_axis, count_revolutions
from drystone.errors import InputError
from drystone.jit.vec import mul, rotation_matrix
from drystone.model.attachment import HERE, NO_TURN, is_world, pose_of
from drystone.model.checks import frozen
from drystone.model.joint_arrays import ROW_DRIVE
from drystone.model.signatures import public

_GOALS = {Motor: "speed", Servo: "target"}


class Flat(NamedTuple):
    """The form of a joint in two dimensions."""

    kind: int
    held_rows: int | None = None  # rows that hold it together; None: as many as in three dimensions
    tree: tuple[int, int, int] | None = None  # as Joint._tree


class NamedJoint(NamedTuple):
    """A joint whose bodies were given by their names: made when it is added to their world."""

    kind: Any  # Hinge, Ball, ...
    given: tuple  # what it was called with
    keywords: dict

    def between(self, find: Any) -> Any:
        """The joint; `find` gives the body of a name."""
        ends = [find(x) if isinstance(x, str) else x for x in self.given[:2]]
        by_name = {
            key: find(x) if key in ("a", "b") and isinstance(x, str) else x
            for key, x in self.keywords.items()
        }
        return self.kind(*ends, *self.given[2:], **by_name)


class _Signature:
    """What a joint is called with; __new__ below, which takes all, would hide it from help()."""

    def __get__(self, _: Any, kind: type) -> inspect.Signature:
        signature = inspect.signature(inspect.getattr_static(kind, "__init__"))
        return signature.replace(parameters=list(signature.parameters.values())[1:])


@public
class Joint:
    """Readings and checks shared by all joints. `World.add_joint` puts a joint into a world."""

    a: Any  # bodies, or None for the fixed world
    b: Any
    attachment: Any
    __dataclass_fields__: ClassVar[dict[str, Any]]
    _world: Any = None  # the world that holds it: .dt, .joint_rows(joint), .joint_values(joint)
    _kind: int
    _held_rows: Any  # rows that hold it together
    _measures: tuple = ()  # kernels: place -> value, l, a, b of each free coordinate
    _angles: tuple = ()  # whether each of them is an angle that counts revolutions
    # Rows that hold a point, rows that hold directions, free rotations: of joints that the
    # articulated body algorithm can eliminate (constraints/kinematic_trees.py).
    _tree: tuple[int, int, int] | None = None
    _flat: Flat | None = None  # None: there is none in two dimensions

    __signature__ = _Signature()

    def __new__(cls, *given: Any, **keywords: Any) -> Any:
        ends = (*given[:2], keywords.get("a"), keywords.get("b"))
        if any(isinstance(end, str) for end in ends):
            return NamedJoint(cls, given, keywords)
        return super().__new__(cls)

    # What the table asks

    def _check_flat(self) -> None:
        """Raise an InputError if it does not fit the plane of two dimensions."""

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

    # What the user reads

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
        """Position error: how far apart its two points are [m]; zero but for drift."""
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
    def motor_force(self) -> Any:
        """Force [N] or torque [N m] of its drive in the last step, along the coordinate."""
        rows = self._owner().joint_rows(self)
        return float(np.sum(rows.impulse[rows.kind == ROW_DRIVE])) / self._world.dt

    def set(self, **changes: Any) -> None:
        """Change limits, motors or friction, also while the world runs.

        joint.set(motor=Motor(speed=3.0, max_torque=5.0))
        """
        for name in changes:
            if name in _NEVER_SET or name not in self.__dataclass_fields__:
                raise InputError(f"{self._name}: {name!r} cannot be set; make a new joint instead.")
        if not all(_is_like(name, getattr(self, name), new) for name, new in changes.items()):
            checked = replace(self, **changes)  # raises before anything is changed
            changes = {name: getattr(checked, name) for name in changes}
        for name, new in changes.items():
            object.__setattr__(self, name, new)
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
        pose_a = (HERE, NO_TURN) if a is None else pose_of(a)
        pose_b = (HERE, NO_TURN) if b is None else pose_of(b)
        return place_between(*at.anchors, *at.frames, *pose_a, *pose_b)

    def _value(self, k: int) -> float:
        """Coordinate `k` now [rad] or [m]; revolutions count once the joint is in a world."""
        value = self._measures[k](self._place())[0]
        if not self._angles[k] or self._world is None:
            return value
        return count_revolutions(value, float(self._world.joint_values(self)[k]))

    def _rate(self, k: int) -> float:
        """Rate of coordinate `k` now [rad/s] or [m/s]."""
        _, lin, on_a, on_b = self._measures[k](self._place())
        (a, b) = (twist_of(body) for body in self.bodies)
        return coordinate_rate(lin, on_a, on_b, a, b)

    def _loads(self):
        """Rows, impulses and step of the last solve."""
        rows = self._owner().joint_rows(self)
        return rows.linear, rows.angular, rows.impulse, self._world.dt

    def _anchor(self, side: int) -> np.ndarray:
        body, anchor = self.bodies[side], self.attachment.anchors[side]
        if body is None:
            return frozen(anchor)
        at, turned = pose_of(body)
        return frozen(np.add(at, mul(rotation_matrix(*turned), anchor)))

    def _arm_b(self) -> np.ndarray:
        body = self.bodies[1]
        return self.anchor_b - (0.0 if body is None else body.centre)


_NEVER_SET = frozenset({"a", "b", "attachment"})


def _is_like(name: str, old: Any, new: Any) -> bool:
    """Whether `new` may take the place of `old` without a look at the joint: a drive of the same
    kind; friction or limits that no check would refuse or change. All checks of a joint take 20 us,
    and controllers set it in every step."""
    if type(new) is float:
        return name.startswith("friction") and 0.0 <= new < inf
    if type(new) is tuple and type(old) is tuple and name.startswith("limits"):
        plain = len(new) == 2 and type(new[0]) is float and type(new[1]) is float
        return plain and -inf < new[0] <= new[1] < inf
    if type(new) is not type(old) or type(new) not in _GOALS:
        return False
    goal = _GOALS[type(new)]
    one, two = getattr(old, goal), getattr(new, goal)
    return type(one) is type(two) and (type(one) is float or len(one) == len(two))


class AlongAxis(Joint):
    """Joints whose first coordinate is a displacement along the axis x."""

    @property
    def position(self) -> float:
        """Displacement of B along the axis since creation [m]."""
        return self._value(0)

    @property
    def speed(self) -> float:
        """Rate of the position [m/s]."""
        return self._rate(0)

    @property
    def separation(self) -> float:
        """Position error: how far B is off the axis [m]; zero but for drift."""
        return across_axis(self._place())


class AboutAxis(Joint):
    """Joints that displace, and whose last coordinate is the angle about the axis x."""

    @property
    def angle(self) -> float:
        """Of B about the axis by the right hand, zero at creation, revolutions counted [rad]."""
        return self._value(len(self._measures) - 1)

    @property
    def angle_speed(self) -> float:
        """Rate of the angle [rad/s]."""
        return self._rate(len(self._measures) - 1)


class OneAngle(Joint):
    """Joints whose first measure is the angle about the axis x."""

    @property
    def angle(self) -> float:
        """Of B about the axis by the right hand, zero at creation, revolutions counted [rad]."""
        return self._value(0)

    @property
    def speed(self) -> float:
        """Rate of the angle [rad/s]."""
        return self._rate(0)


class TwoAngles(Joint):
    """Joints whose measures are angles about axis_a, which is fixed to A, and axis_b of B."""

    @property
    def angle_a(self) -> float:
        """About axis_a, revolutions counted [rad]."""
        return self._value(0)

    @property
    def angle_b(self) -> float:
        """About axis_b, revolutions counted [rad]."""
        return self._value(1)

    @property
    def speed_a(self) -> float:
        """Rate of angle_a [rad/s]."""
        return self._rate(0)

    @property
    def speed_b(self) -> float:
        """Rate of angle_b [rad/s]."""
        return self._rate(1)


class BetweenPoints(Joint):
    """Joints along the line between a point of A and a point of B."""

    @property
    def distance(self) -> float:
        """Of the two points now [m]."""
        return self._value(0)

    @property
    def speed(self) -> float:
        """Rate of the distance [m/s]."""
        return self._rate(0)


def force_on_b(linear, angular, impulse, dt) -> np.ndarray:
    """Sum of l p / dt over the rows [N]."""
    return impulse @ linear / dt


def torque_on_b(linear, angular, impulse, dt, arm_b) -> np.ndarray:
    """Sum of b p / dt over the rows, moved from the centre of mass to the joint's point [N m]."""
    return impulse @ angular[:, 3:] / dt - np.cross(arm_b, force_on_b(linear, angular, impulse, dt))


def coordinate_rate(lin, on_a, on_b, twist_a, twist_b) -> float:
    """u = l.(v_B - v_A) + b.w_B - a.w_A for twists (velocity, spin) as in pack.py."""
    (v_a, w_a), (v_b, w_b) = twist_a, twist_b
    moving = sum(x * (q - p) for x, p, q in zip(lin, v_a, v_b, strict=True))
    turning = sum(x * w for x, w in zip(on_b, w_b, strict=True))
    return float(moving + turning - sum(x * w for x, w in zip(on_a, w_a, strict=True)))


def twist_of(body) -> tuple:
    """Velocity of the origin of the shape's frame, and spin."""
    if body is None:
        return HERE, HERE
    arm = np.asarray(body.position) - body.centre
    return tuple(body.velocity + np.cross(body.spin, arm)), tuple(body.spin)
