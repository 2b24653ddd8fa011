"""Flat things of equal thickness as closed meshes: plates with a bore, bars, channels, outlines.

A solid lies between two lines of points that face each other: outline and bore of a plate, teeth
and back of a rack. Strips of triangles join them, so that no outline has to be triangulated; the
line from each point to its partner must lie inside. All extrude along z, centred at z = 0.
"""

import numpy as np


def extrude(right, left, thickness: float, closed: bool):
    """The solid between two polylines (k, 2) [m], seen along +z from first to last point.

    right, left  `right` lies to the right of the direction of travel; closed: outer line
                 counter-clockwise, and the bore inside it, with the same number of points
    """
    right, left = np.asarray(right, float), np.asarray(left, float)
    k = len(right)
    lines = [right, right, left, left]
    heights = [-thickness / 2, thickness / 2, thickness / 2, -thickness / 2]
    vertices = np.concatenate(
        [np.column_stack([line, np.full(k, z)]) for line, z in zip(lines, heights, strict=True)]
    )
    i = np.arange(k if closed else k - 1)
    j = (i + 1) % k
    faces = []
    for side in range(4):  # right wall, top, left wall, bottom
        a, b = side * k, (side + 1) % 4 * k
        faces += [np.stack([a + i, a + j, b + j], axis=1), np.stack([a + i, b + j, b + i], axis=1)]
    if not closed:
        start = np.array([[0, k, 2 * k], [0, 2 * k, 3 * k]])
        faces += [start, start[:, ::-1] + k - 1]
    return vertices, np.concatenate(faces)


def plate(outline, bore: float, thickness: float):
    """A plate about the z axis with a round hole; the outline is star-shaped seen from the axis.

    outline  (k, 2) counter-clockwise, its directions from the axis rising [m]
    bore     radius that passes through the hole [m]: the polygon is drawn around the circle
    """
    outline = np.asarray(outline, float)
    angle = np.arctan2(outline[:, 1], outline[:, 0])
    step = np.diff(np.append(angle, angle[0])) % (2 * np.pi)
    reach = bore / np.cos(step.max() / 2)
    ring = reach * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    return extrude(outline, ring, thickness, closed=True)


def circle(radius: float, sections: int):
    """Outline of a polygon with corners on the circle [m]."""
    angle = 2 * np.pi * np.arange(sections) / sections
    return radius * np.stack([np.cos(angle), np.sin(angle)], axis=1)


def square(side: float, sections: int):
    """Outline of a square as `sections` points at equal angles; a multiple of 8 has the corners."""
    point = circle(1.0, sections)
    return point * (side / 2 / np.abs(point).max(axis=1))[:, None]


def egg(base: float, lift: float, sections: int = 96):
    """Outline of a cam: a circle of radius `base` [m], drawn out by `lift` [m] towards +x."""
    point = circle(1.0, sections)
    nose = ((1 + point[:, 0]) / 2) ** 3
    return point * (base + lift * nose)[:, None]


def channel(width: float, depth: float, wall: float, length: float):
    """A U-shaped channel along z, open towards +y, its floor in the plane y = 0 [m].

    width, depth  of the inside; wall: thickness of floor and sides
    """
    w, t = width / 2, wall
    outer = [(-w - t, depth), (-w - t, -t), (w + t, -t), (w + t, depth)]
    inner = [(-w, depth), (-w, 0.0), (w, 0.0), (w, depth)]
    return extrude(outer, inner, length, closed=False)
