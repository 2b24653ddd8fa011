"""Fixing a joint to its bodies.

Points and axes are given in world coordinates, at the poses that the bodies have when the joint
is made (CLINE 4.4.1, the second method). They are kept in the frames of the shapes, which stay when
a mass or inertia is changed.
"""

from typing import NamedTuple

import numpy as np

from drystone.errors import InputError
from drystone.jit.vec import mul_t, quaternion_product, rotation_matrix, tangents
from drystone.model.checks import of_kind, planar, shown, vector
from drystone.model.rotation import quaternion_from_matrix

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


def pose_of(body) -> tuple:
    return tuple(map(float, body.position)), tuple(map(float, body.orientation))


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
        who = f"{type(joint).__name__}: attachment"
        of_kind(who, joint.attachment, Attachment, "that of another joint, or left out")
        return
    rotations = [tuple(quaternion_from_matrix(axes).tolist()) for axes in (axes_a, axes_b)]
    anchors, frames = [], []
    for body, point, rotation in zip(joint.bodies, (point_a, point_b), rotations, strict=True):
        if body is not None:
            _check_near(joint, body, point)
            at, (w, x, y, z) = pose_of(body)
            arm = tuple(p - c for p, c in zip(point, at, strict=True))
            point = mul_t(rotation_matrix(w, x, y, z), arm)
            rotation = quaternion_product((w, -x, -y, -z), rotation)
        anchors.append(tuple(point))
        frames.append(tuple(rotation))
    attachment = Attachment(tuple(anchors), tuple(frames), tuple(rotations))
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
    if joint.point is None:
        a, b = joint.bodies
        object.__setattr__(joint, "point", (a if b is None else b).centre)
    point = check_point(joint, "point")
    object.__setattr__(joint, "point", point)
    return point


def set_points(joint) -> float:
    """Check point_a and point_b of a frozen joint, in place; returns their distance [m]."""
    for name in ("point_a", "point_b"):
        object.__setattr__(joint, name, check_point(joint, name))
    return float(np.linalg.norm(np.subtract(joint.point_b, joint.point_a)))


def is_world(body) -> bool:
    return body is None or getattr(body, "is_fixed", False)


def is_moving(body) -> bool:
    """Whether it is a body that add_body() returned; kinematic ones count."""
    return getattr(body, "is_fixed", None) is False


def check_bodies(who: str, a, b) -> None:
    """Two different bodies of one world, at least one of which can move."""
    for name, body in (("a", a), ("b", b)):
        if not is_world(body) and not hasattr(body, "orientation"):
            raise InputError(
                f"{who}: {name} is {shown(body)}, must be a body of the world or None for the "
                f"fixed world."
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


def is_flat(joint) -> bool:
    """Whether the joint is made for a world of two dimensions."""
    worlds = [body._world for body in joint.bodies if body is not None]
    return any(getattr(world, "dim", 3) == 2 for world in worlds)


def check_point(joint, name: str) -> tuple[float, float, float]:
    """The point of that name; (x, z) will do in two dimensions."""
    check = planar if is_flat(joint) else vector
    return check(f"{type(joint).__name__}: {name}", getattr(joint, name))
