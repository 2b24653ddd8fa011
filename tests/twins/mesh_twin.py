"""Slow and obvious twins for meshes, and meshes that several tests use."""

import numpy as np
import trimesh

from drystone.shapes import Mesh


def signed_distance(vertices, faces, point):
    """Distance from the closed surface, negative inside: every triangle is asked; the side is
    the sum of all solid angles."""
    corners = vertices[faces]
    near = trimesh.triangles.closest_point(corners, np.tile(point, (len(faces), 1)))
    distance = np.linalg.norm(near - point, axis=1).min()
    return -distance if turns_around(corners, point) > 0.5 else distance


def turns_around(corners, point):
    """Winding number of triangles (m, 3, 3) about the point."""
    a, b, c = (corners[:, k] - point for k in range(3))
    la, lb, lc = (np.linalg.norm(x, axis=1) for x in (a, b, c))
    top = (a * np.cross(b, c)).sum(axis=1)
    low = la * lb * lc + (a * b).sum(1) * lc + (b * c).sum(1) * la + (c * a).sum(1) * lb
    return np.arctan2(top, low).sum() / (2 * np.pi)


def torus(major=1.0, minor=0.4, around=12, across=7):
    mesh = trimesh.creation.torus(major, minor, major_sections=around, minor_sections=across)
    return Mesh(mesh.vertices, mesh.faces)


def box_mesh(x, y, z):
    box = trimesh.creation.box((x, y, z))
    return Mesh(box.vertices, box.faces)


def extruded(outline, length):
    """The polygon `outline` (n, 2) in x and z, counter-clockwise with z up, drawn along y."""
    outline = np.asarray(outline, float)
    n = len(outline)
    front = np.column_stack([outline[:, 0], np.full(n, -0.5 * length), outline[:, 1]])
    back = front + [0.0, length, 0.0]
    caps = ears(outline)
    k = np.arange(n)
    j = (k + 1) % n
    sides = np.concatenate([np.stack([k, j, j + n], 1), np.stack([k, j + n, k + n], 1)])
    faces = np.concatenate([caps, caps[:, ::-1] + n, sides[:, ::-1]])
    mesh = trimesh.Trimesh(np.vstack([front, back]), faces, process=False)
    return Mesh(mesh.vertices, faces if mesh.volume > 0 else faces[:, ::-1])


def ears(outline):
    """Triangles of a simple polygon by cutting ears."""
    left, faces = list(range(len(outline))), []
    while len(left) > 2:
        for i in range(len(left)):
            a, b, c = (left[(i + k - 1) % len(left)] for k in range(3))
            p, q, r = outline[a], outline[b], outline[c]
            if _area(p, q, r) <= 1e-12:
                continue
            others = [outline[k] for k in left if k not in (a, b, c)]
            if not any(_area(p, q, x) >= 0 and _area(q, r, x) >= 0 and _area(r, p, x) >= 0
                       for x in others):  # fmt: skip
                faces.append((a, b, c))
                left.remove(b)
                break
    return np.array(faces)


def _area(p, q, r):
    return (q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0])


def channel(width=1.0, depth=1.0, wall=0.2, length=4.0):
    """A trough along y, open above; the floor inside is z = 0, the rim z = depth."""
    w, o = 0.5 * width, 0.5 * width + wall
    outline = [(-o, -wall), (o, -wall), (o, depth), (w, depth), (w, 0), (-w, 0), (-w, depth),
               (-o, depth)]  # fmt: skip
    return extruded(outline, length)


def plate_with_hole(radius, side, thick, corners=64):
    """A square plate, level, with a hole in the middle: flat facets that touch that circle."""
    angle = 2 * np.pi * np.arange(corners) / corners
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    square = circle * (0.5 * side / np.abs(circle).max(axis=1))[:, None]
    rings = [circle * radius / np.cos(np.pi / corners), square]
    vertices = np.vstack([np.column_stack([ring, np.full(corners, 0.5 * thick * up)])
                          for up in (-1, 1) for ring in rings])  # fmt: skip
    k = np.arange(corners)
    j = (k + 1) % corners
    low, low_out, top, top_out = (n * corners for n in range(4))
    faces = []
    for one, two in ((top, top_out), (low_out, low), (low, top), (top_out, low_out)):
        faces += [
            np.stack([one + k, two + k, two + j], 1),
            np.stack([one + k, two + j, one + j], 1),
        ]
    return Mesh(vertices, np.vstack(faces))


def surface_distance(one, two):
    """Least distance of two surfaces, each (vertices, edges, faces); 0 if one pierces the other.

    Between a vertex and a face, either way, or between two edges: all pairs are asked.
    """
    (v, e, f), (w, g, h) = one, two
    if any_pierces(v[e], w[h]) or any_pierces(w[g], v[f]):
        return 0.0
    least = segment_distances(v[e], w[g]).min()
    for points, corners in ((v, w[h]), (w, v[f])):
        for point in points if len(corners) else ():
            near = trimesh.triangles.closest_point(corners, np.tile(point, (len(corners), 1)))
            least = min(least, np.linalg.norm(near - point, axis=1).min())
    return least


def any_pierces(segments, corners):
    """Whether any segment (n, 2, 3) passes through any triangle (m, 3, 3), by signs of volumes."""
    p, q = segments[:, None, 0], segments[:, None, 1]
    a, b, c = (corners[None, :, k] for k in range(3))

    def side(u, v, w, x):
        return np.sign((np.cross(v - u, w - u) * (x - u)).sum(-1))

    ab, bc, ca = side(p, q, a, b), side(p, q, b, c), side(p, q, c, a)
    return ((side(p, a, b, c) != side(q, a, b, c)) & (ab == bc) & (bc == ca)).any()


def segment_distances(one, two):
    """(n, m) distances of segments (n, 2, 3) and (m, 2, 3) [Ericson2005, 5.1.9]."""
    p, q = one[:, None, 0], two[None, :, 0]
    d, g = one[:, None, 1] - p, two[None, :, 1] - q
    r = p - q
    a, e, f = (d * d).sum(-1), (g * g).sum(-1), (g * r).sum(-1)
    b, c = (d * g).sum(-1), (d * r).sum(-1)
    bottom = a * e - b * b
    s = np.where(bottom > 1e-12 * a * e, (b * f - c * e) / np.where(bottom > 0, bottom, 1), 0)
    t = np.clip((b * np.clip(s, 0, 1) + f) / e, 0, 1)
    s = np.clip((b * t - c) / a, 0, 1)
    return np.linalg.norm(r + s[..., None] * d - t[..., None] * g, axis=-1)


def mesh_surface(vertices, faces):
    return vertices, np.vstack([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]]), faces


def joined(*pieces):
    """Vertices and faces of several (vertices, faces) as one mesh."""
    shift = np.cumsum([0] + [len(v) for v, _ in pieces])
    faces = [f + s for (_, f), s in zip(pieces, shift, strict=False)]
    return np.vstack([v for v, _ in pieces]), np.vstack(faces)


def box_at(x, size=(1, 1, 1)):
    box = trimesh.creation.box(size)
    return np.array(box.vertices) + [x, 0, 0], np.array(box.faces)
