"""Shared by the tests of rock dynamics: planes, impacts, turns."""

import numpy as np

from drystone.rockfall.engine.impact import ImpactWorkspace, apply_friction, bounce_off
from drystone.rockfall.engine.roll import Scene
from drystone.rockfall.terrain.materials import uniform_surface

GRAVITY = 9.81


def plane(slope_deg, restitution=0.3, friction=0.5, size=300.0, **things) -> Scene:
    """A square that falls towards +x, of two triangles."""
    corners = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]], dtype=float) * size
    z = -corners[:, 0] * np.tan(np.radians(slope_deg))
    surface = uniform_surface(restitution, friction)
    return Scene.build(np.column_stack([corners, z]), [[0, 1, 2], [0, 2, 3]], surface, **things)


def downhill(slope_deg):
    """Unit vectors down the plane, and out of it."""
    a = np.radians(slope_deg)
    return np.array([np.cos(a), 0.0, -np.sin(a)]), np.array([np.sin(a), 0.0, np.cos(a)])


def about(axis, angle_deg):
    """Quaternion of a turn about x, y or z."""
    half = 0.5 * np.radians(angle_deg)
    q = np.zeros(4)
    q[0], q[1 + "xyz".index(axis)] = np.cos(half), np.sin(half)
    return q


def matrix(q):
    w, x, y, z = q
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def rows_of(directions, arms, gyration):
    """(..., 6) rows of unit directions at arms (..., 3), see solvers/stages/impact.py."""
    return np.concatenate([directions, np.cross(arms, directions) / gyration], axis=-1)


def sliding(normals, arms, gyration, twist):
    """(..., k, 6) rows against the sliding of each contact, eq. 3.57 to 3.59."""
    spin = (twist[..., 3:] / gyration)[..., None, :]
    velocity = twist[..., None, :3] + np.cross(spin, arms)
    along = velocity - np.sum(velocity * normals, axis=-1, keepdims=True) * normals
    speed = np.linalg.norm(along, axis=-1, keepdims=True)
    way = np.where(speed > 1e-12, -along / np.maximum(speed, 1e-12), 0.0)
    return rows_of(way, arms, gyration[..., None, :])


def random_impacts(rng, count, contacts=6):
    """Arrays of `count` impacts, each with `contacts` contacts all about the rock's lower side:
    normal, slide (count, k, 6), bounce, friction (count, k), twist (count, 6)."""
    gyration = rng.uniform(0.2, 0.6, (count, 3))
    arms = rng.normal(size=(count, contacts, 3))
    arms *= 0.5 / np.linalg.norm(arms, axis=-1, keepdims=True)
    normals = rng.normal(size=arms.shape) * rng.uniform(0.0, 1.0, (count, 1, 1)) + [0, 0, 1.0]
    normals /= np.linalg.norm(normals, axis=-1, keepdims=True)
    twist = rng.normal(size=(count, 6)) * rng.uniform(0.0, 3.0, (count, 6))
    twist[:, 2] -= 2.0
    bounce, friction = rng.uniform(0, 1, (count, contacts)), rng.uniform(0, 1.5, (count, contacts))
    normal = rows_of(normals, arms, gyration[:, None, :])
    return normal, sliding(normals, arms, gyration, twist), bounce, friction, twist


def fast_impact(normal, slide, bounce, friction, twist):
    """The compiled path: twist after it, normal impulses, friction impulses."""
    k = len(bounce)
    room, z = ImpactWorkspace.of(k), np.array(twist, dtype=np.float64)
    p, f = np.zeros(k), np.zeros(k)
    assert bounce_off(k, np.ascontiguousarray(normal), np.array(bounce, float), z, p, room)
    assert apply_friction(k, np.ascontiguousarray(slide), np.array(friction, float), p, z, f, room)
    return z, p, f


# An L of three unit cubes, extruded by one: six corners in plan.
PLAN = np.array([[0, 0], [2, 0], [2, 1], [1, 1], [1, 2], [0, 2]], dtype=float)


def ell():
    """Corners and outward faces of the L."""
    bottom = np.column_stack([PLAN, np.zeros(6)])
    vertices = np.vstack([bottom, bottom + [0, 0, 1]])
    cap = np.array([[0, 1, 2], [0, 2, 3], [0, 3, 4], [0, 4, 5]])
    side = [[i, (i + 1) % 6, i + 6] for i in range(6)]
    side += [[(i + 1) % 6, (i + 1) % 6 + 6, i + 6] for i in range(6)]
    return vertices, np.vstack([cap[:, ::-1], cap + 6, side])
