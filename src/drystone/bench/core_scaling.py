"""Piles that fall, on 1, 2, 4 ... threads: time, speed-up, memory, and whether all bits agree.

    python -m drystone.bench.core_scaling S5r 1000 200

runs one of them on as many threads as NUMBA_NUM_THREADS says, and prints one JSON line.
"""

import json
import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from time import perf_counter

from drystone.bench.drystone_driver import build_world, compile_engine
from drystone.bench.standard_scenes import pile
from drystone.errors import InputError
from drystone.model.checks import integer
from drystone.world.run import stage_seconds

COUNTS = (1000, 10_000, 100_000)
STEPS = 200  # one second: all bodies have landed on each other, and none is at rest
LAYERS = 10
GRIDS = {"S4": (0.22, 0.1), "S5r": (0.37, 0.09)}  # spacing, distance to the walls [m]


def core_rows(threads: str, scale: float = 1.0) -> Iterator[dict]:
    """A row for each pile and number of threads, the least number first.

    threads  numbers of threads, as in "1,2,4,8"
    scale    share of the bodies and of the steps
    """
    numbers = [integer("cores", _number(part), least=1) for part in threads.split(",")]
    for name in GRIDS:
        for count in COUNTS:
            alone, first = 0.0, ""
            for number in sorted(set(numbers)):
                row = _run(name, max(40, int(count * scale)), max(10, int(STEPS * scale)), number)
                alone, first = alone or row["ms_per_step"], first or row["hash"]
                yield row | {
                    "speed_up": alone / row["ms_per_step"],
                    "same_bits": row["hash"] == first,
                }


def _number(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise InputError(f"--cores: {text!r} is no number of threads.") from None


def _run(name: str, count: int, steps: int, threads: int) -> dict:
    """The row of one pile, in a process of its own: threads are as many as it begins with."""
    command = [sys.executable, "-m", __spec__.name, name, str(count), str(steps)]
    environment = os.environ | {"NUMBA_NUM_THREADS": str(threads)}
    run = subprocess.run(command, env=environment, capture_output=True, text=True)
    if run.returncode != 0:
        raise InputError(f"{name} with {count} bodies on {threads} threads: {run.stderr[-300:]}")
    return json.loads(run.stdout.splitlines()[-1]) | {"threads": threads}


def crash(name: str, count: int, steps: int) -> dict:
    """Let a pile of about `count` bodies fall, ten layers high, and time its steps."""
    compile_engine()
    spacing, margin = GRIDS[name]
    per_side = max(2, round((count / LAYERS) ** 0.5))
    bodies = per_side**2 * LAYERS
    scene = pile(name, bodies, per_side * spacing / 2 + margin, steps, 0, per_side)
    before = _megabytes()
    world = build_world(scene)
    world.step()  # builds the arrays
    first, start = stage_seconds(world), perf_counter()
    world.run((steps - 1) * scene.dt)
    count = max(steps - 1, 1)
    ms = 1e3 * (perf_counter() - start) / count
    last = stage_seconds(world)
    return {
        "kind": scene.kind,
        "bodies": bodies,
        "contacts": len(world.contacts().gap),
        "ms_per_step": ms,
        "us_per_body": 1e3 * ms / bodies,
        "kilobytes_per_body": 1e3 * (_megabytes() - before) / bodies,
        "hash": world.hash(),
        "stages_ms": {stage: 1e3 * (last[stage] - first[stage]) / count for stage in last},
    }


def _megabytes() -> float:
    """The most memory that this process has had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


if __name__ == "__main__":
    found = crash(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
    sys.stdout.write(json.dumps(found) + "\n")
