"""A chain of rings that hang in one another: meshes with holes, held by contact alone.

Run: python examples/chain_of_rings.py

No ring is replaced by its hull. Each hangs below the one before by its inner width, and the
topmost carries the weight of all.
"""

from math import sqrt

import numpy as np
import trimesh

import drystone as ds

RADIUS, WIRE, COUNT = 0.1, 0.02, 5  # of the middle of the wire, of the wire [m]

torus = trimesh.creation.torus(RADIUS, WIRE, major_sections=48, minor_sections=24)
ring = ds.Mesh(torus.vertices, torus.faces)
upright = [(sqrt(0.5), sqrt(0.5), 0, 0), (sqrt(0.5), 0, sqrt(0.5), 0)]  # across each other

steel = ds.Material(density=7800, friction=0.4)
world = ds.World(dt=1 / 240, sleeping=False)
world.add_fixed(ring, steel, orientation=upright[0])
for k in range(1, COUNT + 1):
    world.add_body(ring, steel, position=(0, 0, -0.15 * k), orientation=upright[k % 2])
world.run(4.0)

heights = np.append(0.0, [body.position[2] for body in world.bodies])
pitch = 2 * (RADIUS - WIRE)
weight = sum(body.mass for body in world.bodies) * 9.81
force = world.contacts().between(None, world.bodies[0])[2]
print(f"pitch {-np.diff(heights).round(5)} m, expected {pitch:.5f} m")
print(f"the hook carries {force:.3f} N, the rings weigh {weight:.3f} N")

assert np.abs(np.diff(heights) + pitch).max() < 1e-4
assert abs(force / weight - 1) < 1e-3
