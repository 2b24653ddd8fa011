"""How the cost of a step grows with the number of bodies, in piles of equal height."""

from drystone.bench.drystone_driver import build_world
from drystone.bench.standard_scenes import pile
from drystone.world.run import RunStatistics

COUNTS = (100, 300, 1000, 3000, 10000)
LAYERS = 10
FALL, TIMED = 1000, 100  # steps, as in S4 and S5


def scaling_rows(counts=COUNTS, scale: float = 1.0):
    """Yield a row for every pile of spheres (S4) and of boxes (S5): cost per step and body.

    The floor grows with the number of bodies, so that each touches as many others.
    """
    fall, timed = max(10, int(FALL * scale)), max(10, int(TIMED * scale))
    for name, spacing, margin in (("S4", 0.22, 0.1), ("S5", 0.23, 0.05)):
        for count in counts:
            per_side = max(2, round((count / LAYERS) ** 0.5))
            bodies = per_side**2 * LAYERS
            inner = per_side * spacing / 2 + margin
            scene = pile(name, bodies, inner, fall + timed, fall, per_side)
            world = build_world(scene)
            world.run(fall * scene.dt)
            statistics = RunStatistics(world)
            while statistics.steps < timed:
                statistics.advance(min(10, timed - statistics.steps))
            yield {
                "scaling": name,
                "kind": scene.kind,
                "bodies": bodies,
                "contacts_per_body": statistics.contacts[-1] / bodies,
                "sweeps": statistics.sweeps / statistics.steps,
                "residual": statistics.worst_residual,
                "converged": 1.0 - statistics.nonconverged / statistics.steps,
                "ms_per_step": statistics.ms_per_step,
                "us_per_body": 1e3 * statistics.ms_per_step / bodies,
            }
