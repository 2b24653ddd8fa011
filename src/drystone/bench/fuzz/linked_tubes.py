"""Tubes about closed and open curves, as meshes, and random pairs of them that are linked."""

from types import SimpleNamespace

import numpy as np

from drystone.model.rotation import matrix_from_quaternion

PIECE = 0.25  # of the radius: between longer ones a tube would be deeper than their ends tell


def circle(count, size=1.0):
    t = 2 * np.pi * np.arange(count) / count
    return size * np.stack([np.cos(t), np.sin(t), 0 * t], 1)


def trefoil(count, size=1.0):
    t = 2 * np.pi * np.arange(count) / count
    x, y = np.sin(t) + 2 * np.sin(2 * t), np.cos(t) - 2 * np.cos(2 * t)
    return size / 3 * np.stack([x, y, -np.sin(3 * t)], 1)


def figure_eight(count, size=1.0):
    t = 2 * np.pi * np.arange(count) / count
    r = 2 + np.cos(2 * t)
    return size / 3 * np.stack([r * np.cos(3 * t), r * np.sin(3 * t), np.sin(4 * t)], 1)


def hook(count, size=1.0, angle=4.6):
    t = angle * (np.arange(count) / (count - 1) - 0.5)
    return size * np.stack([np.cos(t), np.sin(t), 0 * t], 1)


def tube(curve, closed, radius, sections, start=0.0):
    """Vertices and faces of a tube about a polyline, in frames that do not rotate about it."""
    n, m = len(curve), sections
    along = np.roll(curve, -1, 0) - np.roll(curve, 1, 0) if closed else np.gradient(curve, axis=0)
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    across = [np.cross(along[0], (0.31, 0.57, 0.76))]
    for k in range(n + closed):
        u = across[-1] - along[k % n] * (across[-1] @ along[k % n])
        across.append(u / np.linalg.norm(u))
    across, twist = across[1:], 0.0
    if closed:  # the last frame has to meet the first
        twist = np.arctan2(
            across[n] @ np.cross(along[0], across[0]), across[n] @ across[0]
        )  # fmt: skip
    vertices, faces = [], []
    for k in range(n):
        angle = start + 2 * np.pi * np.arange(m) / m - twist * k / n
        u, v = across[k], np.cross(along[k], across[k])
        vertices.append(
            curve[k] + radius * (np.outer(np.cos(angle), u) + np.outer(np.sin(angle), v))
        )
    for k in range(n if closed else n - 1):
        for j in range(m):
            a, b = k * m + j, k * m + (j + 1) % m
            c, d = (k + 1) % n * m + (j + 1) % m, (k + 1) % n * m + j
            faces += [(a, b, c), (a, c, d)]
    if not closed:
        vertices += [curve[:1], curve[-1:]]
        for j in range(m):
            i = (j + 1) % m
            faces += [(n * m, i, j), (n * m + 1, (n - 1) * m + j, (n - 1) * m + i)]
    return np.concatenate(vertices), np.array(faces)


def linking_number(x, y):
    """Gauss' integral over two closed polylines of many short pieces."""
    dx, dy = np.roll(x, -1, 0) - x, np.roll(y, -1, 0) - y
    r = (x + dx / 2)[:, None] - (y + dy / 2)[None]
    volume = np.einsum("ijk,ijk->ij", r, np.cross(dx[:, None], dy[None]))
    return round(float((volume / np.linalg.norm(r, axis=-1) ** 3).sum() / (4 * np.pi)))


def surfaces_cross(x, own, y, their, middle, reach):
    """Whether an edge of one surface passes through a triangle of the other, within a box of half
    size `reach` about `middle`.

    x, own   vertices and faces; y, their   of the other
    """
    for v, faces, w, others in ((x, own, y, their), (y, their, x, own)):
        near = [
            np.all((t.min(1) < middle + reach) & (t.max(1) > middle - reach), axis=1)
            for t in (v[faces], w[others])
        ]
        edges = np.concatenate([faces[near[0]][:, k] for k in ([0, 1], [1, 2], [2, 0])])
        p, q = v[edges[:, 0]], v[edges[:, 1]]
        for a, b, c in w[others[near[1]]]:
            n = np.cross(b - a, c - a)
            above, below = (p - a) @ n, (q - a) @ n
            some = above * below < 0
            share = (above[some] / (above[some] - below[some]))[:, None]
            at = p[some] + share * (q[some] - p[some])
            sides = [np.cross(v - u, at - u) @ n for u, v in ((a, b), (b, c), (c, a))]
            if np.any(np.minimum.reduce(sides) > 0):
                return True
    return False


