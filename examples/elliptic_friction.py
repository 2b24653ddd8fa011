"""A sledge whose runners hold sideways and slide along: friction that depends on the direction.

Run: python examples/elliptic_friction.py
"""

import numpy as np

import drystone as ds

ice = ds.Material(friction=0.5)
runner = ds.Material(friction=(0.05, 0.5), friction_direction=(1, 0, 0))

stops = {}
for turn_deg in (0, 90):
    world = ds.World(solver="prox", sleeping=False)
    world.add_fixed(ds.Plane(), ice)
    half = np.radians(turn_deg) / 2
    sledge = world.add_body(
        ds.Box(1.2, 0.4, 0.2), runner, position=(0, 0, 0.1), velocity=(2, 0, 0),
        orientation=(np.cos(half), 0, 0, np.sin(half)),
    )  # fmt: skip
    world.set_pair(ice, runner, friction=(0.05, 0.5))
    while sledge.velocity[0] > 1e-3:
        world.step()
    stops[turn_deg] = sledge.position[0]
    print(f"turned by {turn_deg} degrees it stops after {sledge.position[0]:.3f} m")

expected = {0: 2**2 / (2 * 0.05 * 9.81), 90: 2**2 / (2 * 0.5 * 9.81)}  # v² / (2 mu g)
for turn_deg, distance in expected.items():
    assert abs(stops[turn_deg] / distance - 1) < 0.02
