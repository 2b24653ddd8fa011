"""A crate on the ground, and a hull whose frame is far from its centre of mass."""

import numpy as np

import drystone as ds

STONE = ds.Material(density=2600, friction=0.6)


def box_world(**options):
    world = ds.World(**options)
    world.add_fixed(ds.Plane(), STONE, name="ground")
    world.add_body(ds.Box(1, 1, 1), STONE, position=(0, 0, 0.5), name="crate")
    return world


def offset_hull():
    """A box of 2 x 1 x 3 m whose frame is far from its centre of mass (4, -2, 1)."""
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-0.5, 0.5) for z in (-1.5, 1.5)])
    return ds.ConvexHull(corners + (4.0, -2.0, 1.0))
