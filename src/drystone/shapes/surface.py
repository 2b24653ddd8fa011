"""Surfaces for drawing: polygon meshes of shapes, in NumPy alone.

A shape draws itself: `surfaces()` of its class gives a list of Surface in the shape's frame.
"""

from math import cos, radians, sin
from typing import NamedTuple

import numpy as np

AROUND = 48  # corners around a surface of revolution
ALONG = 5.0  # [degrees] about, between two rings of a round one


class Surface(NamedTuple):
    """Polygons over vertices (n, 3) [m]; `faces` has the corners of each, counter-clockwise."""

    vertices: np.ndarray
    faces: list | np.ndarray  # lists of corners, or (m, k) if all have as many
    smooth: bool  # whether light should not show its edges

    def moved(self, position, rotation) -> "Surface":
        """The same in a frame in which its own sits at this position and rotation (3, 3)."""
        return self._replace(vertices=self.vertices @ np.asarray(rotation).T + position)


def arc(r: float, first: float, last: float, z: float = 0.0) -> list[tuple[float, float]]:
    """Points (radius, height) of a circle about (0, z) between two latitudes [degrees]."""
    steps = max(1, round((last - first) / ALONG))
    angles = [radians(first + (last - first) * k / steps) for k in range(steps + 1)]
    return [(r * cos(a), z + r * sin(a)) for a in angles]


def surface_of_revolution(*profiles) -> Surface:
    """About z, from profiles of points (radius, height), from the bottom up.

    Where one profile ends and the next begins the surface has a sharp edge: corners are not
    shared there, so that smooth light does not round it.
    """
    angle = 2.0 * np.pi * np.arange(AROUND) / AROUND
    x, y = np.cos(angle), np.sin(angle)
    vertices: list[np.ndarray] = []
    faces: list[list[int]] = []
    for profile in profiles:
        first = AROUND * len(vertices)
        vertices += [np.column_stack([r * x, r * y, np.full(AROUND, z)]) for r, z in profile]
        for k, j in np.ndindex(len(profile) - 1, AROUND):
            low, high, after = first + k * AROUND, first + (k + 1) * AROUND, (j + 1) % AROUND
            faces.append([low + j, low + after, high + after, high + j])
    return Surface(np.concatenate(vertices), faces, smooth=True)
