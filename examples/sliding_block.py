"""A stone block let go on a 40 degree slope. Run: python examples/sliding_block.py"""

from math import cos, radians, sin

import drystone as ds

stone = ds.Material(density=2600, friction=0.5)  # [kg/m³]
slope = radians(40)

# Gravity is tilted, not the ground: then x runs down the slope.
world = ds.World(gravity=(9.81 * sin(slope), 0, -9.81 * cos(slope)), dt=0.01)
world.add_fixed(ds.Plane(), stone)
block = world.add_body(ds.Box(1.0, 1.0, 0.2), stone, position=(0, 0, 0.1), name="block")
world.run(2.0)

acceleration = 9.81 * (sin(slope) - 0.5 * cos(slope))
print(f"After {world.time:.1f} s the block slid {block.position[0]:.4f} m.")
print(f"Coulomb's law says {acceleration * 2**2 / 2:.4f} m.")

assert abs(block.position[0] - acceleration * 2**2 / 2) < 0.001 * block.position[0]
assert abs(block.velocity[0] - acceleration * 2) < 0.001 * block.velocity[0]
