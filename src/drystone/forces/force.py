"""Element: base class of all force elements, and checks that they share."""

from dataclasses import fields, replace
from typing import Any, ClassVar

import numpy as np

from drystone.errors import InputError
from drystone.model.attachment import check_bodies, fix_to_bodies, is_moving, is_world
from drystone.model.checks import shown, vector
from drystone.model.signatures import public


@public
class Element:
    """Base of all force elements. `World.add_force` puts one into a world."""

    a: Any  # of forces between two bodies
    b: Any
    body: Any  # of those on one
    __dataclass_fields__: ClassVar[dict[str, Any]]
    _world: Any = None  # the world that it acts in
    _kind: int | None  # what kernels know it by; None: a function in Python
    _fixed: tuple[str, ...] = ()  # fields that set() leaves alone

    @property
    def has_two_ends(self) -> bool:
        """Whether it acts between points of `a` and `b`; else on `body`, or all bodies."""
        return hasattr(self, "a")

    @property
    def bodies(self) -> tuple:
        """A and B, or the one body; None is the fixed world, or all bodies."""
        ends = (self.a, self.b) if self.has_two_ends else (self.body,)
        return tuple(None if is_world(body) else body for body in ends)

    def set(self, **changes: Any) -> None:
        """Change numbers or the position, also while the world runs."""
        who = type(self).__name__
        for name in changes:
            if name in self._fixed or name not in {field.name for field in fields(self)}:
                raise InputError(f"{who}: {name!r} cannot be set; make a new one instead.")
        checked = replace(self, **changes)  # raises before anything is changed
        for name in changes:
            object.__setattr__(self, name, getattr(checked, name))
        if self._world is not None:
            self._world.force_changed(self)


def check_ends(element) -> None:
    check_bodies(type(element).__name__, element.a, element.b)


def check_one(element) -> None:
    """`body` is a moving body or None."""
    body = element.body
    if body is not None and not is_moving(body):
        raise InputError(
            f"{type(element).__name__}: body is {shown(body)}, must be a moving body, or None for "
            f"all."
        )


def place_points(element) -> float:
    """Check point_a and point_b, or take the centres, and fix them to the bodies; the distance."""
    who = type(element).__name__
    for name, body, other in (
        ("point_a", *element.bodies),
        ("point_b", *element.bodies[::-1]),
    ):
        point = getattr(element, name)
        if point is None:
            # The fixed world has no centre: it is held where the other body is now.
            point = tuple(map(float, (other if body is None else body).centre))
        object.__setattr__(element, name, vector(f"{who}: {name}", point))
    fix_to_bodies(element, element.point_a, element.point_b, np.eye(3), np.eye(3))
    return float(np.linalg.norm(np.subtract(element.point_b, element.point_a)))
