"""Check lines: where trajectories pass over a line on the map, found exactly on their arcs.

A line is a polyline in plan; each of its segments stands for a vertical plane. With n the normal
of a segment and p its first point, n·(x(s) - p) is a quadratic in s. Its sign at the start of an
arc, where it reverses, and at the start of the next arc decides whether the rock has crossed: a
crossing at the very joint of two arcs is neither lost nor found twice.
"""

from dataclasses import dataclass
from math import sqrt

import numpy as np

from drystone.errors import InputError
from drystone.jit import kernel
from drystone.rockfall.engine.flight import spin_at, spin_energy_at, zero_between
from drystone.rockfall.terrain.ground_surface import Ground, height_at

LINE_CROSSING = np.dtype(
    [
        ("run", "i8"),
        ("line", "i8"),
        ("t", "f8"),  # [s]
        ("x", "f8", 3),  # centre of mass [m]
        ("v", "f8", 3),  # [m/s]
        ("w", "f8", 3),  # [rad/s]
        ("along", "f8"),  # distance from the first point of the line, in plan [m]
        ("height", "f8"),  # centre of mass above the ground [m]; NaN: no ground there
        ("energy", "f8"),  # kinetic, translation and rotation [J]
    ]
)


@dataclass(frozen=True, eq=False)
class CheckLine:
    """A named polyline in plan, local coordinates."""

    name: str
    points: np.ndarray  # (n, 2) [m]

    def __post_init__(self) -> None:
        points = np.asarray(self.points, dtype=np.float64)
        if points.ndim != 2 or points.shape[1] != 2 or len(points) < 2:
            raise InputError(f"check line {self.name!r} needs two points (x, y) at least.")
        if not np.isfinite(points).all() or not (np.diff(points, axis=0) != 0).any():
            raise InputError(
                f"check line {self.name!r} has no length, or a point that is no number."
            )
        object.__setattr__(self, "points", points)


class LineFinder:
    """Finds the crossings of all check lines, one run after the other."""

    def __init__(self, lines: list[CheckLine], ground: Ground):
        self.lines, self.ground = list(lines), ground
        rows = []
        for number, line in enumerate(self.lines):
            steps = np.linalg.norm(np.diff(line.points, axis=0), axis=1)
            before = np.concatenate([[0.0], np.cumsum(steps)[:-1]])
            for k in np.flatnonzero(steps > 0.0):
                last = 1.0 if k == np.flatnonzero(steps > 0.0)[-1] else 0.0
                rows.append((*line.points[k], *line.points[k + 1], before[k], number, last))
        self._segments = np.array(rows, dtype=np.float64).reshape(-1, 7)
        self._out = np.empty((64, 4))

    def find(self, run: int, arcs: np.ndarray, mass: float) -> np.ndarray:
        """(k,) of LINE_CROSSING in the order of time."""
        if not len(self._segments) or not len(arcs):
            return np.zeros(0, LINE_CROSSING)
        parts = [np.ascontiguousarray(arcs[name]) for name in ("t0", "t1", "x", "v", "a")]
        count = find_crossings(*parts, self._segments, self._out)
        if count > len(self._out):
            self._out = np.empty((2 * count, 4))
            count = find_crossings(*parts, self._segments, self._out)
        if count == 0:
            return np.zeros(0, LINE_CROSSING)
        found = self._out[:count]
        return self._records(run, arcs, mass, found[np.argsort(found[:, 1], kind="stable")])

    def _records(self, run, arcs, mass, found) -> np.ndarray:
        """Rows (arc, time, segment, along) as records."""
        arc = found[:, 0].astype(int)
        since = found[:, 1] - arcs["t0"][arc]
        s = since[:, None]
        records = np.zeros(len(found), LINE_CROSSING)
        records["run"], records["t"], records["along"] = run, found[:, 1], found[:, 3]
        records["line"] = self._segments[found[:, 2].astype(int), 5].astype(int)
        records["x"] = arcs["x"][arc] + s * (arcs["v"][arc] + 0.5 * s * arcs["a"][arc])
        records["v"] = arcs["v"][arc] + s * arcs["a"][arc]
        records["w"] = spin_at(arcs, arc, since)
        x, y, z = records["x"].T
        records["height"] = z - height_at(self.ground, x, y)
        translation = 0.5 * mass * (records["v"] ** 2).sum(axis=1)
        records["energy"] = translation + spin_energy_at(arcs, arc, since)
        return records


@kernel
def find_crossings(
    # in
    t0, t1, x, v, a, segments,
    # out
    out,
):  # fmt: skip
    """Number of crossings; rows (arc, time, segment, place on the line) up to the capacity."""
    count = 0
    for i in range(len(t0)):
        span = t1[i] - t0[i]
        reach_x = abs(v[i, 0]) * span + 0.5 * abs(a[i, 0]) * span * span
        reach_y = abs(v[i, 1]) * span + 0.5 * abs(a[i, 1]) * span * span
        for k in range(len(segments)):
            ax, ay, bx, by = segments[k, 0], segments[k, 1], segments[k, 2], segments[k, 3]
            if x[i, 0] + reach_x < min(ax, bx) or x[i, 0] - reach_x > max(ax, bx):
                continue
            if x[i, 1] + reach_y < min(ay, by) or x[i, 1] - reach_y > max(ay, by):
                continue
            count = _cross_segment(i, k, span, t0, x, v, a, segments, out, count)
    return count


@kernel
def _cross_segment(i, k, span, t0, x, v, a, segments, out, count):
    ax, ay = segments[k, 0], segments[k, 1]
    dx, dy = segments[k, 2] - ax, segments[k, 3] - ay
    c = dx * (x[i, 1] - ay) - dy * (x[i, 0] - ax)
    cv = dx * v[i, 1] - dy * v[i, 0]
    ca = dx * a[i, 1] - dy * a[i, 0]
    if i + 1 < len(t0):
        c_end = dx * (x[i + 1, 1] - ay) - dy * (x[i + 1, 0] - ax)
    else:
        c_end = c + span * (cv + 0.5 * ca * span)
    back = -cv / ca if ca != 0.0 else 0.0
    if not 0.0 < back < span:
        back = 0.0
    c_back = c + back * (cv + 0.5 * ca * back)
    if back > 0.0 and (c >= 0.0) != (c_back >= 0.0):
        count = _enter(i, k, zero_between(c, cv, ca, 0.0, back), t0, x, v, a, segments, out, count)
    if (c_back >= 0.0) != (c_end >= 0.0):
        count = _enter(i, k, zero_between(c, cv, ca, back, span), t0, x, v, a, segments, out, count)
    return count


@kernel
def _enter(i, k, s, t0, x, v, a, segments, out, count):
    """Note the crossing at s if it is between the ends of the segment."""
    ax, ay = segments[k, 0], segments[k, 1]
    dx, dy = segments[k, 2] - ax, segments[k, 3] - ay
    px = x[i, 0] + s * (v[i, 0] + 0.5 * a[i, 0] * s) - ax
    py = x[i, 1] + s * (v[i, 1] + 0.5 * a[i, 1] * s) - ay
    share = (px * dx + py * dy) / (dx * dx + dy * dy)
    # A corner of the line belongs to the segment that starts there; its end to the last one.
    if not (0.0 <= share < 1.0 or (share == 1.0 and segments[k, 6] == 1.0)):
        return count
    if count < len(out):
        out[count, 0] = i
        out[count, 1] = t0[i] + s
        out[count, 2] = k
        out[count, 3] = segments[k, 4] + share * sqrt(dx * dx + dy * dy)
    return count + 1
