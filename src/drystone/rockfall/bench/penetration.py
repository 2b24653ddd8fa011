"""Penetration depth along trajectories, measured apart from the code that rolls the rocks.

Of a whole trajectory, at every time step and at PARTS - 1 times between two: the centre of mass
moves on its arcs, and the rock rotates at constant spin from one state to the next. There

    corners and points along the edges of the rock are held against the plane of the ground above,
    points along the edges of the ground against the faces of a convex rock,
    the centre of a sphere against the triangles around it,

all on the elevation grid itself. A depth below 0 is a gap. A rock has tunnelled if its centre was
ever below the ground.
"""

from math import ceil, floor, inf, isnan, sqrt
from typing import NamedTuple

import numpy as np

from drystone.jit import kernel
from drystone.jit.vec import add, dot, load, mul, mul_t, rotation_matrix, sub
from drystone.model.rotation import rotation_matrices
from drystone.rockfall.engine.flight import place_at
from drystone.rockfall.engine.records import Trajectory
from drystone.rockfall.engine.rock import Rock
from drystone.rockfall.terrain.ground_surface import Ground
from drystone.shapes.sdf.point_triangle import triangle_distance

PARTS = 4  # of a time step
ALONG = 6  # parts of an edge of the rock
FINE = 0.1  # of the radius: distance of points along the edges of the ground


class Probe(NamedTuple):
    """What of a rock is held against the ground."""

    point: np.ndarray  # (n, 3) rock axes [m]
    plane: np.ndarray  # (f, 4) outward normal and offset of the faces; none unless convex
    radius: float  # [m]
    rounding: float  # [m]


class Depth(NamedTuple):
    """The worst of one trajectory."""

    depth: float  # largest, into the ground; negative: it never touched [m]
    time: float  # when [s]
    height: float  # least, of the centre of mass above the ground [m]


def probe_of(rock: Rock) -> Probe:
    """Points on all corners, edges and, if it is not convex, faces of a rock."""
    points, planes = [rock.vertices], np.zeros((0, 4))
    if len(rock.faces):
        a, b, c = (rock.vertices[rock.faces[:, k]] for k in range(3))
        for share in np.arange(1, ALONG) / ALONG:
            points += [a + share * (b - a), b + share * (c - b), c + share * (a - c)]
        normal = np.cross(b - a, c - a)
        normal /= np.linalg.norm(normal, axis=1)[:, None]
        if rock.convex:
            planes = np.column_stack([normal, np.einsum("ij,ij->i", normal, a)])
            planes = np.unique(np.round(planes, 12), axis=0)
        else:
            points.append((a + b + c) / 3.0)
    return Probe(np.unique(np.vstack(points), axis=0), planes, rock.radius, rock.rounding)


@kernel
def _ground_at(ground, x, y):
    """Height and slopes (dz/dx, dz/dy) of the ground at a point; NaN where there is none."""
    u, w = (x - ground.x0) / ground.dx, (y - ground.y0) / ground.dy
    rows, columns = ground.heights.shape
    if not (0.0 <= u <= columns - 1.0 and 0.0 <= w <= rows - 1.0):
        return np.nan, 0.0, 0.0
    c, r = min(int(u), columns - 2), min(int(w), rows - 2)
    z = ground.heights
    sw, se, nw, ne = z[r, c], z[r, c + 1], z[r + 1, c], z[r + 1, c + 1]
    p, q = u - c, w - r
    east, north = (se - sw, ne - se) if p >= q else (ne - nw, nw - sw)
    # A square without one of its corners is a hole: the sum is NaN then.
    hole = 0.0 * (sw + se + nw + ne)
    return sw + p * east + q * north + hole, east / ground.dx, north / ground.dy


@kernel
def _points_into_ground(probe, x, m, ground):
    """Depth of the deepest point of the rock [m]; -inf if none is over ground."""
    worst = -inf
    for i in range(probe.point.shape[0]):
        p = add(x, mul(m, load(probe.point, i)))
        height, east, north = _ground_at(ground, p[0], p[1])
        if not isnan(height):
            depth = (height - p[2]) / sqrt(1.0 + east * east + north * north)
            worst = max(worst, depth)
    return worst


@kernel
def _inside(probe, p):
    """How deep p (rock axes) lies in a convex rock [m]; -inf outside."""
    depth = inf
    for f in range(probe.plane.shape[0]):
        normal = (probe.plane[f, 0], probe.plane[f, 1], probe.plane[f, 2])
        depth = min(depth, probe.plane[f, 3] - dot(normal, p))
        if depth <= 0.0:
            return -inf
    return depth


@kernel
def _edge_into_rock(probe, x, m, a, b, worst):
    """The larger of `worst` and the depth in the rock of points along the edge from a to b."""
    along = sub(b, a)
    length = sqrt(dot(along, along))
    parts = max(int(ceil(length / (FINE * probe.radius))), 1)
    # Only the part of the edge that is within the rock's ball is walked.
    to = sub(x, a)
    middle = dot(to, along) / (length * length)
    reach = probe.radius / length
    first = max(int(floor((middle - reach) * parts)), 0)
    last = min(int(ceil((middle + reach) * parts)), parts)
    for k in range(first, last + 1):
        s = k / parts
        p = (a[0] + s * along[0] - x[0], a[1] + s * along[1] - x[1], a[2] + s * along[2] - x[2])
        if dot(p, p) < probe.radius * probe.radius:
            worst = max(worst, _inside(probe, mul_t(m, p)))
    return worst


