"""Odd arguments: everything public is called with one to three values that nobody should give.

What is accepted all the same is then used. An argument may also be misspelt, left out, or be one
too many.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from drystone.bench.fuzz import (
    building_calls,
    character_calls,
    method_calls,
    robot_calls,
    rockfall_calls,
    world_calls,
)
from drystone.bench.fuzz.case import Case, Family
from drystone.bench.fuzz.file_seeds import write_small_files
from drystone.bench.fuzz.odd_values import draw_odd
from drystone.bench.fuzz.props import Call, Props
from drystone.errors import DrystoneError
from drystone.model.checks import shown
from drystone.scenes import SCENES


def scene_calls(p: Props) -> dict[str, Call]:
    """Options of scenes, as texts of the command line and as values from Python."""
    calls = {}
    for name, scene in SCENES.items():
        options = scene.options | {"dt": 0.01, "solver": "auto"}
        calls[f"scene {name}"] = Call(partial(_build_scene, scene), options)
    return calls


def _build_scene(scene: Any, /, **given: Any) -> Any:
    read = {key: scene.read_option(key, value) if isinstance(value, str) else value
            for key, value in given.items()}  # fmt: skip
    return scene.build(**read)


# Group: its calls, and its weight among the groups, which is about the number of its arguments.
GROUPS: dict[str, tuple[Callable[[Props], dict[str, Call]], float]] = {
    "shapes": (building_calls.shape_calls, 12),
    "materials": (building_calls.material_calls, 4),
    "joints": (building_calls.joint_calls, 14),
    "forces": (building_calls.force_calls, 8),
    "World": (world_calls.world_calls, 20),
    "properties": (world_calls.property_calls, 12),
    "solvers": (world_calls.solver_calls, 10),
    "lcp": (world_calls.lcp_calls, 5),
    "robots": (robot_calls.robot_calls, 8),
    "characters": (character_calls.character_calls, 8),
    "queries": (robot_calls.query_calls, 4),
    "recordings": (world_calls.recording_calls, 3),
    "placed robots": (method_calls.placed_calls, 8),
    "edits": (method_calls.edit_calls, 10),
    "readings": (method_calls.reading_calls, 8),
    "rocks": (rockfall_calls.rock_calls, 5),
    "slopes": (rockfall_calls.slope_calls, 6),
    "studies": (rockfall_calls.study_calls, 5),
    "scenes": (scene_calls, 4),
}
# What a function of the user raises is not ours.
FUNCTIONS = ("progress", "callback")
# Larger numbers build larger scenes, as they should; here only the sentence is asked for.
LARGEST_OPTION = 8


def run_case(case: Case) -> None:
    """One call with odd arguments."""
    props = Props(case.context, case.folder)
    weights = [weight for _, weight in GROUPS.values()]
    share = [weight / sum(weights) for weight in weights]
    case.group = str(case.rng.choice(list(GROUPS), p=share))
    calls = list(GROUPS[case.group][0](props).items())
    name, call = calls[case.rng.integers(len(calls))]
    call = call.with_defaults()
    surplus, arguments = spoilt(case, call, props)
    said = ", ".join(f"{key}={shown(value)}" for key, value in arguments.items())
    case.note(f"{name}({'20 arguments' if surplus else said})")
    result = call.call(*surplus, **arguments)
    try:
        call.use(result)
    except DrystoneError:
        raise
    except Exception:
        case.note("accepted, then used")
        raise


def spoilt(case: Case, call: Call, props: Props) -> tuple[list, dict[str, Any]]:
    """Arguments by place, and by name, with something wrong about them."""
    rng, arguments, names = case.rng, dict(call.arguments), list(call.arguments)
    # Only what is public itself: some calls are functions of this family about it.
    mistake = rng.random() if isinstance(call.call, type) or _is_public(call.call) else 1.0
    if mistake < 0.03 or not names:
        return [1] * 20, {}
    wrong = names[rng.integers(len(names))]
    if mistake < 0.08:  # misspelt
        return [], arguments | {wrong + "x": arguments.pop(wrong)}
    if mistake < 0.11:  # left out
        arguments.pop(wrong)
        return [], arguments
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        wrong = names[rng.integers(len(names))]
        odd = draw_odd(rng, props.things())
        arguments[wrong] = None if wrong in FUNCTIONS and callable(odd) else odd
    if case.group == "scenes":
        arguments = {key: _small(value) for key, value in arguments.items()}
    return [], arguments


def _is_public(call: Callable) -> bool:
    return getattr(call, "is_public", False)


def _small(value: Any) -> Any:
    """The value, or one of its kind that is no larger than LARGEST_OPTION."""
    if isinstance(value, str | int | float | np.number | Fraction | Decimal):
        with suppress(ArithmeticError, ValueError):
            if LARGEST_OPTION < float(value) < 1e300:
                return type(value)(LARGEST_OPTION)
    return value


def right_calls(files: dict[str, Path], folder: Path) -> Iterator[tuple[str, str, Call]]:
    """Group, name and call of everything but the scenes, each with things of its own."""
    for group, (make, _) in GROUPS.items():
        names = [] if make is scene_calls else list(make(Props(files, folder)))
        for name in names:
            yield group, name, make(Props(files, folder))[name]


def prepare(folder: Path) -> dict[str, Path]:
    """Files to read; every call is made once as it should be, so that no case has to compile."""
    files, own = write_small_files(folder), folder / "right"
    own.mkdir()
    for _, _, call in right_calls(files, own):
        with suppress(DrystoneError, ModuleNotFoundError):
            call.use(call.call(**call.arguments))
    return files


FAMILY = Family(prepare, run_case, batch=400, megabytes=1024.0)