def _fine(curve, closed, radius):
    """The polyline in pieces, some hundred of them, and short beside the radius of its tube."""
    ends = np.concatenate([curve, curve[:1]]) if closed else curve
    longest = np.linalg.norm(np.diff(ends, axis=0), axis=1).max()
    k = max(1, 120 // len(curve), int(np.ceil(longest / (PIECE * radius))))
    s = np.linspace(0, 1, k, endpoint=False)[:, None]
    return np.concatenate([a + s * (b - a) for a, b in zip(ends, ends[1:], strict=False)])


def nearest(x, y):
    """Distance of two polylines, and the places of both where it is."""
    square = (x**2).sum(1)[:, None] + (y**2).sum(1) - 2 * x @ y.T
    i, j = divmod(int(square.argmin()), len(y))
    return float(np.linalg.norm(x[i] - y[j])), i, j


def _at_end(tube, i):
    """Whether place `i` is near an open end of a tube, which is flat and reaches no farther."""
    ends = tube.line[[0, -1]]
    return not tube.closed and np.linalg.norm(ends - tube.line[i], axis=1).min() < tube.radius


def random_tube(rng, most):
    """A torus, a knot or a hook of five to `most` sections."""
    kind = rng.choice(["torus", "torus", "trefoil", "figure eight", "hook"])
    size = 10 ** rng.uniform(-1.0, 0.3)
    n, m = (round(np.exp(rng.uniform(np.log(5), np.log(k)))) for k in (most, max(6, most // 3)))
    if kind == "torus":
        curve, radius = circle(n, size), size * rng.uniform(0.08, 0.3)
    elif kind == "trefoil":
        curve, radius = trefoil(max(n, 24), size), size * rng.uniform(0.05, 0.12)
    elif kind == "figure eight":
        curve, radius = figure_eight(max(n, 48), size), size * rng.uniform(0.05, 0.1)
    else:
        curve, radius = hook(n, size), size * rng.uniform(0.08, 0.25)
    closed = bool(kind != "hook")
    vertices, faces = tube(curve, closed, radius, m, rng.uniform(0, 6))
    return SimpleNamespace(
        kind=str(kind), closed=closed, curve=curve, line=_fine(curve, closed, radius),
        radius=radius, inner=radius * np.cos(np.pi / m), vertices=vertices, faces=faces,
    )  # fmt: skip


def random_pair(rng, most=60):
    """Two tubes that are linked, or hooked, one pushed into the other by up to 90 % of its wall.

    Returns both, rotation and position of the second in the axes of the first, how deep they are
    in each other, as a share of the smaller wall, and the linking number, None of hooks.
    """
    while True:
        a, b = random_tube(rng, most), random_tube(rng, most)
        if not 0.25 < a.radius / b.radius < 4.0:
            continue
        for _ in range(60):
            placed = _push_together(rng, a, b)
            if placed is not None:
                return a, b, *placed


def _push_together(rng, a, b):
    quaternion = rng.normal(size=4)
    rotation = matrix_from_quaternion(quaternion / np.linalg.norm(quaternion))
    theirs, both = b.line @ rotation.T, a.closed and b.closed
    start = a.line[rng.integers(len(a.line))]
    inward = -start / np.linalg.norm(start) + 0.4 * rng.normal(size=3)
    away = (a.radius + b.radius) * rng.uniform(1.02, 1.8) / np.linalg.norm(inward)
    position = start + away * inward - theirs[rng.integers(len(theirs))]
    apart, i, j = nearest(a.line, theirs + position)
    if apart < a.radius + b.radius or _at_end(a, i) or _at_end(b, j):
        return None
    linked = linking_number(a.line, theirs + position) if both else None
    reach = np.abs(a.curve).max() + np.abs(b.curve).max()
    if linked == 0 or (not both and np.linalg.norm(position) > 0.9 * reach):
        return None
    share, wall = rng.uniform(0.0, 0.9), 2 * min(a.inner, b.inner)
    wanted = a.inner + b.inner - share * wall
    position = position - (theirs[j] + position - a.line[i]) / apart * (apart - wanted)
    if nearest(a.line, theirs + position)[0] < wanted - 0.01 * wall:
        return None  # deeper elsewhere
    return rotation, position, share, linked
