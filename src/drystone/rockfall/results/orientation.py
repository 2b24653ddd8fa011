"""Orientation of a rock at points of its trajectory, followed along its arcs."""

import numpy as np

from drystone.jit import kernel
from drystone.rockfall.engine.flight import rotated, spin_step
from drystone.rockfall.engine.records import FLIGHT

STEP = 0.02  # [s] in which free rotation is followed, that of the engine in flight


def orientations_at(arcs, arc, since, inertia, owner, drag: float) -> np.ndarray:
    """(k, 4) orientation `since` (k,) seconds after the start of the arcs numbered `arc` (k,).

    inertia   (r, 3) principal moments of the rocks [kg m²]
    owner     (k,) number of the rock, for each of those times
    drag      angular drag of the options [N m s]
    """
    parts = (np.ascontiguousarray(arcs[name]) for name in ("t0", "t1", "w", "w_end", "kind", "q"))
    out = np.zeros((len(arc), 4))
    inertia, number = np.array(inertia, dtype=np.float64), owner.astype(np.int64)
    follow_turns(*parts, inertia, number, float(drag), arc.astype(np.int64), np.array(since), out)
    return out


@kernel
def follow_turns(t0, t1, w, w_end, kind, q, inertia, owner, drag, arc, since, out):
    """Points in the order of time: one that lies in the arc of the one before goes on from it."""
    last, at = -1, 0.0
    now, spin = (1.0, 0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for p in range(arc.shape[0]):
        rock = owner[p]
        moments = (inertia[rock, 0], inertia[rock, 1], inertia[rock, 2])
        i = arc[p]
        if i != last or since[p] < at:
            last, at = i, 0.0
            now = (q[i, 0], q[i, 1], q[i, 2], q[i, 3])
            spin = (w[i, 0], w[i, 1], w[i, 2])
        if now[0] == 0.0 and now[1] == 0.0 and now[2] == 0.0 and now[3] == 0.0:
            now = (1.0, 0.0, 0.0, 0.0)
        length = t1[i] - t0[i]
        if kind[i] == FLIGHT:
            while at < since[p]:
                h = min(STEP, since[p] - at)
                mean, spin, _ = spin_step(now, spin, moments, drag, h)
                now = rotated(now, mean, h)
                at = at + h if h == STEP else since[p]
            turned = now
        else:
            share = 0.5 * since[p] / length if length > 0.0 else 0.0
            mean = (
                w[i, 0] + share * (w_end[i, 0] - w[i, 0]),
                w[i, 1] + share * (w_end[i, 1] - w[i, 1]),
                w[i, 2] + share * (w_end[i, 2] - w[i, 2]),
            )
            turned = rotated(now, mean, since[p])
        for k in range(4):
            out[p, k] = turned[k]
