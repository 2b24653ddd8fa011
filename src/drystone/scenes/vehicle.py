"""A car with a sprung wheel at each corner, driven by motors over a bumpy road."""

from math import sqrt

import drystone as ds
from drystone.scenes.scene import Scene

RADIUS, TREAD = 0.3, 0.2  # of a wheel, its width [m]
BASE, TRACK = 1.5, 1.3  # between the axles, between the wheels of an axle [m]
HALF = sqrt(0.5)


def fill_vehicle(
    world, speed=5.0, torque=150.0, stiffness=25e3, damping=2.5e3, bumps=8, bump=0.06, friction=0.9
):
    """A body of 600 kg on four wheels; each slides up and down on a spring and turns on a hub.

    speed     that the motors of all wheels want [m/s]
    torque    that one of them has at most [N m]
    stiffness, damping    of a spring and its damper [N/m], [N s/m]
    bump      height of the bumps, which lie under the left and the right wheels in turn [m]
    """
    road = ds.Material(density=2000, friction=friction)
    world.add_fixed(ds.Plane(), road, name="road")
    for k in range(bumps):
        side = TRACK / 2 * (-1) ** k
        world.add_fixed(ds.Box(0.3, 0.6, bump), road, position=(3.0 + 1.5 * k, side, bump / 2))
    steel = ds.Material(density=7800, friction=0.5)
    body = world.add_body(
        ds.Box(2.4, 1.0, 0.4), steel, position=(0, 0, 0.6), mass=600.0, name="body"
    )
    spring = ds.Servo(-600.0 * 9.81 / 4 / stiffness, stiffness=stiffness, damping=damping)
    motor = ds.Motor(speed / RADIUS, max_torque=torque)
    for x, end in ((BASE / 2, "front"), (-BASE / 2, "rear")):
        for y, side in ((TRACK / 2, "left"), (-TRACK / 2, "right")):
            _add_wheel(world, body, (x, y, RADIUS), f"{end} {side}", spring, motor, friction)


def _add_wheel(world, body, at, name, spring, motor, friction):
    """A hub that slides along z against the body, and a wheel that turns on it about y."""
    rubber = ds.Material(density=1000, friction=friction, name="rubber")
    hub = world.add_body(
        ds.Box(0.12, 0.12, 0.12), rubber, position=at, mass=20.0, name=f"{name} hub", mask=0
    )
    wheel = world.add_body(
        ds.Cylinder(RADIUS, TREAD), rubber, position=at, orientation=(HALF, -HALF, 0, 0),
        mass=20.0, name=f"{name} wheel",
    )  # fmt: skip
    world.add_joint(ds.Slider(body, hub, (0, 0, 1), limits=(-0.12, 0.12), motor=spring))
    world.add_joint(ds.Hinge(hub, wheel, at, (0, 1, 0), motor=motor))


SCENES = [
    Scene(
        "vehicle",
        "a car on springs drives over bumps",
        fill_vehicle,
        seconds=5.0,
        ranges={"bumps": (0, None)},
        expect="it starts as fast as its motors can, reaches 5 m/s, and the springs take the bumps",
        picture_time=1.5,
    )
]
