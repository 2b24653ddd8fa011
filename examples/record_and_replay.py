"""Record a run, edits and all, and prove that it comes out again.

Run: python examples/record_and_replay.py
"""

import tempfile
from pathlib import Path

import drystone as ds

wood = ds.Material(density=700, friction=0.5, restitution=0.2)
world = ds.World()
world.add_fixed(ds.Plane(), wood)
for k in range(4):
    world.add_body(ds.Box(1, 1, 1), wood, position=(0.1 * k, 0, 0.5 + 1.2 * k), name=f"box {k}")

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "fall.h5"
    with ds.record(world, path, every=4):
        world.run(1.0)
        world["box 3"].velocity = (2, 0, 1)  # what a person does is recorded too
        world.add_body(ds.Sphere(0.3), wood, position=(0, 0, 6), name="late")
        world.run(1.0)

    with ds.Recording(path) as recording:
        print(f"{len(recording)} frames, {len(recording.hashes)} hashes")
        print("kinetic energy at the end:", recording.kinetic[-1], "J")
        assert len(recording.hashes) == 480 and len(recording) == 121
        assert (recording.positions(-1) == world.positions).all()

    outcome = ds.replay(path, verify=True)

print(f"{outcome.steps} steps run again, verified: {outcome.verified}")
assert outcome and outcome.verified and outcome.world.hash() == world.hash()
