"""Take one step's contact problem out of a world and solve it.

Run: python examples/contact_problem.py
"""

import tempfile
from pathlib import Path

import numpy as np

import drystone as ds

stone = ds.Material(density=2600, friction=0.6)
world = ds.World(sleeping=False)
world.add_fixed(ds.Plane(), stone)
for row in range(4):  # a small pyramid
    for k in range(4 - row):
        x = 1.05 * (k - (3 - row) / 2)
        world.add_body(ds.Box(1, 1, 1), stone, position=(x, 0, 0.5 + row))
world.run(0.5)

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "pyramid.h5"
    world.problem().save(path)  # a hard problem becomes a test case
    problem = ds.ContactProblem.load(path)

nothing = np.zeros((problem.contact_count, 3))
print(f"{problem.contact_count} contacts; without impulses off by "
      f"{ds.residual(problem, nothing):.1e} m/s")  # fmt: skip
for tolerance in (1e-3, 1e-6, 1e-9):
    impulse, info = ds.solve(problem, solver="nsgs", tolerance=tolerance)
    print(f"tolerance {tolerance:.0e}: {info.iterations:4} sweeps, residual {info.residual:.1e}")
    assert info.converged and ds.residual(problem, impulse) <= tolerance

normal, sideways = impulse[:, 0], np.hypot(impulse[:, 1], impulse[:, 2])
assert (normal >= 0).all() and (sideways <= problem.friction * normal + 1e-12).all()
