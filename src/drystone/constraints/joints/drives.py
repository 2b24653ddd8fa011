"""Drives of joints: a motor holds a speed, a servo pulls towards a position; both have a limit.

With the coordinate q of the joint (angle or displacement) and its rate u after the step of dt:

    Motor   u = speed             while |force| <= max_force
    Servo   force = -k (q + dt u - target) - d u, cut at max_force

The servo is linearly implicit: the force is that of the position and rate after the step, so
that any stiffness k and damping d are stable (CLINE 2.50 to 2.55 for a single row).
"""

from dataclasses import dataclass
from math import inf

from drystone.errors import InputError
from drystone.model.checks import as_float, check_spring, number, shown, vector
from drystone.model.signatures import public


@public
@dataclass(frozen=True)
class Motor:
    """Holds a speed as long as it is strong enough.

    speed       of B relative to A [rad/s], [m/s] for a slider; three numbers for a Ball: the spin
                in the world axes that A had at creation
    max_force   [N], of joints that slide; None: as strong as needed
    max_torque  [N m], of joints that rotate; the same limit under its right name
    """

    speed: float | tuple[float, float, float]
    max_force: float | None = None
    max_torque: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "speed", _scalar_or_vector("Motor: speed", self.speed))
        _check_bounds("Motor", self.max_force, self.max_torque)

    @property
    def bound(self) -> float:
        """Largest force [N] or torque [N m]."""
        return _bound(self.max_force, self.max_torque)


@public
@dataclass(frozen=True)
class Servo:
    """Pulls towards a position like a spring with a damper, as long as it is strong enough.

    target      of B relative to A, zero at creation [rad], [m] for a slider; of a Distance its
                length; three numbers for a Ball: the rotation vector in the world axes that A had
                at creation
    stiffness   [N m/rad], [N/m] for joints that slide
    damping     [N m s/rad], [N s/m]
    max_force   [N], of joints that slide; None: as strong as needed
    max_torque  [N m], of joints that rotate; the same limit under its right name
    """

    target: float | tuple[float, float, float]
    stiffness: float
    damping: float = 0.0
    max_force: float | None = None
    max_torque: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "target", _scalar_or_vector("Servo: target", self.target))
        check_spring(self, "Servo")
        _check_bounds("Servo", self.max_force, self.max_torque)

    @property
    def bound(self) -> float:
        """Largest force [N] or torque [N m]."""
        return _bound(self.max_force, self.max_torque)


def check_drive(what: str, drive, count: int = 1):
    """None, a Motor or a Servo whose speed or target has `count` numbers."""
    if drive is None:
        return None
    if not isinstance(drive, Motor | Servo):
        raise InputError(
            f"{what} is {shown(drive)}, must be Motor(speed=...), Servo(target=..., ...) or None."
        )
    goal, name = (drive.speed, "speed") if isinstance(drive, Motor) else (drive.target, "target")
    given = len(goal) if isinstance(goal, tuple) else 1
    if given != count:
        raise InputError(
            f"{what}: {name} is {shown(goal)}, must be {count} number{'s' * (count > 1)}."
        )
    return drive


def _scalar_or_vector(what: str, value):
    if hasattr(value, "__len__"):
        return vector(what, value)
    return number(what, value)


def _check_bounds(who: str, force, torque) -> None:
    if force is not None and torque is not None:
        raise InputError(
            f"{who}: max_force is {shown(force)} and max_torque is {shown(torque)}, give only one: "
            f"a force for joints that slide, a torque for joints that rotate."
        )
    for name, value in (("max_force", force), ("max_torque", torque)):
        must = "a number >= 0, or None for no limit"
        if value is not None and not as_float(f"{who}: {name}", value, must) >= 0.0:
            raise InputError(f"{who}: {name} is {shown(value)}, must be {must}.")


def _bound(force, torque) -> float:
    given = force if force is not None else torque
    return inf if given is None else float(given)
