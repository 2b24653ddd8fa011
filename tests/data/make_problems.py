"""Writes the contact problems of this folder: python tests/data/make_problems.py [folder]

They are of our own making, each the problem of one step of a small scene, and hard for a reason:

mass-ratio.h5   1000 kg on 1 kg: Gauss-Seidel stalls
arch.h5         nine stones that carry each other: every contact matters to every other
wall.h5         three courses of dry stones, in the step in which a ball strikes them
table.h5        nine legs on a floor where three would do: W is singular, impulses are not unique
wedge.h5        a wedge between two blocks: flank forces many times its weight, and friction
spheres.h5      a heap of spheres that is still falling: many small islands, many contacts that open
ragdoll.h5      a figure on stairs: joints, limits and contacts of one tree
elliptic.h5     boxes on a slope with friction that differs along and across
card-house.hdf5 a card house in the layout of FCLIB, W as compressed rows
pyramid.dat     three boxes in the text format of Siconos, W as blocks

Other processors may write other last digits. The tests need the files, not that they are the same.
"""

import sys
from pathlib import Path

import drystone as ds
from drystone.scenes import SCENES

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "helpers"))

from problem_writers import block_text, local_text, write_fclib  # noqa: E402

STONE = ds.Material(density=2600, friction=0.6)


def scene_problem(name, seconds, **options):
    """The problem of the last step of a scene that was run for so long."""
    world = SCENES[name].build(**options)
    world.run(seconds)
    return world.problem()


def table():
    """A plate on nine legs in a square, pushed sideways."""
    legs = [(x, y) for x in (-0.9, 0, 0.9) for y in (-0.9, 0, 0.9)]
    parts = [(ds.Box(0.1, 0.1, 0.8), (x, y, 0.4)) for x, y in legs]
    world = ds.World(sleeping=False)
    world.add_fixed(ds.Plane(), STONE)
    shape = ds.Compound((ds.Box(2, 2, 0.1), (0, 0, 0.85)), *parts)
    world.add_body(shape, STONE, position=(0, 0, 0), velocity=(0.5, 0.2, 0))
    world.run(3 * world.dt)
    return world.problem()


def wedge():
    """A wedge of steel, point down, between two blocks of stone that it pushes apart."""
    outline = [(-0.3, 0.5), (0.3, 0.5), (0.02, -0.5), (-0.02, -0.5)]
    points = [(x, y, z) for x, z in outline for y in (-0.2, 0.2)]
    flank = [(0.05, 0.0), (0.8, 0.0), (0.8, 1.2), (0.244, 1.2), (0.05, 0.507)]  # as steep as it
    world = ds.World(sleeping=False)
    world.add_fixed(ds.Plane(), STONE)
    steel = ds.Material(density=7800, friction=0.15)
    world.add_body(ds.ConvexHull(points), steel, position=(0, 0, 0.91), velocity=(0, 0, -1))
    for side in (-1, 1):
        hull = [(side * x, y, z) for x, z in flank for y in (-0.4, 0.4)]
        world.add_body(ds.ConvexHull(hull), STONE, position=(0, 0, 0))
    world.run(0.05)
    return world.problem()


def elliptic():
    """Two stacks of three boxes that slide down a slope with grooves."""
    grooved = ds.Material(density=1000, friction=(0.1, 0.6))
    world = ds.World(gravity=(2.5, 1.0, -9.4), solver="prox", sleeping=False)
    world.add_fixed(ds.Plane(), grooved)
    for x in (0.0, 2.0):
        for k in range(3):
            world.add_body(ds.Box(0.6, 0.6, 0.3), grooved, position=(x, 0, 0.15 + 0.3 * k))
    world.run(0.1)
    return world.problem()


OURS = {
    "mass-ratio": lambda: scene_problem("mass-ratio", 0.05),
    "arch": lambda: scene_problem("arch", 0.05, stones=9, thickness_percent=20.0),
    "wall": lambda: scene_problem(
        "wall", 0.15, length=2.0, courses=3, strike_time=0.02, ball_speed=20.0
    ),
    "table": table,
    "wedge": wedge,
    "spheres": lambda: scene_problem("sphere-pile", 0.7, count=60, per_side=4),
    "ragdoll": lambda: scene_problem("ragdoll-stairs", 1.2),
    "elliptic": elliptic,
}


def write_others(folder: Path) -> None:
    """The two files in formats of others, from dense matrices."""
    cards = scene_problem("card-house", 0.02, levels=2)
    vectors = {"mu": cards.friction, "q": cards.q().ravel()}
    write_fclib(folder / "card-house.hdf5", 3, {"W": cards.W().toarray()}, vectors)
    boxes = scene_problem("pyramid", 0.05, rows=2)
    blocks = [3] * boxes.contact_count

    def write(w):
        return block_text(w, blocks, blocks)

    text = local_text(3, boxes.W().toarray(), boxes.q(), boxes.friction, write)
    (folder / "pyramid.dat").write_text(text)


def main(folder: Path) -> None:
    for name, make in OURS.items():
        problem = make()
        problem.save(folder / f"{name}.h5")
        print(f"{name}: {problem.contact_count} contacts")
    write_others(folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE)
