"""Things that go into holes: peg-in-hole, a torus on a peg, and u-channel.

Where a mesh is silently replaced by its convex hull, none of them does.
"""

from math import cos, pi, radians, sin

import drystone as ds
from drystone.scenes.meshes.extrusions import channel, plate, square
from drystone.scenes.meshes.revolutions import revolve, torus
from drystone.scenes.scene import Scene

UPRIGHT = (cos(pi / 4), sin(pi / 4), 0.0, 0.0)  # takes the y axis of a shape up


def peg_mesh(diameter, length, chamfer, sections=40) -> "ds.Mesh":
    """A round peg standing on z = 0, its corners on the circle; chamfered at its foot [m]."""
    r = diameter / 2
    profile = (
        [(r - chamfer, 0.0), (r, chamfer), (r, length)] if chamfer else [(r, 0.0), (r, length)]
    )
    return ds.Mesh(*revolve(profile, sections))


def fill_peg_in_hole(
    world, peg=0.00999, hole=0.01, length=0.03, depth=0.02, chamfer=0.0005, friction=0.1,
    offset=3e-6, tilt_deg=8.0,
):  # fmt: skip
    """A peg of 9.99 mm falls into a hole of 10 mm; beside it a torus slides down a standing peg.

    Both are meshes, and so is the block with the hole; sizes in metres. The polygon of the hole
    is drawn around its circle, that of the peg within its own: 5 micrometres of play all round,
    of which `offset` [m] is gone at one side.
    """
    steel = ds.Material(density=7800, friction=friction)
    world.add_fixed(ds.Plane(), steel, name="table")
    block = ds.Mesh(*plate(square(4 * hole, 64), hole / 2, depth))
    world.add_fixed(block, steel, position=(0, 0, depth / 2), name="block")
    world.add_body(
        peg_mesh(peg, length, chamfer), steel, position=(offset, 0, depth + 0.0005), name="peg"
    )
    post = ds.Cylinder(hole / 2, 8 * hole)
    world.add_fixed(post, steel, position=(6 * hole, 0, 4 * hole), name="post")
    half = radians(tilt_deg) / 2
    world.add_body(
        ds.Mesh(*torus(1.2 * hole, 0.5 * hole, 48, 24)), steel, position=(6 * hole, 0, 7 * hole),
        orientation=(cos(half), sin(half), 0, 0), name="torus",
    )  # fmt: skip


def fill_u_channel(world, width=0.3, depth=0.4, wall=0.05, length=1.0, friction=0.4):
    """A ball and a crate fall into a channel that is open above and itself stands on the ground.

    Both come to rest on its floor, not on the lid that its convex hull would have.
    """
    wood = ds.Material(density=700, friction=friction)
    world.add_fixed(ds.Plane(), wood, name="ground")
    shape = ds.Mesh(*channel(width, depth, wall, length))
    world.add_body(
        shape, wood, position=(0, 0, wall), orientation=UPRIGHT, name="channel",
    )  # fmt: skip
    ball, crate = ds.Sphere(0.35 * width), ds.Box(0.5 * width, 0.5 * width, 0.5 * width)
    drop = wall + depth + 0.5 * width
    world.add_body(ball, wood, position=(0, 0.25 * length, drop), name="ball")
    world.add_body(crate, wood, position=(0, -0.25 * length, drop), name="crate")


SCENES = [
    Scene(
        "peg-in-hole",
        "a peg of 9.99 mm enters a 10 mm hole, a torus slides down a post",
        fill_peg_in_hole,
        seconds=0.5,
        expect="the peg reaches the table through the hole, the torus around the post",
        settings={"dt": 1 / 1000},
    ),
    Scene(
        "u-channel",
        "a ball and a crate fall into a channel that is open above",
        fill_u_channel,
        seconds=2.0,
        expect="both rest on its floor, not on the lid of its convex hull",
    ),
]
