"""Compound: several shapes fixed to each other, one body."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from drystone.errors import InputError
from drystone.model.checks import planar, shown, vector
from drystone.model.rotation import matrix_from_quaternion, unit_quaternion
from drystone.shapes.mass_properties import MassProperties, combine, read_only
from drystone.shapes.part import Part
from drystone.shapes.surface import Surface
from drystone.shapes.two_dimensions.outline import is_flat


@dataclass(frozen=True, init=False, repr=False)
class Compound:
    """Shapes placed in one frame: Compound((shape, position), (shape, position, orientation), ...)

    position     of the shape's frame in the frame of the compound [m]; (x, z) in two dimensions
    orientation  unit quaternion (w, x, y, z), (1, 0, 0, 0) if left out

    A member may be a Compound itself. Where members overlap their masses add: the common volume
    counts once for each. Members of one body never touch each other.
    """

    members: tuple  # of (shape, position, orientation)

    def __init__(self, *members: tuple) -> None:
        if not members:
            raise InputError("Compound: is empty, needs at least one (shape, position).")
        checked = tuple(_checked(k, member) for k, member in enumerate(members))
        object.__setattr__(self, "members", checked)

    def __repr__(self) -> str:
        return f"Compound({', '.join(map(repr, self.members))})"

    def mass_properties(self) -> MassProperties:
        return self._mass

    @cached_property  # a thousand bodies may share this shape
    def _mass(self) -> MassProperties:
        placed = [
            (shape.mass_properties(), np.array(position), matrix_from_quaternion(orientation))
            for shape, position, orientation in self.members
        ]
        return read_only(combine(placed))

    def parts(self) -> list[Part]:
        return [
            part.moved(np.array(position), matrix_from_quaternion(orientation))
            for shape, position, orientation in self.members
            for part in shape.parts()
        ]

    def surfaces(self) -> list[Surface]:
        return [
            surface.moved(np.array(position), matrix_from_quaternion(orientation))
            for shape, position, orientation in self.members
            for surface in shape.surfaces()
        ]


def _checked(k: int, member) -> tuple:
    who = f"Compound: member {k}"
    if not isinstance(member, tuple | list) or len(member) not in (2, 3):
        raise InputError(
            f"{who} is {shown(member)}, must be (shape, position) or "
            "(shape, position, orientation)."
        )
    shape, position = member[:2]
    if isinstance(shape, type) or not hasattr(shape, "surfaces"):
        raise InputError(f"{who}: {shown(shape)} is not a shape such as Sphere(1) or Box(1, 1, 1).")
    orientation = member[2] if len(member) == 3 else (1.0, 0.0, 0.0, 0.0)
    place = planar if is_flat(shape) else vector
    return (
        shape,
        place(f"{who}: position", position),
        unit_quaternion(f"{who}: orientation", orientation),
    )
