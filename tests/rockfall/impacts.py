"""Random impacts for the tests: rows of contacts on a rock with random radii of gyration."""

import numpy as np

from drystone.jit import kernel
from drystone.rockfall.impact import ImpactRoom, bounce_off, row_speed, rub


def rows_of(directions, arms, gyration):
    """(k, 6) rows of unit directions (k, 3) at arms (k, 3)."""
    return np.hstack([directions, np.cross(arms, directions) / gyration])


def sliding(normals, arms, gyration, twist):
    """(k, 6) rows against the sliding of each contact, eq. 3.57 to 3.59."""
    velocity = twist[:3] + np.cross(twist[3:] / gyration, arms)
    along = velocity - np.einsum("ij,ij->i", velocity, normals)[:, None] * normals
    speed = np.linalg.norm(along, axis=1)[:, None]
    return rows_of(np.where(speed > 0.0, -along / np.where(speed > 0.0, speed, 1.0), 0.0), arms, gyration)


def random_impact(rng, least=1, most=6):
    """normal, slide, bounce, friction, twist of contacts spread over the lower half of a rock."""
    k = rng.integers(least, most + 1)
    gyration = rng.uniform(0.2, 0.6, 3)
    arms = rng.normal(size=(k, 3))
    arms *= 0.5 / np.linalg.norm(arms, axis=1)[:, None]
    normals = rng.normal(size=(k, 3)) * rng.uniform(0.0, 1.0) + [0.0, 0.0, 1.0]
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    twist = rng.normal(size=6) * rng.uniform(0.0, 3.0, 6) - [0.0, 0.0, 2.0, 0.0, 0.0, 0.0]
    normal = rows_of(normals, arms, gyration)
    slide = sliding(normals, arms, gyration, twist)
    return normal, slide, rng.uniform(0.0, 1.0, k), rng.uniform(0.0, 1.5, k), twist


def fast_impact(normal, slide, bounce, friction, twist):
    """The compiled path: twist after it, normal impulses, friction impulses."""
    k = len(bounce)
    room, z = ImpactRoom.of(k), np.array(twist, dtype=np.float64)
    p, f = np.zeros(k), np.zeros(k)
    assert bounce_off(k, np.ascontiguousarray(normal), bounce, z, p, room)
    assert rub(k, np.ascontiguousarray(slide), friction, p, z, f, room)
    return z, p, f


@kernel
def worst_of_many(normal, slide, bounce, friction, twist, first, room, p, f, z, worst):
    """Largest growth of energy, least impulses, largest excess of friction, worst approach."""
    for i in range(first.shape[0] - 1):
        k = first[i + 1] - first[i]
        a, b = first[i], first[i + 1]
        before = 0.0
        for c in range(6):
            z[c] = twist[i, c]
            before += z[c] * z[c]
        if not bounce_off(k, normal[a:b], bounce[a:b], z, p, room):
            worst[5] += 1.0
        for c in range(k):
            worst[3] = min(worst[3], row_speed(normal[a:b], c, z))
        if not rub(k, slide[a:b], friction[a:b], p, z, f, room):
            worst[5] += 1.0
        after = 0.0
        for c in range(6):
            after += z[c] * z[c]
        worst[0] = max(worst[0], (after - before) / before)
        for c in range(k):
            worst[1] = min(worst[1], min(p[c], f[c]))
            worst[2] = max(worst[2], f[c] - friction[a + c] * p[c])
