"""Rasterization of trajectories: cells passed, largest speed, energy and height in each.

Motion within an arc is x + v s + a s²/2. The lines of the raster and of the ground are crossed
where a coordinate, a quadratic in s, takes the value of a line; between two such times the rock is
over one cell of the raster and one of the ground. Within that interval

    |v + a s|²          is convex: its maximum is at one of the ends,
    energy of rotation  is the square of a linear root (rockfall/engine/flight.py): convex too,
    z - ground          is a quadratic over one plane triangle: at an end or where its rate is 0.

So the maxima are those of the arcs themselves: no output step is in them, and cutting an arc in
pieces changes nothing. The cell of an interval is that of its middle, which round-off in the
times cannot put on the wrong side of a line.
"""

from math import ceil, floor, inf, isnan, nan, sqrt
from typing import NamedTuple

import numpy as np

from drystone.jit import kernel
from drystone.rockfall.engine.flight import spin_roots
from drystone.rockfall.terrain.ground_surface import Ground


class Raster(NamedTuple):
    """The cells of the results, local coordinates; row 0 is the southernmost."""

    x0: float  # western edge [m]
    y0: float  # southern edge [m]
    cell: float  # size of a cell [m]
    columns: int
    rows: int


class CellTable(NamedTuple):
    """What runs did in cells: one row for each run and each cell it passed."""

    cell: np.ndarray  # (n,) row * columns + column
    speed: np.ndarray  # (n,) largest speed of the centre of mass [m/s]
    energy: np.ndarray  # (n,) largest kinetic energy [J]
    height: np.ndarray  # (n,) largest height of the centre above the ground [m]; NaN: no ground
    source: np.ndarray | None = None  # (n,) int16 number of the run's source; -1: unknown


class CellWalker:
    """Finds the cells of one run after the other; keeps its scratch arrays between them."""

    def __init__(self, raster: Raster, ground: Ground):
        self.raster, self.ground = raster, ground
        self._stamp = np.zeros(raster.columns * raster.rows, np.int64)
        self._slot = np.zeros(raster.columns * raster.rows, np.int64)
        self._marks = 0
        self._allocate(1024)

    def _allocate(self, count: int) -> None:
        self._cell = np.empty(count, np.int64)
        self._peaks = np.empty((count, 3))

    def walk(self, arcs: np.ndarray, mass: float) -> CellTable:
        """Cells of one run, `arcs` (n,) of ARC, in the order in which it first enters them."""
        parts = [np.ascontiguousarray(arcs[name]) for name in ("t0", "t1", "x", "v", "a")]
        motion = Arcs(*parts, spin_roots(arcs), float(mass))
        while True:
            self._marks += 1
            visits = Visits(self._marks, self._stamp, self._slot, self._cell, self._peaks)
            count = walk_arcs(motion, self.raster, self.ground, visits)
            if count <= len(self._cell):
                peaks = self._peaks[:count]
                columns = (peaks[:, k].copy() for k in range(3))
                return CellTable(self._cell[:count].copy(), *columns)
            self._allocate(2 * count)


class Arcs(NamedTuple):
    """The motion of one run, columns of ARC."""

    t0: np.ndarray  # (n,) [s]
    t1: np.ndarray  # (n,)
    x: np.ndarray  # (n, 3) [m]
    v: np.ndarray  # (n, 3) [m/s]
    a: np.ndarray  # (n, 3) [m/s²]
    spin: np.ndarray  # (n, 2) root of the energy of rotation at both ends [J^½]
    mass: float  # [kg]


class Visits(NamedTuple):
    """The cells of one run as they are found, and the scratch to find a cell again."""

    mark: int  # number of the run: a cell with another stamp is new to it
    stamp: np.ndarray  # (cells of the raster,) int64
    slot: np.ndarray  # (cells of the raster,) int64 row of a stamped cell below
    cell: np.ndarray  # (capacity,) int64
    peaks: np.ndarray  # (capacity, 3) largest speed, energy, height


@kernel
def walk_arcs(arcs, raster, ground, visits):
    """Number of cells passed; only as many as the capacity are written."""
    count = 0
    for i in range(len(arcs.t0)):
        duration = arcs.t1[i] - arcs.t0[i]
        first, second = _reversals(arcs.v[i, 0], arcs.a[i, 0], arcs.v[i, 1], arcs.a[i, 1], duration)
        start = 0.0
        for piece in range(3):
            end = first if piece == 0 else (second if piece == 1 else duration)
            if end > start or (piece == 2 and duration == 0.0):
                count = _walk_piece(arcs, i, start, end, raster, ground, visits, count)
                start = end
    return count


