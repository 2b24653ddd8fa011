"""Tori as meshes: a chain of interlocked ones, and a pile."""

from math import cos, radians, sin

import numpy as np

import drystone as ds
from drystone.scenes.meshes.revolutions import torus
from drystone.scenes.piles import container_walls, grid_positions, random_quaternion
from drystone.scenes.scene import Scene


def fill_torus_chain(
    world, count=10, major=0.1, minor=0.025, angle_deg=30.0, friction=0.3, sections=32
):
    """Links held by nothing but each other hang from one that is fixed, and swing.

    Neighbours stand across each other; stretched, their middles are 2 (R - r) apart, and each
    carries the weight of all below it. `angle_deg` is how far off the vertical they start.
    """
    steel = ds.Material(density=7800, friction=friction)
    link = ds.Mesh(*torus(major, minor, sections, sections // 2))
    # A torus drawn with corners on the smooth one touches a little later than that would.
    pitch = 2 * (major - minor) - 0.02 * minor
    top = (count + 2) * pitch
    lean = radians(angle_deg)
    along = np.array([sin(lean), 0.0, -cos(lean)])
    # The axis of a torus is its z: rotated to lie across the chain, along y or in the plane.
    around = ((cos(radians(45)), sin(radians(45)), 0.0, 0.0), _about_y(radians(90) - lean))
    for k in range(count + 1):
        place = np.array([0.0, 0.0, top]) + k * pitch * along
        if k == 0:
            world.add_fixed(link, steel, position=place, orientation=around[0], name="hook")
        else:
            world.add_body(link, steel, position=place, orientation=around[k % 2], name=f"link {k}")


def _about_y(angle):
    return cos(angle / 2), 0.0, sin(angle / 2), 0.0


def fill_torus_pile(world, seed=7, count=500, per_side=8, inner=1.2, friction=0.5, reduce=True):
    """Tori of radii 0.1 and 0.04 m, 600 triangles each, fall in any orientation into a box.

    The scene S7 of the benchmark; some get hooked into each other. `reduce` off leaves
    every contact that is found.
    """
    rng = np.random.default_rng(seed)
    stone = ds.Material(density=1000, friction=friction)
    world.add_fixed(ds.Plane(), stone, name="ground")
    for half, position in container_walls(inner, 4.0):
        world.add_fixed(ds.Box(*(2 * half)), stone, position=position)
    ring = ds.Mesh(*torus(0.1, 0.04), reduce=reduce)
    positions = grid_positions(count, per_side, 0.29, rng, 0.002)
    for k, position in enumerate(positions):
        world.add_body(
            ring, stone, position=position, orientation=random_quaternion(rng), name=f"torus {k}"
        )


SCENES = [
    Scene(
        "torus-chain",
        "a chain of interlocked tori swings from a fixed one",
        fill_torus_chain,
        seconds=5.0,
        expect="no link leaves its neighbours",
        picture_time=0.3,
    ),
    Scene(
        "torus-pile",
        "500 tori fall into a box",
        fill_torus_pile,
        seconds=7.5,
        expect="settles to rest; overlaps below 0.3 mm",
        settings={"dt": 1 / 200},
        picture_time=0.5,
    ),
]
