"""Piles: spheres, boxes or hulls that fall from a grid into an open container."""

import numpy as np

import drystone as ds
from drystone.scenes.scene import Scene

SIZE = 0.2  # [m] of a body, across


def grid_positions(count, per_side, spacing, rng, jitter, bottom=0.2):
    """Positions (count, 3) that fill layers of per_side x per_side from the bottom up [m]."""
    k, rest = np.divmod(np.arange(count), per_side * per_side)
    j, i = np.divmod(rest, per_side)
    middle = (per_side - 1) / 2
    grid = np.stack([(i - middle) * spacing, (j - middle) * spacing, bottom + k * spacing], axis=1)
    return grid + rng.uniform(-jitter, jitter, (count, 3))


def random_quaternion(rng, max_angle=None):
    """Any rotation with equal chance, or one about any axis by at most `max_angle` [rad]."""
    if max_angle is None:
        q = rng.normal(size=4)
    else:
        axis = rng.normal(size=3)
        angle = rng.uniform(-max_angle, max_angle)
        q = np.r_[np.cos(angle / 2), np.sin(angle / 2) * axis / np.linalg.norm(axis)]
    return q / np.linalg.norm(q)


def random_hull_points(rng, points=20, radius=SIZE / 2):
    """Points (points, 3) in random directions, between three quarters of `radius` and `radius`."""
    p = rng.normal(size=(points, 3))
    reach = radius * rng.uniform(0.75, 1.0, points) / np.linalg.norm(p, axis=1)
    return p * reach[:, None]


def container_walls(inner, height, thick=0.2):
    """Half sizes and positions (4, 2, 3) of the walls of a box of half width `inner` [m]."""
    t, h = thick / 2, height / 2
    long = inner + thick
    walls = [((t, long, h), (side * (inner + t), 0, h)) for side in (-1, 1)]
    walls += [((long, t, h), (0, side * (inner + t), h)) for side in (-1, 1)]
    return np.array(walls)


def fill_pile(world, shapes, per_side, spacing, rng, friction, rotated):
    """Let `shapes` fall from a grid into a container two tenths wider than the grid."""
    stone = ds.Material(density=1000, friction=friction)
    world.add_fixed(ds.Plane(), stone, name="ground")
    inner = per_side * spacing / 2 + 0.1
    layers = -(-len(shapes) // per_side**2)
    for half, position in container_walls(inner, max(1.0, layers * spacing + 1.0)):
        world.add_fixed(ds.Box(*(2 * half)), stone, position=position)
    positions = grid_positions(len(shapes), per_side, spacing, rng, jitter=0.004)
    for k, (shape, position) in enumerate(zip(shapes, positions, strict=True)):
        orientation = random_quaternion(rng) if rotated else (1.0, 0.0, 0.0, 0.0)
        world.add_body(shape, stone, position=position, orientation=orientation, name=f"body {k}")


def fill_sphere_pile(world, seed=7, count=1000, per_side=10, friction=0.5):
    rng = np.random.default_rng(seed)
    fill_pile(world, [ds.Sphere(SIZE / 2)] * count, per_side, 1.1 * SIZE, rng, friction, False)


def fill_box_pile(world, seed=7, count=1000, per_side=6, friction=0.5):
    rng = np.random.default_rng(seed)
    box = ds.Box(SIZE, SIZE, SIZE)
    # Boxes in any orientation need the space of their diagonal.
    fill_pile(world, [box] * count, per_side, 1.85 * SIZE, rng, friction, True)


def fill_hull_pile(world, seed=7, count=1000, per_side=10, friction=0.5):
    rng = np.random.default_rng(seed)
    shapes = [ds.ConvexHull(random_hull_points(rng)) for _ in range(count)]
    fill_pile(world, shapes, per_side, 1.1 * SIZE, rng, friction, True)


_SETTLES = "settles to rest; no two bodies overlap by more than a thousandth of their size"
SCENES = [
    Scene("sphere-pile", "1000 spheres fall into a box", fill_sphere_pile, 7.5, _SETTLES),
    Scene("box-pile", "1000 boxes, any way up, fall into a box", fill_box_pile, 7.5, _SETTLES),
    Scene("hull-pile", "1000 random hulls fall into a box", fill_hull_pile, 7.5, _SETTLES),
]
