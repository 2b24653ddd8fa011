"""Rings linked into each other: none may leave its neighbour, and none may gain energy."""

import numpy as np

from drystone.bench.fuzz.linked_tubes import linking_number
from drystone.model.rotation import matrix_from_quaternion
from drystone.scenes import find_scene


def _line(body, radius):
    angle = 2 * np.pi * np.arange(90) / 90
    circle = radius * np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=1)
    return circle @ matrix_from_quaternion(body.orientation).T + body.position


def _linked(one, other, radius) -> bool:
    return abs(linking_number(_line(one, radius), _line(other, radius))) == 1


def _net_pairs(world, rows):
    for i in range(rows):
        for j in range(rows):
            for name, k, m in ((f"link x {i}.{j}", i + 1, j), (f"link y {i}.{j}", i, j + 1)):
                if k < rows and m < rows:
                    yield world[f"node {i}.{j}"], world[name]
                    yield world[f"node {k}.{m}"], world[name]


def net_lost(dt: float, rows: int = 8) -> float:
    """Links that have left each other after 1 s in which the net falls taut."""
    world = find_scene("chain-net").build(rows=rows, dt=dt)
    world.run(1.0)
    return sum(not _linked(a, b, 0.25) for a, b in _net_pairs(world, rows))


def ball_lost(dt: float) -> float:
    """Links of the wrecking ball's chain that have left each other after 3 s."""
    world = find_scene("wrecking-ball").build(dt=dt)
    world.run(3.0)
    chain = [world["hook"], *world.bodies[:10]]
    return sum(not _linked(a, b, 0.5) for a, b in zip(chain[:-1], chain[1:], strict=True))


def silent_gain(scene: str, dt: float, seconds: float) -> float:
    """The most energy that a step which says that it converged has added, as a share of the fall
    of all bodies by the size of the scene."""
    world = find_scene(scene).build(dt=dt)
    last, worst = world.energy().total, 0.0
    play = sum(9.81 * body.mass for body in world.bodies)
    for _ in range(round(seconds / dt)):
        info = world.step()
        now = world.energy().total
        if info.converged:
            worst = max(worst, (now - last) / play)
        last = now
    return worst
