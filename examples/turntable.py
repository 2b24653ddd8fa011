"""A coin on a turntable that spins up until the coin slips. Run: python examples/turntable.py

The turntable is kinematic: it moves as it is told and nothing pushes it. The coin stays on
it while friction can hold it on its circle: spin² r < mu g.
"""

import numpy as np

import drystone as ds

MU = 0.3

brass = ds.Material(density=8500, friction=MU)
world = ds.World(dt=1 / 240)
table = world.add_body(
    ds.Cylinder(1.0, 0.1), brass, position=(0, 0, -0.05), kinematic=True, name="table"
)
coin = world.add_body(ds.Cylinder(0.05, 0.02), brass, position=(0.5, 0, 0.01), name="coin")

spin, status = 0.0, []
while "slip" not in status and spin < 10:
    spin += 0.002  # slowly, so that it is the circle that makes it slip
    table.spin = (0, 0, spin)
    world.step()
    status = world.contacts().status

radius = np.hypot(coin.position[0], coin.position[1])
limit = np.sqrt(MU * 9.81 / radius)
print(f"slips at {spin:.3f} rad/s; friction says {limit:.3f} rad/s")
assert abs(spin / limit - 1) < 0.02
