"""Stop in the middle, save, load, go on: the same to the last bit.

Run: python examples/save_and_load.py
"""

import tempfile
from pathlib import Path

import numpy as np

import drystone as ds

stone = ds.Material(density=2600, friction=0.6)
world = ds.World()
world.add_fixed(ds.Plane(), stone)
rng = np.random.default_rng(5)
for k in range(20):
    shape = ds.ConvexHull(rng.normal(size=(12, 3)) * 0.2)
    world.add_body(shape, stone, position=(*rng.uniform(-0.3, 0.3, 2), 0.5 + 0.5 * k))

world.run(1.0)
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "halfway.h5"
    world.save(path)
    copy = ds.World.load(path)

world.run(1.0)
copy.run(1.0)
print(f"went on:  {world.hash()}\nreloaded: {copy.hash()}")

assert copy.hash() == world.hash()
assert (copy.positions == world.positions).all()  # every bit, not nearly
