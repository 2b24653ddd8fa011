"""Impacts: billiards, newton-cradle and bowling."""

from math import cos, pi, sin, sqrt

import numpy as np

import drystone as ds
from drystone.scenes.scene import Scene


def fill_billiards(world, seed=3, speed=8.0, restitution=0.95, friction=0.1):
    """The break: a cue ball into a rack of fifteen, on a table with cushions."""
    rng = np.random.default_rng(seed)
    radius = 0.028575
    resin = ds.Material(density=1740, friction=friction, restitution=restitution)
    cloth = ds.Material(density=1000, friction=0.2, name="cloth")
    cushion = ds.Material(density=1000, friction=0.2, restitution=0.8, name="cushion")
    world.set_pair(resin, cloth, restitution=0.5)
    world.set_pair(resin, cushion, restitution=0.8)
    world.add_fixed(ds.Plane(), cloth, name="table")
    x, y, t, h = 1.27, 0.635, 0.05, 0.06  # half length, half width, cushion thickness and height
    for side in (-1, 1):
        end, long = (side * (x + t / 2), 0, h / 2), (0, side * (y + t / 2), h / 2)
        world.add_fixed(ds.Box(t, 2 * (y + t), h), cushion, position=end)
        world.add_fixed(ds.Box(2 * (x + t), t, h), cushion, position=long)
    world.add_body(
        ds.Sphere(radius), resin, position=(-0.635, 0, radius), velocity=(speed, 0, 0), name="cue"
    )
    pitch = 2 * radius + 1e-4  # racked as tightly as by hand
    for row in range(5):
        for k in range(row + 1):
            jitter = rng.uniform(-2e-5, 2e-5, 2)
            position = (
                0.635 + row * pitch * sqrt(3) / 2 + jitter[0],
                (k - row / 2) * pitch + jitter[1],
                radius,
            )
            world.add_body(ds.Sphere(radius), resin, position=position, name=f"ball {row}.{k}")


def fill_newton_cradle(world, count=5, moving=1, speed=1.0, gap=0.0, radius=0.05):
    """Equal balls in a row, `moving` of them thrown at the others.

    Balls on strings would need joints, so these lie on a plane without friction, which lets
    them pass on their momentum likewise and never rotates them.
    """
    steel = ds.Material(density=7800, friction=0.0, restitution=1.0)
    world.add_fixed(ds.Plane(), ds.Material(friction=0.0, restitution=0.0), name="ground")
    pitch = 2 * radius + gap
    for k in range(count):
        thrown = k < moving
        x = k * pitch - (0.1 if thrown else 0.0)
        world.add_body(
            ds.Sphere(radius), steel, position=(x, 0, radius), name=f"ball {k}",
            velocity=(speed if thrown else 0.0, 0, 0),
        )  # fmt: skip


def pin_corners(sides=12):
    """Corners of a bowling pin's convex hull, standing on z = 0 (a real pin has a neck) [m]."""
    rings = ((0.0, 0.026), (0.06, 0.05), (0.115, 0.0605), (0.345, 0.032), (0.381, 0.012))
    angles = 2 * pi * np.arange(sides) / sides
    return np.array([(r * cos(a), r * sin(a), z) for z, r in rings for a in angles])


def fill_bowling(world, speed=7.0, offset=0.04, friction=0.3):
    """Ten pins and a ball; `offset` [m] is how far beside the head pin's centre it comes in."""
    wood = ds.Material(density=700, friction=friction, restitution=0.5)
    world.add_fixed(ds.Plane(), wood, name="lane")
    spacing = 0.3048
    pin = ds.ConvexHull(pin_corners())
    for row in range(4):
        for k in range(row + 1):
            position = (row * spacing * sqrt(3) / 2, (k - row / 2) * spacing, 0)
            world.add_body(pin, wood, position=position, mass=1.5, name=f"pin {row}.{k}")
    radius = 0.108
    world.add_body(
        ds.Sphere(radius), wood, position=(-2.0, offset, radius), velocity=(speed, 0, 0),
        spin=(0, speed / radius, 0), mass=7.0, name="ball",
    )  # fmt: skip


SCENES = [
    Scene(
        "billiards",
        "the break: a cue ball into a rack of fifteen, restitution 0.95",
        fill_billiards,
        seconds=2.0,
        expect="the rack bursts apart; the energy never grows",
        settings={"dt": 1 / 1000},  # at 8 m/s a ball moves a third of its radius in a step
    ),
    Scene(
        "newton-cradle",
        "five equal balls in a row on a frictionless plane, the first one thrown",
        fill_newton_cradle,
        seconds=0.5,
        ranges={"moving": (0, None)},
        expect="one ball comes in, one ball goes out with the same speed",
        settings={"dt": 1 / 1000, "sleeping": False},
    ),
    Scene(
        "bowling",
        "ten pins and a ball",
        fill_bowling,
        seconds=3.0,
        expect="most pins fall",
        settings={"dt": 1 / 500},
    ),
]