@kernel
def _reversals(vx, ax, vy, ay, duration):
    """The times at which the velocity along x and along y changes sign, in order, in the arc."""
    tx = -vx / ax if ax != 0.0 else 0.0
    ty = -vy / ay if ay != 0.0 else 0.0
    tx = min(max(tx, 0.0), duration)
    ty = min(max(ty, 0.0), duration)
    return min(tx, ty), max(tx, ty)


@kernel
def _walk_piece(arcs, i, start, end, raster, ground, visits, count):
    """Go from line to line over a piece in which neither x nor y changes direction."""
    px, vx, ax = arcs.x[i, 0], arcs.v[i, 0], arcs.a[i, 0]
    py, vy, ay = arcs.x[i, 1], arcs.v[i, 1], arcs.a[i, 1]
    # Next line of each family, the step to the one after it, and when it is crossed.
    rx, drx = _first_line(px, vx, ax, start, end, raster.x0, raster.cell)
    ry, dry = _first_line(py, vy, ay, start, end, raster.y0, raster.cell)
    gx, dgx = _first_line(px, vx, ax, start, end, ground.x0, ground.dx)
    gy, dgy = _first_line(py, vy, ay, start, end, ground.y0, ground.dy)
    s = start
    t_rx = _crossing_time(px, vx, ax, raster.x0 + rx * raster.cell, drx, s, end)
    t_ry = _crossing_time(py, vy, ay, raster.y0 + ry * raster.cell, dry, s, end)
    t_gx = _crossing_time(px, vx, ax, ground.x0 + gx * ground.dx, dgx, s, end)
    t_gy = _crossing_time(py, vy, ay, ground.y0 + gy * ground.dy, dgy, s, end)
    while True:
        to = min(min(min(t_rx, t_ry), min(t_gx, t_gy)), end)
        if to > s or start == end:
            count = _visit(arcs, i, s, to, raster, ground, visits, count)
        s = to
        if to >= end:
            return count
        if t_rx <= to:
            rx += drx
            t_rx = _crossing_time(px, vx, ax, raster.x0 + rx * raster.cell, drx, s, end)
        if t_ry <= to:
            ry += dry
            t_ry = _crossing_time(py, vy, ay, raster.y0 + ry * raster.cell, dry, s, end)
        if t_gx <= to:
            gx += dgx
            t_gx = _crossing_time(px, vx, ax, ground.x0 + gx * ground.dx, dgx, s, end)
        if t_gy <= to:
            gy += dgy
            t_gy = _crossing_time(py, vy, ay, ground.y0 + gy * ground.dy, dgy, s, end)


@kernel
def _first_line(p, v, a, start, end, origin, step):
    """Number of the first line ahead of a coordinate, and +1 or -1, its direction."""
    here = p + start * (v + 0.5 * a * start)
    there = p + end * (v + 0.5 * a * end)
    u = (here - origin) / step
    if there >= here:
        return floor(u) + 1.0, 1.0
    return ceil(u) - 1.0, -1.0


@kernel
def _crossing_time(p, v, a, line, sign, start, end):
    """When p + v s + a s²/2 crosses `line`, within [start, end]; inf if it does not get there."""
    there = p + end * (v + 0.5 * a * end)
    if sign * (there - line) < 0.0:
        return inf
    c = p - line
    square = v * v - 2.0 * a * c
    # A line that is just touched at a turning point: round-off may leave the root imaginary.
    q = -(v + sqrt(max(square, 0.0))) if v >= 0.0 else -(v - sqrt(max(square, 0.0)))
    one = q / a if a != 0.0 else inf
    two = 2.0 * c / q if q != 0.0 else inf
    # One root is in this piece, the other beyond the turning point: take the nearer one.
    away_one = max(max(start - one, one - end), 0.0)
    away_two = max(max(start - two, two - end), 0.0)
    root = one if away_one < away_two else two
    return min(max(root, start), end)


@kernel
def _visit(arcs, i, s0, s1, raster, ground, visits, count):
    """Enter what the rock does between s0 and s1 in the one cell that it is over."""
    x, v, a, mass = arcs.x, arcs.v, arcs.a, arcs.mass
    stamp, slot, cell, peaks = visits.stamp, visits.slot, visits.cell, visits.peaks
    duration = arcs.t1[i] - arcs.t0[i]
    s = 0.5 * (s0 + s1)
    column = floor((x[i, 0] + s * (v[i, 0] + 0.5 * a[i, 0] * s) - raster.x0) / raster.cell)
    row = floor((x[i, 1] + s * (v[i, 1] + 0.5 * a[i, 1] * s) - raster.y0) / raster.cell)
    if not (0 <= column < raster.columns and 0 <= row < raster.rows):
        return count
    before, after = _speed_squared(v, a, i, s0), _speed_squared(v, a, i, s1)
    energy = max(
        0.5 * mass * before + _spin_energy(arcs.spin, i, s0, duration),
        0.5 * mass * after + _spin_energy(arcs.spin, i, s1, duration),
    )
    height = _highest(arcs, i, s0, s1, ground)
    here = np.int64(row) * raster.columns + np.int64(column)
    if stamp[here] != visits.mark:
        stamp[here] = visits.mark
        slot[here] = count
        if count < len(cell):
            cell[count] = here
            peaks[count, 0] = 0.0
            peaks[count, 1] = 0.0
            peaks[count, 2] = nan
        count += 1
    k = slot[here]
    if k < len(cell):
        peaks[k, 0] = max(peaks[k, 0], sqrt(max(before, after)))
        peaks[k, 1] = max(peaks[k, 1], energy)
        if isnan(peaks[k, 2]) or height > peaks[k, 2]:
            peaks[k, 2] = height
    return count


