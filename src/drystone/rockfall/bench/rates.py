"""Throughput: trajectories per second for rocks and terrains of several sizes, with accuracy.

Every row times the same runs on all threads (least of `repeat`: noise only ever adds) after they
ran once, and measures how deep any of the first MEASURED got and whether energy grew. Beside the
rate on the clock stands that per second of a core, which other work on the machine hardly changes.
The lumped-mass model, for orientation, has neither shape nor rotation; its accuracy is not
comparable.
"""

from collections.abc import Iterator
from time import perf_counter, process_time

import numpy as np

from drystone.rockfall.bench.penetration import energy_growth, measure_depth
from drystone.rockfall.bench.random_trials import Trials, resized
from drystone.rockfall.engine.lumped_mass import roll_lumped
from drystone.rockfall.engine.options import Options
from drystone.rockfall.engine.records import FAILED
from drystone.rockfall.engine.roll import Scene, roll_many
from drystone.rockfall.terrain.ground_surface import ground_of
from drystone.rockfall.terrain.materials import uniform_surface
from drystone.rockfall.terrain.slope import Slope

RATE_ROCKS = ("box", "hull-20", "hull-100")
FACTORS = (0.25, 0.5, 1.0, 2.0, 4.0)  # nodes along a side of the terrain, as parts of its own
MEASURED = 100  # runs of each row: to measure one takes ten times as long as to roll it
RESTITUTION, FRICTION = 0.35, 0.6  # loose debris on rock, in the middle of the published ranges


# heading, key, format
COLUMNS = (
    ("rock", "rock", "{}"),
    ("corners", "corners", "{}"),
    ("triangles", "triangles", "{:,}"),
    ("cell m", "cell_m", "{:.3g}"),
    ("runs", "runs", "{}"),
    ("runs/s", "rate", "{:.0f}"),
    ("per core", "rate_per_core", "{:.0f}"),
    ("steps", "steps", "{:.0f}"),
    ("us/step", "us_per_step", "{:.2f}"),
    ("seconds", "duration_s", "{:.1f}"),
    ("depth/size", "depth_worst", "{:+.1e}"),
    ("energy growth", "growth_worst", "{:.1e}"),
    ("failed", "failed", "{}"),
)


def rate_rows(
    slope: Slope, count: int, threads: int, factors=FACTORS, rocks=RATE_ROCKS, repeat: int = 3
) -> Iterator[dict]:
    """A row of statistics for every rock and the lumped mass on every size of the terrain."""
    surface = uniform_surface(RESTITUTION, FRICTION)
    for factor in factors:
        ground = slope if factor == 1.0 else resized(slope, factor)
        scene = Scene.build(ground.vertices, ground.triangles, surface)
        place = {"triangles": len(ground.triangles), "cell_m": ground.spacing, "threads": threads}
        for kind in rocks:
            trials = Trials(ground, (kind,))
            drawn = [trials.draw(run) for run in range(count)]
            yield place | _rigid_row(kind, drawn, ground, scene, threads, repeat)
        yield place | _lumped_row(drawn, scene, threads, repeat)


def _least_seconds(work, repeat: int) -> tuple[float, float]:
    """On the clock, and of all processors together."""
    least = np.full(2, np.inf)
    for _ in range(repeat):
        since = perf_counter(), process_time()
        work()
        least = np.minimum(least, (perf_counter() - since[0], process_time() - since[1]))
    return float(least[0]), float(least[1])


def _rigid_row(kind, drawn, slope, scene, threads, repeat) -> dict:
    rocks, starts = [t.rock for t in drawn], [t.start for t in drawn]
    rolled = roll_many(rocks, starts, scene, threads=threads, states=True)
    ground, gravity = ground_of(slope), Options().gravity
    measured = list(zip(rocks, rolled, strict=True))[:MEASURED]
    depth = [measure_depth(rock, one, ground).depth / (2.0 * rock.radius) for rock, one in measured]
    growth = [energy_growth(rock, one.states, gravity) for rock, one in measured]
    steps = sum(len(one.states) - 1 for one in rolled)
    seconds = _least_seconds(lambda: roll_many(rocks, starts, scene, threads=threads), repeat)
    return _row(kind, len(rocks[0].vertices), rolled, seconds) | {
        "steps": steps / len(rolled),
        "us_per_step": 1e6 * seconds[1] / steps,
        "depth_worst": max(depth),
        "growth_worst": max(growth),
    }


def _lumped_row(drawn, scene, threads, repeat) -> dict:
    rocks, starts = [t.rock for t in drawn], [t.start for t in drawn]
    rolled = roll_lumped(rocks, starts, scene, threads=threads)
    seconds = _least_seconds(lambda: roll_lumped(rocks, starts, scene, threads=threads), repeat)
    return _row("lumped mass", 1, rolled, seconds)


def _row(kind: str, corners: int, rolled, seconds: tuple[float, float]) -> dict:
    return {
        "rock": kind,
        "corners": corners,
        "runs": len(rolled),
        "rate": len(rolled) / seconds[0],
        "rate_per_core": len(rolled) / seconds[1],
        "duration_s": float(np.mean([one.end["t"] for one in rolled])),
        "failed": sum(int(one.end["reason"] == FAILED) for one in rolled),
    }
