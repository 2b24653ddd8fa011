"""What a stack puts on the ground, and each box on the next. Run: python examples/box_stack.py"""

import numpy as np

import drystone as ds

wood = ds.Material(density=700, friction=0.5)
world = ds.World(sleeping=False)
world.add_fixed(ds.Plane(), wood)
boxes = [
    world.add_body(ds.Box(1, 1, 1), wood, position=(0, 0, 0.5 + k), name=f"box {k}")
    for k in range(5)
]
info = world.run(2.0)

table = world.contacts()
weight = 9.81 * boxes[0].mass
print(f"{len(table)} contacts, residual {info.residual:.1e} m/s")
below = None  # the fixed world
for k, box in enumerate(boxes):
    force = table.between(below, box)  # what `below` puts on `box`
    print(f"{box.name} rests with {force[2]:8.1f} N, weight above {weight * (5 - k):8.1f} N")
    assert np.allclose(force, (0, 0, weight * (5 - k)), atol=1e-4 * weight)
    below = box

for box in boxes:  # at rest the contact forces on each carry its own weight
    assert np.allclose(table.on(box), (0, 0, weight), atol=1e-4 * weight)
assert info.converged and world.energy().kinetic < 1e-8
