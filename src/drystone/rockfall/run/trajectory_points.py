"""Points of trajectories as tables hold them: every output step, at impacts and at the end."""

from itertools import accumulate, pairwise

import numpy as np

from drystone.errors import InputError
from drystone.rockfall.engine.flight import spin_at, spin_energy_at
from drystone.rockfall.engine.records import Trajectory
from drystone.rockfall.results.orientation import orientations_at
from drystone.rockfall.terrain.ground_surface import Ground, height_at

POINT = np.dtype(
    [
        ("run", "i8"),
        ("t", "f8"),  # [s]
        ("x", "f8", 3),  # centre of mass [m], local
        ("v", "f4", 3),  # [m/s]
        ("w", "f4", 3),  # [rad/s]
        ("translation", "f4"),  # kinetic energy [J]
        ("rotation", "f4"),
        ("height", "f4"),  # above the ground [m]
        ("q", "f4", 4),  # orientation (w, x, y, z) of the principal axes
    ]
)

# Of the trajectories of a chunk, 92 bytes each: 500 runs of a minute, a hundred points a second.
MOST_POINTS = 5_000_000
TOGETHER = 200_000  # points made in one go, 600 bytes each while they are


def require_few_points(runs, trajectories, step: float) -> None:
    """InputError if the points of these would fill the memory; nothing is made of them."""
    points = 0.0
    for run, one in zip(runs, trajectories, strict=True):
        points += count_points(one, step)
        if points > MOST_POINTS:
            raise InputError(
                f"runs {runs[0]} to {run} make more than {MOST_POINTS:,} points of trajectories "
                f"at output.step_s = {step:g} s; the last lasts {float(one.end['t']):.4g} s. "
                f"Use a larger step_s, or a smaller max_time."
            )


def count_points(trajectory: Trajectory, step: float) -> float:
    """How many points of it are stored, before they are made."""
    lasts = float(trajectory.end["t"] - trajectory.arcs["t0"][0])
    return lasts / step + len(trajectory.impacts) + 2


def sample_points(runs, trajectories, step: float, ground: Ground, inertia=None, drag=0.0):
    """Points of trajectories every `step` seconds, at their impacts, and at their ends.

    runs      number of each
    inertia   (n, 3) principal moments of the rocks [kg m²], for their orientation
    drag      angular drag of the options [N m s]
    """
    count = list(accumulate((count_points(one, step) for one in trajectories), initial=0.0))
    group = [int(c // TOGETHER) for c in count[:-1]]
    cuts = [0, *(k for k in range(1, len(group)) if group[k] != group[k - 1]), len(group)]
    made = [
        _points(
            runs[a:b], trajectories[a:b], step, ground,
            None if inertia is None else inertia[a:b], drag,
        )
        for a, b in pairwise(cuts) if b > a
    ]  # fmt: skip
    return np.concatenate(made) if made else np.zeros(0, POINT)


def _points(runs, trajectories, step, ground, inertia, drag) -> np.ndarray:
    parts = [_times(one, step) for one in trajectories]
    size = [len(times) for times, _ in parts]
    first = np.cumsum([0, *(len(one.arcs) for one in trajectories[:-1])])
    arcs = np.concatenate([one.arcs for one in trajectories])
    owner = np.repeat(np.arange(len(runs)), size)
    times = np.concatenate([times for times, _ in parts])
    arc = np.concatenate([arc for _, arc in parts]) + first[owner]
    mass = np.array([float(one.end["mass"]) for one in trajectories])[owner]
    since = np.minimum(times - arcs["t0"][arc], arcs["t1"][arc] - arcs["t0"][arc])
    s = since[:, None]
    points = np.zeros(len(times), POINT)
    v = arcs["v"][arc] + s * arcs["a"][arc]
    points["run"], points["t"], points["v"] = np.asarray(runs)[owner], times, v
    points["w"] = spin_at(arcs, arc, since)
    points["x"] = arcs["x"][arc] + s * (arcs["v"][arc] + 0.5 * s * arcs["a"][arc])
    points["translation"] = 0.5 * mass * (v**2).sum(axis=1)
    points["rotation"] = spin_energy_at(arcs, arc, since)
    points["q"] = (1.0, 0.0, 0.0, 0.0)
    if inertia is not None:
        points["q"] = orientations_at(arcs, arc, since, inertia, owner, drag)
    x, y, z = points["x"].T
    points["height"] = z - height_at(ground, x, y)
    return points


def _times(trajectory: Trajectory, step: float) -> tuple[np.ndarray, np.ndarray]:
    """Times of its points, and the number of the arc of each."""
    arcs, end = trajectory.arcs, trajectory.end
    begin = arcs["t0"][0]
    grid = begin + step * np.arange(int((end["t"] - begin) / step) + 1)
    times = np.unique(np.concatenate([grid, trajectory.impacts["t"], [end["t"]]]))
    times = times[(times >= begin) & (times <= end["t"])]
    arc = np.searchsorted(arcs["t0"], times, side="right") - 1
    return times, np.clip(arc, 0, len(arcs) - 1)
