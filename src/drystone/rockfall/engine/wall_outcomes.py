"""Outcome of hits on walls (contact barriers): known when the trajectory has ended.

Impacts on a wall and crossings of its line are noted in the log (barrier_crossing.py). At the end

    stopped   it was hit, and the rock came to rest on the side from which it first hit
    passed    it was hit, and the rock ended on the other side without crossing it: round its end

Sides are those of the nearest panel of the wall's line. A rock that rebounded and left the
terrain on its side is neither.
"""

import numpy as np

from drystone.rockfall.engine.barriers import Barriers
from drystone.rockfall.engine.records import (
    CROSSING,
    HIT,
    JITTER,
    OVERTOPPED,
    PASSED,
    STOPPED,
    VELOCITY,
    Trajectory,
)


def judge_walls(trajectory: Trajectory, barriers: Barriers) -> Trajectory:
    """The trajectory with a record for each wall that stopped the rock or that it got round."""
    table, end = trajectory.crossings, trajectory.end
    hits = table[table["outcome"] == HIT]
    found = []
    for wall in np.unique(hits["barrier"]):
        first = hits[hits["barrier"] == wall][0]
        same = _side(barriers, wall, first["x"])[0] == _side(barriers, wall, end["x"])[0]
        over = ((table["barrier"] == wall) & (table["outcome"] == OVERTOPPED)).any()
        if same and end["reason"] in (VELOCITY, JITTER):
            found.append((wall, STOPPED))
        elif not same and not over:
            found.append((wall, PASSED))
    if not found:
        return trajectory
    more = np.zeros(len(found), CROSSING)
    for record, (wall, outcome) in zip(more, found, strict=True):
        record["t"], record["barrier"], record["x"] = end["t"], wall, end["x"]
        record["height"], record["outcome"] = _side(barriers, wall, end["x"])[1], outcome
    end = end.copy()
    end["crossings"] += len(more)
    return trajectory._replace(crossings=np.concatenate([table, more]), end=end)


def _side(barriers: Barriers, wall: int, x: np.ndarray) -> tuple[bool, float]:
    """Whether x lies left of the wall's line, and its height over the nearest foot [m]."""
    here = barriers.barrier == wall
    a, b = barriers.foot_a[here], barriers.foot_b[here]
    along = (b - a)[:, :2]
    share = np.einsum("ij,ij->i", x[:2] - a[:, :2], along) / (along**2).sum(axis=1)
    foot = a + np.clip(share, 0.0, 1.0)[:, None] * (b - a)
    k = int(np.argmin(((x[:2] - foot[:, :2]) ** 2).sum(axis=1)))
    away = x[:2] - a[k, :2]
    left = along[k, 0] * away[1] - along[k, 1] * away[0] >= 0.0
    return bool(left), float(x[2] - foot[k, 2])
