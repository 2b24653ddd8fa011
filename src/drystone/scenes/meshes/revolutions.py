"""Solids of revolution about z, from profiles, as closed meshes.

Every function returns vertices (n, 3) [m] and faces (m, 3), counter-clockwise seen from outside.
A profile runs so that the solid lies on its left: up along the outer side, down along the inner
side of what is hollow. The solid does not intersect itself if the profile does not.
"""

import numpy as np


def revolve(profile, sections: int):
    """Turn a profile whose two ends close the solid; 2 (vertices - 2) triangles.

    profile   (k, 2) radius, height [m]; an end with radius 0 is a pole, one above 0 a flat cap
    sections  corners of each ring; they lie on the profile, so the solid is inscribed
    """
    profile = np.asarray(profile, float)
    start, end = (profile[i, 0] == 0.0 for i in (0, -1))
    rings = profile[int(start) : len(profile) - int(end)]
    vertices = [_rings(rings, sections)]
    count = len(rings) * sections
    faces = [band_faces(len(rings), sections, closed=False)]
    top = (len(rings) - 1) * sections
    for is_pole, first, height, upward in (
        (start, 0, profile[0, 1], False),
        (end, top, profile[-1, 1], True),
    ):
        if is_pole:
            vertices.append([[0.0, 0.0, height]])
            cap = _fan(first, sections, count)
            count += 1
        else:
            cap = first + polygon_strip(sections)
        faces.append(cap if upward else cap[:, ::-1])
    return np.concatenate(vertices), np.concatenate(faces)


def revolve_ring(profile, sections: int):
    """Revolve a closed profile (k, 2), counter-clockwise, that stays off the axis."""
    profile = np.asarray(profile, float)
    return _rings(profile, sections), band_faces(len(profile), sections, closed=True)


def torus(major: float, minor: float, major_sections: int = 25, minor_sections: int = 12):
    """A torus about z, inscribed; `major_sections` x `minor_sections` corners.

    The volume of the smooth one is 2 π² R r²; here r² is that of the polygon with the same area,
    and the circle of the centres is a polygon too: see tests/scenes/test_meshes.py.
    """
    angle = 2 * np.pi * np.arange(minor_sections) / minor_sections
    profile = np.stack([major + minor * np.cos(angle), minor * np.sin(angle)], axis=1)
    return revolve_ring(profile, major_sections)


def refine(points, count: int):
    """`count` points on a smooth curve through all `points` (k, 2), which are among them.

    Monotone cubic pieces do not overshoot, so that a profile drawn without crossings gets none.
    The extra points go, one by one, to the longest gaps.
    """
    from scipy.interpolate import PchipInterpolator

    points = np.asarray(points, float)
    length = np.linalg.norm(np.diff(points, axis=0), axis=1)
    pieces = np.ones(len(length), int)
    for _ in range(count - len(points)):
        pieces[np.argmax(length / pieces)] += 1
    knots = np.concatenate([[0.0], np.cumsum(length)])
    where = [np.linspace(knots[i], knots[i + 1], n, endpoint=False) for i, n in enumerate(pieces)]
    curve = PchipInterpolator(knots, points)(np.concatenate([*where, knots[-1:]]))
    curve[[0, -1]] = points[[0, -1]]  # without rounding: a pole is where the radius is 0
    return curve


def band_faces(rings: int, sections: int, closed: bool):
    """Triangles between neighbouring rings of `sections` vertices, ring after ring."""
    i = np.arange(rings if closed else rings - 1)[:, None] * sections
    above = (i + sections) % (rings * sections)
    j = np.arange(sections)
    k = (j + 1) % sections
    corners = [i + j, i + k, above + k, above + j]
    a, b, c, d = (x.ravel() for x in corners)
    return np.concatenate([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)])


def polygon_strip(sections: int):
    """A convex polygon cut into a zigzag of triangles, counter-clockwise as its corners are.

    Better shaped than a fan from one corner.
    """
    order = np.empty(sections, int)
    order[0::2] = np.arange(len(order[0::2]))
    order[1::2] = sections - 1 - np.arange(len(order[1::2]))
    strip = np.stack([order[:-2], order[1:-1], order[2:]], axis=1)
    strip[::2] = strip[::2, ::-1]
    return strip


def _fan(first, sections, apex):
    j = np.arange(sections)
    return np.stack([first + j, first + (j + 1) % sections, np.full(sections, apex)], axis=1)


def _rings(profile, sections):
    angle = 2 * np.pi * np.arange(sections) / sections
    x = profile[:, :1] * np.cos(angle)
    y = profile[:, :1] * np.sin(angle)
    z = np.repeat(profile[:, 1:], sections, axis=1)
    return np.stack([x, y, z], axis=2).reshape(-1, 3)
