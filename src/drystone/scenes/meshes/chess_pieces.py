"""A garden chess set of our own drawing: four solids of revolution, and a knight.

The knight is no solid of revolution: rings that are circles at the foot become ellipses that lean
along the neck and turn forward with the head. Heights are between 0.22 m and 0.40 m, triangles
between 1916 and 5814, as in FFD section 9.
"""

import numpy as np

from drystone.scenes.meshes.revolutions import band_faces, polygon_strip, refine, revolve

# Radius and height [mm], from the foot up.
PAWN = (
    (70, 0), (73, 6), (72, 16), (60, 28), (46, 38), (36, 58), (30, 84), (27, 116), (29, 124),
    (44, 130), (45, 136), (30, 143), (28, 150), (37, 164), (41, 180), (37, 198), (26, 211),
    (12, 218), (3, 220),
)  # fmt: skip
ROOK = (
    (76, 0), (80, 6), (79, 20), (68, 32), (56, 44), (48, 70), (44, 120), (43, 165), (46, 176),
    (60, 184), (62, 192), (62, 240), (46, 240), (45, 206), (22, 205), (0, 205),
)  # fmt: skip
BISHOP = (
    (76, 0), (80, 6), (79, 20), (66, 32), (50, 46), (38, 74), (31, 120), (27, 176), (30, 188),
    (50, 195), (51, 202), (33, 211), (33, 220), (42, 240), (45, 258), (40, 278), (26, 296),
    (12, 305), (10, 308), (16, 314), (17, 320), (13, 327), (3, 330),
)  # fmt: skip
QUEEN = (
    (0, 0), (94, 0), (98, 6), (97, 22), (82, 36), (62, 52), (46, 86), (36, 146), (31, 230),
    (34, 242), (56, 250), (57, 258), (38, 268), (37, 284), (46, 320), (64, 360), (66, 366),
    (60, 368), (44, 352), (28, 358), (20, 366), (14, 374), (18, 382), (20, 388), (17, 395),
    (9, 399.5), (0, 400),
)  # fmt: skip

# Front and back of every ring of the knight (x, z), and its half width in y [mm].
KNIGHT = (
    (76, 0, -76, 0, 76), (80, 6, -80, 6, 80), (79, 20, -79, 20, 79), (66, 32, -66, 32, 66),
    (54, 44, -56, 44, 55), (44, 62, -54, 62, 46), (34, 88, -58, 92, 37), (27, 114, -60, 128, 31),
    (25, 138, -54, 166, 29), (30, 154, -40, 198, 28), (42, 163, -17, 224, 28),
    (57, 163, 10, 236, 29), (74, 156, 42, 226, 27), (90, 147, 68, 209, 24),
    (103, 139, 90, 191, 20), (112, 137, 108, 172, 17), (116, 143, 114, 163, 11),
)  # fmt: skip
EAR_RINGS = (10, 11, 12)  # where the ears stand, which are drawn out at the middle one
EAR = 22.0  # [mm]


def pawn():
    return revolve(1e-3 * refine(PAWN, 30), 32)


def rook():
    """With a cup in its top, which other pieces get stuck in."""
    return revolve(1e-3 * refine(ROOK, 40), 40)


def bishop():
    return revolve(1e-3 * refine(BISHOP, 44), 44)


def queen():
    return revolve(1e-3 * refine(QUEEN, 59), 51)


def knight(rings: int = 48, sections: int = 44):
    """Rings from the foot to the muzzle; none cuts another, so the skin does not cut itself."""
    where = np.linspace(0, len(KNIGHT) - 1, rings)
    rows = _interpolate(KNIGHT, where) * 1e-3
    ears = np.clip(1 - np.abs(where - EAR_RINGS[1]), 0, None) * EAR * 1e-3
    front, back, width = rows[:, 0:2], rows[:, 2:4], rows[:, 4]
    angle = 2 * np.pi * np.arange(sections) / sections
    along = ((front + back)[:, None] + (front - back)[:, None] * np.cos(angle)[:, None]) / 2
    # Two ears, to the left and the right of the back end of the ring, which is the poll there.
    peak = np.exp(-(((np.abs(angle - np.pi) - 0.75) / 0.22) ** 2))
    up = (back - front) / np.linalg.norm(back - front, axis=1)[:, None]
    along += ears[:, None, None] * peak[:, None] * up[:, None]
    y = width[:, None] * np.sin(angle)
    vertices = np.stack([along[..., 0], y, along[..., 1]], axis=2).reshape(-1, 3)
    caps = polygon_strip(sections)[:, ::-1], (rings - 1) * sections + polygon_strip(sections)
    return vertices, np.concatenate([band_faces(rings, sections, closed=False), *caps])


def _interpolate(rows, where):
    from scipy.interpolate import PchipInterpolator

    return PchipInterpolator(np.arange(len(rows)), np.array(rows, float))(where)


PIECES = {"pawn": pawn, "rook": rook, "bishop": bishop, "queen": queen, "knight": knight}
HEIGHT = 0.40  # [m] of the queen, the tallest
RADIUS = 0.1  # [m] of a circle that holds every foot
