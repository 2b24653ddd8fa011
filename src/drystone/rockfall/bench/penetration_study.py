"""Penetration and tunnelling of many random rocks on an elevation model.

Runs go in chunks to worker processes; a run depends on the seed and its number alone, so that the
statistics do not depend on the workers.
"""

from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

import numpy as np

from drystone.errors import SimulationError
from drystone.rockfall.bench.penetration import energy_growth, measure_depth
from drystone.rockfall.bench.random_trials import ROCKS, Trials, read_terrain, roll_trials
from drystone.rockfall.engine.options import Options
from drystone.rockfall.engine.records import FAILED, REASONS
from drystone.rockfall.engine.roll import Scene
from drystone.rockfall.terrain.ground_surface import ground_of
from drystone.rockfall.terrain.materials import uniform_surface

CHUNK = 60  # runs a worker takes at a time: ten of each kind of rock
ALLOWED = 1e-3  # of the size of a rock: what counts as penetration


class RunDepth(NamedTuple):
    """What was measured of one run."""

    run: int
    rock: str
    depth: float  # largest, as a part of the rock's size (the diameter of its ball)
    height: float  # least, of the centre of mass above the ground, in the same parts
    growth: float  # of the mechanical energy, as a part of what was lost
    reason: str  # why it ended
    steps: int


class Bench:
    """What a worker makes once."""

    def __init__(self, terrain: Path | None, seed: int):
        slope = read_terrain(terrain)
        self.trials = Trials(slope, tuple(ROCKS), seed)
        self.ground = ground_of(slope)
        self.scene = Scene.build(slope.vertices, slope.triangles, uniform_surface(0.3, 0.6))

    def measure(self, runs: range) -> list[RunDepth]:
        trials = [self.trials.draw(run) for run in runs]
        rolled = roll_trials(trials, self.scene, threads=1, states=True)
        names, depths = list(ROCKS), []
        for run, trial, one in zip(runs, trials, rolled, strict=True):
            rock, size = trial.rock, 2.0 * trial.rock.radius
            worst = measure_depth(rock, one, self.ground)
            depths.append(
                RunDepth(
                    run, names[run % len(names)], worst.depth / size, worst.height / size,
                    energy_growth(rock, one.states, Options().gravity),
                    REASONS[one.end["reason"]], len(one.states) - 1,
                )
            )  # fmt: skip
        return depths


def penetration_runs(
    terrain: Path | None, runs: int, seed: int = 1, workers: int = 2
) -> Iterator[list[RunDepth]]:
    """Figures of all runs, chunk by chunk as they get done, in their order."""
    chunks = [range(first, min(first + CHUNK, runs)) for first in range(0, runs, CHUNK)]
    bench = Bench(terrain, seed)
    yield bench.measure(chunks[0])  # here: it compiles once for all
    if workers == 1:
        yield from map(bench.measure, chunks[1:])
        return
    with ProcessPoolExecutor(
        workers, mp_context=get_context("spawn"), initializer=_start, initargs=(terrain, seed)
    ) as pool:
        # A chunk is a bounded number of bounded steps, and the death of a process ends the wait.
        try:
            yield from pool.map(_measure, chunks[1:])
        except BrokenProcessPool:
            raise SimulationError(
                f"one of {workers} worker processes died; the machine may be out of memory. Use "
                "fewer workers."
            ) from None


_WORKER: dict[str, Bench] = {}


def _start(terrain, seed) -> None:
    _WORKER["bench"] = Bench(terrain, seed)


def _measure(runs: range) -> list[RunDepth]:
    return _WORKER["bench"].measure(runs)


def summarise_runs(depths: list[RunDepth]) -> list[dict]:
    """A row for each kind of rock, and one for all."""
    kinds = list(dict.fromkeys(one.rock for one in depths))
    return [_row(kind, [f for f in depths if f.rock == kind]) for kind in kinds] + [
        _row("all", depths)
    ]


def _row(rock: str, depths: list[RunDepth]) -> dict:
    depth = np.array([f.depth for f in depths])
    reasons = Counter(f.reason for f in depths)
    return {
        "rock": rock,
        "runs": len(depths),
        "steps": int(sum(f.steps for f in depths)),
        "depth_worst": float(depth.max()),
        "penetrated": int((depth > ALLOWED).sum()),
        "tunnelled": sum(f.height < 0.0 for f in depths),
        "growth_worst": max(f.growth for f in depths),
        "failed": reasons[REASONS[FAILED]],
        "reasons": dict(reasons),
    }


# heading, key, format
COLUMNS = (
    ("rock", "rock", "{}"),
    ("runs", "runs", "{}"),
    ("steps", "steps", "{:,}"),
    ("worst depth / size", "depth_worst", "{:+.1e}"),
    ("deeper than 1e-3", "penetrated", "{}"),
    ("tunnelled", "tunnelled", "{}"),
    ("energy growth", "growth_worst", "{:.1e}"),
    ("failed", "failed", "{}"),
)
