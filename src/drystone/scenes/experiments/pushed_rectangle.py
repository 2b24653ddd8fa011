"""A rectangle pushed around by a pointer on a path of its own: pushed-rectangle."""

from math import cos, pi, radians, sin

import drystone as ds
from drystone.scenes.scene import Scene


def fill_pushed_rectangle(world, turns_per_second=0.3, strength=40.0, friction=0.2, slope_deg=25.0):
    """A rectangle in a valley, held in the x-z plane, and a pointer on a circle that pushes it.

    strength    force with which the pointer follows its circle [N]; the rectangle weighs 20 N

    The pointer is a ball held to a rotating hub by a servo of that strength, so that it gives way
    where the rectangle cannot, as a hand does.
    """
    wood = ds.Material(density=1000, friction=friction)
    half = radians(slope_deg) / 2
    for side in (-1, 1):
        world.add_fixed(ds.Plane(), wood, orientation=(cos(half), 0, side * sin(half), 0))
    position = (0.2 * cos(2 * half), 0, 0.2 * sin(2 * half) + 0.05 / cos(2 * half) + 0.02)
    rectangle = world.add_body(
        ds.Box(0.2, 0.1, 0.1), wood, position=position, orientation=(cos(half), 0, -sin(half), 0),
        name="rectangle",
    )  # fmt: skip
    world.add_joint(ds.Planar(rectangle))
    hub = world.add_body(
        ds.Sphere(0.02), wood, position=(0, 0, 0.4), spin=(0, -2 * pi * turns_per_second, 0),
        kinematic=True, name="hub", mask=0,
    )  # fmt: skip
    pointer = world.add_body(
        ds.Sphere(0.03), wood, position=(-0.3, 0, 0.4), mass=0.2, name="pointer"
    )
    hand = ds.Servo(0.0, stiffness=2000.0, damping=40.0, max_force=strength)
    world.add_joint(ds.Planar(pointer, b=hub, motor_u=hand, motor_v=hand))


SCENES = [
    Scene(
        "pushed-rectangle",
        "a pointer on its round pushes a rectangle about in a valley",
        fill_pushed_rectangle,
        seconds=10.0,
        expect="it is pushed up a slope and slides back, on one point and on more, without overlap",
        source="CLINE 5.2.2, where the user pushes it with the mouse",
        finding="contact errors grow without stabilization and vanish with post-stabilization",
        view=(0.0, -1.0, 0.1),
    )
]
