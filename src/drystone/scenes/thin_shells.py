"""Thin and hollow things as meshes: helmets in a heap, animals in a bowl."""

import numpy as np

import drystone as ds
from drystone.scenes.meshes.creature import creature
from drystone.scenes.meshes.shells import bowl, helmet
from drystone.scenes.piles import container_walls, grid_positions, random_quaternion
from drystone.scenes.scene import Scene

DT = 1 / 420  # [s] FFD does not say; in half the steps of its Fig. 8 a helmet falls by 3 walls
SPACING = 0.48  # [m] across a sphere that holds a helmet, in any orientation


def fill_helmets(
    world, seed=11, count=1000, per_side=10, friction=0.3, thickness=0.006, rings=59, sections=103
):
    """Helmets with a wall of 6 mm fall, in any orientation, into a box, where some stack into each
    other.

    FFD Fig. 1e: 1000 thin walled helmets of 24,308 triangles each, dropped in a pile; ours have
    as many triangles. Fewer `rings` and `sections` make coarser ones.
    """
    rng = np.random.default_rng(seed)
    shell = ds.Mesh(*helmet(thickness=thickness, rings=rings, sections=sections))
    plastic = ds.Material(density=1200, friction=friction)
    world.add_fixed(ds.Plane(), plastic, name="ground")
    inner = per_side * SPACING / 2 + 0.05
    for half, position in container_walls(inner, 1.0 + SPACING * -(-count // per_side**2)):
        world.add_fixed(ds.Box(*(2 * half)), plastic, position=position)
    for k, place in enumerate(grid_positions(count, per_side, SPACING, rng, 0.0, bottom=0.3)):
        world.add_body(
            shell, plastic, position=place, orientation=random_quaternion(rng), name=f"helmet {k}"
        )


def fill_bunny_bowl(world, seed=2, count=40, size=0.1, radius=0.8, friction=0.4):
    """Long-eared animals of 5120 triangles fall, in any orientation, into a bowl, a mesh too."""
    rng = np.random.default_rng(seed)
    clay = ds.Material(density=1800, friction=friction)
    wall = 0.06 * radius
    world.add_fixed(ds.Plane(), clay, name="ground")
    height = radius + wall
    world.add_fixed(ds.Mesh(*bowl(radius, wall)), clay, position=(0, 0, height), name="bowl")
    animal = ds.Mesh(*creature(size))
    spacing = 4.6 * size  # holds one, in any orientation
    per_side = max(1, int(1.2 * radius / spacing))
    for k, place in enumerate(grid_positions(count, per_side, spacing, rng, 0.0, bottom=height)):
        world.add_body(
            animal, clay, position=place, orientation=random_quaternion(rng), name=f"animal {k}"
        )


SCENES = [
    Scene(
        "helmets",
        "1000 thin shells of 24,308 triangles fall into a box",
        fill_helmets,
        seconds=4.0,
        expect="a heap that comes to rest, some stacked into each other; none falls through",
        source="FFD Fig. 1e (Kaufman, Edmunds, Pai 2005)",
        finding="1000 thin walled helmets in a pile with stacking",
        settings={"dt": DT},
        picture_time=0.8,
    ),
    Scene(
        "bunny-bowl",
        "40 bumpy animals fall into a bowl",
        fill_bunny_bowl,
        seconds=4.0,
        expect="all stay in the bowl or roll off the heap; none passes through its wall",
        picture_time=0.4,
    ),
]
