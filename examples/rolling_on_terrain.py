"""A ball rolls down a hillside given as a grid of heights.

Run: python examples/rolling_on_terrain.py

The slope is even, so the triangles must not be felt: v² = (10/7) g h for a ball that rolls.
The place is on a real map, millions of metres from its origin, which costs no digits.
"""

from math import radians, tan

import numpy as np

import drystone as ds

EAST, NORTH = 2_793_293.0, 1_180_191.0  # south-west corner [m]

x = np.arange(0.0, 41.0, 2.0)  # [m]
heights = np.tile(800.0 - tan(radians(15)) * x, (11, 1))  # rows run north, columns east
ground = ds.Terrain.from_grid(heights, spacing=2.0, origin=(EAST, NORTH))

rock = ds.Material(density=2600, friction=1.0)
world = ds.World(dt=1 / 240)
world.add_fixed(ground, rock, name="hillside")
radius = 0.5
start = np.array([EAST + 5.0, NORTH + 10.3, 800.0 - tan(radians(15)) * 5.0])
normal = np.array([np.sin(radians(15)), 0.0, np.cos(radians(15))])
ball = world.add_body(ds.Sphere(radius), rock, position=start + radius * normal, name="ball")
top = ball.position[2]
world.run(2.0)

fallen = top - ball.position[2]
speed = np.linalg.norm(ball.velocity)
print(f"{fallen:.3f} m lower it rolls with {speed:.4f} m/s")
print(f"expected {np.sqrt(10 / 7 * 9.81 * fallen):.4f} m/s")

assert abs(speed**2 / (10 / 7 * 9.81 * fallen) - 1) < 0.001
assert abs(ball.position[1] - start[1]) < 1e-6  # straight down
