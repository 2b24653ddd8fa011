"""A box and a ball on an inclined plane."""

from math import atan, cos, sin

import drystone as ds
from drystone.scenes.scene import Scene


def fill_slope(world, ratio=0.9, friction=0.5):
    """A plane tilted by `ratio` times the friction angle, falling towards +x."""
    a = ratio * atan(friction)
    turn = (cos(a / 2), 0, sin(a / 2), 0)
    stone = ds.Material(density=2600, friction=friction)
    world.add_fixed(ds.Plane(), stone, orientation=turn, name="slope")
    up = (sin(a), 0, cos(a))  # out of the plane
    position = (0.1 * up[0], 0, 0.1 * up[2])
    world.add_body(ds.Box(0.4, 0.4, 0.2), stone, position=position, orientation=turn, name="box")
    world.add_body(
        ds.Sphere(0.2), stone, position=(0.2 * up[0], 1, 0.2 * up[2]), orientation=turn, name="ball"
    )


SCENES = [
    Scene(
        "slope",
        "box and ball on a slope just below the friction angle",
        fill_slope,
        seconds=2.0,
        expect="at ratio 0.9 the box stays and the ball rolls; at 1.1 the box slides",
    )
]
