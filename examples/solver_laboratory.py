"""A tonne on a kilogram: every solver on the same contact problem, judged by the same measure.

Run: python examples/solver_laboratory.py
"""

import drystone as ds

stone = ds.Material(friction=0.5)
world = ds.World(sleeping=False)
world.add_fixed(ds.Plane(), stone)
world.add_body(ds.Box(1, 1, 1), stone, position=(0, 0, 0.5), mass=1)
world.add_body(ds.Box(1, 1, 1), stone, position=(0, 0, 1.5), mass=1000)
world.step()
problem = world.problem()

found = {}
for name in ds.SOLVERS:
    impulse, info = ds.solve(problem, name, tolerance=1e-8)
    found[name] = info
    print(
        f"{name:15} {ds.SOLVERS[name]().law:11} residual {info.residual:.1e} m/s after "
        f"{info.iterations} iterations, {info.work:.0f} sweeps' worth of work  {info.method}"
    )

assert found["auto"].converged and found["prox-newton"].converged and found["lemke"].converged
assert not found["pgs"].converged  # 150 sweeps know nothing of such a mass ratio
