"""Scenarios of a study: variants of its entries, each run in its own folder, compared in a page.

A scenario names the entries that differ: "rocks.block.volume_m3" = 2, "barriers.net.height_m" = 5.
Parts of a list are named by their `name`, or by their number.
"""

import re
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

from drystone.errors import InputError
from drystone.model.checks import did_you_mean, of_kind
from drystone.model.signatures import public
from drystone.rockfall.input_files import as_path
from drystone.rockfall.report.html_frame import html_page
from drystone.rockfall.report.html_parts import section, table, with_band
from drystone.rockfall.run.montecarlo import run_study
from drystone.rockfall.run.part_files import write_whole
from drystone.rockfall.study.parse import check_table
from drystone.rockfall.study.study import Study

NAME = "comparison.html"
FIGURES = ("runout_m", "max_speed_m_s", "max_energy_kJ", "max_height_m")
BASE = "as the study is"
STAR = "<p class='note'>* not enough runs for this figure, see the report of the scenario.</p>"


@public
def sweep_study(
    study: Study,
    out: str | Path,
    workers: int | None = None,
    overwrite: bool = False,
    report: bool = False,
) -> Path:
    """Run the study and all its scenarios into folders of `out`; the page that compares them.

    Scenarios that are finished are kept, unless `overwrite`; so an interrupted sweep goes on.
    report   write a report for each of them too
    """
    of_kind("study", study, Study, "a Study, as Study.load() reads it")
    out = as_path("out", out)
    variants = list(scenarios_of(study))
    found = []
    for name, variant in variants:
        folder = out / folder_name(name)
        unfinished = (folder / "manifest.json").is_file() and not overwrite
        results = run_study(variant, folder, workers, resume=unfinished, overwrite=overwrite)
        if report:
            from drystone.rockfall.report.html import report_study

            report_study(results)
        found.append((name, results))
    path = out / NAME
    write_whole(path, _page(study, found).encode())
    return path


def folder_name(scenario: str) -> str:
    """A name that every file system takes."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", scenario).strip("-.") or "scenario"


def scenarios_of(study: Study) -> Iterator[tuple[str, Study]]:
    """The study itself, then each scenario; all are checked before any runs."""
    parts = study.settings.scenarios or []
    if not parts:
        raise InputError(f"{study.name} has no [[scenarios]] to sweep over. Add some.")
    names = [BASE, *(part.name for part in parts)]
    folders = [folder_name(name) for name in names]
    for k, folder in enumerate(folders):
        if folder in folders[:k]:
            raise InputError(f"{study.name}: two scenarios would be called {folder!r}. Rename one.")
    made = [(BASE, _changed(study, {}))]
    for part in parts:
        with study.blaming(f"scenarios ({part.name})"):
            made.append((part.name, _changed(study, part.set)))
    yield from made


def _changed(study: Study, changes: dict[str, Any]) -> Study:
    whole = study.settings.model_dump(by_alias=True, exclude_none=True, exclude={"scenarios"})
    for key, value in changes.items():
        _put(whole, key, value)
    return Study(check_table(whole, study.name), study.folder, study.name)


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


def _page(study: Study, found: list) -> str:
    """Runs, barriers and check lines of all scenarios, a row each."""
    rows = []
    for name, results in found:
        runs = results.statistics["runs"]
        rows.append([name, str(runs["count"]), str(runs["not_at_rest"]),
                     *(with_band(runs[key]["p95"]) for key in FIGURES)])  # fmt: skip
    heading = ["scenario", "runs", "not at rest", "95 % run-out [m]", "95 % velocity [m/s]",
               "95 % energy [kJ]", "95 % height [m]"]  # fmt: skip
    body = section("Runs", table(heading, rows) + STAR)
    body += _places(found, "barriers", "Barriers", ("reached", "stopped", "passed", "overtopped"))
    body += _places(found, "lines", "Check lines", ("crossed",))
    changes = "".join(
        f"<h3>{escape(part.name)}</h3>"
        + table(["entry", "value"], [[k, str(v)] for k, v in part.set.items()], "text")
        for part in study.settings.scenarios or []
    )
    body += section("What the scenarios change", changes)
    return html_page(f"{study.title}: scenarios", body)


def _places(found: list, key: str, heading: str, counts: tuple[str, ...]) -> str:
    rows = [
        [name, entry["name"], *(str(entry[count]) for count in counts),
         with_band(entry["energy_kJ"]["p95"]), with_band(entry["height_m"]["p95"])]
        for name, results in found
        for entry in results.statistics[key]
    ]  # fmt: skip
    names = ["scenario", "name", *counts, "95 % energy [kJ]", "95 % height [m]"]
    return section(heading, table(names, rows) + STAR) if rows else ""
