"""An arched snake of boxes and hinges with limits: snake, and snake-loaded with a heavy box."""

from functools import partial
from math import cos, radians, sin

import numpy as np

import drystone as ds
from drystone.scenes.scene import Scene


def arch_points(count, length, arc):
    """(count + 1, 2) ends x, z of equal pieces along an arc that stands on z = 0 [m], [rad]."""
    heading = arc / 2 - arc * (np.arange(count) + 0.5) / count
    steps = length * np.stack([np.cos(heading), np.sin(heading)], axis=1)
    points = np.concatenate([[(0.0, 0.0)], np.cumsum(steps, axis=0)])
    return points - [points[-1, 0] / 2, 0.0], heading


def fill_snake(
    world, count=12, length=0.3, thickness=0.15, arc_deg=160.0, limit_deg=3.0, load_kg=0.0,
    friction=0.8, joint_friction=0.0,
):  # fmt: skip
    """Boxes along an arc, hinged at the middles of their ends; each hinge gives by `limit_deg`.

    load_kg         of a box laid on the crown; 0: none
    joint_friction  torque that resists rotation in every hinge [N m]
    """
    skin = ds.Material(density=500, friction=friction)
    world.add_fixed(ds.Plane(), skin, name="ground")
    points, heading = arch_points(count, length, radians(arc_deg))
    # The ends are cut square: their inner edges stand on the ground. A micrometre of gap keeps
    # rounding from making it an overlap.
    lift = thickness / 2 * cos(heading[0]) - 0.05 * length * sin(heading[0]) + 1e-6
    last, limit = None, radians(limit_deg)
    for k in range(count):
        x, z = points[k : k + 2].mean(axis=0)
        half = heading[k] / 2
        segment = world.add_body(
            ds.Box(0.9 * length, 2 * thickness, thickness), skin, position=(x, 0, z + lift),
            orientation=(cos(half), 0, -sin(half), 0), name=f"segment {k}",
        )  # fmt: skip
        if last is not None:
            point = (points[k, 0], 0, points[k, 1] + lift)
            world.add_joint(
                ds.Hinge(last, segment, point, (0, 1, 0), (-limit, limit), None, joint_friction)
            )
        last = segment
    if load_kg > 0.0:
        crown = points[:, 1].max() + lift + thickness / 2
        side = (load_kg / 7800) ** (1 / 3)
        iron = ds.Material(density=7800, friction=friction, name="iron")
        position = (0, 0, crown + side / 2 + 1e-3)
        world.add_body(ds.Box(side, side, side), iron, position=position, name="load")


SCENES = [
    Scene(
        "snake",
        "an arched snake of twelve boxes, hinged with narrow limits",
        fill_snake,
        seconds=5.0,
        expect="it settles until its hinges are at their limits, and stands as an arch",
        source="GRAPP 2010 (Silcowitz, Niebe, Erleben), snake of boxes and hinges with limits",
        finding="subspace minimization converges where projected Gauss-Seidel stalls",
    ),
    Scene(
        "snake-loaded",
        "the snake with a box of 500 kg on its crown",
        partial(fill_snake, load_kg=500.0),
        seconds=5.0,
        expect="the arch gives until its hinges are at their limits, and carries the box",
        source="GRAPP 2010 (Silcowitz, Niebe, Erleben), heavy box on an arched snake",
    ),
]
