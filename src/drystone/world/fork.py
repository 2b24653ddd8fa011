"""Forked processes: the threads of the parent are not in them.

A child of a process that had started its threads is killed by the OpenMP runtime at its first
parallel loop, and a pool waits for its answer for ever. So it is refused here, in a sentence.
"""

import os

from drystone.errors import SimulationError

# Loops over so many shapes are never shared out: 16 have at most 120 pairs, and the narrow phase,
# the first to be, starts its threads above 128 (collision/narrowphase/collide.py).
ALONE = 16


class Fork:
    """What this process knows of its threads."""

    started = False  # a world has run in this process
    orphaned = False  # ... or in a parent of it, before the fork


def _after_fork() -> None:
    Fork.orphaned = Fork.orphaned or Fork.started


if hasattr(os, "register_at_fork"):  # not on Windows, which has no fork
    os.register_at_fork(after_in_child=_after_fork)


def refuse_forked(world) -> None:
    """Raise a SimulationError where a step could kill this process; note that threads run."""
    Fork.started = True
    shapes = world._synced().model.shapes
    if Fork.orphaned and (len(shapes.kind) > ALONE or len(shapes.wide_box)):
        raise SimulationError(
            f"a world of {len(shapes.kind)} shapes cannot run in a process that was forked after "
            f"its parent had run one: the threads are missing. Use "
            f"multiprocessing.get_context('spawn'), or start the processes before the first step."
        )
