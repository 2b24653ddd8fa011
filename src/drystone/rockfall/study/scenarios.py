"""Scenarios of a study: variants of its entries.

A scenario names the entries that differ: "rocks.block.volume_m3" = 2, "barriers.net.height_m" = 5.
Parts of a list are named by their `name`, or by their number.
"""

import re
from typing import Any

from drystone.errors import InputError
from drystone.model.checks import did_you_mean
from drystone.rockfall.study.parse import check_table
from drystone.rockfall.study.study import Study

BASE = "as the study is"


def folder_name(scenario: str) -> str:
    """A name that every file system takes."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", scenario).strip("-.") or "scenario"


def scenarios_of(study: Study) -> list[tuple[str, Study]]:
    """The study itself, then each scenario; all are checked before any runs."""
    if not study.settings.scenarios:
        raise InputError(f"{study.name} has no [[scenarios]] to sweep over. Add some.")
    return require_sense(study)


def require_sense(study: Study) -> list[tuple[str, Study]]:
    """The same; InputError for scenarios that cannot be run."""
    parts = study.settings.scenarios or []
    names = [BASE, *(part.name for part in parts)]
    folders = [folder_name(name) for name in names]
    for k, folder in enumerate(folders):
        if folder in folders[:k]:
            raise InputError(f"{study.name}: two scenarios would be called {folder!r}. Rename one.")
    made = [(BASE, _changed(study, {}))]
    for part in parts:
        with study.blaming(f"scenarios ({part.name})"):
            made.append((part.name, _changed(study, part.set, f", scenario {part.name}")))
    return made


def _changed(study: Study, changes: dict[str, Any], said: str = "") -> Study:
    whole = study.settings.model_dump(by_alias=True, exclude_none=True, exclude={"scenarios"})
    for key, value in changes.items():
        _put(whole, key, value)
    return Study(check_table(whole, study.name + said), study.folder, study.name)


def _put(whole: dict, key: str, value) -> None:
    """Set the entry at a dotted place; parts of lists go by name or number."""
    *path, last = key.split(".")
    place: Any = whole
    for step in path:
        place = _step(place, step, key)
    if not isinstance(place, dict):
        raise InputError(f"{key!r}: its last part must be an entry of a part of the study.")
    place[last] = value


def _step(place, step: str, key: str):
    if isinstance(place, dict):
        if step not in place:
            raise InputError(f"{key!r}: there is no {step!r}. {did_you_mean(step, place)}")
        return place[step]
    if isinstance(place, list):
        if step.isdecimal() and int(step) < len(place):
            return place[int(step)]
        for part in place:
            if isinstance(part, dict) and part.get("name") == step:
                return part
        names = [str(part.get("name")) for part in place if isinstance(part, dict)]
        raise InputError(f"{key!r}: none is called {step!r}. {did_you_mean(step, names)}")
    raise InputError(f"{key!r}: {step!r} is beyond what the study holds there.")
