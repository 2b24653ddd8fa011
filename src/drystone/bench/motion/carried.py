"""Contacts that carry, roll and curve: radii, energy, and floors without bumps."""

from typing import Any

import numpy as np

import drystone as ds
from drystone.scenes import find_scene

G = 9.81


def turntable_creep(dt: float) -> float:
    """How far a box that sticks to a turntable is from its radius of 1.5 m after 20 s [mm]."""
    world = find_scene("turntable").build(dt=dt)
    world.run(20.0)
    return 1e3 * abs(float(np.hypot(*world["box"].position[:2])) - 1.5)


def disk_loss(dt: float) -> float:
    """What Euler's disk, which rolls without slip, changes of its energy in 2 s [%]."""
    world = find_scene("euler-disk").build(dt=dt)
    start = world.energy().total
    world.run(2.0)
    return 100 * abs(world.energy().total / start - 1.0)


def pin_loss(dt: float, sections: int = 32) -> float:
    """What an arm that swings on a pin loses in 4 s of the energy in play [%]: both are meshes, and
    contacts alone hold it."""
    world = find_scene("pinned-pendulum").build(dt=dt, sections=sections)
    world.remove(world["second arm"])
    arm = world["first arm"]
    start = world.energy().total
    hanging = -arm.mass * G * np.linalg.norm(arm.centre)
    world.run(4.0)
    return 100 * float((start - world.energy().total) / (start - hanging))


def seam_rise(compound: bool, dt: float) -> float:
    """How high a box jumps that slides at 3 m/s over a smooth floor of boxes edge to edge [mm]."""
    ice = ds.Material(density=500, friction=0.0)
    world = ds.World(dt=dt, sleeping=False)
    tiles = [(ds.Box(0.5, 2, 0.2), (0.5 * k, 0, -0.1)) for k in range(12)]
    if compound:
        world.add_fixed(ds.Compound(*tiles), ice)
    else:
        for tile, at in tiles:
            world.add_fixed(tile, ice, position=at)
    box = world.add_body(ds.Box(0.3, 0.3, 0.3), ice, position=(0, 0, 0.15), velocity=(3, 0, 0))
    rise = 0.0
    for _ in range(round(1.5 / dt)):
        world.step()
        rise = max(rise, float(box.position[2]) - 0.15)
    return 1e3 * rise


def washer(turns: float, dt: float) -> Any:
    """A drum of 0.7 m with four paddles, kinematic, and 200 solids of 40 to 60 mm in it."""
    world, rng = ds.World(dt=dt, sleeping=False), np.random.default_rng(1)
    stone = ds.Material(density=1000, friction=0.4)
    radius, length, parts = 0.35, 0.4, []
    for k in range(28):
        paddle = k >= 24
        angle = 2 * np.pi * ((k - 23.5) / 4 if paddle else k / 24)
        size = (0.1, length, 0.02) if paddle else (0.04, length, 0.103)
        out = radius + (-0.05 if paddle else 0.02)
        at = (out * np.cos(angle), 0.0, -out * np.sin(angle))
        turned = (np.cos(angle / 2), 0.0, np.sin(angle / 2), 0.0)
        parts.append((ds.Box(*size), at, turned))
    for side in (-1, 1):
        parts.append((ds.Box(0.8, 0.04, 0.8), (0, side * (length + 0.04) / 2, 0)))
    spin = (0, 2 * np.pi * turns, 0)
    world.add_body(ds.Compound(*parts), stone, kinematic=True, spin=spin)
    steps = np.arange(-3, 4) * 0.062
    places = [(x, y, z) for y in steps[1:-1] for x in steps for z in steps if np.hypot(x, z) < 0.23]
    for k, place in enumerate(places[:200]):
        size, turn = rng.uniform(0.04, 0.06), rng.normal(size=4)
        shapes = (
            ds.Box(0.6 * size, 0.5 * size, 0.5 * size), ds.Sphere(0.45 * size),
            ds.Capsule(0.2 * size, 0.5 * size), ds.Cylinder(0.33 * size, 0.5 * size),
        )  # fmt: skip
        world.add_body(
            shapes[k % 4], stone, position=place, orientation=turn / np.linalg.norm(turn)
        )
    return world


def washer_overlap(turns: float, dt: float, seconds: float = 2.0) -> float:
    """Deepest overlap at the start of a step in a washer [mm]."""
    world, deepest = washer(turns, dt), 0.0
    for _ in range(round(seconds / dt)):
        deepest = max(deepest, world.step().penetration)
    return 1e3 * deepest