@kernel
def _near(probe, x, ground):
    """Rows and columns of the squares of the ground under a rock at x."""
    rows, columns = ground.heights.shape
    r = probe.radius
    c0 = min(max(int(floor((x[0] - r - ground.x0) / ground.dx)), 0), columns - 2)
    c1 = min(max(int(floor((x[0] + r - ground.x0) / ground.dx)), 0), columns - 2)
    r0 = min(max(int(floor((x[1] - r - ground.y0) / ground.dy)), 0), rows - 2)
    r1 = min(max(int(floor((x[1] + r - ground.y0) / ground.dy)), 0), rows - 2)
    return r0, r1, c0, c1


@kernel
def _ground_into_rock(probe, x, m, ground):
    """Depth in the rock of the ground's edges; of a sphere that of its triangles [m]."""
    r0, r1, c0, c1 = _near(probe, x, ground)
    worst = -inf
    for r in range(r0, r1 + 1):
        for c in range(c0, c1 + 1):
            z = ground.heights
            west, south = ground.x0 + c * ground.dx, ground.y0 + r * ground.dy
            east, north = west + ground.dx, south + ground.dy
            sw, se = (west, south, z[r, c]), (east, south, z[r, c + 1])
            nw, ne = (west, north, z[r + 1, c]), (east, north, z[r + 1, c + 1])
            if isnan(sw[2] + se[2] + nw[2] + ne[2]):
                continue
            if probe.rounding > 0.0:
                near = min(triangle_distance(x, sw, se, ne), triangle_distance(x, sw, ne, nw))
                worst = max(worst, probe.rounding - near)
            elif probe.plane.shape[0] > 0:
                worst = _edge_into_rock(probe, x, m, sw, se, worst)
                worst = _edge_into_rock(probe, x, m, sw, ne, worst)
                worst = _edge_into_rock(probe, x, m, sw, nw, worst)
                worst = _edge_into_rock(probe, x, m, nw, ne, worst)
                worst = _edge_into_rock(probe, x, m, se, ne, worst)
    return worst


@kernel
def _is_near(probe, x, ground):
    """Whether the rock's ball reaches down to the highest node around."""
    r0, r1, c0, c1 = _near(probe, x, ground)
    for r in range(r0, r1 + 2):
        for c in range(c0, c1 + 2):
            if ground.heights[r, c] >= x[2] - probe.radius:
                return True
    return False


@kernel
def _orientation_between(p, q, share):
    """Orientation at a share of the time from p to q, at constant spin (slerp)."""
    same = p[0] * q[0] + p[1] * q[1] + p[2] * q[2] + p[3] * q[3]
    sign = 1.0 if same >= 0.0 else -1.0
    angle = np.arccos(min(abs(same), 1.0))
    if angle < 1e-8:
        return p
    f, g = np.sin((1.0 - share) * angle) / np.sin(angle), sign * np.sin(share * angle)
    g /= np.sin(angle)
    return (
        f * p[0] + g * q[0], f * p[1] + g * q[1], f * p[2] + g * q[2], f * p[3] + g * q[3]
    )  # fmt: skip


@kernel
def deepest(probe, t, q, t0, x, v, a, ground):
    """Largest depth of a trajectory [m], its time, and the least height of the centre.

    t, q          (n,), (n, 4) states
    t0, x, v, a   arcs
    """
    worst, when, lowest, arc = -inf, 0.0, inf, 0
    for i in range(len(t) - 1):
        for part in range(PARTS):
            share = part / PARTS
            now = t[i] + share * (t[i + 1] - t[i])
            while arc + 1 < len(t0) and t0[arc + 1] <= now:
                arc += 1
            at = place_at(load(x, arc), load(v, arc), load(a, arc), now - t0[arc])
            height, _, _ = _ground_at(ground, at[0], at[1])
            if isnan(height):
                continue
            lowest = min(lowest, at[2] - height)
            if not _is_near(probe, at, ground):
                continue
            p = (q[i, 0], q[i, 1], q[i, 2], q[i, 3])
            p = _orientation_between(p, (q[i + 1, 0], q[i + 1, 1], q[i + 1, 2], q[i + 1, 3]), share)
            m = rotation_matrix(p[0], p[1], p[2], p[3])
            depth = _ground_into_rock(probe, at, m, ground)
            if probe.rounding == 0.0:
                depth = max(depth, _points_into_ground(probe, at, m, ground))
            if depth > worst:
                worst, when = depth, now
    return worst, when, lowest


def measure_depth(rock: Rock, trajectory: Trajectory, ground: Ground) -> Depth:
    """The worst of a trajectory rolled with its states; holes are not ground."""
    states, arcs = trajectory.states, trajectory.arcs
    columns = [np.ascontiguousarray(arcs[name]) for name in ("t0", "x", "v", "a")]
    q = np.ascontiguousarray(states["q"])
    t = np.ascontiguousarray(states["t"])
    return Depth(*deepest(probe_of(rock), t, q, *columns, ground))


def energy_growth(rock: Rock, states: np.ndarray, gravity: float) -> float:
    """Largest rise of the mechanical energy, as a part of what the rock lost in all."""
    to_world = rotation_matrices(states["q"])
    spin = np.einsum("nij,ni->nj", to_world, states["w"])
    energy = 0.5 * rock.mass * (states["v"] ** 2).sum(axis=1) + 0.5 * (spin**2) @ rock.inertia
    energy += rock.mass * gravity * states["x"][:, 2]
    lost = energy[0] - energy[-1]
    return float((energy - np.minimum.accumulate(energy)).max() / max(lost, np.finfo(float).tiny))
