"""The ordering table of NEWTON (WSCG paper): what an iteration costs, and what it is worth.

The paper's three setups are demos of OpenTissue; we build them with its numbers: nine boxes, each
rotated by one radian against the one below; a house of forty cards; a rain of a thousand balls when
it has as many contacts as in Table 1. The speedup (eq. 24, Tables 2 and 3) is the time of a plain
iteration over that of an iteration with the ordering. A staggered iteration visits one set of
rows only, the normals (a third) or the tangents (two thirds), and that is all there is to its
speedup. So beside it stand the time for as many visits as a plain iteration makes, and the error
(eq. 23) after equal numbers of iterations and after equal work.
"""

from math import degrees
from time import perf_counter

import numpy as np

from drystone.constraints.error_measures import MEASURE_MINMAP
from drystone.constraints.residual import measure
from drystone.scenes import find_scene
from drystone.solvers.orderings import ORDERINGS, STAGGERED
from drystone.solvers.pgs import Iteration, Pgs

ITERATIONS = 50
REPEATS = 30
SETTLED = 60  # steps after which the stack and the house rest
DIKU_CONTACTS = 105  # as in the paper's Table 1

# Time speedup of the paper's Tables 2 and 3; it found nothing significant for the other orderings.
PAPER = {
    ("diku", "greedy-staggered"): 1.7,
    ("card-house", "greedy-staggered"): 2.0,
    ("box-stack", "greedy-staggered"): 2.7,
    ("diku", "extreme-staggered"): 1.4,
    ("card-house", "extreme-staggered"): 2.2,
    ("box-stack", "extreme-staggered"): 1.9,
}

# heading, key, format
COLUMNS = (
    ("problem", "problem", "{}"),
    ("contacts", "contacts", "{}"),
    ("ordering", "ordering", "{}"),
    ("us per iteration", "us_per_iteration", "{:.3g}"),
    ("speedup", "speedup", "{:.2f}"),
    ("paper", "paper", "{:.1f}"),
    ("us per full sweep", "us_per_sweep", "{:.3g}"),
    ("share of normals", "normal_share", "{:.0%}"),
    ("error at equal iterations", "error_iterations", "{:.1e}"),
    ("at equal work", "error_work", "{:.1e}"),
)


def paper_problems() -> dict:
    """The contact problems of the paper's Table 1, by the name of their scene."""
    stack = find_scene("box-stack").build(
        sleeping=False, count=9, turn_deg=degrees(1.0), density=10.0
    )
    house = find_scene("card-house").build(
        sleeping=False, levels=5, lean_deg=15.0, length=2.0, width=1.0, thickness=0.1,
        friction=0.4, density=10.0,
    )  # fmt: skip
    for world in (stack, house):
        world.run(SETTLED * world.dt)
    balls = find_scene("diku").build(sleeping=False)
    balls.run(10.0, callback=lambda world: world.info.contacts >= DIKU_CONTACTS)
    return {"box-stack": stack.problem(), "card-house": house.problem(), "diku": balls.problem()}


def ordering_rows(
    problems: dict | None = None, iterations: int = ITERATIONS, repeats: int = REPEATS
):
    """Yield a row of statistics for every ordering of each of `problems`; None: the paper's."""
    for name, problem in (problems or paper_problems()).items():
        # The paper's y axis points up in diku and lies in the plane in the others; our z is up.
        axis = "-z" if name == "diku" else "-y"
        solvers = {o: Pgs(ordering=o, axis=axis) for o in ORDERINGS}
        seconds = _iteration_seconds(solvers, problem, iterations, repeats)
        for ordering, solver in solvers.items():
            yield {
                "problem": name,
                "contacts": problem.contact_count,
                "ordering": ordering,
                "us_per_iteration": 1e6 * seconds[ordering],
                "speedup": seconds["none"] / seconds[ordering],
                "paper": PAPER.get((name, ordering)),
                **_errors(solver, problem, iterations, seconds[ordering]),
            }


def _iteration_seconds(solvers, problem, iterations, repeats) -> dict:
    """Least time of an iteration by each solver [s], from zero impulses, set-up not counted."""
    runs = {}
    for name, solver in solvers.items():
        runs[name] = Iteration(solver, problem, np.zeros((problem.contact_count, 3)))
        runs[name].run(1)  # compiles
    least = dict.fromkeys(runs, np.inf)
    for _ in range(repeats):  # in turns, so that a busy machine hurts all alike
        for name, run in runs.items():
            run.impulse[:] = 0.0
            run.done = 0
            since = perf_counter()
            run.run(iterations)
            least[name] = min(least[name], (perf_counter() - since) / iterations)
    return least


def _errors(solver, problem, iterations, seconds) -> dict:
    """The min-map merit after equal iterations and equal work, and where the work went."""
    run = Iteration(solver, problem, np.zeros((problem.contact_count, 3)))
    work = run.run(iterations)
    row = {
        "us_per_sweep": 1e6 * seconds * iterations / work,
        "normal_share": run.normal_visits / iterations if solver.ordering in STAGGERED else None,
        "error_iterations": measure(problem, run.impulse.reshape(-1, 3))[MEASURE_MINMAP],
    }
    while work < iterations:
        work += run.run(1)
    row["error_work"] = measure(problem, run.impulse.reshape(-1, 3))[MEASURE_MINMAP]
    return row
