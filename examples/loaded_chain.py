"""Ten links carry a load of 1000 links. Run: python examples/loaded_chain.py"""

import numpy as np

import drystone as ds

LINK, COUNT = 0.1, 10

steel = ds.Material(density=7800)
world = ds.World(dt=1 / 1000)
along = np.array([0.5, 0, -np.sqrt(0.75)])  # let go 30 degrees off the vertical
half = np.radians(60) / 2  # turns x to `along`
last, joints = None, []
for k in range(COUNT):
    link = world.add_body(
        ds.Box(LINK, 0.01, 0.01), steel, position=(k + 0.5) * LINK * along,
        orientation=(np.cos(half), 0, np.sin(half), 0), mask=0,
    )  # fmt: skip
    joints.append(world.add_joint(ds.Ball(last, link, k * LINK * along)))
    last = link
load = world.add_body(
    ds.Sphere(0.06), steel, position=(COUNT * LINK + 0.06) * along, mass=1000 * last.mass, mask=0
)
joints.append(world.add_joint(ds.Ball(last, load, COUNT * LINK * along)))

energy, stretch = world.energy().total, 0.0
for _ in range(40):
    world.run(0.05)
    ends = np.array([joint.anchor_a for joint in joints])
    stretch = max(stretch, abs(np.linalg.norm(np.diff(ends, axis=0), axis=1).sum() - COUNT * LINK))

pull = np.linalg.norm(joints[-1].force) / (load.mass * 9.81)
print(f"stretched by {1e6 * stretch:.3f} um, the last link pulls with {pull:.2f} weights")
assert stretch < 1e-6
assert abs(world.energy().total - energy) < 1e-3 * load.mass * 9.81 * COUNT * LINK
