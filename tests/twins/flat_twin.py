"""The same planar scene in two dimensions, and in three with every body locked to the plane."""

import numpy as np

import drystone as ds

ROCK = ds.Material(density=1000, friction=0.4)
# Depth of boxes in three dimensions [m]. Their radius sets the skin, which therefore differs by
# 3e-5 (depth / size)² of the size: 1e-11 m.
DEPTH = 1e-3


class TwinScene:
    """Takes positions (x, z) in both; masses and moments are those of one metre of depth."""

    def __init__(self, dim, tolerance=1e-10, **options):
        self.dim = dim
        self.world = ds.World(dim=dim, tolerance=tolerance, sleeping=False, **options)

    def plane(self, normal=(0, 0, 1)):
        self.world.add_fixed(ds.Plane(normal), ROCK)

    def disc(self, r, at, velocity=(0, 0), spin=0.0):
        return self._add(ds.Disc(r), ds.Sphere(r), at, velocity, spin, 0.0)

    def box(self, x, z, at, velocity=(0, 0), spin=0.0, angle=0.0):
        return self._add(ds.Polygon.box(x, z), ds.Box(x, DEPTH, z), at, velocity, spin, angle)

    def hinge(self, a, b, at):
        if self.dim == 2:
            return self.world.add_joint(ds.Hinge(a, b, at))
        return self.world.add_joint(ds.Hinge(a, b, (at[0], 0, at[1]), (0, 1, 0)))

    def poses(self):
        """(n, 3) x, z and the sine of half the angle of all bodies."""
        turned = self.world.orientations * np.sign(self.world.orientations[:, :1])
        return np.column_stack([self.world.positions[:, [0, 2]], turned[:, 2]])

    def _add(self, flat, solid, at, velocity, spin, angle):
        turn = (np.cos(0.5 * angle), 0, np.sin(0.5 * angle), 0)
        if self.dim == 2:
            return self.world.add_body(
                flat, ROCK, position=at, orientation=turn, velocity=velocity, spin=spin
            )
        area, _, moment = flat.mass_properties()
        body = self.world.add_body(
            solid, ROCK,
            position=(at[0], 0, at[1]), orientation=turn,
            velocity=(velocity[0], 0, velocity[1]), spin=(0, spin, 0),
            mass=ROCK.density * area, inertia=ROCK.density * np.diag(moment),
        )  # fmt: skip
        self.world.add_joint(ds.Planar(body))
        return body