@kernel
def _speed_squared(v, a, i, s):
    x, y, z = v[i, 0] + a[i, 0] * s, v[i, 1] + a[i, 1] * s, v[i, 2] + a[i, 2] * s
    return x * x + y * y + z * z


@kernel
def _spin_energy(spin, i, s, duration):
    """Energy of rotation of arc i after s seconds of its duration [J]."""
    share = s / duration if duration > 0.0 else 0.0
    root = spin[i, 0] + share * (spin[i, 1] - spin[i, 0])
    return root * root


@kernel
def _highest(arcs, i, s0, s1, ground):
    """Largest height above the ground over one of its squares; NaN where there is no ground."""
    x, v, a = arcs.x, arcs.v, arcs.a
    s = 0.5 * (s0 + s1)
    column = floor((x[i, 0] + s * (v[i, 0] + 0.5 * a[i, 0] * s) - ground.x0) / ground.dx)
    row = floor((x[i, 1] + s * (v[i, 1] + 0.5 * a[i, 1] * s) - ground.y0) / ground.dy)
    rows, columns = ground.heights.shape
    if not (0 <= column < columns - 1 and 0 <= row < rows - 1):
        return nan
    # The place in the square, (p, q) in [0, 1]², as quadratics in s; the cut is p = q.
    p0 = (x[i, 0] - ground.x0) / ground.dx - column
    q0 = (x[i, 1] - ground.y0) / ground.dy - row
    cv = v[i, 0] / ground.dx - v[i, 1] / ground.dy
    ca = a[i, 0] / ground.dx - a[i, 1] / ground.dy
    one, two = _roots(p0 - q0, cv, ca, s0, s1)
    high = nan
    for k in range(3):
        begin = s0 if k == 0 else (one if k == 1 else two)
        end = one if k == 0 else (two if k == 1 else s1)
        if end > begin or s0 == s1:
            middle = 0.5 * (begin + end)
            east = p0 - q0 + middle * (cv + 0.5 * ca * middle) >= 0.0
            top = _above_plane(
                arcs, i, begin, end, ground, np.int64(row), np.int64(column), p0, q0, east
            )
            if isnan(high) or top > high:
                high = top
    return high


@kernel
def _roots(c, v, a, s0, s1):
    """Both zeros of c + v s + a s²/2 within [s0, s1] in order; s1 stands for none."""
    square = v * v - 2.0 * a * c
    if square < 0.0:
        return s1, s1
    q = -(v + sqrt(square)) if v >= 0.0 else -(v - sqrt(square))
    one = q / a if a != 0.0 else s1
    two = 2.0 * c / q if q != 0.0 else s1
    one = one if s0 < one < s1 else s1
    two = two if s0 < two < s1 else s1
    return min(one, two), max(one, two)


@kernel
def _above_plane(arcs, i, s0, s1, ground, row, column, p0, q0, east):
    """Largest height above the triangle east or west of the cut of one square."""
    x, v, a = arcs.x, arcs.v, arcs.a
    z = ground.heights
    sw, se = z[row, column], z[row, column + 1]
    nw, ne = z[row + 1, column], z[row + 1, column + 1]
    if isnan(sw + se + nw + ne):  # a square without one of its corners is a hole
        return nan
    rise_x = se - sw if east else ne - nw
    rise_y = ne - se if east else nw - sw
    slope_x, slope_y = rise_x / ground.dx, rise_y / ground.dy
    c0 = x[i, 2] - sw - rise_x * p0 - rise_y * q0
    c1 = v[i, 2] - slope_x * v[i, 0] - slope_y * v[i, 1]
    c2 = a[i, 2] - slope_x * a[i, 0] - slope_y * a[i, 1]
    high = max(c0 + s0 * (c1 + 0.5 * c2 * s0), c0 + s1 * (c1 + 0.5 * c2 * s1))
    if c2 < 0.0:
        s = -c1 / c2
        if s0 < s < s1:
            high = max(high, c0 + s * (c1 + 0.5 * c2 * s))
    return high
