"""One steel ball into a row of four: one flies out. Run: python examples/newtons_cradle.py"""

import numpy as np

import drystone as ds

RADIUS, SPEED = 0.05, 1.0

steel = ds.Material(density=7800, friction=0.0, restitution=1.0)
world = ds.World(sleeping=False)
world.add_fixed(ds.Plane(), steel)
balls = [
    world.add_body(ds.Sphere(RADIUS), steel, position=(2 * RADIUS * k, 0, RADIUS), name=f"ball {k}")
    for k in range(4)
]
cue = world.add_body(
    ds.Sphere(RADIUS), steel, position=(-0.3, 0, RADIUS), velocity=(SPEED, 0, 0), name="cue"
)
energy = world.energy().kinetic
world.run(0.5)

speeds = [cue.velocity[0], *(ball.velocity[0] for ball in balls)]
print("speeds from left to right:", np.round(speeds, 6))

assert np.allclose(speeds, [0, 0, 0, 0, SPEED], atol=1e-5)
assert abs(world.energy().kinetic / energy - 1) < 1e-5
