"""A wheel rolls down a ramp into a stack of boxes. Run: python examples/two_dimensions.py"""

import drystone as ds

wood = ds.Material(density=700, friction=0.5)  # [kg/m³]; masses are for one metre of depth

# Two dimensions are the x-z plane: positions are (x, z), angles are about y.
world = ds.World(dim=2)
world.add_fixed(ds.Plane(), wood)
world.add_fixed(ds.Polygon([(-6, 0), (-1, 0), (-6, 2.5)]), wood, name="ramp")
box = ds.Polygon.box(0.5, 0.5)
stack = [world.add_body(box, wood, position=(0, 0.25 + 0.5 * k)) for k in range(4)]
wheel = world.add_body(ds.Disc(0.5), wood, position=(-5.2, 2.8), name="wheel")

# Behind the stack a bar hangs on a hinge, which needs no axis here.
bar = world.add_body(ds.Segment((0.5, 0.1), (0.5, 2), 0.05), wood, name="bar")
hinge = world.add_joint(ds.Hinge(None, bar, point=(0.5, 2)))

fastest, swing = 0.0, 0.0
while world.time < 4.0:
    world.step()
    fastest = max(fastest, wheel.velocity[0])
    swing = max(swing, abs(hinge.angle))

print(f"The wheel reached {fastest:.2f} m/s; the top box is at {stack[-1].position[0]:.2f} m.")
print(f"The bar swung by {swing:.2f} rad.")

assert fastest > 3.0 and swing > 0.1
assert not world.positions[:, 1].any()  # y is zero, to the last bit
