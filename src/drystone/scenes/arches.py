"""Arches: voussoirs that stand only while the line of thrust stays inside the stone."""

import numpy as np

import drystone as ds
from drystone.scenes.scene import Scene


def voussoir_corners(radius, thickness, depth, low, high):
    """The eight corners of the stone between the angles `low` and `high` [rad]."""
    inner, outer = radius - thickness / 2, radius + thickness / 2
    return np.array(
        [
            (r * np.cos(angle), y, r * np.sin(angle))
            for angle in (low, high)
            for r in (inner, outer)
            for y in (-depth / 2, depth / 2)
        ]
    )


def fill_arch(world, stones=25, thickness_percent=12.0, radius=2.0, depth=0.6, friction=1.0):
    """A semicircular arch in the x-z plane; its thickness in percent of the mean radius."""
    rock = ds.Material(density=2400, friction=friction)
    world.add_fixed(ds.Plane(), rock, name="ground")
    thickness = radius * thickness_percent / 100
    joints = np.linspace(0.0, np.pi, stones + 1)
    for k in range(stones):
        corners = voussoir_corners(radius, thickness, depth, joints[k], joints[k + 1])
        middle = corners.mean(axis=0)
        world.add_body(ds.ConvexHull(corners - middle), rock, position=middle, name=f"voussoir {k}")


SCENES = [
    Scene(
        "arch",
        "semicircular arch of 25 voussoirs; stands or falls with its thickness",
        fill_arch,
        seconds=5.0,
        expect="stands at 12 % of the mean radius, falls at 9 %; the limit is about 10.75 %",
        source="Milankovitch 1907: the least thickness is 0.1075 of the mean radius",
    )
]
