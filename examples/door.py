"""A motor opens a door to its stop, then friction alone holds it. Run: python examples/door.py"""

from math import pi, radians

import drystone as ds

oak = ds.Material(density=700)
world = ds.World(dt=1 / 240)
door = world.add_body(ds.Box(0.9, 0.04, 2.0), oak, position=(0.45, 0, 1.0), name="door")

hinge = world.add_joint(
    ds.Hinge(
        None, door, point=(0, 0, 1), axis=(0, 0, 1), limits=(0, radians(110)), friction=2.0,
        motor=ds.Motor(speed=1.0, max_torque=20.0),
    )
)  # fmt: skip
world.run(1.0)
print(f"after 1 s: {hinge.angle * 180 / pi:.1f} degrees, {hinge.speed:.2f} rad/s")
assert abs(hinge.speed - 1.0) < 1e-3
assert abs(hinge.motor_force - 2.0) < 1e-3  # all that it takes: the friction

world.run(2.0)
print(f"at the stop: {hinge.angle * 180 / pi:.1f} degrees, {hinge.motor_force:.1f} N m")
assert abs(hinge.angle - radians(110)) < 1e-6 and hinge.motor_force > 17.9

hinge.set(motor=ds.Motor(speed=-0.6))
world.run(0.5)
hinge.set(motor=None)  # let go: it swings on until the friction has taken its energy
before = hinge.angle
world.run(5.0)
inertia = door.mass * ((0.9**2 + 0.04**2) / 12 + 0.45**2)  # about the hinge [kg m²]
swung = 0.5 * inertia * 0.6**2 / 2.0
print(f"let go: swings on by {(before - hinge.angle) * 180 / pi:.1f} degrees")
assert abs(before - hinge.angle - swung) < 0.01
