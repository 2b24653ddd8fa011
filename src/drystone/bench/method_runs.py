"""One scene run by several methods: what forces (penalty) and impulses make of the same bodies."""

from time import process_time
from typing import Any

from drystone.errors import UnsupportedFeature
from drystone.scenes import SCENES
from drystone.solvers import FORCE_METHODS

# heading, key, format
COLUMNS = (
    ("method", "method", "{}"),
    ("stepper", "stepper", "{}"),
    ("steps/s", "steps_per_s", "{:.4g}"),
    ("contacts", "contacts", "{}"),
    ("mean overlap mm", "mean_overlap_mm", "{:.3g}"),
    ("worst mm", "worst_overlap_mm", "{:.3g}"),
    ("kinetic J", "kinetic_J", "{:.3g}"),
    ("residual m/s", "residual", "{:.1e}"),
    ("message", "message", "{}"),
)


def force_methods(names) -> list[str]:
    """Those of `names` that solve no contact problem, and so can only be run."""
    return [name for name in names or () if name in FORCE_METHODS]


def run_methods(scene: str, names, steps: int, options: dict) -> list[dict]:
    """A row for each method: `steps` steps of the scene, each from its start; nothing sleeps.

    Times are of the processor, one thread, without the first step, which may compile.
    """
    return [_run(scene, name, steps, options) for name in names]


def _run(scene: str, name: str, steps: int, options: dict) -> dict[str, Any]:
    row: dict[str, Any] = {"method": name, "message": ""}
    own = getattr(SCENES[scene].settings.get("solver"), "name", None)
    by = {} if name == own else {"solver": name}  # a scene of penalty forces has its own gains
    try:
        world = SCENES[scene].build(**({"sleeping": False} | options | by))
        overlaps = [world.step().penetration]
    except UnsupportedFeature as error:
        return row | {"message": str(error)}
    start = process_time()
    for _ in range(steps - 1):
        overlaps.append(world.step().penetration)
    seconds = process_time() - start
    return row | {
        "stepper": world.stepper, "steps_per_s": (steps - 1) / seconds if steps > 1 else None,
        "contacts": world.info.contacts, "mean_overlap_mm": 1e3 * sum(overlaps) / steps,
        "worst_overlap_mm": 1e3 * max(overlaps), "kinetic_J": world.energy().kinetic,
        "residual": world.info.residual,
    }  # fmt: skip
