"""A track with a loop as a closed mesh: a groove extruded along straights and arcs.

The path runs in the plane of x and z as pieces of constant curvature. Within the loop it also
drifts sideways, along y, so that the exit passes beside the entry.
"""

from typing import NamedTuple

import numpy as np

TURN_DEG = 0.3  # by which the path turns from row to row, at most
# A ball that meets a corner of angle a in the path loses sin² a of its energy of motion, so all
# of them together 2 π a in a loop: 3 %.


class Piece(NamedTuple):
    """Length [m] and curvature [1/m] of a part of the path, and its drift along y [m]."""

    length: float
    curvature: float = 0.0
    drift: float = 0.0


def loop_pieces(drop, slope, bend, flat, loop, drift, rise):
    """Straight down `drop` [m] at `slope` [rad], a bend, a flat, the loop, a flat, and up again.

    bend, loop  radii [m]; rise: angle of the ramp at the far end [rad], as high as the start
    """
    height = drop + bend * (1 - np.cos(slope))
    climb = max(0.0, height - bend * (1 - np.cos(rise)))
    return (
        Piece(drop / np.sin(slope)),
        Piece(bend * slope, 1 / bend),
        Piece(flat),
        Piece(2 * np.pi * loop, 1 / loop, drift),
        Piece(flat),
        Piece(bend * rise, 1 / bend),
        Piece(climb / np.sin(rise)),
    )


def path_rows(pieces, heading, turn_deg=TURN_DEG):
    """Points (n, 3) on the path, its headings (n,) [rad above x] and lengths (n,) from the start.

    Starts at the origin; straight pieces have only their ends.
    """
    points, headings, lengths = [np.zeros(3)], [heading], [0.0]
    for length, curvature, drift in pieces:
        rows = max(1, int(np.ceil(np.degrees(abs(curvature) * length) / turn_deg - 1e-9)))
        start, first, base = points[-1], headings[-1], lengths[-1]
        for k in range(1, rows + 1):
            part = k / rows
            s = part * length
            if curvature:
                a = first + curvature * s
                x = (np.sin(a) - np.sin(first)) / curvature
                z = (np.cos(first) - np.cos(a)) / curvature
            else:
                a, x, z = first, s * np.cos(first), s * np.sin(first)
            y = drift * (part - np.sin(2 * np.pi * part) / (2 * np.pi))  # starts and ends level
            points.append(start + (x, y, z))
            headings.append(a)
            lengths.append(base + s)
    return np.array(points), np.array(headings), np.array(lengths)


def extrude_along(pieces, heading, groove, opening, thickness, columns=12, turn_deg=TURN_DEG):
    """The track as vertices (n, 3) [m] and faces (m, 3), its path the bottom of the groove.

    groove     radius of its round bottom [m]; facets touch it from outside, the middle one at
               the path: `columns` is even
    opening    angle of the groove to either side of its bottom [rad]
    thickness  of what is left below the bottom, and of the rims beside the groove [m]
    """
    points, headings, _ = path_rows(pieces, heading, turn_deg)
    angle = np.linspace(opening, -opening, columns)  # left of the path is +y
    reach = groove / np.cos(opening / (columns - 1))
    side, up = reach * np.sin(angle), groove - reach * np.cos(angle)
    edge = side[0] + thickness
    side = np.r_[edge, side, -edge, -edge, edge]
    up = np.r_[up[0], up, up[0], -thickness, -thickness]
    normal = np.stack([-np.sin(headings), 0 * headings, np.cos(headings)], axis=1)
    rows = points[:, None] + up[:, None] * normal[:, None]
    rows[..., 1] += side
    return rows.reshape(-1, 3), _tube_faces(len(points), columns + 2)


def _tube_faces(rows, columns):
    """Skin of the rows and the two ends; a row is rim, groove and rim, then two corners below."""
    n = columns + 2
    i = np.arange(rows - 1)[:, None] * n
    j = np.arange(n)
    k = (j + 1) % n
    a, b, c, d = (x.ravel() for x in (i + j, i + k, i + n + k, i + n + j))
    skin = [np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)]
    # From its corner below each half of the groove is seen completely.
    right, left, middle = columns, columns + 1, columns // 2
    end = [(left, m + 1, m) for m in range(middle)]
    end += [(right, m + 1, m) for m in range(middle, columns - 1)]
    end = np.array([*end, (left, right, middle)])
    return np.concatenate([*skin, end, end[:, ::-1] + (rows - 1) * n])
