"""Tori as meshes: interlocked ones, as a chain, as a net, with a wrecking ball; and a pile."""

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


def fill_chain_net(world, rows=8, major=0.25, minor=0.06, sections=16, ball=False, friction=0.3):
    """A net of `rows` x `rows` lying rings, neighbours linked by standing ones, its corners fixed.

    It sags until it is taut. With `ball` one of the weight of the net falls into it from 0.3 m.
    """
    steel = ds.Material(density=7800, friction=friction)
    link = ds.Mesh(*torus(major, minor, sections, sections // 2))
    # From a lying ring to a standing one [m]: a little less than stretched, so that it sags.
    pitch = 1.96 * (major - minor)
    middle, height = (rows - 1) * pitch, 0.5 * rows * pitch + 1.0
    # The axis of a torus is its z: that of a standing ring lies along y or along x.
    along_x, along_y = _about_x(radians(90)), _about_y(radians(90))
    for i in range(rows):
        for j in range(rows):
            at = np.array([2 * pitch * i - middle, 2 * pitch * j - middle, height])
            add = world.add_fixed if {i, j} <= {0, rows - 1} else world.add_body
            add(link, steel, position=at, name=f"node {i}.{j}")
            if i + 1 < rows:
                at_x = at + (pitch, 0.0, 0.0)
                world.add_body(
                    link, steel, position=at_x, orientation=along_x, name=f"link x {i}.{j}"
                )
            if j + 1 < rows:
                at_y = at + (0.0, pitch, 0.0)
                world.add_body(
                    link, steel, position=at_y, orientation=along_y, name=f"link y {i}.{j}"
                )
    if ball:
        mass, radius = sum(body.mass for body in world.bodies), 0.3 * rows * pitch
        at = (0.0, 0.0, height + major + minor + radius + 0.3)
        world.add_body(ds.Sphere(radius), steel, position=at, mass=mass, name="ball")


def fill_wrecking_ball(
    world, count=10, major=0.5, minor=0.1, angle_deg=45.0, sections=24, ball_mass=249e3, rows=4
):
    """A chain of steel links of 784 kg and a ball of `ball_mass` [kg] swing into a wall of crates.

    count  links between the fixed one and the ball
    rows   of the wall, three crates each
    """
    steel = ds.Material(density=7800, friction=0.3)
    link = ds.Mesh(*torus(major, minor, sections, sections // 2))
    pitch = 2 * (major - minor) - 0.02 * minor
    radius = (ball_mass / (7800 * 4 / 3 * np.pi)) ** (1 / 3)
    reach = (count + 1) * pitch + major + radius  # to the middle of the ball
    top = np.array([0.0, 0.0, reach + radius + 0.5])
    lean = radians(angle_deg)
    along = np.array([sin(lean), 0.0, -cos(lean)])
    around = (_about_x(radians(90)), _about_y(radians(90) - lean))
    for k in range(count + 1):
        place, name = top + k * pitch * along, f"link {k}"
        if k == 0:
            world.add_fixed(link, steel, position=place, orientation=around[0], name="hook")
        else:
            world.add_body(
                link, steel, position=place, orientation=around[k % 2], mass=784.0, name=name
            )
    # The eye of the ball is one more link, half of it in the ball.
    eye = (link, (0.0, 0.0, 0.0), around[(count + 1) % 2])
    ball = ds.Compound(eye, (ds.Sphere(radius), along * (major + radius)))
    place = top + (count + 1) * pitch * along
    world.add_body(ball, steel, position=place, mass=ball_mass, name="ball")
    wood = ds.Material(density=600, friction=0.5)
    world.add_fixed(ds.Plane(), wood, name="ground")
    for row in range(rows):
        for k in range(3):
            at = (-radius - 1.5, 2.0 * (k - 1), 1.0 + 2.0 * row)
            world.add_body(ds.Box(2.0, 2.0, 2.0), wood, position=at, name=f"crate {row}.{k}")


def _about_x(angle):
    return cos(angle / 2), sin(angle / 2), 0.0, 0.0


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
        "chain-net",
        "a net of interlocked tori, held at its corners, sags until it is taut",
        fill_chain_net,
        seconds=1.0,
        ranges={"rows": (2, None), "sections": (8, None)},
        expect="it sags and holds: no ring leaves its neighbours, no energy is gained",
        ours="8 x 8 holds in steps of 1/240 and of 0.01 s, with overlaps of up to 9 mm of tubes of "
        "120 mm at 0.01 s, where most steps say that they have not converged",
        source="after rigid-ipc (Ferguson et al. 2021), chain-net 8 x 8",
        picture_time=0.3,
    ),
    Scene(
        "wrecking-ball",
        "a ball of 249 t on a chain of links of 784 kg swings into a wall",
        fill_wrecking_ball,
        seconds=3.0,
        ranges={"rows": (0, None), "sections": (8, None)},
        expect="the chain holds, the ball swings through the wall, no energy is gained",
        source="after rigid-ipc (Ferguson et al. 2021), wrecking-ball",
        picture_time=1.0,
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
