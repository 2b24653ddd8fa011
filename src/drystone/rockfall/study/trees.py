"""Single trees: upright rigid trunks that rocks collide with, as with walls.

Leine et al. note that cylinders fit the same contact law [Leine2014]. A trunk is a prism of eight
sides whose cross section has the area of the circle, so that its half width is 0.97 to 1.05 of its
radius. It does not bend and does not break: what a falling tree takes belongs into a drag zone.
"""

from typing import NamedTuple

import numpy as np

from drystone.errors import InputError

SIDES = 8
# Circumradius of the octagon whose area is that of the unit circle.
CIRCUMRADIUS = float(np.sqrt(np.pi / (0.5 * SIDES * np.sin(2.0 * np.pi / SIDES))))
DEPTH = 1.0  # [m] that a trunk reaches below the lowest ground around it, so that no gap opens
THICKEST = 12.0  # [m] the stoutest tree there is; more is a diameter in centimetres
MOST = 100_000  # 2.8 million triangles


class Trees(NamedTuple):
    """Trunks as triangles, local coordinates; rows count from 0."""

    trunks: np.ndarray  # (n, 4) x, y, diameter, height [m]
    vertices: np.ndarray  # (16 n, 3) [m]
    triangles: np.ndarray  # (28 n, 3) int32, outward
    material: np.ndarray  # (28 n,) int32


NO_TREES = Trees(
    np.empty((0, 4)), np.empty((0, 3)), np.empty((0, 3), np.int32), np.empty(0, np.int32)
)


def require_trunks(what: str, trunks: np.ndarray) -> np.ndarray:
    """The trunks (n, 3) themselves, if trees can be like that."""
    diameter = trunks[:, 2]
    wrong = ~((diameter > 0.0) & (diameter <= THICKEST))
    if wrong.any():
        raise InputError(
            f"{what}: tree {int(np.argmax(wrong)) + 1} has a diameter of "
            f"{diameter[np.argmax(wrong)]:g} m, must be above 0 and at most {THICKEST:g} m. Is it "
            f"in centimetres?"
        )
    if len(trunks) > MOST:
        raise InputError(f"{what}: has {len(trunks):,} trees, must have at most {MOST:,}.")
    return trunks


def plant(slope, trunks: np.ndarray, height: float, material: int) -> Trees:
    """Trees of that height [m] above the ground at local places, (n, 3) x, y and diameter."""
    foot = np.asarray(slope.height(trunks[:, 0], trunks[:, 1]), dtype=np.float64)
    if np.isnan(foot).any():
        x, y = trunks[np.argmax(np.isnan(foot)), :2] + slope.origin[:2]
        raise InputError(
            f"{int(np.isnan(foot).sum())} trees stand off the terrain or over a hole of it, for "
            f"example x = {x:.10g}, y = {y:.10g}. Is the file in the right coordinate system?"
        )
    angle = 2.0 * np.pi * np.arange(SIDES) / SIDES
    ring = 0.5 * CIRCUMRADIUS * np.column_stack([np.cos(angle), np.sin(angle)])
    plan = trunks[:, None, :2] + trunks[:, None, 2:] * ring  # (n, sides, 2)
    around = np.asarray(slope.height(plan[..., 0].ravel(), plan[..., 1].ravel()))
    around = np.where(np.isnan(around), np.repeat(foot, SIDES), around).reshape(-1, SIDES)
    low = np.repeat((around.min(axis=1) - DEPTH)[:, None], SIDES, axis=1)
    top = np.repeat((foot + height)[:, None], SIDES, axis=1)
    corners = np.concatenate(
        [np.dstack([plan, low]), np.dstack([plan, top])], axis=1
    )  # (n, 2 sides, 3)
    faces = _prism()
    first = 2 * SIDES * np.arange(len(trunks))
    triangles = (faces + first[:, None, None]).reshape(-1, 3).astype(np.int32)
    owner = np.full(len(triangles), material, dtype=np.int32)
    known = np.column_stack([trunks, np.full(len(trunks), height)])
    return Trees(known, corners.reshape(-1, 3), triangles, owner)


def touches_trunk(slope, trunks: np.ndarray, centre: np.ndarray, radius: float) -> bool:
    """Whether a sphere reaches one of the trunks (n, 4) that stand on the slope."""
    if not len(trunks):
        return False
    away = np.hypot(trunks[:, 0] - centre[0], trunks[:, 1] - centre[1])
    near = trunks[away < radius + 0.5 * CIRCUMRADIUS * trunks[:, 2]]
    if not len(near):
        return False
    top = np.asarray(slope.height(near[:, 0], near[:, 1])) + near[:, 3]
    return bool((centre[2] - radius < top).any())


def join_trees(groups: list[Trees]) -> Trees:
    """All trees in one mesh."""
    if not groups:
        return NO_TREES
    first = np.cumsum([0, *(len(group.vertices) for group in groups[:-1])])
    triangles = [g.triangles + np.int32(k) for g, k in zip(groups, first, strict=True)]
    return Trees(
        np.concatenate([g.trunks for g in groups]), np.concatenate([g.vertices for g in groups]),
        np.concatenate(triangles), np.concatenate([g.material for g in groups]),
    )  # fmt: skip


def _prism() -> np.ndarray:
    """(28, 3) outward triangles of corners 0 to 7 (below, counter-clockwise) and 8 to 15."""
    near, far = np.arange(SIDES), np.roll(np.arange(SIDES), -1)
    sides = [np.column_stack([near, far, far + SIDES]),
             np.column_stack([near, far + SIDES, near + SIDES])]  # fmt: skip
    fan = np.arange(1, SIDES - 1)
    zero = np.zeros_like(fan)
    top = np.column_stack([zero, fan, fan + 1]) + SIDES
    bottom = np.column_stack([zero, fan + 1, fan])
    return np.concatenate([*sides, top, bottom])
