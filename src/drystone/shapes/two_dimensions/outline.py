"""Outlines of two dimensions: convex corners with a rounding, and the tables of all of them.

    corner k of a shape, (x, z), counter-clockwise in a picture with x to the right and z up;
    edge k from corner k to corner k + 1 with the outward normal (dz, -dx) / |d|.

A disc is one corner with a rounding, a segment two, a polygon three or more.
"""

from dataclasses import dataclass
from math import inf, pi

import numpy as np

from drystone.errors import InputError
from drystone.model.arrays import OUTLINE, PLANE, SPHERE, Outlines
from drystone.shapes.mass_properties import MassProperties
from drystone.shapes.part import Part
from drystone.shapes.surface import Surface


@dataclass(frozen=True, eq=False)
class Outline:
    """Corners (k, 2), normals (k, 2) and rounding [m] of a part, about the part's own origin."""

    corner: np.ndarray
    normal: np.ndarray
    rounding: float

    @property
    def half_thickness(self) -> float:
        """Area over perimeter, of a disc its radius [m]; inf of a line without a thickness.

        Such a line is solid on both sides: what comes through has to move by its own.
        """
        if len(self.corner) == 1:
            return self.rounding
        if len(self.corner) == 2 and self.rounding == 0.0:
            return inf
        a, b, r = self.corner, np.roll(self.corner, -1, axis=0), self.rounding
        area = 0.5 * float((a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]).sum())
        rim = float(np.linalg.norm(b - a, axis=1).sum())
        return (area + r * rim + pi * r * r) / (rim + 2.0 * pi * r)

    def rim(self, per_turn: int = 48) -> np.ndarray:
        """(m, 2) points round the shape [m], the rounding with so many for a full turn."""
        if self.rounding == 0.0:
            return self.corner
        if len(self.corner) == 1:
            first, turn = np.zeros(1), np.full(1, 2.0 * np.pi)
        else:  # at a corner the normal turns from that of the edge before to that of the next
            angle = np.arctan2(self.normal[:, 1], self.normal[:, 0])
            first = np.roll(angle, 1)
            turn = (angle - first) % (2.0 * np.pi)
        arcs = []
        for corner, start, angle in zip(self.corner, first, turn, strict=True):
            at = start + np.linspace(
                0.0, angle, max(2, round(per_turn * angle / (2.0 * np.pi)) + 1)
            )
            arcs.append(corner + self.rounding * np.column_stack([np.cos(at), np.sin(at)]))
        return np.concatenate(arcs)


def in_plane(x: float, z: float) -> np.ndarray:
    return np.array([x, 0.0, z])


def outline_part(corners, rounding: float) -> Part:
    """The part of these corners (k, 2) in the frame of their shape, k >= 1."""
    corners = np.array(corners, dtype=np.float64)
    middle = 0.5 * (corners.min(axis=0) + corners.max(axis=0))
    corners = corners - middle
    edge = np.roll(corners, -1, axis=0) - corners
    length = np.hypot(edge[:, 0], edge[:, 1])
    length[length == 0.0] = 1.0  # the one corner of a disc has no edge
    normal = np.stack([edge[:, 1], -edge[:, 0]], axis=1) / length[:, None]
    half = np.abs(corners).max(axis=0) + rounding
    geometry = Outline(corners, normal, rounding)
    reach = float(np.hypot(corners[:, 0], corners[:, 1]).max()) + rounding
    kind = SPHERE if len(corners) == 1 else OUTLINE
    size = in_plane(*half)
    return Part(kind, size, reach, in_plane(*middle), geometry=geometry)


def prism(part: Part) -> Surface:
    """An outline as it is drawn, half as deep as it is large."""
    x, z = part.geometry.rim().T
    n, half = len(x), 0.25 * part.radius
    near, far = (np.column_stack([x, np.full(n, y), z]) for y in (-half, half))
    sides = [[k, n + k, n + (k + 1) % n, (k + 1) % n] for k in range(n)]
    caps = [list(range(n)), list(range(2 * n - 1, n - 1, -1))] if n > 2 else []
    surface = Surface(np.concatenate([near, far]), caps + sides, smooth=False)
    return surface.moved(part.position, part.rotation)


def flat_mass(area: float, x: float, z: float, moment: float) -> MassProperties:
    """Of one metre of depth. Only the moment about y counts; the others are set to the same."""
    return MassProperties(area, in_plane(x, z), moment * np.eye(3))


def is_flat(shape) -> bool | None:
    """Whether a shape belongs to two dimensions; None for one that belongs to both, a plane."""
    bounded = [part.geometry for part in shape.parts() if part.kind != PLANE]
    kinds = {isinstance(geometry, Outline) for geometry in bounded}
    if len(kinds) == 2:
        raise InputError(f"{shape!r}: mixes shapes of two and of three dimensions; use one kind.")
    return kinds.pop() if kinds else None


def build_outlines(entries) -> Outlines:
    """The tables of these entries (tables.Entry), in their order; planes have no corners."""
    outlines = [e.part.geometry for e in entries]
    counts = [0 if o is None else len(o.corner) for o in outlines]
    known = [o for o in outlines if o is not None]
    return Outlines(
        first=np.concatenate([[0], np.cumsum(counts)]).astype(np.int32),
        corner=np.concatenate([np.empty((0, 2)), *(o.corner for o in known)]),
        normal=np.concatenate([np.empty((0, 2)), *(o.normal for o in known)]),
        rounding=np.array([0.0 if o is None else o.rounding for o in outlines]),
    )
