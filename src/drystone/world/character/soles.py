"""Soles of the feet, from what a clip shows: where the ground is under a foot that stands.

Skeletons know ankles and toes, not soles. While a foot stands the ground is the plane z = 0: its
height below the ankle and its direction in the axes of the foot, both as means over these frames,
are the sole.
"""

from typing import NamedTuple

import numpy as np

from drystone.world.character import quaternions

SLOW = 0.25  # an ankle slower than this stands [m/s]
LOW = 0.015  # ... if it is no higher than so much above its tenth percentile [m]
ANKLE = (0.035, 0.16)  # plausible heights of an ankle above the sole, of a person of 1.7 m [m]
USUAL_ANKLE = 0.08
HEEL, HALF_WIDTH = 0.05, 0.042  # behind the ankle, and to either side, of such a person [m]
BALL = 0.5  # of the way from the ball to the tip of the toes: where a foot without toes rolls over


class Sole(NamedTuple):
    corners: np.ndarray  # (4, 3) in the axes of the foot: heel and front, one side and the other
    up: np.ndarray  # (3,) likewise
    ankle: float  # height of the ankle above it [m]


def find_ground(clip, feet: list[int], size: float) -> float:
    """The height on which a clip stands [m]: zero, unless the ankles are elsewhere."""
    if not feet:
        return 0.0
    at, _ = clip.poses()
    low = min(float(np.percentile(at[:, j, 2], 10)) for j in feet)
    if ANKLE[0] * size <= low <= ANKLE[1] * size:
        return 0.0
    return low - USUAL_ANKLE * size


def find_sole(clip, j: int, tips: np.ndarray, ground: float, size: float) -> Sole:
    """The sole of foot `j`.

    tips   (m, 3) of what hangs on the foot, in its axes: toes, and heels where a clip has them
    size   of the person, in those of 1.7 m
    """
    at, turned = clip.poses()
    ankle, turned = at[:, j], turned[:, j]
    up, height = np.array((0.0, 0.0, 1.0)), USUAL_ANKLE * size
    standing = _standing(clip, ankle)
    if standing.any():
        ups = quaternions.rotate(quaternions.conjugate(turned[standing]), up)
        up = ups.mean(axis=0)
        up /= np.linalg.norm(up)
        height = float(ankle[standing, 2].mean()) - ground
    height = min(max(height, ANKLE[0] * size), ANKLE[1] * size)
    forwards = tips[np.abs(tips).sum(axis=1).argmax()] if len(tips) else np.array((1.0, 0.0, 0.0))
    forwards = forwards - up * (up @ forwards)
    forwards /= np.linalg.norm(forwards)
    sideways = np.cross(up, forwards)
    reach = tips @ forwards if len(tips) else np.array((0.15 * size,))
    front = _front(np.sort(reach[reach > 0.0]))
    back = min(float(reach.min()), -HEEL * size) if (reach < 0.0).any() else -HEEL * size
    across = HALF_WIDTH * size * sideways
    floor = -height * up
    corners = [floor + along * forwards + s * across for along in (back, front) for s in (-1, 1)]
    return Sole(np.array(corners), up, height)


def _front(reach: np.ndarray) -> float:
    """Where the sole ends: between the ball and the tip, for the toes do not bend."""
    if len(reach) == 0:
        return 0.15
    return (
        float(reach[-1]) if len(reach) == 1 else float(reach[-2] + BALL * (reach[-1] - reach[-2]))
    )


def _standing(clip, ankle: np.ndarray) -> np.ndarray:
    """Frames in which the ankle is low and slow; the first of a clip may be another pose."""
    if len(ankle) < 5:
        return np.ones(len(ankle), bool)
    speed = np.linalg.norm(np.gradient(ankle, clip.dt, axis=0), axis=1)
    low = ankle[:, 2] < np.percentile(ankle[:, 2], 10) + LOW
    found = low & (speed < SLOW)
    return found if found.any() else low
