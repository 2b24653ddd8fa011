"""A ball dropped from 1 m bounces to e² of that. Run: python examples/bouncing_ball.py"""

import drystone as ds

E, HEIGHT, RADIUS = 0.8, 1.0, 0.1

rubber = ds.Material(density=1100, restitution=E, name="rubber")
floor = ds.Material(name="floor")  # the larger restitution of the two counts
world = ds.World(dt=1 / 240)
world.add_fixed(ds.Plane(), floor)
ball = world.add_body(ds.Sphere(RADIUS), rubber, position=(0, 0, RADIUS + HEIGHT))

tops, rising = [], False  # heights at which it turns back [m]
while world.time < 3.0:
    world.step()
    was_rising, rising = rising, ball.velocity[2] > 0
    if was_rising and not rising:
        tops.append(ball.position[2] - RADIUS)

for n, top in enumerate(tops, start=1):
    expected = HEIGHT * E ** (2 * n)
    print(f"bounce {n}: {top:.4f} m, expected {expected:.4f} m")
    assert abs(top - expected) < 0.01 * expected
assert len(tops) >= 3
