"""Convex polygon of two dimensions; area, centre and moment as sums over the edges.

With c_k = x_k z_(k+1) - x_(k+1) z_k about the first corner's neighbourhood [Steger1996]:

    A = Σ c / 2,   centre = Σ (p_k + p_(k+1)) c / (6 A),
    ∫ x² + z² = Σ (p_k·p_k + p_k·p_(k+1) + p_(k+1)·p_(k+1)) c / 12
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from math import atan2, pi

import numpy as np

from drystone.errors import InputError
from drystone.model.checks import positive, shown, vector
from drystone.shapes.mass_properties import MassProperties, read_only
from drystone.shapes.part import Part
from drystone.shapes.surface import Surface
from drystone.shapes.two_dimensions.outline import flat_mass, outline_part, prism

# A corner that turns by less than this [rad] is a point on an edge: rounding of what a user
# computed, and a micrometre on an edge of a metre.
CLOSED = 1e-6
MOST_CORNERS = 10_000  # more than any outline needs: what is given may never end


@dataclass(frozen=True)
class Polygon:
    """Convex polygon with the corners `points` (n, 2), x and z [m], in order, either way round.

    Polygon.box(x, z) is a rectangle about the origin of its frame. What is not convex is a
    Compound of convex ones.
    """

    points: tuple[tuple[float, float], ...]

    def __post_init__(self) -> None:
        try:
            given = list(islice(iter(self.points), MOST_CORNERS + 1))
        except Exception:  # not to be iterated, or an iterator that fails
            raise InputError(f"Polygon: points is {shown(self.points)}, must be a list.") from None
        if len(given) > MOST_CORNERS:
            raise InputError(f"Polygon: has more than {MOST_CORNERS} points, which is the limit.")
        points = [vector(f"Polygon: point {k}", point, 2) for k, point in enumerate(given)]
        object.__setattr__(self, "points", _checked(points))

    @classmethod
    def box(cls, x: float, z: float) -> "Polygon":
        """Rectangle with the full sizes `x` and `z` [m]."""
        x, z = 0.5 * positive("Polygon.box: x", x), 0.5 * positive("Polygon.box: z", z)
        return cls(((-x, -z), (x, -z), (x, z), (-x, z)))

    def mass_properties(self) -> MassProperties:
        """Area [m²], centre and moment [m⁴], for one metre of depth."""
        return self._mass

    @cached_property  # a thousand bodies may share this shape
    def _mass(self) -> MassProperties:
        points = np.array(self.points)
        base = 0.5 * (points.min(axis=0) + points.max(axis=0))
        area, centre, _ = _sums(points - base)
        base = base + centre
        area, rest, moment = _sums(points - base)  # about the centre, where nothing cancels
        x, z = (base + rest).tolist()
        return read_only(flat_mass(area, x, z, moment))

    def parts(self) -> list[Part]:
        return [outline_part(self.points, 0.0)]

    def surfaces(self) -> list[Surface]:
        return [prism(part) for part in self.parts()]


def _sums(p: np.ndarray):
    q = np.roll(p, -1, axis=0)
    c = p[:, 0] * q[:, 1] - q[:, 0] * p[:, 1]
    area = 0.5 * c.sum()
    second = (p * p + p * q + q * q).sum(axis=1)
    return float(area), c @ (p + q) / (6.0 * area), float(c @ second / 12.0)


def _checked(points) -> tuple:
    """The corners, counter-clockwise, without those that lie on an edge."""
    if len(points) < 3:
        raise InputError(f"Polygon: has {len(points)} points, needs at least 3.")
    turns = _turns(points)
    if sum(turns) < 0.0:
        points = points[::-1]
        turns = _turns(points)
    for k, turn in enumerate(turns):
        if turn < -CLOSED:
            raise InputError(
                f"Polygon: is not convex at point {points[k]}. Split it into convex polygons and "
                f"put these into a Compound."
            )
    if abs(sum(turns) - 2.0 * pi) > 1.0:
        raise InputError("Polygon: goes round more than once; give its corners in order, once.")
    kept = tuple(p for p, turn in zip(points, turns, strict=True) if turn > CLOSED)
    if len(kept) < 3:
        raise InputError(f"Polygon: its {len(points)} points lie on a line; use a Segment.")
    return kept


def _turns(points) -> list[float]:
    """Angle by which the way round turns at each corner [rad]."""
    turns, n = [], len(points)
    for k, (x, z) in enumerate(points):
        (x0, z0), (x1, z1) = points[k - 1], points[(k + 1) % n]
        a, b, c, d = x - x0, z - z0, x1 - x, z1 - z
        if c == d == 0.0:
            raise InputError(f"Polygon: point {(x, z)} is given twice; leave one out.")
        turns.append(atan2(a * d - b * c, a * c + b * d))
    return turns
