"""The floor that a clip stands on: is it level? Of captured clips it need not be.

Where a foot stands still, the ground is below it at a fixed distance. A plane through all such
places shows how the frame of the capture leans against the floor, and with it against gravity:
02_01 of the CMU database climbs by 46 mm in 3.3 m, one degree, and would in the end walk on air.
"""

from typing import NamedTuple

import numpy as np

from drystone.world.character import quaternions
from drystone.world.character.roles import feet_of, roles_of

STILL = 0.2  # a joint slower than this stands [m/s] ...
STANCE = 0.1  # ... if it does for so long [s]
APART = 0.3  # a slope is measured only along directions in which stances spread by so much [m]
CLIMB = 0.02  # [m] between the lowest and the highest stance before a floor counts as sloping
STEEPEST = 3.0  # [degrees] of what can be a frame that leans; a clip on a ramp is left as it is
ROUGH = 0.01  # [m] from the plane, root mean square: beyond, the floor has steps


class Slope(NamedTuple):
    gradient: np.ndarray  # (2,) rise along x and y
    middle: np.ndarray  # (3,) of the stances [m]
    climb: float  # from the lowest to the highest of them [m]

    @property
    def degrees(self) -> float:
        return float(np.degrees(np.arctan(np.linalg.norm(self.gradient))))


def find_slope(clip) -> Slope | None:
    """The slope of the floor of a clip, if one can be told from steps and from noise."""
    stances = _stances(clip)
    if len(stances) < 3:
        return None
    middle = stances.mean(axis=0)
    away = stances - middle
    spread, axes = np.linalg.eigh(away[:, :2].T @ away[:, :2] / len(away))
    wide = axes[:, spread > APART**2]
    if not wide.shape[1]:
        return None
    along = away[:, :2] @ wide
    rise = np.linalg.lstsq(along, away[:, 2], rcond=None)[0]
    slope = Slope(wide @ rise, middle, float(np.ptp(along @ rise)))
    left = away[:, 2] - along @ rise
    if slope.climb < CLIMB or slope.degrees > STEEPEST or np.sqrt(np.mean(left**2)) > ROUGH:
        return None
    return slope


def _stances(clip) -> np.ndarray:
    """(m, 3) where a foot stood still: means over each stance."""
    if len(clip) < 5:
        return np.zeros((0, 3))
    at, _ = clip.poses()
    roles, feet = roles_of(clip), feet_of(clip)
    # Ankles rise with the heel while the ball still stands: toes are better where there are some.
    toes = [j for j in feet if roles[j] == "toe"]
    found = []
    for j in toes or feet:
        still = np.linalg.norm(np.gradient(at[:, j], clip.dt, axis=0), axis=1) < STILL
        edges = np.flatnonzero(np.diff(np.concatenate(([0], still.astype(int), [0]))))
        found += [
            at[first:last, j].mean(axis=0)
            for first, last in zip(edges[::2], edges[1::2], strict=True)
            if (last - first) * clip.dt >= STANCE
        ]
    return np.reshape(found, (-1, 3))


def levelled_root(clip, slope: Slope) -> tuple[np.ndarray, np.ndarray]:
    """Positions and rotations of the root, turned so that the floor is level."""
    gx, gy = slope.gradient
    # The normal (-gx, -gy, 1) comes to stand upright: about its cross product with z.
    size = float(np.hypot(gx, gy))
    half = 0.5 * np.arctan(size)
    turn = np.array((np.cos(half), *(np.sin(half) / size * np.array((-gy, gx, 0.0)))))
    at = slope.middle + quaternions.rotate(turn, clip.positions - slope.middle)
    return at, quaternions.product(turn, clip.rotations[:, 0])
