"""Bodies come and go while the world runs. Run: python examples/add_and_remove.py"""

import drystone as ds

wood = ds.Material(density=700, friction=0.5)
world = ds.World()
world.add_fixed(ds.Plane(), wood)
base = world.add_body(ds.Box(1, 1, 1), wood, position=(0, 0, 0.5), name="base")
top = world.add_body(ds.Box(1, 1, 1), wood, position=(0, 0, 1.5), name="top")

world.run(2.0)
assert base.asleep and top.asleep  # at rest for half a second: no longer computed

world.remove(base)  # wakes what stood on it
assert "base" not in world and not top.asleep
world.run(2.0)
print(f"top fell to z = {top.position[2]:.4f} m")
assert abs(top.position[2] - 0.5) < 1e-4 and top.asleep

ball = world.add_body(ds.Sphere(0.2), wood, position=(-3, 0, 0.5), velocity=(8, 0, 1), name="ball")
world.run(1.0)
print(f"the ball moved it by {top.position[0] * 1000:.1f} mm")
assert len(world) == 2 and top.position[0] > 1e-3

ghost = world.add_body(ds.Sphere(0.2), wood, position=(0, 0, 3), mask=0, name="ghost")
world.run(1.0)
assert ghost.position[2] < -1  # its mask lets it touch nothing, so it fell through all
