"""A box that turns over and over in free fall. Run: python examples/dzhanibekov.py

Turning about the axis of middle inertia is unstable: the box flips, again and again. Energy and
angular momentum stay what they were, however long it goes on.
"""

import numpy as np

import drystone as ds

steel = ds.Material(density=7800)
world = ds.World(gravity=(0, 0, 0), dt=1 / 240)
box = world.add_body(ds.Box(0.3, 0.15, 0.05), steel, spin=(1e-3, 6.0, 1e-3), name="box")
energy, angular = world.energy().kinetic, world.momentum().angular

flips, side = 0, 1.0


def count_flips(world):
    global flips, side
    w, x, y, z = box.orientation
    up = 1 - 2 * (x * x + z * z)  # where the middle axis of the box points, along world y
    if up * side < -0.9:
        flips, side = flips + 1, -side


world.run(60.0, callback=count_flips)

drift = abs(world.energy().kinetic / energy - 1)
turned = np.linalg.norm(world.momentum().angular - angular) / np.linalg.norm(angular)
print(f"{flips} flips in {world.time:.0f} s; energy off by {drift:.1e}, momentum by {turned:.1e}")

assert flips >= 5
assert drift < 1e-6 and turned < 1e-10
