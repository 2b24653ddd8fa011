"""Checks of what the user asked of a joint: clean values, or one clear sentence."""

from math import inf, isnan, sqrt

import numpy as np

from drystone.constraints.joints.drives import check_drive
from drystone.constraints.joints.pack import Coordinate
from drystone.errors import InputError
from drystone.model.attachment import axes_along, fix_to_bodies
from drystone.model.checks import as_float, not_negative, shown, vector


def check_axis(what: str, value) -> tuple[float, float, float]:
    """A unit vector."""
    x, y, z = vector(what, value)
    largest = max(abs(x), abs(y), abs(z))
    if largest == 0.0:
        raise InputError(f"{what} is (0, 0, 0), must point somewhere.")
    x, y, z = x / largest, y / largest, z / largest
    length = sqrt(x * x + y * y + z * z)
    return x / length, y / length, z / length


def set_fields(joint, **values) -> None:
    """Set checked fields of a frozen joint."""
    for name, value in values.items():
        object.__setattr__(joint, name, value)


def fix_along(joint, point, axis) -> None:
    """Fix a frozen joint to its bodies at `point`, with x along the unit vector `axis`."""
    set_fields(joint, point=point, axis=axis)
    axes = axes_along(axis)
    fix_to_bodies(joint, point, point, axes, axes)


def check_limits(what: str, value, unit: str = "rad", least: float = -inf) -> tuple:
    """(lower, upper) with ∓inf where there is none."""
    if value is None:
        return -inf, inf
    must = f"(lower, upper) in {unit}; None for a side without limit"
    is_row = isinstance(value, tuple | list) or isinstance(value, np.ndarray) and value.ndim == 1
    if not is_row or len(value) != 2:
        raise InputError(f"{what} is {shown(value)}, must be {must}.")
    lower = -inf if value[0] is None else as_float(what, value[0], must)
    upper = inf if value[1] is None else as_float(what, value[1], must)
    if isnan(lower) or isnan(upper) or lower == inf or upper == -inf:
        raise InputError(f"{what} is {shown(value)}, must be {must}.")
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
    check_drive(f"{who}: {motor}", getattr(joint, motor), drives)
    value = not_negative(f"{who}: {friction}", getattr(joint, friction))
    given = given if getattr(joint, limits) is not None else None
    set_fields(joint, **{limits: given, friction: value})


def free_coordinate(joint, suffix: str = "") -> Coordinate:
    """What check_free() has checked."""
    limits = getattr(joint, f"limits{suffix}")
    return Coordinate(
        (-inf, inf) if limits is None else limits,
        getattr(joint, f"motor{suffix}"),
        getattr(joint, f"friction{suffix}"),
    )
