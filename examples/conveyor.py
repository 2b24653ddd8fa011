"""A parcel put on a moving belt slides until it is as fast. Run: python examples/conveyor.py"""

import drystone as ds

MU, BELT_SPEED = 0.4, 2.0

rubber = ds.Material(density=900, friction=MU)
world = ds.World(dt=1 / 240)
belt = world.add_body(
    ds.Box(40, 1, 0.2), rubber, position=(0, 0, -0.1), kinematic=True, name="belt"
)
belt.velocity = (BELT_SPEED, 0, 0)
parcel = world.add_body(ds.Box(0.4, 0.3, 0.2), rubber, position=(0, 0, 0.1), name="parcel")

caught = None  # when the parcel has the speed of the belt [s]
while caught is None and world.time < 2.0:
    world.step()
    if "slip" not in world.contacts().status:
        caught = world.time

print(f"caught up after {caught:.3f} s, {parcel.position[0]:.3f} m on")
time = BELT_SPEED / (MU * 9.81)  # v = mu g t
assert abs(caught - time) < 2 * world.dt
assert abs(parcel.position[0] - BELT_SPEED * time / 2) < BELT_SPEED * world.dt

world.run(1.0)
assert abs(parcel.velocity[0] - BELT_SPEED) < 1e-5 and not parcel.asleep
