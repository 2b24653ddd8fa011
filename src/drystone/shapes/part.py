"""A Part: one convex, terrain or mesh piece of a shape, as the tables of a world store it."""

from dataclasses import dataclass, field
from math import floor, log2
from typing import Any, Protocol

import numpy as np

from drystone.model.rotation import IDENTITY
from drystone.shapes.mass_properties import MassProperties

ORIGIN = np.zeros(3)
ORIGIN.flags.writeable = False
NO_SIZE = ORIGIN


@dataclass(frozen=True, eq=False, slots=True)
class Part:
    """A leaf of a shape, placed in the frame in which the user gave that shape."""

    kind: int  # PLANE ... MESH of model/arrays.py
    size: np.ndarray  # (3,) [m] as in arrays.Shapes.size
    radius: float  # of the sphere about the part's own origin that holds it [m]
    position: np.ndarray = field(default_factory=lambda: ORIGIN)  # (3,) [m]
    rotation: np.ndarray = field(default_factory=lambda: IDENTITY)  # (3, 3) part -> shape axes
    geometry: Any = None  # Polytope (box, hull), TerrainTable, Outline, or None
    # Half of it where it is thinnest, or less [m]; inf: it has no other side; None: the geometry's
    thickness: float | None = None

    @property
    def half_thickness(self) -> float:
        return self.geometry.half_thickness if self.thickness is None else self.thickness

    def moved(self, position: np.ndarray, rotation: np.ndarray) -> "Part":
        """The same part, in a frame in which its shape sits at this pose."""
        return Part(
            self.kind,
            self.size,
            self.radius,
            position + rotation @ self.position,
            rotation @ self.rotation,
            self.geometry,
            self.thickness,
        )


def rounded_offset(centre: np.ndarray, size: float) -> np.ndarray:
    """A round number near `centre`, within size / 2**20.

    A multiple of a power of two: subtracting it from coordinates as large as 1e7 m changes
    no digit of theirs that matters, and what is centred on the origin is not moved at all.
    """
    unit = 2.0 ** (floor(log2(size)) - 20)
    return np.round(centre / unit) * unit + 0.0  # -0 -> 0


class Shape(Protocol):
    """What a user gives to add_body() and add_fixed(): Sphere, Box, Mesh, Plane, ..."""

    def mass_properties(self) -> MassProperties:
        """Volume, centre and inertia at density 1; raises InputError if it bounds no volume."""

    def parts(self) -> list[Part]:
        """Its leaves, in the frame in which it was given."""
