"""Checks of what a person asked of a joint: clean values, or one clear sentence."""

from math import inf, isnan, sqrt

from drystone.body import FixedBody
from drystone.errors import InputError
from drystone.inputs import not_negative
from drystone.joints.drives import check_drive
from drystone.joints.table import Coordinate
from drystone.shapes.checks import planar, vector


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


def is_flat(joint) -> bool:
    """Whether the joint is made for a world of two dimensions."""
    worlds = [body._world for body in joint.bodies if body is not None]
    return any(getattr(world, "dim", 3) == 2 for world in worlds)


def check_point(joint, name: str) -> tuple[float, float, float]:
    """The point of that name; (x, z) will do in two dimensions."""
    check = planar if is_flat(joint) else vector
    return check(f"{type(joint).__name__}: {name}", getattr(joint, name))


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
