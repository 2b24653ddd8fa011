"""A skate: friction that is small along its blade and large across it, whichever way it points."""

from math import pi

import drystone as ds
from drystone.scenes.scene import Scene


def fill_skate(world, mu_1=0.05, mu_2=0.4, speed=6.0, spin=2 * pi):
    """A plate on a runner thrown along x; friction `mu_1` along the runner, `mu_2` across it.

    It starts with `spin` [rad/s] about the vertical, and has turned once before it comes to rest.
    """
    ice = ds.Material(friction=0.1, name="ice")
    blade = ds.Material(density=2000, friction_direction=(1, 0, 0), name="blade")
    world.set_pair(blade, ice, friction=(mu_1, mu_2))
    world.add_fixed(ds.Plane(), ice, name="ice")
    runner, plate = ds.Box(0.16, 0.08, 0.03), ds.Box(0.5, 0.5, 0.02)
    world.add_body(
        ds.Compound((runner, (0, 0, 0.015)), (plate, (0, 0, 0.04))), blade,
        velocity=(speed, 0, 0), spin=(0, 0, spin), name="skate",
    )  # fmt: skip


SCENES = [
    Scene(
        "skate",
        "a skate that yaws a full turn while it slides: elliptic friction",
        fill_skate,
        seconds=1.5,
        expect="it glides while it points ahead, brakes broadside and is led aside in between",
        settings={"solver": "prox", "sleeping": False},
    ),
]
