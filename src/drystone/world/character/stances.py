"""Stances of a walk: the vertical force on a foot from its landing to its lifting, as gait
laboratories show it [Winter2009], in body weights over shares of the stance."""

from dataclasses import dataclass

import numpy as np

from drystone.model.checks import positive
from drystone.model.signatures import public

LOADED, SHORTEST, POINTS = 0.05, 0.3, 101  # body weights, [s], of a curve


@public
@dataclass(frozen=True, eq=False)
class Stance:
    """From the first to the last time at which a foot bears 5 % of the weight.

    curve   (101,) vertical force over the stance, in body weights
    humps   where the force is largest, as shares of the stance: peaks that stand out by so much as
            was asked for
    """

    foot: str
    start: float
    end: float
    curve: np.ndarray
    humps: tuple[float, ...]


def find_stances(torques, prominence: float = 0.05) -> list[Stance]:
    """All stances that begin and end within the times of `torques`, in the order in which they
    begin; `prominence` of a hump is in body weights."""
    prominence = positive("stances: prominence", prominence)
    found, times = [], torques.times
    for f, foot in enumerate(torques.feet):
        force = torques.ground_force[:, f, 2] / torques.weight
        change = np.diff((force > LOADED).astype(int))
        starts, ends = np.flatnonzero(change > 0) + 1, np.flatnonzero(change < 0)
        for lo in starts:
            later = ends[ends >= lo]
            if not len(later) or times[later[0]] - times[lo] < SHORTEST:
                continue
            own = slice(lo, later[0] + 1)
            curve = _over_shares(force[own])
            humps = tuple(k / (POINTS - 1) for k in find_humps(curve, prominence))
            found.append(Stance(foot, float(times[lo]), float(times[later[0]]), curve, humps))
    return sorted(found, key=lambda stance: stance.start)


def _over_shares(force: np.ndarray) -> np.ndarray:
    at = np.linspace(0.0, 1.0, POINTS)
    return np.interp(at, np.linspace(0.0, 1.0, len(force)), force)


def find_humps(curve: np.ndarray, prominence: float) -> list[int]:
    """Peaks that rise by `prominence` above the higher of the valleys to both sides of them."""
    found = []
    for k in range(1, len(curve) - 1):
        if not (curve[k] > curve[k - 1] and curve[k] >= curve[k + 1]):
            continue
        valleys = []
        for side in (curve[k::-1], curve[k:]):
            higher = np.flatnonzero(side > curve[k])
            valleys.append(side[: higher[0] if len(higher) else len(side)].min())
        if curve[k] - max(valleys) >= prominence:
            found.append(k)
    return found
