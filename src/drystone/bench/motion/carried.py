"""Contacts that carry, roll and curve: radii, energy, and floors without bumps."""

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
