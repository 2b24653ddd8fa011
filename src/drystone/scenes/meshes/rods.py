"""Rods from one point to another in the x-z plane, and where two rods meet."""

from math import atan2, cos, hypot, sin, sqrt

import numpy as np

import drystone as ds

ACROSS = (0.0, -1.0, 0.0)  # axis of hinges: angles count from x towards z


def lay_rod(world, material, start, end, width, name, **options):
    """A bar of square section from `start` to `end`, both (x, y, z) [m]; its x axis runs along."""
    (x, _, z) = along = np.subtract(end, start)
    half = atan2(z, x) / 2
    return world.add_body(
        ds.Box(float(hypot(*along)), width, width), material, position=np.add(start, end) / 2,
        orientation=(cos(half), 0, -sin(half), 0), name=name, **options,
    )  # fmt: skip


def meeting_point(start, radius, end, other):
    """Where rods of lengths `radius` from `start` and `other` from `end` meet, both (x, z) [m].

    Of the two points the one to the left of the line from `start` to `end`.
    """
    (dx, dz) = np.subtract(end, start)
    apart = hypot(dx, dz)
    along = (apart**2 + radius**2 - other**2) / (2 * apart)
    aside = sqrt(radius**2 - along**2)
    ex, ez = dx / apart, dz / apart
    return start[0] + along * ex - aside * ez, start[1] + along * ez + aside * ex


def in_plane(point, y=0.0):
    """(x, z) as (x, y, z)."""
    return point[0], y, point[1]
